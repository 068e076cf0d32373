"""The coding of rows in plain Python, one cell at a time: slow, and easy to believe.

It has the methods of the compiled `dfop.core.Coder` that tests need, and knows nothing of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LARGEST = 2.0**500
GAP_WORDS = ("", "?", "na", "n/a", "nan", "null", "none", "<na>")


def in_order(keys: Iterable[Any]) -> list[Any]:
    """Names of columns in an order of their own: a dict's is chance."""
    return sorted(
        keys,
        key=lambda k: (type(k).__name__, k if isinstance(k, str | int | float) else repr(k)),
    )


def bucket_of(text: str, buckets: int = 32) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % buckets


def clean(text: str) -> str | None:
    """Text without white space around it, None where it says that a value is missing."""
    text = text.strip()
    return None if text.lower() in GAP_WORDS else text


@dataclass
class Column:
    place: int
    kind: str | None = None
    gap: int | None = None
    texts: dict[str, int] = field(default_factory=dict)
    buckets: dict[int, int] = field(default_factory=dict)


class OracleCoder:
    """Columns by their numbers 0, 1, 2, ..., with sums of the numbers by coded column."""

    def __init__(self, most_texts: int = 100) -> None:
        self.most_texts = most_texts
        self.columns: list[Column] = []
        self.sums: list[float] = []
        self.counts: list[float] = []

    @property
    def width(self) -> int:
        return len(self.sums)

    def open(self) -> int:
        self.sums.append(0.0)
        self.counts.append(0.0)
        return self.width - 1

    def labels(self, names: Iterable[Any]) -> list[Any]:
        labels: list[Any] = [None] * self.width
        for name, column in zip(names, self.columns, strict=True):
            labels[column.place] = name
            for text, place in column.texts.items():
                labels[place] = f"{name}={text}"
            for bucket, place in column.buckets.items():
                labels[place] = f"{name}#{bucket}"
            if column.gap is not None:
                labels[column.gap] = f"{name} is missing"
        return labels

    def describe(self) -> list[dict[str, Any]]:
        return [
            {
                "kind": column.kind,
                "place": column.place,
                "gap": column.gap,
                "texts": list(column.texts.items()),
                "buckets": list(column.buckets.items()),
            }
            for column in self.columns
        ]

    def code(self, columns, cells, weights):
        """Code rows of cells (numbers, text, None) in the given columns; new ones come last."""
        widths: list[tuple[int, int]] = []
        rows: list[dict[int, float]] = []
        for column in columns:
            if column == len(self.columns):
                self.columns.append(Column(self.open()))
        for t, (row, weight) in enumerate(zip(cells, weights, strict=True)):
            coded: dict[int, float] = {}
            for column, cell in zip(columns, row, strict=True):
                coded.update(self.code_cell(self.columns[column], cell, weight))
            rows.append(coded)
            if not widths or widths[-1][1] < self.width:
                widths.append((t, self.width))
        matrix = np.zeros((len(rows), self.width))
        for t, coded in enumerate(rows):
            matrix[t, list(coded)] = list(coded.values())
        return matrix, widths

    def code_cell(self, column: Column, cell: Any, weight: float) -> dict[int, float]:
        if isinstance(cell, str):
            cell = clean(cell)
        if cell is None or cell != cell:
            return self.code_gap(column, weight)
        if isinstance(cell, str):
            place = self.place_of_text(column, cell, weight)
            return {} if place is None else {place: 1.0}
        if weight > 0.0:
            column.kind = "number"
        self.sums[column.place] += weight * cell
        self.counts[column.place] += weight
        return {column.place: float(cell)}

    def code_gap(self, column: Column, weight: float) -> dict[int, float]:
        if column.gap is None and weight > 0.0:
            column.gap = self.open()
        coded = {} if column.gap is None else {column.gap: 1.0}
        if column.kind == "number":
            count = self.counts[column.place]
            mean = self.sums[column.place] / count if count > 0.0 else 0.0
            coded[column.place] = min(max(mean, -LARGEST), LARGEST)
        return coded

    def place_of_text(self, column: Column, text: str, weight: float) -> int | None:
        if text in column.texts:
            return column.texts[text]
        if len(column.texts) < self.most_texts:
            if weight > 0.0:
                column.texts[text] = self.open() if column.texts else column.place
                column.kind = "text"
            return column.texts.get(text)
        bucket = bucket_of(text)
        if bucket not in column.buckets and weight > 0.0:
            column.buckets[bucket] = self.open()
        return column.buckets.get(bucket)
