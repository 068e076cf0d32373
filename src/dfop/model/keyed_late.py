"""Rows of many models that wait for their label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import KeyedStore

from .keys import Key, Keys

Array = NDArray[np.float64]

_GONE, _DOUBLED = 0, 2
"""What a store says of a late label: its model is not there any more, or has twice as many now."""


class Placed(NamedTuple):
    """Where rows belong: entries of a store, which begin anew, and how the past fades."""

    entries: NDArray[np.int64]
    fresh: NDArray[np.uint8]
    pace: tuple[Array, Array]


class Shown(NamedTuple):
    """What is predicted of rows: outputs, and the ranks of classes in the models of their keys."""

    outputs: Array
    ranks: NDArray[np.int32]

    @classmethod
    def of(cls, n: int, outputs: int, classes: int | None) -> Shown:
        """Make room for n rows."""
        return cls(np.empty((n, outputs)), np.empty((n, classes or 0), np.int32))


class LateRow(NamedTuple):
    """A row that was predicted and whose label has not come."""

    entry: int
    x: Array
    """Coded, with the columns that there were when it came."""
    ahead: Array
    """What a shared model predicted of it."""
    stamp: float
    ticket: float
    """Of the model that predicted it: another may have its place by now."""
    made: Array
    """What the experts of a bank made of it."""


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
        self._of_ticket: dict[float, dict[Key, None]] = {}
        """Names of rows that a bank made something of, by their model."""

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
        self, store: KeyedStore, names: Keys, X: Array, ahead: Array, placed: Placed, shown: Shown
    ) -> None:
        """Let rows come whose labels come later; `shown` takes what their models predict."""
        n = len(names)
        stamps, tickets = np.empty((2, n))
        made, sizes = np.empty((n, store.most_made)), np.empty(n, np.int64)
        kept = stamps, tickets, made, sizes
        store.arrive(placed.entries, placed.fresh, X, placed.pace, kept, shown)
        for t, name in enumerate(names):
            self.keep(name, LateRow(
                int(placed.entries[t]), X[t].copy(), ahead[t], stamps[t], tickets[t],
                made[t, : sizes[t]].copy(),
            ))  # fmt: skip
        if len(self.rows) > self.limit:
            many = len(self.rows) - self.limit
            self.forget(store, list(self.rows)[:many])
            self.expired += many

    def keep(self, name: Key, row: LateRow) -> None:
        """Let a row wait."""
        self.rows[name] = row
        if len(row.made):
            self._of_ticket.setdefault(row.ticket, {})[name] = None

    def _take(self, name: Key) -> LateRow:
        row = self.rows.pop(name)
        if len(row.made):
            alike = self._of_ticket[row.ticket]
            del alike[name]
            if not alike:
                del self._of_ticket[row.ticket]
        return row

    def coded(self, names: Keys, width: int) -> Array:
        """Return rows that wait with so many columns: those that came after a row are 0."""
        X = np.zeros((len(names), width))
        for x, name in zip(X, names, strict=True):
            row = self.rows[name].x
            x[: len(row)] = row
        return X

    def learn(self, store: KeyedStore, names: Keys, values: Array, width: int) -> None:
        """Learn the labels of rows that wait, with models of so many coded columns."""
        for name, x, target in zip(names, self.coded(names, width), values, strict=True):
            row = self._take(name)
            left = np.ascontiguousarray(target - row.ahead)
            how = (x, left, row.stamp, row.ticket, row.made)
            told = store.learn_late(row.entry, *how)
            self.expired += told == _GONE
            if told == _DOUBLED:
                self._remake(store, row.ticket, width)

    def _remake(self, store: KeyedStore, ticket: float, width: int) -> None:
        """Let a model that has twice as many labels now predict its rows that wait once more."""
        names = list(self._of_ticket.get(ticket, ()))
        for name, x in zip(names, self.coded(names, width), strict=True):
            row = self.rows[name]
            store.remake(row.entry, x, row.made)

    def forget_of(self, store: KeyedStore, entries: NDArray[np.int64]) -> None:
        """Stop waiting for labels of these models."""
        gone = set(entries.tolist())
        self.forget(store, [name for name, row in self.rows.items() if row.entry in gone])

    def forget(self, store: KeyedStore, names: Keys) -> None:
        """Stop waiting."""
        for name in names:
            row = self._take(name)
            store.forget_late(row.entry, row.ticket)
