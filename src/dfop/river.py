"""The learners for River: rows are dicts, features and classes may come and go.

A feature that a row does not have counts as 0, and one never seen before as having been 0 all
the time; so does a new class. The model is then exactly the one that would have had them from
the start. Text and missing values (None, NaN) are coded as in `dfop.DFOPRegressor`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .core import NamedFilter
from .dict_learner import Array, DictLearner, Row, base
from .forgetting import Forgetting, as_rule
from .labels import probabilities_of_many, probability_of_second
from .uncertainty import half_widths_at
from .validation import as_numbers, check_finite, check_length
from .watch import ClassWatch, NumberWatch

if TYPE_CHECKING:
    import pandas as pd  # needed by learn_many and predict_many only, as in River itself

__all__ = ["DFOPClassifier", "DFOPRegressor"]


class DFOPRegressor(DictLearner, base.MiniBatchRegressor):
    """Forgetting least squares for River: nothing to choose, and features may come and go.

    Text gets a weight per text; a missing value (None, NaN) the mean of the past and a weight
    for being missing. A feature that a row does not have is 0.

    Parameters
    ----------
    forgetting
        How fast the past fades. "auto" has experts of many forgettings side by side and finds
        out. A number is the paper's `mu`: a row t rows old counts `(1 - mu)^t`; or
        `dfop.period(rows)`, `dfop.half_life(rows)`. With those the model is a single exact filter.
    features
        What the experts see: "linear", "rff", "poly" or "auto"; see `dfop.DFOPRegressor`. What
        "auto" is, the number of features of the first row decides.
    lags
        How many of the last labels are features, too, named "label 1 back" and so on. Labels are
        taken as known before the next row comes.
    fit_intercept
        Whether to learn a constant as well.
    prior_variance
        Variance of the weights before any row; see `dfop.DFOPRegressor`.
    cap
        How uncertain forgetting may make a weight; see `dfop.DFOPRegressor`.

    Examples
    --------
    >>> from dfop.river import DFOPRegressor
    >>> model = DFOPRegressor(forgetting=0.05)
    >>> for t in range(400):
    ...     x = {"a": t % 7, "b": t % 5}
    ...     model.learn_one(x, 2 * x["a"] - x["b"] + 1)
    >>> round(model.predict_one({"a": 1, "b": 1}), 3)
    2.0
    >>> model.learn_one({"a": 1, "c": 1}, 4.0)  # a new feature, and one that is gone
    >>> sorted(model.weights)
    ['a', 'b', 'c']
    >>> model.learn_one({"a": None, "color": "red"}, 3.0)
    >>> sorted(model.weights)
    ['a', 'a is missing', 'b', 'c', 'color=red']
    """

    _first_outputs = 1
    _no_label = 0.0

    def _use(self, rows: NamedFilter) -> None:
        self._rows = rows
        if self.lags or self._is_bank(as_rule(self.forgetting)):
            return
        # A Python method around the compiled one would cost a third of the time at few features.
        self.learn_one = rows.learn_number  # type: ignore[method-assign]
        self.predict_one = rows.predict_number  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in ("learn_one", "predict_one")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._use(self._rows)

    def learn_one(self, x: Row, y: float) -> None:
        """Learn one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.
        y
            The target.
        """
        x = self._with_lags(x)
        rows = self._opened(x)
        ahead = rows.step_number(x, y)
        self._took(rows, np.array([[ahead]]), np.array([[float(y)]]))
        self._remember([float(y)])

    def predict_one(self, x: Row) -> float:
        """Predict one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.

        Returns
        -------
        The prediction.
        """
        return self._rows.predict_number(self._with_lags(x))

    def predict_interval_one(self, x: Row, coverage: float = 0.9) -> tuple[float, float]:
        """Give an interval that holds a given share of the targets, for one row.

        Parameters
        ----------
        x
            Features by name.
        coverage
            Share of the targets that shall be inside, above 0 and at most 0.99.

        Returns
        -------
        Lower and upper end; infinite before the first row.

        Examples
        --------
        >>> import random
        >>> from dfop.river import DFOPRegressor
        >>> rng, model = random.Random(0), DFOPRegressor()
        >>> for t in range(500):
        ...     model.learn_one({"a": t % 7}, t % 7 + rng.gauss(0.0, 1.0))
        >>> low, high = model.predict_interval_one({"a": 3}, coverage=0.9)
        >>> 0.8 < low < 1.9 and 4.1 < high < 5.2  # 3 -+ 1.64 for this noise
        True
        """
        centre, half = self.predict_one(x), math.inf
        if self._filter is not None:
            self._bank("predict_interval_one")
            assert isinstance(self._watch, NumberWatch)
            half = float(half_widths_at(self._watch.intervals.half_widths(), coverage)[0])
        return centre - half, centre + half

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn rows in their order, the same as one after the other.

        Parameters
        ----------
        X
            A row per line.
        y
            The targets.
        """
        targets = as_numbers(y, "y")
        check_length(targets, len(X))
        check_finite(targets, "y", None)
        labels = targets.reshape(len(X)).tolist()
        X = self._frame_with_lags(X, labels)
        self._learn_matrix(X, targets.reshape(len(X), 1), [])
        self._remember(labels)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Predict rows.

        Parameters
        ----------
        X
            A row per line.

        Returns
        -------
        The predictions.
        """
        import pandas as pd

        return pd.Series(self._predict_matrix(X)[:, 0], index=X.index)

    @property
    def weights(self) -> dict[Any, float]:
        """The weights now, by feature name; of text, by "name=text"."""
        return dict(zip(self._filter_names(), self._coefficients()[0][0], strict=True))

    @property
    def intercept(self) -> float:
        """The constant now."""
        return float(self._coefficients()[1][0])

    def _targets(self) -> list[tuple[str, int]]:
        return [("number", 1)]

    def _new_watch(self) -> NumberWatch:
        return NumberWatch(1)


class DFOPClassifier(DictLearner, base.MiniBatchClassifier):
    """Forgetting least squares on class labels for River; features and classes may come and go.

    One output per class, 1 for its rows and 0 for the others; the largest decides, of equal ones
    the class seen first. Text and missing values are coded as in `DFOPRegressor`.

    Parameters
    ----------
    forgetting
        How fast the past fades. "auto" has experts of many forgettings side by side and finds
        out. A number is the paper's `mu`: a row t rows old counts `(1 - mu)^t`; or
        `dfop.period(rows)`, `dfop.half_life(rows)`. With those the model is a single exact filter.
    features
        What the experts see: "linear", "rff", "poly" or "auto"; see `dfop.DFOPRegressor`. What
        "auto" is, the number of features of the first row decides.
    lags
        How many of the last labels are features, too, named "label 1 back" and so on. Labels are
        taken as known before the next row comes.
    fit_intercept
        Whether to learn a constant as well.
    prior_variance
        Variance of the weights before any row; see `dfop.DFOPRegressor`.
    cap
        How uncertain forgetting may make a weight; see `dfop.DFOPRegressor`.

    Examples
    --------
    >>> from dfop.river import DFOPClassifier
    >>> model = DFOPClassifier(forgetting=0.05)
    >>> for t in range(200):
    ...     model.learn_one({"a": t % 5 - 2}, "up" if t % 5 > 2 else "down")
    >>> model.predict_one({"a": 2})
    'up'
    """

    _first_outputs = 0
    _no_label = None

    def __init__(
        self,
        forgetting: str | float | Forgetting = "auto",
        *,
        features: str = "auto",
        lags: int = 0,
        fit_intercept: bool = True,
        prior_variance: float | None = None,
        cap: float | None = 1e6,
    ) -> None:
        super().__init__(
            forgetting,
            features=features,
            lags=lags,
            fit_intercept=fit_intercept,
            prior_variance=prior_variance,
            cap=cap,
        )
        self._classes: dict[Any, int] = {}

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Row, y: Any) -> None:
        """Learn one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.
        y
            The label; a new one opens a class.
        """
        _check_label(y)
        k = self._classes.get(y, len(self._classes))
        x = self._with_lags(x)
        rows = self._opened(x)
        ahead = np.array([rows.step_class(x, k)])
        self._classes[y] = k
        self._took(rows, ahead, np.eye(ahead.shape[1])[k : k + 1])
        self._remember([_as_feature(k)])

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """Predict the label of one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.

        Returns
        -------
        The label; None before any was seen.
        """
        outputs = self._rows.predict_outputs(self._with_lags(x))
        best = max(range(len(outputs)), key=outputs.__getitem__, default=None)
        return None if best is None else list(self._classes)[best]

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """Predict the probability of each label for one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.

        Returns
        -------
        Probabilities by label; empty before any was seen.
        """
        p = self._probabilities(np.array([self._rows.predict_outputs(self._with_lags(x))]))[0]
        return dict(zip(self._classes, p.tolist(), strict=True))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn rows in their order, the same as one after the other.

        Parameters
        ----------
        X
            A row per line.
        y
            The labels.
        """
        check_length(np.asarray(y), len(X))
        for row, label in enumerate(y):
            _check_label(label, f" at row {row}")
        classes = dict(self._classes)
        at = [classes.setdefault(label, len(classes)) for label in y]
        targets = np.zeros((len(X), len(classes)))
        targets[np.arange(len(X)), at] = 1.0
        opens = [at.index(k) for k in range(len(self._classes), len(classes))]
        labels = [_as_feature(k) for k in at]
        self._learn_matrix(self._frame_with_lags(X, labels), targets, opens)
        self._classes = classes
        self._remember(labels)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Predict the probability of each label for rows.

        Parameters
        ----------
        X
            A row per line.

        Returns
        -------
        A column per label.
        """
        import pandas as pd

        p = self._probabilities(self._predict_matrix(X))
        return pd.DataFrame(p, index=X.index, columns=list(self._classes))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Predict the labels of rows.

        Parameters
        ----------
        X
            A row per line.

        Returns
        -------
        The labels; empty before any was seen.
        """
        import pandas as pd

        if not self._classes:
            return pd.Series(dtype=object)
        labels = list(self._classes)
        best = np.argmax(self._predict_matrix(X), axis=1)
        return pd.Series([labels[k] for k in best], index=X.index)

    def _targets(self) -> list[tuple[str, int]]:
        return [("one_hot", len(self._classes))]

    def _new_watch(self) -> ClassWatch:
        return ClassWatch(len(self._classes))

    def _probabilities(self, outputs: Array) -> Array:
        if isinstance(self._watch, ClassWatch):
            return self._watch.probabilities(outputs)
        if outputs.shape[1] < 2:
            return np.ones(outputs.shape)
        if outputs.shape[1] == 2:
            p = probability_of_second(outputs[:, 1:] - outputs[:, :1])
            return np.hstack([1.0 - p, p])
        return probabilities_of_many(outputs)


def _as_feature(k: int) -> str:
    """Return a label as a feature: by the number of its class, whatever type it has."""
    return f"class {k}"


def _check_label(label: Any, where: str = "") -> None:
    if label is None or label != label:  # NaN is the one value unlike itself
        raise ValueError(f"the label is {label!r}{where}: drop rows without a label")
