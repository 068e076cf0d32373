"""The watch of a model as plain data (JSON values, float64 tensors) and back, all checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import COVERAGES, State
from .plain_values import Array, Tensors, number, tensor, texts, whole
from .uncertainty import Alarm
from .watch import MOST_ALARMS, Watch

_MOST_NAMES = 100


def describe_watch(watch: Watch, tensors: Tensors) -> dict[str, Any]:
    """Describe a watch; its arrays go to the tensors."""
    for name, part in watch.state().items():
        tensors[f"watch {name}"] = _flat(name, part)
    return {
        "rows": watch.rows,
        "alarms": [[alarm.row, alarm.began, list(alarm.moved.items())] for alarm in watch.alarms],
        "open": [[alarm.row, alarm.began] for alarm in watch.open],
    }


def read_watch(watch: Watch, described: dict[str, Any], tensors: Tensors) -> None:
    """Let a fresh watch go on where the one that was described stood."""
    state = {}
    for name, part in watch.state().items():
        values = tensor(tensors, f"watch {name}", _flat(name, part).shape)
        state[name] = _apart(name, part, values)
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


def _flat(name: str, part: State) -> Array:
    """Put the fields of a part one after the other, as format 2 does."""
    if name == "alarm":
        return np.concatenate([value.ravel() for value in part.values()])
    if name == "intervals":
        trackers = np.column_stack([part["mean"], part["ratio"]])
        return np.concatenate([[float(part["rows"])], trackers.ravel()])
    return np.column_stack(list(part.values())).ravel()


def _apart(name: str, part: State, values: Array) -> State:
    """Take apart what format 2 holds of a part that has such fields."""
    if name == "alarm":
        return {field: np.array(value) for field, value in zip(part, values, strict=True)}
    if name == "intervals":
        trackers = values[1:].reshape(-1, 1 + len(COVERAGES))
        return {"rows": np.array(values[0]), "mean": trackers[:, 0], "ratio": trackers[:, 1:]}
    return dict(zip(part, values.reshape(-1, len(part)).T, strict=True))
