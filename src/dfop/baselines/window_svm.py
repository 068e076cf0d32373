"""SVM-win: a support vector machine on the latest rows, refitted for every row."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_scalar

from dfop.baselines.base import Codes, Floats, StreamClassifier
from dfop.baselines.svm import Machine


class WindowSVM(StreamClassifier):
    """Predict each row by a support vector machine fitted to the `window` rows before it.

    RBF kernel exp(-||x - z||^2 / n_features). A window with one class predicts that class.

    Parameters
    ----------
    window : int, default=50
        How many labelled rows are kept.
    C : float, default=1.0
        Price of a row inside the margin.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    rows_ : ndarray of shape (<= window, n_features)
        The rows kept, oldest first.
    codes_ : ndarray of shape (<= window,)
        Their labels as indices into ``classes_``.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Souza, Silva, Gama, Batista (2015). Data stream classification guided by clustering on
    nonstationary environments and extreme verification latency. SDM.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import WindowSVM
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = (X**2).sum(axis=1) < 1.4
    >>> right = WindowSVM().predict_then_learn(X, y) == y
    >>> bool(right[100:].mean() > 0.85)
    True
    """

    def __init__(self, window: int = 50, C: float = 1.0) -> None:
        self.window = window
        self.C = C

    def _check_parameters(self) -> None:
        check_scalar(self.window, "window", Integral, min_val=1)
        check_scalar(self.C, "C", Real, min_val=0.0, include_boundaries="neither")

    def _start(self) -> None:
        self.rows_ = np.empty((0, self.n_features_in_))
        self.codes_ = np.empty(0, dtype=np.intp)

    def _machine(self, X: Floats, y: Codes) -> Machine:
        return Machine(X, y, kernel="rbf", gamma=1.0 / self.n_features_in_, C=self.C)

    def _predict(self, X: Floats) -> Codes:
        return self._machine(self.rows_, self.codes_).predict(X)

    def _learn(self, X: Floats, y: Codes) -> None:
        self.rows_ = np.concatenate([self.rows_, X[-self.window :]])[-self.window :]
        self.codes_ = np.concatenate([self.codes_, y[-self.window :]])[-self.window :]

    def _predict_then_learn(self, X: Floats, y: Codes) -> Codes:
        rows = np.concatenate([self.rows_, X])
        codes = np.concatenate([self.codes_, y])
        before = len(self.rows_)
        predicted = np.zeros(len(X), dtype=np.intp)
        for i in range(before, len(rows)):
            if i == 0:
                continue
            begin = max(i - self.window, 0)
            machine = self._machine(rows[begin:i], codes[begin:i])
            predicted[i - before] = machine.predict(rows[i : i + 1])[0]
        self._learn(X, y)
        return predicted
