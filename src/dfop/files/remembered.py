"""Rows of dicts that were predicted and not learned yet: few arrays, and back, all checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank, Coder, Lock, NamedRows
from dfop.model.made import Made
from dfop.model.model import Model
from dfop.model.monitor import NumberMonitor
from dfop.model.remembered import Remembered, RememberedRows

from .container import Tensors
from .values import LARGEST, Reading, as_json, known, listed, number, whole, within
from .waiting import FARTHEST, counts_of

Array = NDArray[np.float64]


def describe_remembered(model: Model, tensors: Tensors) -> None:
    """Put the rows of which something was put down into arrays; with none there are no arrays."""
    rows = [] if model.remembered is None else model.remembered.kept
    if not rows:
        return
    tensors["remembered/digests"] = _halves([row.digest for row in rows])
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
    for t, digest in enumerate(_whole_digests(digests)):
        made = Made(next(outputs), next(experts), lags[t : t + 1].copy(), said[t : t + 1].copy())
        remembered.keep(Remembered(digest, made, next(coded)))


def describe_asked(model: Model, tensors: Tensors) -> dict[str, Any] | None:
    """Describe the rows predicted since something was learned; None without any.

    Before the first label they are dicts still. A name that no file can hold has no part in that: a
    model that learned it could not be saved.
    """
    remembered = model.remembered
    if remembered is None or not (remembered.first or remembered.asked):
        return None
    if model.engine is None:
        digests = [digest for digest, _ in remembered.first]
        first = [_described(row) for _, row in remembered.first]
        methods = remembered.methods
    else:
        digests, tensors["asked/rows"] = remembered.asked.rows()
        first, methods = [], remembered.asked.methods
    tensors["asked/digests"] = _halves(digests)
    return {"methods": methods, "first": first}


def read_asked(model: Model, described: Any, reading: Reading) -> None:
    """Give a model the rows that were described."""
    known(described, {"methods", "first"}, "rows that were predicted")
    methods = whole(described["methods"], 2**32 - 1)
    first = listed(described["first"], "rows that were predicted")
    digests = _whole_digests(reading.take("asked/digests", (-1, 2), np.int32))
    if model.remembered is None:
        raise ValueError("rows that were predicted, which the settings do not have")
    if model.engine is None:
        _read_first(model, model.remembered, digests, first)
        model.remembered.methods = methods
    else:
        rows = reading.take("asked/rows", (len(digests), model.coder.width))
        model.remembered.asked.restore(digests, np.ascontiguousarray(rows), methods)


def _described(row: dict[Any, Any]) -> list[list[Any]]:
    pairs = []
    for name, cell in row.items():
        try:
            pairs.append([*as_json([name], "name"), cell])
        except TypeError:
            continue
    return pairs


def _read_first(
    model: Model, remembered: RememberedRows, digests: list[int], rows: list[Any]
) -> None:
    """Read dicts; each must be one that a model without a row can predict."""
    named = NamedRows(None, Coder(), {}, Lock(), 1.0, model.settings.max_features)
    for digest, pairs in zip(digests, rows, strict=True):
        row = {}
        for pair in listed(pairs, "cells"):
            name, cell = listed(pair, "a cell")
            row[as_json([name], "name")[0]] = (
                cell if cell is None or type(cell) is str else number(cell)
            )
        if len(row) < len(pairs) or not remembered.has_room(row):
            raise ValueError("rows that were predicted")
        named.code_to_predict(row)
        remembered.first.append((digest, row))


def _halves(digests: list[int]) -> NDArray[Any]:
    """Return digests as files hold them: two numbers of 32 bits each."""
    return np.array(digests, "<u8").view("<i4").reshape(-1, 2)


def _whole_digests(halves: NDArray[Any]) -> list[int]:
    found: list[int] = np.ascontiguousarray(halves).view("<u8").ravel().tolist()
    return found


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
