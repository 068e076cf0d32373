r"""Theorem 2 as numbers: certificates of ``w~(t) = w_hat(t) - w(t)``, each below the last.

The model is ``y(t) = x(t)'w(t-1) + eps(t)``, ``w(t) = w(t-1) + s(t)``. In DFOP scale, then,

.. math:: R(t)\tilde w(t) = (1-\mu) R(t-1)\tilde w(t-1) + \mu\, x(t) \epsilon(t) - R(t) s(t) ,

so the error has a part from the start, one from the noise and one from the drift:

.. math::

    \tilde w(t) = P(t) \Big[ (1-\mu)^t R(0) \tilde w(0)
        + \sum_k (1-\mu)^{t-k} \mu\, x(k) \epsilon(k) - \sum_k (1-\mu)^{t-k} R(k) s(k) \Big] .

``C0``  Theorem 2 as printed, with ``K = sup |P(k)|`` and the corrected ``sigma``.
``C1``  the same with ``|P(t)|``, which is all the proof uses.
``C2``  the sharper radius of `sharp_radius` on the two sums themselves, in place of Lemmas 2 and 3.
``C3``  the covariance proxy of ``w~(t)`` itself, and the radius of `quadratic_radius`.

Each holds with probability ``1 - delta`` at each fixed row, not at all rows at once: for a band
over ``n`` rows use ``delta/n``. The order ``C3 <= C2 <= C1 <= C0`` is certain (but for rounding).
All are statements given the rows: these must not depend on noise or drift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bounds import Parts, theorem2
from .checks import check_delta, check_mu, check_shape
from .concentration import quadratic_radius, sharp_radius
from .lemmas import lemma1_gamma_of, lemma3_sigma
from .passage import State, run, stack
from .scale import Scale, prior_precision

__all__ = ["ASSUMPTIONS", "Certificates", "certify"]

Array = NDArray[np.float64]

ASSUMPTIONS = {
    "C0": "noise and drift: martingale differences with bounding constants sigma, gamma",
    "C1": "noise and drift: martingale differences with bounding constants sigma, gamma",
    "C2": "noise and drift: martingale differences with bounding constants sigma, gamma",
    "C3": "noise and drift: sub-Gaussian with known proxies, given each other's past",
    "second_moment": "noise and drift: mean 0, uncorrelated, variances equal to the proxies",
}
"""What each certificate takes for granted, beyond linear data and given rows, in one line."""


@dataclass(frozen=True)
class Certificates:
    """Certificates along a stream, at the rows `rows`; see `certify`.

    Examples
    --------
    >>> from dfop.theory import certify
    >>> c = certify([[1.0], [1.0]], mu=0.5, noise=1.0, drift=0.0, start_error=2.0, P0=1.0)
    >>> c.rows, c.C3.initial
    (array([1, 2]), array([0.66666667, 0.28571429]))
    """

    rows: NDArray[np.int64]
    """Row numbers, from 1."""
    delta: float
    """Probability with which each certificate may fail at a given row."""
    C0: Parts
    """Theorem 2. Assumes martingale differences with bounding constants."""
    C1: Parts
    """Theorem 2 with ``|P(t)|`` for ``K``. Assumes the same."""
    C2: Parts
    """Both sums bounded as they are. Assumes the same."""
    C3: Parts
    """Assumes vector sub-Gaussian noise and drift. One radius covers noise and drift together;
    it is shared out in proportion to their second moments."""
    second_moment: Parts
    """``E |w~|^2``, exact if noise and drift are uncorrelated with the given variances; an upper
    bound if those are proxies, or if only the length of the start's error was given."""

    @property
    def rms(self) -> Array:
        """Root of ``E |w~(t)|^2``: the size of error to expect, not a bound."""
        return np.asarray(np.sqrt(self.second_moment.total))


