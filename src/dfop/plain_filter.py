"""The state of a filter as plain data (JSON values, float64 tensors) and back.

What the values may be is checked by the filter that takes them over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import State
from .plain_values import Tensors, number, tensor

_TENSORS = ("upper", "D", "limit", "scale", "weights")
_SCALARS = ("unseen_variance", "faded")


def describe_state(state: State, tensors: Tensors, prefix: str = "") -> dict[str, Any]:
    """Describe a filter's state; its arrays go to the tensors."""
    for name in _TENSORS:
        tensors[prefix + name] = state[name]
    return {name: float(state[name]) for name in _SCALARS}


def read_state(
    described: dict[str, Any], tensors: Tensors, d: int, outputs: int, prefix: str = ""
) -> State:
    """Return the state of a filter of `d` weights per output."""
    shapes = {"upper": (d * (d - 1) // 2,), "weights": (outputs, d)}
    state = {name: tensor(tensors, prefix + name, shapes.get(name, (d,))) for name in _TENSORS}
    return {**state, **{name: np.array(number(described[name])) for name in _SCALARS}}
