"""The automatic learner's bank as plain data (JSON values, float64 tensors) and back, all checked.

A file holds the design of its bank (which experts see what), so that a model goes on with the
experts that it has, whatever later versions start with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .automatic import WIDEST, Map
from .core import Bank, restore_bank
from .forgetting import ByRows, Forgetting
from .plain_filter import describe_state, read_state
from .plain_values import Array, Tensors, number, tensor, whole, within

_STACKS = 3
_KINDS = {"rff": [{"fourier"}], "poly": [{"products"}], "linear": [{"linear"}]}
_MOST_EXPERTS = 1000
_MOST_CURVES = 10_000
_SUM = 1e9
"""Above any sum of discounted losses of a combination."""


def describe_bank(bank: Bank, tensors: Tensors) -> dict[str, Any]:
    """Describe a bank; its arrays go to the tensors."""
    filters = {}
    for name, part in bank.snapshot().items():
        if isinstance(part, dict):
            filters[name] = describe_state(part, tensors, f"{name}/")
        else:
            tensors[name] = part
    return {
        "maps": [list(view) for view in bank.maps],
        "experts": [list(expert) for expert in bank.experts],
        "prior": bank.prior_variance,
        "filters": filters,
    }


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
    state: dict[str, Any] = {}
    # All sizes before the bank is made: a few bytes of a file must not ask for much memory.
    for k, (place, _, _) in enumerate(experts):
        name, size = f"expert {k}", _size(maps[place], features)
        d = size + bool(model.fit_intercept)
        state[name] = read_state(filters[name], tensors, d, outputs, f"{name}/")
    labels = [coding != "number" for coding, count in targets for _ in range(count)]
    for o, label in enumerate(labels):
        for i in range(_STACKS):
            name = f"stack {o} {i}"
            # an expert each; for labels also the mixture and a constant
            d = len(experts) + 2 * label
            state[name] = read_state(filters[name], tensors, d, 1, f"{name}/")
    if set(filters) != set(state):
        raise ValueError("filters of no expert")
    for i, view in enumerate(maps):
        state[f"map {i}"] = tensor(tensors, f"map {i}", (_map_state(view, features),))
    for c, (coding, count) in enumerate(targets):
        state[f"combiner {c}"] = _combiner(tensors, c, coding, count, len(experts))
    state["standardiser"] = _standardiser(tensors, features)
    state["errors"] = _errors(tensors, len(experts))
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
    fresh = Bank(*design).snapshot()
    for i, (kind, width, count) in enumerate(maps):
        if kind == "fourier":
            _check_fourier(state[f"map {i}"], fresh[f"map {i}"], width, count, features)
        elif state[f"map {i}"].any():
            raise ValueError("a map with curves of no kind")
    return restore_bank(*design, state)


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


def _map_state(view: Map, features: int) -> int:
    kind, _, count = view
    return 1 + count * (1 + features) if kind == "fourier" else 1


def _check_fourier(state: Array, fresh: Array, width: float, count: int, features: int) -> None:
    """Check that the random numbers are those of this design, up to a machine's last digits."""
    unit, phases, frequencies = float(state[0]), state[1 : 1 + count], state[1 + count :]
    if features == 0:
        fits = unit == 0.0
    else:  # the unit tells how many columns there were at first
        scaled = unit * width
        first = scaled**-2 if 1e-100 < scaled < 1.001 else 0.0
        fits = 0.999 < first < features + 0.001 and abs(first - round(first)) < 1e-6 * first
    if not fits:
        raise ValueError("the width of a map")
    expected = fresh[1 + count :] * (unit / fresh[0] if features else 1.0)
    if not (
        np.allclose(phases, fresh[1 : 1 + count], rtol=1e-9, atol=1e-9)
        and np.allclose(frequencies, expected, rtol=1e-6, atol=1e-9 * unit)
    ):
        raise ValueError("the random numbers of a map")


def _standardiser(tensors: Tensors, features: int) -> Array:
    state = tensor(tensors, "standardiser", (1 + 2 * features,))
    within(state[:1], 0.0, 2.0**53, "rows of the standardiser")
    within(state[1 : 1 + features], -(2.0**500), 2.0**500, "means")
    within(state[1 + features :], 0.0, 1e307, "sums of squares")
    return state


def _combiner(tensors: Tensors, place: int, coding: str, outputs: int, experts: int) -> Array:
    candidates, per_output = experts + 1 + _STACKS, 4 + 2 * experts + 1
    shared = candidates + 1 + 2 * candidates + 1  # losses, their rows, the calm mixture
    state = tensor(tensors, f"combiner {place}", (shared + outputs * per_output,))
    within(state[: candidates + 1], 0.0, _SUM, "losses")
    _check_mixture(state[candidates + 1 : shared])
    for part in state[shared:].reshape(outputs, per_output):
        _check_range(coding, *part[:4].tolist())
        _check_mixture(part[4:])
    return state


def _check_mixture(state: Array) -> None:
    regret, squares, largest = *np.split(state[:-1], 2), state[-1:]
    within(squares, 0.0, 1e300, "squared regrets")
    within(largest, 0.0, 1e300, "the largest regret")
    # By Cauchy and Schwarz, over fewer rows than there will ever be.
    most = 1e10 * np.sqrt(squares) + 1e-150
    within(regret / most, -1.0, 1.0, "regrets")


def _check_range(coding: str, low: float, high: float, unit: float, labels: float) -> None:
    if coding == "number":
        half = 0.5 * high - 0.5 * low
        fraction, exponent = math.frexp(half)
        above = math.ldexp(1.0, exponent - (fraction == 0.5)) if half > 0.0 else 0.0
        fits = (
            -(2.0**500) <= low <= high <= 2.0**500
            and unit == (max(above, 2.0**-1000) if half > 0.0 else 0.0)
            and labels in range(11)
            and (labels > 0.0 or low == high == 0.0)
        )
    else:
        fits = (low, high, unit, labels) == (
            (-1.0, 1.0, 1.0, 10.0) if coding == "margin" else (0.0, 1.0, 0.5, 10.0)
        )
    if not fits:
        raise ValueError("the range of labels")


def _errors(tensors: Tensors, experts: int) -> Array:
    state = tensors["errors"]
    pieces, rest = divmod(state.size - 3, experts)
    if state.ndim != 1 or rest or not 3 <= pieces < 3 + 512:
        raise ValueError("the record of errors has the wrong length")
    within(state, 0.0, 1e300, "the record of errors")
    rows, open_rows, length = state[:3].tolist()
    if (
        rows > 2.0**53
        or open_rows != math.floor(open_rows)
        or open_rows >= length
        or math.frexp(length)[0] != 0.5
        or rows != (pieces - 3) * length + open_rows
    ):
        raise ValueError("the rows of the record of errors")
    return state
