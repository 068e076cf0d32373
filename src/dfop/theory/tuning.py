r"""How much to forget: the balance of noise and drift, and how long the past is remembered.

Once the start is forgotten, and for small ``mu d``, ``R(t)`` is near ``S = E x x'`` (DFOP scale),
the recursion of ``M`` in `certify` stands still, and the covariance of the error is

.. math:: G = \frac{\mu s^2 S^{-1} + Q/\mu}{2-\mu} .

Its trace is the squared error of the estimate, and ``tr(S G)`` what is added to the noise of a
one-step-ahead prediction. Both have the form ``(a mu + b/mu)/(2 - mu)``.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .bounds import Parts
from .checks import check_mu, check_shape

__all__ = [
    "balancing_mu",
    "best_mu",
    "effective_sample_size",
    "forgetting_time",
    "start_forgotten",
    "steady_state",
]

Array = NDArray[np.float64]
Target = Literal["estimate", "prediction"]


def steady_state(
    mu: Any,
    S: Any,
    *,
    noise: float,
    drift: float,
    drift_shape: Any = None,
    target: Target = "estimate",
) -> Parts:
    r"""Squared error to expect of a long stream, split into noise and drift.

    Assumes stationary rows with ``E x x' = S``, independent noise and drift, the start forgotten,
    and ``mu d`` small: the fluctuation of ``R`` around ``S`` is left out, an error of that order.

    Parameters
    ----------
    mu : array_like
        Forgetting factor, in (0, 1).
    S : array_like of shape (d, d)
        Second moments of the rows.
    noise, drift : float
        Standard deviation of the noise, and of each coordinate of the drift per row.
    drift_shape : array_like of shape (d, d), optional
        Directions of the drift: its covariance is ``drift^2 drift_shape``.
    target : {"estimate", "prediction"}, default="estimate"
        ``E |w~|^2``, or ``E (x'w~)^2``, what a prediction errs beyond the noise.

    Returns
    -------
    Parts
        The initial part is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import steady_state
    >>> error = steady_state(0.01, np.eye(4), noise=0.1, drift=1e-3)
    >>> float(error.noise), float(error.drift)
    (0.000201, 0.000201)
    """
    mu = np.asarray(mu, dtype=np.float64)
    if not ((mu > 0.0) & (mu < 1.0)).all():
        raise ValueError("every mu must be strictly between 0 and 1")
    a, b = _coefficients(S, noise, drift, drift_shape, target)
    return Parts(np.zeros_like(mu), a * mu / (2.0 - mu), b / (mu * (2.0 - mu)))


def balancing_mu(
    S: Any,
    *,
    noise: float,
    drift: float,
    drift_shape: Any = None,
    target: Target = "estimate",
) -> float:
    r"""Give the ``mu`` at which noise and drift contribute equally to the error.

    Assumes what `steady_state` assumes.

    Parameters
    ----------
    S, noise, drift, drift_shape, target
        As in `steady_state`.

    Returns
    -------
    float
        ``sqrt(tr Q / (s^2 tr S^-1))`` for the estimate, ``sqrt(tr(S Q) / (s^2 d))`` for the
        prediction; 1 or more says that drift prevails at every ``mu``.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import balancing_mu
    >>> balancing_mu(np.eye(4), noise=0.1, drift=1e-3)
    0.01
    >>> balancing_mu(np.diag([1.0, 0.01]), noise=0.1, drift=1e-3)
    0.00141
    """
    if not noise > 0.0:
        raise ValueError(f"noise={noise!r} must be above 0: without noise there is no balance")
    a, b = _coefficients(S, noise, drift, drift_shape, target)
    return math.sqrt(b / a)


def best_mu(
    S: Any,
    *,
    noise: float,
    drift: float,
    drift_shape: Any = None,
    target: Target = "estimate",
) -> float:
    r"""Give the ``mu`` with the least steady-state error.

    Assumes what `steady_state` assumes. With ``m`` the balancing ``mu``, the least
    ``(a mu + b/mu)/(2 - mu)`` is where ``mu^2 + m^2 mu - m^2 = 0``: just below the balance, and
    always below 1.

    Parameters
    ----------
    S, noise, drift, drift_shape, target
        As in `steady_state`.

    Returns
    -------
    float
        ``m (sqrt(1 + m^2/4) - m/2)``.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import best_mu
    >>> best_mu(np.eye(4), noise=0.1, drift=1e-3)
    0.00995
    """
    m = balancing_mu(S, noise=noise, drift=drift, drift_shape=drift_shape, target=target)
    return m / (math.sqrt(1.0 + m * m / 4.0) + m / 2.0)


def effective_sample_size(mu: float, t: float = math.inf) -> float:
    r"""Give the number of equally counted rows that would determine the estimate as well.

    Assumes nothing but the weights ``(1-mu)^(t-i)``; it is the size of a sample whose mean has
    the same variance, ``(sum of weights)^2 / (sum of squared weights)``. For noise alone,
    ``E |w~|^2`` is near ``s^2 tr(S^-1)`` divided by it.

    Parameters
    ----------
    mu : float
        Forgetting factor, in (0, 1).
    t : float, default=inf
        Rows seen.

    Returns
    -------
    float
        ``(2-mu)/mu (1-lam^t)/(1+lam^t)``: about ``2/mu`` in the long run, twice the forgetting
        period, and ``t`` at first.

    Examples
    --------
    >>> from dfop.theory import effective_sample_size
    >>> effective_sample_size(0.01)
    199.0
    >>> effective_sample_size(0.01, t=10)
    9.99
    """
    decay = t * math.log1p(-check_mu(mu))
    return (2.0 - mu) / mu * -math.expm1(decay) / (1.0 + math.exp(decay))


def forgetting_time(mu: float, share: float = 0.01) -> int:
    r"""Give the number of rows after which the start counts no more than `share`.

    Assumes nothing: the weight of the prior and of row 0 after t rows is ``(1-mu)^t``.

    Parameters
    ----------
    mu : float
        Forgetting factor, in (0, 1).
    share : float, default=0.01
        In (0, 1].

    Returns
    -------
    int
        The least ``t`` with ``(1-mu)^t <= share``.

    Examples
    --------
    >>> from dfop.theory import forgetting_time
    >>> forgetting_time(0.01)
    459
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share={share!r} must be in (0, 1]")
    decay = math.log1p(-check_mu(mu))
    t = max(math.ceil(math.log(share) / decay) - 1, 0)  # one too few, against rounding
    while t * decay > math.log(share) * (1.0 - 1e-12):
        t += 1
    return t


def start_forgotten(rows: Any, parts: Parts, share: float = 0.01) -> int | None:
    r"""Give the first row from which on the start makes up at most `share` of a bound.

    Assumes what the bound assumes. Unlike `forgetting_time` it knows the stream: a large prior
    variance is forgotten within a few rows, a small one after a multiple of ``1/mu``.

    Parameters
    ----------
    rows : array_like of shape (k,)
        Row numbers, `Certificates.rows`.
    parts : Parts
        A certificate of one stream at these rows.
    share : float, default=0.01
        In (0, 1].

    Returns
    -------
    int or None
        One of `rows`, or None if the start is not forgotten by the last.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import certify, start_forgotten
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> known = dict(mu=0.02, noise=0.1, drift=1e-3, start_error=1.0)
    >>> for prior_variance in (100.0, 0.01):
    ...     c = certify(X, P0=prior_variance, **known)
    ...     print(start_forgotten(c.rows, c.C3, share=0.1))
    3
    312
    """
    late = np.asarray(parts.initial) > share * np.asarray(parts.total)
    if late.ndim != 1:
        raise ValueError("start_forgotten takes the certificate of one stream")
    if late[-1]:
        return None
    first = int(np.flatnonzero(late)[-1]) + 1 if late.any() else 0
    return int(np.asarray(rows)[first])


def _coefficients(
    S: Any, noise: float, drift: float, drift_shape: Any, target: Target
) -> tuple[float, float]:
    """Give ``a`` and ``b`` of the error ``(a mu + b/mu)/(2 - mu)``."""
    d = len(S)
    S = check_shape("S", S, d)
    shape = np.eye(d) if drift_shape is None else check_shape("drift_shape", drift_shape, d)
    Q = drift**2 * shape
    rank = int(np.linalg.matrix_rank(S, hermitian=True))  # directions that the rows have
    if target == "estimate":
        if rank < d:
            raise ValueError(
                "S must be positive definite: the weights are not learned in a direction that the "
                "rows do not have; ask for target='prediction'"
            )
        return noise**2 * float(np.trace(np.linalg.inv(S))), float(np.trace(Q))
    if target == "prediction":
        return noise**2 * rank, float(np.trace(S @ Q))
    raise ValueError(f"target={target!r} must be 'estimate' or 'prediction'")
