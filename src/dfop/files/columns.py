"""Columns of a model: their names and how they are coded, as JSON values and arrays, and back."""

from __future__ import annotations

from typing import Any

from dfop.core import Coder
from dfop.model.model import Model
from dfop.rows.sparse import WIDEST

from .container import Tensors
from .values import Reading, as_json, known, listed, texts, whole

_PARTS = ("kind", "place", "gap", "texts", "buckets")
_NUMBER: dict[str, Any] = {"kind": "number", "place": 0, "gap": None, "texts": [], "buckets": []}


def describe_coder(coder: Coder, tensors: Tensors) -> dict[str, Any]:
    """Describe the columns in their order; their running means go to the arrays.

    The first columns are often plain numbers, coded one after the other: these are counted.
    """
    for name, values in coder.state().items():
        tensors[f"coder/{name}"] = values
    columns = coder.describe()
    first = columns[0]["place"] if columns else 0
    numbers = 0
    while numbers < len(columns) and columns[numbers] == {**_NUMBER, "place": first + numbers}:
        numbers += 1
    described: dict[str, Any] = {
        "numbers": [first, numbers],
        "coded": [[parts[name] for name in _PARTS] for parts in columns[numbers:]],
    }
    if coder.lags:
        described["lags"] = coder.lags
    if coder.shared:
        described["shared"] = coder.shared
    return described


def describe_columns(model: Model, tensors: Tensors) -> dict[str, Any]:
    """Describe the columns of a model, with their names."""
    described = describe_coder(model.coder, tensors)
    if model.by_name:
        described["names"] = as_json(model.ids, "feature name")
    elif model.names is not None:
        described["names"] = [str(name) for name in model.names]
    if model.sparse:
        described["sparse"] = len(model.ids) if model.by_name else model.columns
    return described


def read_coder(described: Any, reading: Reading) -> Coder:
    """Return the coder that was described."""
    given = {"lags": [], "shared": [], **described}
    known(given, {"numbers", "coded", "lags", "shared"}, "the columns")
    sums = reading.take("coder/sums", (-1,))
    counts = reading.take("coder/counts", (-1,))
    first, numbers = listed(given["numbers"], "columns")
    if whole(first) + whole(numbers) > sums.size:  # numbers in a file are free, columns are not
        raise ValueError(f"{numbers} columns")
    columns = number_columns(first, numbers)
    for parts in listed(given["coded"], "columns"):
        columns.append(dict(zip(_PARTS, listed(parts, "parts of a column"), strict=True)))
    coder = Coder()
    shared = [tuple(pair) for pair in listed(given["shared"], "shared columns")]
    coder.restore(columns, sums, counts, listed(given["lags"], "lags"), shared)
    return coder


def read_columns(model: Model, described: Any, reading: Reading) -> None:
    """Give a model the columns that were described."""
    given = dict(described)
    names, sparse = given.pop("names", None), given.pop("sparse", None)
    model.coder = read_coder(given, reading)
    count = model.coder.columns
    if sparse is not None:
        if count or model.settings.storage is None:
            raise ValueError("sparse columns of a model that has none")
        model.sparse, count = True, whole(sparse, WIDEST)
    _read_names(model, names, count)


def number_columns(first: int, count: int) -> list[dict[str, Any]]:
    """Return how a coder describes columns of plain numbers, coded one after the other."""
    return [{**_NUMBER, "place": first + at} for at in range(count)]


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
