"""What every adapter can do, and the walk that delivers labels when they arrive."""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from dfop.evaluation.sources import Array, Stream
from dfop.rows import Batch
from dfop.rows.labels import class_labels

Prediction = tuple[Array, Array | None]
"""Labels (or numbers), and the probability of every class if it was asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of the stream in the form that the model takes.

    Attributes
    ----------
    first : int
        The number of the first of them in the stream.
    X : Batch, matrix, frame or list of dicts
        Their features.
    time : array or None
        When each came.
    y : array
        Their labels, for learning only.
    """

    first: int
    X: Any
    time: Array | None
    y: Array

    def cut(self, start: int, stop: int) -> "Rows":
        """Give the rows with the numbers ``start`` to ``stop - 1``."""
        part = slice(start - self.first, stop - self.first)
        X = self.X.iloc[part] if hasattr(self.X, "iloc") else self.X[part]
        return Rows(start, X, None if self.time is None else self.time[part], self.y[part])


class Learner:
    """A model and what the stream says about its labels.

    Parameters
    ----------
    model : object
        The model; it is trained in place.
    stream : Stream
        Its task and classes.
    proba : bool
        Whether predictions come with probabilities.
    """

    def __init__(self, model: Any, stream: Stream, proba: bool) -> None:
        self.model = model
        self.task = stream.task
        self.proba = proba
        self.classes = np.empty(0)
        if self.task == "classification":
            if stream.classes is None or len(stream.classes) == 0:
                raise ValueError(f"the stream {stream.name!r} does not say which classes it has")
            self.classes = class_labels(stream.classes)
        self._waiting: deque[Rows] = deque()

    # -- what an adapter must say -------------------------------------------------------------

    def form(self, batch: Batch) -> Any:
        """Give rows in the form that the model takes."""
        raise NotImplementedError

    def predict_rows(self, X: Any) -> Prediction:
        """Predict rows in the model's form, from all that has been learned."""
        raise NotImplementedError

    def learn_rows(self, X: Any, y: Array, time: Array | None) -> None:
        """Learn rows in the model's form."""
        raise NotImplementedError

    # -- what it may do better ----------------------------------------------------------------

    def predict_arrived(self, rows: Rows) -> Prediction:
        """Predict rows whose labels will come."""
        return self.predict_rows(rows.X)

    def learn_arrived(self, rows: Rows) -> None:
        """Learn the labels, just arrived, of rows predicted before."""
        self.learn_rows(rows.X, rows.y, rows.time)

    def predict_then_learn(self, batch: Batch, y: Array) -> Prediction:
        """Predict every row from all before it, and learn it."""
        X = Rows(0, self.form(batch), batch.time, y)
        parts = []
        for t in range(len(y)):
            row = X.cut(t, t + 1)
            parts.append(self.predict_rows(row.X))
            self.learn_rows(row.X, row.y, row.time)
        return join(parts)

    def walk_late(self, batch: Batch, y: Array, known: Array, first: int) -> Prediction:
        """Predict every row from the labels that have arrived, and learn each label then.

        Parameters
        ----------
        batch : Batch
            The next rows of the stream.
        y : array of shape (n,)
            Their labels. They are learned in this call or in a later one, when they are known;
            those that are still under way when the stream ends are not.
        known : array of int of shape (n + 1,)
            How many labels of the stream, counted from its first row, are known when each of
            these rows is predicted; the last entry: when the call ends. It never decreases, and
            is at most the row's own number.
        first : int
            The number of the first of these rows in the stream.

        Returns
        -------
        predictions : array of shape (n,)
            In the order of the rows.
        probabilities : array of shape (n, k) or None
            If asked for.
        """
        rows = Rows(first, self.form(batch), batch.time, y)
        self._waiting.append(rows)
        # One step per group of rows that are predicted from the same labels.
        starts = np.flatnonzero(np.diff(known[:-1], prepend=-1))
        stops = np.append(starts[1:], len(y))
        parts = []
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            self._learn_until(int(known[start]))
            parts.append(self.predict_arrived(rows.cut(first + start, first + stop)))
        self._learn_until(int(known[-1]))
        return join(parts)

    # -- what all share -----------------------------------------------------------------------

    def predict(self, batch: Batch) -> Prediction:
        """Predict rows, from all that has been learned."""
        return self.predict_rows(self.form(batch))

    def learn(self, batch: Batch, y: Array) -> None:
        """Learn rows in their order."""
        self.learn_rows(self.form(batch), y, batch.time)

    def unlearned(self, n: int) -> Prediction:
        """Stand in for a model that has learned nothing and cannot predict."""
        if self.task == "regression":
            return np.zeros(n), None
        k = len(self.classes)
        return np.repeat(self.classes[:1], n), np.full((n, k), 1 / k) if self.proba else None

    def _learn_until(self, row: int) -> None:
        """Learn the labels of all rows that wait, up to the one with this number.

        Only rows whose labels are under way are kept: memory grows with the delay, not with the
        stream.
        """
        while self._waiting and self._waiting[0].first < row:
            rows = self._waiting.popleft()
            end = rows.first + len(rows.y)
            self.learn_arrived(rows.cut(rows.first, min(row, end)))
            if row < end:
                self._waiting.appendleft(rows.cut(row, end))


def join(parts: list[Prediction]) -> Prediction:
    """Put predictions one after the other.

    Examples
    --------
    >>> join([(np.array([1.0]), None), (np.array([2.0]), None)])
    (array([1., 2.]), None)
    """
    probabilities = [p for _, p in parts if p is not None]
    return (
        np.concatenate([labels for labels, _ in parts]),
        np.concatenate(probabilities) if probabilities else None,
    )
