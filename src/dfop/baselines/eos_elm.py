"""EOS-ELM: least squares on random sigmoid features, averaged over several draws of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state, check_scalar

from dfop.baselines.base import Codes, Floats, StreamClassifier, StreamEstimator, StreamRegressor
from dfop.baselines.least_squares import LeastSquares
from dfop.model.labels import LabelCode


class _EOSELM(StreamEstimator):
    """What the classifier and the regressor share."""

    n_members: int
    n_hidden: int
    random_state: Any

    def _check_parameters(self) -> None:
        check_scalar(self.n_members, "n_members", Integral, min_val=1)
        check_scalar(self.n_hidden, "n_hidden", Integral, min_val=1)

    def _enrol(self, n_targets: int) -> None:
        draws = check_random_state(self.random_state)
        shape = (self.n_members, self.n_features_in_ + 1, self.n_hidden)
        self.hidden_weights_ = draws.uniform(-1.0, 1.0, shape)
        self.members_ = [
            LeastSquares(self.n_hidden, n_targets, False) for _ in range(self.n_members)
        ]

    def _hidden(self, X: Floats, member: int) -> Floats:
        """Sigmoid layer of a member, built feature after feature: the same bits in any batches."""
        weights = self.hidden_weights_[member]
        layer = np.tile(weights[-1], (len(X), 1))
        for j in range(self.n_features_in_):
            layer += X[:, j, None] * weights[j]
        activation: Floats = expit(layer)
        return activation

    def _scores(self, X: Floats) -> Floats:
        outputs = [m.predict(self._hidden(X, i)) for i, m in enumerate(self.members_)]
        return self._mean(outputs)

    def _scores_then_learn(self, X: Floats, Y: Floats) -> Floats:
        outputs = [m.predict_then_learn(self._hidden(X, i), Y) for i, m in enumerate(self.members_)]
        return self._mean(outputs)

    def _mean(self, outputs: list[Floats]) -> Floats:
        total = np.zeros_like(outputs[0])
        for output in outputs:
            total += output
        return total / self.n_members


class EOSELMClassifier(_EOSELM, StreamClassifier):
    """Ensemble of online sequential extreme learning machines, for classification.

    A member has a hidden layer sigmoid(x'a + b) whose weights are drawn once, uniform in [-1, 1],
    and learns its output layer by recursive least squares: it is DFOP with mu = 0 on a random
    feature map. The mean of the members' outputs predicts. Features belong in about [-1, 1].

    Parameters
    ----------
    n_members : int, default=10
        Members.
    n_hidden : int, default=25
        Hidden units of a member.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden layers.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    hidden_weights_ : ndarray of shape (n_members, n_features + 1, n_hidden)
        Hidden weights; the last row of each are the biases.
    members_ : list
        The output layers.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Lan, Soh, Huang (2009). Ensemble of online sequential extreme learning machine.
    Neurocomputing 72, 3391-3395.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import EOSELMClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
    >>> y = (X**2).sum(axis=1) < 0.6
    >>> right = EOSELMClassifier(random_state=0).predict_then_learn(X, y) == y
    >>> bool(right[500:].mean() > 0.95)
    True
    """

    def __init__(self, n_members: int = 10, n_hidden: int = 25, random_state: Any = None) -> None:
        self.n_members = n_members
        self.n_hidden = n_hidden
        self.random_state = random_state

    def _start(self) -> None:
        self._coding_ = LabelCode(len(self.classes_))
        self._enrol(self._coding_.outputs)

    def _predict(self, X: Floats) -> Codes:
        return self._coding_.decode(self._scores(X))

    def _predict_then_learn(self, X: Floats, y: Codes) -> Codes:
        return self._coding_.decode(self._scores_then_learn(X, self._coding_.encode(y)))


class EOSELMRegressor(_EOSELM, StreamRegressor):
    """Ensemble of online sequential extreme learning machines, for regression.

    A member has a hidden layer sigmoid(x'a + b) whose weights are drawn once, uniform in [-1, 1],
    and learns its output layer by recursive least squares: it is DFOP with mu = 0 on a random
    feature map. The mean of the members' outputs predicts. Features belong in about [-1, 1].

    Parameters
    ----------
    n_members : int, default=10
        Members.
    n_hidden : int, default=25
        Hidden units of a member.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden layers.

    Attributes
    ----------
    hidden_weights_ : ndarray of shape (n_members, n_features + 1, n_hidden)
        Hidden weights; the last row of each are the biases.
    members_ : list
        The output layers.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Lan, Soh, Huang (2009). Ensemble of online sequential extreme learning machine.
    Neurocomputing 72, 3391-3395.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import EOSELMRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
    >>> y = np.sin(2 * X[:, 0]) * X[:, 1]
    >>> predicted = EOSELMRegressor(random_state=0).predict_then_learn(X, y)
    >>> bool(np.square(predicted - y)[500:].mean() < 0.05 * y.var())
    True
    """

    def __init__(self, n_members: int = 10, n_hidden: int = 25, random_state: Any = None) -> None:
        self.n_members = n_members
        self.n_hidden = n_hidden
        self.random_state = random_state

    def _start(self) -> None:
        self._enrol(1)

    def _predict(self, X: Floats) -> Floats:
        return self._scores(X)[:, 0]

    def _predict_then_learn(self, X: Floats, y: Floats) -> Floats:
        return self._scores_then_learn(X, y[:, None])[:, 0]
