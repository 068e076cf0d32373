"""Online Bagging: members that see each row a Poisson number of times."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from dfop.baselines.base import Codes, Floats, StreamClassifier, StreamEstimator, StreamRegressor
from dfop.baselines.least_squares import LeastSquares
from dfop.model.labels import LabelCode


class _OnlineBagging(StreamEstimator):
    """What the classifier and the regressor share."""

    n_members: int
    fit_intercept: bool
    random_state: Any

    def _check_parameters(self) -> None:
        check_scalar(self.n_members, "n_members", Integral, min_val=1)

    def _enrol(self, n_targets: int) -> None:
        self.members_ = [
            LeastSquares(self.n_features_in_, n_targets, self.fit_intercept)
            for _ in range(self.n_members)
        ]
        self._draws_ = _own_generator(self.random_state)

    def _opinions(self, X: Floats) -> list[Floats]:
        return [member.predict(X) for member in self.members_]

    def _opinions_then_learn(self, X: Floats, Y: Floats) -> list[Floats]:
        # Drawn row after row, so that the division into batches does not matter.
        weights = self._draws_.poisson(1.0, (len(X), self.n_members)).astype(np.float64)
        return [
            member.predict_then_learn(X, Y, weight)
            for member, weight in zip(self.members_, np.ascontiguousarray(weights.T), strict=True)
        ]


class OnlineBaggingClassifier(_OnlineBagging, StreamClassifier):
    """Online Bagging of least squares classifiers.

    Every member learns every row with weight k, k drawn from a Poisson distribution of mean 1:
    the limit of the number of times a row is in a bootstrap sample. The majority of the members
    predicts, among equals the first in ``classes_``.

    Parameters
    ----------
    n_members : int, default=10
        Members.
    fit_intercept : bool, default=True
        Whether members have an intercept.
    random_state : int, RandomState instance or None, default=None
        Seed of the weights.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    members_ : list
        The members.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Oza, Russell (2001). Experimental comparisons of online and batch versions of bagging and
    boosting. KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import OnlineBaggingClassifier
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = np.where(X.sum(axis=1) > 0, "in", "out")
    >>> right = OnlineBaggingClassifier(random_state=0).predict_then_learn(X, y) == y
    >>> bool(right.mean() > 0.95)
    True
    """

    def __init__(
        self, n_members: int = 10, fit_intercept: bool = True, random_state: Any = None
    ) -> None:
        self.n_members = n_members
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def _start(self) -> None:
        self._coding_ = LabelCode(len(self.classes_))
        self._enrol(self._coding_.outputs)

    def _predict(self, X: Floats) -> Codes:
        return self._vote(self._opinions(X))

    def _predict_then_learn(self, X: Floats, y: Codes) -> Codes:
        return self._vote(self._opinions_then_learn(X, self._coding_.encode(y)))

    def _vote(self, opinions: list[Floats]) -> Codes:
        classes = np.arange(len(self.classes_))
        ballots = np.array([self._coding_.decode(s)[:, None] == classes for s in opinions])
        chosen: Codes = ballots.sum(axis=0).argmax(axis=1)
        return chosen


class OnlineBaggingRegressor(_OnlineBagging, StreamRegressor):
    """Online Bagging of least squares regressors.

    Every member learns every row with weight k, k drawn from a Poisson distribution of mean 1:
    the limit of the number of times a row is in a bootstrap sample. The mean of the members
    predicts.

    Parameters
    ----------
    n_members : int, default=10
        Members.
    fit_intercept : bool, default=True
        Whether members have an intercept.
    random_state : int, RandomState instance or None, default=None
        Seed of the weights.

    Attributes
    ----------
    members_ : list
        The members.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Oza, Russell (2001). Experimental comparisons of online and batch versions of bagging and
    boosting. KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import OnlineBaggingRegressor
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> y = X @ [1.0, 2.0]
    >>> predicted = OnlineBaggingRegressor(random_state=0).predict_then_learn(X, y)
    >>> bool(abs(predicted - y)[100:].max() < 0.01)
    True
    """

    def __init__(
        self, n_members: int = 10, fit_intercept: bool = True, random_state: Any = None
    ) -> None:
        self.n_members = n_members
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def _start(self) -> None:
        self._enrol(1)

    def _predict(self, X: Floats) -> Floats:
        return self._mean(self._opinions(X))

    def _predict_then_learn(self, X: Floats, y: Floats) -> Floats:
        return self._mean(self._opinions_then_learn(X, y[:, None]))

    def _mean(self, opinions: list[Floats]) -> Floats:
        # Added member after member: the same bits whatever the number of rows.
        total = np.zeros(len(opinions[0]))
        for opinion in opinions:
            total += opinion[:, 0]
        return total / self.n_members


def _own_generator(random_state: Any) -> np.random.RandomState:
    """Make a generator of our own: one passed in by the caller is read once, then left alone."""
    return np.random.RandomState(check_random_state(random_state).randint(2**31 - 1))
