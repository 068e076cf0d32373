"""AddExp.C: a weighted mean of experts, with a new one after every large error."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_scalar

from dfop.baselines.base import Floats, StreamRegressor
from dfop.baselines.least_squares import LeastSquares


class AdditiveExpert(StreamRegressor):
    """Additive expert ensemble for continuous targets, with least squares experts.

    For each row with the experts' predictions f_i and weights w_i:

    1. predict yhat = sum w_i f_i / sum w_i;
    2. multiply each w_i by beta ** |f_i - y|;
    3. if |yhat - y| >= tau, add an expert of weight gamma sum w_i |f_i - y|, the weights being
       those before step 2; at capacity the weakest or the oldest of the others makes room;
    4. all experts learn the row.

    `beta`, `gamma` and `tau` are meant for targets in [0, 1]: scale the target.

    Parameters
    ----------
    beta : float, default=0.5
        Base of the penalty, in (0, 1). Less follows change faster.
    gamma : float, default=0.1
        Weight of a new expert relative to the loss, in (0, 1).
    tau : float, default=0.05
        Error from which on an expert is added.
    max_experts : int, default=20
        Capacity.
    prune : {"weakest", "oldest"}, default="weakest"
        Who makes room.
    fit_intercept : bool, default=True
        Whether experts have an intercept.

    Attributes
    ----------
    experts_ : list
        The experts, oldest first.
    weights_ : ndarray of shape (n_experts,)
        Their weights, scaled so that the largest is 1.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Kolter, Maloof (2005). Using additive expert ensembles to cope with concept drift. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import AdditiveExpert
    >>> X = np.random.default_rng(0).uniform(size=(400, 2))
    >>> y = np.where(np.arange(400) < 200, X[:, 0], X[:, 1])
    >>> predicted = AdditiveExpert().predict_then_learn(X, y)
    >>> bool(np.square(predicted - y)[250:].mean() < 0.01)
    True
    """

    def __init__(
        self,
        beta: float = 0.5,
        gamma: float = 0.1,
        tau: float = 0.05,
        max_experts: int = 20,
        prune: str = "weakest",
        fit_intercept: bool = True,
    ) -> None:
        self.beta = beta
        self.gamma = gamma
        self.tau = tau
        self.max_experts = max_experts
        self.prune = prune
        self.fit_intercept = fit_intercept

    def _check_parameters(self) -> None:
        for name in ("beta", "gamma"):
            check_scalar(
                getattr(self, name),
                name,
                Real,
                min_val=0.0,
                max_val=1.0,
                include_boundaries="neither",
            )
        check_scalar(self.tau, "tau", Real, min_val=0.0)
        check_scalar(self.max_experts, "max_experts", Integral, min_val=1)
        if self.prune not in ("weakest", "oldest"):
            raise ValueError(f"prune={self.prune!r} must be 'weakest' or 'oldest'.")

    def _start(self) -> None:
        self.experts_ = [self._new_expert()]
        # Logarithms: products of many small factors would underflow.
        self._log_weights_ = np.zeros(1)

    @property
    def weights_(self) -> Floats:
        """Weights of the experts, the largest 1."""
        weights: Floats = np.exp(self._log_weights_)
        return weights

    def _predict(self, X: Floats) -> Floats:
        opinions = np.hstack([expert.predict(X) for expert in self.experts_])
        return _weighted_mean(opinions, self.weights_)

    def _predict_then_learn(self, X: Floats, y: Floats) -> Floats:
        return np.array([self._step(x, t) for x, t in zip(X, y.tolist(), strict=True)])

    def _new_expert(self) -> LeastSquares:
        return LeastSquares(self.n_features_in_, 1, self.fit_intercept)

    def _step(self, x: Floats, y: float) -> float:
        f = np.array([expert.step(x, y) for expert in self.experts_])
        weights = self.weights_
        predicted = float(_weighted_mean(f[None], weights)[0])
        loss = np.abs(f - y)
        self._log_weights_ = self._log_weights_ + np.log(self.beta) * loss
        if abs(predicted - y) >= self.tau:
            self._add_expert(self.gamma * float(weights @ loss))
            self.experts_[-1].step(x, y)
        self._log_weights_ -= self._log_weights_.max()
        return predicted

    def _add_expert(self, weight: float) -> None:
        # Room is made among the others, so that the newcomer is never the one to go.
        if len(self.experts_) == self.max_experts:
            leaver = 0 if self.prune == "oldest" else int(self._log_weights_.argmin())
            del self.experts_[leaver]
            self._log_weights_ = np.delete(self._log_weights_, leaver)
        self.experts_.append(self._new_expert())
        floor = np.finfo(np.float64).tiny
        self._log_weights_ = np.append(self._log_weights_, np.log(max(weight, floor)))


def _weighted_mean(opinions: Floats, weights: Floats) -> Floats:
    sums = np.add.accumulate(opinions * weights, axis=1)[:, -1]
    mean: Floats = sums / np.add.accumulate(weights)[-1]
    return mean
