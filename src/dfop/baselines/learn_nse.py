"""Learn++.NSE: one member per batch, weighed by how it does lately."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_scalar

from dfop.baselines.base import Codes, Floats, StreamClassifier, StreamRegressor
from dfop.baselines.batches import BatchLearner
from dfop.baselines.least_squares import LeastSquares
from dfop.baselines.majority_class import MajorityClass
from dfop.baselines.naive_bayes import BatchNaiveBayes, opinions
from dfop.baselines.running_mean import RunningMean

# A member without error would have infinite weight.
_LEAST_BETA = 1e-10


class _LearnNSE(BatchLearner):
    """What the classifier and the regressor share; losses lie in [0, 1]."""

    slope: float
    midpoint: float

    @abstractmethod
    def _fit_member(self, X: Floats, y: NDArray[Any], weight: Floats) -> Any: ...

    @abstractmethod
    def _opinions(self, X: Floats) -> NDArray[Any]:
        """Predictions of each member (rows) for each row of X (columns)."""

    @abstractmethod
    def _losses(self, predictions: NDArray[Any], y: NDArray[Any]) -> Floats:
        """Losses of each predictor (rows of `predictions`) on each row."""

    def _check_parameters(self) -> None:
        check_scalar(self.batch_size, "batch_size", Integral, min_val=1)
        check_scalar(self.slope, "slope", Real, min_val=0.0)
        check_scalar(self.midpoint, "midpoint", Real)

    def _start(self) -> None:
        super()._start()
        self.members_: list[Any] = []
        self.weights_ = np.empty(0)
        self._beta_sum_ = np.empty(0)
        self._sigmoid_sum_ = np.empty(0)

    def _train(self, X: Floats, y: NDArray[Any]) -> None:
        D = self._row_weights(X, y)
        self.members_.append(self._fit_member(X, y, np.ones(len(X))))
        losses = self._losses(self._opinions(X), y)
        if losses[-1] @ D > 0.5:  # train once more, on what counts against it
            self.members_[-1] = self._fit_member(X, y, D * len(X))
            losses = self._losses(self._opinions(X), y)
        error = np.minimum(losses @ D, 0.5)
        beta = error / (1.0 - error)
        # A member's present and past betas, averaged with sigmoid weights of its age at the time.
        age = np.arange(len(self.members_))[::-1]
        sigmoid = expit(self.slope * (age - self.midpoint))
        self._beta_sum_ = np.append(self._beta_sum_, 0.0) + sigmoid * beta
        self._sigmoid_sum_ = np.append(self._sigmoid_sum_, 0.0) + sigmoid
        average = self._beta_sum_ / self._sigmoid_sum_
        self.weights_ = np.log(1.0 / np.clip(average, _LEAST_BETA, 1.0))
        if not self.weights_.any():  # nobody is better than chance: trust the newest
            self.weights_[-1] = 1.0

    def _row_weights(self, X: Floats, y: NDArray[Any]) -> Floats:
        """Weigh rows the ensemble gets wrong more: (E / (1 - E)) ** (1 - loss), normalised."""
        uniform = np.full(len(X), 1.0 / len(X))
        if not self.members_:
            return uniform
        loss = self._losses(self._predict_trained(X)[None], y)[0]
        E = loss.mean()
        if E in (0.0, 1.0):
            return uniform
        D: Floats = (E / (1.0 - E)) ** (1.0 - loss)
        D /= D.sum()
        return D


class LearnNSEClassifier(_LearnNSE, StreamClassifier):
    """Learn++.NSE with Gaussian naive Bayes members.

    After batch t with rows (x_i, y_i):

    1. E_t is the ensemble's error on the batch; D(i) is proportional to E_t / (1 - E_t) where
       the ensemble is right and to 1 where it is wrong;
    2. a new member is trained on the batch;
    3. member k has the error eps_k = sum of D(i) over its wrong rows. If the newest one's is
       above 1/2 it is trained again with the row weights D; then errors are clipped at 1/2;
    4. beta_k = eps_k / (1 - eps_k), averaged over the member's life with the weights
       1 / (1 + exp(-slope (age - midpoint))), normalised; its vote is log(1 / average).

    Members are never dropped: time and memory grow with the number of batches, as in the
    original. Until the first batch is complete, the most frequent label so far is predicted.

    Parameters
    ----------
    batch_size : int, default=100
        Rows of a batch.
    slope : float, default=0.5
        Slope of the sigmoid over a member's age in batches.
    midpoint : float, default=10.0
        Age at which the sigmoid is 1/2.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    members_ : list
        One classifier per batch.
    weights_ : ndarray of shape (n_batches,)
        Their votes.
    n_batches_ : int
        Batches learned.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Elwell, Polikar (2011). Incremental learning of concept drift in nonstationary environments.
    IEEE Transactions on Neural Networks 22(10), 1517-1531.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import LearnNSEClassifier
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = X.sum(axis=1) > 0
    >>> right = LearnNSEClassifier(batch_size=100).predict_then_learn(X, y) == y
    >>> bool(right[100:].mean() > 0.9)
    True
    """

    def __init__(self, batch_size: int = 100, slope: float = 0.5, midpoint: float = 10.0) -> None:
        self.batch_size = batch_size
        self.slope = slope
        self.midpoint = midpoint

    def _start(self) -> None:
        super()._start()
        self.opening_ = MajorityClass.over(self.classes_)

    def _fit_member(self, X: Floats, y: Codes, weight: Floats) -> BatchNaiveBayes:
        return BatchNaiveBayes(X, y, weight, len(self.classes_))

    def _opinions(self, X: Floats) -> Codes:
        return opinions(self.members_, X)

    def _losses(self, predictions: Codes, y: Codes) -> Floats:
        wrong: Floats = (predictions != y).astype(np.float64)
        return wrong

    def _predict_trained(self, X: Floats) -> Codes:
        votes = np.zeros((len(X), len(self.classes_)))
        for opinion, weight in zip(self._opinions(X), self.weights_, strict=True):
            votes[np.arange(len(X)), opinion] += weight
        predicted: Codes = votes.argmax(axis=1)
        return predicted


class LearnNSERegressor(_LearnNSE, StreamRegressor):
    """Learn++.NSE for regression, with least squares members.

    The original classifies. This version, ours, replaces its 0/1 loss by |e| / max |e|, as
    AdaBoost.R2 does, with one maximum over all members and rows of the batch so that members
    compare, and its vote by the weighted median. All else is `LearnNSEClassifier`.
    Until the first batch is complete, the mean of the targets so far is predicted.

    Parameters
    ----------
    batch_size : int, default=100
        Rows of a batch.
    slope : float, default=0.5
        Slope of the sigmoid over a member's age in batches.
    midpoint : float, default=10.0
        Age at which the sigmoid is 1/2.
    fit_intercept : bool, default=True
        Whether members have an intercept.

    Attributes
    ----------
    members_ : list
        One regressor per batch.
    weights_ : ndarray of shape (n_batches,)
        Their weights.
    n_batches_ : int
        Batches learned.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Elwell, Polikar (2011). Incremental learning of concept drift in nonstationary environments.
    IEEE Transactions on Neural Networks 22(10), 1517-1531.

    Drucker (1997). Improving regressors using boosting techniques. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import LearnNSERegressor
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> y = X @ [1.0, 2.0, 3.0]
    >>> predicted = LearnNSERegressor(batch_size=100).predict_then_learn(X, y)
    >>> bool(abs(predicted - y)[100:].max() < 0.01)
    True
    """

    def __init__(
        self,
        batch_size: int = 100,
        slope: float = 0.5,
        midpoint: float = 10.0,
        fit_intercept: bool = True,
    ) -> None:
        self.batch_size = batch_size
        self.slope = slope
        self.midpoint = midpoint
        self.fit_intercept = fit_intercept

    def _start(self) -> None:
        super()._start()
        self.opening_ = RunningMean()
        self.opening_._start()

    def _fit_member(self, X: Floats, y: Floats, weight: Floats) -> LeastSquares:
        member = LeastSquares(self.n_features_in_, 1, self.fit_intercept)
        member.predict_then_learn(X, y[:, None], weight)
        return member

    def _opinions(self, X: Floats) -> Floats:
        return np.stack([member.predict(X)[:, 0] for member in self.members_])

    def _losses(self, predictions: Floats, y: Floats) -> Floats:
        error = np.abs(predictions - y)
        losses: Floats = error / max(error.max(), np.finfo(np.float64).tiny)
        return losses

    def _predict_trained(self, X: Floats) -> Floats:
        opinions = self._opinions(X).T
        order = opinions.argsort(axis=1, kind="stable")
        weight = self.weights_[order].cumsum(axis=1)
        middle = (weight >= 0.5 * weight[:, -1:]).argmax(axis=1)
        rows = np.arange(len(X))
        predicted: Floats = opinions[rows, order[rows, middle]]
        return predicted
