"""The headline figures of a history."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .curves import forgetting_curve, influence_curves

if TYPE_CHECKING:
    from .history import Array, History

SHOWN_ALARMS = 20
SHOWN_FEATURES = 8


def summarise(history: History) -> dict[str, Any]:
    """Return the figures that the page shows, as values that JSON can hold."""
    summary = {
        "rows": history.rows,
        "task": history.task,
        "window": history.window,
        "time": _time(history),
        "error": _errors(history),
        "forgetting": _forgetting(history),
        "features": _features(history),
        "alarms": {
            "count": len(history.alarms),
            "last": [_alarm(history, alarm) for alarm in history.alarms[-SHOWN_ALARMS:]],
        },
        "bad_rows": {"total": history.bad["total"], "kinds": dict(history.bad["kinds"])},
    }
    if history.task == "classification":
        summary["classes"] = len(history.classes.names)
        summary["calibration"] = _calibration(history)
    else:
        summary["coverage"] = _coverage(history)
    return summary


def finite(value: Any) -> float | None:
    """Return a number that JSON can hold, or None.

    Examples
    --------
    >>> finite(np.float64(0.5)), finite(float("inf"))
    (0.5, None)
    """
    number = float(value)
    return number if math.isfinite(number) else None


def total(history: History, name: str) -> float:
    """Return a figure added up over all pieces.

    Examples
    --------
    >>> from dfop.report import History
    >>> total(History("regression"), "error")
    0.0
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return float(history.pieces.column(name).sum())


def _share(history: History, name: str, of: str | None) -> float | None:
    """Return the mean of a figure over all rows that have it."""
    count = history.rows if of is None else total(history, of)
    return finite(total(history, name) / count) if count else None


def _errors(history: History) -> dict[str, Any]:
    now = [finite(value) for value in history.recent.now()[:3]]
    figures: dict[str, Any] = {
        "measure": "share wrong" if history.task == "classification" else "mean squared error",
        "now": now[0],
        "overall": _share(history, "error", None),
        "no_change_now": now[1],
        "no_change": _share(history, "no_change", "rivals"),
        "simple": history.simple,
        "simple_now": now[2],
        "simple_overall": _share(history, "simple", "rivals"),
    }
    if history.task == "regression":
        figures["absolute"] = _share(history, "absolute", None)
        figures["no_change_absolute"] = _share(history, "no_change_absolute", "rivals")
        figures["simple_absolute"] = _share(history, "simple_absolute", "rivals")
    return figures


def _forgetting(history: History) -> dict[str, Any]:
    mu = forgetting_curve(history)[1]
    now = float(mu[-1]) if len(mu) else None
    return {"mu": now, "period": None if not now else 1.0 / now}


def _features(history: History) -> list[dict[str, Any]]:
    shares = influence_curves(history, SHOWN_FEATURES)[1]
    return [{"name": name, "share": float(values[-1])} for name, values in shares.items()]


def _alarm(history: History, alarm: dict[str, Any]) -> dict[str, Any]:
    when = alarm.get("time")  # a model that was told no times knows about when
    return {**alarm, "time": time_of_row(history, alarm["row"]) if when is None else when}


def time_of_row(history: History, row: int) -> str | float | None:
    """Return about when a row came: the time at the end of its piece.

    Examples
    --------
    >>> from dfop.report import History
    >>> history = History("regression")
    >>> history.add([1.0, 2.0], [1.0, 2.0], time=np.array(["2024-01-01", "2024-01-02"], "M8[D]"))
    >>> time_of_row(history, 1)
    '2024-01-02 00:00:00'
    """
    piece = min(row // history.pieces.length, len(history.pieces) - 1)
    if piece < 0:
        return None
    return time_text(history, history.pieces.column("time")[piece])


def time_text(history: History, seconds: Any) -> str | float | None:
    """Return a time as it is shown: a date, or a number.

    Examples
    --------
    >>> from dfop.report import History
    >>> time_text(History("regression"), 3.0)
    3.0
    """
    if seconds is None or not math.isfinite(seconds):
        return None
    if not history.times["dates"]:
        return float(seconds)
    try:
        return str(np.datetime64(round(float(seconds)), "s")).replace("T", " ")
    except (ValueError, OverflowError):
        return None


def _time(history: History) -> dict[str, Any] | None:
    if history.times["first"] is None:
        return None
    return {end: time_text(history, history.times[end]) for end in ("first", "last")}


def _calibration(history: History) -> dict[str, Any] | None:
    """How far probabilities of the predicted class are from the share that was right."""
    rows, sums, right = history.calibration
    if not rows.sum():
        return None
    used = rows > 0
    gaps = np.abs(sums[used] - right[used])
    return {
        "rows": int(rows.sum()),
        "error": finite(gaps.sum() / rows.sum()),
        "mean_probability": finite(sums.sum() / rows.sum()),
        "right": finite(right.sum() / rows.sum()),
    }


def _coverage(history: History) -> dict[str, Any] | None:
    rows = total(history, "intervals")
    if not rows:
        return None
    return {
        "wanted": history.coverage,
        "rows": int(rows),
        "overall": finite(total(history, "inside") / rows),
        "now": finite(history.recent.now()[3]),
        "width": finite(total(history, "width") / rows),
    }


def in_bins(history: History) -> tuple[Array, Array, Array]:
    """Return mean probability, share right and rows of the bins that have any.

    Examples
    --------
    >>> from dfop.report import History
    >>> history = History("classification")
    >>> history.add(["a", "b"], ["a", "a"], probability=[0.75, 0.75])
    >>> in_bins(history)
    (array([0.75]), array([0.5]), array([2.]))
    """
    rows, sums, right = history.calibration
    used = rows > 0
    return sums[used] / rows[used], right[used] / rows[used], rows[used]
