"""Values of a file, checked: what is not what it should be is a ValueError."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.rows.times import Clock

from .container import Tensors

Array = NDArray[np.float64]

LARGEST = 2.0**500
"""No number of a row or a target is larger."""


def whole(value: Any, most: int = 2**53, least: int = 0) -> int:
    """Return a count."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{value!r} is no whole number from {least} to {most}")
    return value


def number(value: Any, most: float = 1e300) -> float:
    """Return a finite number."""
    if type(value) not in (int, float) or not math.isfinite(value) or abs(value) > most:
        raise ValueError(f"{value!r} is no finite number")
    return float(value)


def truth(value: Any) -> bool:
    """Return a truth value."""
    if type(value) is not bool:
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def listed(value: Any, what: str) -> list[Any]:
    """Return a list."""
    if type(value) is not list:
        raise ValueError(f"{what} that are no list")
    return value


def texts(values: Any, what: str) -> list[str]:
    """Return a list of texts."""
    if not all(type(value) is str for value in listed(values, what)):
        raise ValueError(f"{what} that are no texts")
    return list(values)


def known(described: Any, names: set[str], what: str) -> dict[str, Any]:
    """Return an object with these names and no other."""
    if type(described) is not dict or set(described) != names:
        raise ValueError(f"{what} is not described by {sorted(names)}")
    return described


def within(values: NDArray[Any], low: float, high: float, what: str) -> None:
    """Check that all values are numbers from `low` to `high`."""
    if not ((values >= low) & (values <= high)).all():
        raise ValueError(f"{what} out of range")


def as_json(values: Any, what: str) -> list[Any]:
    """Return names or labels as JSON has them: text, numbers, booleans."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    for value in plain:
        if type(value) not in (str, int, float, bool) or (
            type(value) is float and not math.isfinite(value)
        ):
            raise TypeError(f"the {what} {value!r} cannot be saved: use text, numbers or booleans")
    return plain


def describe_clock(clock: Clock) -> list[Any]:
    """Describe when the last row came; of a zone nothing is said where none is known."""
    zone = [] if clock.zoned is None else [clock.zoned]
    return [clock.last, clock.datetimes, *zone]


def read_clock(described: Any) -> Clock:
    """Return the clock that was described."""
    last, datetimes, *zone = listed(described, "a clock")
    if last is not None and truth(datetimes):
        whole(last, 2**63 - 1, -(2**63))
    elif last is not None:
        last = number(last, np.inf)
    if len(zone) > 1:
        raise ValueError("a clock with several zones")
    return Clock(last, truth(datetimes), truth(zone[0]) if zone else None)


class Reading:
    """The arrays of a file, of which it is known which were read: what nobody read is refused.

    Parameters
    ----------
    tensors : dict of str to ndarray
        All arrays.
    """

    def __init__(self, tensors: Tensors) -> None:
        self.left = dict(tensors)
        """Those that nobody has read."""

    def take(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """Return an array of that shape; -1 is any length."""
        found = self.left.pop(name, None)
        if found is None:
            raise ValueError(f"no {name!r}")
        fits = found.ndim == len(shape) and all(
            want in (-1, have) for want, have in zip(shape, found.shape, strict=True)
        )
        if not fits or found.dtype != dtype:
            raise ValueError(f"{name!r} has shape {found.shape} of {found.dtype}, not {shape}")
        return found

    def under(self, prefix: str) -> Tensors:
        """Return all arrays whose name begins so, by the rest of their name."""
        names = [name for name in self.left if name.startswith(prefix)]
        return {name[len(prefix) :]: self.left.pop(name) for name in names}

    def check_all_read(self) -> None:
        """Refuse arrays that say nothing: nobody has checked them."""
        if self.left:
            raise ValueError(f"numbers that say nothing: {sorted(self.left)[:5]}")
