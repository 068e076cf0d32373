"""From arrays, data frames, Arrow tables and dicts to a `Batch` with the columns of a model.

A column is of one kind within a batch: text where any cell is text, numbers otherwise; see `cells`
for the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from dfop.core import LARGEST, first_unusable

from .batch import Batch, Text
from .cells import is_missing, reads_as_number, shown, to_number, to_text
from .checks import (
    Array,
    Names,
    name_what_is_no_number,
    refuse_no_columns,
    refuse_no_rows,
    refuse_ragged,
    refuse_value,
    where_in,
)
from .sparse import SparseBatch, sparse_batch

MADE_DENSE = 1000
"""Columns up to which sparse rows are small when they are made dense."""


def as_batch(X: Any) -> Batch:
    """Make a batch of rows, whatever they come in.

    Parameters
    ----------
    X : Batch, array-like, DataFrame of pandas or polars, Arrow table or record batch, list of dicts
        The rows: numbers, text, missing values.

    Returns
    -------
    Batch

    Examples
    --------
    >>> as_batch([["red", 1.0], ["blue", None]]).rows()
    [['red', 1.0], ['blue', None]]
    >>> as_batch([{"size": 1.5}, {"size": "?"}]).names
    ('size',)
    """
    if _is_matrix(X):  # a first call must not wait while the general check is loaded
        ready = X.flags.c_contiguous and X.flags.aligned
        return of_numbers(X if ready else np.require(X, requirements=["C", "A"]))
    if isinstance(X, Batch):
        find_gaps(X.numbers, X.names)  # whoever made it: nothing infinite comes further
        if not len(X):
            refuse_no_rows()
        return X
    _refuse_what_is_no_table(X)
    if isinstance(X, np.ma.MaskedArray):
        X = _with_gaps(X)
    if is_frame(X):
        return _of_columns(columns_of(X), tuple(X.columns), len(X))
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        from .arrow import batch_from_arrow  # needs pyarrow, as its data do

        batch = batch_from_arrow(X)
        if not len(batch.numbers):
            refuse_no_rows()
        return batch
    if _are_dicts(X):
        return _of_dicts(X)
    columns = _columns_of_array(X)
    if columns is not None:
        return _of_columns(columns, None, len(columns[0]))
    return of_numbers(_matrix(X))


def first_batch(X: Any) -> Batch:
    """Read the first rows; their columns have names only if all are text."""
    if is_sparse(X):
        _refuse_sparse(X)
    batch = as_batch(X)
    if batch.names is None or isinstance(X, Batch):
        return batch
    if is_frame(X):
        probe = BaseEstimator()
        validate_data(probe, X, reset=True, skip_check_array=True)
        names = getattr(probe, "feature_names_in_", None)
        return replace(batch, names=None if names is None else tuple(map(str, names)))
    return batch


def _refuse_sparse(X: Any) -> NoReturn:
    remedy = "give X.toarray()"
    if X.shape[-1] > MADE_DENSE:
        remedy = (
            "fewer of them as dense rows (a hash of few bits: hashed(bits=8)), or all of them to "
            "one DFOPRegressor or DFOPClassifier with storage=20"
        )
    raise TypeError(
        f"X is sparse with {X.shape[-1]} columns, and dense rows are needed here: {remedy}"
    )


def _refuse_equal_names(names: tuple[Any, ...]) -> None:
    if len(set(names)) == len(names):
        return
    name = next(name for name in names if names.count(name) > 1)
    raise ValueError(f"X has several columns named {name!r}: give every column a name of its own")


def next_batch(
    estimator: BaseEstimator, X: Any, names: tuple[str, ...] | None, columns: int
) -> Batch | SparseBatch:
    """Read further rows, which must have the known columns, and may have new ones behind them."""
    if is_sparse(X):
        rows = sparse_batch(X)
        check_columns(rows, None, columns, type(estimator).__name__)
        return rows
    batch = as_batch(X) if names is None or not _are_dicts(X) else _of_dicts(X, names)
    news = [] if names is None else _new_names(names, batch.names)
    if news:
        return batch
    if isinstance(X, Batch) or (batch.names is not None and not is_frame(X)):
        check_columns(batch, names, columns, type(estimator).__name__)
        return batch if names is None else replace(batch, names=names)
    try:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    except ValueError as error:
        if names is None or batch.names is None:
            raise
        raise ValueError(
            f"{str(error).rstrip()}\nGive the columns of the first rows in their order, one that "
            "is gone filled with None, new ones last (with pandas: "
            "X.reindex(columns=model.feature_names_in_))"
        ) from None
    return batch if batch.names is None and names is None else replace(batch, names=names)


def _new_names(known: tuple[str, ...], names: tuple[Any, ...] | None) -> list[str]:
    """Return names that follow the known ones."""
    if names is None:
        return []
    old = set(known)
    news = [name for name in names if name not in old]
    if not news or len(set(names)) < len(names) or not all(isinstance(name, str) for name in news):
        return []
    if list(names) == [*known, *news]:
        return news
    if old < set(names):
        raise ValueError(
            f"X has the new column {news[0]!r} among the known ones: put new columns last, after "
            "the known ones in their order"
        )
    return []


def check_columns(
    batch: Batch | SparseBatch, names: tuple[str, ...] | None, columns: int, estimator: str
) -> None:
    """Refuse columns that are not those of the first rows."""
    found = batch.width if isinstance(batch, SparseBatch) else batch.numbers.shape[1]
    if found != columns:
        raise ValueError(
            f"X has {found} features, but {estimator} is expecting {columns} features as "
            "input: give the columns of the first rows"
        )
    if names is None or isinstance(batch, SparseBatch):
        return
    if batch.names is not None and batch.names != names:
        at = int(np.argmax([a != b for a, b in zip(batch.names, names, strict=True)]))
        raise ValueError(
            f"X has the column {batch.names[at]!r} where the first rows had {names[at]!r}: give "
            "the columns in their order"
        )


def _refuse_what_is_no_table(X: Any) -> None:
    if type(X).__name__ == "LazyFrame":  # of polars: nothing was read yet
        raise TypeError("X is a LazyFrame, whose rows are not there yet: give X.collect()")
    if hasattr(X, "to_frame") and hasattr(X, "dtype"):
        raise ValueError(
            "X is a single column: expected 2D, rows with columns; give X.to_frame(), or reshape it"
        )
    kind = type(X).__name__
    if isinstance(X, Mapping) and not is_sparse(X):  # one of SciPy's is a dict, too
        raise TypeError(
            f"X is one {kind}, not rows: give a list, [X]; of columns pandas.DataFrame(X)"
        )
    if isinstance(X, str | bytes):
        raise TypeError(f"X is of type {kind}, not rows: dfop.streams.read reads a file")
    reads_arrow = hasattr(X, "__arrow_c_stream__")
    if isinstance(X, set | frozenset) or (hasattr(X, "__next__") and not reads_arrow):
        raise TypeError(f"X is of type {kind}, whose rows cannot be counted: give list(X)")
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise TypeError("X is an array of records: give pandas.DataFrame(X)")


def _with_gaps(X: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return an array in which masked cells are missing."""
    numbers = X.dtype.kind in "biuf"
    cells = np.array(X.data, dtype=np.float64 if numbers else object)
    cells[np.ma.getmaskarray(X)] = np.nan if numbers else None
    return cells