def certify(
    X: Any,
    *,
    mu: float,
    noise: Any,
    drift: Any,
    start_error: Any,
    P0: Any = 100.0,
    scale: Scale = "gdfop",
    delta: float = 0.05,
    drift_shape: Any = None,
    sigma: Any = None,
    gamma: Any = None,
    at: Any = None,
) -> Certificates:
    r"""Compute C0 to C3 and the expected squared error along a stream, or many streams at once.

    Assumes ``y(t) = x(t)'w(t-1) + eps(t)``, ``w(t) = w(t-1) + s(t)``, rows that do not depend on
    noise and drift, and of these what `ASSUMPTIONS` says, certificate by certificate. The
    learner is plain DFOP: ``cap=None`` or a cap that does not act, no intercept but as a column.

    Parameters
    ----------
    X : array_like of shape (n, d) or (..., n, d)
        The rows; leading axes are independent streams.
    mu : float
        Forgetting factor, in (0, 1).
    noise : float or array_like of shape (n,)
        Square root of the variance proxy of the noise: ``E exp(a eps) <= exp(a^2 noise^2/2)``.
    drift : float or array_like of shape (n,)
        The same for the drift: ``E exp(b's) <= exp(drift^2 b'S b/2)``, S = `drift_shape`.
    start_error : float or array_like of shape (..., d)
        ``w~(0) = w_hat(0) - w(0)``, or, as a number, a bound of its length.
    P0 : float or array_like of shape (d, d), default=100.0
        ``P(0)``; a number stands for a multiple of the identity.
    scale : {"gdfop", "dfop"}, default="gdfop"
        What `P0` is: ``prior_variance`` of the learners and ``P`` of Algorithm 2, or ``P`` of
        Algorithm 1 and Theorem 2, which is 1/mu times that.
    delta : float, default=0.05
        Probability with which each certificate may fail, at each given row.
    drift_shape : array_like of shape (d, d), optional
        Directions of the drift; the identity if not given.
    sigma, gamma : float or array_like of shape (n,), optional
        Bounding constants of noise and drift for C0 to C2, where better ones are known (noise
        bounded by b: ``sigma=b``). By default those of Lemmas 3 and 1.
    at : array_like of int, optional
        Rows to report, counted from 1; all if not given.

    Returns
    -------
    Certificates
        Arrays of shape (..., rows). C0 to C2 are infinite where the rows left a direction without
        excitation for so long that ``P`` has no finite value any more.

    Notes
    -----
    With ``lam = 1 - mu`` and all in DFOP scale::

        R  <- lam R + mu x x'                       k = mu P x,  F = I - k x'
        Vn <- lam^2 Vn + (mu |x| sigma)^2           Vd <- lam^2 Vd + (|R| gamma)^2
        Gn <- F Gn F' + noise^2 k k'                Gd <- F Gd F' + drift^2 S

    C2 is ``|P| (lam^t |R0 w~0| + sqrt(3 ln(4/delta)) (sqrt(Vn) + sqrt(Vd)))``. C3 is
    ``|lam^t P R0 w~0|`` plus the radius of ``G = Gn + Gd``, and
    ``E |w~|^2 = |lam^t P R0 w~0|^2 + tr G``. The same in the paper's coordinates: ``G = P M P``,
    ``M <- lam^2 M + mu^2 noise^2 x x' + drift^2 R S R``.

    Why C3 <= C2: ``tr G <= |P|^2 (Vn + Vd)`` as ``sigma >= noise``, ``gamma^2 >= drift^2 tr S``,
    and ``1 + 2 sqrt(u) + 2u <= 3 (u + ln 4)`` for every u. Why C2 <= C1: ``Vn <= mu sigma*^2``,
    ``|R(k)| <= |R0| + x*^2``. A `sigma` or `gamma` below the proxies would void the first.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import certify
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> c = certify(X, mu=0.02, noise=0.1, drift=1e-3, start_error=1.0, at=[500])
    >>> for bound in (c.C0, c.C1, c.C2, c.C3):
    ...     print(f"{bound.total[0]:.3g}", end=" ")
    1.86e+04 4.99 0.202 0.046
    >>> c.rms
    array([0.0197])
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim < 2 or not np.isfinite(X).all():
        raise ValueError("X must be finite numbers of shape (rows, features), or more such streams")
    n, d = X.shape[-2:]
    R0 = prior_precision(P0, d, check_mu(mu), scale)
    S = np.eye(d) if drift_shape is None else check_shape("drift_shape", drift_shape, d)
    noise, drift = _sequence("noise", noise, n), _sequence("drift", drift, n)
    sigma = lemma3_sigma(1.0) * noise if sigma is None else _sequence("sigma", sigma, n)
    gamma = lemma1_gamma_of(S) * drift if gamma is None else _sequence("gamma", gamma, n)
    rows = _rows(at, n)
    start = _start(start_error, d)
    states = stack(list(run(X, mu, R0, S, noise, drift, sigma, gamma, start, rows)))
    half = check_delta(delta) / 2.0
    length = np.abs(start) if start.ndim == 0 else np.linalg.norm(start, axis=-1)[..., None]
    weighted = np.linalg.norm(R0, 2) * length  # |R(0) w~(0)|, or its bound
    if start.ndim:
        weighted = np.linalg.norm(start @ R0, axis=-1)[..., None]
    fade = (1.0 - mu) ** rows
    # 0 * inf where P is not finite: set to inf below
    with np.errstate(invalid="ignore", over="ignore"):
        printed = [
            theorem2(
                rows,
                mu=mu,
                norm_P=norm_P,
                norm_R0=float(np.linalg.norm(R0, 2)),
                start_error=length,
                x_max=states.x_max,
                sigma=np.maximum.accumulate(sigma)[rows - 1],
                gamma=np.maximum.accumulate(gamma)[rows - 1],
                delta=delta,
            )
            for norm_P in (states.K, states.p_norm)
        ]
        C2 = Parts(
            initial=states.p_norm * fade * weighted,
            noise=states.p_norm * sharp_radius(states.Vn, half),
            drift=states.p_norm * sharp_radius(states.Vd, half),
        )
        C3 = _quadratic(states, delta)
        moment = Parts(states.bias**2, states.trace_noise, states.trace_drift)
    finite = np.isfinite(states.p_norm)
    C0, C1, C2 = (_infinite_unless(finite, parts) for parts in (*printed, C2))
    return Certificates(rows, delta, C0, C1, C2, C3, moment)


def _start(start_error: Any, d: int) -> Array:
    start = np.asarray(start_error, dtype=np.float64)
    if start.ndim and start.shape[-1] != d:
        raise ValueError(f"start_error must be a number or end in {d} features, not {start.shape}")
    if not np.isfinite(start).all():
        raise ValueError("start_error must be finite")
    return start


def _quadratic(states: State, delta: float) -> Parts:
    """Return C3, its radius shared between noise and drift as their traces are."""
    trace = states.trace_noise + states.trace_drift
    radius = quadratic_radius(trace, states.trace_square, states.g_norm, delta)
    share = np.divide(states.trace_noise, trace, out=np.ones_like(trace), where=trace > 0.0)
    return Parts(initial=states.bias, noise=radius * share, drift=radius * (1.0 - share))


def _infinite_unless(finite: NDArray[np.bool_], parts: Parts) -> Parts:
    return Parts(
        *(np.where(finite, part, np.inf) for part in (parts.initial, parts.noise, parts.drift))
    )


def _sequence(name: str, value: Any, n: int) -> Array:
    sequence = np.asarray(value, dtype=np.float64)
    if sequence.shape not in ((), (n,)):
        raise ValueError(f"{name} must be one number or one for each of the {n} rows")
    if not ((sequence >= 0.0) & np.isfinite(sequence)).all():
        raise ValueError(f"{name} must be 0 or more, and finite")
    return np.broadcast_to(sequence, (n,))


def _rows(at: Any, n: int) -> NDArray[np.int64]:
    rows = np.arange(1, n + 1) if at is None else np.unique(np.asarray(at, dtype=np.int64))
    if rows.size == 0 or rows[0] < 1 or rows[-1] > n:
        raise ValueError(f"rows to report are counted from 1 to {n}")
    return rows
