"""Labels that come from a source of their own, each with its row's id and its time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dfop.evaluation.delay import check_clock
from dfop.model.estimator import Ahead
from dfop.rows.batch import Batch

from .labelling import Array, Learner, State, in_parts


class LabelRows(NamedTuple):
    """Some labels from a file of their own."""

    ids: Sequence[str | None]
    y: Array
    time: Array


class _Waiting(NamedTuple):
    """What is kept of a row until its label comes."""

    prediction: Any
    sure: Any
    """The probability, or the ends of the interval; None where there is neither."""
    known: int
    """How many labels were known when it came."""
    time: Any


class Labelled:
    """Labels come from a source of their own, each with its row's id and its time.

    A label is known to the rows whose time is its own or later. One that stands before its row is
    kept until the row comes; one whose row waits no more is counted and left out.

    Parameters
    ----------
    learner : Learner
        What learns.
    labels : iterator of LabelRows
        The labels in the order of their times.
    limit : int
        How many rows may wait, as the model has it.
    """

    def __init__(self, learner: Learner, labels: Iterator[LabelRows], limit: int) -> None:
        self._learner, self._labels, self._limit = learner, labels, limit
        self._held: list[LabelRows] = []
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        """Rows by id."""
        self._early: OrderedDict[str, Any] = OrderedDict()
        self.taken = 0
        """Labels read so far."""
        self.strays = 0
        """Labels without a row that waits."""
        self._learned = self._seen = 0

    @property
    def unmatched(self) -> int:
        """Labels so far that named no row, or one that waits no more."""
        return self.strays + len(self._early)

    def step(self, batch: Batch, y: Array, ids: Sequence[str] | None) -> Ahead:
        """Predict rows, learn the labels that arrive between them."""
        return in_parts(self._learner, self._seen, batch, y, ids, self._step)

    def _step(self, batch: Batch, y: Array, ids: Sequence[str] | None) -> Ahead:
        assert ids is not None
        assert batch.time is not None
        times = batch.time
        check_clock(times, "1s" if times.dtype.kind == "M" else 1.0, 0)
        events = self._arriving(times)
        keys, matched, scored = self._match(ids, events, times)
        self._seen += len(keys)
        due = tuple(zip(*matched, strict=True)) if matched else None
        ahead: Ahead = self._learner.model.ahead_pending(
            batch,
            keys,
            labels=(list(due[0]), np.array(due[1]), np.array(due[2])) if due else None,
            **self._learner.given(batch),
        )
        sure = ahead.probability if ahead.interval is None else ahead.interval
        sureness = [None] * len(keys) if sure is None else sure.tolist()
        made = dict(zip(keys, zip(ahead.prediction.tolist(), sureness, strict=True), strict=True))
        for key in keys:
            if key in self._waiting:
                self._waiting[key] = _Waiting(*made[key], *self._waiting[key][2:])
        self._score(
            [(y, row if k not in made else _Waiting(*made[k], *row[2:])) for k, y, row in scored]
        )
        return ahead

    def _arriving(self, times: Array) -> list[tuple[str | None, Any, int]]:
        """Return labels that come before the last of these rows: id, label, before which row."""
        found = []
        for rows in self._until(times[-1]):
            before = np.searchsorted(times, rows.time, side="left").tolist()
            found += list(zip(rows.ids, rows.y.tolist(), before, strict=True))
        return found

    def _until(self, moment: Any) -> Iterator[LabelRows]:
        """Give the labels up to a moment."""
        while True:
            rows = self._held.pop() if self._held else next(self._labels, None)
            if rows is None:
                return
            count = int(np.searchsorted(rows.time, moment, side="right"))
            if count < len(rows.y):
                self._held.append(LabelRows(rows.ids[count:], rows.y[count:], rows.time[count:]))
            if count:
                self.taken += count
                yield LabelRows(rows.ids[:count], rows.y[:count], rows.time[:count])
            if count < len(rows.y):
                return

    def _match(
        self, ids: Sequence[str], events: list[tuple[str | None, Any, int]], times: Array
    ) -> tuple[list[str], list[tuple[str, Any, int]], list[Any]]:
        """Go through rows and labels in their order.

        Returns the keys of the rows, the labels to learn (key, label, before which row), and what
        is to be scored (key, label, what was kept of the row).
        """
        keys: list[str] = []
        matched: list[tuple[str, Any, int]] = []
        scored: list[Any] = []

        def learn(key: str, label: Any, before: int) -> None:
            matched.append((key, label, before))
            scored.append((key, label, self._waiting.pop(key)))
            self._learned += 1

        at = 0
        for t, name in enumerate(ids):
            while at < len(events) and events[at][2] <= t:
                key, label, _ = events[at]
                at += 1
                if key is not None and key in self._waiting:
                    learn(key, label, t)
                else:
                    self._keep_early(key, label)
            keys.append(name)
            self._waiting[name] = _Waiting(None, None, self._learned, times[t])
            while len(self._waiting) > self._limit:
                self._waiting.popitem(last=False)
            if name in self._early and name in self._waiting:
                learn(name, self._early.pop(name), t + 1)
        return keys, matched, scored

    def _keep_early(self, key: str | None, label: Any) -> None:
        if key is None:
            self.strays += 1
            return
        self._early[key] = label
        while len(self._early) > self._limit:
            self._early.popitem(last=False)
            self.strays += 1

    def _score(self, scored: list[tuple[Any, _Waiting]]) -> None:
        """Add rows whose labels came to the history: labels, and what was kept of each."""
        if not scored:
            return
        predicted, sure, known, times = (
            np.array(column) for column in zip(*(row for _, row in scored), strict=True)
        )
        self._learner.history.add(
            np.array([label for label, _ in scored]),
            predicted,
            probability=None if sure.ndim == 2 or sure[0] is None else sure,
            intervals=sure if sure.ndim == 2 else None,
            known=known,
            time=times,
        )

    def end(self) -> None:
        """Learn the labels that come after the last row."""
        while (rows := self._held.pop() if self._held else next(self._labels, None)) is not None:
            self.taken += len(rows.y)
            due = []
            scored = []
            for key, label in zip(rows.ids, rows.y.tolist(), strict=True):
                if key is None or key not in self._waiting:
                    self._keep_early(key, label)
                    continue
                due.append((key, label))
                scored.append((label, self._waiting.pop(key)))
                self._learned += 1
            if due:
                keys, labels = zip(*due, strict=True)
                self._learner.model.learn_pending(list(keys), np.array(labels))
                self._score(scored)

    def state(self) -> State:
        """Return rows that wait, labels that are early, and how many labels were read."""
        rows = list(self._waiting.values())
        values = {
            "taken": self.taken,
            "strays": self.strays,
            "learned": self._learned,
            "seen": self._seen,
            "waiting": [(key, row.prediction, row.known) for key, row in self._waiting.items()],
            "early": list(self._early.items()),
        }
        arrays = {"time": np.array([row.time for row in rows])}
        if rows and rows[0].sure is not None:  # ends of intervals may be infinite: no JSON
            arrays["sure"] = np.array([row.sure for row in rows])
        return values, arrays

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Go on; the labels that were read must have been left out of those to come."""
        self.taken, self.strays = int(values["taken"]), int(values["strays"])
        self._learned, self._seen = int(values["learned"]), int(values["seen"])
        moments = arrays["time"]
        sure = arrays["sure"].tolist() if "sure" in arrays else [None] * len(moments)
        self._waiting = OrderedDict(
            (key, _Waiting(prediction, sure[t], known, moments[t]))
            for t, (key, prediction, known) in enumerate(values["waiting"])
        )
        self._early = OrderedDict((key, label) for key, label in values["early"])
