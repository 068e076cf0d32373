"""Targets: what is learned, as numbers for the engine, and back.

A target is a value that is never changed: `plan` checks labels and says what the target will be
once they are learned; the model takes that over, class by class, while it learns the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.rows.target_cells import same_targets, target_numbers

Array = NDArray[np.float64]


class Planned(NamedTuple):
    """Targets of some rows, checked."""

    target: Any
    """The target, knowing how many outputs or which classes there are; no class is learned yet."""
    values: NDArray[Any]
    """(n, m) numbers, or (n, 1) indices of classes in the order in which they are learned."""
    opened: Sequence[tuple[int, Any]] = ()
    """Rows that bring a class for the first time, and its label."""


@dataclass(frozen=True)
class NumberTarget:
    """One or more numbers."""

    outputs: int = 1
    flat: bool = True
    """Whether targets are (n,)."""
    known: bool = False
    """Whether a target was seen; before, one number is assumed."""
    names: tuple[str, ...] | None = None
    """Of targets that came in a data frame first."""

    def plan(self, y: Any, n: int, seen: NDArray[np.bool_], classes: Any = None) -> Planned:
        """Check the numbers of n rows."""
        numbers = target_numbers(y, n)
        flat, outputs = numbers.ndim == 1, 1 if numbers.ndim == 1 else numbers.shape[1]
        if self.known and (flat, outputs) != (self.flat, self.outputs):
            expected, remedy = f"(n, {self.outputs})", "or begin a new model"
            if self.flat:
                expected = "(n,)"
                remedy += " (with lags= by partial_fit with targets: rows before them have one)"
            raise ValueError(
                f"y has shape {numbers.shape} but this model learns y of {expected}: "
                f"give as many targets per row as in the first call, {remedy}"
            )
        names = None if flat else same_targets(self.names, y)
        return Planned(NumberTarget(outputs, flat, True, names), numbers.reshape(n, outputs))

    def designs(self) -> list[tuple[str, int]]:
        """Return how the engine shall learn it."""
        return [("number", 1)] * self.outputs

    def coded(self, values: NDArray[Any]) -> Array:
        """Return what the engine learns."""
        return values

    def active(self, outputs: Array) -> Array:
        """Return the engine's outputs that make the prediction."""
        return outputs

    @property
    def width(self) -> int:
        """How many outputs make the prediction."""
        return self.outputs

    def as_active(self, predicted: Array) -> Array:
        """Return what was predicted before the first target had shown its shape, as it is now."""
        same = predicted.shape[1] == self.outputs
        return predicted if same else np.zeros((len(predicted), self.outputs))

    def decode(self, active: Array) -> Array:
        """Return predictions."""
        return active[:, 0] if self.flat else active
