"""DWM: a weighted vote of experts that come and go."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_scalar

from dfop.baselines.base import Codes, Floats, StreamClassifier
from dfop.baselines.naive_bayes import NaiveBayesBank


class DynamicWeightedMajority(StreamClassifier):
    """Dynamic weighted majority over incremental Gaussian naive Bayes experts.

    Every expert votes for a class with its weight; the class with the largest sum is predicted
    (among equals the first in ``classes_``). On every `period`-th row, after the vote,

    1. the weight of each expert that was wrong is multiplied by `beta`,
    2. all weights are divided by the largest,
    3. experts whose weight is below `theta` are dropped,
    4. if the vote was wrong, a new expert of weight 1 is added.

    Then all experts learn the row.

    Parameters
    ----------
    period : int, default=50
        Rows from one change of weights and experts to the next. 1 follows change far faster.
    beta : float, default=0.5
        Factor on the weight of an expert that was wrong, in (0, 1).
    theta : float, default=0.01
        Weight below which an expert is dropped.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    weights_ : ndarray of shape (n_experts,)
        Weights of the experts, oldest first.
    n_rows_ : int
        Rows learned.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Kolter, Maloof (2003). Dynamic weighted majority: a new ensemble method for tracking concept
    drift. ICDM.

    Kolter, Maloof (2007). Dynamic weighted majority: an ensemble method for drifting concepts.
    Journal of Machine Learning Research 8, 2755-2790.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import DynamicWeightedMajority
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = X[:, 0] > 0
    >>> y[1000:] = ~y[1000:]
    >>> model = DynamicWeightedMajority(period=1)
    >>> right = model.predict_then_learn(X, y) == y
    >>> bool(right[1500:].mean() > 0.9)
    True
    """

    def __init__(self, period: int = 50, beta: float = 0.5, theta: float = 0.01) -> None:
        self.period = period
        self.beta = beta
        self.theta = theta

    def _check_parameters(self) -> None:
        check_scalar(self.period, "period", Integral, min_val=1)
        check_scalar(
            self.beta, "beta", Real, min_val=0.0, max_val=1.0, include_boundaries="neither"
        )
        check_scalar(self.theta, "theta", Real, min_val=0.0, max_val=1.0)

    def _start(self) -> None:
        self.experts_ = NaiveBayesBank(len(self.classes_), self.n_features_in_)
        self.experts_.add_empty()
        self.weights_ = np.ones(1)
        self.n_rows_ = 0

    def _predict(self, X: Floats) -> Codes:
        return self._vote(self.experts_.scores(X).argmax(axis=2))

    def _predict_then_learn(self, X: Floats, y: Codes) -> Codes:
        predicted = np.empty(len(X), dtype=np.intp)
        begin = 0
        while begin < len(X):
            # Experts and weights stay the same up to the row that completes a period.
            end = begin + self.period - self.n_rows_ % self.period
            part, codes = X[begin:end], y[begin:end]
            opinions = self.experts_.scores_then_learn(part, codes).argmax(axis=2)
            vote = self._vote(opinions)
            predicted[begin:end] = vote
            self.n_rows_ += len(part)
            if self.n_rows_ % self.period == 0:
                self._review(part[-1], codes[-1], opinions[-1], vote[-1])
            begin = end
        return predicted

    def _vote(self, opinions: Codes) -> Codes:
        """Turn opinions (rows, experts) into the class with the largest weight."""
        chosen = opinions[:, :, None] == np.arange(len(self.classes_))
        # Sums run expert after expert whatever the number of rows: the same bits in any batches.
        sums = np.add.accumulate(chosen * self.weights_[:, None], axis=1)[:, -1]
        vote: Codes = sums.argmax(axis=1)
        return vote

    def _review(self, x: Floats, code: int, opinions: Codes, vote: int) -> None:
        """Take steps 1 to 4 on one row, which the present experts have learned already."""
        weights = np.where(opinions != code, self.beta * self.weights_, self.weights_)
        weights /= weights.max()
        good = np.flatnonzero(weights >= self.theta)
        if len(good) < len(weights):
            weights = weights[good]
            self.experts_.keep(good)
        if vote != code:
            weights = np.append(weights, 1.0)
            self.experts_.add_empty()
            self.experts_.learn_last(x, code)
        self.weights_ = weights
