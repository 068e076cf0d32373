"""When labels arrive.

The label of row ``i`` may be learned before row ``t`` is predicted if it has arrived by then:

* a delay of ``d`` rows: ``i + d < t``, so that without delay it is every row before ``t``;
* a delay by the clock: ``time[i] + delay <= time[t]``, and of course ``i < t``.

Either way the labels arrive in the order of the rows, and one number says it all: how many
are known when row ``t`` is predicted.
"""

from datetime import timedelta
from typing import Any, cast

import numpy as np

from dfop.forgetting import seconds_of

from .sources import Array

Delay = int | float | timedelta | np.timedelta64 | str


def known_labels(first: int, last: int, delay: Delay, base: int, time: Array | None) -> Array:
    """Count the labels that have arrived before each of the rows ``first`` to ``last - 1``.

    Parameters
    ----------
    first, last : int
        The rows asked about.
    delay : int, float, timedelta, numpy.timedelta64 or str
        An int counts rows. Anything else is a duration by the stream's clock.
    base : int
        A row before which all labels are known to have arrived.
    time : array or None
        The moments of the rows ``base`` to ``last - 1``; nothing older is needed.

    Returns
    -------
    array of int
        It never decreases, and is at most the row's own number.

    Examples
    --------
    >>> known_labels(0, 5, 2, 0, None)
    array([0, 0, 0, 1, 2])
    >>> known_labels(0, 5, 1.5, 0, np.array([0.0, 1.0, 2.0, 2.0, 9.0]))
    array([0, 0, 1, 1, 4])
    """
    rows = np.arange(first, last)
    if _counts_rows(delay):
        return np.maximum(rows - int(cast("int", delay)), 0)
    if time is None:
        raise AssertionError("check_delay refuses a duration without a clock")
    arrived = base + np.searchsorted(time, time[rows - base] - _span(delay, time), side="right")
    return np.asarray(np.minimum(arrived, rows))


class Arrivals:
    """Count the labels that have arrived, batch by batch.

    Only times of rows whose labels are under way are kept: memory grows with the delay, not
    with the stream.

    Parameters
    ----------
    delay : int, float, timedelta, numpy.timedelta64 or str
        How long labels take.
    label_batch : int
        How many labels come together, when the last of them does.

    Examples
    --------
    >>> arrivals = Arrivals(1)
    >>> arrivals.count(3, None), arrivals.count(2, None)
    (array([0, 0, 1, 2]), array([2, 3, 4]))
    >>> Arrivals(0, 3).count(7, None)
    array([0, 0, 0, 3, 3, 3, 6, 6])
    """

    def __init__(self, delay: Delay, label_batch: int = 1) -> None:
        self.delay, self.label_batch = delay, label_batch
        self.seen = 0  # rows so far
        self._base = 0  # the first row whose label is under way
        self._times: Array | None = None  # of the rows from there on

    @property
    def late(self) -> bool:
        """Whether some label comes after the next row."""
        return bool(self.delay) or self.label_batch > 1

    def count(self, n: int, time: Array | None) -> Array:
        """Count the labels known before each of the next rows, and after the last.

        Parameters
        ----------
        n : int
            How many rows come.
        time : array of shape (n,) or None
            Their moments.

        Returns
        -------
        array of int of shape (n + 1,)
            The last entry is for a row that would come next, at the moment of the last.
        """
        times = time
        if time is not None:
            if self._times is not None:
                times = np.concatenate([self._times, time])
            assert times is not None
            check_clock(times, self.delay, self._base)
            times = np.append(times, times[-1:])
        end = self.seen + n
        known = known_labels(self.seen, end + 1, self.delay, self._base, times)
        known -= known % self.label_batch
        if times is not None:
            self._times = times[int(known[-1]) - self._base : -1]
        self.seen, self._base = end, int(known[-1])
        return known


def check_delay(delay: Delay, clocked: bool) -> None:
    """Refuse what is no delay, or none that the stream can measure.

    Parameters
    ----------
    delay : int, float, timedelta, numpy.timedelta64 or str
        The delay.
    clocked : bool
        Whether the rows of the stream have a time.

    Examples
    --------
    >>> check_delay(1.5, clocked=False)
    Traceback (most recent call last):
    ValueError: a delay of 1.5 is a duration, and the stream has no time; give an int for a
    number of rows
    """
    durations = float | timedelta | np.floating | np.timedelta64 | str
    if isinstance(delay, bool) or not isinstance(delay, int | np.integer | durations):
        raise TypeError(f"delay must be a number of rows or a duration, got {delay!r}")
    size: Any = seconds_of(delay) if isinstance(delay, str) else delay
    if isinstance(delay, np.timedelta64):
        size = _nanoseconds(delay)
    if not size >= size * 0:  # also when it is NaN or NaT
        raise ValueError(f"delay must not be negative, got {delay!r}")
    if isinstance(delay, durations) and not clocked:
        raise ValueError(
            f"a delay of {delay!r} is a duration, and the stream has no time; "
            "give an int for a number of rows"
        )


def check_clock(time: Array, delay: Delay, first: int) -> None:
    """Refuse a clock that runs backwards or does not fit the delay.

    Parameters
    ----------
    time : array
        The moments of some rows.
    delay : int, float, timedelta, numpy.timedelta64 or str
        The delay.
    first : int
        The number of the first of these rows.

    Examples
    --------
    >>> check_clock(np.array([1.0, 2.0, 1.5]), 3.0, first=40)
    Traceback (most recent call last):
    ValueError: time must never decrease, but does at row 42
    """
    if _counts_rows(delay):
        return
    dated = time.dtype.kind == "M"
    if dated != isinstance(delay, timedelta | np.timedelta64 | str):
        needed = (
            "a timedelta, or a text such as '10h',"
            if dated
            else "a float in the unit of the stream's time"
        )
        raise TypeError(f"this stream's clock needs {needed} as delay, got {delay!r}")
    back = np.flatnonzero(~(time[1:] >= time[:-1]))
    if len(back):
        raise ValueError(f"time must never decrease, but does at row {first + back[0] + 1}")


def _counts_rows(delay: Any) -> bool:
    # numpy takes a timedelta64 for an integer
    return isinstance(delay, int | np.integer) and not isinstance(delay, np.timedelta64)


def _span(delay: Any, time: Array) -> Any:
    return _nanoseconds(delay) if time.dtype.kind == "M" else float(delay)


def _nanoseconds(delay: str | timedelta | np.timedelta64) -> np.timedelta64:
    """Return a duration in a unit in which all moments can be told apart."""
    if isinstance(delay, str):
        return np.timedelta64(round(seconds_of(delay) * 1e9), "ns")
    if isinstance(delay, timedelta):
        return np.timedelta64(delay)
    unit = np.datetime_data(delay.dtype)[0]
    if unit in ("generic", "Y", "M"):
        raise ValueError(f"delay {delay!r} has no fixed length: give it in days or smaller units")
    return delay
