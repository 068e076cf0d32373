"""Predict, then learn: with the label of each row at once, or later.

A labelling takes rows batch by batch, feeds model and history, and returns what was predicted. Its
state is what must be kept to go on: for labels that come late, those under way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
        told = batch.time is not None and self.model.takes_time
        time = {"time": batch.time} if told or self.model.needs_time else {}
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


def in_parts(
    learner: Learner,
    seen: int,
    batch: Batch,
    y: Array,
    ids: Sequence[str] | None,
    step: Callable[[Batch, Array, Sequence[str] | None], Ahead],
) -> Ahead:
    """Do a step of late labels in parts that end where the model is to be looked at.

    A look is due after certain numbers of predicted rows, `seen` of them so far: so it is the same
    however rows come in batches, and however many labels have come.
    """
    history, parts, start, n = learner.history, [], 0, len(batch)
    while start < n:
        length = history.looks.length
        stop = min(n, start + history.looks.rows_to_next(seen + start))
        some = None if ids is None else ids[start:stop]
        parts.append(step(batch[start:stop], y[start:stop], some))
        history.look(learner.model, due=(seen + stop) % length == 0)
        start = stop
    return _joined(parts)


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
        """Of the rows from number `_known` on: labels, what was predicted and known, times."""

    def step(self, batch: Batch, y: Array, ids: Sequence[str] | None) -> Ahead:
        """Predict rows, learn the labels that arrive between them."""
        return in_parts(self._learner, self._seen, batch, y, ids, self._step)

    def _step(self, batch: Batch, y: Array, ids: Sequence[str] | None) -> Ahead:
        model, first, n = self._learner.model, self._seen, len(y)
        if batch.time is not None:
            check_clock(batch.time, self._delay, first)
        times = self._with("time", np.zeros(n) if batch.time is None else batch.time)
        known = known_labels(first, first + n, self._delay, self._known, times)
        due = np.arange(self._known, known[-1])
        before = np.searchsorted(known, due, side="right")
        labels = self._with("label", y)
        ahead: Ahead = model.ahead_pending(
            batch,
            range(first, first + n),
            labels=(range(self._known, int(known[-1])), labels[: len(due)], before)
            if len(due)
            else None,
            **self._learner.given(batch),
        )
        all_rows = {"label": labels, "known": self._with("known", known), "time": times}
        for name, made in ahead._asdict().items():
            if made is not None:
                all_rows[name] = self._with(name, made)
        self._score({name: column[: len(due)] for name, column in all_rows.items()}, batch)
        self._under_way = {name: column[len(due) :] for name, column in all_rows.items()}
        self._seen, self._known = first + n, int(known[-1])
        return ahead

    def _with(self, name: str, new: Array) -> Array:
        held = self._under_way.get(name)
        return new if held is None or not len(held) else np.concatenate([held, new])

    def _score(self, rows: dict[str, Array], batch: Batch) -> None:
        history = self._learner.history
        time = None if batch.time is None else rows["time"]
        history.add(
            rows["label"],
            rows["prediction"],
            probability=rows.get("probability"),
            intervals=rows.get("interval"),
            known=rows["known"],
            time=time,
        )

    def end(self) -> None:
        """Do nothing: labels that have not come are not learned."""

    def state(self) -> State:
        """Return the labels under way."""
        return {"seen": self._seen, "known": self._known}, dict(self._under_way)

    def restore(self, values: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Go on with labels under way."""
        self._seen, self._known = int(values["seen"]), int(values["known"])
        self._under_way = dict(arrays)
