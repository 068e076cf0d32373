"""The monitor of a model: its alarms as JSON values, the fields of its parts as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from dfop.model.monitor import KINDS, MOST_ALARMS, Alarm, LabelMonitor, Monitor
from dfop.model.opening import Target, new_monitor

from .container import Tensors
from .values import Reading, known, listed, number, texts, whole

_MOST_NAMES = 100
_ALARM = ("row", "began", "kind", "moved", "columns", "time")
_MONITOR = {"rows", "came", "time", "alarms", "open"}
_OLD_RULE = {
    "rows", "sum", "rising", "trusted/mean", "trusted/square", "latest/mean", "latest/square",
}  # fmt: skip


def describe_monitor(monitor: Monitor, tensors: Tensors) -> dict[str, Any]:
    """Describe a monitor; the fields of its parts go to the arrays."""
    for part, what in monitor.parts().items():
        for name, values in what.state().items():
            tensors[f"monitor/{part}/{name}"] = values
    return {
        "rows": monitor.rows,
        "came": monitor.came,
        "time": _told(monitor.time),
        "alarms": [_described(alarm) for alarm in monitor.alarms],
        "open": [_described(alarm) for alarm in monitor.open],
    }


def _described(alarm: Alarm) -> dict[str, Any]:
    values = {name: getattr(alarm, name) for name in _ALARM}
    return {**values, "columns": list(alarm.columns), "time": _told(alarm.time)}


def _told(time: np.datetime64 | float | None) -> int | float | None:
    """Return a time as JSON has it: whole ns since 1970, or a number with a point."""
    return int(time.astype(np.int64)) if isinstance(time, np.datetime64) else time


def _read_time(told: Any) -> np.datetime64 | float | None:
    if told is None:
        return None
    if type(told) is int and abs(told) < 2**63:
        return np.datetime64(told, "ns")
    return number(told)


def read_monitor(target: Target, features: int, described: Any, reading: Reading) -> Monitor:
    """Return the monitor that was described, of a model with that target and so many features.

    Files of before alarms told jumps from errors that rise hold the state of another rule. What is
    normal is then learned anew: no alarm rings in the first rows.
    """
    if type(described) is dict and set(described) == _MONITOR - {"came", "time"}:
        described = {**described, "came": described["rows"], "time": None}  # of before times
    known(described, _MONITOR, "the monitor")
    monitor = new_monitor(target, _features(features, reading))
    if isinstance(monitor, LabelMonitor):
        monitor.keep_curves(_curves(reading))
    for part, what in monitor.parts().items():
        state = reading.under(f"monitor/{part}/")
        if part == "watch" and not state:
            _drop_old_rule(reading)
            continue
        if part == "intervals" and "wild" not in state and "usual" not in state:
            fresh = what.state()  # of before they knew of wild errors, or of targets that come late
            state = {name: fresh[name] for name in fresh.keys() - {"rows", "mean", "ratio"}} | state
        if "shared/w" in state and "reliability/offsets" not in state:  # before it was corrected
            fresh = what.state()
            state |= {name: fresh[name] for name in fresh if name.startswith("reliability/")}
        what.restore(state)
    monitor.rows, monitor.came = whole(described["rows"]), whole(described["came"])
    monitor.time = _read_time(described["time"])
    for name in ("alarms", "open"):
        alarms = [_read_alarm(monitor, alarm) for alarm in listed(described[name], "alarms")]
        setattr(monitor, name, alarms)
    if max(len(monitor.alarms), len(monitor.open)) > MOST_ALARMS:
        raise ValueError(f"{len(monitor.alarms)} alarms")
    return monitor


def _curves(reading: Reading) -> str:
    """Return which curves of probabilities a file has."""
    if "monitor/calibration 0/shared/w" not in reading.left:
        return "apart"
    return "standard" if "monitor/calibration 0/labels" in reading.left else "of leads"


def _features(features: int, reading: Reading) -> int:
    """How many features the alarms have seen: those that opened with the last row come later."""
    counts = reading.left.get("monitor/watch/inputs/count")
    seen = len(counts) if counts is not None and counts.ndim else features
    if seen > features:
        raise ValueError("alarms of more features than there are")
    return seen


def _drop_old_rule(reading: Reading) -> None:
    state = reading.under("monitor/alarm/")
    if set(state) != _OLD_RULE or any(values.shape for values in state.values()):
        raise ValueError("no state of the alarms")


def _read_alarm(monitor: Monitor, described: Any) -> Alarm:
    if type(described) is list and len(described) in (2, 3):  # of before they had a kind
        row, began, *moved = described
        described = {"row": row, "began": began, "kind": "errors", "columns": []}
        described["moved"] = moved[0] if moved else {}
    if type(described) is dict and set(described) == set(_ALARM) - {"time"}:
        described = {**described, "time": None}  # of before times
    alarm = known(described, set(_ALARM), "an alarm")
    rows = monitor.came if alarm["kind"] == "inputs" else monitor.rows
    row, began, moved = alarm["row"], alarm["began"], alarm["moved"]
    if type(moved) is not dict or len(moved) > _MOST_NAMES:
        raise ValueError("what moved at an alarm")
    if not whole(began) <= whole(row) < rows:
        raise ValueError(f"an alarm at row {row!r} since row {began!r}")
    if alarm["kind"] not in KINDS:
        raise ValueError(f"an alarm of the kind {alarm['kind']!r}")
    texts(list(moved), "names")
    columns = tuple(texts(alarm["columns"], "columns"))
    if len(columns) > _MOST_NAMES:
        raise ValueError(f"an alarm of {len(columns)} columns")
    z = {name: number(value) for name, value in moved.items()}
    return Alarm(row, began, alarm["kind"], z, columns, _read_time(alarm["time"]))
