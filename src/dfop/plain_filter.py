"""The state of a filter as plain data (JSON values, float64 tensors) and back, all checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from .plain_values import Tensors, number, tensor, within

# Magnitudes far above any that a filter was seen to reach on hostile streams (5e97 in U, 3e245 in
# the weights): what is larger was not written by one.
_LARGEST = {"upper": 1e150, "D": 1e50, "limit": 1e50, "scale": 2.0**500, "weights": 1e300}
_SCALARS = ("unseen_variance", "faded")


def describe_state(snapshot: dict[str, Any], tensors: Tensors, prefix: str = "") -> dict[str, Any]:
    """Describe a filter's snapshot; its arrays go to the tensors."""
    for name in _LARGEST:
        tensors[prefix + name] = snapshot[name]
    return {name: snapshot[name] for name in _SCALARS}


def read_state(
    described: dict[str, Any], tensors: Tensors, d: int, outputs: int, prefix: str = ""
) -> dict[str, Any]:
    """Return the snapshot of a filter of `d` weights per output."""
    shapes = {"upper": (d * (d - 1) // 2,), "weights": (outputs, d)}
    state: dict[str, Any] = {}
    for name, largest in _LARGEST.items():
        state[name] = tensor(tensors, prefix + name, shapes.get(name, (d,)))
        within(state[name], -largest, largest, prefix + name)
    fraction, exponent = np.frexp(state["scale"])
    if not (
        (state["limit"] > 0).all()
        and (state["D"] > 0).all()
        and (fraction == 0.5).all()
        and (np.abs(exponent - 1) <= 500).all()
    ):
        raise ValueError("variances or scales out of range")
    unseen, faded = (number(described[name]) for name in _SCALARS)
    if not (0.0 < unseen <= 1e100 and 1.0 <= faded <= 1e3):
        raise ValueError("a variance out of range")
    return {**state, "unseen_variance": unseen, "faded": faded}
