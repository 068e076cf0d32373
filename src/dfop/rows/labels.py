"""The one rule for what may be the label of a class: in `y`, in `classes=`, on every face.

A label is a text, a bool, or a whole number of 64 bits (1.0 is one). The labels of a model are all
texts or all numbers, so that 1 and "1" never meet; numbers that are equal, as 1, 1.0 and True are,
are one class. A fraction, and a text that says that the label is missing, are labels only if they
are named in `classes=`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import LABEL_GAP_WORDS, is_missing, shown
from .checks import check_length
from .target_cells import DROP, cells_of, missing_remedy, place_of, refuse_cell

Labels = NDArray[Any]

_FEW = 64
"""Labels, of which Python's own set finds the different ones faster than NumPy."""
_LARGEST_FLOAT = 2.0**53
"""Beyond it a float no longer tells a whole number from the next."""
_FRACTION = (
    "no whole number (Unknown label type: continuous): numbers are for DFOPRegressor; labels are "
    "whole numbers, bools or text, and fractions only if classes= names them"
)
_ONE_TYPE = "labels must be of one type, all text or all numbers"
FIXED_CLASSES = (
    "All classes are named in the first call, partial_fit(X, y, classes=[...]), or let come from "
    'then on, classes="open"; a model that has begun without takes no other: begin a new one'
)
"""What to say of classes that come later to a model that does not let them come."""
_TOO_LARGE = "a number too large to be told from its neighbours: give such labels as text"


def target_labels(y: Any, n: int, what: str = "y", known: Labels | None = None) -> Labels:
    """Return class labels as an array of shape (n,) or (n, m): whole numbers, bools or text.

    Fractions are labels where they are classes `known` already.

    Examples
    --------
    >>> target_labels(["up", "down"], 2)
    array(['up', 'down'], dtype='<U4')
    >>> target_labels(["up", None], 2)
    Traceback (most recent call last):
    ...
    ValueError: y has None at row 1, which is no label: drop rows without a label before ...
    """
    if type(y) is np.ndarray and y.dtype.kind in "biU" and y.ndim == 1:
        labels: Labels = y
    else:
        labels = cells_of(y, what)
        check_length(labels, n)
        if labels.dtype.kind in "mM":
            date = labels.flat[0] if labels.size else None
            refuse_cell(date, (0,) * labels.ndim, "a date, which is no label: use its text", what)
        if labels.dtype.kind in "OSV":
            labels = _alike(labels, what)
    if labels.shape[:1] != (n,):
        check_length(labels, n)
    if labels.ndim > 2 or labels.size == 0:
        raise ValueError(f"{what} has shape {labels.shape}: expected (n,) or (n, m) with m > 0")
    if labels.dtype.kind == "c":
        raise ValueError(
            f"{what} holds complex numbers (Complex data not supported), which are no labels"
        )
    if labels.dtype.kind == "f":
        _check_floats(labels, what, known)
    if labels.dtype == np.uint64 and labels.max() >= 2**63:
        at = tuple(np.argwhere(labels >= 2**63)[0].tolist())
        refuse_cell(labels[at], at, _TOO_LARGE, what)
    return labels


def _check_floats(labels: Labels, what: str, known: Labels | None) -> None:
    """Refuse floats that are no whole numbers, nor classes `known` already."""
    good = (np.abs(labels) <= _LARGEST_FLOAT) & (labels == np.floor(labels))
    if not good.all() and known is not None and known.dtype.kind == "f":
        good |= np.isin(labels, known)
    if good.all():
        return
    missing = np.isnan(labels)
    at = tuple(np.argwhere(missing if missing.any() else ~good)[0].tolist())
    where = place_of(at, what)
    if np.isnan(labels[at]):
        raise ValueError(f"{what} contains NaN at {where}: {missing_remedy(what)}")
    if np.isinf(labels[at]):
        raise ValueError(f"{what} contains infinity at {where}: drop or recode it before learning")
    refuse_cell(labels[at], at, _problem(labels[at].item()) or "", what)


def _alike(labels: Labels, what: str) -> Labels:
    """Return labels given as objects in one type, or say which one is missing or of another."""
    first: Any = None
    for index, label in np.ndenumerate(labels):
        problem = _problem(label, missing_remedy(what))
        if problem is not None:
            refuse_cell(label, index, problem, what)
        first = label if first is None else first
        if isinstance(label, str) != isinstance(first, str):
            start = place_of((0,) * len(index), what)
            refuse_cell(label, index, f"but {shown(first)} at {start}: {_ONE_TYPE}", what)
    return labels if isinstance(first, str) else np.asarray(labels.tolist())


def _problem(label: Any, if_missing: str = DROP) -> str | None:
    """Return what keeps a value from being a label; None where nothing does."""
    if isinstance(label, str | bool | np.bool_):
        return None
    if is_missing(label):
        return f"which is no label: {if_missing}"
    if isinstance(label, int | np.integer):
        return None if -(2**63) <= int(label) < 2**63 else _TOO_LARGE
    if not isinstance(label, float | np.floating):
        return f"a {type(label).__name__}, which is no label: use whole numbers, bools or text"
    if not math.isfinite(label):
        return "infinity: drop or recode it before learning"
    if label != math.floor(label):
        return _FRACTION
    return None if abs(float(label)) <= _LARGEST_FLOAT else _TOO_LARGE


