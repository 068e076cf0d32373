"""Your own experts: models of other libraries that a bank asks before each row and then teaches.

What all have in common: a copy is taught, never the model that was given. An expert is not asked
before it was taught. Whoever raises, or answers something else than a finite number, probabilities
or a class, has no answer to the row (NaN), and goes on with the next one; the first time is noted
for a warning. Whether a row has an answer does not depend on the rows that were asked with it.
"""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from dfop.rows.cells import shown

from .foreign import Task, is_river, name_of, task_of
from .retrained import Retrained

Array = NDArray[np.float64]
Note = Callable[[str], None]
"""Takes down what was wrong with an answer."""

_ROUNDING = 1e-6
"""By how much a probability may lie outside [0, 1]: classifiers with floats of 32 bits do that."""


class UnusableError(Exception):
    """Says what is wrong with an answer of another shape or kind than it must have."""


class Asked(NamedTuple):
    """Rows about which an expert is asked."""

    X: Array
    names: Sequence[str]
    """Of the columns; only River models need them."""
    labels: Sequence[Any] | None
    """The classes met so far; None where numbers are predicted."""
    classes: Sequence[Any] = ()
    """All that are known, those named beforehand and not met yet, too."""

    def some(self, rows: Any) -> Asked:
        """Return some of them."""
        return self._replace(X=self.X[rows])

    @property
    def nothing(self) -> Array:
        """What an expert says that has no answer."""
        outputs = 1 if self.labels is None else len(self.labels)
        return np.full((len(self.X), outputs), np.nan)


class Taught(NamedTuple):
    """What an expert is told about rows after it was asked."""

    y: Sequence[Any]
    learned: NDArray[np.bool_]
    """Which rows are; the others were predicted only."""
    weights: Array
    classes: NDArray[Any] | None = None
    """All labels there will be, where that is known."""
    strict: bool = False
    """Whether it is an error if it fails the first time that it is taught."""


