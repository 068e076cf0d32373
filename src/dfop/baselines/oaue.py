"""OAUE: incremental members weighed by their error over the last window."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from dfop.baselines.base import Codes, Floats, StreamClassifier, StreamEstimator, StreamRegressor
from dfop.baselines.least_squares import LeastSquares
from dfop.baselines.naive_bayes import NaiveBayesBank
from dfop.baselines.sliding_sums import SlidingSums

_EPS = 1e-10


class _OAUE(StreamEstimator):
    """What the classifier and the regressor share.

    The last member of the list is the candidate: it learns, but has a say only while alone.
    """

    n_members: int
    window: int

    @abstractmethod
    def _opinions_then_learn(self, X: Floats, y: NDArray[Any]) -> Floats:
        """Opinions (rows, members, ...) before each row; then all members learn it."""

    @abstractmethod
    def _errors(self, opinions: Floats, y: NDArray[Any]) -> Floats:
        """Squared errors (rows, members)."""

    @abstractmethod
    def _moments(self, y: NDArray[Any]) -> Floats:
        """Columns whose means over the window give the random predictor's error."""

    @abstractmethod
    def _random_error(self, means: Floats) -> Floats:
        """MSE_r from those means."""

    @abstractmethod
    def _combine(self, opinions: Floats, weights: Floats) -> NDArray[Any]:
        """Predictions from opinions (rows, members, ...) and weights (rows, members)."""

    @abstractmethod
    def _replace(self, keep: Codes) -> None:
        """Keep these members and add an empty one."""

    def _check_parameters(self) -> None:
        check_scalar(self.n_members, "n_members", Integral, min_val=1)
        check_scalar(self.window, "window", Integral, min_val=1)

    def _start(self) -> None:
        self.n_rows_ = 0
        self.weights_ = np.ones(1)
        self._is_new_ = np.ones(1, dtype=bool)
        self._replace(np.empty(0, dtype=np.intp))
        self._error_sums_ = SlidingSums(self.window, 1)
        self._moment_sums_ = SlidingSums(self.window, self._moments(np.zeros(1, int)).shape[1])

    def _predict_then_learn(self, X: Floats, y: NDArray[Any]) -> NDArray[Any]:
        predicted = []
        begin = 0
        while begin < len(X):
            end = begin + self.window - self.n_rows_ % self.window
            predicted.append(self._within_window(X[begin:end], y[begin:end]))
            if self.n_rows_ % self.window == 0:
                self._admit_candidate()
            begin = end
        return np.concatenate(predicted)

    def _within_window(self, X: Floats, y: NDArray[Any]) -> NDArray[Any]:
        opinions = self._opinions_then_learn(X, y)
        error_sums = self._error_sums_.push(self._errors(opinions, y))
        moment_sums = self._moment_sums_.push(self._moments(y))
        seen = self.n_rows_ + 1 + np.arange(len(X))[:, None]
        in_window = (seen - 1) % self.window + 1
        mse = error_sums / np.where(self._is_new_, in_window, self.window)
        mse_random = self._random_error(moment_sums / np.minimum(seen, self.window))
        after = 1.0 / (mse_random[:, None] + mse + _EPS)
        if after.shape[1] > 1:
            after[:, -1] = 0.0  # the candidate has no say beside members
        weights = np.vstack([self.weights_, after])
        self.weights_ = weights[-1]
        self._mse_random_ = mse_random[-1]
        self.n_rows_ += len(X)
        return self._combine(opinions, weights[:-1])

    def _admit_candidate(self) -> None:
        """Make the candidate a member, in place of the weakest if all places are taken."""
        keep = np.arange(len(self.weights_))
        if len(keep) > self.n_members:
            keep = np.delete(keep, self.weights_[:-1].argmin())
        self._replace(keep)
        self._error_sums_.next_window()
        self._error_sums_.keep(keep)
        self._moment_sums_.next_window()
        # What the candidate did before it was one of them does not count: it starts perfect.
        self._error_sums_.tail[:, -2] = 0.0
        self.weights_ = np.append(self.weights_[keep], 0.0)
        self.weights_[-2] = 1.0 / (self._mse_random_ + _EPS)
        self._is_new_ = np.zeros(len(self.weights_), dtype=bool)
        self._is_new_[-2:] = True


