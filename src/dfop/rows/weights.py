"""From a forgetting rule, times and weights to the discount and the gain of every row.

A row of weight ``c`` means the same row ``c`` times in a row. With a discount ``lam`` per row
that is one decay by ``lam^c`` and one entry with gain ``1 + lam + ... + lam^(c-1)
= (1 - lam^c)/(1 - lam)``; by the clock the copies come at the same time, so the decay is ``lam``
and the gain ``c``. A row of weight 0 is not seen: it neither decays nor enters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dfop.forgetting import Automatic, ByClock, ByRows, Forgetting

from .checks import refuse_masked
from .times import Clock, check_told, check_zone, noted_times, read_times

Array = NDArray[np.float64]
Rows = slice | NDArray[np.int64]

# A gap after which nothing of the past is left; exp underflows at 745 periods.
_LEAST_DISCOUNT = 1e-300
NO_TARGET = -1.0
"""What stands for the gain of a row without a target (`kNoTarget` in `filter.hpp`)."""
# Weights beyond these leave no trace, or leave no trace of anything else.
_LEAST_WEIGHT, _LARGEST_WEIGHT = 1e-60, 1e30


@dataclass(frozen=True)
class RowWeights:
    """What the rows of a batch do to the past and how they enter."""

    discount: Array
    """lam_t, of length n, or 1 where all are equal."""
    gain: Array
    """What the row itself enters with, of length n or 1; 0 where it is not seen, `NO_TARGET` where
    it has no target."""
    log_discount: Array
    """log lam_t, of length n or 1."""
    times: Array
    """How many times the row counts, of length n or 1."""
    clock: Clock
    """The clock after the batch."""
    moments: Array | None = None
    """When the rows came by the clock, in seconds."""
    when: NDArray[Any] | None = None
    """The same as it was told, where it was: see `noted_times`."""

    @cached_property
    def alike(self) -> bool:
        """Whether the same holds for all rows, however many."""
        if self.moments is not None or self.when is not None:
            return False
        return self.discount.size == self.gain.size == self.times.size == 1

    @cached_property
    def per_row(self) -> tuple[Array, Array]:
        """What a `dfop.core.Filter` takes of each row."""
        return self.discount, self.gain

    @property
    def any_seen(self) -> bool:
        """Whether any row enters."""
        return bool(self.gain.any())

    def without_targets(self, missing: NDArray[np.bool_]) -> RowWeights:
        """Return the same where some rows have no target: their time passes nevertheless."""
        passes = missing & (self.gain > 0.0)
        return replace(self, gain=np.where(passes, NO_TARGET, self.gain))

    @cached_property
    def pace(self) -> tuple[Array, Array]:
        """What `replay` of a `dfop.core.Filter` takes of each row."""
        return self.discount, self.log_discount

    def passed(self, now: float, n: int) -> float:
        """Return the log of the product of all discounts after n more rows, one after the other."""
        return float(np.cumsum(np.append(now, np.broadcast_to(self.log_discount, n)))[-1])

    def cut(self, part: Rows) -> RowWeights:
        """Return what holds for some of the rows."""
        if self.alike:
            return self
        return replace(
            self,
            discount=_some(self.discount, part),
            gain=_some(self.gain, part),
            log_discount=_some(self.log_discount, part),
            times=_some(self.times, part),
            moments=None if self.moments is None else self.moments[part],
            when=None if self.when is None else self.when[part],
        )


@dataclass(frozen=True)
class RowTimes:
    """The same where every expert of a bank has its own discount: time, counted in rows."""

    times: Array
    """How many times the row counts, of length n or 1: so long it lasts."""
    clock: Clock
    moments: Array | None = None
    missing: NDArray[np.bool_] | None = None
    """Which rows have no target, where there are such rows."""
    when: NDArray[Any] | None = None
    """When the rows came, where it was told: see `noted_times`."""

    @cached_property
    def alike(self) -> bool:
        """Whether the same holds for all rows, however many."""
        return self.times.size == 1 and self.missing is None and self.when is None

    @cached_property
    def per_row(self) -> tuple[Array, Array]:
        """What a `dfop.core.Bank` takes of each row: how long it lasts, and how old it is."""
        age = 0.0 if self.missing is None else np.where(self.missing, -np.inf, 0.0)
        return self.times, np.where(self.times > 0.0, age, np.inf)

    def without_targets(self, missing: NDArray[np.bool_]) -> RowTimes:
        """Return the same where some rows have no target: their time passes nevertheless."""
        return replace(self, missing=missing)

    @property
    def any_seen(self) -> bool:
        """Whether any row enters."""
        return bool(self.times.any())

    @cached_property
    def pace(self) -> Array:
        """What `replay` of a `dfop.core.Bank` takes of each row."""
        return self.times

    def passed(self, now: float, n: int) -> float:
        """Return the time after n more rows, one after the other."""
        return float(np.cumsum(np.append(now, np.broadcast_to(self.times, n)))[-1])

    def cut(self, part: Rows) -> RowTimes:
        """Return what holds for some of the rows."""
        if self.alike:
            return self
        missing = None if self.missing is None else self.missing[part]
        when = None if self.when is None else self.when[part]
        return replace(self, times=_some(self.times, part), missing=missing, when=when)


def _some(values: Array, part: Rows) -> Array:
    """Return the values of some rows; a single value stands for all of them."""
    return values if values.size == 1 else values[part]


def row_weights(
    rule: Forgetting,
    n: int,
    clock: Clock,
    *,
    discount: ArrayLike | None = None,
    time: Any = None,
    sample_weight: ArrayLike | None = None,
    noted: bool = False,
) -> RowWeights | RowTimes:
    """Check the arguments of a batch of `n` rows and turn them into discounts and gains.

    If `noted`, times may be told though no clock runs: alarms carry them.
    """
    if sample_weight is None and discount is None and time is None:
        unsaid = constant_weights(rule)
        if unsaid is not None:
            return unsaid
    weight = None if sample_weight is None else _weights(sample_weight, n)
    if isinstance(rule, Automatic):
        if discount is not None:
            raise ValueError(
                "discount= says how fast to forget, and the experts of this model have each their "
                "own pace: leave it away, or use a single filter (forgetting=0.001, "
                'features="linear")'
            )
        when, clock = noted_times(time, n, clock)
        return RowTimes(np.ones(1) if weight is None else weight, clock, when=when)
    noted = noted and not isinstance(rule, ByClock)
    if discount is not None and time is not None and not noted:
        raise ValueError("give discount= or time=, not both: each says how fast to forget")
    if isinstance(rule, ByClock) and discount is None:
        if time is None:
            raise ValueError(
                "this model forgets by the clock: pass time=, the time of every row (or choose "
                "a forgetting by rows, such as forgetting=0.001)"
            )
        seen = np.ones(n, bool) if weight is None else weight > 0
        gaps, moments, clock = _gaps(time, n, clock, seen)
        lam, log_lam = discounts_of_gaps(rule, gaps)
        times = np.ones(1) if weight is None else weight
        when, clock = noted_times(time, n, clock)
        return RowWeights(lam, times, log_lam, times, clock, moments, when)
    if time is not None and not noted:
        raise ValueError(
            "time= needs a model that forgets by the clock: forgetting=half_life('3d') or "
            "period('1h'); or one whose alarms carry it: monitor=True"
        )
    if discount is not None:
        lam = _discounts(discount, n)
        log_lam = np.log(lam)
    else:
        assert isinstance(rule, ByRows)
        lam, log_lam = _of_rule(rule)
    when, clock = noted_times(time, n, clock)
    return replace(_by_rows(lam, log_lam, weight, n, clock), when=when)


def _by_rows(lam: Array, log_lam: Array, weight: Array | None, n: int, clock: Clock) -> RowWeights:
    """Return what rows of such discounts, each as often as its weight says, do to the past."""
    if weight is None:
        once = np.ones(1)
        return RowWeights(lam, once, log_lam, once, clock)
    log_decay = weight * log_lam
    constant = np.broadcast_to(log_lam == 0.0, n)
    gain = np.where(
        constant, weight, np.expm1(log_decay) / np.where(constant, 1.0, np.expm1(log_lam))
    )
    decay = np.maximum(np.exp(log_decay), _LEAST_DISCOUNT)
    return RowWeights(decay, gain, log_decay, weight, clock)


def discounts_of_gaps(rule: ByClock, gaps: Array) -> tuple[Array, Array]:
    """Return the discounts of rows that come so long after those before, and their logarithms."""
    lam = np.maximum(np.exp(-gaps / rule.period), _LEAST_DISCOUNT)
    return lam, np.log(lam)


def fade_between(rule: Forgetting, last: Clock, first: Clock) -> float:
    """Return what fades, as a logarithm, from a row to the next one that came apart from it.

    By rows it is the next row's own matter. By the clock, `first` tells when the next row came.
    """
    if not isinstance(rule, ByClock) or last.last is None or first.last is None:
        return 0.0
    if last.datetimes != first.datetimes:
        raise ValueError("time is given as datetimes in one part and as numbers in the other")
    check_zone(last.zoned, first.zoned, "in one part", "in the other")
    gap = (first.last - last.last) * (1e-9 if last.datetimes else 1.0)
    if gap < 0.0:
        raise ValueError(
            "time runs backwards: the first row of the later part came before the last row of the "
            "earlier one; merge parts in the order of their time"
        )
    return min(gap / rule.period, -float(np.log(_LEAST_DISCOUNT)))


def _of_rule(rule: ByRows) -> tuple[Array, Array]:
    return np.array([1.0 - rule.mu]), np.array([np.log1p(-rule.mu)])


@lru_cache(maxsize=1024)
def constant_weights(rule: Forgetting) -> RowWeights | RowTimes | None:
    """Return what holds for every row where nothing is said of them; None if a clock runs."""
    once = np.ones(1)
    if isinstance(rule, Automatic):
        return RowTimes(once, Clock())
    if not isinstance(rule, ByRows):
        return None
    lam, log_lam = _of_rule(rule)
    return RowWeights(lam, once, log_lam, once, Clock())


def _per_row(values: ArrayLike, n: int, name: str) -> Array:
    refuse_masked(values, name, "give a number for every row")
    try:
        if np.asarray(values).dtype.kind in "SU":
            raise TypeError("these are text")
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if array.ndim == 0:
        array = np.full(n, array)
    if array.shape != (n,):
        raise ValueError(
            f"{name} has shape {array.shape} but there are {n} rows: give one number per row"
        )
    return np.require(array, requirements=["C", "A"])


def _weights(sample_weight: ArrayLike, n: int) -> Array:
    weight = _per_row(sample_weight, n, "sample_weight")
    bad = ~((weight >= 0.0) & (weight <= _LARGEST_WEIGHT))
    if bad.any():
        t = int(np.argmax(bad))
        raise ValueError(
            f"sample_weight is {weight[t]} at row {t}: a weight says how many times the row "
            "counts and must be 0 or more, and at most 1e30"
        )
    return np.where(weight < _LEAST_WEIGHT, 0.0, weight)


def _discounts(discount: ArrayLike, n: int) -> Array:
    lam = _per_row(discount, n, "discount")
    bad = ~((lam > 0.0) & (lam <= 1.0))
    if bad.any():
        t = int(np.argmax(bad))
        raise ValueError(
            f"discount is {lam[t]} at row {t}: it must be in (0, 1], where 1 forgets nothing"
        )
    return np.maximum(lam, _LEAST_DISCOUNT)


def _gaps(time: Any, n: int, clock: Clock, seen: NDArray[np.bool_]) -> tuple[Array, Array, Clock]:
    """Time since the row before, and the time itself, in seconds; rows not seen have no gap."""
    times, datetimes, zoned = read_times(time, n)
    if clock.last is not None:
        check_told(clock, datetimes, zoned)
    gaps, unit = np.zeros(n), 1e-9 if datetimes else 1.0
    rows = np.flatnonzero(seen)
    if rows.size == 0:
        return gaps, times * unit, clock
    chosen = times[rows]
    first = chosen[0] if clock.last is None else times.dtype.type(clock.last)
    with np.errstate(over="ignore"):  # a gap beyond all numbers forgets all
        steps = np.diff(chosen, prepend=first)
    if (steps < 0).any():
        t = int(rows[np.argmax(steps < 0)])
        raise ValueError(
            f"time runs backwards at row {t}: sort the rows by time, or leave late rows out"
        )
    gaps[rows] = steps * unit
    return gaps, times * unit, replace(clock, last=chosen[-1].item(), datetimes=datetimes)
