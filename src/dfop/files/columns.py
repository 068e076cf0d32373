"""Columns of a model: their names and how they are coded, as JSON values and arrays, and back."""

from __future__ import annotations

from typing import Any

from dfop.core import Coder
from dfop.model.model import Model

from .container import Tensors
from .values import Reading, as_json, known, listed, texts

_NO_PARTS: tuple[Any, ...] = (None, [], [])
"""Gap, texts and buckets of a column of numbers."""


def describe_columns(model: Model, tensors: Tensors) -> dict[str, Any]:
    """Describe the columns in their order; their running means go to the arrays."""
    coder = model.coder
    for name, values in coder.state().items():
        tensors[f"coder/{name}"] = values
    described: dict[str, Any] = {"coded": [_short(parts) for parts in coder.describe()]}
    if model.by_name:
        described["names"] = as_json(model.ids, "feature name")
    elif model.names is not None:
        described["names"] = [str(name) for name in model.names]
    if coder.lags:
        described["lags"] = coder.lags
    if coder.shared:
        described["shared"] = coder.shared
    return described


def _short(parts: dict[str, Any]) -> list[Any]:
    """Describe a column; what it has none of is left away."""
    whole = [parts[name] for name in ("kind", "place", "gap", "texts", "buckets")]
    while len(whole) > 2 and whole[-1] == _NO_PARTS[len(whole) - 3]:
        whole.pop()
    return whole


def read_columns(model: Model, described: Any, reading: Reading) -> None:
    """Give a model the columns that were described."""
    if type(described) is not dict:
        raise ValueError("columns that are not described")
    known({**{"names": 0, "lags": 0, "shared": 0}, **described},
          {"coded", "names", "lags", "shared"}, "the columns")  # fmt: skip
    coded = [_long(listed(parts, "a column's parts")) for parts in listed(described["coded"], "columns")]
    sums = reading.take("coder/sums", (-1,))
    counts = reading.take("coder/counts", (-1,))
    model.coder = Coder()
    shared = [tuple(pair) for pair in described.get("shared", [])]
    model.coder.restore(coded, sums, counts, listed(described.get("lags", []), "lags"), shared)
    _read_names(model, described.get("names"), len(coded))


def _long(parts: list[Any]) -> dict[str, Any]:
    if not 2 <= len(parts) <= 5:
        raise ValueError("a column that is not fully described")
    kind, place, gap, texts_, buckets = [*parts, *_NO_PARTS[len(parts) - 2 :]]
    return {"kind": kind, "place": place, "gap": gap, "texts": texts_, "buckets": buckets}


def _read_names(model: Model, names: Any, columns: int) -> None:
    if model.by_name:
        keys = as_json(listed(names, "names"), "feature name")
        model.ids.update((key, at) for at, key in enumerate(keys))
        if not len(model.ids) == len(keys) == columns:
            raise ValueError("names that do not fit the columns")
        return
    model.columns = columns
    if names is not None:
        model.names = tuple(texts(names, "names"))
        if not len(set(model.names)) == len(model.names) == columns:
            raise ValueError("names that do not fit the columns")
