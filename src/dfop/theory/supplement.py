r"""The lemmas of the paper's supplement, each as something to execute.

The first inverts a sum of matrices, from which the recursion of ``P`` follows; the second bounds
the norm of a sub-Gaussian vector; the third says that the square of a sub-Gaussian number is
sub-exponential. All are true. The proof of Lemma 1 goes on from the last with other constants than
it gives; `square_sides` shows both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import chi, norm

__all__ = ["Inversion", "Sides", "inversion_sides", "norm_sides", "square_sides"]

Array = NDArray[np.float64]

_LARGEST_POWER = 700.0  # of e, that a float holds


@dataclass(frozen=True)
class Sides:
    """Both sides of an inequality.

    Examples
    --------
    >>> Sides(1.0, 2.0).holds, Sides(3.0, 2.0).holds
    (True, False)
    """

    left: float
    """What is bounded."""
    right: float
    """Its bound."""

    @property
    def holds(self) -> bool:
        """Whether the left side is at most the right one, but for rounding."""
        return self.left <= self.right * (1.0 + 1e-9)


@dataclass(frozen=True, eq=False)
class Inversion:
    """Both sides of the inversion of a sum; see `inversion_sides`.

    Examples
    --------
    >>> inversion_sides([[2.0]], [[1.0]], [[2.0]], [[1.0]]).by_lemma.tolist()
    [[0.25]]
    """

    direct: Array
    """``(A + B C D)^-1``."""
    by_lemma: Array
    """``A^-1 - A^-1 B (D A^-1 B + C^-1)^-1 D A^-1``."""

    @property
    def distance(self) -> float:
        """How far apart the sides are, relative to their size."""
        size = float(np.linalg.norm(self.direct))
        return float(np.linalg.norm(self.direct - self.by_lemma)) / (size or 1.0)


def inversion_sides(A: Any, B: Any, C: Any, D: Any) -> Inversion:
    r"""Compute both sides of the lemma of matrix inversion.

    With ``A = lam R(t-1)``, ``B = D' = x`` and ``C = 1`` it is the update of ``P = R^-1`` in
    Algorithm 2: a division instead of an inversion. Assumes that ``A``, ``C`` and the sum that is
    inverted are regular.

    Parameters
    ----------
    A : array_like of shape (d, d)
    B : array_like of shape (d, k)
    C : array_like of shape (k, k)
    D : array_like of shape (k, d)
        A, C and ``A + B C D`` must have an inverse.

    Returns
    -------
    Inversion

    Raises
    ------
    ValueError
        If shapes do not fit, or one of the matrices has no inverse.

    Examples
    --------
    A row of the recursion, with mu = .1:

    >>> R, x = np.diag([2.0, 5.0]), np.array([[1.0], [3.0]])
    >>> sides = inversion_sides(0.9 * R, x, [[1.0]], x.T)
    >>> sides.distance < 1e-12
    True
    """
    a, b, c, d = (np.atleast_2d(np.asarray(m, dtype=np.float64)) for m in (A, B, C, D))
    n, k = b.shape
    if a.shape != (n, n) or c.shape != (k, k) or d.shape != (k, n):
        raise ValueError(
            f"A, B, C, D have shapes {a.shape}, {b.shape}, {c.shape}, {d.shape}: they must be "
            "(d, d), (d, k), (k, k), (k, d)"
        )
    try:
        inverse = np.linalg.inv(a)
        inner = np.linalg.inv(d @ inverse @ b + np.linalg.inv(c))
        direct = np.linalg.inv(a + b @ c @ d)
    except np.linalg.LinAlgError:
        raise ValueError("A, C and A + BCD must have an inverse: one of them has none") from None
    by_lemma = inverse - inverse @ b @ inner @ d @ inverse
    return Inversion(np.asarray(direct, np.float64), np.asarray(by_lemma, np.float64))


def norm_sides(sigma: float, d: int, *, copies: bool = False) -> Sides:
    r"""Compute both sides of the lemma of the norm, ``E exp(|x|) <= 2 exp(d^2 sigma^2/2)``.

    Assumes coordinates with variance proxy ``sigma^2`` each. The left side is that of Gaussian
    coordinates: independent ones, or `copies` of one, which have the longest norm.

    Parameters
    ----------
    sigma : float
        Standard deviation of the coordinates, positive.
    d : int
        How many there are.
    copies : bool, default=False
        Whether they are all the same number.

    Returns
    -------
    Sides

    Examples
    --------
    >>> norm_sides(1.0, 1)  # 2 exp(1/2) Phi(1)
    Sides(left=2.7742..., right=3.2974...)
    >>> norm_sides(0.5, 4, copies=True).holds
    True
    """
    _check(sigma, d)
    power = d**2 * sigma**2 / 2.0
    right = 2.0 * math.exp(power) if power < _LARGEST_POWER else math.inf
    if copies:
        s = sigma * math.sqrt(d)
        return Sides(2.0 * math.exp(s**2 / 2.0) * float(norm.cdf(s)), right)
    # the integrand is largest at the root of r^2 - sigma r = d - 1
    top = (sigma + math.sqrt(sigma**2 + 4.0 * (d - 1))) / 2.0
    left, _ = quad(
        lambda r: math.exp(sigma * r + float(chi.logpdf(r, d))), 0.0, top + 12.0, points=[top]
    )
    return Sides(float(left), right)


def square_sides(s: float, sigma: float, *, printed: bool = False) -> Sides:
    r"""Compute both sides of the lemma of the square: ``X^2 - E X^2`` is sub-exponential.

    ``E exp(s (X^2 - E X^2)) <= exp(128 s^2 sigma^4)`` for ``|s| <= 1/(16 sigma^2)``. Assumes that
    ``X`` has the variance proxy ``sigma^2``. The left side is that of a Gaussian,
    ``exp(-s sigma^2)/sqrt(1 - 2 s sigma^2)``. As `printed` in the proof of Lemma 1 the right side
    is ``exp(8 s^2 sigma^2)`` for ``|s| <= 1/(4 sigma)``: that does not follow, and is false from
    ``sigma = 2`` on, where the left side is infinite.

    Parameters
    ----------
    s : float
        Where the moment generating function is taken.
    sigma : float
        Standard deviation, positive.
    printed : bool, default=False
        Whether the right side is that which the proof of Lemma 1 uses.

    Returns
    -------
    Sides

    Raises
    ------
    ValueError
        If ``|s|`` is larger than the lemma allows.

    Examples
    --------
    >>> square_sides(1 / 16, 1.0)
    Sides(left=1.0043..., right=1.6487...)
    >>> square_sides(1 / 8, 2.0, printed=True)
    Sides(left=inf, right=1.6487...)
    """
    _check(sigma, 1)
    reach = 1.0 / (4.0 * sigma) if printed else 1.0 / (16.0 * sigma**2)
    if not abs(s) <= reach:
        raise ValueError(f"s={s!r}: the lemma is for |s| <= {reach:.6g}")
    rest = 1.0 - 2.0 * s * sigma**2
    left = math.exp(-s * sigma**2) / math.sqrt(rest) if rest > 0.0 else math.inf
    power = 8.0 * s**2 * sigma**2 if printed else 128.0 * s**2 * sigma**4
    return Sides(left, math.exp(power))


def _check(sigma: float, d: int) -> None:
    if not (math.isfinite(sigma) and sigma > 0.0):
        raise ValueError(f"sigma={sigma!r}: it must be a positive number")
    if isinstance(d, bool) or d != int(d) or d < 1:
        raise ValueError(f"d={d!r}: it must be a whole number, 1 or more")
