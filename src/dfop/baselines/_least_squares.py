"""The base learner of the ensembles: our own learner without forgetting."""

from __future__ import annotations

import numpy as np

from dfop.baselines._base import Codes, Floats
from dfop.estimators import DFOPRegressor


def least_squares(fit_intercept: bool) -> DFOPRegressor:
    """Recursive least squares, which is DFOP with mu = 0."""
    return DFOPRegressor(forgetting=0.0, fit_intercept=fit_intercept)


class LeastSquares:
    """Recursive least squares with several targets: one learner for each.

    Parameters
    ----------
    n_targets : int
        Columns of the target.
    fit_intercept : bool
        Whether there is an intercept.
    """

    def __init__(self, n_targets: int, fit_intercept: bool) -> None:
        self.columns = [least_squares(fit_intercept) for _ in range(n_targets)]

    def predict(self, X: Floats) -> Floats:
        """Predict all targets of each row: (n_rows, n_targets)."""
        return np.stack([column.predict(X) for column in self.columns], axis=1)

    def predict_then_learn(self, X: Floats, Y: Floats, weight: Floats | None = None) -> Floats:
        """Predict all targets of each row before it is learned."""
        predictions = [
            column.predict_then_learn(X, y, sample_weight=weight)
            for column, y in zip(self.columns, Y.T, strict=True)
        ]
        return np.stack(predictions, axis=1)


def targets_of(codes: Codes, n_classes: int) -> Floats:
    """Turn class codes into -1 and +1: one column for two classes, else one for each class."""
    if n_classes == 2:
        return np.where(codes[:, None] == 1, 1.0, -1.0)
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def codes_of(scores: Floats, n_classes: int) -> Codes:
    """Turn scores of such targets back into codes; a score of 0, or a tie, is the first class."""
    if n_classes == 2:
        return (scores[:, 0] > 0.0).astype(np.intp)
    codes: Codes = scores.argmax(axis=1)
    return codes
