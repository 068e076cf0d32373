"""Rows that wait for their label, one after the other in few arrays, and back, all checked."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np

from dfop.model.model import Model
from dfop.model.waiting import WaitingRow, WaitingRows

from .container import Tensors
from .values import LARGEST, Reading, known, listed, whole, within


def describe_waiting(waiting: WaitingRows, tensors: Tensors) -> dict[str, Any]:
    """Describe whose label is waited for; the rows go to the arrays."""
    rows = list(waiting.rows.values())
    if rows:
        cells = [len(row.values) // 8 for row in rows]
        widths = [len(row.predicted) // 8 for row in rows]
        tensors["waiting/cells"] = np.array(cells, dtype=np.int32)
        tensors["waiting/columns"] = np.frombuffer(b"".join(r.columns for r in rows), np.int32)
        tensors["waiting/values"] = np.frombuffer(b"".join(r.values for r in rows))
        tensors["waiting/times"] = np.array([(row.stamp, row.arrived) for row in rows])
        tensors["waiting/widths"] = np.array(widths, dtype=np.int32)
        tensors["waiting/predicted"] = np.frombuffer(b"".join(r.predicted for r in rows))
    return {"keys": list(waiting.rows), "expired": waiting.expired}


def read_waiting(model: Model, described: Any, reading: Reading) -> None:
    """Give a model the rows that were described."""
    known(described, {"keys", "expired"}, "the waiting rows")
    waiting, keys = model.waiting, listed(described["keys"], "keys")
    waiting.expired = whole(described["expired"])
    if not keys:
        return
    if not all(type(key) in (int, str) for key in keys) or len(set(keys)) != len(keys):
        raise ValueError("keys of waiting rows")
    if len(keys) > waiting.limit or model.by_name:
        raise ValueError(f"{len(keys)} waiting rows")
    columns, values, cells = _read_cells(model.coder.width, len(keys), reading)
    predicted, widths = _read_predicted(model, len(keys), reading)
    times = reading.take("waiting/times", (len(keys), 2))
    _check_times(model, times)
    for at, key in enumerate(keys):
        mine, told = slice(*cells[at]), slice(*widths[at])
        stamp, arrived = times[at].tolist()
        waiting.rows[key] = WaitingRow(
            columns[mine].tobytes(),
            values[mine].tobytes(),
            stamp,
            arrived,
            predicted[told].tobytes(),
        )


def _read_cells(width: int, n: int, reading: Reading) -> tuple[Any, Any, list[tuple[int, int]]]:
    """Return columns and values of all cells that are not 0, and where each row has its own."""
    cells = _slices(reading.take("waiting/cells", (n,), np.int32))
    columns = reading.take("waiting/columns", (cells[-1][1],), np.int32)
    values = reading.take("waiting/values", (cells[-1][1],))
    within(columns, 0, width - 1, "columns of waiting rows")
    within(values, -LARGEST, LARGEST, "waiting rows")
    rises = np.diff(columns, prepend=-1) > 0
    rises[[start for start, stop in cells if start < stop]] = True
    if not rises.all() or not values.all():
        raise ValueError("the cells of waiting rows")
    return columns, values, cells


def _read_predicted(model: Model, n: int, reading: Reading) -> tuple[Any, list[tuple[int, int]]]:
    """Return what was predicted, and where each row has its own."""
    counts = reading.take("waiting/widths", (n,), np.int32)
    widths = _slices(counts)
    predicted = reading.take("waiting/predicted", (widths[-1][1],))
    # a bank keeps to the range of its labels, about; what a filter said is never looked at
    most = 4.0 * LARGEST if model.settings.several_experts else sys.float_info.max
    within(predicted, -most, most, "what was predicted of waiting rows")
    # classes may have come since; before the first number it was not known how many there are
    within(counts, 1, model.target.width, "what was predicted of waiting rows")
    return predicted, widths


def _slices(counts: Any) -> list[tuple[int, int]]:
    within(counts, 0, 2**31 - 1, "counts of waiting rows")
    return list(pairwise([0, *np.cumsum(counts, dtype=np.int64).tolist()]))


def _check_times(model: Model, times: Any) -> None:
    """Check that no row waits since the future: it would count more than any that is learned."""
    within(times, -1e300, 1e300, "the times of waiting rows")
    age = model.now - times[:, 0]
    if not model.settings.several_experts:  # logarithms of what is left, which fall
        age = -age
    within(age, 0.0, np.inf, "the times of waiting rows")
