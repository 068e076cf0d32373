"""Features through a scikit-learn transformer that learns nothing from the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from dfop.rows.batch import Batch
from dfop.rows.checks import as_numbers, check_finite

Array = NDArray[np.float64]

MOST_COLUMNS = 5_000
"""That a transformer may make: a filter of so many has 100 MB."""


class Transform:
    """A transformer, fitted to the first row.

    Parameters
    ----------
    transformer : object
        With `fit` and `transform`.
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer
        self.fitted: Any = None

    def check(self, batch: Batch) -> None:
        """Fit to the first row; refuse rows that the transformer cannot take."""
        known = getattr(self.fitted, "n_features_in_", batch.shape[1])
        if batch.texts or batch.gaps or known != batch.shape[1]:
            raise ValueError(
                f"features={self.transformer!r} was fitted to {known} columns of numbers and there "
                f'are {batch.shape[1]} now, or text or gaps: those need features="auto", or an '
                "encoding of your own"
            )
        fitted = self.fitted or clone(self.transformer).fit(batch.numbers[:1])
        if self.fitted is None:
            width = np.shape(fitted.transform(batch.numbers[:1]))[-1]
            if width > MOST_COLUMNS:
                raise ValueError(
                    f"features={self.transformer!r} makes {width} columns of {batch.shape[1]}, "
                    f"more than {MOST_COLUMNS}: a filter keeps the square of that many numbers; "
                    "make fewer, or transform the rows yourself and give them with storage=64"
                )
        columns = as_numbers(fitted.transform(batch.numbers), "features(X)")
        check_finite(columns, "features(X)")
        self.fitted = fitted

    def apply(self, rows: Array, lags: int) -> Array:
        """Return rows as the engine sees them: the first `lags` columns as they are."""
        columns = as_numbers(self.fitted.transform(rows[:, lags:]), "features(X)")
        return np.hstack([rows[:, :lags], columns]) if lags else columns
