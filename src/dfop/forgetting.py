r"""Forgetting rules: how much less the past counts when a row arrives.

Every rule gives the discount ``lam_t`` of the paper's generalised objective

.. math:: \sum_{i \le t} \Big(\prod_{j=i+1}^{t} \lambda_j\Big) (y_i - x_i'w)^2 .

The paper writes ``mu = 1 - lam`` and calls ``1/mu`` the forgetting period.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

__all__ = [
    "Automatic",
    "ByClock",
    "ByRows",
    "Duration",
    "Few",
    "Forgetting",
    "as_rule",
    "half_life",
    "period",
    "seconds_of",
]

Duration = str | timedelta | np.timedelta64

_SECONDS = {
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0,
    "w": 604800.0,
}  # fmt: skip


_SPOKEN = [(unit, _SECONDS[unit]) for unit in ("w", "d", "h", "min", "s")]


@dataclass(frozen=True)
class ByRows:
    """Forget a constant share ``mu`` with every row: ``lam = 1 - mu``."""

    mu: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.mu < 1.0:
            raise ValueError(
                f"forgetting mu={self.mu!r} must be in [0, 1): 0 never forgets, 0.001 forgets "
                "over about 1000 rows"
            )


@dataclass(frozen=True, repr=False)
class ByClock:
    """Forget by the clock: ``lam_t = exp(-(time_t - time_(t-1)) / period)``."""

    period: float
    """Forgetting period, in seconds where times are datetimes, else in the unit of `time`."""

    def __post_init__(self) -> None:
        if not (self.period > 0.0 and math.isfinite(self.period)):
            raise ValueError(f"a forgetting period must be positive and finite, not {self.period}")

    def __repr__(self) -> str:
        for rule, share in ((period, 1.0), (half_life, math.log(2.0))):
            for unit, size in _SPOKEN:
                count = round(self.period * share / size)
                if count and count * size / share == self.period:
                    return f"{rule.__name__}('{count}{unit}')"
        return f"ByClock(period={self.period!r})"


@dataclass(frozen=True)
class Automatic:
    """Forget at many rates side by side and let the stream decide: ``forgetting="auto"``."""


@dataclass(frozen=True)
class Few(Automatic):
    """The same with a few linear filters alone, for a model per key: ``forgetting="few"``."""


Forgetting = ByRows | ByClock | Automatic


def period(length: float | Duration) -> Forgetting:
    """Forget over a period: a row one period old counts ``1/e`` of a new one.

    Parameters
    ----------
    length : float or duration
        A number of rows (the paper's ``1/mu``), or a time span to forget by the clock: a string
        such as ``"3d"`` or ``"90min"`` (ns, us, ms, s, min, h, d, w), a `datetime.timedelta` or
        a `numpy.timedelta64`. Numeric times count as seconds.

    Returns
    -------
    ByRows or ByClock
        A rule for the argument ``forgetting`` of the learners.

    Examples
    --------
    >>> from dfop import period
    >>> period(1000)
    ByRows(mu=0.001)
    >>> period("90min")
    period('90min')
    """
    if isinstance(length, str | timedelta | np.timedelta64):
        return ByClock(seconds_of(length))
    _check_length("period", length)
    if not (math.isfinite(length) and length > 1.0):
        raise ValueError(f"a period of {length!r} rows is too short: it must be more than 1 row")
    return ByRows(1.0 / length)


def half_life(length: float | Duration) -> Forgetting:
    """Forget with a half-life: a row one half-life old counts half of a new one.

    Parameters
    ----------
    length : float or duration
        A number of rows, or a time span to forget by the clock (see `period`).

    Returns
    -------
    ByRows or ByClock
        A rule for the argument ``forgetting`` of the learners.

    Examples
    --------
    >>> from dfop import half_life
    >>> half_life(1)
    ByRows(mu=0.5)
    >>> half_life("1h")
    half_life('1h')
    """
    if isinstance(length, str | timedelta | np.timedelta64):
        return ByClock(seconds_of(length) / math.log(2.0))
    _check_length("half_life", length)
    if not (math.isfinite(length) and length > 0.0):
        raise ValueError(f"a half-life of {length!r} rows is impossible: it must be positive")
    return ByRows(-math.expm1(-math.log(2.0) / length))


def _check_length(name: str, length: Any) -> None:
    if not isinstance(length, int | float | np.integer | np.floating):
        raise TypeError(
            f"{name}({length!r}) is no length: give a number of rows, or a duration such as '3d'"
        )


def as_rule(forgetting: Any) -> Forgetting:
    """Turn what a user may give as ``forgetting`` into a rule: "auto", "few", mu, or a rule."""
    if isinstance(forgetting, ByRows | ByClock | Automatic):
        return forgetting
    if isinstance(forgetting, str) and forgetting == "auto":
        return Automatic()
    if isinstance(forgetting, str) and forgetting == "few":
        return Few()
    if isinstance(forgetting, bool) or not isinstance(
        forgetting, int | float | np.integer | np.floating
    ):
        raise ValueError(
            f'forgetting={forgetting!r} is not a rule: give "auto", "few", mu in [0, 1), '
            "period(rows or duration) or half_life(rows or duration)"
        )
    return ByRows(float(forgetting))


def seconds_of(length: Duration) -> float:
    """Return a duration in seconds.

    Examples
    --------
    >>> seconds_of("3d")
    259200.0
    """
    if isinstance(length, timedelta):
        seconds = length.total_seconds()
    elif isinstance(length, np.timedelta64):
        seconds = float(length / np.timedelta64(1, "ns")) * 1e-9
    else:
        match = re.fullmatch(r"\s*(\d+\.?\d*(?:[eE][+-]?\d+)?)\s*([a-z]+)\s*", length)
        if match is None or match[2] not in _SECONDS:
            raise ValueError(
                f"cannot read the duration {length!r}: write a number and a unit of "
                f"{', '.join(_SECONDS)}, such as '3d'"
            )
        seconds = float(match[1]) * _SECONDS[match[2]]
    if not (seconds > 0.0 and math.isfinite(seconds)):
        raise ValueError(f"the duration {length!r} must be positive and finite")
    return seconds