def of_numbers(numbers: Array, names: tuple[str, ...] | None = None) -> Batch:
    """Make a batch of a C-ordered float64 matrix."""
    return Batch(numbers, find_gaps(numbers, names), {}, names)


def find_gaps(values: Array, names: Names = None) -> bool:
    """Whether values are missing (NaN); refuse those infinite or too large."""
    if first_unusable(values) == values.size:
        return False
    bad = np.flatnonzero(np.abs(values) > LARGEST)
    if bad.size:
        refuse_value(values, int(bad[0]), "X", names)
    return True


def is_frame(X: Any) -> bool:
    """Whether `X` is a data frame of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def is_sparse(X: Any) -> bool:
    """Whether `X` is one of SciPy's sparse matrices or arrays."""
    return hasattr(X, "tocsr") and hasattr(type(X), "nnz")  # which a damaged one cannot tell


def columns_of(X: Any) -> list[Any]:
    """Return the columns of a data frame one by one."""
    if hasattr(X, "get_columns"):  # polars
        return list(X.get_columns())
    return [column for _, column in X.items()]


def _are_dicts(X: Any) -> bool:
    return isinstance(X, list) and bool(X) and isinstance(X[0], Mapping)


def _of_dicts(rows: Sequence[Mapping[Any, Any]], known: Sequence[str] = ()) -> Batch:
    """Make a batch of dicts.

    A name that is known, or was in a row before, is missing where a row does not have it. One that
    was in none yet is no column so far.
    """
    since: dict[str, int] = dict.fromkeys(known, 0)
    named = [_by_name(row, t) for t, row in enumerate(rows)]
    for t, row in enumerate(named):
        for name in row:
            since.setdefault(name, t)
    columns = []
    for name in since:
        cells = np.empty(len(rows), dtype=object)
        cells[:] = [row.get(name) for row in named]
        columns.append(cells)
    batch = _of_columns(columns, tuple(since), len(rows))
    return replace(batch, since=tuple(since.values())) if any(since.values()) else batch


