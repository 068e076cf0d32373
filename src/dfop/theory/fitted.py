r"""Certificates of a learner from its own estimates: noise and drift told from its errors alone.

A learner with forgetting ``mu`` errs, once its start is forgotten, by (`steady_state`)

.. math:: V_1 = s^2 + \frac{\mu d s^2 + q/\mu}{2 - \mu} , \quad q = \operatorname{tr}(S Q) ,

and if each label came ``h`` rows late by ``V_h = V_1 + h q``: its weights would be the same, and
the concept ``h`` steps further. So two runs tell ``q`` and then ``s^2``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Filter
from dfop.forgetting import ByRows
from dfop.model.model import Model
from dfop.model.targets import NumberTarget

from .certificates import Certificates, certify
from .checks import check_mu

__all__ = ["NoiseAndDrift", "certify_learner", "noise_and_drift"]

Array = NDArray[np.float64]

_SETTLED = 5.0
"""Periods 1/mu after which the start is forgotten."""
_NEEDED = 20.0


class NoiseAndDrift(NamedTuple):
    """Standard deviations of the noise, and of each coordinate of the drift per row."""

    noise: float
    drift: float


def noise_and_drift(X: Any, y: Any, *, mu: float, prior_variance: float = 100.0) -> NoiseAndDrift:
    r"""Tell noise and drift apart by errors one row ahead and ``1/mu`` rows ahead.

    Assumes what `steady_state` assumes, and drift alike in all coordinates. The estimate is as good
    as ``mu n`` is large: in simulation, at 80 periods and where noise and drift balance, the noise
    is off by a hundredth and the drift by a tenth. Drift that does not show is 0.

    Parameters
    ----------
    X : array_like of shape (n, d)
        The rows, oldest first; a constant is a column.
    y : array_like of shape (n,)
        The targets.
    mu : float
        Forgetting factor, in (0, 1): of a learner that suits the stream, roughly.
    prior_variance : float, default=100.0
        Of the weights.

    Returns
    -------
    NoiseAndDrift

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import noise_and_drift
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20000, 2))
    >>> w = np.cumsum(0.02 * rng.normal(size=(20000, 2)), axis=0)
    >>> found = noise_and_drift(X, (X * w).sum(axis=1) + rng.normal(size=20000), mu=0.02)
    >>> bool(abs(found.noise - 1.0) < 0.1), bool(abs(found.drift - 0.02) < 0.005)
    (True, True)
    """
    X, y = np.ascontiguousarray(X, np.float64), np.ascontiguousarray(y, np.float64)
    if X.ndim != 2 or y.shape != X.shape[:1] or not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ValueError("X must be finite numbers of shape (n, d) and y of shape (n,)")
    n, d = X.shape
    if n * check_mu(mu) < _NEEDED:
        raise ValueError(
            f"{n} rows are too few at mu={mu:g}: noise and drift can be told apart after "
            f"{_NEEDED:.0f} periods, {int(np.ceil(_NEEDED / mu))} rows"
        )
    horizon = max(round(1.0 / mu), 1)
    settled = slice(int(_SETTLED / mu) + horizon, None)
    once, late = (
        float(np.mean((y - _predicted(X, y, mu, prior_variance, h))[settled] ** 2))
        for h in (0, horizon)
    )
    q = max(late - once, 0.0) / horizon
    S = X.T @ X / n
    noise = (once - q / (mu * (2.0 - mu))) / (1.0 + mu * d / (2.0 - mu))
    return NoiseAndDrift(float(np.sqrt(max(noise, 0.0))), float(np.sqrt(q / np.trace(S))))


def _predicted(X: Array, y: Array, mu: float, prior_variance: float, delay: int) -> Array:
    """Predict each row by a filter that learns its label `delay` rows later than at once."""
    n, d = X.shape
    rows = np.arange(n + delay)
    steps = np.column_stack([rows, ~(rows - delay)]).ravel()
    known = np.column_stack([rows < n, rows >= delay]).ravel()
    out = np.empty((n, 1))
    pace = np.full(1, 1.0 - mu), np.full(1, np.log1p(-mu))
    filter_ = Filter(d, 1, False, prior_variance, np.inf)
    filter_.replay(X, y[:, np.newaxis], steps[known], pace, np.zeros(n), 0.0, out)
    return out[:, 0]


def certify_learner(
    learner: Any, X: Any, y: Any, *, delta: float = 0.05, at: Any = None
) -> Certificates:
    """Compute the certificates of a fitted learner from its own estimates of noise and drift.

    How far the weights that it has learned can be from those that made the targets, row by row.
    Assumes what `certify` assumes, noise and drift as `noise_and_drift` finds them, and a start as
    far off as the weights have come from their prior mean.

    Parameters
    ----------
    learner : DFOPRegressor
        With a fixed ``mu``, columns of numbers and one target.
    X, y : array_like of shape (n, d) and (n,)
        The rows that it has learned, in their order, from the first.
    delta : float, default=0.05
        Probability with which each certificate may fail, at each given row.
    at : array_like of int, optional
        Rows to report, counted from 1; all if not given.

    Returns
    -------
    Certificates

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPRegressor
    >>> from dfop.theory import certify_learner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=5000)
    >>> model = DFOPRegressor(forgetting=0.01, fit_intercept=False).fit(X, y)
    >>> bound = certify_learner(model, X, y, at=[5000]).C3.total[0]
    >>> bool(np.linalg.norm(model.coef_ - [1.0, 2.0, 3.0]) < bound < 0.1)
    True
    """
    model = learner.__dfop_model__() if hasattr(learner, "__dfop_model__") else None
    if not isinstance(model, Model) or model.engine is None:
        raise ValueError("certify_learner takes a DFOPRegressor that has learned rows")
    engine, mu = _checked(model)
    rows = np.asarray(X, np.float64)
    if rows.ndim != 2 or rows.shape[1] != model.columns:
        raise ValueError(f"X must have the {model.columns} columns that the learner has learned")
    settings, prior = model.settings, model.settings.prior
    if settings.fit_intercept:
        rows = np.column_stack([rows, np.ones(len(rows))])
    variance = engine.prior_variance
    found = noise_and_drift(rows, y, mu=mu, prior_variance=variance)
    coef, constant = engine.coefficients()
    w = np.r_[coef[0], constant] if settings.fit_intercept else coef[0]
    mean = np.zeros(len(w)) if prior is None or prior.mean is None else np.ravel(prior.mean)
    P0 = variance if prior is None or prior.covariance is None else prior.covariance
    return certify(
        rows,
        mu=mu,
        noise=found.noise,
        drift=found.drift,
        start_error=float(np.linalg.norm(w - mean)),
        P0=P0,
        delta=delta,
        at=at,
    )


def _checked(model: Model) -> tuple[Filter, float]:
    """Return filter and mu of a learner that the theory is about."""
    engine, rule = model.engine, model.settings.rule
    if not isinstance(engine, Filter) or not isinstance(rule, ByRows) or rule.mu == 0.0:
        raise ValueError(
            "the theory is about one filter that forgets by rows: give a forgetting such as 0.001"
        )
    one = isinstance(model.target, NumberTarget) and model.target.outputs == 1
    if not one or model.lags is not None or engine.features != model.columns:
        raise ValueError(
            "the theory is about one number to learn, from columns of numbers without gaps, and "
            "without lags"
        )
    return engine, rule.mu
