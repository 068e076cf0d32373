"""Three kinds of model, one way to ask them.

* ``predict_then_learn(X, y)``: the model walks through the rows itself and gives the
  one-step-ahead prediction of each; the fast path.
* ``partial_fit`` and ``predict``, the scikit-learn way: one row at a time.
* ``predict_one`` and ``learn_one``, the River way: one row at a time, as dicts.

Before a model has learned its first row it may have no prediction to give. Then the first
class counts as predicted (regression: 0), every class being equally probable.
"""

import inspect
import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from ._extras import need
from .sources import Array, Stream, Task

Prediction = tuple[Array, Array | None]
"""Labels (or numbers), and the probability of every class if it was asked for."""


class Learner:
    """A model and what the stream says about its labels.

    Parameters
    ----------
    model : object
        The model; it is trained in place.
    stream : Stream
        Its task, classes and feature names.
    proba : bool
        Whether predictions come with probabilities.
    """

    whole_blocks = False
    """Whether `predict_then_learn` can be asked for many rows at once."""

    def __init__(self, model: Any, stream: Stream, proba: bool) -> None:
        self.model = model
        self.task = stream.task
        self.names: Sequence[str] = stream.feature_names
        self.proba = proba
        self.classes = np.empty(0)
        if self.task == "classification":
            if stream.classes is None or len(stream.classes) == 0:
                raise ValueError(f"the stream {stream.name!r} does not say which classes it has")
            self.classes = np.asarray(stream.classes)

    def predict(self, X: Array) -> Prediction:
        """Predict rows, from all that has been learned."""
        raise NotImplementedError

    def learn(self, X: Array, y: Array, time: Array | None) -> None:
        """Learn rows."""
        raise NotImplementedError

    def predict_then_learn(self, X: Array, y: Array, time: Array | None) -> Prediction:
        """Predict every row from those before it, and learn it; only with `whole_blocks`."""
        raise NotImplementedError

    def predict_arrived(self, X: Array, rows: Array, time: Array | None) -> Prediction:
        """Predict rows whose labels will come; ``rows`` are their numbers in the stream."""
        return self.predict(X)

    def learn_arrived(self, X: Array, y: Array, rows: Array, time: Array | None) -> None:
        """Learn the labels, just arrived, of rows predicted before."""
        self.learn(X, y, time)

    def unlearned(self, n: int) -> Prediction:
        """Stand in for a model that has learned nothing and cannot predict."""
        if self.task == "regression":
            return np.zeros(n), None
        k = len(self.classes)
        return np.repeat(self.classes[:1], n), np.full((n, k), 1 / k) if self.proba else None


class SklearnLearner(Learner):
    """An estimator with ``partial_fit`` and ``predict``, one row at a time."""

    def __init__(self, model: Any, stream: Stream, proba: bool) -> None:
        super().__init__(model, stream, proba)
        if proba and not hasattr(model, "predict_proba"):
            raise TypeError(f"{type(model).__name__} gives no probabilities; use proba=False")
        self._parameters: dict[str, frozenset[str]] = {}

    def call(self, method: str, *args: Any, time: Array | None = None) -> Any:
        """Call a method, adding the classes and the time if it takes them."""
        if method not in self._parameters:
            signature = inspect.signature(getattr(self.model, method))
            self._parameters[method] = frozenset(signature.parameters)
        taken = self._parameters[method]
        more: dict[str, Any] = {}
        # A model that could forget by the clock, and says that it does not, refuses a time.
        if time is not None and "time" in taken and getattr(self.model, "needs_time", True):
            more["time"] = time
        # A fitted classifier knows its classes; telling it again only costs time.
        if len(self.classes) and "classes" in taken and not hasattr(self.model, "classes_"):
            more["classes"] = self.classes
        return getattr(self.model, method)(*args, **more)

    def predict(self, X: Array) -> Prediction:
        """Predict rows, from all that has been learned."""
        try:
            proba = self.align(self.model.predict_proba(X)) if self.proba else None
            return np.asarray(self.model.predict(X)), proba
        except NotFittedError:
            return self.unlearned(len(X))

    def learn(self, X: Array, y: Array, time: Array | None) -> None:
        """Learn one row after the other: a block would be more than one pass for some."""
        for i in range(len(y)):
            now = None if time is None else time[i : i + 1]
            self.call("partial_fit", X[i : i + 1], y[i : i + 1], time=now)

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


