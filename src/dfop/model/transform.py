"""Features through a scikit-learn transformer that learns nothing from the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from dfop.rows.batch import Batch
from dfop.rows.checks import as_numbers, check_finite
from dfop.rows.tables import is_sparse

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
        self.width = 0
        """How many columns it makes of a row."""

    def check(self, batch: Batch) -> None:
        """Fit to the first row; refuse rows that the transformer cannot take."""
        known = getattr(self.fitted, "n_features_in_", batch.shape[1])
        if batch.texts or batch.gaps or known != batch.shape[1]:
            raise ValueError(
                f"features={self.transformer!r} was fitted to {known} columns of numbers and there "
                f'are {batch.shape[1]} now, or text or gaps: those need features="auto", or an '
                "encoding of your own"
            )
        if self.fitted is None:
            fitted = clone(self.transformer).fit(batch.numbers[:1])
            width = self._count(fitted.transform(batch.numbers[:1]), batch.numbers[:1])
            self._made(fitted, batch.numbers, width)
            self.fitted, self.width = fitted, width
        else:
            self._made(self.fitted, batch.numbers, self.width)

    def apply(self, rows: Array, lags: int) -> Array:
        """Return rows as the engine sees them: the first `lags` columns as they are."""
        columns = self._made(self.fitted, rows[:, lags:], self.width)
        return np.hstack([rows[:, :lags], columns]) if lags else columns

    def _count(self, made: Any, rows: Array) -> int:
        """Return how many columns are made of the first row; refuse none and too many."""
        shape = np.shape(made)
        if len(shape) != 2 or shape[0] != len(rows) or shape[1] == 0:
            raise ValueError(
                f"features={self.transformer!r} makes an array of shape {shape} of {len(rows)} "
                f"row{'s' if len(rows) > 1 else ''} of {rows.shape[1]} columns: it must make a "
                "table, with one row of features for each row; a single feature is A[:, :1], not "
                "A[:, 0]"
            )
        if shape[1] > MOST_COLUMNS:
            raise ValueError(
                f"features={self.transformer!r} makes {shape[1]} columns of {rows.shape[1]}, "
                f"more than {MOST_COLUMNS}: a filter keeps the square of that many numbers; make "
                "fewer, or transform the rows yourself and learn them with less storage, with "
                'forgetting=0.0001, features="linear", storage=64'
            )
        return int(shape[1])

    def _made(self, fitted: Any, rows: Array, width: int) -> Array:
        """Return what is made of rows: of each as many columns as of the first row."""
        made = fitted.transform(rows)
        if self._count(made, rows) != width:
            raise ValueError(
                f"features={self.transformer!r} makes {np.shape(made)[1]} columns of {len(rows)} "
                f"rows and {width} of the first row: how many there are must not depend on the "
                "rows; use a transformer that looks at each row for itself"
            )
        if is_sparse(made):
            raise ValueError(
                f"features={self.transformer!r} makes sparse rows, which a model takes only as X: "
                "have it make dense ones (many have sparse_output=False), or transform the rows "
                "yourself"
            )
        columns = as_numbers(made, "features(X)")
        check_finite(columns, "features(X)")
        return columns
