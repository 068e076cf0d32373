"""Iterables of dicts or of sequences."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from dfop.rows.batch import Batch
from dfop.streams.bad_rows import BadRow, Log
from dfop.streams.cells import Flaw
from dfop.streams.errors import DataError
from dfop.streams.layout import SAMPLE, Layout
from dfop.streams.pieces import from_cells, settle
from dfop.streams.tally import Tally, tally

PIECE = 8192
# Seconds that a slow iterator is waited for before its rows are passed on.
_PATIENCE = 1.0
WRONG_CELLS = "wrong number of cells"
UNKNOWN_COLUMN = "unknown column"


class RowSource:
    """Rows that Python gives one by one: dicts, or sequences of equal length."""

    length: int | None = None
    name = "rows"

    def __init__(self, rows: Iterable[Any]) -> None:
        iterator = iter(rows)
        self.reusable = iterator is not rows
        self._rows = rows
        first = _some(iterator, SAMPLE)
        if not first:
            raise DataError("there are no rows", source=self.name)
        # an iterator gives its first rows only once
        self._held = [] if self.reusable else first
        self._rest = None if self.reusable else iterator
        self._keys: dict[str, Any] = {}
        self._dicts = isinstance(first[0], Mapping)
        if self._dicts:
            keys = (key for row in first if isinstance(row, Mapping) for key in row)
            self._keys = {str(key): key for key in keys}
            self.names = tuple(self._keys)
        else:
            row = first[0]
            if isinstance(row, str | bytes) or not hasattr(row, "__len__"):
                kind = type(row).__name__
                raise TypeError(f"a row must be a dict or a sequence of cells, not {kind}")
            self.names = tuple(f"x{j + 1}" for j in range(len(row)))
        self._known = set(self._keys.values()) if self._dicts else set()
        self._sample = [row for row in first if self._flaw(row) is None]
        self.seen, self.good = len(first), len(self._sample)

    def tally(self, column: str, *, fully: bool) -> Tally:
        """Count what the first rows hold in a column."""
        return tally(self._column(self._sample, column), typed=True)

    def pieces(self, layout: Layout, log: Log) -> Iterator[tuple[Batch, NDArray[Any]]]:
        """Give the rows; bad ones go to the log."""
        held, self._held = self._held, []
        rows, self._rest = self._rest or iter(self._rows), None
        done = 0
        while piece := held or _some(rows, PIECE):
            held = []
            flaws: dict[int, Flaw] = {}
            good = []
            for i, row in enumerate(piece):
                flaw = self._flaw(row, strict=not layout.chosen)
                if flaw is None:
                    good.append(i)
                else:
                    flaws[i] = flaw
            kept = piece if not flaws else [piece[i] for i in good]
            columns = {name: self._column(kept, name) for name in layout.columns}
            judged = from_cells(columns, layout, typed=True)
            flaws.update((good[i], flaw) for i, flaw in judged.flaws.items())
            bad = [
                BadRow(self.name, done + i + 1, None, None, *flaws[i], _text(piece[i]))
                for i in sorted(flaws)
            ]
            done += len(piece)
            yield from settle(judged, bad, min(flaws, default=0), done, log)

    def _column(self, rows: Sequence[Any], name: str) -> list[Any]:
        if self._dicts:
            key = self._keys[name]
            return [row.get(key) for row in rows]
        at = self.names.index(name)
        return [row[at] for row in rows]

    def _flaw(self, row: Any, *, strict: bool = True) -> Flaw | None:
        if self._dicts:
            if not isinstance(row, Mapping):
                return Flaw(None, WRONG_CELLS, f"a {type(row).__name__} is not a dict")
            strange = row.keys() - self._known if strict else ()
            if strange:
                remedy = "give every row the same columns, or name them with features=[...]"
                message = f"the column is unknown to the first rows; {remedy}"
                return Flaw(str(min(strange, key=str)), UNKNOWN_COLUMN, message)
            return None
        if not hasattr(row, "__len__") or len(row) != len(self.names):
            found = len(row) if hasattr(row, "__len__") else 0
            message = f"{found} cells where the first row has {len(self.names)}"
            return Flaw(None, WRONG_CELLS, f"{message}; mend or remove the row")
        return None


def _some(rows: Iterator[Any], most: int) -> list[Any]:
    """Take rows: so many, or fewer from an iterator that is slow."""
    found: list[Any] = []
    until = time.monotonic() + _PATIENCE
    for row in itertools.islice(rows, most):
        found.append(row)
        if time.monotonic() > until:
            break
    return found


def _text(row: Any) -> str:
    if isinstance(row, Mapping):
        row = {str(key): cell for key, cell in row.items()}
    elif hasattr(row, "__iter__"):
        row = list(row)
    return json.dumps(row, default=str)
