"""Rows of dicts that were predicted and not learned yet: few arrays, and back, all checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank
from dfop.model.made import Made
from dfop.model.model import Model
from dfop.model.monitor import NumberMonitor
from dfop.model.remembered import Remembered

from .container import Tensors
from .values import LARGEST, Reading, within
from .waiting import FARTHEST, counts_of

Array = NDArray[np.float64]


def describe_remembered(model: Model, tensors: Tensors) -> None:
    """Put the rows of which something was put down into arrays; with none there are no arrays."""
    rows = [] if model.remembered is None else model.remembered.kept
    if not rows:
        return
    digests = np.array([row.digest for row in rows], "<u8")
    tensors["remembered/digests"] = digests.view("<i4").reshape(-1, 2)
    parts = {
        "outputs": [row.made.outputs for row in rows],
        "experts": [row.made.experts for row in rows],
        "coded": [row.coded for row in rows],
    }
    for name, values in parts.items():
        tensors[f"remembered/{name} widths"] = np.array([v.size for v in values], np.int32)
        tensors[f"remembered/{name}"] = np.concatenate([v.ravel() for v in values])
    tensors["remembered/lags"] = np.vstack([row.made.lags for row in rows])
    tensors["remembered/said"] = np.vstack([row.made.said for row in rows])


def read_remembered(model: Model, reading: Reading) -> None:
    """Give a model the rows that were described."""
    remembered = model.remembered
    if remembered is None or "remembered/digests" not in reading.left:
        return
    digests = reading.take("remembered/digests", (-1, 2), np.int32)
    n = len(digests)
    if not 0 < n <= remembered.limit:
        raise ValueError(f"{n} rows that were predicted")
    said = _read_said(model, n, reading)
    lags = _read_lags(model, n, reading)
    outputs = _read_outputs(model, n, reading)
    experts, coded = _read_experts(model, n, reading), _read_coded(model, n, reading)
    for t, digest in enumerate(np.ascontiguousarray(digests).view("<u8").ravel().tolist()):
        made = Made(next(outputs), next(experts), lags[t : t + 1].copy(), said[t : t + 1].copy())
        remembered.keep(Remembered(digest, made, next(coded)))


def _rows(widths: Any, values: Any) -> Iterator[Any]:
    """Return numbers of one row after the other, as matrices of one row."""
    ends = np.cumsum(widths)
    return (values[end - w : end][np.newaxis].copy() for w, end in zip(widths, ends, strict=True))


def _read_outputs(model: Model, n: int, reading: Reading) -> Iterator[Array]:
    widths, total = counts_of("remembered/outputs widths", n, reading)
    values = reading.take("remembered/outputs", (total,))
    within(widths, 1, model.target.width, "outputs of predicted rows")
    most = FARTHEST if model.settings.several_experts else np.finfo(np.float64).max
    within(values, -most, most, "outputs of predicted rows")
    return _rows(widths, values)


def _read_experts(model: Model, n: int, reading: Reading) -> Iterator[NDArray[Any]]:
    widths, total = counts_of("remembered/experts widths", n, reading)
    values = reading.take("remembered/experts", (total,), model.waiting.made_dtype)
    if total and not isinstance(model.engine, Bank):
        raise ValueError("experts of predicted rows")
    within(values.astype(np.float64), -FARTHEST, FARTHEST, "experts of predicted rows")
    return _rows(widths, values)


def _read_coded(model: Model, n: int, reading: Reading) -> Iterator[Array]:
    widths, total = counts_of("remembered/coded widths", n, reading)
    values = reading.take("remembered/coded", (total,))
    assert model.engine is not None
    within(widths, 0, model.engine.features, "predicted rows")
    within(values, -LARGEST, LARGEST, "predicted rows")
    return _rows(widths, values)


def _read_lags(model: Model, n: int, reading: Reading) -> Array:
    lags = model.lags
    values = reading.take("remembered/lags", (n, 0 if lags is None else lags.block))
    most = LARGEST if lags is None or not lags.classes else model.settings.max_classes
    within(values, -most, most, "labels before predicted rows")
    return values


def _read_said(model: Model, n: int, reading: Reading) -> Array:
    monitor = model.monitor
    number = isinstance(monitor, NumberMonitor)
    said = reading.take("remembered/said", (n, monitor.said_size if number else 0))  # type: ignore[union-attr]
    if said.size:  # before the first target half-widths are infinite
        assert monitor is not None
        within(said[:, 0], 0, monitor.rows, "what was said of predicted rows")
        if not (said >= 0).all():
            raise ValueError("what was said of predicted rows")
    return said