class OwnExpert(ABC):
    """A model of the user's.

    Parameters
    ----------
    given : object
        The model; it is copied.
    name : str
        For tables and warnings.
    """

    def __init__(self, given: Any, name: str) -> None:
        self.model = self._copied(given)
        self.name = name
        self.taught = False
        self.complaint: str | None = None
        """What went wrong first."""

    @staticmethod
    def _copied(given: Any) -> Any:
        return clone(given, safe=False)

    @property
    def ready(self) -> bool:
        """Whether it can be asked."""
        return self.taught

    @property
    def steady(self) -> int:
        """How many rows can be learned until its answers change: those may be asked together."""
        return 1

    def answers(self, asked: Asked) -> Array:
        """Return what it says of rows as it is now: a number, or the probability of each label."""
        n = len(asked.X)
        if not (n and self.ready):
            return asked.nothing
        try:
            return self._ask(asked)
        except Exception as error:
            if n > 1:  # the others may have an answer: which does not depend on who is asked beside
                halves = (asked.some(slice(n // 2)), asked.some(slice(n // 2, n)))
                return np.concatenate([self.answers(half) for half in halves])
            raised = not isinstance(error, UnusableError)
            self._note(f"it raised {_shown(error)} when asked" if raised else str(error))
            return asked.nothing

    def answers_alone(self, asked: Asked) -> Array:
        """Return the same, so that no bit of an answer depends on the rows beside it."""
        if self.steady > 1 or len(asked.X) <= 1:
            return self.answers(asked)
        rows = (self.answers(asked.some(slice(t, t + 1))) for t in range(len(asked.X)))
        return np.concatenate(list(rows))

    def ask_then_teach(self, asked: Asked, taught: Taught) -> Array:
        """Return what it says of each row before it is taught the row."""
        n, start = len(asked.X), 0
        said = asked.nothing
        while start < n:
            stop = min(start + self.steady, n)
            part = slice(start, stop)
            said[part] = self.answers(asked.some(part))
            rows = start + np.flatnonzero(taught.learned[part])
            if len(rows):
                self._teach_noted(asked.some(rows), rows, taught)
            start = stop
        return said

    def _teach_noted(self, asked: Asked, rows: NDArray[np.int64], taught: Taught) -> None:
        y = [taught.y[t] for t in rows.tolist()]
        try:
            self._teach(asked, y, taught.weights[rows], taught.classes)
            self.taught = True
        except Exception as error:
            if taught.strict and not self.taught:
                raise ValueError(
                    f"the expert {self.name} cannot learn the first rows: {_shown(error)}. Mend "
                    "it, or leave it out of experts="
                ) from error
            self._note(f"it raised {_shown(error)} when taught")

    def _note(self, what: str) -> None:
        self.complaint = self.complaint or what

    @abstractmethod
    def _ask(self, asked: Asked) -> Array:
        """Ask the model; rows whose values cannot be used are NaN and noted."""

    @abstractmethod
    def _teach(self, asked: Asked, y: list[Any], weights: Array, classes: Any) -> None:
        """Teach the model rows, one after the other."""


class OwnEstimator(OwnExpert):
    """A scikit-learn estimator with `partial_fit`, taught row by row.

    Such estimators have a fixed number of columns: those that the first row had.
    """

    def __init__(self, given: Any, name: str) -> None:
        super().__init__(given, name)
        self.width = 0
        self.weighted = takes(self.model.partial_fit, "sample_weight")

    def _ask(self, asked: Asked) -> Array:
        known = asked._replace(X=asked.X[:, : self.width])
        return ask_estimator(self.model, known, self._note)

    def _teach(self, asked: Asked, y: list[Any], weights: Array, classes: Any) -> None:
        self.width = self.width or asked.X.shape[1]
        targets = np.array(y, dtype=np.float64 if classes is None else classes.dtype)
        for t in range(len(y)):
            given: dict[str, Any] = {}
            if classes is not None and not self.taught:
                given["classes"] = classes
            if self.weighted and weights[t] != 1.0:
                given["sample_weight"] = weights[t : t + 1]
            self.model.partial_fit(asked.X[t : t + 1, : self.width], targets[t : t + 1], **given)


class OwnRetrained(OwnExpert):
    """An estimator that is trained anew now and then, and stands still in between."""

    model: Retrained

    @property
    def ready(self) -> bool:
        """Whether it was trained."""
        return self.taught and self.model.estimator_ is not None

    @property
    def steady(self) -> int:
        """How many rows can be learned until its answers change."""
        return self.model.rows_to_training

    def _ask(self, asked: Asked) -> Array:
        return ask_estimator(self.model, asked, self._note)

    def _teach(self, asked: Asked, y: list[Any], weights: Array, classes: Any) -> None:
        self.model.partial_fit(asked.X, y, sample_weight=weights)


class OwnRiver(OwnExpert):
    """A River model: rows are dicts of the coded columns, which may grow."""

    def __init__(self, given: Any, name: str) -> None:
        super().__init__(given, name)
        self.weighted = takes(self.model.learn_one, "w")

    @staticmethod
    def _copied(given: Any) -> Any:
        return copy.deepcopy(given)

    def _ask(self, asked: Asked) -> Array:
        rows = [dict(zip(asked.names, row, strict=False)) for row in asked.X.tolist()]
        if asked.labels is None:
            return one_number_each([self.model.predict_one(row) for row in rows], asked, self._note)
        try:
            told = [self.model.predict_proba_one(row) for row in rows]
        except NotImplementedError:
            labels = [self.model.predict_one(row) for row in rows]
            return one_hot(labels, asked, self._note)
        for p in told:
            if not (isinstance(p, Mapping) and p):
                raise UnusableError(f"it answered {shown(p)}, which is no dict of probabilities")
        classes = list(dict.fromkeys([*asked.labels, *(label for p in told for label in p)]))
        by_class = [[p.get(label, 0.0) for label in classes] for p in told]
        return spread(by_class, classes, asked, self._note)

    def _teach(self, asked: Asked, y: list[Any], weights: Array, classes: Any) -> None:
        for row, target, weight in zip(asked.X.tolist(), y, weights.tolist(), strict=True):
            given = {"w": weight} if self.weighted and weight != 1.0 else {}
            self.model.learn_one(dict(zip(asked.names, row, strict=False)), target, **given)


def own_experts(given: Any, *, labels: bool) -> list[OwnExpert]:
    """Check models that shall be experts, and copy them.

    Parameters
    ----------
    given : list or tuple
        The models.
    labels : bool
        Whether labels are predicted, not numbers.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> own_experts([SGDRegressor], labels=False)
    Traceback (most recent call last):
    ...
    ValueError: experts[0] is the class SGDRegressor: give an instance, SGDRegressor()
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ValueError(f"experts={given!r} is no list: give your models as [model, ...]")
    task: Task = "classification" if labels else "regression"
    return [_own_expert(f"experts[{j}]", one, task) for j, one in enumerate(given)]


def _own_expert(where: str, given: Any, task: Task) -> OwnExpert:
    if isinstance(given, type):
        name = given.__name__
        raise ValueError(f"{where} is the class {name}: give an instance, {name}()")
    if isinstance(given, Retrained):
        given.check()
    known = task_of(given)
    if known is None and says_its_kind(given):
        raise ValueError(
            f"{where}, {name_of(given)}, is neither a classifier nor a regressor: give one that "
            "predicts labels or numbers"
        )
    if known is not None and known != task:
        kind = "DFOPClassifier" if task == "classification" else "DFOPRegressor"
        raise ValueError(
            f"{where}, {name_of(given)}, is for {known}, and {kind} needs {task}: give the twin of "
            "it that predicts " + ("labels" if task == "classification" else "numbers")
        )
    if isinstance(given, Retrained):
        return OwnRetrained(given, f"Retrained({name_of(given.estimator)})")
    if is_river(given) and hasattr(given, "predict_one"):
        return OwnRiver(given, name_of(given))
    if not (hasattr(given, "partial_fit") and hasattr(given, "predict")):
        raise ValueError(
            f"{where}, {given!r}, cannot be taught row by row: give a scikit-learn estimator with "
            "partial_fit and predict, a River model, or dfop.Retrained(estimator), which trains "
            "any estimator anew every so many rows"
        )
    return OwnEstimator(given, name_of(given))


def says_its_kind(model: Any) -> bool:
    """Whether a model tells what kind it is: a clusterer, for example."""
    tagged = hasattr(model, "__sklearn_tags__")
    return is_river(model) or (tagged and get_tags(model).estimator_type is not None)


def ask_estimator(model: Any, asked: Asked, note: Note) -> Array:
    """Ask a scikit-learn estimator about rows."""
    if asked.labels is None:
        return one_number_each(model.predict(asked.X), asked, note)
    if hasattr(model, "predict_proba"):
        classes = np.asarray(model.classes_).tolist()
        return spread(model.predict_proba(asked.X), classes, asked, note)
    return one_hot(model.predict(asked.X), asked, note)


def takes(method: Any, name: str) -> bool:
    """Whether a method takes a parameter of this name."""
    try:
        return name in inspect.signature(method).parameters
    except (TypeError, ValueError):  # compiled without a signature
        return False


def one_number_each(answer: Any, asked: Asked, note: Note) -> Array:
    """Return the number predicted of each row; NaN, noted, where it is not finite.

    Examples
    --------
    >>> asked = Asked(np.zeros((2, 1)), (), None)
    >>> one_number_each([1.5, np.inf], asked, print).tolist()
    it answered inf
    [[1.5], [nan]]
    """
    n = len(asked.X)
    said = _numbers(_one_cell_each(np.asarray(answer), n), (n, 1))
    return _without(said, ~np.isfinite(said[:, 0]), note, lambda t: f"it answered {said[t, 0]}")


def spread(answer: Any, classes: Sequence[Any], asked: Asked, note: Note) -> Array:
    """Bring probabilities by `classes` into the order of the labels met; NaN where they are none.

    Examples
    --------
    >>> asked = Asked(np.zeros((2, 1)), (), ["b", "c", "a"], ["a", "b", "c"])
    >>> spread([[0.2, 0.8], [-7.0, 8.0]], ["a", "b"], asked, print).tolist()
    it answered the probabilities [-7.0, 8.0], which are not all from 0 to 1
    [[0.8, 0.0, 0.2], [nan, nan, nan]]
    """
    assert asked.labels is not None
    given = _numbers(np.asarray(answer), (len(asked.X), len(classes)))
    possible = (given >= -_ROUNDING) & (given <= 1.0 + _ROUNDING)  # NaN is neither
    at = {label: k for k, label in enumerate(classes)}
    out = np.zeros((len(given), len(asked.labels)))
    for k, label in enumerate(asked.labels):
        if label in at:
            out[:, k] = given[:, at[label]]
    known = set(asked.classes)
    strange = (given != 0.0) & np.array([label not in known for label in classes], bool)

    def what(t: int) -> str:
        if not possible[t].all():
            return (
                f"it answered the probabilities {shown(given[t].tolist())}, which are not all from "
                "0 to 1"
            )
        return _no_class(classes[int(np.argmax(strange[t]))])

    return _without(out, ~possible.all(axis=1) | strange.any(axis=1), note, what)


def one_hot(answer: Any, asked: Asked, note: Note) -> Array:
    """Give the predicted label all of the probability; a class that was not met yet is none.

    Examples
    --------
    >>> asked = Asked(np.zeros((3, 1)), (), ["a", "b"], ["a", "b", "c"])
    >>> one_hot(["b", "c", 7], asked, print).tolist()
    it answered 7, which is none of the classes
    [[0.0, 1.0], [0.0, 0.0], [nan, nan]]
    """
    assert asked.labels is not None
    cells = np.asarray(answer, dtype=object if isinstance(answer, list) else None)
    predicted = _one_cell_each(cells, len(asked.X))[:, 0].tolist()
    at = {label: k for k, label in enumerate(asked.labels)}
    out = np.zeros((len(predicted), len(at)))
    strange = np.zeros(len(predicted), bool)
    for t, label in enumerate(predicted):
        k = at.get(label) if isinstance(label, Hashable) else None
        if k is not None:
            out[t, k] = 1.0
        else:
            strange[t] = not isinstance(label, Hashable) or label not in asked.classes
    return _without(out, strange, note, lambda t: _no_class(predicted[t]))


def _one_cell_each(given: NDArray[Any], n: int) -> NDArray[Any]:
    if given.shape not in ((n,), (n, 1)):
        raise UnusableError(f"it answered with the shape {given.shape}, not {(n,)}")
    return given.reshape(n, 1)


def _numbers(given: NDArray[Any], shape: tuple[int, int]) -> Array:
    """Return an answer as numbers, what text, dates and complex numbers are not."""
    if given.shape != shape:
        raise UnusableError(f"it answered with the shape {given.shape}, not {shape}")
    if given.dtype.kind not in "biuf":
        for cell in given.flat:
            if not isinstance(cell, Real) or isinstance(cell, np.timedelta64):
                raise UnusableError(f"it answered {shown(cell)}, which is no number")
    return given.astype(np.float64)


def _without(
    said: Array, unusable: NDArray[np.bool_], note: Note, what: Callable[[int], str]
) -> Array:
    """Return answers without those that cannot be used; note what is wrong with the first."""
    if unusable.any():
        note(what(int(np.argmax(unusable))))
        said[unusable] = np.nan
    return said


def _no_class(label: Any) -> str:
    return f"it answered {shown(label)}, which is none of the classes"


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"
