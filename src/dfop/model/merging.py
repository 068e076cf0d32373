"""Columns, targets and outputs of two partitions that are merged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.rows.labels import class_labels, distinct, joined_classes, target_labels
from dfop.rows.target_cells import cells_of, target_numbers

from .label_targets import LabelTarget
from .targets import NumberTarget

Array = NDArray[np.float64]
Names = tuple[str, ...] | None
Target = NumberTarget | LabelTarget


def merged_columns(a: Names, columns: int, b: Names, more: int) -> tuple[Names, list[int]]:
    """Return the names of all columns, and where those of b stand among them.

    Examples
    --------
    >>> merged_columns(("x", "y"), 2, ("z", "x"), 2)
    (('x', 'y', 'z'), [2, 0])
    """
    if (a is None) != (b is None):
        raise ValueError("columns have names in one part and none in the other: name them in both")
    if a is None or b is None:
        if columns != more:
            raise ValueError(
                f"one part has {columns} columns and the other {more}, and they have no names to "
                "match them by: give DataFrames, or the same columns"
            )
        return None, list(range(columns))
    names = (*a, *(name for name in b if name not in set(a)))
    place = {name: at for at, name in enumerate(names)}
    return names, [place[name] for name in b]


def merged_targets(a: Target, b: Target) -> tuple[Target, list[int]]:
    """Return the target of both, and where the outputs of b stand among its outputs."""
    if isinstance(a, NumberTarget) and isinstance(b, NumberTarget):
        if (a.flat, a.outputs) != (b.flat, b.outputs):
            shapes = ["(n,)" if part.flat else f"(n, {part.outputs})" for part in (a, b)]
            raise ValueError(
                f"y has outputs of the shape {shapes[0]} in one part and {shapes[1]} in the other: "
                "give all parts the same"
            )
        return a, list(range(a.outputs))
    if not (isinstance(a, LabelTarget) and isinstance(b, LabelTarget)):
        raise ValueError("y are labels in one part and numbers in the other")
    order = (*a.order, *(label for label in b.order if label not in a.index))
    lists = [some.classes for some in (a, b) if some.classes is not None]
    if len({isinstance(some[0], str) for some in lists}) > 1:
        raise ValueError("y are text in one part and numbers in the other: give labels of one type")
    classes = np.unique(np.concatenate(lists)) if lists else None
    merged = replace(a, classes=classes, order=order)
    return merged, [merged.index[label] for label in b.order]


def _numbers(y: Any, n: int) -> Array:
    """Return targets that are numbers; say what to give where they look like labels."""
    try:
        return target_numbers(y, n)
    except ValueError as error:
        cells = np.asarray(cells_of(y))
        if cells.dtype.kind not in "OUST" or not any(isinstance(c, str) for c in cells.flat):
            raise
        raise ValueError(f"{error}; if y are class labels, give labels=True") from None


def read_targets(y: Any, n: int, labels: bool, classes: Any) -> tuple[Target, Array]:
    """Return what is learned, and of each row the numbers: an output each of the classes met."""
    if not labels:
        if not n:
            shape = np.shape(y)
            outputs = shape[1] if len(shape) == 2 else 1
            return NumberTarget(outputs, len(shape) < 2, True), np.zeros((0, outputs))
        numbers = _numbers(y, n)
        flat = numbers.ndim == 1
        numbers = numbers.reshape(n, -1)
        return NumberTarget(numbers.shape[1], flat, True), numbers
    if isinstance(classes, str):
        raise ValueError(f"classes={classes!r}: give a list of classes, or leave it out")
    target = LabelTarget()
    given = None if classes is None else class_labels(classes)
    if not n:
        return (target if given is None else target.with_classes(None, given)), np.zeros((0, 0))
    found = target_labels(y, n)
    if found.ndim != 1:
        raise ValueError(f"y has shape {found.shape}: give one label per row")
    given = None if given is None else joined_classes(given, distinct(found))
    planned = target.plan(found, n, np.ones(n, bool), given)
    met = planned.target
    for _, label in planned.opened:
        met = met.learned(label)
    return met, (planned.values == np.arange(len(met.order))).astype(np.float64)


def coding_of(target: Target) -> Array:
    """Return an engine's outputs as sums of those of classes met, in the order of meeting them."""
    if isinstance(target, NumberTarget):
        return np.eye(target.outputs)
    met = len(target.order)
    margin = np.zeros((met, 1))
    margin[0], margin[1:2] = -1.0, 1.0
    if target.always_two:
        return margin
    one_each = np.eye(met, target.one_hot)
    return np.hstack([margin, one_each]) if target.margin else one_each


def decoding_of(target: Target) -> Array:
    """Return outputs of classes met, as sums of those of an engine that learned them.

    Of two classes an engine knows the margin alone; halves of it, as outputs of the classes, have
    that margin.
    """
    if isinstance(target, NumberTarget):
        return np.eye(target.outputs)
    met = len(target.order)
    if target.always_two:
        return np.array([[-0.5, 0.5]]) if met == 2 else np.array([[-1.0]])
    return np.eye(target.one_hot + target.margin, met, -int(target.margin))
