"""How sure a model is: widths of intervals at any coverage, and what moved when an alarm rang.

The tracking itself is compiled (`dfop.core.Intervals`, `Calibration`, `ErrorAlarm`): it runs with
every row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from .core import COVERAGES, moved_weights

__all__ = ["Alarm", "half_widths_at", "moved"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Alarm:
    """A sudden change that was found.

    Attributes
    ----------
    row : int
        The row at which the alarm rang, counted from 0.
    began : int
        The row at which the errors began to rise: about where the change was.
    moved : dict of str to float
        By feature, how far its weight had moved at the first multiple of 256 rows after the alarm
        (until then: now), in standard errors; empty where there are no linear experts; largest
        first. See `moved`.

    Examples
    --------
    >>> alarm = Alarm(row=512, began=500, moved={"speed": 9.1, "load": -6.0, "heat": 0.4})
    >>> print(alarm)
    row 512: change since about row 500; moved: speed +9.1, load -6.0
    """

    row: int
    began: int
    moved: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        clearly = [f"{name} {z:+.1f}" for name, z in self.moved.items() if abs(z) > 3]
        what = ", ".join(clearly) if clearly else "no single weight clearly"
        return f"row {self.row}: change since about row {self.began}; moved: {what}"


def half_widths_at(half_widths: Array, coverage: float) -> Array:
    """Half-widths of intervals at any coverage, from those that are tracked.

    Between tracked coverages they are interpolated, linearly in the quantile of a Gaussian of
    the same coverage; below the least they go to 0 in the same way.

    Parameters
    ----------
    half_widths : ndarray of shape (..., levels)
        Half-widths at `dfop.core.COVERAGES`.
    coverage : float
        Share of the targets that shall be inside, above 0 and at most 0.99.

    Returns
    -------
    ndarray of shape (...)

    Examples
    --------
    >>> from scipy.stats import norm
    >>> tracked = norm.ppf((1 + np.array(COVERAGES)) / 2)  # of a Gaussian
    >>> float(half_widths_at(tracked, 0.85)), float(norm.ppf(0.925))
    (1.43953, 1.43953)
    >>> half_widths_at(tracked, 0.999)
    Traceback (most recent call last):
    ValueError: coverage=0.999: it must be above 0 and at most 0.99, the largest that is tracked
    """
    if not isinstance(coverage, int | float | np.number) or not 0.0 < coverage <= COVERAGES[-1]:
        raise ValueError(
            f"coverage={coverage!r}: it must be above 0 and at most {COVERAGES[-1]}, the largest "
            "that is tracked"
        )
    knots = ndtri((1 + np.array([0.0, *COVERAGES])) / 2)
    at = float(ndtri((1 + coverage) / 2))
    upper = min(int(np.searchsorted(knots, at)), len(COVERAGES))
    share = (at - knots[upper - 1]) / (knots[upper] - knots[upper - 1])
    high = half_widths[..., upper - 1]
    low = half_widths[..., upper - 2] if upper > 1 else np.zeros_like(high)
    # Before the first row all are infinite, and 0 times that would be no number.
    known = np.isfinite(high)
    between = (1 - share) * np.where(known, low, 0.0) + share * np.where(known, high, 0.0)
    return np.asarray(np.where(known, between, high))


def moved(
    fast: ArrayLike,
    slow: ArrayLike,
    variances: ArrayLike,
    *,
    mu_fast: float,
    mu_slow: float,
    rows: float,
    noise: float,
) -> Array:
    r"""How far each weight has moved of late, in standard errors.

    Compares an expert that forgets fast with one that forgets slowly. While nothing moves, each
    value has mean 0 and variance 1, or less if ``d mu_fast`` is not small (0.8 at 0.5).

    Parameters
    ----------
    fast, slow : array-like of shape (d,)
        The weights of both experts.
    variances : array-like of shape (d,)
        The diagonal of the fast expert's ``P`` (`dfop.core.Filter.variances`).
    mu_fast, mu_slow : float
        Their forgetting factors; 0 for a slow one that never forgets.
    rows : float
        Rows both have learned.
    noise : float
        Variance of the noise.

    Returns
    -------
    ndarray of shape (d,)

    Notes
    -----
    With ages i from 0 to rows - 1, :math:`S = E xx'` and noise :math:`s^2`,

    .. math::

        \operatorname{Var}(w_f - w_s) = s^2 S^{-1} (A_{ff} + A_{ss} - 2 A_{fs}), \quad
        A_{ab} = \frac{\sum (\lambda_a \lambda_b)^i}{\sum \lambda_a^i \sum \lambda_b^i}

    and :math:`S^{-1} = P_f \sum \lambda_f^i`. On a long stream and with a slow expert that never
    forgets this is :math:`s^2 P_f / (1 + \lambda_f)`.

    Examples
    --------
    >>> z = moved([1.5, 0.1], [0.0, 0.0], [0.1, 0.1], mu_fast=0.1, mu_slow=0.0, rows=1e6, noise=1.0)
    >>> z.round(2)  # 1.5 / sqrt(0.1 / 1.9)
    array([6.54, 0.44])
    """
    if not 0 < mu_fast < 1 or not 0 <= mu_slow < mu_fast:
        raise ValueError(
            f"mu_fast={mu_fast!r} and mu_slow={mu_slow!r}: 0 <= mu_slow < mu_fast < 1 is needed"
        )
    if not rows >= 1 or not noise >= 0:
        raise ValueError(f"rows={rows!r} must be at least 1 and noise={noise!r} at least 0")
    w_fast, w_slow, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (fast, slow, variances))
    return moved_weights(w_fast, w_slow, p, 1 - mu_fast, 1 - mu_slow, rows, noise)
