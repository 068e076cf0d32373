"""What the cells of a batch hold: numbers, text, or nothing.

A column is of one kind within a batch: text where any cell is text, numbers otherwise. Missing
are None, NaN and pandas' NA. Text that reads as a number is refused, since more often than not it
is a number that lost its type on the way; in a column of a categorical type it is taken for what
it says it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .validation import as_matrix, find_gaps, is_ready, where_in

Array = NDArray[np.float64]


class Text(NamedTuple):
    """A column of text: cell t holds ``values[codes[t]]``, nothing where the code is -1."""

    codes: NDArray[np.intp]
    values: list[str]


class Batch(NamedTuple):
    """Rows with their cells told apart."""

    keys: Sequence[Hashable]
    """What the columns are known by: their names, or their places."""
    names: Sequence[Any] | None
    """What errors call the columns; None: by their places."""
    numbers: Array
    """(n, columns): NaN where a number is missing, 0 in columns of text."""
    gaps: bool
    """Whether a number is missing anywhere."""
    texts: dict[int, Text]
    """The columns of text, by place."""
    new_names: list[str]
    """Names of the last columns, where they are new to an estimator that knows names."""


def read_batch(estimator: BaseEstimator, X: Any, *, first: bool) -> Batch:
    """Read rows that must fit the estimator.

    On the first batch (`first`) the estimator takes over the number and names of the columns.
    """
    if not first and is_ready(estimator, X):
        numbers = X
        gaps = find_gaps(numbers, "X", None)
        return Batch(range(X.shape[1]), None, numbers, gaps, {}, [])
    new_names = [] if first else _new_names(estimator, X)
    columns = _columns(X)
    texts: dict[int, Text] = {}
    if columns is None and not new_names:
        numbers = as_matrix(estimator, X, first=first)
        names = getattr(estimator, "feature_names_in_", None)
    else:
        if not new_names:
            validate_data(estimator, X, reset=first, skip_check_array=True)
        names = list(X.columns) if _is_frame(X) else None
        numbers, texts = _read_columns(_columns_of_frame(X) if columns is None else columns, names)
    if len(numbers) == 0:
        raise ValueError("the batch is empty: it must have at least one row")
    gaps = find_gaps(numbers, "X", names)
    return Batch(range(numbers.shape[1]), names, numbers, gaps, texts, new_names)


def read_frame(X: Any) -> Batch:
    """Read the rows of a data frame, whose columns are known by their names."""
    names = list(X.columns)
    if len(X) == 0:
        raise ValueError("the batch is empty: it must have at least one row")
    if len(set(names)) != len(names):
        raise ValueError(f"X has several columns of one name: {names}")
    numbers, texts = _read_columns(_columns_of_frame(X), names)
    if not names:
        numbers = np.empty((len(X), 0))
    return Batch(names, names, numbers, find_gaps(numbers, "X", names), texts, [])


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN is the one value unlike itself
    except (TypeError, ValueError):  # NA does not say whether it is
        return type(value).__name__ == "NAType"


def reads_as_number(text: str) -> bool:
    """Whether text would pass for a number: "12", " 1e5", "nan"."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_number(value: Any) -> float:
    """Return the number a value is, infinity where it is too large; others are a TypeError."""
    if isinstance(value, str | bytes | np.datetime64 | np.timedelta64):
        raise TypeError(f"a {type(value).__name__} is no number")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


# -- where the columns are --------------------------------------------------------------------


def _new_names(estimator: BaseEstimator, X: Any) -> list[str]:
    """Names that follow those which the estimator knows."""
    if not (_is_frame(X) and hasattr(estimator, "feature_names_in_")):
        return []
    known, names = list(estimator.feature_names_in_), list(X.columns)
    news = [name for name in names if name not in set(known)]
    if not news or len(set(names)) < len(names) or not all(isinstance(name, str) for name in news):
        return []
    if names == known + news:
        return news
    if set(known) < set(names):
        raise ValueError(
            f"X has the new column {news[0]!r} among the known ones: put new columns last, after "
            "the known ones in their order"
        )
    return []


