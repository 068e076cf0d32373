"""The arrays of formats 1 and 2, most of them several fields one after the other, taken apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dfop.core import COVERAGES, Bank
from dfop.files.container import Tensors
from dfop.files.engine import NOT_COUNTED
from dfop.files.values import Reading, number

_STACKS = 3
_FILTER = ("upper", "D", "limit", "scale", "weights")
_FILTER_NUMBERS = ("unseen_variance", "faded")
_ERRORS = ("rows", "open_rows", "length", "mean", "recent", "open", "history")
_ALARM = ("rows", "sum", "rising", "trusted/mean", "trusted/square", "latest/mean", "latest/square")
_CURVE = ("slope", "constant", "H11", "H12", "H22")

Maps = list[Any]
Experts = list[Any]


def filter_fields(described: Any, reading: Reading, prefix: str = "") -> Tensors:
    """Return the fields of a filter; its two single numbers are in the description."""
    fields = {name: reading.take(prefix + name, (-1,) * (1 + (name == "weights")))
              for name in _FILTER}  # fmt: skip
    fields |= {name: np.array(number(described[name])) for name in _FILTER_NUMBERS}
    return fields | {"limited_rows": NOT_COUNTED}


def bank_fields(
    described: Any, reading: Reading, features: int, targets: list[tuple[str, int]]
) -> Tensors:
    """Return the fields of a bank of so many coded columns."""
    maps, experts, filters = described["maps"], described["experts"], dict(described["filters"])
    outputs = sum(count for _, count in targets)
    fields: Tensors = {}
    parts = {f"expert {k}": f"expert {k}" for k in range(len(experts))}
    for o in range(outputs):
        parts |= {f"stack {o} {i}": f"output {o}/stack {i}" for i in range(_STACKS)}
    for old, part in parts.items():
        found = filter_fields(filters.pop(old), reading, f"{old}/")
        fields |= {f"{part}/{name}": values for name, values in found.items()}
    if filters:
        raise ValueError("filters of no expert")
    curved = any(kind != "linear" for kind, _, _ in maps)
    for name, layout in _layout(features, targets, maps, experts).items():
        apart = _apart(reading, name, layout)
        if name == "standardiser" and not curved:
            continue  # nobody reads it
        if name.startswith("map") and len(layout) == 1:
            if apart[f"{name}/unit"]:
                raise ValueError("a map with curves of no kind")
            continue
        fields |= apart
    return fields | _error_fields(reading, len(experts))


def _layout(
    features: int, targets: list[tuple[str, int]], maps: Maps, experts: Experts
) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """Which fields, of which shapes, stand one after the other in an array."""
    layout: dict[str, list[tuple[str, tuple[int, ...]]]] = {
        "standardiser": [
            ("standardiser/rows", ()),
            ("standardiser/mean", (features,)),
            ("standardiser/squares", (features,)),
        ]
    }
    for i, (kind, _, count) in enumerate(maps):
        layout[f"map {i}"] = [(f"map {i}/unit", ())]
        if kind == "fourier":
            layout[f"map {i}"] += [
                (f"map {i}/phases", (count,)),
                (f"map {i}/frequencies", (features, count)),
            ]
    output, candidates = 0, len(experts) + 1 + _STACKS
    for c, (_, count) in enumerate(targets):
        fields = [(f"target {c}/losses", (candidates,)), (f"target {c}/rows", ())]
        fields += _mixture(f"target {c}/calm", candidates)
        for _ in range(count):
            fields += [(f"output {output}/range/{end}", ())
                       for end in ("low", "high", "unit", "labels")]  # fmt: skip
            fields += _mixture(f"output {output}/mixture", len(experts))
            output += 1
        layout[f"combiner {c}"] = fields
    return layout


def _mixture(name: str, experts: int) -> list[tuple[str, tuple[int, ...]]]:
    return [
        (f"{name}/regret", (experts,)),
        (f"{name}/squares", (experts,)),
        (f"{name}/largest", ()),
    ]


def _apart(reading: Reading, name: str, layout: list[tuple[str, tuple[int, ...]]]) -> Tensors:
    sizes = [math.prod(shape) for _, shape in layout]
    values = reading.take(name, (sum(sizes),))
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return {
        field: np.ascontiguousarray(part).reshape(shape)
        for (field, shape), part in zip(layout, parts, strict=True)
    }


def _error_fields(reading: Reading, experts: int) -> Tensors:
    """Return the fields of the record of errors, whose history has any length."""
    values = reading.take("errors", (-1,))
    if experts == 0 or values.size < 3 + 3 * experts or (values.size - 3) % experts:
        raise ValueError("the record of errors has the wrong length")
    ends = np.cumsum([1, 1, 1, experts, experts, experts])
    shapes: list[tuple[int, ...]] = [(), (), (), (experts,), (experts,), (experts,), (-1, experts)]
    parts = zip(_ERRORS, np.split(values, ends), shapes, strict=True)
    return {f"errors/{field}": part.reshape(shape) for field, part, shape in parts}


def fresh_output(experts: int) -> Tensors:
    """Return the fields of one more output for a class that was never met."""
    bank = Bank(0, [("one_hot", 1)], [("linear", 0.0, 0)], [(0, 0.0, 0.0)] * experts,
                True, 1.0, True, math.inf)  # fmt: skip
    state = bank.state()
    return {name[9:]: values for name, values in state.items() if name.startswith("output 0/")}


def watch_fields(reading: Reading, river: bool, outputs: int, classes: list[int]) -> Tensors:
    """Return the fields of a monitor, by part: of so many numbers, or of labels."""
    values = reading.take("watch alarm", (len(_ALARM),))
    fields = {f"alarm/{name}": np.array(value) for name, value in zip(_ALARM, values, strict=True)}
    if not classes:
        values = reading.take("watch intervals", (1 + outputs * (1 + len(COVERAGES)),))
        trackers = values[1:].reshape(outputs, 1 + len(COVERAGES))
        fields["intervals/rows"] = np.array(values[0])
        fields["intervals/mean"] = np.ascontiguousarray(trackers[:, 0])
        fields["intervals/ratio"] = np.ascontiguousarray(trackers[:, 1:])
    for i, count in enumerate(classes):
        name = "watch calibration" if river else f"watch calibration {i}"
        curves = reading.take(name, (len(_CURVE) * count,)).reshape(count, len(_CURVE))
        for field, column in zip(_CURVE, curves.T, strict=True):
            fields[f"calibration {i}/{field}"] = np.ascontiguousarray(column)
    return fields
