"""Targets as strictly as features: their cells, whatever container they come in, and numbers.

A missing target, a date, text that reads as a number, an infinite number: each is refused with its
row and what to do. `labels` has the rule of classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from dfop.core import LARGEST, first_unusable

from .cells import is_gap_word, is_missing, reads_as_number, shown, to_number
from .checks import Array, check_finite, check_length, refuse_masked

DROP = "drop rows without a label before learning, or keep them in a learner with semi=True"
"""What to do with a missing target."""
_NOT_SINGLE = "which is no single label: give one number or text per row"


def target_numbers(y: Any, n: int) -> Array:
    """Return regression targets as a float64 array of shape (n,) or (n, m).

    Examples
    --------
    >>> target_numbers([1, 2], 2)
    array([1., 2.])
    >>> target_numbers(["1.5", "2"], 2)
    Traceback (most recent call last):
    ...
    ValueError: y has '1.5' at row 0, a number given as text: convert it to a number before learning
    """
    if type(y) is not np.ndarray or y.dtype != np.float64:
        cells = cells_of(y)
        if cells.shape[:1] != (n,):
            check_length(cells, n)
        if cells.dtype.kind in "biuf":
            y = cells.astype(np.float64)
        else:
            y = np.empty(cells.shape)
            for index, cell in np.ndenumerate(cells):
                y[index] = _number(cell, index)
    if y.shape[:1] != (n,):
        check_length(y, n)
    if y.ndim > 2 or y.size == 0:
        raise ValueError(f"y has shape {y.shape}: expected (n,) or (n, m) with m > 0")
    numbers: Array = y
    if not (y.flags.c_contiguous and y.flags.aligned):
        numbers = np.require(y, requirements=["C", "A"])
    if first_unusable(numbers) < numbers.size:
        check_finite(numbers, "y", if_missing=DROP)
    return numbers


def same_targets(known: tuple[str, ...] | None, y: Any) -> tuple[str, ...] | None:
    """Return the names of several targets; refuse a data frame that has them in another order.

    Examples
    --------
    >>> import pandas as pd
    >>> y = pd.DataFrame({"up": [1.0], "down": [2.0]})
    >>> same_targets(None, y)
    ('up', 'down')
    >>> same_targets(("down", "up"), y)
    Traceback (most recent call last):
    ...
    ValueError: y has the targets up, down, but this model has learned down, up: give them in ...
    """
    columns = () if type(y) is np.ndarray else getattr(y, "columns", ())
    names = tuple(columns) if all(isinstance(name, str) for name in columns) else ()
    if known and names and names != known:
        raise ValueError(
            f"y has the targets {', '.join(names)}, but this model has learned "
            f"{', '.join(known)}: give them in that order and under these names"
        )
    return known or names or None


def _number(cell: Any, index: tuple[int, ...]) -> float:
    if isinstance(cell, str) and not is_gap_word(cell):
        given = "a number given as text" if reads_as_number(cell) else "which is no number"
        refuse_cell(cell, index, f"{given}: convert it to a number before learning")
    if is_missing(cell):
        refuse_cell(cell, index, f"which is no label (NaN): {DROP}")
    try:
        if isinstance(cell, complex | np.complexfloating):
            raise TypeError("Complex data not supported")
        return to_number(cell)
    except (TypeError, ValueError):
        refuse_cell(
            cell, index, f"a {type(cell).__name__}, which is no number: turn it into one before "
            "learning"
        )  # fmt: skip


def split_targets(y: Any, n: int, *, words: bool) -> tuple[Any, NDArray[np.bool_]]:
    """Return targets in which those known stand for missing ones, and which rows have one.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, m), or None
        Targets, of which any may be missing; None where all are.
    n : int
        How many rows there are.
    words : bool
        Whether a text such as "nan" says that a target is missing.

    Returns
    -------
    targets : array-like or None
        With a value everywhere, so that they can be read as any others; None where none is known.
    known : ndarray of bool, shape (n,)

    Examples
    --------
    >>> split_targets(["up", None, "down"], 3, words=False)
    (array(['up', 'up', 'down'], dtype='<U4'), array([ True, False,  True]))
    >>> split_targets([float("nan")], 1, words=True)
    (None, array([False]))
    """
    if y is None:
        return None, np.zeros(n, bool)
    masked = np.ma.getmaskarray(y) if isinstance(y, np.ma.MaskedArray) else None
    cells = cells_of(y if masked is None else y.data)
    check_length(cells, n)
    missing = _missing(cells, words)
    if masked is not None:
        missing |= masked
    if missing.ndim == 2:
        some = missing.any(axis=1) & ~missing.all(axis=1)
        if some.any():
            raise ValueError(
                f"y has some of its targets at row {int(np.argmax(some))} and not the others: give "
                "all targets of a row, or none"
            )
        missing = np.asarray(missing.all(axis=1))
    if missing.ndim != 1 or not missing.any():
        return y, np.ones(n, bool)
    if missing.all():
        return None, ~missing
    filled = cells.copy()
    filled[missing] = cells[int(np.argmin(missing))]
    alike = _of_list(filled.tolist()) if filled.dtype == object and filled.ndim == 1 else None
    return filled if alike is None else alike, ~missing


def _missing(cells: NDArray[Any], words: bool) -> NDArray[np.bool_]:
    """Return which cells are missing."""
    if cells.dtype.kind == "f":
        return np.asarray(np.isnan(cells))
    missing = np.zeros(cells.shape, bool)
    if cells.dtype.kind == "O":
        for index, cell in np.ndenumerate(cells):
            missing[index] = is_missing(cell) and (words or not isinstance(cell, str))
    return missing


def cells_of(y: Any, what: str = "y") -> NDArray[Any]:
    """Return targets cell by cell, in an array of whatever type they have.

    Examples
    --------
    >>> cells_of(("up", 1)).tolist()
    ['up', 1]
    >>> cells_of({1.0, 2.0})
    Traceback (most recent call last):
    ...
    ValueError: y is of type set, which has no rows in order: give a list or an array with ...
    """
    if type(y) is np.ndarray and y.ndim and y.dtype.kind in "biufU":
        return y  # the general check would take longer than learning a hundred rows
    if not isinstance(y, np.ndarray | list | tuple):
        _refuse_what_is_no_list(y, what)
    if isinstance(y, np.ma.MaskedArray):
        refuse_masked(y, what, missing_remedy(what))
    if hasattr(y, "iloc"):  # pandas, also its nullable and categorical types
        y = y.astype(object) if _is_extension(y) else y
        return np.asarray(y)
    if type(y).__module__.startswith("pandas"):  # pd.array(...): cells keep their type
        y = list(y)
    if isinstance(y, list | tuple):
        flat = _of_list(y, what)
        if flat is not None:
            return flat
    if hasattr(y, "to_list") and hasattr(y, "dtype") and not isinstance(y, np.ndarray):  # polars
        flat = _of_list(y.to_list(), what)
        if flat is None:
            refuse_cell(y[0], (0,), _NOT_SINGLE, what)
        return flat
    if isinstance(y, np.ndarray) and y.dtype.kind == "T":  # NumPy's texts of any length
        return y.astype(object)
    array: NDArray[Any] = check_array(
        y, dtype=None, ensure_2d=False, ensure_all_finite=False, ensure_min_samples=0,
        allow_nd=True, input_name=what,
    )  # fmt: skip
    return array


def _refuse_what_is_no_list(y: Any, what: str) -> None:
    if y is None:
        raise ValueError(f"learning requires y to be passed, but the target {what} is None")
    if hasattr(y, "__array__"):
        return
    no_rows = isinstance(y, str | bytes | Mapping | AbstractSet) or not np.iterable(y)
    if no_rows or not hasattr(y, "__getitem__"):
        raise ValueError(
            f"{what} is of type {type(y).__name__}, which has no rows in order: give a list or an "
            "array" + (" with one target per row" if what == "y" else "")
        )


def _is_extension(y: Any) -> bool:
    dtypes = [y.dtype] if hasattr(y, "dtype") else list(y.dtypes)
    return any(not isinstance(dtype, np.dtype) for dtype in dtypes)


def _of_list(values: Any, what: str = "y") -> NDArray[Any] | None:
    """Return a list as an array in which every cell keeps its type; None where it is nested."""
    kinds = set(map(type, values))
    if kinds <= {int} or kinds <= {float, int} or kinds <= {bool} or kinds <= {str, np.str_}:
        return np.asarray(values)
    if kinds & {list, tuple, np.ndarray}:
        rows = [np.asarray(row) for row in values]
        if len({row.shape for row in rows}) > 1 or rows[0].dtype.kind not in "biufUO":
            at = next(t for t, row in enumerate(values) if type(row) in (list, tuple, np.ndarray))
            refuse_cell(values[at], (at,), _NOT_SINGLE, what)
        if {row.dtype.kind for row in rows} <= set("biuf"):
            return None
        nested = np.asarray(values, dtype=object)  # numbers beside text stay numbers
        return np.asarray(values) if all(type(cell) is str for cell in nested.flat) else nested
    cells = np.empty(len(values), dtype=object)
    cells[:] = values
    return cells


def one_number(y: Any) -> float:
    """Return the target of a single row.

    Examples
    --------
    >>> one_number(2)
    2.0
    """
    if type(y) is float and abs(y) <= LARGEST:
        return y
    try:
        number = math.nan if is_missing(y) else to_number(y)
    except (TypeError, ValueError):
        number = math.nan
    if not abs(number) <= LARGEST:
        raise ValueError(
            f"y is {shown(y)}: y must be finite and below 2**500 in magnitude, and no text or "
            "date; convert or drop it before learning (semi=True takes rows without a target)"
        )
    return number


def refuse_cell(value: Any, index: tuple[int, ...], problem: str, what: str = "y") -> NoReturn:
    """Say what is wrong with a target; of classes, `what` is "classes"."""
    raise ValueError(f"{what} has {shown(value)} at {place_of(index, what)}, {problem}")


def missing_remedy(what: str) -> str:
    """Return what to do with a missing target, or class."""
    return DROP if what == "y" else f"leave it out of {what}="


def place_of(index: tuple[int, ...], what: str) -> str:
    """Return where a target stands, in words."""
    if what != "y":
        return f"place {index[0]}"
    return f"row {index[0]}" + (f", column {index[1]}" if len(index) > 1 else "")
