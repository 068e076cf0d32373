"""Rows of many models that wait for their label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import KeyedStore

from .keys import Key, Keys

Array = NDArray[np.float64]

_NOTHING: Array = np.empty(0)
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
        of_rows = [_NOTHING] * n
        if store.most_made:
            of_rows = [some[:size].copy() for some, size in zip(made, sizes.tolist(), strict=True)]
        entries = placed.entries.tolist()
        for t, name in enumerate(names):
            row = LateRow(entries[t], X[t].copy(), ahead[t], stamps[t], tickets[t], of_rows[t])
            self.rows[name] = row
        if store.most_made:
            self._index(names)
        if len(self.rows) > self.limit:
            many = len(self.rows) - self.limit
            self.forget(store, list(self.rows)[:many])
            self.expired += many

    def restore(self, rows: dict[Key, LateRow]) -> None:
        """Let the rows of a file wait."""
        self.rows = rows
        self._index([name for name, row in rows.items() if len(row.made)])

    def _index(self, names: Keys) -> None:
        for name in names:
            self._of_ticket.setdefault(self.rows[name].ticket, {})[name] = None

    def _take(self, name: Key) -> LateRow:
        row = self.rows.pop(name)
        if self._of_ticket and row.ticket in self._of_ticket:
            alike = self._of_ticket[row.ticket]
            alike.pop(name, None)
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
            told = store.learn_late(row.entry, x, left, row.stamp, row.ticket, row.made)
            if told == _GONE:
                self.expired += 1
            elif told == _DOUBLED:
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
