"""Predict, then learn: with the label of each row at once, or later.

A labelling takes rows batch by batch, feeds model and history, and returns what was predicted. Its
state is what must be kept to go on: for labels that come late, those under way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dfop.evaluation.delay import Delay, check_clock, known_labels
from dfop.model.estimator import Ahead
from dfop.report import History
from dfop.rows.batch import Batch

Array = NDArray[Any]
State = tuple[dict[str, Any], dict[str, Array]]


class Labelling(Protocol):
    """One way of learning."""

    @property
    def unmatched(self) -> int:
        """Labels so far that named no row."""

    def step(self, batch: Batch, y: Array, ids: Sequence[str] | None) -> Ahead:
        """Predict and learn the next rows."""

    def end(self) -> None:
        """Do what is left to do after the last row."""

    def state(self) -> State:
        """Return what must be kept: values for JSON, and arrays."""

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Go on from a state."""


class Learner(NamedTuple):
    """A model, the history of its run, and what it must be told with every batch."""

    model: Any
    history: History
    classes: tuple[Any, ...] | None

    def given(self, batch: Batch) -> dict[str, Any]:
        """Return the arguments beside rows and labels."""
        time = {"time": batch.time} if self.model.needs_time else {}
        return time if self.classes is None else {**time, "classes": list(self.classes)}


class AtOnce:
    """The label of a row is known before the next row comes."""

    unmatched = 0

    def __init__(self, learner: Learner) -> None:
        self._learner = learner

    def step(self, batch: Batch, y: Array, ids: Sequence[str] | None) -> Ahead:
        """Predict and learn the next rows, and look at the model where the history wants it."""
        model, history, _ = self._learner
        parts: list[Ahead] = []
        start, n = 0, len(y)
        while start < n:
            due = start + history.looks.rows_to_next(history.rows + start)
            rows = batch if start == 0 and due >= n else batch[start:due]
            parts.append(model.ahead_then_learn(rows, y[start:due], **self._learner.given(rows)))
            if due <= n:
                history.looks.take(model, history.rows + due)
            start = due
        ahead = _joined(parts)
        history.add(
            y,
            ahead.prediction,
            probability=ahead.probability,
            intervals=ahead.interval,
            time=batch.time,
        )
        history.look(model)
        return ahead

    def end(self) -> None:
        """Do nothing: all was learned."""

    def state(self) -> State:
        """Return nothing: nothing is under way."""
        return {}, {}

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Go on: nothing was under way."""


def _joined(parts: list[Ahead]) -> Ahead:
    if len(parts) == 1:
        return parts[0]
    columns = zip(*parts, strict=True)
    return Ahead(*(None if one[0] is None else np.concatenate(one) for one in columns))  # type: ignore[arg-type]


class Delayed:
    """All labels come some rows, or some time, after their rows.

    Parameters
    ----------
    learner : Learner
        What learns.
    delay : int or str
        Rows, or a duration.
    """

    unmatched = 0

    def __init__(self, learner: Learner, delay: Delay) -> None:
        self._learner, self._delay = learner, delay
        self._seen = self._known = 0
        self._under_way: dict[str, Array] = {}
        """Of the rows from number `_known` on: labels, predictions, what was known, times."""

    def step(self, batch: Batch, y: Array, ids: Sequence[str] | None) -> Ahead:
        """Predict rows, learn the labels that arrive between them."""
        model, first, n = self._learner.model, self._seen, len(y)
        if batch.time is not None:
            check_clock(batch.time, self._delay, first)
        times = self._with("time", np.zeros(n) if batch.time is None else batch.time)
        known = known_labels(first, first + n, self._delay, self._known, times)
        due = np.arange(self._known, known[-1])
        before = np.searchsorted(known, due, side="right")
        labels = self._with("label", y)
        predicted = model.predict_pending(
            batch,
            range(first, first + n),
            labels=(range(self._known, int(known[-1])), labels[: len(due)], before)
            if len(due)
            else None,
            **self._learner.given(batch),
        )
        all_rows = {
            "label": labels,
            "prediction": self._with("prediction", predicted),
            "known": self._with("known", known),
            "time": times,
        }
        self._score({name: column[: len(due)] for name, column in all_rows.items()}, batch)
        self._under_way = {name: column[len(due) :] for name, column in all_rows.items()}
        self._seen, self._known = first + n, int(known[-1])
        return Ahead(np.asarray(predicted))

    def _with(self, name: str, new: Array) -> Array:
        held = self._under_way.get(name)
        return new if held is None or not len(held) else np.concatenate([held, new])

    def _score(self, rows: dict[str, Array], batch: Batch) -> None:
        history = self._learner.history
        time = None if batch.time is None else rows["time"]
        history.add(rows["label"], rows["prediction"], known=rows["known"], time=time)
        history.look(self._learner.model)

    def end(self) -> None:
        """Do nothing: labels that have not come are not learned."""

    def state(self) -> State:
        """Return the labels under way."""
        return {"seen": self._seen, "known": self._known}, dict(self._under_way)

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Go on with labels under way."""
        self._seen, self._known = int(values["seen"]), int(values["known"])
        self._under_way = dict(arrays)


