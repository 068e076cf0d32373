"""When labels arrive.

The label of row ``i`` may be learned before row ``t`` is predicted if it has arrived by then:

* a delay of ``d`` rows: ``i + d < t``, so that without delay it is every row before ``t``;
* a delay by the clock: ``time[i] + delay <= time[t]``, and of course ``i < t``.

Either way the labels arrive in the order of the rows, and one number says it all: how many
are known when row ``t`` is predicted.
"""

from datetime import timedelta
from typing import Any

import numpy as np

from .sources import Array

Delay = int | float | timedelta | np.timedelta64


def known_labels(first: int, last: int, delay: Delay, time: Array | None) -> Array:
    """Count the labels that have arrived before each of the rows ``first`` to ``last - 1``.

    Parameters
    ----------
    first, last : int
        The rows asked about.
    delay : int, float, timedelta or numpy.timedelta64
        An int counts rows. Anything else is a duration by the stream's clock.
    time : array or None
        The moment of every row of the stream.

    Returns
    -------
    array of int
        It never decreases, and is at most the row's own number.

    Examples
    --------
    >>> known_labels(0, 5, 2, None)
    array([0, 0, 0, 1, 2])
    >>> known_labels(0, 5, 1.5, np.array([0.0, 1.0, 2.0, 2.0, 9.0]))
    array([0, 0, 1, 1, 4])
    """
    rows = np.arange(first, last)
    if isinstance(delay, int | np.integer):
        return np.maximum(rows - int(delay), 0)
    if time is None:
        raise AssertionError("check_delay refuses a duration without a clock")
    # After the last row of the stream the clock stands still.
    now = time[np.minimum(rows, len(time) - 1)]
    return np.asarray(np.minimum(np.searchsorted(time, now - _on(time, delay), side="right"), rows))


def check_delay(delay: Delay, time: Array | None) -> None:
    """Refuse a delay that the stream cannot measure.

    Parameters
    ----------
    delay : int, float, timedelta or numpy.timedelta64
        The delay.
    time : array or None
        The moment of every row of the stream.

    Examples
    --------
    >>> check_delay(1.5, None)
    Traceback (most recent call last):
    ValueError: a delay of 1.5 is a duration, and the stream has no time; give an int for a
    number of rows
    """
    if isinstance(delay, bool) or not isinstance(
        delay, int | float | timedelta | np.integer | np.floating | np.timedelta64
    ):
        raise TypeError(f"delay must be a number of rows or a duration, got {delay!r}")
    if isinstance(delay, int | np.integer):
        if delay < 0:
            raise ValueError(f"delay must not be negative, got {delay}")
        return
    if time is None:
        raise ValueError(
            f"a delay of {delay!r} is a duration, and the stream has no time; "
            "give an int for a number of rows"
        )
    dated = time.dtype.kind == "M"
    if dated != isinstance(delay, timedelta | np.timedelta64):
        needed = "a timedelta" if dated else "a float in the unit of the stream's time"
        raise TypeError(f"this stream's clock needs {needed} as delay, got {delay!r}")
    span = _on(time, delay)
    if not span >= span * 0:  # also when it is NaN or NaT
        raise ValueError(f"delay must not be negative, got {delay!r}")
    back = np.flatnonzero(~(time[1:] >= time[:-1]))
    if len(back):
        raise ValueError(f"time must never decrease, but does at row {back[0] + 1}")


def _on(time: Array, delay: Any) -> Any:
    return np.timedelta64(delay) if time.dtype.kind == "M" else float(delay)
