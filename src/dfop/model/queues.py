"""Arrays that grow behind and shrink in front, at a cost that does not depend on their length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Places = NDArray[np.int64]


class Queue:
    """Numbers in their order, added behind and dropped in front.

    Parameters
    ----------
    dtype : dtype
        Of the numbers.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._buffer: NDArray[Any] = np.empty(0, dtype)
        self._start = self._stop = 0

    def __getstate__(self) -> NDArray[Any]:
        return self.values.copy()  # without the room for more

    def __setstate__(self, values: NDArray[Any]) -> None:
        self._buffer, self._start, self._stop = values, 0, len(values)

    def __len__(self) -> int:
        return self._stop - self._start

    @property
    def values(self) -> NDArray[Any]:
        """All of them; what is written here is written there."""
        return self._buffer[self._start : self._stop]

    def add(self, values: NDArray[Any]) -> None:
        """Add numbers behind."""
        n, more = len(self), len(values)
        if self._stop + more > len(self._buffer):
            grown = np.empty(2 * (n + more), self._buffer.dtype)
            grown[:n] = self.values
            self._buffer, self._start, self._stop = grown, 0, n
        self._buffer[self._stop : self._stop + more] = values
        self._stop += more

    def drop(self, count: int) -> None:
        """Drop numbers in front."""
        self._start += count
        if self._start == self._stop:
            self._start = self._stop = 0


class RaggedQueue:
    """Rows of numbers, some longer than others.

    Parameters
    ----------
    *dtypes : dtype
        A row has as many numbers of each.
    """

    def __init__(self, *dtypes: DTypeLike) -> None:
        self._ends = Queue(np.int64)
        self._parts = [Queue(dtype) for dtype in dtypes]
        self._dropped = 0

    def add(self, counts: NDArray[Any], *parts: NDArray[Any]) -> None:
        """Add rows: how many numbers each has, and the numbers."""
        self._ends.add(self._dropped + len(self._parts[0]) + np.cumsum(counts, dtype=np.int64))
        for queue, numbers in zip(self._parts, parts, strict=True):
            queue.add(numbers)

    def drop(self, rows: int) -> None:
        """Drop rows in front."""
        if not rows:
            return
        end = int(self._ends.values[rows - 1])
        for queue in self._parts:
            queue.drop(end - self._dropped)
        self._ends.drop(rows)
        self._dropped = end

    def take(self, rows: Places) -> tuple[Places, list[NDArray[Any]]]:
        """Return how many numbers rows have, and these, row after row."""
        if not len(rows):
            return rows, [queue.values[:0] for queue in self._parts]
        ends = self._ends.values
        starts = np.where(rows > 0, ends[rows - 1], self._dropped)
        counts = ends[rows] - starts
        if counts.sum() == ends[rows[-1]] - starts[0] and (rows[1:] > rows[:-1]).all():
            part = slice(starts[0] - self._dropped, ends[rows[-1]] - self._dropped)
            return counts, [queue.values[part] for queue in self._parts]  # without a gap
        before = np.cumsum(counts) - counts
        at = np.repeat(starts - self._dropped - before, counts)
        at += np.arange(len(at))
        return counts, [queue.values[at] for queue in self._parts]
