"""Checks of rows and targets that say which row, which column, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .core import LARGEST, first_unusable

Array = NDArray[np.float64]


def check_rows(estimator: BaseEstimator, X: Any, *, first: bool) -> Array:
    """Return `X` as a usable C-ordered float64 matrix that fits the estimator.

    On the first batch (`first`) the estimator takes over the number and names of the features.
    """
    if not first and is_ready(estimator, X):
        rows: Array = X
    else:
        _refuse_text(X, "X")
        rows = as_matrix(estimator, X, first=first)
    check_finite(rows, "X", getattr(estimator, "feature_names_in_", None))
    return rows


def is_ready(estimator: BaseEstimator, X: Any) -> bool:
    """Whether there is nothing to convert: a row at a time must not pay for the general check."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[1] == estimator.n_features_in_
        and X.shape[0] > 0
        and X.flags.c_contiguous
        and X.flags.aligned
        and not hasattr(estimator, "feature_names_in_")
    )


def as_matrix(estimator: BaseEstimator, X: Any, *, first: bool) -> Array:
    """Return `X`, which holds no text, as a C-ordered float64 matrix that fits the estimator."""
    try:
        rows = validate_data(
            estimator, X, reset=first, dtype=np.float64, order="C", ensure_all_finite=False
        )
    except (TypeError, ValueError) as error:
        _name_what_is_no_number(X, "X", error)
        raise
    return np.require(rows, requirements=["C", "A"])


def check_numbers(y: Any, n: int) -> Array:
    """Return regression targets as a usable float64 array of shape (n,) or (n, m)."""
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    if type(y) is not np.ndarray or y.dtype != np.float64:
        _refuse_text(y, "y")
        try:
            y = check_array(
                y, dtype=np.float64, ensure_2d=False, ensure_all_finite=False, input_name="y"
            )
        except (TypeError, ValueError) as error:
            _name_what_is_no_number(y, "y", error)
            raise
    check_length(y, n)
    if y.ndim > 2 or y.size == 0:
        raise ValueError(f"y has shape {y.shape}: expected (n,) or (n, m) with m > 0")
    numbers: Array = np.require(y, requirements=["C", "A"])
    check_finite(numbers, "y", None)
    return numbers


def _refuse_text(values: Any, what: str) -> None:
    """Refuse text and dates as a whole, which NumPy would quietly turn into numbers."""
    kind = np.asarray(values).dtype.kind if isinstance(values, np.ndarray | list | tuple) else "f"
    if kind in "SUMm":
        place = "row 0, column 0" if np.ndim(values) == 2 else "row 0"
        first = np.asarray(values).ravel()[:1]
        raise ValueError(
            f"{what} contains text or dates at {place} ({', '.join(map(str, first))}): turn "
            "it into numbers before learning"
        )


def check_length(y: NDArray[Any], n: int) -> None:
    """Refuse targets that are not one per row."""
    if y.ndim == 0 or len(y) != n:
        raise ValueError(
            f"X has {n} rows but y has {0 if y.ndim == 0 else len(y)}: Found input variables "
            "with inconsistent numbers of samples; give one target per row"
        )


def check_finite(values: Array, what: str, names: Sequence[Any] | None) -> None:
    """Refuse values that are not finite or too large; `values` must be C-ordered."""
    at = first_unusable(values)
    if at < values.size:
        _refuse_value(values, at, what, names)


def find_gaps(values: Array, what: str, names: Sequence[Any] | None) -> bool:
    """Whether values are missing (NaN); refuse those infinite or too large."""
    if first_unusable(values) == values.size:
        return False
    bad = np.flatnonzero(np.abs(values) > LARGEST)
    if bad.size:
        _refuse_value(values, int(bad[0]), what, names)
    return True


def _refuse_value(values: Array, at: int, what: str, names: Sequence[Any] | None) -> None:
    place = tuple(int(i) for i in np.unravel_index(at, values.shape))
    value = values[place]
    where = where_in(place, names)
    if np.isnan(value):
        problem, remedy = "NaN", "impute or drop missing values before learning"
    elif np.isinf(value):
        problem, remedy = "infinity", "clip or drop infinite values before learning"
    else:
        problem, remedy = f"{value:g}, a value too large", "scale it below 2**500 (3e150)"
    raise ValueError(f"{what} contains {problem} at {where}: {remedy}")


def as_numbers(values: Any, what: str) -> Array:
    """Return values as a C-ordered float64 array, or say where they are no numbers."""
    try:
        return np.require(np.asarray(values), np.float64, ["C", "A"])
    except (TypeError, ValueError) as error:
        _name_what_is_no_number(values, what, error)
        raise


def where_in(place: tuple[int, ...], names: Sequence[Any] | None) -> str:
    """Row and column of a value, in words."""
    if len(place) == 1:
        return f"row {place[0]}"
    return f"row {place[0]}, column {place[1] if names is None else repr(str(names[place[1]]))}"


def _name_what_is_no_number(data: Any, what: str, error: Exception) -> None:
    """Raise in place of a failed conversion an error that says where it failed, if one can."""
    try:
        values = np.asarray(data, dtype=object)
    except ValueError:
        return
    if values.ndim not in (1, 2):
        return
    names = list(data.columns) if hasattr(data, "columns") else None
    for place in np.ndindex(values.shape):
        value = values[place]
        try:
            float(value)
        except (TypeError, ValueError):
            if np.iterable(value) and not isinstance(value, str):
                return  # rows of different length: the error at hand says it better
            raise ValueError(
                f"{what} has {value!r} at {where_in(place, names)}, which is no number ({error}): "
                "encode or drop it before learning"
            ) from None


def check_prior(prior_variance: Any, cap: Any) -> None:
    """Check the two parameters that all learners have besides forgetting."""
    if prior_variance is not None and not (
        _is_number(prior_variance) and 0.0 < prior_variance <= 1e100
    ):
        raise ValueError(
            f"prior_variance={prior_variance!r} must be a positive number: the variance of the "
            "weights before any row (100 is a weak prior)"
        )
    if cap is not None and not (_is_number(cap) and cap >= 1.0):
        raise ValueError(
            f"cap={cap!r} must be a number of at least 1, or None for the plain recursion that "
            "can wind up"
        )


def check_features(features: Any) -> None:
    """Check what a learner shall make of the features."""
    named = isinstance(features, str) and features in ("auto", "linear", "rff", "poly")
    if not (named or (hasattr(features, "fit") and hasattr(features, "transform"))):
        raise ValueError(
            f'features={features!r} is not known: give "auto", "linear", "rff", "poly", or a '
            "scikit-learn transformer that learns nothing from the data"
        )


def check_lags(lags: Any) -> None:
    """Check how many labels are features."""
    if not (
        isinstance(lags, int | np.integer) and not isinstance(lags, bool) and 0 <= lags <= 1000
    ):
        raise ValueError(
            f"lags={lags!r} must be a whole number from 0 to 1000: how many of the last labels "
            "are features of a row"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
