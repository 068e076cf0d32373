"""The order in which rows and labels arrive, and pieces of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Steps = NDArray[np.int64]


class Piece(NamedTuple):
    """Some steps after each other, among the rows from `first` to `last - 1`."""

    first: int
    last: int
    order: Steps
    """Which row, counted from `first`, comes, or which got its label: ~row."""
    came: slice
    """Rows that come."""
    labels: slice
    """Labels that come."""
    told: Steps
    """Their rows."""


class Order(NamedTuple):
    """The order in which rows and labels arrive."""

    order: Steps
    """Which row comes, or which got its label: ~row."""
    rows: Steps
    """The step with which each new row comes."""
    labels: Steps
    """The step with which each label comes."""
    told: Steps
    """The row of each label."""
    old: int
    """Rows that came before."""

    @classmethod
    def of(cls, arrived: Steps, before: Steps, old: int, told: Steps) -> Order:
        """Order rows, of each the labels that come before it, and labels, before a row each."""
        n, m = len(arrived), len(before)
        rows, labels = np.arange(n) + arrived, np.arange(m) + before
        order = np.empty(n + m, np.int64)
        order[rows] = np.arange(old, old + n)
        order[labels] = ~told
        return cls(order, rows, labels, told, old)

    def cut(self, start: int, stop: int) -> Piece:
        """Return the steps from `start` to `stop - 1`."""
        came, labels = (
            slice(*np.searchsorted(some, (start, stop)).tolist())
            for some in (self.rows, self.labels)
        )
        told, came = self.told[labels], slice(self.old + came.start, self.old + came.stop)
        first, last = came.start, came.stop
        if len(told):
            lowest, highest = int(told.min()), int(told.max()) + 1
            first = min(first, lowest) if came.start < came.stop else lowest
            last = max(last, highest) if came.start < came.stop else highest
        order = self.order[start:stop]
        if first:
            order = np.where(order < 0, order + first, order - first)
        return Piece(first, last, order, came, labels, told)
