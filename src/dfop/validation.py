"""Checks of rows and targets that say which row, which column, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .core import first_unusable

Array = NDArray[np.float64]


def check_rows(estimator: BaseEstimator, X: Any, *, first: bool) -> Array:
    """Return `X` as a usable C-ordered float64 matrix that fits the estimator.

    On the first batch (`first`) the estimator takes over the number and names of the features.
    """
    if (
        type(X) is np.ndarray
        and not first
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[1] == estimator.n_features_in_
        and X.shape[0] > 0
        and X.flags.c_contiguous
        and not hasattr(estimator, "feature_names_in_")
    ):
        rows = X  # nothing left to convert: a row at a time must not pay for the general check
    else:
        rows = validate_data(
            estimator,
            X,
            reset=first,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
        )
    _check_finite(rows, "X", getattr(estimator, "feature_names_in_", None))
    return rows


def check_numbers(y: Any, n: int) -> Array:
    """Return regression targets as a usable float64 array of shape (n,) or (n, m)."""
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    y = check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite=False, input_name="y")
    check_length(y, n)
    if y.ndim > 2 or y.size == 0:
        raise ValueError(f"y has shape {y.shape}: expected (n,) or (n, m) with m > 0")
    _check_finite(np.ascontiguousarray(y), "y", None)
    return y


def check_length(y: NDArray[Any], n: int) -> None:
    """Refuse targets that are not one per row."""
    if y.ndim == 0 or len(y) != n:
        raise ValueError(
            f"X has {n} rows but y has {0 if y.ndim == 0 else len(y)}: Found input variables "
            "with inconsistent numbers of samples; give one target per row"
        )


def _check_finite(values: Array, what: str, names: NDArray[Any] | None) -> None:
    at = first_unusable(values)
    if at == values.size:
        return
    place = np.unravel_index(at, values.shape)
    value = values[place]
    where = f"row {place[0]}"
    if values.ndim == 2:
        where += f", column {place[1] if names is None else repr(str(names[place[1]]))}"
    if np.isnan(value):
        problem, remedy = "NaN", "impute or drop missing values before learning"
    elif np.isinf(value):
        problem, remedy = "infinity", "clip or drop infinite values before learning"
    else:
        problem, remedy = f"{value:g}, a value too large", "scale it below 2**500 (3e150)"
    raise ValueError(f"{what} contains {problem} at {where}: {remedy}")