def check_new_label(label: Any, row: int | None, known: Any = None) -> None:
    """Refuse what cannot be the label of a class not met before.

    `row` is None for a row alone; `known` is the label of a class met before, if any was.

    Examples
    --------
    >>> check_new_label("1", 3, known=1)
    Traceback (most recent call last):
    ...
    ValueError: the label is '1' at row 3, of another type than the class 1: labels must be of ...
    """
    problem = _problem(label)
    if isinstance(label, str) and label.strip().lower() in LABEL_GAP_WORDS:
        problem = f"which means a missing one: {DROP}"
    elif problem == _FRACTION and isinstance(known, float) and not known.is_integer():
        problem = None  # fractions were named in classes=
    elif problem is None and known is not None and isinstance(label, str) != isinstance(known, str):
        problem = f"of another type than the class {shown(known)}: {_ONE_TYPE}"
    if problem is not None:
        where = "" if row is None else f" at row {row}"
        raise ValueError(f"the label is {shown(label)}{where}, {problem}")


def class_labels(classes: Any) -> Labels:
    """Return the labels that `classes=` names, sorted.

    Examples
    --------
    >>> class_labels(["up", "down"])
    array(['down', 'up'], dtype='<U4')
    >>> class_labels(["up", 1])
    Traceback (most recent call last):
    ...
    ValueError: classes has 1 at place 1, but 'up' at place 0: labels must be of one type, all ...
    """
    found = cells_of(classes, "classes")
    if found.ndim != 1 or found.size == 0:
        raise ValueError(f"classes has shape {found.shape}: give a list of labels")
    fractions = found[np.isfinite(found)] if found.dtype.kind == "f" else None
    return distinct(target_labels(found, len(found), "classes", known=fractions))


def joined_classes(a: Labels, b: Labels) -> Labels:
    """Return the classes of both, sorted; refuse texts beside numbers.

    Examples
    --------
    >>> joined_classes(np.array([3, 5]), np.array([4]))
    array([3, 4, 5])
    """
    if a.size and b.size and isinstance(a[0], str) != isinstance(b[0], str):
        raise ValueError(f"there are the classes {shown(a[0])} and {shown(b[0])}: {_ONE_TYPE}")
    return distinct(np.concatenate([a, b]))


def found_classes(labels: Labels) -> Labels:
    """Return the different labels, sorted; refuse those whose name says that they are missing."""
    classes = distinct(labels)
    for label in classes.tolist():
        if isinstance(label, str) and label.strip().lower() in LABEL_GAP_WORDS:
            t = int(np.argmax(labels == label))
            raise ValueError(
                f"y has {label!r} at row {t}, which means a missing label: {DROP}, or rename it, "
                "or name it in classes= if it is meant"
            )
    return classes


def distinct(labels: Labels) -> Labels:
    """Return the different labels, sorted.

    Sorting all of them, as `numpy.unique` does, takes longer than learning them.

    Examples
    --------
    >>> distinct(np.array([7, 3, 7, 5]))
    array([3, 5, 7])
    >>> distinct(np.array(["up", "down", "up"]))
    array(['down', 'up'], dtype='<U4')
    """
    if labels.dtype.kind == "U" or (labels.dtype.kind in "biu" and labels.size <= _FEW):
        return np.array(sorted(set(labels.ravel().tolist())), dtype=labels.dtype)
    if labels.dtype.kind in "biu" and labels.size:
        low, high = int(labels.min()), int(labels.max())
        if high - low < min(labels.size, 2**31) and -(2**62) < low <= high < 2**62:
            met = np.bincount(labels.ravel().astype(np.int64) - low)
            return (np.flatnonzero(met) + low).astype(labels.dtype)
    return np.unique(labels)


def positions_of(labels: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[np.int64]:
    """Return where in the sorted `classes` each label is; refuse those that are not there."""
    assert classes is not None
    try:
        if len(classes) == 2:  # searching takes longer than the learning
            at = (labels == classes[1]).astype(np.int64)
        else:
            at = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        known = np.asarray(classes[at] == labels)
    except TypeError:  # labels that cannot be compared with the known ones
        known = np.zeros(len(labels), bool)
    if known.shape != labels.shape or not known.all():
        t = int(np.argmin(np.broadcast_to(known, labels.shape)))
        label, known_labels = labels[t], classes[:10].tolist()
        named = ", ".join(map(shown, known_labels)) + (", ..." if len(classes) > 10 else "")
        other = ""
        if isinstance(label, str) != isinstance(known_labels[0], str):
            other = f", of another type than {shown(known_labels[0])}: give labels of one type"
        raise ValueError(
            f"y has the unknown class {shown(label)} at row {t}{other}; the classes are {named}. "
            f"{FIXED_CLASSES}"
        )
    return np.asarray(at, dtype=np.int64)
