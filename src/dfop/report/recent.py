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
    curves : int
        Of how many of them, the first ones, `add` returns means.

    Examples
    --------
    >>> recent = Recent(2, 1, 1)
    >>> recent.add(np.array([[1.0], [0.0], [np.nan]]))[:, 0]
    array([1. , 0.5, 0. ])
    >>> recent.now()
    array([0.])
    """

    def __init__(self, window: int, figures: int, curves: int) -> None:
        self.window = window
        self.curves = curves
        self.rows = 0
        self.kept: Array = np.empty((0, figures))
        """From the beginning of the window before the one under way."""

    def add(self, figures: Array) -> Array:
        """Add rows; return means of the first figures over the window that ends at each."""
        before = len(self.kept)
        joined = np.concatenate([self.kept, figures])
        means = np.empty((len(figures), self.curves))
        for column, values in enumerate(joined.T[: self.curves]):
            known = ~np.isnan(values)
            mean = windowed(np.where(known, values, 0.0), self.window)[before:]
            if not known.all():
                with np.errstate(divide="ignore", invalid="ignore"):
                    mean = mean / windowed(known.astype(np.float64), self.window)[before:]
            means[:, column] = mean
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
