"""The watch of a model as plain data (JSON values, float64 tensors) and back, all checked."""

from __future__ import annotations

from typing import Any

from .core import COVERAGES
from .plain_values import Array, Tensors, number, tensor, texts, whole, within
from .uncertainty import Alarm
from .watch import MOST_ALARMS, Watch

_MOST_NAMES = 100


def describe_watch(watch: Watch, tensors: Tensors) -> dict[str, Any]:
    """Describe a watch; its arrays go to the tensors."""
    tensors.update({f"watch {name}": part for name, part in watch.snapshot().items()})
    return {
        "rows": watch.rows,
        "alarms": [[alarm.row, alarm.began, list(alarm.moved.items())] for alarm in watch.alarms],
        "open": [[alarm.row, alarm.began] for alarm in watch.open],
    }


def read_watch(watch: Watch, described: dict[str, Any], tensors: Tensors) -> None:
    """Let a fresh watch go on where the one that was described stood."""
    state = {}
    for name, part in watch.snapshot().items():
        state[name] = tensor(tensors, f"watch {name}", part.shape)
        _CHECKS[name.split()[0]](state[name])
    watch.rows = whole(described["rows"])
    watch.alarms = [
        _read_alarm(watch.rows, row, began, _read_moved(moved))
        for row, began, moved in described["alarms"]
    ]
    watch.open = [_read_alarm(watch.rows, row, began, {}) for row, began in described["open"]]
    if len(watch.alarms) > MOST_ALARMS:
        raise ValueError(f"{len(watch.alarms)} alarms")
    watch.restore(state)


def _read_moved(moved: Any) -> dict[str, float]:
    texts([name for name, _ in moved])
    return {name: number(z) for name, z in moved}


def _read_alarm(rows: int, row: Any, began: Any, moved: dict[str, float]) -> Alarm:
    if not whole(began) <= whole(row) < rows or len(moved) > _MOST_NAMES:
        raise ValueError(f"an alarm at row {row!r} since row {began!r}")
    return Alarm(row, began, moved)


def _check_alarm(state: Array) -> None:
    """Rows, CUSUM, rows since it rises; mean and relative square of errors, twice."""
    within(state[:1], 0.0, 2.0**53, "rows of the alarm")
    within(state[1:2], 0.0, 1e3, "the sum of the alarm")
    within(state[2:3], 0.0, float(state[0]), "the rising rows of the alarm")
    within(state[3:], 0.0, 1e300, "errors of the alarm")


def _check_intervals(state: Array) -> None:
    within(state[:1], 0.0, 2.0**53, "rows of the intervals")
    trackers = state[1:].reshape(-1, 1 + len(COVERAGES))
    within(trackers[:, 0], 0.0, 2.0**502, "the size of errors")
    within(trackers[:, 1:], 1e-6, 1e6, "half-widths")


def _check_calibration(state: Array) -> None:
    """Slope, constant and the curvature of the loss, of each class."""
    curves = state.reshape(-1, 5)
    within(curves[:, :2], -1e3, 1e3, "curves of the calibration")
    a, b, c = curves[:, 2:].T
    within(curves[:, 2:], -1e6, 1e6, "the curvature of the calibration")
    # it starts at the identity, and rows only add to it
    within(a, 0.5, 1e6, "the curvature of the calibration")
    within(a * c - b * b, 0.25, 1e12, "the curvature of the calibration")


_CHECKS = {
    "alarm": _check_alarm,
    "intervals": _check_intervals,
    "calibration": _check_calibration,
}
