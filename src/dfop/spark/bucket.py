"""The models of some keys of a stream, and how records of a micro-batch reach them.

What comes out must not depend on how Spark cuts the stream into micro-batches, since that changes
after a restart. So records are sorted by key and time; a key that was idle for too long, by the
times of its own records, begins anew with the next one, whether or not its model has been removed
by then; and a record counts as no earlier than the one before it of its key.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.regressor import DFOPRegressor
from dfop.scale.keyed import Keyed

Array = NDArray[np.float64]

UNUSABLE, COMPLETE, WAITING, LABEL, QUESTION = range(5)
"""Kinds of records: a row with its target, one whose target comes later, a target that does so, a
row whose target never comes."""

_NEVER = np.iinfo(np.int64).min // 2


@dataclass(frozen=True)
class Records:
    """Records of a micro-batch.

    Attributes
    ----------
    keys : ndarray of int64 or object
        Whole numbers or texts.
    times : ndarray of int64
        Microseconds.
    kinds : ndarray of int
        What each is.
    X : ndarray of shape (n, d)
        The features; anything in records that have none.
    y : ndarray
        The targets.
    rows : ndarray of object
        Names of rows whose targets come later.
    """

    keys: NDArray[Any]
    times: NDArray[np.int64]
    kinds: NDArray[np.int64]
    X: Array
    y: Array
    rows: NDArray[Any]

    def order(self) -> NDArray[np.int64]:
        """Return how to sort by key and time; equal ones by what is in them."""
        late = self.kinds == LABEL  # after the row that it belongs to
        order = np.lexsort((late, self.times, self.keys))
        keys, times = self.keys[order], self.times[order]
        if not ((keys[1:] == keys[:-1]) & (times[1:] == times[:-1])).any():
            return order
        content = [self.X[:, j] for j in range(self.X.shape[1])]
        names = self.rows.astype(str)
        return np.lexsort((*content, self.y, names, late, self.times, self.keys))

    def part(self, which: NDArray[Any]) -> Records:
        """Return some of them."""
        return Records(self.keys[which], self.times[which], self.kinds[which], self.X[which],
                       self.y[which], self.rows[which])  # fmt: skip


@dataclass
class Bucket:
    """The models of some keys.

    Attributes
    ----------
    keyed : Keyed
        The models.
    expire : int or None
        Microseconds that a key may be idle.
    last : dict
        When the last row of each key came.
    """

    keyed: Keyed
    expire: int | None
    last: dict[Any, int] = field(default_factory=dict)

    @classmethod
    def new(cls, model: DFOPRegressor, expire: int | None) -> Bucket:
        """Return one without keys."""
        return cls(Keyed(model), expire)

    @classmethod
    def load(cls, models: bytes, last: str, expire: int | None) -> Bucket:
        """Return what `dump` wrote."""
        return cls(Keyed.from_bytes(models), expire, dict(json.loads(last)))

    def dump(self) -> tuple[bytes, str]:
        """Return it as bytes and text."""
        return self.keyed.to_bytes(), json.dumps(list(self.last.items()))

    def take(self, records: Records) -> tuple[Array, NDArray[np.bool_]]:
        """Predict and learn records; return what was predicted (or NaN), and which were learned."""
        predicted = np.full(len(records.keys), np.nan)
        learned = np.zeros(len(records.keys), bool)
        order = records.order()
        order = order[records.kinds[order] != UNUSABLE]
        if not len(order):
            return predicted, learned
        sorted_ = records.part(order)
        times, idle = self._times(sorted_)
        kinds, keys = sorted_.kinds, sorted_.keys
        begins = np.r_[True, keys[1:] != keys[:-1]]
        # Records of one key that are unlike follow each other; all keys go through it together.
        steps = np.r_[True, kinds[1:] != kinds[:-1]] | idle
        steps &= ~begins
        total = np.cumsum(steps)
        wave = total - np.maximum.accumulate(np.where(begins, total, 0))
        for at in range(int(wave.max()) + 1):
            for kind in (COMPLETE, WAITING, LABEL, QUESTION):
                which = np.flatnonzero((wave == at) & (kinds == kind))
                if len(which):
                    some = sorted_.part(which)
                    done = self._take(kind, some, times[which], idle[which])
                    predicted[order[which]], learned[order[which]] = done
        return predicted, learned

    def drop_idle(self, now: int) -> None:
        """Remove keys whose next row will begin anew whenever it comes."""
        assert self.expire is not None
        gone = [key for key, last in self.last.items() if now - last > self.expire]
        self._forget(gone)

    def _times(self, records: Records) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return times that do not run backwards within a key, and where a key was idle before."""
        keys, n = records.keys, len(records.keys)
        begins = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        moves = np.isin(records.kinds, (COMPLETE, WAITING))
        times, idle = records.times.copy(), np.zeros(n, bool)
        for start, stop in zip(begins, [*begins[1:], n], strict=True):
            key = keys[start].item() if hasattr(keys[start], "item") else keys[start]
            known = self.last.get(key, _NEVER)
            rows = np.flatnonzero(moves[start:stop]) + start
            passed = np.maximum.accumulate(np.r_[known, times[rows]])
            before = passed[np.searchsorted(rows, np.arange(start, stop))]
            if self.expire is not None:
                late = times[start:stop] - before > self.expire
                idle[start:stop] = late & (before != _NEVER)
            times[rows] = passed[1:]
            if len(rows):
                self.last[key] = int(passed[-1])
        return times, idle

    def _take(
        self, kind: int, records: Records, times: NDArray[np.int64], idle: NDArray[np.bool_]
    ) -> tuple[Array, NDArray[np.bool_] | bool]:
        nothing = np.full(len(times), np.nan)
        if kind == LABEL:
            return nothing, self._learn_labels(records, idle)
        if kind == QUESTION:
            ahead = self._predict(records)
            return np.where(idle, 0.0, ahead), False
        if idle.any():
            self._forget_models(records.keys[idle])
        told = {"time": times.view("M8[us]")} if self.keyed.model.needs_time else {}
        if kind == COMPLETE:
            return self.keyed.predict_then_learn(records.keys, records.X, records.y, **told), True
        names = _names(records)
        taken = set(self.keyed.pending_)
        new = np.array([not (name in taken or taken.add(name)) for name in names])  # type: ignore[func-returns-value]
        ahead = nothing
        if not new.all():  # a name that is waiting already: it is predicted, and that is all
            ahead[~new] = self._predict(records.part(~new))
        if new.any():
            told = {name: moments[new] for name, moments in told.items()}
            ahead[new] = self.keyed.predict_pending(
                records.keys[new], records.X[new], [names[t] for t in np.flatnonzero(new)], **told
            )
        return ahead, False

    def _learn_labels(self, records: Records, idle: NDArray[np.bool_]) -> NDArray[np.bool_]:
        waiting, names = set(self.keyed.pending_), _names(records)
        learned = np.zeros(len(names), bool)
        for t, name in enumerate(names):
            learned[t] = name in waiting and not idle[t]
            waiting.discard(name)
        if learned.any():
            chosen = [names[t] for t in np.flatnonzero(learned)]
            self.keyed.learn_pending(chosen, records.y[learned])
        return learned

    def _predict(self, records: Records) -> Array:
        if not len(self.keyed):
            return np.zeros(len(records.keys))
        return self.keyed.predict(records.keys, records.X)

    def _forget(self, keys: list[Any]) -> None:
        for key in keys:
            del self.last[key]
        self._forget_models(keys)

    def _forget_models(self, keys: Any) -> None:
        if len(keys) and len(self.keyed):
            self.keyed.forget(keys)


def _names(records: Records) -> list[str]:
    """Return names of rows that are unique over all keys."""
    keys = records.keys.tolist()
    return [json.dumps([key, row]) for key, row in zip(keys, records.rows, strict=True)]