class OAUEClassifier(_OAUE, StreamClassifier):
    """Online accuracy updated ensemble of incremental Gaussian naive Bayes members.

    Every member learns every row. Its weight is 1 / (MSE_r + MSE_i + eps), where MSE_i is the
    mean of (1 - p_i(y))^2 over the last `window` rows, p_i(y) being the probability it gave to
    the right class, and MSE_r = sum_c p(c) (1 - p(c))^2 that of a random predictor with the
    class frequencies of those rows. The class with the largest weighted sum of probabilities is
    predicted. After every `window` rows a candidate, which has learned just those rows, joins
    with MSE_i = 0, in place of the weakest if there are `n_members`. The first candidate
    predicts alone.

    Parameters
    ----------
    n_members : int, default=10
        Most members.
    window : int, default=500
        Rows from one candidate to the next, and rows the errors are taken over.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    weights_ : ndarray of shape (<= n_members + 1,)
        Weights of the members, oldest first; the last one is the candidate's.
    n_rows_ : int
        Rows learned.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Brzezinski, Stefanowski (2014). Combining block-based and online methods in learning
    ensembles from concept drifting data streams. Information Sciences 265, 50-67.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import OAUEClassifier
    >>> X = np.random.default_rng(0).normal(size=(3000, 2))
    >>> y = X[:, 0] > 0
    >>> right = OAUEClassifier().predict_then_learn(X, y) == y
    >>> bool(right.mean() > 0.95)
    True
    """

    def __init__(self, n_members: int = 10, window: int = 500) -> None:
        self.n_members = n_members
        self.window = window

    def _start(self) -> None:
        self.members_ = NaiveBayesBank(len(self.classes_), self.n_features_in_)
        super()._start()

    def _predict(self, X: Floats) -> Codes:
        opinions = _probabilities(self.members_.scores(X))
        return self._combine(opinions, np.broadcast_to(self.weights_, opinions.shape[:2]))

    def _opinions_then_learn(self, X: Floats, y: Codes) -> Floats:
        return _probabilities(self.members_.scores_then_learn(X, y))

    def _errors(self, opinions: Floats, y: Codes) -> Floats:
        squares: Floats = np.square(1.0 - opinions[np.arange(len(y)), :, y])
        return squares

    def _moments(self, y: Codes) -> Floats:
        is_class: Floats = (y[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        return is_class

    def _random_error(self, means: Floats) -> Floats:
        error: Floats = np.add.accumulate(means * np.square(1.0 - means), axis=1)[:, -1]
        return error

    def _combine(self, opinions: Floats, weights: Floats) -> Codes:
        sums = np.add.accumulate(weights[:, :, None] * opinions, axis=1)[:, -1]
        predicted: Codes = sums.argmax(axis=1)
        return predicted

    def _replace(self, keep: Codes) -> None:
        self.members_.keep(keep)
        self.members_.add_empty()


class OAUERegressor(_OAUE, StreamRegressor):
    """Online accuracy updated ensemble of least squares members, for regression.

    The original classifies; as in the paper's regression table, MSE_i is here the member's mean
    squared error over the last `window` rows, MSE_r the variance of the target over them, and
    the weighted mean predicts. All else is `OAUEClassifier`.

    Parameters
    ----------
    n_members : int, default=10
        Most members.
    window : int, default=500
        Rows from one candidate to the next, and rows the errors are taken over.
    fit_intercept : bool, default=True
        Whether members have an intercept.

    Attributes
    ----------
    members_ : list
        The members, oldest first; the last one is the candidate.
    weights_ : ndarray of shape (<= n_members + 1,)
        Their weights.
    n_rows_ : int
        Rows learned.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Brzezinski, Stefanowski (2014). Combining block-based and online methods in learning
    ensembles from concept drifting data streams. Information Sciences 265, 50-67.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import OAUERegressor
    >>> X = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> y = X @ [1.0, -1.0]
    >>> predicted = OAUERegressor().predict_then_learn(X, y)
    >>> bool(abs(predicted - y)[600:].max() < 0.01)
    True
    """

    def __init__(self, n_members: int = 10, window: int = 500, fit_intercept: bool = True) -> None:
        self.n_members = n_members
        self.window = window
        self.fit_intercept = fit_intercept

    def _start(self) -> None:
        self.members_: list[LeastSquares] = []
        self._origin_: float | None = None
        super()._start()

    def _predict(self, X: Floats) -> Floats:
        # An empty candidate beside members has no say: it need not be asked.
        voters = [m for m, w in zip(self.members_, self.weights_, strict=True) if w > 0.0]
        opinions = np.hstack([member.predict(X) for member in voters])
        weights = self.weights_[self.weights_ > 0.0]
        return self._combine(opinions, np.broadcast_to(weights, opinions.shape))

    def _opinions_then_learn(self, X: Floats, y: Floats) -> Floats:
        if self._origin_ is None:
            self._origin_ = float(y[0])
        return np.hstack([m.predict_then_learn(X, y[:, None]) for m in self.members_])

    def _errors(self, opinions: Floats, y: Floats) -> Floats:
        return np.square(opinions - y[:, None])

    def _moments(self, y: Floats) -> Floats:
        # Measured from the first target: the variance is then a difference of small numbers.
        centred = y - (self._origin_ or 0.0)
        return np.stack([centred, np.square(centred)], axis=1)

    def _random_error(self, means: Floats) -> Floats:
        return np.maximum(means[:, 1] - np.square(means[:, 0]), 0.0)

    def _combine(self, opinions: Floats, weights: Floats) -> Floats:
        sums = np.add.accumulate(weights * opinions, axis=1)[:, -1]
        predicted: Floats = sums / np.add.accumulate(weights, axis=1)[:, -1]
        return predicted

    def _replace(self, keep: Codes) -> None:
        self.members_ = [self.members_[i] for i in keep] + [
            LeastSquares(self.n_features_in_, 1, self.fit_intercept)
        ]


def _probabilities(scores: Floats) -> Floats:
    """Turn log scores (..., classes) into probabilities."""
    likelihood = np.exp(scores - scores.max(axis=-1, keepdims=True))
    probabilities: Floats = likelihood / np.add.accumulate(likelihood, axis=-1)[..., -1:]
    return probabilities
