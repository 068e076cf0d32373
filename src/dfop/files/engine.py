"""The engine of a model, a filter or a bank: its design as JSON values, its fields as arrays.

A file holds the design of its bank (which experts see what) and the prior, so that a model goes on
with what it has, whatever later versions start with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import (
    Bank,
    ExpertDesign,
    Filter,
    restore_bank,
    restore_directions,
    restore_filter,
    restore_sketch,
)
from dfop.engines import Engine, is_bounded
from dfop.engines.design import KINDS, Map, design_for
from dfop.forgetting import ByRows, Few
from dfop.model.model import Model
from dfop.model.settings import Settings

from .container import Tensors
from .values import Reading, known, listed, number, truth, whole

_VIEWS = {"rff": {"fourier"}, "poly": {"products"}, "linear": {"linear"}}
_WAVES = ("fourier", "sparse")
_MOST_EXPERTS, _MOST_CURVES = 1000, 10_000
_ONCE_WIDEST = 20
"""Coded columns above which earlier versions had no curves."""
_FEW = 1000
"""Numbers that are not worth a shorter form."""
NOT_COUNTED = np.array(-1.0)
"""On how many rows a limit acted, in files that do not tell."""
_FLOAT = np.dtype(np.float64)
_MOST_FREE_OUTPUTS = 1000
"""Outputs of a filter without weights: they take no bytes of the file."""


def describe_engine(engine: Engine, tensors: Tensors) -> dict[str, Any]:
    """Describe the design; the fields go to the arrays."""
    for name, values in engine.state().items():
        tensors[f"engine/{name}"] = _compact(values)
    if not isinstance(engine, Bank):
        return {"prior": engine.prior_variance}
    design = {
        "prior": engine.prior_variance,
        "maps": [list(view) for view in engine.maps],
        "experts": [list(expert) for expert in engine.experts],
    }
    if engine.bounded:
        design["bounded"] = True
    late = [len(target) > 3 for target in engine.targets]
    return {**design, "late": late} if any(late) else design


def _compact(values: NDArray[np.float64]) -> NDArray[Any]:
    """Return many numbers with half the digits where nothing is lost, as of the cells of trees."""
    if values.size < _FEW:
        return values
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    return short if np.array_equal(short, values) else values


def read_engine(model: Model, described: Any, reading: Reading) -> Engine:
    """Make the engine that was described, for the model's columns and target."""
    settings = model.settings
    width = model.width
    several = settings.several_experts
    names = {"prior", "maps", "experts"} if several else {"prior"}
    if several and "late" in described:  # which targets had a label that came late
        names.add("late")
    if several and "bounded" in described:  # earlier versions learned far values as they are
        names.add("bounded")
    known(described, names, "the engine")
    fields = _with_counts(reading.under("engine/"))
    intercept = bool(settings.fit_intercept)
    prior = read_prior(described["prior"], settings)
    cap = math.inf if settings.cap is None else float(settings.cap)
    targets: list[Any] = list(model.target.designs())
    outputs = sum(target[1] for target in targets)
    if width + intercept == 0 and outputs > _MOST_FREE_OUTPUTS:
        raise ValueError(f"{outputs} outputs without weights")
    if settings.storage is not None:
        if settings.guarantee:
            return restore_directions(width, outputs, settings.storage, intercept, prior, fields)
        return restore_sketch(width, outputs, settings.storage, intercept, prior, cap, fields)
    if not several:
        return restore_filter(width, outputs, intercept, prior, cap, fields)
    maps, experts = read_design(described, settings, width)
    relative = settings.prior_variance is None
    if "late" in described:
        targets = _late_targets(targets, listed(described["late"], "late targets"))
    bounded = truth(described.get("bounded", False))
    if bounded and not is_bounded(settings.rule, settings.features):
        raise ValueError("far values drawn in")
    bank = width, targets, maps, experts, intercept, prior, relative, cap
    return restore_bank(*bank, fields, bounded)


def _with_counts(fields: Tensors) -> Tensors:
    """Return fields with all digits, and of filters `limited_rows`, which old files do not have."""
    found: Tensors = {}
    for name, values in fields.items():
        if name.endswith("faded"):
            found.setdefault(name.removesuffix("faded") + "limited_rows", NOT_COUNTED)
        found[name] = values if values.dtype == _FLOAT else values.astype(np.float64)
    return found


def _late_targets(targets: list[Any], late: list[Any]) -> list[Any]:
    if len(late) != len(targets) or not any(map(truth, late)):
        raise ValueError("late targets")
    return [
        (target[0], target[1], len(target) > 2, True) if was_late else target
        for target, was_late in zip(targets, late, strict=True)
    ]


def read_prior(value: Any, settings: Settings) -> float:
    """Return the prior variance; refuse one that is not what the settings ask for."""
    prior, given = number(value), settings.prior_variance
    if not 0.0 < prior <= 1e100 or not (given is None or prior == _clipped(float(given))):
        raise ValueError(f"a prior of {prior}")
    return prior


def _clipped(prior: float) -> float:
    """Return a prior variance as a filter takes it."""
    return Filter(0, 0, False, prior, math.inf).prior_variance


def read_design(
    described: dict[str, Any], settings: Settings, width: int
) -> tuple[list[Map], list[ExpertDesign]]:
    """Return maps and experts; refuse a design that the settings would not have made."""
    maps = [_read_map(*view) for view in listed(described["maps"], "maps")]
    experts = [
        _read_expert(len(maps), *expert) for expert in listed(described["experts"], "experts")
    ]
    seen = {expert[0] for expert in experts if isinstance(expert[0], int)}
    if any(expert[0] == "sketch" for expert in experts):
        seen.add(0)  # sketches see the features as they are
    if not maps or len(experts) > _MOST_EXPERTS or seen != set(range(len(maps))):
        raise ValueError(f"{len(experts)} experts, {len(maps)} maps")
    views = {kind for kind, _, _ in maps}
    rule = settings.rule
    if isinstance(rule, Few):
        fits = (maps, experts) == design_for(settings.features, rule, width, labels=False)
    elif settings.features == "auto":  # any pool that some version started with
        fits = "linear" in views and "products" not in views
        fits = fits and ("fourier" in views or width > _ONCE_WIDEST)
    else:
        filters = all(isinstance(expert[0], int) for expert in experts)
        fits = filters and views == _VIEWS[settings.features]
    one = {(rule.mu, 0.0)} if isinstance(rule, ByRows) else None
    if not fits or (one and {expert[1:] for expert in experts} != one):
        raise ValueError("experts that these settings do not make")
    return maps, experts


def _read_map(kind: Any, width: Any, count: Any) -> Map:
    curved = kind in _WAVES
    if not curved and kind not in ("linear", "products", "ranks"):
        raise ValueError(f"a map of kind {kind!r}")
    width, count = number(width), whole(count, _MOST_CURVES)
    if (curved and not (1e-6 <= width <= 1e6 and count)) or (not curved and (width or count)):
        raise ValueError(f"a map of width {width} with {count} curves")
    return kind, width, count


def _read_expert(maps: int, view: Any, mu: Any, walk: Any) -> ExpertDesign:
    mu, walk = number(mu), number(walk)
    is_filter = not isinstance(view, str)
    known_view = whole(view) < maps if is_filter else view in KINDS
    if not known_view or not 0.0 <= mu < 1.0 or not 0.0 <= walk <= 1e6 * is_filter:
        raise ValueError(f"an expert {view, mu, walk}")
    return view, mu, walk
