"""The last labels that are features, as JSON values and an array, and back, all checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from dfop.model.label_targets import LabelTarget
from dfop.model.lags import Lags
from dfop.model.model import Model

from .container import Tensors
from .values import LARGEST, Reading, listed, whole, within


def describe_lags(lags: Lags, tensors: Tensors) -> dict[str, Any]:
    """Describe which coded columns they have; the labels go to the arrays."""
    tensors["lags/recent"] = np.ascontiguousarray(lags.recent, dtype=np.float64)
    if lags.indicators:
        return {"indicators": [[label, columns] for label, columns in lags.indicators.items()]}
    return {"blocks": lags.blocks}


def read_lags(model: Model, described: Any, reading: Reading) -> Lags:
    """Return the labels that were described, features of the model's rows."""
    target = model.target
    classes = target if isinstance(target, LabelTarget) else None
    numbers = 1 if classes else sum(design[1] for design in target.designs())
    recent = reading.take("lags/recent", (model.settings.lags, numbers))
    lags = Lags(model.settings.lags, numbers, classes is not None)
    lags.recent = recent.copy()
    if type(described) is not dict or len(described) != 1:
        raise ValueError("lags that are not described")
    if "indicators" in described:
        columns = _read_indicators(lags, described["indicators"], classes)
    else:
        lags.blocks = [whole(start) for start in listed(described["blocks"], "lags")]
        columns = [start + at for start in lags.blocks for at in range(lags.block)]
        if len(lags.blocks) != (max(1, len(classes.order) - 1) if classes else 1):
            raise ValueError("lags that do not fit the classes")
    if sorted(set(columns)) != sorted(model.coder.lags):
        raise ValueError("lags that have no columns")
    if classes is None:
        within(recent, -LARGEST, LARGEST, "labels")
    elif not np.isin(recent, np.arange(-1, len(classes.order))).all():
        raise ValueError("labels of no class")
    return lags


def _read_indicators(lags: Lags, described: Any, target: LabelTarget | None) -> list[int]:
    """Take over the columns of each class, newest label first; return all of them."""
    if target is None:
        raise ValueError("lags of classes of numbers")
    for label, columns in listed(described, "lags"):
        label = whole(label, len(target.order) - 1, -1)
        lags.indicators[label] = [whole(column) for column in listed(columns, "lags")]
        if len(columns) != lags.block:
            raise ValueError("lags of a class")
    if not lags.indicators.keys() >= set(range(len(target.order))):
        raise ValueError("lags that do not fit the classes")
    return [column for columns in lags.indicators.values() for column in columns]
