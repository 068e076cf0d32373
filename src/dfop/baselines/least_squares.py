"""The base learner of the ensembles: our own learner, which with mu = 0 never forgets."""

from __future__ import annotations

import math

import numpy as np

from dfop.baselines.base import Floats
from dfop.core import Filter

_ONE = np.ones(1)


class LeastSquares:
    """Recursive least squares with one or more targets and the prior N(0, 100 I).

    Parameters
    ----------
    n_features, n_targets : int
        Shape of the problem.
    fit_intercept : bool
        Whether there is an intercept.
    """

    def __init__(self, n_features: int, n_targets: int, fit_intercept: bool) -> None:
        # Without forgetting the variance cannot grow: no cap is needed.
        self._filter = Filter(n_features, n_targets, fit_intercept, 100.0, math.inf)

    def predict(self, X: Floats) -> Floats:
        """Predict all targets of each row: (n_rows, n_targets)."""
        out = np.empty((len(X), self._filter.outputs))
        self._filter.predict(X, out)
        return out

    def predict_then_learn(self, X: Floats, Y: Floats, weight: Floats = _ONE) -> Floats:
        """Predict all targets of each row before it is learned with its weight."""
        out = np.empty((len(X), self._filter.outputs))
        self._filter.learn(X, Y, _ONE, weight, out)
        return out

    def step(self, x: Floats, y: float) -> float:
        """Predict the single target of one row, then learn it."""
        return self._filter.step(x, y, 1.0)
