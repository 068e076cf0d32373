"""Rows of many models that wait for their label."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import KeyedStore

from .keys import Key, Keys
from .made import most_remade

Array = NDArray[np.float64]

_NOTHING: Array = np.empty(0)
_GONE = -1
"""In place of an entry, and what a store says of a late label: the model is not there any more."""


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
        How many of a key may wait, as of a model of its own; its oldest are given up beyond it.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.expired = limit, 0
        self.rows: dict[Key, LateRow] = {}
        self._of: dict[int, dict[Key, None]] = {}
        """Names of the rows of each entry, oldest first; of models that are gone at `_GONE`."""

    def restore(self, rows: dict[Key, LateRow], expired: int) -> None:
        """Go on with the rows of a file."""
        self.expired = expired
        for name, row in rows.items():
            self._add(name, row)

    def _add(self, name: Key, row: LateRow) -> None:
        self.rows[name] = row
        self._of.setdefault(row.entry, {})[name] = None

    def _take(self, name: Key) -> LateRow:
        row = self.rows.pop(name)
        of_entry = self._of[row.entry]
        del of_entry[name]
        if not of_entry:
            del self._of[row.entry]
        return row

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
            self._set_aside(row)
            self._add(name, row)
        for entry in {_GONE, *entries}:
            of_entry = self._of.get(entry, {})
            many = max(len(of_entry) - self.limit, 0)
            self.forget(store, list(islice(of_entry, many)))
            self.expired += many

    def _set_aside(self, new: LateRow) -> None:
        """Take rows from an entry whose model is gone: they must not count as those of the new."""
        of_entry = self._of.get(new.entry, {})
        while of_entry and (old := self.rows[name := next(iter(of_entry))]).ticket != new.ticket:
            del of_entry[name]
            self._add(name, old._replace(entry=_GONE))

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
            elif told > 0:
                self._remake(store, row.entry, width, most_remade(told))

    def _remake(self, store: KeyedStore, entry: int, width: int, most: int) -> None:
        """Let a model with twice as many labels predict its oldest rows that wait once more."""
        names = list(islice(self._of.get(entry, ()), most))
        for name, x in zip(names, self.coded(names, width), strict=True):
            store.remake(entry, x, self.rows[name].made)

    def forget_of(self, store: KeyedStore, entries: NDArray[np.int64]) -> None:
        """Stop waiting for labels of these models."""
        known = set(entries.tolist()) & self._of.keys() - {_GONE}  # also that of an unknown key
        self.forget(store, [name for entry in known for name in self._of[entry]])

    def forget(self, store: KeyedStore, names: Keys) -> None:
        """Stop waiting."""
        for name in names:
            row = self._take(name)
            store.forget_late(row.entry, row.ticket)
