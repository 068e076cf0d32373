"""Models with ``predict_one`` and ``learn_one``."""

from typing import Any

import numpy as np

from dfop.evaluation.sources import Array, Stream
from dfop.rows import Batch

from .base import Learner, Prediction


class RiverLearner(Learner):
    """A River model: a row is a dict.

    River's binary classifiers know the labels False and True only, so two classes are
    translated to these and back. Its models fail on None, so a missing value is left out of the
    dict; only a model that says it takes it, and a pipeline with an imputer, which needs it, get
    None.
    """

    def __init__(self, model: Any, stream: Stream, proba: bool) -> None:
        super().__init__(model, stream, proba)
        if proba and not hasattr(model, "predict_proba_one"):
            raise TypeError(f"{type(model).__name__} gives no probabilities; use proba=False")
        labels = self.classes.tolist()
        spoken = [False, True] if len(labels) == 2 else labels
        self._spoken: dict[Any, Any] = dict(zip(labels, spoken, strict=True))
        self._column: dict[Any, int] = {label: i for i, label in enumerate(spoken)}
        self._takes_missing = bool(getattr(model, "takes_batches", False)) or _imputes(model)

    def form(self, batch: Batch) -> Any:
        """Give dicts by column name."""
        dicts = batch.dicts()
        if self._takes_missing or not (batch.gaps or batch.texts):
            return dicts
        return [{name: v for name, v in row.items() if v is not None} for row in dicts]

    def predict_rows(self, X: Any) -> Prediction:
        """Predict rows, from all that has been learned."""
        if self.task == "regression":
            values = [self.model.predict_one(x) for x in X]
            return np.array([0.0 if v is None else v for v in values], dtype=float), None
        # Some classifiers answer None until they have learned something: the first class.
        columns = [self._column.get(self.model.predict_one(x), 0) for x in X]
        proba = np.array([self._probabilities(x) for x in X]) if self.proba else None
        return self.classes[columns], proba

    def learn_rows(self, X: Any, y: Array, time: Array | None) -> None:
        """Learn one row after the other."""
        for x, label in zip(X, y.tolist(), strict=True):
            self.model.learn_one(x, label if self.task == "regression" else self._spoken[label])

    def _probabilities(self, x: dict[str, Any]) -> Array:
        p = np.zeros(len(self.classes))
        for label, value in self.model.predict_proba_one(x).items():
            p[self._column[label]] = value
        total = p.sum()
        return p / total if total > 0 else np.full(len(p), 1 / len(p))


def _imputes(model: Any) -> bool:
    """Tell whether a part of a pipeline fills in missing values."""
    parts = [*_parts(model, "steps"), *_parts(model, "transformers")]
    return type(model).__name__.endswith("Imputer") or any(_imputes(part) for part in parts)


def _parts(model: Any, name: str) -> list[Any]:
    parts = getattr(model, name, None)
    return list(parts.values()) if isinstance(parts, dict) else []