def _by_name(row: Any, t: int) -> Mapping[str, Any]:
    """Return a dict whose keys are texts, as names of columns are in a file."""
    if not isinstance(row, Mapping):
        raise TypeError(f"row {t} is a {type(row).__name__}, and row 0 a dict: keep to one")
    if all(type(name) is str for name in row):
        return row
    named = {str(name): cell for name, cell in row.items()}
    if len(named) < len(row):
        raise ValueError(f"row {t} has names that are equal as text: {list(row)!r:.80}")
    return named


def _columns_of_array(X: Any) -> list[NDArray[Any]] | None:
    """Return the columns of `X` one by one, or None where all are numbers or `X` is no table."""
    if not isinstance(X, np.ndarray | list | tuple):
        return None
    try:
        values = np.asarray(X)
    except ValueError:
        refuse_ragged(list(X))
        return None  # the general check says what is wrong
    if values.ndim != 2 or values.dtype.kind in "biufc" or values.size == 0:
        return None
    if values.dtype.kind != "O" and not isinstance(X, np.ndarray):
        values = np.asarray(X, dtype=object)  # numbers beside text stay numbers
    return list(check_array(values, dtype=None, ensure_all_finite=False).T)


def _array_of(X: Any) -> Any:
    """Return a list as an array, or as it is if it makes none: the general check says why."""
    try:
        return np.asarray(X)
    except ValueError:
        return X


def _is_matrix(X: Any) -> bool:
    """Whether `X` is what others are turned into, but for the order in memory."""
    return type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size > 0


def _matrix(X: Any) -> Array:
    """Return `X`, which holds no text, as a C-ordered float64 matrix."""
    if isinstance(X, list | tuple):
        if not len(X):
            refuse_no_rows()
        X = _array_of(X)
    if getattr(getattr(X, "dtype", None), "kind", None) == "c":
        raise ValueError(
            f"X holds {X.dtype} (Complex data not supported): give real numbers, such as the real "
            "and the imaginary parts in columns of their own"
        )
    if isinstance(X, np.ndarray) and X.ndim == 2:
        if not len(X):
            refuse_no_rows()
        if not X.shape[1]:
            refuse_no_columns(len(X))
    try:
        rows = check_array(X, dtype=np.float64, order="C", ensure_all_finite=False, input_name="X")
    except (TypeError, ValueError) as error:
        name_what_is_no_number(X, "X", error)
        raise
    return np.require(rows, requirements=["C", "A"])


def _of_columns(columns: Sequence[Any], names: Names, n: int) -> Batch:
    if not n:
        refuse_no_rows()
    if not columns:
        refuse_no_columns(n)
    if names is not None:
        _refuse_equal_names(tuple(names))
    numbers = np.zeros((n, len(columns)))
    texts: dict[int, Text] = {}
    for j, column in enumerate(columns):
        cells = _read_column(column, j, names)
        if isinstance(cells, Text):
            texts[j] = cells
        else:
            numbers[:, j] = cells
    gaps = find_gaps(numbers, names)
    return Batch(numbers, gaps, texts, None if names is None else tuple(names))


