"""Rows of many models that wait for their label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import KeyedStore

from .keys import Key, Keys

Array = NDArray[np.float64]


class Placed(NamedTuple):
    """Where rows belong: entries of a store, which begin anew, and how the past fades."""

    entries: NDArray[np.int64]
    fresh: NDArray[np.uint8]
    pace: tuple[Array, Array]


class LateRow(NamedTuple):
    """A row that was predicted and whose label has not come."""

    entry: int
    x: Array
    ahead: Array
    """What a shared model predicted of it."""
    stamp: float
    ticket: float
    """Of the model that predicted it: another may have its place by now."""


class LateRows:
    """The rows that wait, by name.

    Parameters
    ----------
    limit : int
        How many may wait; the oldest are given up beyond it.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.expired = limit, 0
        self.rows: dict[Key, LateRow] = {}

    def check_new(self, names: Keys) -> None:
        """Refuse names that are taken."""
        for name in names:
            if name in self.rows:
                raise ValueError(f"a row with the key {name!r} is already waiting for its label")

    def check_waiting(self, names: Keys) -> None:
        """Refuse names of rows that do not wait."""
        for name in names:
            if name not in self.rows:
                raise ValueError(f"no row with the key {name!r} waits for its label")

    def arrive(
        self, store: KeyedStore, names: Keys, X: Array, ahead: Array, placed: Placed
    ) -> Array:
        """Let rows come whose labels come later; return what their models predict."""
        out, (stamps, tickets) = np.empty(ahead.shape), np.empty((2, len(names)))
        store.arrive(placed.entries, placed.fresh, X, placed.pace, stamps, tickets, out)
        for t, name in enumerate(names):
            self.rows[name] = LateRow(
                int(placed.entries[t]), X[t].copy(), ahead[t], stamps[t], tickets[t]
            )
        if len(self.rows) > self.limit:
            many = len(self.rows) - self.limit
            self.forget(store, list(self.rows)[:many])
            self.expired += many
        return out

    def learn(self, store: KeyedStore, names: Keys, values: Array) -> None:
        """Learn the labels of rows that wait."""
        for name, target in zip(names, values, strict=True):
            row = self.rows.pop(name)
            left = np.ascontiguousarray(target - row.ahead)
            self.expired += not store.learn_late(row.entry, row.x, left, row.stamp, row.ticket)

    def forget(self, store: KeyedStore, names: Keys) -> None:
        """Stop waiting."""
        for name in names:
            row = self.rows.pop(name)
            store.forget_late(row.entry, row.ticket)
