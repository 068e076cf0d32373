"""Models with ``partial_fit`` and ``predict``."""

import inspect
from typing import Any, NoReturn

import numpy as np
from sklearn.exceptions import NotFittedError

from dfop.evaluation.sources import Array, Stream
from dfop.rows import Batch
from dfop.rows.extras import need

from .base import Learner, Prediction


class SklearnLearner(Learner):
    """An estimator with ``partial_fit`` and ``predict``, one row at a time.

    It gets a matrix. Where there is text it gets a data frame instead, which a pipeline may know
    how to code; an estimator that does not is said to take numbers only.
    """

    def __init__(self, model: Any, stream: Stream, proba: bool) -> None:
        super().__init__(model, stream, proba)
        if proba and not hasattr(model, "predict_proba"):
            raise TypeError(f"{type(model).__name__} gives no probabilities; use proba=False")
        self._takes_batches = bool(getattr(model, "takes_batches", False))
        self._text: str | None = None  # the first column of text, once there is one
        self._learned = False
        self._parameters: dict[str, frozenset[str]] = {}

    def form(self, batch: Batch) -> Any:
        """Give the Batch itself, a matrix, or a frame where there is text."""
        if self._takes_batches:
            return batch
        if self._text is None:
            if not batch.texts:
                return batch.numbers
            self._text = batch.name_of(min(batch.texts))
        return as_frame(batch)

    def call(self, method: str, *args: Any, **offered: Any) -> Any:
        """Call a method with those of the named values that it takes; the classes are added."""
        taken = self.parameters(method)
        # A model that neither forgets by the clock nor has alarms refuses a time, and says so.
        if offered.get("time") is None or not getattr(self.model, "takes_time", True):
            offered.pop("time", None)
        # A fitted classifier knows its classes; telling it again only costs time.
        if len(self.classes) and not hasattr(self.model, "classes_"):
            offered["classes"] = self.classes
        more = {name: value for name, value in offered.items() if name in taken}
        try:
            result = getattr(self.model, method)(*args, **more)
        except (ValueError, TypeError) as error:
            self._blame_text(error)
        self._learned = True
        return result

    def parameters(self, method: str) -> frozenset[str]:
        """Name the parameters of a method; none where it is compiled and does not tell."""
        if method not in self._parameters:
            try:
                taken = frozenset(inspect.signature(getattr(self.model, method)).parameters)
            except ValueError:
                taken = frozenset()
            self._parameters[method] = taken
        return self._parameters[method]

    def predict_rows(self, X: Any) -> Prediction:
        """Predict rows, from all that has been learned."""
        try:
            proba = self.align(self.model.predict_proba(X)) if self.proba else None
            return np.asarray(self.model.predict(X)), proba
        except NotFittedError:
            return self.unlearned(len(X))
        except (ValueError, TypeError) as error:
            self._blame_text(error)

    def learn_rows(self, X: Any, y: Array, time: Array | None) -> None:
        """Learn one row after the other: a block would be more than one pass for some."""
        cells = X.iloc if hasattr(X, "iloc") else X
        for i in range(len(y)):
            now = None if time is None else time[i : i + 1]
            self.call("partial_fit", cells[i : i + 1], y[i : i + 1], time=now)

    def align(self, given: Any) -> Array:
        """Bring the model's columns into the order of the stream's classes."""
        proba: Array = np.asarray(given)
        own = np.asarray(self.model.classes_)
        if np.array_equal(own, self.classes):
            return proba
        aligned = np.zeros((len(proba), len(self.classes)))
        for column, label in enumerate(own):
            aligned[:, self.classes == label] = proba[:, [column]]
        return aligned

    def _blame_text(self, error: Exception) -> NoReturn:
        """Say that text was too much for the model, if it failed at the first text it got."""
        if self._text is None or self._learned:
            raise error
        raise ValueError(
            f"{type(self.model).__name__} takes numbers only, and column {self._text!r} holds "
            "text: use a model that takes text, a pipeline that codes it, or leave the column out"
        ) from error


def as_frame(batch: Batch) -> Any:
    """Make a pandas frame of a Batch: numbers, text as objects, None or NaN where missing.

    Examples
    --------
    >>> from dfop.rows.tables import as_batch
    >>> as_frame(as_batch([[1.0, "red"], [2.0, None]])).to_numpy().tolist()
    [[1.0, 'red'], [2.0, None]]
    """
    pandas = need("pandas", extra="stats", purpose="giving text to a scikit-learn model")
    columns = {
        batch.name_of(j): pandas.Series(batch.texts[j].cells(), dtype=object)
        if j in batch.texts
        else batch.numbers[:, j]
        for j in range(batch.shape[1])
    }
    return pandas.DataFrame(columns, copy=False)
