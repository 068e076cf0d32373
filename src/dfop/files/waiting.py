"""Rows that wait for their label, one after the other in few arrays, and back, all checked."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from dfop.core import Bank
from dfop.model.keys import check_keys
from dfop.model.model import Model
from dfop.model.monitor import NumberMonitor
from dfop.model.waiting import Kept, WaitingRows

from .container import Tensors
from .values import LARGEST, Reading, known, listed, whole, within

FARTHEST = 16.0 * LARGEST
"""What a bank predicts keeps to the range of its labels, about."""


def describe_waiting(waiting: WaitingRows, tensors: Tensors) -> dict[str, Any]:
    """Describe whose label is waited for; the rows go to the arrays."""
    if len(waiting):
        rows = waiting.all_kept()
        tensors["waiting/cells"] = rows.cells.astype(np.int32)
        tensors["waiting/columns"] = rows.columns
        tensors["waiting/values"] = rows.values
        tensors["waiting/times"] = np.column_stack([rows.stamps, rows.arrived])
        tensors["waiting/widths"] = rows.widths.astype(np.int32)
        tensors["waiting/predicted"] = rows.predicted
        if len(rows.made):  # what experts made of rows; files written before had none of it
            tensors["waiting/made widths"] = rows.made_widths.astype(np.int32)
            tensors["waiting/made"] = rows.made
        if len(rows.said):  # what the monitor said of rows; likewise
            tensors["waiting/said widths"] = rows.said_widths.astype(np.int32)
            tensors["waiting/said"] = rows.said
    return {"keys": list(waiting), "expired": waiting.expired}


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
    cells, columns, values = _read_cells(model.width, len(keys), reading)
    widths, predicted = _read_predicted(model, len(keys), reading)
    times = reading.take("waiting/times", (len(keys), 2))
    _check_times(model, times)
    made_widths, made = _read_made(model, len(keys), reading)
    since, arrived = times.T
    rows = Kept(
        *(cells, columns, values, since, arrived, widths, predicted, made_widths, made),
        *_read_said(model, len(keys), reading),
    )
    waiting.keep(check_keys(keys, None), rows)


def _read_cells(width: int, n: int, reading: Reading) -> tuple[Any, Any, Any]:
    """Return how many cells of each row are not 0, and the columns and values of these."""
    cells, total = counts_of("waiting/cells", n, reading)
    columns = reading.take("waiting/columns", (total,), np.int32)
    values = reading.take("waiting/values", (total,))
    within(columns, 0, width - 1, "columns of waiting rows")
    within(values, -LARGEST, LARGEST, "waiting rows")
    rises = np.diff(columns, prepend=-1) > 0
    rises[(np.cumsum(cells) - cells)[cells > 0]] = True
    if not rises.all() or not values.all():
        raise ValueError("the cells of waiting rows")
    return cells, columns, values


def _read_predicted(model: Model, n: int, reading: Reading) -> tuple[Any, Any]:
    """Return how many numbers were predicted of each row, and these."""
    counts, total = counts_of("waiting/widths", n, reading)
    predicted = reading.take("waiting/predicted", (total,))
    # what a filter said is never looked at
    most = FARTHEST if model.settings.several_experts else sys.float_info.max
    within(predicted, -most, most, "what was predicted of waiting rows")
    # classes may have come since; before the first number it was not known how many there are
    within(counts, 1, model.target.width, "what was predicted of waiting rows")
    return counts, predicted


def _read_made(model: Model, n: int, reading: Reading) -> tuple[Any, Any]:
    """Return how many numbers are kept of what experts made of each row, and these."""
    dtype = model.waiting.made_dtype
    if "waiting/made" not in reading.left:
        return np.zeros(n, np.int64), np.empty(0, dtype)
    counts, total = counts_of("waiting/made widths", n, reading)
    made = reading.take("waiting/made", (total,), dtype)
    if not isinstance(model.engine, Bank) or not total:
        raise ValueError("what experts made of waiting rows")
    within(made.astype(np.float64), -FARTHEST, FARTHEST, "what experts made of waiting rows")
    return counts, made


def _read_said(model: Model, n: int, reading: Reading) -> tuple[Any, Any]:
    """Return how many numbers are kept of what the monitor said of each row, and these."""
    if "waiting/said" not in reading.left:
        return np.zeros(n, np.int64), np.empty(0)
    counts, total = counts_of("waiting/said widths", n, reading)
    said = reading.take("waiting/said", (total,))
    monitor = model.monitor
    sizes = {0, NumberMonitor(0, 1).said_size}  # before the first label one target is assumed
    if isinstance(monitor, NumberMonitor):
        sizes.add(monitor.said_size)
    first = (np.cumsum(counts) - counts)[counts > 0]
    # before the first target half-widths are infinite
    if not (set(counts.tolist()) <= sizes and (said >= 0).all() and np.isfinite(said[first]).all()):
        raise ValueError("what was said of waiting rows")
    within(said[first], 0, 0 if monitor is None else monitor.rows, "what was said of waiting rows")
    return counts, said


def counts_of(name: str, n: int, reading: Reading) -> tuple[Any, int]:
    """Return how many numbers each of n rows has, and how many all have together."""
    counts = reading.take(name, (n,), np.int32).astype(np.int64)
    within(counts, 0, 2**31 - 1, "counts of waiting rows")
    return counts, int(counts.sum())


def _check_times(model: Model, times: Any) -> None:
    """Check that no row waits since the future: it would count more than any that is learned."""
    within(times, -1e300, 1e300, "the times of waiting rows")
    age = model.now - times[:, 0]
    if not model.settings.several_experts:  # logarithms of what is left, which fall
        age = -age
    within(age, 0.0, np.inf, "the times of waiting rows")
