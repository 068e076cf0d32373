r"""How long a random sum of vectors can be: Theorem 1, a sharper form of it, and quadratic forms.

Theorem 1 is about martingale differences ``xi_i`` in Euclidean space whose *bounding sequence*
``sigma_i`` satisfies the light-tail condition

.. math:: \mathbb{E}_{i-1} \exp(\|\xi_i\|^2/\sigma_i^2) \le e , \qquad V = \sum_i \sigma_i^2 .

The paper takes it from Juditsky and Nemirovski (2008). It also follows from the sharper

.. math:: \Pr\{\|S_N\| \ge r\} \le 2 \exp\{-r^2/(3V)\} ,

which is proved in three steps. (1) The Hessian of ``cosh(l |v|)`` is at most
``l^2 cosh(l |v|)``, so
``E_(i-1) cosh(l |S + xi|) <= cosh(l |S|) E_(i-1)[exp(l |xi|) - l |xi|]`` (Pinelis 1994).
(2) That last factor is at most ``exp(3 l^2 sigma^2 / 4)``: for ``l sigma <= 4/3`` because
``e^a - a <= exp(9 a^2/16)``, beyond because ``a b <= 3 a^2/8 + 2 b^2/3``.
(3) Hence ``Pr{|S| >= r} <= 2 exp(-l r + 3 l^2 V/4)``; take ``l = 2 r/(3 V)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "TailCheck",
    "check_theorem1",
    "quadratic_radius",
    "sharp_radius",
    "theorem1_radius",
    "theorem1_tail",
]

Array = NDArray[np.float64]


def theorem1_tail(gamma: Any) -> Array:
    r"""Theorem 1: the most that ``Pr{|S| >= sqrt(2) (1 + gamma) sqrt(V)}`` can be.

    Assumes martingale differences with the bounding sequence that makes up ``V``.

    Parameters
    ----------
    gamma : array_like
        Deviations, 0 or more.

    Returns
    -------
    ndarray
        ``exp(-gamma^2 / 3)``.

    Examples
    --------
    >>> from dfop.theory import theorem1_tail
    >>> float(theorem1_tail(3.0))
    0.0498
    """
    return np.asarray(np.exp(-(np.square(gamma)) / 3.0))


def theorem1_radius(V: Any, probability: Any) -> Array:
    r"""Theorem 1 solved for the radius: ``|S|`` stays below it but for the given probability.

    Assumes martingale differences with bounding sequence ``sigma_i``, ``V = sum sigma_i^2``.

    Parameters
    ----------
    V : array_like
        Sum of the squares of the bounding sequence.
    probability : array_like
        What may fail, in (0, 1).

    Returns
    -------
    ndarray
        ``sqrt(2) (1 + sqrt(3 ln(1/probability))) sqrt(V)``.

    Examples
    --------
    >>> from dfop.theory import theorem1_radius
    >>> float(theorem1_radius(1.0, 0.025))
    6.12
    """
    deviation = np.sqrt(3.0 * np.log(1.0 / np.asarray(probability)))
    return np.asarray(math.sqrt(2.0) * (1.0 + deviation) * np.sqrt(V))


def sharp_radius(V: Any, probability: Any) -> Array:
    r"""Give the sharper radius under the very assumption of Theorem 1 (proof: head of the module).

    Assumes martingale differences with bounding sequence ``sigma_i``, ``V = sum sigma_i^2``.

    Parameters
    ----------
    V : array_like
        Sum of the squares of the bounding sequence.
    probability : array_like
        What may fail, in (0, 1).

    Returns
    -------
    ndarray
        ``sqrt(3 V ln(2/probability))``: below `theorem1_radius` for any probability up to 0.999,
        at 0.025 by 41 %.

    Examples
    --------
    >>> from dfop.theory import sharp_radius
    >>> float(sharp_radius(1.0, 0.025))
    3.63
    """
    return np.asarray(np.sqrt(3.0 * np.asarray(V) * np.log(2.0 / np.asarray(probability))))


def quadratic_radius(trace: Any, trace_square: Any, norm: Any, probability: Any) -> Array:
    r"""Radius of a sub-Gaussian vector with covariance proxy ``G`` (Hsu, Kakade, Zhang 2012).

    Assumes ``E exp(b'v) <= exp(b'G b / 2)`` for every ``b``; independent parts, each of this
    kind, add their ``G``.

    Parameters
    ----------
    trace, trace_square, norm : array_like
        ``tr G``, ``tr G^2``, ``|G|``.
    probability : array_like
        What may fail, in (0, 1).

    Returns
    -------
    ndarray
        ``sqrt(tr G + 2 sqrt(tr G^2 u) + 2 |G| u)``, ``u = ln(1/probability)``.

    Examples
    --------
    One dimension and 5 %: 3.23 standard deviations, where a Gaussian needs 1.96.

    >>> from dfop.theory import quadratic_radius
    >>> float(quadratic_radius(1.0, 1.0, 1.0, 0.05))
    3.23
    """
    u = np.log(1.0 / np.asarray(probability))
    square = np.asarray(trace) + 2.0 * np.sqrt(np.asarray(trace_square) * u) + 2.0 * norm * u
    return np.asarray(np.sqrt(square))


@dataclass(frozen=True)
class TailCheck:
    """How often random sums were longer than a radius, and how often Theorem 1 lets them.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import check_theorem1
    >>> check = check_theorem1(np.ones((4, 9, 1)), 1.0, gamma=[0.0, 1.0, 2.0])  # no martingale
    >>> check.frequency, check.holds
    (array([1., 1., 0.]), False)
    """

    gamma: Array
    """Deviations at which the tail was looked at."""
    frequency: Array
    """Share of the runs with ``|S| >= sqrt(2) (1 + gamma) sqrt(V)``."""
    bound: Array
    """``exp(-gamma^2/3)``."""

    @property
    def holds(self) -> bool:
        """Whether no frequency is above its bound."""
        return bool((self.frequency <= self.bound).all())


def check_theorem1(steps: Any, sigma: Any, gamma: Any = (0.0, 0.5, 1.0, 1.5, 2.0)) -> TailCheck:
    """Compare the tail of simulated sums with Theorem 1.

    Assumes that the steps of one run are martingale differences with bounding sequence `sigma`.

    Parameters
    ----------
    steps : array_like of shape (runs, N, d)
        The differences ``xi_i`` of many independent runs.
    sigma : array_like of shape (N,) or float
        Their bounding sequence.
    gamma : array_like, optional
        Deviations to look at.

    Returns
    -------
    TailCheck

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import check_theorem1, lemma1_gamma
    >>> steps = np.random.default_rng(0).normal(size=(500, 20, 3))
    >>> check_theorem1(steps, lemma1_gamma(1.0, 3)).holds
    True
    """
    steps = np.asarray(steps, dtype=np.float64)
    gamma = np.atleast_1d(np.asarray(gamma, dtype=np.float64))
    V = float(np.square(np.broadcast_to(sigma, steps.shape[1])).sum())
    length = np.linalg.norm(steps.sum(axis=1), axis=1)
    radius = math.sqrt(2.0 * V) * (1.0 + gamma)
    return TailCheck(gamma, (length[:, None] >= radius).mean(axis=0), theorem1_tail(gamma))
