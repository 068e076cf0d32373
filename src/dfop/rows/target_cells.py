"""Targets as strictly as features: numbers to regress on, labels of classes, in any container.

A missing target, a date, text that reads as a number, an infinite number: each is refused with its
row and what to do.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from dfop.core import LARGEST, first_unusable

from .cells import LABEL_GAP_WORDS, is_gap_word, is_missing, reads_as_number, to_number
from .checks import Array, check_finite, check_length

Labels = NDArray[Any]

_DROP = "drop rows without a label before learning, or keep them with semi=True"


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
        cells = _cells(y)
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
        check_finite(numbers, "y", if_missing=_DROP)
    return numbers


def _number(cell: Any, index: tuple[int, ...]) -> float:
    if isinstance(cell, str) and not is_gap_word(cell):
        given = "a number given as text" if reads_as_number(cell) else "which is no number"
        _refuse(cell, index, f"{given}: convert it to a number before learning")
    if is_missing(cell):
        _refuse(cell, index, f"which is no label (NaN): {_DROP}")
    try:
        if isinstance(cell, complex | np.complexfloating):
            raise TypeError("Complex data not supported")
        return to_number(cell)
    except (TypeError, ValueError):
        _refuse(
            cell, index, f"a {type(cell).__name__}, which is no number: turn it into one before "
            "learning"
        )  # fmt: skip


def target_labels(y: Any, n: int) -> Labels:
    """Return class labels as an array of shape (n,) or (n, m): whole numbers, bools or text.

    Examples
    --------
    >>> target_labels(["up", "down"], 2)
    array(['up', 'down'], dtype='<U4')
    >>> target_labels(["up", None], 2)
    Traceback (most recent call last):
    ...
    ValueError: y has None at row 1, which is no label: drop rows without a label before ...
    """
    if type(y) is np.ndarray and y.dtype.kind in "biuU" and y.ndim == 1:
        labels: Labels = y
    else:
        labels = _cells(y)
        if labels.shape[:1] != (n,):
            check_length(labels, n)
        if labels.dtype.kind in "mM":
            _refuse(labels.flat[0], (0,) * labels.ndim, "a date, which is no label: use its text")
        if labels.dtype.kind in "OST":
            labels = _alike(labels)
    if labels.shape[:1] != (n,):
        check_length(labels, n)
    if labels.ndim > 2 or labels.size == 0:
        raise ValueError(f"y has shape {labels.shape}: expected (n,) or (n, m) with m > 0")
    if labels.dtype.kind == "c":
        raise ValueError(
            "y holds complex numbers (Complex data not supported), which are no labels"
        )
    if labels.dtype.kind == "f":
        bad = np.argwhere(~np.isfinite(labels))
        if bad.size:
            t = int(bad[0][0])
            if np.isnan(labels[tuple(bad[0])]):
                raise ValueError(f"y contains NaN at row {t}: {_DROP}")
            raise ValueError(f"y contains infinity at row {t}: drop or recode it before learning")
    return labels


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
    cells = _cells(y if masked is None else y.data)
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


def _cells(y: Any) -> NDArray[Any]:
    """Return targets cell by cell, in an array of whatever type they have."""
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        t = int(np.argwhere(np.ma.getmaskarray(y))[0][0])
        raise ValueError(f"y is masked at row {t}: {_DROP}")
    if hasattr(y, "iloc"):  # pandas, also its nullable and categorical types
        y = y.astype(object) if _is_extension(y) else y
        return np.asarray(y)
    if type(y).__module__.startswith("pandas"):  # pd.array(...): cells keep their type
        y = list(y)
    if isinstance(y, list | tuple):
        flat = _of_list(y)
        if flat is not None:
            return flat
    if hasattr(y, "to_list") and hasattr(y, "dtype") and not isinstance(y, np.ndarray):  # polars
        flat = _of_list(y.to_list())
        if flat is None:
            _refuse(y[0], (0,), "which is no single label: give one number or text per row")
        return flat
    array: NDArray[Any] = check_array(
        y, dtype=None, ensure_2d=False, ensure_all_finite=False, ensure_min_samples=0,
        allow_nd=True, input_name="y",
    )  # fmt: skip
    return array


def _is_extension(y: Any) -> bool:
    dtypes = [y.dtype] if hasattr(y, "dtype") else list(y.dtypes)
    return any(not isinstance(dtype, np.dtype) for dtype in dtypes)


def _of_list(values: Any) -> NDArray[Any] | None:
    """Return a list as an array in which every cell keeps its type; None where it is nested."""
    kinds = set(map(type, values))
    if kinds <= {int} or kinds <= {float, int} or kinds <= {bool} or kinds <= {str}:
        return np.asarray(values)
    if kinds & {list, tuple, np.ndarray}:
        rows = [np.asarray(row) for row in values]
        if len({row.shape for row in rows}) == 1 and rows[0].dtype.kind in "biufUO":
            return None
        _refuse(values[0], (0,), "which is no single label: give one number or text per row")
    cells = np.empty(len(values), dtype=object)
    cells[:] = values
    return cells


def _alike(labels: NDArray[Any]) -> Labels:
    """Return labels given as objects in one type, or say which one is missing or of another."""
    first: Any = None
    for index, label in np.ndenumerate(labels):
        if not isinstance(label, str) and is_missing(label):
            name = "NaN" if isinstance(label, float) else repr(label)
            _refuse_text(name, index, f"which is no label: {_DROP}")
        if not isinstance(label, str | int | float | np.number | np.bool_):
            _refuse(
                label, index, f"a {type(label).__name__}, which is no label: use whole numbers, "
                "bools or text"
            )  # fmt: skip
        first = label if first is None else first
        if isinstance(label, str) != isinstance(first, str):
            raise ValueError(
                f"y has {label!r} at row {index[0]} but {first!r} at row 0: labels must be of one "
                "type"
            )
    if isinstance(first, str):
        return labels.astype(str) if labels.dtype.kind != "O" else labels
    return np.asarray(labels.tolist())


def check_new_label(label: Any, row: int | None) -> None:
    """Refuse what cannot be the label of a class not met before.

    `row` is None for a row alone.
    """
    where = "" if row is None else f" at row {row}"
    if not isinstance(label, str) and is_missing(label):
        raise ValueError(f"the label is {label!r}{where}: {_DROP}")
    if isinstance(label, str) and label.strip().lower() in LABEL_GAP_WORDS:
        raise ValueError(f"the label is {label!r}{where}, which means a missing one: {_DROP}")
    if not isinstance(label, str | int | float | np.number | np.bool_):
        raise ValueError(
            f"the label is {label!r}{where}, a {type(label).__name__}, which is no label: use "
            "whole numbers, bools or text"
        )
    if isinstance(label, float | np.floating) and not np.isfinite(label):
        raise ValueError(f"the label is {label!r}{where}: drop or recode it before learning")


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
            f"y is {y!r}: y must be finite and below 2**500 in magnitude, and no text or date; "
            "convert or drop it before learning (semi=True takes rows without a target)"
        )
    return number


def refuse_gap_words(labels: Labels, classes: Labels) -> None:
    """Refuse classes found in labels whose name says that the label is missing."""
    for label in classes.tolist():
        if isinstance(label, str) and label.strip().lower() in LABEL_GAP_WORDS:
            t = int(np.argmax(labels == label))
            raise ValueError(
                f"y has {label!r} at row {t}, which means a missing label: {_DROP}, or rename it, "
                "or name it in classes= if it is meant"
            )


def _refuse(value: Any, index: tuple[int, ...], problem: str) -> NoReturn:
    plain = isinstance(value, np.str_ | np.number | np.bool_)
    _refuse_text(repr(value.item() if plain else value), index, problem)


def _refuse_text(shown: str, index: tuple[int, ...], problem: str) -> NoReturn:
    column = f", column {index[1]}" if len(index) > 1 else ""
    raise ValueError(f"y has {shown} at row {index[0]}{column}, {problem}")
