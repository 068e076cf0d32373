"""`Batch`: rows whose cells are told apart, the same for every source they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Text(NamedTuple):
    """A column of text: cell t holds ``values[codes[t]]``, nothing where the code is -1.

    Examples
    --------
    >>> Text(np.array([0, 1, -1, 0]), ["red", "blue"]).cells()
    ['red', 'blue', None, 'red']
    """

    codes: NDArray[np.int64]
    values: list[str]

    def cells(self) -> list[str | None]:
        """Return the texts cell by cell, None where missing."""
        return [None if code < 0 else self.values[code] for code in self.codes.tolist()]


@dataclass(eq=False, slots=True)
class Batch:
    """Rows in their order, column by column.

    Parameters
    ----------
    numbers : ndarray of shape (n, columns)
        float64, C-ordered: NaN where a number is missing, 0 in columns of text.
    gaps : bool
        Whether a number is missing anywhere.
    texts : dict of int to Text
        The columns of text, by their position.
    names : tuple of str, optional
        The names of the columns.
    time : ndarray of shape (n,), optional
        When each row came: numbers (seconds) or datetime64.
    since : tuple of int, optional
        By column the row that is the first to have it, where columns join among the rows (dicts).
        In rows before it the column is not there yet, which is no gap that a model would learn.

    Examples
    --------
    >>> red = Text(np.array([0, 0]), ["red"])
    >>> batch = Batch(np.array([[1.0, 0.0], [2.0, 0.0]]), texts={1: red})
    >>> len(batch), batch.shape
    (2, (2, 2))
    >>> batch[1:].rows()
    [[2.0, 'red']]
    """

    numbers: Array
    gaps: bool = False
    texts: dict[int, Text] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    time: NDArray[Any] | None = None
    since: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.numbers.shape

    def __getitem__(self, rows: slice) -> Batch:
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise TypeError("a batch is cut in its order: batch[start:stop]")
        start = rows.indices(len(self))[0]
        return replace(
            self,
            numbers=self.numbers[rows],
            texts={j: Text(text.codes[rows], text.values) for j, text in self.texts.items()},
            time=None if self.time is None else self.time[rows],
            since=None if self.since is None else tuple(max(t - start, 0) for t in self.since),
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the numbers; text has none."""
        if self.texts:
            raise ValueError(
                f"column {self.name_of(min(self.texts))!r} holds text, so the rows are no matrix "
                "of numbers: give them to a model that takes text, or code them before"
            )
        return np.array(self.numbers, dtype=dtype, copy=copy)

    def name_of(self, column: int) -> str:
        """Return the name of a column, or its position where columns have no names."""
        return str(column) if self.names is None else self.names[column]

    def rows(self) -> list[list[Any]]:
        """Return the cells row by row: numbers, texts, None where missing."""
        columns: list[list[Any]] = []
        for j in range(self.shape[1]):
            if j in self.texts:
                columns.append(self.texts[j].cells())
            else:
                values = self.numbers[:, j].tolist()
                columns.append([None if v != v else v for v in values] if self.gaps else values)
        return [list(row) for row in zip(*columns, strict=True)] if columns else [[]] * len(self)

    def dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dicts by column name, as River takes them."""
        names = [self.name_of(j) for j in range(self.shape[1])]
        return [dict(zip(names, row, strict=True)) for row in self.rows()]

    @staticmethod
    def join(batches: Sequence[Batch]) -> Batch:
        """Put batches of the same columns one after the other."""
        first = batches[0]
        if len(batches) == 1:
            return first
        places = sorted({j for batch in batches for j in batch.texts})
        numbers = np.concatenate([batch.numbers for batch in batches])
        numbers[:, places] = 0.0
        times = [batch.time for batch in batches if batch.time is not None]
        return Batch(
            numbers,
            any(batch.gaps for batch in batches),
            {j: _join_text(batches, j) for j in places},
            first.names,
            np.concatenate(times) if times else None,
            _join_since(batches),
        )


def _join_since(batches: Sequence[Batch]) -> tuple[int, ...] | None:
    """Return the first row of each column, counted from the first batch."""
    if all(batch.since is None for batch in batches):
        return None
    ahead, since = 0, [len(batches[0])] * batches[0].shape[1]
    for batch in batches:
        found = batch.since or (0,) * batch.shape[1]
        since = [s if s < ahead else ahead + t for s, t in zip(since, found, strict=True)]
        ahead += len(batch)
    return tuple(since)


def _join_text(batches: Sequence[Batch], column: int) -> Text:
    """Join one column; where a batch has no text in it, all its cells are missing."""
    found: dict[str, int] = {}
    parts: list[NDArray[np.int64]] = []
    for batch in batches:
        text = batch.texts.get(column)
        if text is None:
            if not np.isnan(batch.numbers[:, column]).all():
                raise ValueError(
                    f"column {batch.name_of(column)!r} holds numbers in one batch and text in "
                    "another: keep a column to one kind"
                )
            parts.append(np.full(len(batch), -1, dtype=np.int64))
            continue
        codes = np.array([found.setdefault(v, len(found)) for v in text.values], dtype=np.int64)
        parts.append(np.where(text.codes < 0, -1, codes[text.codes] if codes.size else -1))
    return Text(np.concatenate(parts), list(found))
