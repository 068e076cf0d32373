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
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from dfop.core import first_unusable

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class StreamEstimator(BaseEstimator):
    """Input checks common to classifiers and regressors."""

    @property
    def _started(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _check_parameters(self) -> None:
        """Raise ValueError or TypeError for a constructor parameter out of range."""

    @abstractmethod
    def _start(self) -> None: ...

    @abstractmethod
    def _predict(self, X: Floats) -> NDArray[Any]: ...

    @abstractmethod
    def _predict_then_learn(self, X: Floats, y: NDArray[Any]) -> NDArray[Any]: ...

    def _learn(self, X: Floats, y: NDArray[Any]) -> None:
        self._predict_then_learn(X, y)

    def _check_rows(self, X: ArrayLike, *, first: bool) -> Floats:
        rows: Floats = check_array(
            X, dtype=np.float64, order="C", ensure_all_finite=False, input_name="X", estimator=self
        )
        if not first:  # compares names and number of features, writes nothing
            validate_data(self, X, reset=False, skip_check_array=True)
        _refuse_unusable(rows, "X")
        return rows

    def _check_fitted(self) -> None:
        if not self._started:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has learned no row. "
                "Call fit, partial_fit or predict_then_learn first."
            )

    def _reset(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)


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
        rows, codes, classes = self._check(X, y, None, first=True)
        self._reset()
        self._begin(X, classes)
        self._learn(rows, codes)
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
        first = not self._started
        rows, codes, known = self._check(X, y, classes, first=first)
        if first:
            self._begin(X, known)
        self._learn(rows, codes)
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
        self._check_fitted()
        labels: NDArray[Any] = self.classes_[self._predict(self._check_rows(X, first=False))]
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
        first = not self._started
        rows, codes, known = self._check(X, y, classes, first=first)
        if first:
            self._begin(X, known)
        labels: NDArray[Any] = known[self._predict_then_learn(rows, codes)]
        return labels

    def _begin(self, X: ArrayLike, classes: NDArray[Any]) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        self.classes_ = classes
        self._start()

    def _check(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, *, first: bool
    ) -> tuple[Floats, Codes, NDArray[Any]]:
        self._check_parameters()
        rows = self._check_rows(X, first=first)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        labels = column_or_1d(y, warn=True)
        check_consistent_length(rows, labels)
        if labels.dtype.kind == "f":
            _refuse_unusable(labels.astype(np.float64), "y")
        check_classification_targets(labels)
        if not first:
            known = self.classes_
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
                raise ValueError(f"classes={classes} differs from the first call's {known}.")
        else:
            known = np.unique(labels if classes is None else np.asarray(classes))
        return rows, _encode(labels, known), known


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
        rows, targets = self._check(X, y, first=True)
        self._reset()
        self._begin(X)
        self._learn(rows, targets)
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
        first = not self._started
        rows, targets = self._check(X, y, first=first)
        if first:
            self._begin(X)
        self._learn(rows, targets)
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
        self._check_fitted()
        return self._predict(self._check_rows(X, first=False))

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
        first = not self._started
        rows, targets = self._check(X, y, first=first)
        if first:
            self._begin(X)
        return self._predict_then_learn(rows, targets)

    def _begin(self, X: ArrayLike) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        self._start()

    def _check(self, X: ArrayLike, y: ArrayLike, *, first: bool) -> tuple[Floats, Floats]:
        self._check_parameters()
        rows = self._check_rows(X, first=first)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        targets = column_or_1d(y, dtype=np.float64, warn=True)
        check_consistent_length(rows, targets)
        _refuse_unusable(targets, "y")
        return rows, targets


def _refuse_unusable(values: NDArray[Any], name: str) -> None:
    """Name the first place of `values` that holds NaN, infinity or more than 2**500.

    The bound leaves room for squares.
    """
    place = first_unusable(values.ravel())
    if place == values.size:
        return
    value = values.flat[place]
    row, *column = np.unravel_index(place, values.shape)
    where = f"row {row}" + "".join(f", column {c}" for c in column)
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else "a value too large"
    raise ValueError(f"Input {name} contains {what} at {where}. Remove or impute such rows.")


def _encode(labels: NDArray[Any], classes: NDArray[Any]) -> Codes:
    codes: Codes = np.searchsorted(classes, labels).astype(np.intp)
    codes[codes == len(classes)] = 0
    unknown = np.flatnonzero(classes[codes] != labels)
    if len(unknown):
        row = unknown[0]
        raise ValueError(
            f"y contains the unknown class {labels[row]!r} at row {row}; the classes are "
            f"{classes}. Pass every label that may come as classes= with the first rows."
        )
    return codes
