"""Rows that were predicted and not learned yet, known again by what they say.

Whoever predicts a dict and learns it later gives no key. What was predicted is put down before the
model next learns; a row that is learned right after it was predicted needs nothing of it. Until
then nothing but the row is kept: all of them are predicted alike, by the model as it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dfop.core import AskedRows, Bank, digest_of_row, plain_row

from .made import Made

Array = NDArray[np.float64]
Row = dict[Any, Any]

PREDICTION, PROBABILITIES, INTERVAL = 1, 2, 4
"""Methods by which a row is asked about: one row may be asked about by several."""

_MOST_NUMBERS = 1_000_000
"""Kept of all rows: who has hundreds of columns or classes remembers fewer rows."""

_MOST_CELLS = 100_000
"""Likewise of rows that are dicts still, which take ten times the room."""


class Remembered(NamedTuple):
    """What is kept of one row."""

    digest: int
    made: Made
    coded: Array
    """The row itself, if it came before the first label, or the first since learning began anew;
    no columns otherwise."""

    @property
    def size(self) -> int:
        """How many numbers are kept."""
        return self.coded.size + sum(part.size for part in self.made)


class RememberedRows:
    """What was predicted of rows whose labels have not come; the oldest are forgotten.

    Parameters
    ----------
    limit : int
        How many rows.
    made : dtype
        In which it is kept what experts made of a row.
    """

    def __init__(self, limit: int, made: DTypeLike = np.float64) -> None:
        self.limit, self._dtype = limit, made
        self.asked = AskedRows(limit)
        """Rows predicted since something was learned."""
        self.first: list[tuple[int, Row]] = []
        """Rows predicted before the first label: nothing is known of their columns yet."""
        self.methods = 0
        """By which methods the last of these was asked about."""
        self._rows: dict[int, Remembered] = {}
        """By a number that rises, so the oldest come first."""
        self._numbers: dict[int, deque[int]] = {}
        """Of the rows that say the same, oldest first."""
        self._next = 0
        self._size = 0
        self.early = 0
        """How many rows are kept with what they are."""

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def kept(self) -> list[Remembered]:
        """All rows of which something was put down, oldest first."""
        return list(self._rows.values())

    def add_first(self, x: Row, method: int) -> None:
        """Take over a row predicted before the first label, while there is room."""
        digest = digest_of_row(x)
        if self.first and self.first[-1][0] == digest and not self.methods & method:
            self.methods |= method  # the same row, asked in other words
        elif self.has_room(x):
            self.first.append((digest, plain_row(x)))
            self.methods = method

    def has_room(self, x: Row) -> bool:
        """Return whether one more row is kept before the first label."""
        return len(self.first) < min(self.limit, _MOST_CELLS // max(len(x), 1))

    def put_down(self, engine: Any, digests: Iterable[int], made: Made, coded: Array) -> None:
        """Keep what an engine predicted of coded rows."""
        first = [False] * len(coded)
        if isinstance(engine, Bank):
            first = engine.came_first(made.experts)
        made = made._replace(experts=made.experts.astype(self._dtype))
        for t, digest in enumerate(digests):
            part = slice(t, t + 1)
            of_row = Made(*(what[part].copy() for what in made))
            row = coded[part] if first[t] else coded[part, :0]
            self.keep(Remembered(digest, of_row, row.copy()))

    def keep(self, row: Remembered) -> None:
        """Keep a row behind all others."""
        self._rows[self._next] = row
        self._numbers.setdefault(row.digest, deque()).append(self._next)
        self._next += 1
        self._size += row.size
        self.early += row.coded.size > 0
        while len(self._rows) > self.limit or self._size > _MOST_NUMBERS:
            self.take(next(iter(self._rows.values())).digest)

    def take(self, digest: int) -> Made | None:
        """Return what was predicted of a row, the oldest of those that say the same; forget it."""
        numbers = self._numbers.get(digest)
        if numbers is None:
            return None
        row = self._rows.pop(numbers.popleft())
        if not numbers:
            del self._numbers[digest]
        self._size -= row.size
        self.early -= row.coded.size > 0
        return row.made._replace(experts=row.made.experts.astype(np.float64))

    def remake(self, engine: Bank, most: int) -> None:
        """Predict rows that came before the first label once more, see `Bank.remake`.

        These are among the oldest ones, `most` at most.
        """
        oldest, size = islice(self._rows.values(), most), engine.made_size
        rows = [row for row in oldest if row.coded.size and row.made.experts.shape[1] == size]
        if not rows:
            return
        X = np.zeros((len(rows), engine.features))
        for t, row in enumerate(rows):
            X[t, : row.coded.shape[1]] = row.coded[0]
        made = np.vstack([row.made.experts for row in rows]).astype(np.float64)
        engine.remake(X, made)
        for row, of_row in zip(rows, made, strict=True):
            row.made.experts[0] = of_row