def has_no_rows(X: Any, columns: int, names: tuple[str, ...] | None) -> bool:
    """Whether `X` is rows of a model's columns, of which there are none."""
    if isinstance(X, list | tuple):
        return not X
    shape = getattr(X, "shape", None)
    if type(shape) is not tuple or shape != (0, columns):
        return False
    return names is None or not is_frame(X) or tuple(X.columns) == names


def _read_column(column: Any, j: int, names: Names) -> Array | Text:
    declared = str(getattr(column, "dtype", "")).startswith(("category", "Categorical", "Enum"))
    values = _values(column, declared)
    if values.ndim == 1 and values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.ndim != 1 or values.dtype.kind not in "OUT":
        _refuse(values[0], 0, j, names, "is no number and no text")
    cells = values.tolist()
    if declared or any(isinstance(cell, str) and not is_missing(cell) for cell in cells):
        return _read_text(cells, j, names, declared=declared)
    if set(map(type, cells)) <= {float, bool, type(None)}:
        return np.array(cells, dtype=np.float64)  # None becomes NaN
    numbers = np.empty(len(cells))
    for t, cell in enumerate(cells):
        try:
            numbers[t] = np.nan if is_missing(cell) else to_number(cell)
        except (TypeError, ValueError) as error:
            where = where_in((t, j), names)
            raise TypeError(
                f"X has {shown(cell)} at {where}, which is no number and no text ({error}): turn "
                "it into a number or drop it before learning"
            ) from None
    return numbers


def _values(column: Any, declared: bool) -> NDArray[Any]:
    """Return the cells of a column as an array; of pandas' own types, too."""
    if not hasattr(column, "iloc"):
        if str(getattr(column, "dtype", "")) == "String":  # NumPy's own texts lose a last "\0"
            return np.array(column.to_list(), dtype=object)
        return np.asarray(column)
    if declared:
        return np.asarray(column.astype(object))
    kind = getattr(column.dtype, "kind", "O")
    if kind in ("b", "i", "u", "f") and not isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(column)


def _read_text(cells: list[Any], j: int, names: Names, *, declared: bool) -> Array | Text:
    codes_of: dict[Any, int] = {}
    found: dict[str, int] = {}
    codes = np.empty(len(cells), dtype=np.int64)
    for t, cell in enumerate(cells):
        code = codes_of.get(cell) if type(cell) is str else None
        if code is None:
            if is_missing(cell):
                code = -1
            elif isinstance(cell, str) or declared:
                text = to_text(cell)
                if not declared and reads_as_number(text):
                    _refuse(
                        cell, t, j, names, "is a number given as text: convert the column to "
                        "numbers, or to a categorical type if its numbers are names",
                    )  # fmt: skip
                code = found.setdefault(text, len(found))
            else:
                _refuse_mixture(cells, t, j, names)
            if type(cell) is str:
                codes_of[cell] = code
        codes[t] = code
    return Text(codes, list(found)) if found else np.full(len(cells), np.nan)


def _refuse_mixture(cells: list[Any], other: int, j: int, names: Names) -> NoReturn:
    """Name the cell at which a column leaves the kind it began with; `other` is no text."""

    def is_text(cell: Any) -> bool:
        return isinstance(cell, str) and not is_missing(cell)

    if any(is_text(cell) for cell in cells[:other]):
        _refuse(cells[other], other, j, names, "stands in a column of text: keep it to one kind")
    for t, cell in enumerate(cells):
        if is_text(cell):
            _refuse(
                cell, t, j, names, "stands in a column that began otherwise: keep it to one kind"
            )
    _refuse(cells[other], other, j, names, "is no number and no text")


def _refuse(value: Any, t: int, j: int, names: Names, problem: str) -> NoReturn:
    remedy = "" if ":" in problem else ": turn it into a number or drop it before learning"
    raise ValueError(f"X has {shown(value)} at {where_in((t, j), names)}, which {problem}{remedy}")