class OnePassLearner(SklearnLearner):
    """A model with ``predict_then_learn``, whose state does not depend on the batches.

    Where it also has ``predict_pending(X, keys)`` and ``learn_pending(keys, y)``, delayed
    labels go through these: the model remembers the rows itself and learns from them exactly.
    """

    def __init__(self, model: Any, stream: Stream, proba: bool) -> None:
        super().__init__(model, stream, proba)
        self.whole_blocks = not proba or hasattr(model, "predict_proba_then_learn")
        self.pending = hasattr(model, "predict_pending") and hasattr(model, "learn_pending")

    def predict_then_learn(self, X: Array, y: Array, time: Array | None) -> Prediction:
        """Predict every row from those before it."""
        if self.proba:
            proba = self.align(self.call("predict_proba_then_learn", X, y, time=time))
            return self.classes[np.argmax(proba, axis=1)], proba
        return np.asarray(self.call("predict_then_learn", X, y, time=time)), None

    def learn(self, X: Array, y: Array, time: Array | None) -> None:
        """Learn rows, all in one call."""
        method = "partial_fit" if hasattr(self.model, "partial_fit") else "predict_then_learn"
        self.call(method, X, y, time=time)

    def predict_arrived(self, X: Array, rows: Array, time: Array | None) -> Prediction:
        """Predict rows and let the model remember them."""
        if not self.pending:
            return self.predict(X)
        proba = self.predict(X)[1] if self.proba else None
        return np.asarray(self.call("predict_pending", X, rows.tolist(), time=time)), proba

    def learn_arrived(self, X: Array, y: Array, rows: Array, time: Array | None) -> None:
        """Give the model the labels of rows that it remembers."""
        if self.pending:
            self.call("learn_pending", rows.tolist(), y, time=time)
        else:
            self.learn(X, y, time)


class RiverLearner(Learner):
    """A River model: a row is a dict.

    River's binary classifiers know the labels False and True only, so two classes are
    translated to these and back.
    """

    def __init__(self, model: Any, stream: Stream, proba: bool) -> None:
        super().__init__(model, stream, proba)
        if proba and not hasattr(model, "predict_proba_one"):
            raise TypeError(f"{type(model).__name__} gives no probabilities; use proba=False")
        labels = self.classes.tolist()
        spoken = [False, True] if len(labels) == 2 else labels
        self._spoken: dict[Any, Any] = dict(zip(labels, spoken, strict=True))
        self._column: dict[Any, int] = {label: i for i, label in enumerate(spoken)}

    def predict(self, X: Array) -> Prediction:
        """Predict rows, from all that has been learned."""
        dicts = [dict(zip(self.names, x, strict=True)) for x in X.tolist()]
        if self.task == "regression":
            values = [self.model.predict_one(x) for x in dicts]
            return np.array([0.0 if v is None else v for v in values], dtype=float), None
        # Some classifiers answer None until they have learned something: the first class.
        columns = [self._column.get(self.model.predict_one(x), 0) for x in dicts]
        proba = np.array([self._probabilities(x) for x in dicts]) if self.proba else None
        return self.classes[columns], proba

    def learn(self, X: Array, y: Array, time: Array | None) -> None:
        """Learn one row after the other."""
        for x, label in zip(X.tolist(), y.tolist(), strict=True):
            target = label if self.task == "regression" else self._spoken[label]
            self.model.learn_one(dict(zip(self.names, x, strict=True)), target)

    def _probabilities(self, x: dict[str, Any]) -> Array:
        p = np.zeros(len(self.classes))
        for label, value in self.model.predict_proba_one(x).items():
            p[self._column[label]] = value
        total = p.sum()
        return p / total if total > 0 else np.full(len(p), 1 / len(p))


