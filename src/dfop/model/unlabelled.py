"""Rows without a label: those before the first one, and batches of which some rows have none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.rows.target_cells import split_targets

from .label_targets import LabelTarget
from .several_labels import SeveralLabels
from .targets import NumberTarget, Planned

Target = NumberTarget | LabelTarget | SeveralLabels
Mask = NDArray[np.bool_]


def target_before_labels(target: Target, classes: Any, *, lags: int) -> Target:
    """Return the target of rows that come before the first label, knowing its classes."""
    if isinstance(target, NumberTarget):
        # rows have lags before the first label has shown how many outputs there are
        return NumberTarget(known=True) if lags and not target.known else target
    if target.known:
        target.check_same(classes)
        return target
    if not hasattr(classes, "__len__") or not len(classes):
        raise ValueError(
            "rows cannot wait for labels of unknown kind: name all classes in the first call, "
            "classes=[...]"
        )
    if not isinstance(classes, str) and all(np.ndim(some) for some in classes):
        return SeveralLabels(limit=target.limit).with_classes(None, classes)
    return LabelTarget(limit=target.limit).with_classes(None, classes)


def plan_with_gaps(
    target: Target, y: Any, n: int, seen: Mask, classes: Any, *, lags: int
) -> tuple[Planned, Mask]:
    """Check targets of n rows, any of which may be missing; say which rows have one.

    Where a target is missing, some value stands in its place that nothing reads.
    """
    filled, labelled = split_targets(y, n, words=isinstance(target, NumberTarget))
    if filled is not None:
        return target.plan(filled, n, seen & labelled, classes), labelled
    before = target_before_labels(target, classes, lags=lags)
    if isinstance(before, NumberTarget) and not target.known and np.ndim(y) == 2:
        before = NumberTarget(np.shape(y)[1], flat=False, known=True)  # the shape is known
    if isinstance(before, LabelTarget):
        return Planned(before, np.full((n, 1), -1, np.int64)), labelled
    return Planned(before, np.zeros((n, before.width))), labelled