class LabelRows(NamedTuple):
    """Some labels from a file of their own."""

    ids: Sequence[str | None]
    y: Array
    time: Array


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
        self._waiting: OrderedDict[str, tuple[Any, int, Any]] = OrderedDict()
        """Rows by id: what was predicted, how many labels were known, their time."""
        self._early: OrderedDict[str, Any] = OrderedDict()
        self.taken = 0
        """Labels read so far."""
        self.strays = 0
        """Labels without a row that waits."""
        self._learned = 0

    @property
    def unmatched(self) -> int:
        """Labels so far that named no row, or one that waits no more."""
        return self.strays + len(self._early)

    def step(self, batch: Batch, y: Array, ids: Sequence[str] | None) -> Ahead:
        """Predict rows, learn the labels that arrive between them."""
        assert ids is not None
        assert batch.time is not None
        times = batch.time
        check_clock(times, "1s" if times.dtype.kind == "M" else 1.0, 0)
        events = self._arriving(times)
        keys, matched, scored = self._match(ids, events, times)
        due = tuple(zip(*matched, strict=True)) if matched else None
        predicted = np.asarray(
            self._learner.model.predict_pending(
                batch,
                keys,
                labels=(list(due[0]), np.array(due[1]), np.array(due[2])) if due else None,
                **self._learner.given(batch),
            )
        )
        by_key = dict(zip(keys, predicted.tolist(), strict=True))
        for key in keys:
            if key in self._waiting:
                self._waiting[key] = (by_key[key], *self._waiting[key][1:])
        self._score([(label, by_key.get(k, p), known, at) for k, label, p, known, at in scored])
        return Ahead(predicted)

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
        is to be scored (key, label, prediction where it is known, labels known then, time).
        """
        keys: list[str] = []
        matched: list[tuple[str, Any, int]] = []
        scored: list[Any] = []

        def learn(key: str, label: Any, before: int) -> None:
            prediction, known, at = self._waiting.pop(key)
            matched.append((key, label, before))
            scored.append((key, label, prediction, known, at))
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
            self._waiting[name] = (None, self._learned, times[t])
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

    def _score(self, scored: list[tuple[Any, Any, int, Any]]) -> None:
        if scored:
            labels, predicted, known, times = (np.array(c) for c in zip(*scored, strict=True))
            self._learner.history.add(labels, predicted, known=known, time=times)
            self._learner.history.look(self._learner.model)

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
                prediction, known, at = self._waiting.pop(key)
                due.append((key, label))
                scored.append((label, prediction, known, at))
                self._learned += 1
            if due:
                keys, labels = zip(*due, strict=True)
                self._learner.model.learn_pending(list(keys), np.array(labels))
                self._score(scored)

    def state(self) -> State:
        """Return rows that wait, labels that are early, and how many labels were read."""
        waiting = [(k, p, n) for k, (p, n, _) in self._waiting.items()]
        values = {
            "taken": self.taken,
            "strays": self.strays,
            "learned": self._learned,
            "waiting": waiting,
            "early": list(self._early.items()),
        }
        return values, {"time": np.array([at for _, _, at in self._waiting.values()])}

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Go on; the labels that were read must have been left out of those to come."""
        self.taken, self.strays = int(values["taken"]), int(values["strays"])
        self._learned = int(values["learned"])
        moments = arrays["time"]
        self._waiting = OrderedDict(
            (k, (p, n, moments[i])) for i, (k, p, n) in enumerate(values["waiting"])
        )
        self._early = OrderedDict((key, label) for key, label in values["early"])