def adapt(model: Any, stream: Stream, proba: bool = False) -> Learner:
    """Choose the way to ask this model.

    Parameters
    ----------
    model : object
        Anything of the three kinds above; what it can do decides, not its class.
    stream : Stream
        The stream it will see.
    proba : bool
        Whether probabilities are wanted.

    Returns
    -------
    Learner

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from dfop.evaluation.sources import as_stream
    >>> stream = as_stream(([[0.0], [1.0]], ["no", "yes"]))
    >>> type(adapt(GaussianNB(), stream)).__name__
    'SklearnLearner'
    >>> adapt("a word", stream)
    Traceback (most recent call last):
    TypeError: str is no stream learner: it needs predict_then_learn, or partial_fit and
    predict (scikit-learn), or learn_one and predict_one (River)
    """
    if isinstance(model, type):
        raise TypeError(f"got the class {model.__name__}; pass an instance, {model.__name__}()")
    if proba and stream.task == "regression":
        raise ValueError("proba=True needs a classification stream")
    if hasattr(model, "predict_then_learn"):
        return OnePassLearner(model, stream, proba)
    if hasattr(model, "partial_fit") and hasattr(model, "predict"):
        return SklearnLearner(model, stream, proba)
    if hasattr(model, "learn_one") and hasattr(model, "predict_one"):
        return RiverLearner(model, stream, proba)
    raise TypeError(
        f"{type(model).__name__} is no stream learner: it needs predict_then_learn, or "
        "partial_fit and predict (scikit-learn), or learn_one and predict_one (River)"
    )


def is_river(model: Any) -> bool:
    """Tell a River model from the others: it has its own ``clone``.

    Examples
    --------
    >>> from river import naive_bayes
    >>> is_river(naive_bayes.GaussianNB())
    True
    """
    return hasattr(model, "learn_one") and hasattr(model, "clone")


def task_of(model: Any) -> Task | None:
    """Ask the model what it does; None if it does not say.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> task_of(SGDRegressor())
    'regression'
    """
    if is_river(model):
        base = need("river.base", extra="river")
        steps = getattr(model, "steps", None)  # a pipeline is what its last step is
        last = list(steps.values())[-1] if isinstance(steps, dict) else model
        classifier, regressor = isinstance(last, base.Classifier), isinstance(last, base.Regressor)
    elif hasattr(model, "__sklearn_tags__") and not isinstance(model, type):
        classifier, regressor = is_classifier(model), is_regressor(model)
    else:
        return None
    return "classification" if classifier else "regression" if regressor else None


def name_of(model: Any) -> str:
    """Name for tables and plots.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> name_of(SGDRegressor())
    'SGDRegressor'
    """
    steps = getattr(model, "steps", None)
    if is_river(model) and isinstance(steps, dict):
        return " | ".join(str(step) for step in steps)
    return type(model).__name__


def untrained(model: Any, seed: int) -> Any:
    """Copy the settings of a model, not what it has learned.

    Random parts that were left free get the seed: a cell of a comparison is then the same in
    whichever process and order it is computed.

    Parameters
    ----------
    model : object
        Any model that scikit-learn or River can clone.
    seed : int
        Takes the place of ``random_state=None`` (River: ``seed=None``).

    Returns
    -------
    object
        A new model.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> untrained(SGDRegressor(alpha=0.5), seed=7)
    SGDRegressor(alpha=0.5, random_state=7)
    """
    if is_river(model):
        return model.clone(_seeded(model._get_params(), seed))
    copy = clone(model)
    free_states = {
        name: seed
        for name, value in copy.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    }
    return copy.set_params(**free_states) if free_states else copy


def _seeded(settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Fill in the free seeds of a River model, of the steps of a pipeline and of parts."""

    def fill(name: str, value: Any) -> Any:
        if isinstance(value, dict):  # a step
            return _seeded(value, seed)
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict):  # a part
            return value[0], _seeded(value[1], seed)
        return seed if name == "seed" and value is None else value

    return {name: fill(name, value) for name, value in settings.items()}


def describe(model: Any) -> str:
    """Spell out the class and every setting, the same in every process.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> describe(GaussianNB())
    'sklearn.naive_bayes.GaussianNB(priors=None, var_smoothing=1e-09)'
    """
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    if is_river(model):
        text = f"{kind} {' '.join(repr(model).split())}"
    else:
        settings = cast("dict[str, Any]", model.get_params(deep=True))
        text = f"{kind}({', '.join(f'{k}={v!r}' for k, v in sorted(settings.items()))})"
    return re.sub(r" at 0x[0-9a-f]+", "", text)  # an address differs from run to run
