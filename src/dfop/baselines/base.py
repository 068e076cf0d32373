"""What every baseline shares: the checks of its input and the order predict, then learn.

A subclass supplies three methods that see clean arrays only (rows of finite floats; classes as
codes 0..K-1 into ``classes_``):

``_start()``
    an empty state, once ``n_features_in_`` and ``classes_`` are known;
``_predict(X)``
    predictions from the state;
``_predict_then_learn(X, y)``
    for each row in turn the prediction, made before that row's label enters the state.

All checks come before the first write, so a refused batch leaves the model as it was.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import column_or_1d

from dfop.rows.cells import shown
from dfop.rows.labels import class_labels, found_classes, target_labels
from dfop.rows.numbers_only import finite_matrix
from dfop.rows.target_cells import target_numbers

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class StreamEstimator(BaseEstimator):
    """Input checks common to classifiers and regressors."""

    def _check_parameters(self) -> None:
        """Raise ValueError or TypeError for a constructor parameter out of range."""

    @abstractmethod
    def _check_targets(self, y: Any, n: int, classes: Any, *, first: bool) -> NDArray[Any]:
        """Return checked targets; on the first ones, take over their kind."""

    @abstractmethod
    def _start(self) -> None: ...

    @abstractmethod
    def _predict(self, X: Floats) -> NDArray[Any]: ...

    @abstractmethod
    def _predict_then_learn(self, X: Floats, y: NDArray[Any]) -> NDArray[Any]: ...

    def _learn(self, X: Floats, y: NDArray[Any]) -> None:
        self._predict_then_learn(X, y)

    def _ready(
        self, X: Any, y: Any, classes: Any = None, *, restart: bool = False
    ) -> tuple[Floats, NDArray[Any]]:
        """Check everything; for the first rows also make an empty state."""
        self._check_parameters()
        first = restart or not self._started
        # What the first rows tell about themselves goes to a blank model until all is checked.
        model = type(self)(**self.get_params(deep=False)) if first else self
        rows = finite_matrix(model, X, first=first)
        targets = model._check_targets(y, len(rows), classes, first=first)
        if first:
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
            self.__dict__.update(model.__dict__)
            self._start()
        return rows, targets

    def _ready_to_predict(self, X: Any) -> Floats:
        if not self._started:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has learned no row. "
                "Call fit, partial_fit or predict_then_learn first."
            )
        return finite_matrix(self, X, first=False)

    @property
    def _started(self) -> bool:
        return hasattr(self, "n_features_in_")


class StreamClassifier(ClassifierMixin, StreamEstimator):
    """A classifier that reads a stream: fit, partial_fit, predict, predict_then_learn.

    Labels of any kind are turned into codes. The classes are those given as ``classes`` with the
    first rows, else those found among the first rows; a later label outside them is refused.
    Before any row has been learned, ``predict_then_learn`` predicts the first class.
    """

    classes_: NDArray[Any]

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything, then learn the rows in their order.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            Labels of any type.

        Returns
        -------
        self
        """
        self._learn(*self._ready(X, y, restart=True))
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn further rows in their order.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            Labels.
        classes : array-like, optional
            All labels that may come. Read at the first call; default: the labels in `y`.

        Returns
        -------
        self
        """
        self._learn(*self._ready(X, y, classes))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the label of each row from what has been learned so far.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Finite numbers.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        rows = self._ready_to_predict(X)
        labels: NDArray[Any] = self.classes_[self._predict(rows)]
        return labels

    def predict_then_learn(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Predict each row before its label is seen, then learn it; one pass.

        The result is the same for any division of the rows into calls.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            Labels.
        classes : array-like, optional
            All labels that may come. Read at the first call; default: the labels in `y`.

        Returns
        -------
        ndarray of shape (n_rows,)
            One-step-ahead predictions.
        """
        rows, codes = self._ready(X, y, classes)
        labels: NDArray[Any] = self.classes_[self._predict_then_learn(rows, codes)]
        return labels

    def _check_targets(self, y: Any, n: int, classes: Any, *, first: bool) -> Codes:
        labels = column_or_1d(target_labels(y, n), warn=True)
        if first:
            self.classes_ = found_classes(labels) if classes is None else class_labels(classes)
        elif classes is not None and not np.array_equal(class_labels(classes), self.classes_):
            raise ValueError(f"classes={classes} differs from the first call's {self.classes_}")
        return _encode(labels, self.classes_)


class StreamRegressor(RegressorMixin, StreamEstimator):
    """A regressor that reads a stream: fit, partial_fit, predict, predict_then_learn.

    Before any row has been learned, ``predict_then_learn`` predicts 0.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything, then learn the rows in their order.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            Finite targets.

        Returns
        -------
        self
        """
        self._learn(*self._ready(X, y, restart=True))
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn further rows in their order.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            Finite targets.

        Returns
        -------
        self
        """
        self._learn(*self._ready(X, y))
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the target of each row from what has been learned so far.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Finite numbers.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        return self._predict(self._ready_to_predict(X))

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike) -> Floats:
        """Predict each row before its target is seen, then learn it; one pass.

        The result is the same for any division of the rows into calls.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            Finite targets.

        Returns
        -------
        ndarray of shape (n_rows,)
            One-step-ahead predictions.
        """
        return self._predict_then_learn(*self._ready(X, y))

    def _check_targets(self, y: Any, n: int, classes: Any, *, first: bool) -> Floats:
        targets: Floats = column_or_1d(target_numbers(y, n), warn=True)
        return targets


def _encode(labels: NDArray[Any], classes: NDArray[Any]) -> Codes:
    codes: Codes = np.searchsorted(classes, labels).astype(np.intp)
    codes[codes == len(classes)] = 0
    unknown = np.flatnonzero(classes[codes] != labels)
    if len(unknown):
        row = unknown[0]
        raise ValueError(
            f"y has the unknown class {shown(labels[row])} at row {row}; the classes are "
            f"{classes}. Pass every label that may come as classes= with the first rows"
        )
    return codes
