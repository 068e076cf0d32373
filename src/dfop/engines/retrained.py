"""`Retrained`: an estimator that is trained anew every so many rows on the last ones."""

from __future__ import annotations

from collections import deque
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import check_array, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

Array = NDArray[np.float64]


class Retrained(BaseEstimator):
    """Any scikit-learn estimator on a stream: trained anew every so many rows on the last ones.

    What many people do today, made one more expert of the automatic learner:
    ``DFOPClassifier(experts=[Retrained(LGBMClassifier())])``; it also stands alone.

    **It keeps rows**: the last `window` of them with their labels, which no expert inside does. A
    copy of the model, a pickle for example, holds these rows.

    Parameters
    ----------
    estimator : scikit-learn estimator
        With `fit` and `predict`; it is cloned, and never changed itself. Give it a
        ``random_state`` if it has one and results shall be the same again.
    every : int, default=250
        After how many rows it is trained anew.
    window : int, default=5000
        On how many of the last rows at most. If that is fewer than `every`, the other rows are
        never learned.

    Attributes
    ----------
    estimator_ : object or None
        As it was trained last; None before `every` rows have come. A window of one class needs no
        training: that is a `DummyClassifier`.
    classes_ : ndarray
        Of a classifier: the labels that it knows now.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from dfop import DFOPRegressor, Retrained
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 2))
    >>> y = np.sign(X[:, 0] * X[:, 1])  # a checkerboard
    >>> trees = Retrained(DecisionTreeRegressor(random_state=0), every=100, window=1000)
    >>> model = DFOPRegressor(features="linear", experts=[trees])
    >>> ahead = model.predict_then_learn(X, y)
    >>> min(model.experts_, key=lambda expert: expert.error).kind
    'Retrained(DecisionTreeRegressor)'
    """

    _rows: deque[Array]
    _labels: deque[Any]
    _weights: deque[float]
    _seen: int

    def __init__(self, estimator: Any, every: int = 250, window: int = 5000) -> None:
        self.estimator = estimator
        self.every = every
        self.window = window

    def check(self) -> None:
        """Refuse parameters that make no sense."""
        if isinstance(self.estimator, type):
            name = self.estimator.__name__
            raise ValueError(f"Retrained({name}) has a class: give an instance, {name}()")
        if not (hasattr(self.estimator, "fit") and hasattr(self.estimator, "predict")):
            raise ValueError(
                f"Retrained(estimator={self.estimator!r}) needs a scikit-learn estimator, with fit "
                "and predict"
            )
        for name, most in (("every", 10**9), ("window", 10**7)):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not (whole and 1 <= value <= most):
                raise ValueError(
                    f"Retrained({name}={value!r}) must be a whole number of rows from 1 to {most}"
                )

    @property
    def rows_to_training(self) -> int:
        """How many rows must be learned until it is trained again."""
        return int(self.every) - getattr(self, "_seen", 0) % int(self.every)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything, then learn the rows in their order.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.

        Returns
        -------
        self
        """
        self.__dict__.pop("_rows", None)
        return self.partial_fit(X, y, sample_weight=sample_weight)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Keep further rows, and train where that is due.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows, oldest first: numbers. There may be more columns than before; rows kept
            without them have 0 there.
        y : array-like of shape (n,)
            Their targets.
        classes : array-like, optional
            Not needed: it is trained on the labels that it finds.
        sample_weight : array-like of shape (n,), optional
            For the estimator, if it takes one.

        Returns
        -------
        self
        """
        self.check()
        rows = check_array(X, dtype=np.float64, ensure_all_finite=False)  # gaps, for those who can
        targets = np.asarray(y)
        if targets.shape != rows.shape[:1]:
            raise ValueError(f"X has shape {rows.shape} and y {targets.shape}: not one y a row")
        weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, float)
        if weights.shape != targets.shape:
            raise ValueError(f"sample_weight has shape {weights.shape}, not {targets.shape}")
        if not hasattr(self, "_rows"):
            most = int(self.window)
            self._rows, self._labels = deque(maxlen=most), deque(maxlen=most)
            self._weights, self._seen, self.estimator_ = deque(maxlen=most), 0, None
        # Only the last of several trainings would ever be asked.
        every, seen = int(self.every), self._seen
        due = max((seen + len(rows)) // every * every - seen, 0)
        self._keep(rows[:due], targets[:due], weights[:due])
        if due:
            self.estimator_ = self._trained()
        self._keep(rows[due:], targets[due:], weights[due:])
        return self

    def _keep(self, rows: Array, targets: NDArray[Any], weights: Array) -> None:
        for row, target, weight in zip(rows, targets, weights, strict=True):
            self._rows.append(row.copy())  # a view would keep all rows of the call
            self._labels.append(target)
            self._weights.append(float(weight))
        self._seen += len(rows)

    def _trained(self) -> Any:
        """Return the estimator, trained on the rows kept."""
        y, width = np.array(list(self._labels)), max(map(len, self._rows))
        if is_classifier(self.estimator) and len(set(self._labels)) == 1:
            return self._simple()
        X = np.zeros((len(y), width))
        for t, row in enumerate(self._rows):
            X[t, : len(row)] = row
        fresh, weights = clone(self.estimator), np.array(self._weights)
        if (weights != 1.0).any() and has_fit_parameter(fresh, "sample_weight"):
            return fresh.fit(X, y, sample_weight=weights)
        return fresh.fit(X, y)

    def _simple(self) -> Any:
        """Return what to say before it is trained: the most frequent class, or the mean."""
        simple = DummyClassifier() if is_classifier(self.estimator) else DummyRegressor()
        y = np.array(list(self._labels))
        return simple.fit(np.zeros((len(y), 1)), y)

    def _asked(self) -> Any:
        check_is_fitted(self)
        return self._simple() if self.estimator_ is None else self.estimator_

    def _fitting(self, X: ArrayLike, asked: Any) -> Array:
        """Return rows as wide as those that it was trained on."""
        rows: Array = check_array(X, dtype=np.float64, ensure_all_finite=False)
        width: int = asked.n_features_in_ if hasattr(asked, "n_features_in_") else rows.shape[1]
        if isinstance(asked, DummyClassifier | DummyRegressor) or width == rows.shape[1]:
            return rows
        fitting = np.zeros((len(rows), width))
        fitting[:, : rows.shape[1]] = rows[:, :width]
        return fitting

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict rows with the last training; before the first, with the labels alone.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        asked = self._asked()
        return np.asarray(asked.predict(self._fitting(X, asked)))

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Array:
        """Give class probabilities of rows, in the order of `classes_`.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.

        Returns
        -------
        ndarray of shape (n, classes)
        """
        asked = self._asked()
        return np.asarray(asked.predict_proba(self._fitting(X, asked)))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels that it knows now."""
        return np.asarray(self._asked().classes_)

    def __sklearn_is_fitted__(self) -> bool:
        return bool(getattr(self, "_seen", 0))

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags
