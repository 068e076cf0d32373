"""The monitor of a model: its alarms as JSON values, the fields of its parts as arrays."""

from __future__ import annotations

from typing import Any

from dfop.model.model import Target, new_monitor
from dfop.model.monitor import MOST_ALARMS, Alarm, Monitor

from .container import Tensors
from .values import Reading, known, listed, number, texts, whole

_MOST_NAMES = 100


def describe_monitor(monitor: Monitor, tensors: Tensors) -> dict[str, Any]:
    """Describe a monitor; the fields of its parts go to the arrays."""
    for part, what in monitor.parts().items():
        for name, values in what.state().items():
            tensors[f"monitor/{part}/{name}"] = values
    return {
        "rows": monitor.rows,
        "alarms": [[alarm.row, alarm.began, alarm.moved] for alarm in monitor.alarms],
        "open": [[alarm.row, alarm.began] for alarm in monitor.open],
    }


def read_monitor(target: Target, described: Any, reading: Reading) -> Monitor:
    """Return the monitor that was described, of a model with that target."""
    known(described, {"rows", "alarms", "open"}, "the monitor")
    monitor = new_monitor(target)
    for part, what in monitor.parts().items():
        what.restore(reading.under(f"monitor/{part}/"))
    rows = monitor.rows = whole(described["rows"])
    monitor.alarms = [
        _read_alarm(rows, row, began, moved)
        for row, began, moved in listed(described["alarms"], "alarms")
    ]
    monitor.open = [
        _read_alarm(rows, row, began, {}) for row, began in listed(described["open"], "alarms")
    ]
    if max(len(monitor.alarms), len(monitor.open)) > MOST_ALARMS:
        raise ValueError(f"{len(monitor.alarms)} alarms")
    return monitor


def _read_alarm(rows: int, row: Any, began: Any, moved: Any) -> Alarm:
    if type(moved) is not dict or len(moved) > _MOST_NAMES:
        raise ValueError("what moved at an alarm")
    if not whole(began) <= whole(row) < rows:
        raise ValueError(f"an alarm at row {row!r} since row {began!r}")
    texts(list(moved), "names")
    return Alarm(row, began, {name: number(z) for name, z in moved.items()})