def _columns(X: Any) -> list[Any] | None:
    """Return the columns of `X` one by one, or None where all are numbers or `X` is no table."""
    if _is_frame(X):
        plain = len(X) == 0 or all(_is_numeric(dtype) for dtype in X.dtypes)
        return None if plain else _columns_of_frame(X)
    if not isinstance(X, np.ndarray | list | tuple):
        return None
    try:
        values = np.asarray(X)
    except ValueError:  # rows of different length; the general check says so
        return None
    if values.ndim != 2 or values.dtype.kind in "biufc" or values.size == 0:
        return None
    if values.dtype.kind != "O" and not isinstance(X, np.ndarray):
        values = np.asarray(X, dtype=object)  # numbers beside text stay numbers
    return list(check_array(values, dtype=None, ensure_all_finite=False).T)


def _is_frame(X: Any) -> bool:
    """Whether `X` is a data frame of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _columns_of_frame(X: Any) -> list[Any]:
    if hasattr(X, "get_columns"):  # polars
        return list(X.get_columns())
    return [column for _, column in X.items()]


def _is_numeric(dtype: Any) -> bool:
    kind = getattr(dtype, "kind", None)  # NumPy's and pandas' types have one, polars' have not
    return bool(kind in ("b", "i", "u", "f") if kind else dtype.is_numeric())


def _is_categorical(column: Any) -> bool:
    return str(column.dtype).startswith(("category", "Categorical", "Enum"))


# -- what is in them --------------------------------------------------------------------------


def _read_columns(columns: list[Any], names: Sequence[Any] | None) -> tuple[Array, dict[int, Text]]:
    numbers = np.zeros((len(columns[0]) if columns else 0, len(columns)))
    texts = {}
    for j, column in enumerate(columns):
        cells = _read_column(column, j, names)
        if isinstance(cells, Text):
            texts[j] = cells
        else:
            numbers[:, j] = cells
    return numbers, texts


def _read_column(column: Any, j: int, names: Sequence[Any] | None) -> Array | Text:
    categorical = _is_categorical(column)
    if categorical:
        column = column.astype(object) if hasattr(column, "iloc") else column
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind not in "OUT":
        _refuse(values[0], 0, j, names, "is no number and no text")
    cells = values.tolist()
    kinds = set(map(type, cells))
    if categorical or any(issubclass(kind, str) for kind in kinds):
        return _read_text(cells, j, names, kinds, categorical=categorical)
    if kinds <= {float, bool, type(None)}:
        return np.array(cells, dtype=np.float64)  # None becomes NaN
    numbers = np.empty(len(cells))
    for t, cell in enumerate(cells):
        try:
            numbers[t] = np.nan if is_missing(cell) else to_number(cell)
        except (TypeError, ValueError) as error:
            _refuse(cell, t, j, names, f"is no number and no text ({error})")
    return numbers


def _read_text(
    cells: list[Any],
    j: int,
    names: Sequence[Any] | None,
    kinds: set[type],
    *,
    categorical: bool,
) -> Array | Text:
    first: dict[str, int] = {}
    if kinds == {str}:
        codes = np.array([first.setdefault(cell, len(first)) for cell in cells], dtype=np.intp)
    else:
        codes = np.full(len(cells), -1, dtype=np.intp)
        for t, cell in enumerate(cells):
            if categorical and not is_missing(cell):
                cell = str(cell)
            if isinstance(cell, str):
                codes[t] = first.setdefault(str(cell), len(first))
            elif not is_missing(cell):
                _refuse_mixture(cells, t, j, names)
    if not first:
        return np.full(len(cells), np.nan)
    if not categorical:
        for text, code in first.items():
            if reads_as_number(text):
                t = int(np.argmax(codes == code))
                _refuse(
                    text, t, j, names, "is a number given as text: convert the column to numbers, "
                    "or to a categorical type if its numbers are names"
                )  # fmt: skip
    return Text(codes, list(first))


def _refuse_mixture(cells: list[Any], other: int, j: int, names: Sequence[Any] | None) -> NoReturn:
    """Name the cell at which a column leaves the kind it began with; `other` is no text."""
    if any(isinstance(cell, str) for cell in cells[:other]):
        _refuse(cells[other], other, j, names, "stands in a column of text: keep it to one kind")
    t = next(t for t, cell in enumerate(cells) if isinstance(cell, str))
    _refuse(cells[t], t, j, names, "stands in a column that began otherwise: keep it to one kind")


def _refuse(value: Any, t: int, j: int, names: Sequence[Any] | None, problem: str) -> NoReturn:
    remedy = "" if ":" in problem else ": turn it into a number or drop it before learning"
    raise ValueError(f"X has {value!r} at {where_in((t, j), names)}, which {problem}{remedy}")
