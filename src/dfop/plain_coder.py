"""The coding of rows as plain data (JSON values, float64 tensors) and back, all checked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from .coding import BUCKETS, MOST_TEXTS, Column, RowCoder
from .core import restore_means
from .plain_values import Tensors, tensor, within


def describe_coder(coder: RowCoder, tensors: Tensors) -> list[dict[str, Any]]:
    """Describe the columns in their order; their running means go to the tensors."""
    tensors.update(coder.means.snapshot())
    return [
        {
            "kind": column.kind,
            "place": column.place,
            "gap": column.gap,
            "texts": list(column.texts.items()),
            "buckets": list(column.buckets.items()),
        }
        for column in coder.columns.values()
    ]


def read_coder(
    described: list[dict[str, Any]], keys: Sequence[Hashable], tensors: Tensors
) -> RowCoder:
    """Make the coder that was described, for columns known by `keys`."""
    coder = RowCoder()
    for key, parts in zip(keys, described, strict=True):
        column = _read_column(parts)
        coder.columns[key] = column
        if column.kind == "number":
            coder.numbers[key] = column.place
    width = sum(len(_places(column)) for column in coder.columns.values())
    places = sorted(place for column in coder.columns.values() for place in _places(column))
    if places != list(range(width)):
        raise ValueError("coded columns that are not numbered one by one")
    sums, counts = (tensor(tensors, name, (width,)) for name in ("sums", "counts"))
    within(sums, -1e300, 1e300, "running means")
    within(counts, 0.0, 1e300, "counts of running means")
    coder.means = restore_means(sums, counts)
    return coder


def _read_column(parts: dict[str, Any]) -> Column:
    kind, texts, buckets = parts["kind"], dict(parts["texts"]), dict(parts["buckets"])
    if kind not in (None, "number", "text") or bool(texts) != (kind == "text"):
        raise ValueError(f"a column of kind {kind!r} with {len(texts)} texts")
    if not all(type(text) is str for text in texts) or len(texts) > MOST_TEXTS:
        raise ValueError("texts of a column")
    if not all(type(bucket) is int and 0 <= bucket < BUCKETS for bucket in buckets):
        raise ValueError("buckets of a column")
    if buckets and len(texts) < MOST_TEXTS:
        raise ValueError("buckets before they are needed")
    column = Column(parts["place"], kind, parts["gap"], texts, buckets)
    if texts and column.place not in texts.values():
        raise ValueError("a column of text that has a place of its own")
    if not all(type(place) is int for place in _places(column)):
        raise ValueError("places that are no numbers")
    return column


def _places(column: Column) -> list[int]:
    """All coded columns of a column."""
    places = [*column.texts.values(), *column.buckets.values()]
    if not column.texts:
        places.append(column.place)
    return places if column.gap is None else [*places, column.gap]
