"""Rows of many models that wait for their label."""

from __future__ import annotations

import warnings
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import KeyedStore

from .keys import Key, Keys
from .made import most_remade

Array = NDArray[np.float64]

_NOTHING: Array = np.empty(0)
GONE = -1
"""In place of an entry, and what a store says of a late label: the model is not there any more."""
_NO_TICKET = 0.0
"""Of rows whose model is not there any more."""


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
    """Of the model that predicted it, while that is there: another may have its place by now."""
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
        self._of: dict[float, dict[Key, None]] = {}
        """Names of the rows of each model by its ticket, oldest first.

        Those of models that are gone are together, in the order in which that happened."""
        self._over: list[Key] = []
        """Rows that were too many and of which nothing was said yet."""
        self._told = False

    def restore(self, rows: dict[Key, LateRow], tickets: Array, expired: int) -> None:
        """Go on with the rows of a file, of models with these tickets or of such as are gone."""
        self.expired, self._told = expired, expired > 0
        known, gone = set(tickets.tolist()), []
        for name, row in rows.items():
            self._add(name, row)
            if row.entry < 0 or row.ticket not in known:
                gone.append(name)
        for name in sorted(gone, key=lambda name: -rows[name].entry):
            self._lose(name)

    def places(self, entries: list[int]) -> NDArray[np.int32]:
        """Return which of these entries each row is for; -1, -2, ... in the order of those gone."""
        place = {entry: at for at, entry in enumerate(entries)}
        gone = {name: -1 - at for at, name in enumerate(self._of.get(_NO_TICKET, ()))}
        found = [gone[name] if row.entry == GONE else place[row.entry]
                 for name, row in self.rows.items()]  # fmt: skip
        return np.array(found, np.int32)

    def _add(self, name: Key, row: LateRow) -> None:
        self.rows[name] = row
        self._of.setdefault(row.ticket, {})[name] = None

    def _take(self, name: Key) -> LateRow:
        row = self.rows.pop(name)
        self._leave(name, row.ticket)
        return row

    def _leave(self, name: Key, ticket: float) -> None:
        of_model = self._of[ticket]
        del of_model[name]
        if not of_model:
            del self._of[ticket]

    def _lose(self, name: Key) -> None:
        """Note that the model of a row is gone."""
        row = self.rows[name]
        self._leave(name, row.ticket)
        self._add(name, row._replace(entry=GONE, ticket=_NO_TICKET))

    def settle(self, store: KeyedStore) -> None:
        """Note which models are gone by now; whatever may give up models is followed by it."""
        for ticket in store.take_gone():
            for name in list(self._of.get(ticket, ())):
                self._lose(name)

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
        entries, of_models = placed.entries.tolist(), tickets.tolist()
        for t, name in enumerate(names):
            known = entries[t], X[t].copy(), ahead[t], stamps[t], of_models[t], of_rows[t]
            self._add(name, LateRow(*known))
        self.settle(store)
        for ticket in dict.fromkeys([_NO_TICKET, *of_models]):
            of_model = self._of.get(ticket, {})
            over = list(islice(of_model, max(len(of_model) - self.limit, 0)))
            self.forget(store, over)
            self.expired += len(over)
            self._over += over

    def warn(self) -> None:
        """Say, the first time, that rows were too many, now that everything is done."""
        over, self._over = self._over, []
        if not over or self._told:
            return
        self._told = True
        warnings.warn(
            f"{len(over)} rows were given up that waited for their label (the first: {over[0]!r}): "
            f"at most pending_limit={self.limit} of a key wait, and of keys whose models are gone "
            "together; expired_rows_ counts them",
            UserWarning,
            stacklevel=3,
        )

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
            if told == GONE:
                self.expired += 1
            elif told > 0:
                self._remake(store, row, width, most_remade(told))

    def _remake(self, store: KeyedStore, of: LateRow, width: int, most: int) -> None:
        """Let a model with twice as many labels predict its oldest rows that wait once more."""
        names = list(islice(self._of.get(of.ticket, ()), most))
        for name, x in zip(names, self.coded(names, width), strict=True):
            store.remake(of.entry, x, self.rows[name].made)

    def forget_keys(self, store: KeyedStore, keys: NDArray[np.int64] | list[str]) -> None:
        """Give up models; stop waiting for their labels, but not of models given up before."""
        self.settle(store)
        store.forget(keys)
        for ticket in store.take_gone():
            for name in self._of.pop(ticket, ()):
                del self.rows[name]

    def forget(self, store: KeyedStore, names: Keys) -> None:
        """Stop waiting."""
        for name in names:
            row = self._take(name)
            store.forget_late(row.entry, row.ticket)
