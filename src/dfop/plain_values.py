"""Values of a file, checked: what is not what it should be is a ValueError."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Tensors = dict[str, Array]


def whole(value: Any, most: int = 2**62) -> int:
    """Return a count."""
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{value!r} is no count")
    return value


def number(value: Any) -> float:
    """Return a finite number."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no finite number")
    return float(value)


def truth(value: Any) -> bool:
    """Return a truth value."""
    if type(value) is not bool:
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def texts(values: Any) -> list[str]:
    """Return a list of texts."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("names that are no texts")
    return values


def within(values: Array, low: float, high: float, what: str) -> None:
    """Check that all values are numbers from `low` to `high`."""
    if not ((values >= low) & (values <= high)).all():
        raise ValueError(f"{what} out of range")


def tensor(tensors: Tensors, name: str, shape: tuple[int, ...]) -> Array:
    """Return a tensor of that shape."""
    found = tensors[name]
    if found.shape != shape:
        raise ValueError(f"tensor {name!r} has shape {found.shape}, not {shape}")
    return found
