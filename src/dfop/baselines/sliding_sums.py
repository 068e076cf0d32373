"""Sums over the last rows, without subtraction."""

from __future__ import annotations

import numpy as np

from dfop.baselines.base import Codes, Floats


class SlidingSums:
    """Sums of columns over the last `window` rows, after each row.

    Rows come in windows. Within one, the sum over the last `window` rows is what the previous
    window still contributes (a sum from its end, made once) plus the running sum of this one.
    Nothing is ever subtracted, so rounding errors do not pile up.
    """

    def __init__(self, window: int, columns: int) -> None:
        self.tail = np.zeros((window, columns))  # row r: previous window's rows after its r-th
        self.here = np.zeros((window, columns))  # this window's running sums
        self.values = np.zeros((window, columns))
        self.row = 0

    def push(self, values: Floats) -> Floats:
        """Add rows, at most to the end of the window; sums after each of them."""
        rows = slice(self.row, self.row + len(values))
        self.values[rows] = values
        start = self.here[self.row - 1] if self.row else np.zeros(values.shape[1])
        self.here[rows] = np.add.accumulate(np.vstack([start, values]), axis=0)[1:]
        self.row += len(values)
        return self.tail[rows] + self.here[rows]

    def next_window(self) -> None:
        """Begin the next window; its predecessor is full."""
        after = np.add.accumulate(self.values[::-1], axis=0)[::-1]
        self.tail[:-1], self.tail[-1] = after[1:], 0.0
        self.row = 0

    def keep(self, which: Codes) -> None:
        """Keep the columns `which` and add one of zeros."""
        self.tail, self.here, self.values = (
            np.hstack([a[:, which], np.zeros((len(a), 1))])
            for a in (self.tail, self.here, self.values)
        )
