"""Iterables of dicts or of sequences, turned into pieces of columns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from dfop.streams.errors import DataError

PIECE = 8192
# Some rows: column name to cells.
Piece: TypeAlias = Mapping[str, Any]


def open_rows(rows: Iterable[Any], source: str) -> tuple[list[str], Callable[[], Iterator[Piece]]]:
    """Give the column names, and a function that reads the rows from the first one on."""
    one = iter(rows)
    first = next(one, None)
    if first is None:
        raise DataError("there are no rows", source=source)
    if one is rows:
        # An iterator gives its first row only once: put it back.
        rows = itertools.chain([first], one)
    if isinstance(first, Mapping):
        names = [str(name) for name in first]
        return names, lambda: columns(_dicts(rows, names, source), names)
    if isinstance(first, str | bytes) or not hasattr(first, "__len__"):
        raise TypeError(f"a row must be a dict or a sequence of cells, not {type(first).__name__}")
    names = [f"x{j + 1}" for j in range(len(first))]
    return names, lambda: columns(_sequences(rows, names, source), names)


def columns(rows: Iterator[Sequence[Any]], names: Sequence[str]) -> Iterator[Piece]:
    """Gather rows of equal length into pieces."""
    while piece := list(itertools.islice(rows, PIECE)):
        yield dict(zip(names, zip(*piece, strict=True), strict=True))


def _dicts(rows: Iterable[Any], names: list[str], source: str) -> Iterator[list[Any]]:
    known = set(names)
    for number, row in enumerate(rows, 1):
        strange = row.keys() - known
        if strange:
            raise DataError(
                f"the column is unknown: the first row has {', '.join(names)}",
                source=source,
                row=number,
                column=str(min(strange, key=str)),
                remedy="Give every row the same columns",
            )
        yield [row.get(name) for name in names]


def _sequences(rows: Iterable[Any], names: list[str], source: str) -> Iterator[Sequence[Any]]:
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise DataError(
                f"{len(row)} cells where the first row has {len(names)}",
                source=source,
                row=number,
                remedy="Mend or remove the row",
            )
        yield row
