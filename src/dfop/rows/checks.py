"""Checks of rows that say which row, which column, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dfop.core import first_unusable

from .cells import shown

Array = NDArray[np.float64]
Names = Sequence[Any] | None

_IMPUTE = "impute or drop missing values before learning"


def check_finite(
    values: Array, what: str, names: Names = None, *, if_missing: str = _IMPUTE
) -> None:
    """Refuse values that are not finite or too large; `values` must be C-ordered."""
    at = first_unusable(values)
    if at < values.size:
        refuse_value(values, at, what, names, if_missing)


def in_words(columns: Sequence[str]) -> str:
    """Return names of columns as messages show them, the first five.

    Examples
    --------
    >>> in_words(["size"]), in_words(list("abcdefg"))
    ("column 'size'", "columns 'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    told = ", ".join(shown(name) for name in columns[:5])
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    return f"column{'s' if len(columns) > 1 else ''} {told}{more}"


def check_count(name: str, value: Any) -> None:
    """Refuse what counts nothing.

    Examples
    --------
    >>> check_count("batch", 2.5)
    Traceback (most recent call last):
    ...
    ValueError: batch must be at least 1 and a whole number, got 2.5
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:
        raise ValueError(f"{name} must be at least 1 and a whole number, got {value!r}")


def check_length(y: NDArray[Any], n: int) -> None:
    """Refuse targets that are not one per row."""
    if y.ndim == 0 or len(y) != n:
        raise ValueError(
            f"X has {n} rows but y has {0 if y.ndim == 0 else len(y)}: Found input variables "
            "with inconsistent numbers of samples; give one target per row"
        )


def refuse_no_rows() -> NoReturn:
    """Refuse a batch without a row."""
    raise ValueError(
        "the batch is empty: found 0 samples where a minimum of 1 is needed; leave the call out "
        "where no row has come"
    )


def refuse_no_columns(n: int) -> NoReturn:
    """Refuse rows without a column."""
    raise ValueError(
        f"X has 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required: give columns"
    )


def refuse_ragged(rows: Sequence[Any]) -> None:
    """Refuse rows of different length.

    Examples
    --------
    >>> refuse_ragged([[1, 2], [3]])
    Traceback (most recent call last):
    ...
    ValueError: X has 1 cells in row 1 and 2 cells in row 0: give every row the same columns, ...
    """
    sizes = [len(row) if hasattr(row, "__len__") else None for row in rows]
    t = next((t for t, size in enumerate(sizes) if size != sizes[0]), 0)
    if t == 0:
        return
    found = ["a single value" if size is None else f"{size} cells" for size in (sizes[t], sizes[0])]
    raise ValueError(
        f"X has {found[0]} in row {t} and {found[1]} in row 0: give every row the same columns, "
        "None where a cell is missing"
    )


def refuse_without_order(keys: Any) -> None:
    """Refuse keys that are no rows in order, such as a set.

    Examples
    --------
    >>> refuse_without_order({3, 1})
    Traceback (most recent call last):
    ...
    ValueError: keys are of type set, which has no rows in order: give a list with one key per row
    """
    if isinstance(keys, Set | Mapping) or not isinstance(keys, Iterable):
        raise ValueError(
            f"keys are of type {type(keys).__name__}, which has no rows in order: give a list with "
            "one key per row"
        )


def refuse_masked(values: Any, what: str, remedy: str) -> None:
    """Refuse values of which some are masked: what a mask hides is not to be learned.

    Examples
    --------
    >>> refuse_masked(np.ma.array([1.0, 2.0], mask=[False, True]), "sample_weight", "give 0")
    Traceback (most recent call last):
    ...
    ValueError: sample_weight is masked at row 1: give 0
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        hidden = np.argwhere(np.ma.getmaskarray(values))[0]
        where = f" at row {hidden[0]}" if hidden.size else ""
        raise ValueError(f"{what} is masked{where}: {remedy}")


def as_numbers(values: Any, what: str) -> Array:
    """Return values as a C-ordered float64 array, or say where they are no numbers."""
    try:
        return np.require(np.asarray(values), np.float64, ["C", "A"])
    except (TypeError, ValueError) as error:
        name_what_is_no_number(values, what, error)
        raise


def where_in(index: tuple[int, ...], names: Names) -> str:
    """Row and column of a value, in words."""
    if len(index) == 1:
        return f"row {index[0]}"
    return f"row {index[0]}, column {index[1] if names is None else repr(str(names[index[1]]))}"


def name_what_is_no_number(data: Any, what: str, error: Exception) -> None:
    """Raise in place of a failed conversion an error that says where it failed, if one can."""
    try:
        values = np.asarray(data, dtype=object)
    except ValueError:
        return
    if values.ndim not in (1, 2):
        return
    names = list(data.columns) if hasattr(data, "columns") else None
    for index in np.ndindex(values.shape):
        value = values[index]
        try:
            float(value)
        except (TypeError, ValueError):
            nested = np.iterable(value) and not isinstance(value, str | bytes)
            if nested and values.ndim == 1:
                return  # these are rows: the error at hand says it better
            reason = f"a {type(value).__name__}" if nested else error
            raise ValueError(
                f"{what} has {shown(value)} at {where_in(index, names)}, which is no number "
                f"({reason}): encode or drop it before learning"
            ) from None


def refuse_value(
    values: Array, at: int, what: str, names: Names, if_missing: str = _IMPUTE
) -> NoReturn:
    """Say what is wrong with the value `at` a place, counted through all rows."""
    index = tuple(int(i) for i in np.unravel_index(at, values.shape))
    value = values[index]
    if np.isnan(value):
        problem, remedy = "NaN", if_missing
    elif np.isinf(value):
        problem, remedy = "infinity", "clip or drop infinite values before learning"
    else:
        problem, remedy = f"{value:g}, a value too large", "scale it below 2**500 (3e150)"
    raise ValueError(f"{what} contains {problem} at {where_in(index, names)}: {remedy}")
