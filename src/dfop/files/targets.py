"""Targets as JSON values, and back, all checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.model.label_targets import LabelTarget
from dfop.model.opening import Target
from dfop.model.settings import Settings
from dfop.model.several_labels import SeveralLabels
from dfop.model.targets import NumberTarget

from .values import as_json, known, listed, truth, whole

_MOST_OUTPUTS = 10**6
_WIDE = 1000
"""Letters that a type of text may have beyond those of its labels."""


def describe_target(target: Target) -> dict[str, Any]:
    """Describe what a model learns."""
    described: dict[str, Any]
    if isinstance(target, NumberTarget):
        described = {"outputs": target.outputs, "flat": target.flat, "known": target.known}
        return described | _describe_names(target.names)
    if isinstance(target, SeveralLabels):
        several = [_describe_classes(some) for some in target.columns]
        return {"several": several} | _describe_names(target.names)
    described = {"one_each": True} if target.one_each else {}
    if target.classes is None:
        return {**described, "order": as_json(target.order, "class")}
    if target.grows:
        described["open"] = True
    met = target.positions[: len(target.order)].tolist()
    return {**described, "classes": _describe_classes(target.classes), "met": met}


def read_target(kind: str, described: Any, settings: Settings) -> Target:
    """Return the target of a learner of that kind."""
    if type(described) is not dict:
        raise ValueError("a target that is not described")
    if kind.endswith("Regressor"):
        return _read_numbers(kind, described)
    limit, described = settings.max_classes, dict(described)
    one_each = truth(described.pop("one_each", False))
    if kind.startswith("river."):
        order = _distinct(known(described, {"order"}, "the target")["order"], "classes")
        if len(order) > limit:
            raise ValueError(f"{len(order)} classes, more than max_classes")
        return LabelTarget(order=tuple(order), limit=limit, grows=True, one_each=one_each)
    if "several" in described:
        names = _read_names(described)
        columns = listed(known(described, {"several"}, "the target")["several"], "targets")
        if not columns or (names is not None and len(names) != len(columns)):
            raise ValueError("no targets, or more or fewer names than targets")
        return SeveralLabels(tuple(_read_classes(some, limit) for some in columns), limit, names)
    grows = truth(described.pop("open", False))
    known(described, {"classes", "met"}, "the target")
    classes = _read_classes(described["classes"], limit, least=0 if grows else 1)
    met = [whole(at, len(classes) - 1) for at in _distinct(described["met"], "classes")]
    labels = classes.tolist()
    order = [labels[at] for at in met]
    if grows and len(order) < len(labels):
        raise ValueError("a class that was not met")
    return LabelTarget(classes, tuple(order), limit, grows, one_each)


def _read_numbers(kind: str, described: dict[str, Any]) -> NumberTarget:
    described = dict(described)
    names = _read_names(described)
    known(described, {"outputs", "flat", "known"}, "the target")
    outputs = whole(described["outputs"], _MOST_OUTPUTS, 1)
    target = NumberTarget(outputs, truth(described["flat"]), truth(described["known"]), names)
    if names is not None and (target.flat or len(names) != outputs):
        raise ValueError("more or fewer names than targets")
    usual = target.flat and outputs == 1
    if (target.flat or kind.startswith("river.") or not target.known) and not usual:
        raise ValueError("several outputs for one target")
    return target


def _describe_names(names: tuple[str, ...] | None) -> dict[str, Any]:
    """Describe the names of several targets, where they have any."""
    return {} if names is None else {"names": list(names)}


def _read_names(described: dict[str, Any]) -> tuple[str, ...] | None:
    """Take the names of several targets out of their description."""
    if "names" not in described:
        return None
    names = listed(described.pop("names"), "names")
    if not all(type(name) is str for name in names):
        raise ValueError("names of targets that are no text")
    return tuple(names)


def _distinct(values: Any, what: str) -> list[Any]:
    found = as_json(listed(values, what), "entry")
    if len(set(found)) != len(found):
        raise ValueError(f"equal {what}")
    return found


def _describe_classes(classes: NDArray[Any]) -> dict[str, Any]:
    values = as_json(classes.tolist(), "class")
    if classes.dtype == object:
        return {"dtype": "object", "values": values}
    if classes.dtype.kind not in "biufU":
        raise TypeError(f"classes of type {classes.dtype} cannot be saved: use text or numbers")
    if classes.dtype.kind == "U":
        classes = classes.astype(_narrowed(classes.dtype, values))
    return {"dtype": classes.dtype.str, "values": values}


def _narrowed(dtype: np.dtype[Any], values: list[str]) -> np.dtype[Any]:
    """Return a type of text not much wider than the texts: what is wide asks for memory."""
    most = max(_WIDE, *map(len, values))
    return np.dtype(f"<U{most}") if dtype.itemsize > 4 * most else dtype


def _read_classes(described: Any, limit: int, least: int = 1) -> NDArray[Any]:
    known(described, {"dtype", "values"}, "a list of classes")
    values = as_json(listed(described["values"], "classes"), "class")
    if type(described["dtype"]) is not str or not least <= len(values) <= limit:
        raise ValueError(f"{len(values)} classes of type {described['dtype']!r}")
    dtype = np.dtype(described["dtype"])
    if dtype.kind not in "biufUO" or (dtype.kind != "U" and dtype.itemsize > 16):
        raise ValueError(f"classes of type {dtype}")
    if dtype.kind == "U":
        dtype = _narrowed(dtype, [str(value) for value in values])
    classes = np.array(values, dtype=dtype)
    if classes.ndim != 1 or not (classes[:-1] < classes[1:]).all():
        raise ValueError("classes that are not sorted")
    return classes
