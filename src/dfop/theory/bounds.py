r"""Theorem 2 from summary numbers: as printed, and by the same argument without its slack."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import check_delta, check_mu, check_rows
from .concentration import sharp_radius, theorem1_radius

__all__ = ["Parts", "theorem2", "theorem2_sharp"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Parts:
    """A bound, or a second moment, split into what start, noise and drift contribute.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.theory import Parts
    >>> Parts(np.array([0.5]), np.array([0.25]), np.array([0.25])).total
    array([1.])
    """

    initial: Array
    """What is left of the error before the first row."""
    noise: Array
    """What the noise of the targets adds."""
    drift: Array
    """What the movement of the concept adds."""

    @property
    def total(self) -> Array:
        """The sum of the three."""
        return np.asarray(self.initial + self.noise + self.drift)


def theorem2(
    t: Any,
    *,
    mu: float,
    norm_P: Any,
    norm_R0: float,
    start_error: Any,
    x_max: Any,
    sigma: Any,
    gamma: Any,
    delta: float = 0.05,
) -> Parts:
    r"""Theorem 2 from summary numbers, in DFOP scale: C0 or C1, according to `norm_P`.

    Assumes ``y(t) = x(t)'w(t-1) + eps(t)``, noise and drift that are martingale differences with
    bounding constants at most `sigma` and `gamma`, and rows given.

    Parameters
    ----------
    t : array_like of int
        Row number, 1 or more.
    mu : float
        Forgetting factor, in (0, 1).
    norm_P : array_like
        ``sup_(k<=t) |P(k)|`` for the theorem as printed (C0), ``|P(t)|`` for C1. DFOP scale:
        1/mu times the ``P`` of a learner.
    norm_R0 : float
        ``|R(0)|``, DFOP scale: ``mu / prior_variance`` of a learner.
    start_error : array_like
        ``|w~(0)|``.
    x_max : array_like
        Largest ``|x(k)|``.
    sigma : array_like
        Largest bounding constant of the noise, `lemma3_sigma`.
    gamma : array_like
        Largest bounding constant of the drift, `lemma1_gamma`.
    delta : float, default=0.05
        Probability of failure.

    Returns
    -------
    Parts

    Examples
    --------
    >>> from dfop.theory import lemma1_gamma, lemma3_sigma, theorem2
    >>> bound = theorem2(
    ...     1000, mu=0.01, norm_P=1.5, norm_R0=1e-5, start_error=1.0, x_max=4.0,
    ...     sigma=lemma3_sigma(0.1), gamma=lemma1_gamma(1e-3, 5),
    ... )
    >>> float(bound.total)
    7.26
    """
    lam = 1.0 - check_mu(mu)
    t = check_rows(t)
    factor = theorem1_radius(1.0, check_delta(delta) / (2.0 * t))  # the union over k <= t
    norm_P, x_max = np.asarray(norm_P), np.asarray(x_max)
    return Parts(
        initial=np.asarray(norm_P * lam**t * norm_R0 * start_error),
        noise=np.asarray(norm_P * factor * 2.0 * x_max * sigma * math.sqrt(mu)),
        drift=np.asarray(norm_P * factor * gamma * (norm_R0 + x_max**2) / math.sqrt(mu)),
    )


def theorem2_sharp(
    t: Any,
    *,
    mu: float,
    norm_P: Any,
    norm_R0: float,
    start_error: Any,
    x_max: Any,
    sigma: Any,
    gamma: Any,
    delta: float = 0.05,
) -> Parts:
    r"""C2 from summary numbers, in DFOP scale: the argument of Theorem 2 without its slack.

    Assumes what `theorem2` assumes, and takes the same arguments with ``norm_P = |P(t)|``.
    It uses `sharp_radius` on the sums themselves, without a union over ``k``, and
    ``|R(k)| <= max(|R(0)|, x_max^2)``.

    Parameters
    ----------
    t, mu, norm_P, norm_R0, start_error, x_max, sigma, gamma, delta
        As in `theorem2`.

    Returns
    -------
    Parts

    Examples
    --------
    >>> from dfop.theory import lemma1_gamma, lemma3_sigma, theorem2_sharp
    >>> bound = theorem2_sharp(
    ...     1000, mu=0.01, norm_P=1.5, norm_R0=1e-5, start_error=1.0, x_max=4.0,
    ...     sigma=lemma3_sigma(0.1), gamma=lemma1_gamma(1e-3, 5),
    ... )
    >>> float(bound.total)
    1.75
    """
    lam = 1.0 - check_mu(mu)
    t = check_rows(t)
    norm_P, x_max = np.asarray(norm_P), np.asarray(x_max)
    squares = (1.0 - lam ** (2.0 * t)) / (1.0 - lam**2)  # sum_k lam^(2(t-k))
    Vn = squares * (mu * x_max * sigma) ** 2
    Vd = squares * (gamma * np.maximum(norm_R0, x_max**2)) ** 2
    half = check_delta(delta) / 2.0
    return Parts(
        initial=np.asarray(norm_P * lam**t * norm_R0 * start_error),
        noise=np.asarray(norm_P * sharp_radius(Vn, half)),
        drift=np.asarray(norm_P * sharp_radius(Vd, half)),
    )
