"""Whether to believe a drift spectrum, which mu to take, and why: in words.

The formula of noise and steady drift gives a mu. It is believed if the experts' errors are as far
from it as chance allows, if it lies among the experts that were measured, and if the stream had
many of its periods. Else the expert that erred least is recommended: that was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Verdict", "judge"]

Array = NDArray[np.float64]

LARGEST_MISFIT = 1.25
"""Random walks seldom have more than 1; streams that are something else have 1.4 and more."""
FEWEST_PERIODS = 30
"""With fewer, mu is off by a fifth and more even on random walks."""
STILL = 1.01
"""Drift that costs a model without forgetting less than this factor is not worth a word."""
AS_GOOD = 1.05
"""Experts within this factor of the least error are as good as the best."""


@dataclass(frozen=True)
class Verdict:
    """What a drift spectrum is worth.

    Attributes
    ----------
    believed : bool
        Whether noise and steady drift explain the errors.
    mu : float
        The forgetting factor to take: the formula's if it is believed, else that of the expert that
        erred least.
    low, high : float
        Where it may be: of the formula, about two standard deviations; of experts, all that are as
        good as the best within 5 %.
    words : str
        The verdict and its reason.
    short : str
        The same in half a line, for a title.

    Examples
    --------
    >>> mu, errors = np.array([0.0, 0.01, 0.1]), np.array([3.0, 1.0, 1.5])
    >>> found = judge(mu, errors, fitted=0.012, largest=0.1, misfit=0.5, rows=50_000)
    >>> print(found.words)
    believe it: noise and steady drift explain the errors (misfit 0.5); a memory of about 83 rows
    suits, of which the stream had 600
    """

    believed: bool
    mu: float
    low: float
    high: float
    words: str
    short: str


def judge(
    forgetting: Array,
    errors: Array,
    *,
    fitted: float,
    largest: float,
    misfit: float,
    rows: int,
    alarms: int = 0,
) -> Verdict:
    """Judge the mu that a formula gives by what experts measured.

    Parameters
    ----------
    forgetting, errors : ndarray of shape (experts,)
        Their mu, and their mean squared errors.
    fitted : float
        The formula's mu.
    largest : float
        The largest mu for which the formula holds.
    misfit : float
        Distance of the errors from the formula, in what chance allows.
    rows : int
        How many rows the stream had.
    alarms : int
        How many sudden changes were found in it.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> mu, errors = np.array([0.0, 0.01, 0.3]), np.array([3.0, 2.0, 1.0])
    >>> found = judge(mu, errors, fitted=0.04, largest=0.08, misfit=3.3, rows=10_000, alarms=2)
    >>> found.believed, found.mu
    (False, 0.3)
    >>> print(found.words)
    do not believe the formula: the errors are not those of noise and steady drift
    (misfit 3.3, chance allows 1.25); the expert with mu = 0.3 erred least, the fastest there is:
    a faster one may be better still; 2 sudden changes (alarms) count as drift here
    """
    periods = rows * fitted
    if errors[np.argmin(forgetting)] <= STILL * errors.min():
        short = "no drift to be seen"
        words = f"{short}: a model that forgets nothing is as good as any"
        high = float(forgetting[errors <= STILL * errors.min()].max())
        return Verdict(True, 0.0, 0.0, high, words + _jumps(alarms), short)
    doubt = _doubt(fitted, largest, misfit, periods)
    if doubt is not None:
        return _measured(forgetting, errors, doubt, alarms)
    reach = 1.1 + 2.0 / np.sqrt(periods)  # a tenth for weights that stand still
    words = (
        f"believe it: noise and steady drift explain the errors (misfit "
        f"{_two_digits(misfit)}); a memory of about {1 / fitted:,.0f} rows suits, of which the "
        f"stream had {periods:,.0f}"
    )
    jumps = f", {alarms:,} sudden change{'s' * (alarms > 1)} counted in" if alarms else ""
    short = f"steady drift, a memory of {1 / fitted:,.0f} rows suits{jumps}"
    return Verdict(True, fitted, fitted / reach, fitted * reach, words + _jumps(alarms), short)


def _doubt(fitted: float, largest: float, misfit: float, periods: float) -> str | None:
    """Say why the formula's mu is not to be believed."""
    if misfit > LARGEST_MISFIT:
        return (
            "the errors are not those of noise and steady drift "
            f"(misfit {_two_digits(misfit)}, chance allows {LARGEST_MISFIT})"
        )
    if fitted > largest:
        return f"its mu = {fitted:.2g} is beyond {largest:.2g}, up to which it holds"
    if periods < FEWEST_PERIODS:
        return f"the stream had {periods:.0f} of its periods, fewer than {FEWEST_PERIODS}"
    return None


def _two_digits(misfit: float) -> str:
    return f"{float(f'{misfit:.2g}'):,g}"


def _measured(forgetting: Array, errors: Array, doubt: str, alarms: int) -> Verdict:
    """Recommend the expert that erred least."""
    best = float(forgetting[np.argmin(errors)])
    good = forgetting[errors <= AS_GOOD * errors.min()]
    words = f"do not believe the formula: {doubt}; the expert with mu = {best:.2g} erred least"
    if best == forgetting.max():
        words += ", the fastest there is: a faster one may be better still"
    short = f"not steady drift, mu = {best:.2g} erred least"
    return Verdict(False, best, float(good.min()), float(good.max()), words + _jumps(alarms), short)


def _jumps(alarms: int) -> str:
    if not alarms:
        return ""
    if alarms == 1:
        return "; one sudden change (alarm) counts as drift here"
    return f"; {alarms:,} sudden changes (alarms) count as drift here"
