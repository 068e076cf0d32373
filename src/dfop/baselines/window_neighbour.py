"""1NN-win: the nearest neighbour among the latest rows."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.utils import check_scalar

from dfop.baselines.base import Codes, Floats, StreamClassifier

# Rows x window cells handled at once: the distances then stay in a core's cache.
_CELLS = 50_000


class WindowNeighbour(StreamClassifier):
    """Predict the label of the Euclidean nearest neighbour among the last `window` rows.

    Of several neighbours at the same distance the most recent one decides. The distance is the
    sum of squared differences itself, not its expansion into products, so that equal rows are
    at distance 0 exactly.

    Parameters
    ----------
    window : int, default=100
        How many labelled rows are kept.

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
    >>> from dfop.baselines import WindowNeighbour
    >>> model = WindowNeighbour(window=2)
    >>> X = [[0.0], [5.0], [0.1], [4.0]]
    >>> model.predict_then_learn(X, ["a", "b", "a", "b"])
    array(['a', 'a', 'a', 'b'], dtype='<U1')
    """

    def __init__(self, window: int = 100) -> None:
        self.window = window

    def _check_parameters(self) -> None:
        check_scalar(self.window, "window", Integral, min_val=1)

    def _start(self) -> None:
        self.rows_ = np.empty((0, self.n_features_in_))
        self.codes_ = np.empty(0, dtype=np.intp)

    def _predict(self, X: Floats) -> Codes:
        nearest = np.empty(len(X), dtype=np.intp)
        latest_first = self.rows_[::-1]
        step = max(_CELLS // self.window, 1)
        for begin in range(0, len(X), step):
            part = X[begin : begin + step]
            distance = np.zeros((len(part), len(latest_first)))
            for j in range(self.n_features_in_):
                distance += np.square(part[:, j, None] - latest_first[:, j])
            nearest[begin : begin + step] = distance.argmin(axis=1)
        return self.codes_[::-1][nearest]

    def _learn(self, X: Floats, y: Codes) -> None:
        self.rows_ = np.concatenate([self.rows_, X[-self.window :]])[-self.window :]
        self.codes_ = np.concatenate([self.codes_, y[-self.window :]])[-self.window :]

    def _predict_then_learn(self, X: Floats, y: Codes) -> Codes:
        predicted = np.zeros(len(X), dtype=np.intp)
        step = max(_CELLS // self.window, 1)
        # Until the window is full its length grows with each row: one row at a time.
        begin = 0
        while begin < len(X):
            kept = len(self.rows_)
            end = begin + (step if kept == self.window else 1)
            part, codes = X[begin:end], y[begin:end]
            if kept == self.window:
                predicted[begin:end] = self._predict_sliding(part, codes)
            elif kept:
                predicted[begin:end] = self._predict(part)
            self._learn(part, codes)
            begin = end
        return predicted

    def _predict_sliding(self, X: Floats, y: Codes) -> Codes:
        """Predict row i of X from the `window` rows before it, all i at once."""
        rows = np.concatenate([self.rows_, X[:-1]])
        codes = np.concatenate([self.codes_, y[:-1]])
        distance = np.zeros((len(X), self.window))
        for j in range(self.n_features_in_):
            # Entry (i, k) is the row k + 1 places before row i: argmin finds the latest first.
            earlier = sliding_window_view(rows[:, j], self.window)[:, ::-1]
            distance += np.square(X[:, j, None] - earlier)
        lag = distance.argmin(axis=1)
        nearest: Codes = codes[np.arange(len(X)) + self.window - 1 - lag]
        return nearest
