"""RLS: least squares that never forgets."""

from __future__ import annotations

from dfop.classifier import DFOPClassifier
from dfop.regressor import DFOPRegressor


class RLSClassifier(DFOPClassifier):
    """Recursive least squares on coded labels: `dfop.DFOPClassifier` with mu = 0.

    All rows count alike for ever: what DFOP is without its idea.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to learn a constant as well.
    prior_variance : float, default=100.0
        Variance of the weights before any row.

    References
    ----------
    Plackett (1950). Some theorems in least squares. Biometrika 37, 149-157.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import RLSClassifier
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = np.where(X.sum(axis=1) > 0, "in", "out")
    >>> right = RLSClassifier().predict_then_learn(X, y) == y
    >>> bool(right.mean() > 0.95)
    True
    """

    def __init__(self, *, fit_intercept: bool = True, prior_variance: float = 100.0) -> None:
        super().__init__(0.0, fit_intercept=fit_intercept, prior_variance=prior_variance)


class RLSRegressor(DFOPRegressor):
    """Recursive least squares: `dfop.DFOPRegressor` with mu = 0.

    All rows count alike for ever: what DFOP is without its idea.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to learn a constant as well.
    prior_variance : float, default=100.0
        Variance of the weights before any row.

    References
    ----------
    Plackett (1950). Some theorems in least squares. Biometrika 37, 149-157.

    Examples
    --------
    >>> from dfop.baselines import RLSRegressor
    >>> model = RLSRegressor(prior_variance=1e6).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(3)
    array([7.])
    """

    def __init__(self, *, fit_intercept: bool = True, prior_variance: float = 100.0) -> None:
        super().__init__(0.0, fit_intercept=fit_intercept, prior_variance=prior_variance)
