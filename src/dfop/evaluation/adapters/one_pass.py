"""Models that walk through the rows themselves."""

from typing import Any

import numpy as np

from dfop.evaluation.sources import Array, Stream
from dfop.rows import Batch

from .base import Prediction, Rows
from .sklearn import SklearnLearner


class OnePassLearner(SklearnLearner):
    """A model with ``predict_then_learn``, whose state does not depend on the batches.

    Labels that come late reach it in one of three ways.

    *One call a batch*, if its ``predict_pending`` takes ``labels``: ``predict_pending(X, keys,
    labels=(keys, y, before))`` predicts rows and learns the labels that arrive between them, each
    before the row of X that ``before`` counts (len(X): after the last one), in ascending order.

    *The model remembers rows*, if it has ``predict_pending(X, keys)`` and
    ``learn_pending(keys, y)``: one call per group of rows or labels, with the rows' numbers
    as keys.

    *Others* get rows and labels when the labels have come.
    """

    def __init__(self, model: Any, stream: Stream, proba: bool) -> None:
        super().__init__(model, stream, proba)
        self._walks = not proba or hasattr(model, "predict_proba_then_learn")
        self._remembers = hasattr(model, "predict_pending") and hasattr(model, "learn_pending")
        self._takes_labels = (
            self._remembers and not proba and "labels" in self.parameters("predict_pending")
        )
        self._under_way = np.empty(0)  # labels of rows from the number `_known` on
        self._known = 0

    def predict_then_learn(self, batch: Batch, y: Array) -> Prediction:
        """Predict every row from those before it."""
        if not self._walks:
            return super().predict_then_learn(batch, y)
        return self._walk(batch, y, time=batch.time)

    def walk_late(self, batch: Batch, y: Array, known: Array, first: int) -> Prediction:
        """Give rows and the labels that arrive between them in one call, if the model can."""
        if not self._takes_labels:
            return super().walk_late(batch, y, known, first)
        labels = y if not len(self._under_way) else np.concatenate([self._under_way, y])
        due = np.arange(self._known, known[-1])
        before = np.searchsorted(known, due, side="right")
        keys = range(first, first + len(y))
        arriving = range(self._known, int(known[-1])), labels[: len(due)], before
        offered = {"time": batch.time, **({"labels": arriving} if len(due) else {})}
        predicted = self.call("predict_pending", self.form(batch), keys, **offered)
        self._under_way, self._known = labels[len(due) :], int(known[-1])
        return np.asarray(predicted), None

    def _walk(self, batch: Batch, y: Array, **offered: Any) -> Prediction:
        X = self.form(batch)
        if self.proba:
            proba = self.align(self.call("predict_proba_then_learn", X, y, **offered))
            return self.classes[np.argmax(proba, axis=1)], proba
        return np.asarray(self.call("predict_then_learn", X, y, **offered)), None

    def learn_rows(self, X: Any, y: Array, time: Array | None) -> None:
        """Learn rows, all in one call."""
        method = "partial_fit" if hasattr(self.model, "partial_fit") else "predict_then_learn"
        self.call(method, X, y, time=time)

    def predict_arrived(self, rows: Rows) -> Prediction:
        """Predict rows and let the model remember them."""
        if not self._remembers:
            return self.predict_rows(rows.X)
        proba = self.predict_rows(rows.X)[1] if self.proba else None
        keys = list(range(rows.first, rows.first + len(rows.y)))
        return np.asarray(self.call("predict_pending", rows.X, keys, time=rows.time)), proba

    def learn_arrived(self, rows: Rows) -> None:
        """Give the model the labels of rows that it remembers."""
        if self._remembers:
            keys = list(range(rows.first, rows.first + len(rows.y)))
            self.call("learn_pending", keys, rows.y, time=rows.time)
        else:
            self.learn_rows(rows.X, rows.y, rows.time)
