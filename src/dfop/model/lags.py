"""The last known labels as features: temporal augmentation.

Where labels depend on the ones before them, the last k of them tell more than the features do.
They are features only of a stream whose labels are known before the next row comes; with labels
that come late, the last ones that had arrived are taken.

A number is a feature as it is. A class is one of two: -1 for the class learned first, +1 for the
second; each further class has an indicator of its own, opened once it was learned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Lags:
    """The last `count` labels; 0 before the first ones.

    Parameters
    ----------
    count : int
        How many.
    numbers : int
        Numbers per label.
    classes : bool
        Whether labels are numbers of classes, -1 where there is none.
    """

    def __init__(self, count: int, numbers: int, classes: bool) -> None:
        self.recent = np.full((count, numbers), -1.0 if classes else 0.0)
        """Oldest first."""
        self.classes = classes
        self.blocks: list[int] = []
        """First coded column of the labels themselves, then of each further class."""
        self.indicators: dict[int, list[int]] = {}
        """Of a model from a file of format 1 or 2 instead: the coded columns of every class, by how
        far back; of -1, where there is no label."""

    @property
    def count(self) -> int:
        """How many labels are features."""
        return len(self.recent)

    @property
    def block(self) -> int:
        """How many coded columns a block has."""
        return self.recent.size

    def add_class(self, k: int, start: int) -> None:
        """Take over the coded columns, from `start` on, of class k."""
        if self.indicators:
            self.indicators[k] = list(range(start, start + self.block))
        else:
            self.blocks.append(start)

    def before(self, labels: NDArray[Any], arrived: NDArray[np.int64]) -> Array:
        """Return the last labels of each row, newest first.

        `labels` arrive in their order, and `arrived[t]` of them before row t.
        """
        known = np.vstack([self.recent, labels])
        newest = arrived[:, np.newaxis] + self.count - 1
        last = known[newest - np.arange(self.count)]
        return np.asarray(last.reshape(len(arrived), self.block))

    def fill(self, rows: Array, before: Array) -> None:
        """Write the last labels of each row into its coded columns."""
        if not self.classes:
            rows[:, self.blocks[0] : self.blocks[0] + self.block] = before
            return
        if self.indicators:
            self._indicate(rows, before)
            return
        margin = np.where(before == 1.0, 1.0, np.where(before == 0.0, -1.0, 0.0))
        rows[:, self.blocks[0] : self.blocks[0] + self.block] = margin
        for k, start in enumerate(self.blocks[1:], 2):
            rows[:, start : start + self.block] = before == k

    def _indicate(self, rows: Array, before: Array) -> None:
        for columns in self.indicators.values():
            rows[:, columns] = 0.0
        for k, columns in self.indicators.items():  # two classes may share a column
            rows[:, columns] += before == k

    def add(self, labels: NDArray[Any]) -> None:
        """Take over labels that have arrived, oldest first."""
        self.recent = np.vstack([self.recent, labels])[len(labels) :]

    def names(self, labels: list[str]) -> dict[int, str]:
        """Return names of the coded columns; `labels` are those of the classes."""
        names: dict[int, str] = {}
        per = self.recent.shape[1]
        for k, start in enumerate(self.blocks):
            for at in range(self.block):
                back, output = divmod(at, per)
                name = f"label {back + 1} back"
                if per > 1:
                    name += f" of output {output}"
                names[start + at] = f"{name}={labels[k + 1]}" if k else name
        for k, columns in self.indicators.items():
            which = f"={labels[k]}" if k >= 0 else " is missing"
            names |= {at: f"label {back} back{which}" for back, at in enumerate(columns, 1)}
        return names
