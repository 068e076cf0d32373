"""The last rows: what a model does now, and its error over a window at every row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfop.evaluation.curves import windowed

Array = NDArray[np.float64]


class Recent:
    """Figures of the last rows, at most two windows of them.

    Windows are counted from the first row of the stream, so that sums over the last `window` rows
    are made of the same parts, in the same order, however the rows came in batches.

    Parameters
    ----------
    window : int
        How many rows are "now".
    figures : int
        How many figures a row has; NaN where a row lacks one.

    Examples
    --------
    >>> recent = Recent(2, 1)
    >>> recent.add(np.array([[1.0], [0.0], [0.0]]))
    array([1. , 0.5, 0. ])
    >>> recent.now()
    array([0.])
    """

    def __init__(self, window: int, figures: int) -> None:
        self.window = window
        self.rows = 0
        self.kept: Array = np.empty((0, figures))
        """From the beginning of the window before the one under way."""

    def add(self, figures: Array) -> Array:
        """Add rows; return the mean of the first figure over the window that ends at each."""
        before = len(self.kept)
        joined = np.concatenate([self.kept, figures])
        means = windowed(joined[:, 0], self.window)[before:] if len(figures) else np.empty(0)
        self.rows += len(figures)
        keep = min(self.rows, self.window + self.rows % self.window)
        self.kept = joined[len(joined) - keep :].copy()
        return means

    def now(self) -> Array:
        """Return the mean of every figure over the last `window` rows that have it."""
        last = self.kept[-self.window :]
        known = ~np.isnan(last)
        counts = known.sum(axis=0)
        sums = np.where(known, last, 0.0).sum(axis=0)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
