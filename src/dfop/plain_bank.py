"""The automatic learner's bank as plain data (JSON values, float64 tensors) and back, all checked.

A file holds the design of its bank (which experts see what), so that a model goes on with the
experts that it has, whatever later versions start with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .automatic import WIDEST, Map
from .core import Bank, State, restore_bank
from .forgetting import ByRows, Forgetting
from .plain_filter import describe_state, read_state
from .plain_values import Tensors, number, tensor, whole

_STACKS = 3
_KINDS = {"rff": [{"fourier"}], "poly": [{"products"}], "linear": [{"linear"}]}
_MOST_EXPERTS = 1000
_MOST_CURVES = 10_000
_SCALARS = ("/rows", "/unit", "/largest", "/low", "/high", "/labels")


def describe_bank(bank: Bank, tensors: Tensors) -> dict[str, Any]:
    """Describe a bank; its arrays go to the tensors."""
    state, filters = bank.state(), {}
    counts = [target[1] for target in bank.targets]
    stacks = [(o, i) for o in range(sum(counts)) for i in range(_STACKS)]
    parts = {f"expert {k}": f"expert {k}" for k in range(len(bank.experts))}
    parts |= {f"stack {o} {i}": f"output {o}/stack {i}" for o, i in stacks}
    for name, part in parts.items():
        own = {key.removeprefix(f"{part}/"): value for key, value in state.items()
               if key.startswith(f"{part}/")}  # fmt: skip
        filters[name] = describe_state(own, tensors, f"{name}/")
    for name, fields in _layout(bank.features, bank.targets, bank.maps, bank.experts).items():
        tensors[name] = np.concatenate(
            [state[field].ravel() if field in state else np.zeros(size) for field, size in fields]
        )
    tensors["errors"] = np.concatenate([state[f"errors/{field}"].ravel() for field in _ERRORS])
    return {
        "maps": [list(view) for view in bank.maps],
        "experts": [list(expert) for expert in bank.experts],
        "prior": bank.prior_variance,
        "filters": filters,
    }


_ERRORS = ("rows", "open_rows", "length", "mean", "recent", "open", "history")


def _layout(
    features: int, targets: Any, maps: list[Map], experts: list[tuple[int, float, float]]
) -> dict[str, list[tuple[str, int]]]:
    """Which fields, of which sizes, stand one after the other in the tensors of format 2."""
    K = len(experts)
    layout = {
        "standardiser": [
            ("standardiser/rows", 1),
            ("standardiser/mean", features),
            ("standardiser/squares", features),
        ]
    }
    for i, (kind, _, count) in enumerate(maps):
        layout[f"map {i}"] = [(f"map {i}/unit", 1)]
        if kind == "fourier":
            layout[f"map {i}"] += [
                (f"map {i}/phases", count),
                (f"map {i}/frequencies", count * features),
            ]
    output = 0
    for c, (_, count, *_) in enumerate(targets):
        candidates = K + 1 + _STACKS
        fields = [(f"target {c}/losses", candidates), (f"target {c}/rows", 1)]
        fields += _mixture(f"target {c}/calm", candidates)
        for _ in range(count):
            ends = ("low", "high", "unit", "labels")
            fields += [(f"output {output}/range/{end}", 1) for end in ends]
            fields += _mixture(f"output {output}/mixture", K)
            output += 1
        layout[f"combiner {c}"] = fields
    return layout


def _mixture(name: str, experts: int) -> list[tuple[str, int]]:
    return [(f"{name}/regret", experts), (f"{name}/squares", experts), (f"{name}/largest", 1)]


def check_design(features: Any, rule: Forgetting, bank: Bank) -> None:
    """Refuse a bank that the parameters would not have made."""
    _check_design(features, rule, bank.features, bank.maps, bank.experts)


def read_bank(
    model: Any,
    rule: Forgetting,
    described: dict[str, Any],
    tensors: Tensors,
    features: int,
    targets: list[tuple[str, int]],
) -> Bank:
    """Make the bank that was described, of a model with these coded columns and targets."""
    maps = [_read_map(*view) for view in described["maps"]]
    experts = [_read_expert(len(maps), *expert) for expert in described["experts"]]
    if not maps or not experts or len(experts) > _MOST_EXPERTS:
        raise ValueError(f"{len(experts)} experts, {len(maps)} maps")
    _check_design(model.features, rule, features, maps, experts)
    filters, outputs = described["filters"], sum(count for _, count in targets)
    state: State = {}
    read: dict[str, State] = {}
    # All sizes before the bank is made: a few bytes of a file must not ask for much memory.
    for k, (place, _, _) in enumerate(experts):
        d = _size(maps[place], features) + bool(model.fit_intercept)
        read[f"expert {k}"] = read_state(
            filters[f"expert {k}"], tensors, d, outputs, f"expert {k}/"
        )
    labels = [coding != "number" for coding, count in targets for _ in range(count)]
    for o, label in enumerate(labels):
        for i in range(_STACKS):
            name = f"stack {o} {i}"
            # an expert each; for labels also the mixture and a constant
            d = len(experts) + 2 * label
            read[f"output {o}/stack {i}"] = read_state(filters[name], tensors, d, 1, f"{name}/")
    if len(filters) != len(read):
        raise ValueError("filters of no expert")
    for name, own in read.items():
        state |= {f"{name}/{field}": value for field, value in own.items()}
    _read_layout(state, tensors, features, targets, maps, experts)
    _read_errors(state, tensors, len(experts))
    relative = model.prior_variance is None
    prior = number(described["prior"])
    if not 0.0 < prior <= 1e100 or not (relative or prior == float(model.prior_variance)):
        raise ValueError(f"a prior of {prior}")
    design = (
        features,
        targets,
        maps,
        experts,
        bool(model.fit_intercept),
        prior,
        relative,
        math.inf if model.cap is None else float(model.cap),
    )
    return restore_bank(*design, state)


def _read_layout(
    state: State, tensors: Tensors, features: int, targets: Any, maps: list[Map], experts: Any
) -> None:
    """Take the tensors of format 2 apart."""
    curved = any(kind != "linear" for kind, _, _ in maps)
    for name, fields in _layout(features, targets, maps, experts).items():
        values, at = tensor(tensors, name, (sum(size for _, size in fields),)), 0
        for field, size in fields:
            part = values[at : at + size]
            at += size
            if field.endswith("/frequencies"):
                part = part.reshape(features, -1)
            elif field.endswith(_SCALARS):
                part = part.reshape(())
            if field.endswith("/unit") and name.startswith("map") and len(fields) == 1:
                if part:
                    raise ValueError("a map with curves of no kind")
            elif curved or name != "standardiser":
                state[field] = part


def _read_errors(state: State, tensors: Tensors, experts: int) -> None:
    """Take the record of errors of format 2 apart."""
    values = tensors["errors"]
    pieces, rest = divmod(values.size - 3, experts)
    if values.ndim != 1 or rest or pieces < 3:
        raise ValueError("the record of errors has the wrong length")
    ends = np.cumsum([1, 1, 1, experts, experts, experts])
    for i, (field, part) in enumerate(zip(_ERRORS, np.split(values, ends), strict=True)):
        shape = () if i < 3 else (-1, experts) if field == "history" else (experts,)
        state[f"errors/{field}"] = part.reshape(shape)


def _check_design(
    features: Any,
    rule: Forgetting,
    count: int,
    maps: list[Map],
    experts: list[tuple[int, float, float]],
) -> None:
    kinds = {kind for kind, _, _ in maps}
    named = features if isinstance(features, str) else "linear"
    if named == "auto":  # columns may have come after the bank was opened
        allowed = [{"linear", "fourier"}, *([{"linear"}] if count > WIDEST else [])]
    else:
        allowed = _KINDS[named]
    one = {(rule.mu, 0.0)} if isinstance(rule, ByRows) else None
    if kinds not in allowed or (one and {expert[1:] for expert in experts} != one):
        raise ValueError(
            f"features={features!r} and forgetting={rule!r} are not what the model was made with: "
            "set them back before saving, or fit anew"
        )


def _read_map(kind: Any, width: Any, count: Any) -> Map:
    curved = kind == "fourier"
    if kind not in ("linear", "fourier", "products"):
        raise ValueError(f"a map of kind {kind!r}")
    width, count = number(width), whole(count, _MOST_CURVES)
    if (curved and not (1e-6 <= width <= 1e6 and count)) or (not curved and (width or count)):
        raise ValueError(f"a map of width {width} with {count} curves")
    return kind, width, count


def _read_expert(maps: int, place: Any, mu: Any, walk: Any) -> tuple[int, float, float]:
    mu, walk = number(mu), number(walk)
    if whole(place) >= maps or not 0.0 <= mu < 1.0 or not 0.0 <= walk <= 1e6:
        raise ValueError(f"an expert {place, mu, walk}")
    return place, mu, walk


def _size(view: Map, features: int) -> int:
    kind, _, count = view
    if kind == "linear":
        return features
    return count if kind == "fourier" else features * (features + 3) // 2
