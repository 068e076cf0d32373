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

    *The model walks by itself*, if it says so by an attribute ``takes_late = True``: one call
    for a whole batch, ``predict_then_learn(X, y, known=known)`` (for probabilities,
    ``predict_proba_then_learn(X, y, known=known)``).

    * ``known`` has one entry per row and one more, whole numbers that never decrease. The rows
      of the stream are numbered from 0; ``known[t]`` says how many of their labels, from the
      first row on, are known when row t of this call is predicted. It is at most the row's own
      number. The last entry says how many are known when the call ends.
    * ``y`` holds the labels of the rows of this call. The model keeps rows whose label is not
      known yet, with it, by their number; it learns each, in order, as soon as ``known`` counts
      it, in this call or in a later one, and does not look at it before.
    * Labels that no call counted are never learned.
    * ``first``, if the method takes it, is the number of the first row of the call in the
      stream; 0 begins a new stream.

    *The model remembers rows*, if it has ``predict_pending(X, keys)`` and
    ``learn_pending(keys, y)``: one call per group of rows or labels, with the rows' numbers
    as keys.

    *Others* get rows and labels when the labels have come.
    """

    def __init__(self, model: Any, stream: Stream, proba: bool) -> None:
        super().__init__(model, stream, proba)
        self._walks = not proba or hasattr(model, "predict_proba_then_learn")
        self._walks_late = self._walks and bool(getattr(model, "takes_late", False))
        self._remembers = hasattr(model, "predict_pending") and hasattr(model, "learn_pending")

    def predict_then_learn(self, batch: Batch, y: Array) -> Prediction:
        """Predict every row from those before it."""
        if not self._walks:
            return super().predict_then_learn(batch, y)
        return self._walk(batch, y, time=batch.time)

    def walk_late(self, batch: Batch, y: Array, known: Array, first: int) -> Prediction:
        """Let the model walk, if it can wait for labels by itself."""
        if not self._walks_late:
            return super().walk_late(batch, y, known, first)
        return self._walk(batch, y, time=batch.time, known=known, first=first)

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
