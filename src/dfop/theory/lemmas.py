r"""Lemmas 1 to 3 of the paper with constants that can be used, each as something to execute.

Three sizes of a random vector are kept apart:

- its *variance proxy* ``s^2``: ``E exp(b'x) <= exp(s^2 |b|^2/2)``, for a Gaussian the variance;
- the same for each coordinate alone (the paper's Definition 2), which says less;
- its *bounding constant* ``gamma``: ``E exp(|x|^2/gamma^2) <= e``, what Theorem 1 needs.

Lemma 1 leads from the first two to the third. Lemma 3 as printed takes the proxy of the noise for
its bounding constant ("i.e."), and its proof rests on ``E exp(eps^2/sigma^2) <= e``. For a
Gaussian with ``sigma`` its standard deviation that expectation is infinite; with
``1.5209 sigma`` it is exactly ``e``. (The inequality that Lemma 3 concludes survives the slip,
because it is loose: 1.5209 times the sharper radius is still below it.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import erf, erfi

from .checks import check_delta, check_mu, check_rows
from .concentration import theorem1_radius

__all__ = [
    "Lemma2Sides",
    "lemma1_gamma",
    "lemma1_gamma_of",
    "lemma2_sides",
    "lemma3_bound",
    "lemma3_sigma",
    "normal_light_tail",
]

Array = NDArray[np.float64]


def lemma1_gamma(s: float, d: int, *, coordinatewise: bool = False) -> float:
    r"""Lemma 1: a bounding constant of a d-dimensional sub-Gaussian vector.

    Assumes variance proxy ``s^2`` in every direction, ``E exp(b'x) <= exp(s^2 |b|^2/2)``: true
    of ``N(0, s^2 I)``, for which the constant is exact, and of independent coordinates with
    proxy ``s^2`` each. With `coordinatewise` it assumes no more than the paper: each coordinate
    alone has proxy ``s^2``, whatever their dependence.

    Parameters
    ----------
    s : float
        Square root of the variance proxy.
    d : int
        Dimension.
    coordinatewise : bool, default=False
        Assume nothing about the dependence of the coordinates.

    Returns
    -------
    float
        ``gamma`` with ``gamma^2 = 2 s^2/(1 - e^(-2/d))``, or ``2 d s^2/(1 - e^-2)``.

    Notes
    -----
    With ``g ~ N(0, I)`` independent of ``x``,
    ``E exp(theta |x|^2/(2 s^2)) = E exp(sqrt(theta) x'g/s) <= (1 - theta)^(-d/2)``, which is
    ``e`` at ``theta = 1 - e^(-2/d)``. Coordinates that depend on each other: Hölder reduces the
    product of ``d`` factors to one coordinate with ``d x_j^2``.

    Examples
    --------
    >>> from dfop.theory import lemma1_gamma
    >>> lemma1_gamma(1.0, 5)
    2.4630
    >>> lemma1_gamma(1.0, 5, coordinatewise=True)
    3.4008
    """
    if coordinatewise:
        return math.sqrt(2.0 * d / -math.expm1(-2.0)) * s
    return math.sqrt(2.0 / -math.expm1(-2.0 / d)) * s


def lemma1_gamma_of(Q: Any) -> float:
    r"""Lemma 1 for a covariance proxy that differs by direction.

    Assumes ``E exp(b'x) <= exp(b'Q b/2)`` for every ``b``; exact for ``N(0, Q)``.

    Parameters
    ----------
    Q : array_like of shape (d, d)
        Covariance proxy.

    Returns
    -------
    float
        The ``gamma`` that solves ``prod_j (1 - 2 q_j/gamma^2) = e^-2`` over the eigenvalues of Q.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import lemma1_gamma_of
    >>> lemma1_gamma_of(np.eye(5))
    2.4630
    """
    q = np.linalg.eigvalsh(np.asarray(Q, dtype=np.float64))
    largest = float(q[-1])
    if q[0] < -1e-12 * abs(largest) or largest < 0.0:
        raise ValueError("a covariance proxy must be positive semidefinite")
    if largest == 0.0:
        return 0.0
    share = np.maximum(q, 0.0) / largest
    low, high = lemma1_gamma(1.0, 1) ** 2, lemma1_gamma(1.0, len(q)) ** 2

    def excess(square: float) -> float:
        return float(np.log1p(-2.0 * share / square).sum()) + 2.0

    # the ends: all the proxy in one direction, or the same in each
    square = brentq(excess, low * (1.0 - 1e-9), high * (1.0 + 1e-9), xtol=1e-14)
    return math.sqrt(float(square) * largest)


def lemma3_sigma(s: float) -> float:
    r"""Bounding constant of scalar noise, which Lemma 3 and Theorem 2 need for ``sigma``.

    Assumes sub-Gaussian noise with variance proxy ``s^2``; exact for ``N(0, s^2)``. Noise bounded
    by ``b`` has the bounding constant ``b``, which may be smaller.

    Parameters
    ----------
    s : float
        Square root of the variance proxy; the standard deviation of Gaussian noise.

    Returns
    -------
    float
        ``sqrt(2/(1 - e^-2)) s = 1.5209 s``.

    Examples
    --------
    >>> from dfop.theory import lemma3_sigma
    >>> lemma3_sigma(1.0)
    1.5209
    """
    return lemma1_gamma(s, 1)


def normal_light_tail(gamma: float, d: int = 1, *, reach: float = math.inf) -> float:
    r"""``E exp(|z|^2/gamma^2)`` of ``z ~ N(0, I_d)``, or its part with ``|z| <= reach`` (d = 1).

    Assumes nothing. It is ``e`` at the constants of Lemma 1, and infinite at ``gamma = 1``, where
    the proof of Lemma 3 needs it to be at most ``e``: the part within `reach` grows for ever.

    Parameters
    ----------
    gamma : float
        Supposed bounding constant, in standard deviations.
    d : int, default=1
        Dimension.
    reach : float, default=inf
        Count only ``|z| <= reach``; for ``d = 1``.

    Returns
    -------
    float

    Examples
    --------
    >>> from dfop.theory import normal_light_tail
    >>> normal_light_tail(1.5209)
    2.718
    >>> normal_light_tail(1.0)
    inf
    >>> for reach in (1, 2, 4, 8):
    ...     print(f"{normal_light_tail(1.0, reach=reach):.3g}", end=" ")
    0.953 3.77 643 8e+12
    """
    excess = 1.0 / gamma**2 - 0.5  # the density times exp(z^2/gamma^2) goes as exp(excess z^2)
    if reach == math.inf:
        return math.inf if excess >= 0.0 else (1.0 - 2.0 / gamma**2) ** (-d / 2.0)
    if d != 1:
        raise ValueError("a finite reach is for d = 1")
    if excess == 0.0:
        return math.sqrt(2.0 / math.pi) * reach
    root = math.sqrt(abs(excess))
    part = erfi(root * reach) if excess > 0.0 else erf(root * reach)
    return float(part) / (math.sqrt(2.0) * root)


@dataclass(frozen=True)
class Lemma2Sides:
    """Both sides of Lemma 2 on one sequence.

    Examples
    --------
    >>> from dfop.theory import lemma2_sides
    >>> lemma2_sides([[0.0]], [[[1.0]]], [[3.0]], mu=0.25)
    Lemma2Sides(left=0.75, by_parts=0.75, right=6.0, B=3.0)
    """

    left: float
    """``|sum_k (1-mu)^(t-k) Y(k) x(k)|``."""
    by_parts: float
    """The same after summation by parts; equal to `left` up to rounding."""
    right: float
    """``B (|Y(0)| + Z*) mu^(-1/2)``."""
    B: float
    """The largest ``|x(k) + ... + x(t)| / sqrt(t-k+1)``, which Theorem 1 bounds."""


def lemma2_sides(Y0: Any, Z: Any, x: Any, mu: float) -> Lemma2Sides:
    r"""Lemma 2 on one sequence: ``left <= right``, whatever the numbers are.

    Assumes nothing: probability enters only afterwards, when Theorem 1 and a union bound over
    ``k`` put ``B <= sqrt(2) (1 + sqrt(3 ln(2t/delta))) gamma*`` with probability ``1 - delta/2``.

    Parameters
    ----------
    Y0 : array_like of shape (d, d)
        ``Y(0)``; then ``Y(k) = (1-mu) Y(k-1) + mu Z(k)``.
    Z : array_like of shape (t, d, d)
    x : array_like of shape (t, d)
    mu : float
        In (0, 1).

    Returns
    -------
    Lemma2Sides

    Notes
    -----
    Summation by parts gives
    ``(1-mu)^t Y(0) S(t,1) + sum_k mu (1-mu)^(t-k) Z(k) S(t,k)``, ``S(t,k) = x(k) + ... + x(t)``.
    Then ``(1-mu)^t sqrt(t) <= (2 e mu)^(-1/2)`` and ``sum_k mu (1-mu)^(k-1) sqrt(k) <= mu^(-1/2)``.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import lemma2_sides
    >>> sides = lemma2_sides([[1.0]], np.ones((3, 1, 1)), [[1.0], [-1.0], [2.0]], mu=0.5)
    >>> sides.left, sides.by_parts, sides.right
    (1.75, 1.75, 5.656854)
    """
    lam = 1.0 - check_mu(mu)
    Y = np.array(Y0, dtype=np.float64)
    Z, x = np.asarray(Z, dtype=np.float64), np.asarray(x, dtype=np.float64)
    t = len(x)
    ends = np.cumsum(x[::-1], axis=0)[::-1]  # S(t, k)
    parts = lam**t * Y @ ends[0]
    largest = np.linalg.norm(Y, 2) + max(np.linalg.norm(matrix, 2) for matrix in Z)
    left = np.zeros(x.shape[1])
    for k in range(t):
        Y = lam * Y + mu * Z[k]
        left = lam * left + Y @ x[k]
        parts = parts + mu * lam ** (t - 1 - k) * Z[k] @ ends[k]
    B = float((np.linalg.norm(ends, axis=1) / np.sqrt(np.arange(t, 0, -1))).max())
    return Lemma2Sides(
        left=float(np.linalg.norm(left)),
        by_parts=float(np.linalg.norm(parts)),
        right=B * float(largest) / math.sqrt(mu),
        B=B,
    )


def lemma3_bound(t: Any, *, mu: float, x_max: float, sigma: float, delta: float) -> Array:
    r"""Lemma 3, corrected: a bound of ``|sum_k (1-mu)^(t-k) x(k) eps(k)|``.

    Assumes noise that is a martingale difference with *bounding constant* at most `sigma` (see
    `lemma3_sigma`), and ``|x(k)| <= x_max``. Holds with probability ``1 - delta/2``, for each
    fixed ``t``, not for all at once.

    Parameters
    ----------
    t : array_like of int
        Row number, 1 or more.
    mu : float
        Forgetting factor, in (0, 1).
    x_max : float
        Largest ``|x(k)|``.
    sigma : float
        Largest bounding constant of the noise.
    delta : float
        Twice the probability of failure.

    Returns
    -------
    ndarray
        ``2 sqrt(2) (1 + sqrt(3 ln(2t/delta))) x_max sigma mu^(-1/2)``.

    Examples
    --------
    >>> from dfop.theory import lemma3_bound, lemma3_sigma
    >>> float(lemma3_bound(100, mu=0.01, x_max=1.0, sigma=lemma3_sigma(0.1), delta=0.05))
    25.76
    """
    factor = theorem1_radius(1.0, check_delta(delta) / (2.0 * check_rows(t)))
    return np.asarray(2.0 * factor * x_max * sigma / math.sqrt(check_mu(mu)))
