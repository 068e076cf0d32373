"""The learners for River: rows are dicts, features and classes may come and go.

A feature that a row does not have counts as 0, and one never seen before as having been 0 all
the time; so does a new class. The model is then exactly the one that would have had them from
the start. Text and missing values (None, NaN) are coded as in `dfop.DFOPRegressor`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

try:
    from river import base
except ImportError as error:
    raise ImportError("dfop.river needs River: pip install 'dfop[river]'") from error

from .batch import read_frame
from .coding import RowCoder, learn_coded
from .core import Filter, NamedFilter
from .forgetting import ByRows, Forgetting, as_rule
from .labels import probabilities_of_many, probability_of_second
from .validation import as_numbers, check_finite, check_length, check_prior

if TYPE_CHECKING:
    import pandas as pd  # needed by learn_many and predict_many only, as in River itself

__all__ = ["DFOPClassifier", "DFOPRegressor"]

Row = dict[Any, Any]


class _DictLearner(base.Estimator):
    """A filter fed with dicts."""

    _first_outputs: int

    def __init__(
        self,
        forgetting: float | Forgetting = 0.001,
        fit_intercept: bool = True,
        prior_variance: float = 100.0,
        cap: float | None = 1e6,
    ) -> None:
        rule = as_rule(forgetting)
        if not isinstance(rule, ByRows):
            raise ValueError(
                "River's learn_one has no time: choose a forgetting by rows, such as "
                "forgetting=0.001 or half_life(700); dfop.DFOPRegressor forgets by the clock"
            )
        check_prior(prior_variance, cap)
        self.forgetting = forgetting
        self.fit_intercept = fit_intercept
        self.prior_variance = prior_variance
        self.cap = cap
        filter_ = Filter(
            0,
            self._first_outputs,
            bool(fit_intercept),
            float(prior_variance),
            math.inf if cap is None else float(cap),
        )
        self._use(NamedFilter(filter_, RowCoder(), 1.0 - rule.mu))

    def _use(self, rows: NamedFilter) -> None:
        self._rows = rows

    def _learn_matrix(self, X: pd.DataFrame, targets: NDArray[np.float64]) -> None:
        batch, rows = read_frame(X), self._rows
        with rows.coder.lock:
            coded = rows.coder.code(batch)
            rows.coder.take(coded)
            rows.add_outputs(targets.shape[1] - rows.filter.outputs)
            lam, outputs = np.array([rows.discount]), np.empty(targets.shape)
            learn_coded(rows.filter, coded, targets, (lam, np.ones(1)), outputs)

    def _predict_matrix(self, X: pd.DataFrame) -> NDArray[np.float64]:
        batch, rows = read_frame(X), self._rows
        with rows.coder.lock:
            coded = rows.coder.code_to_predict(batch)
            outputs = np.empty((len(coded), rows.filter.outputs))
            rows.filter.predict(coded, outputs)
        return outputs


class DFOPRegressor(_DictLearner, base.MiniBatchRegressor):
    """Forgetting least squares for River: exact, and features may come and go.

    Text gets a weight per text; a missing value (None, NaN) the mean of the past and a weight
    for being missing. A feature that a row does not have is 0.

    Parameters
    ----------
    forgetting
        The paper's `mu`: a row t rows old counts `(1 - mu)^t`; or `dfop.period(rows)`,
        `dfop.half_life(rows)`.
    fit_intercept
        Whether to learn a constant as well.
    prior_variance
        Variance of the weights before any row.
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

    def _use(self, rows: NamedFilter) -> None:
        self._rows = rows
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
        self._rows.learn_number(x, y)

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
        return self._rows.predict_number(x)

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
        self._learn_matrix(X, targets.reshape(len(X), 1))

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
        coder = self._rows.coder
        names = coder.labels(coder.columns)
        return dict(zip(names, self._rows.filter.coefficients()[0][0], strict=True))

    @property
    def intercept(self) -> float:
        """The constant now."""
        return float(self._rows.filter.coefficients()[1][0])


class DFOPClassifier(_DictLearner, base.MiniBatchClassifier):
    """Forgetting least squares on class labels for River; features and classes may come and go.

    One output per class, 1 for its rows and 0 for the others; the largest decides, of equal ones
    the class seen first. Text and missing values are coded as in `DFOPRegressor`.

    Parameters
    ----------
    forgetting
        The paper's `mu`: a row t rows old counts `(1 - mu)^t`; or `dfop.period(rows)`,
        `dfop.half_life(rows)`.
    fit_intercept
        Whether to learn a constant as well.
    prior_variance
        Variance of the weights before any row.
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

    def __init__(
        self,
        forgetting: float | Forgetting = 0.001,
        fit_intercept: bool = True,
        prior_variance: float = 100.0,
        cap: float | None = 1e6,
    ) -> None:
        super().__init__(forgetting, fit_intercept, prior_variance, cap)
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
        self._rows.learn_class(x, k)
        self._classes[y] = k

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
        outputs = self._rows.predict_outputs(x)
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
        p = self._probabilities(np.array([self._rows.predict_outputs(x)]))[0]
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
        self._learn_matrix(X, targets)
        self._classes = classes

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

    def _probabilities(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        if outputs.shape[1] < 2:
            return np.ones(outputs.shape)
        if outputs.shape[1] == 2:
            p = probability_of_second(outputs[:, 1:] - outputs[:, :1])
            return np.hstack([1.0 - p, p])
        return probabilities_of_many(outputs)


def _check_label(label: Any, where: str = "") -> None:
    if label is None or label != label:  # NaN is the one value unlike itself
        raise ValueError(f"the label is {label!r}{where}: drop rows without a label")
