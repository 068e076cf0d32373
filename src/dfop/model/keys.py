"""Rows in a queue, found by their keys: numbers of each row, and the place of each key.

Queues grow behind and shrink in front, at a cost that does not depend on their length. Keys that
are whole numbers and rise by one from row to row, as numbers of rows do, are a range and need no
table: the difference to the first of them is the place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dfop.rows.cells import shown
from dfop.rows.checks import refuse_masked, refuse_without_order

Places = NDArray[np.int64]
Key = int | str
Keys = list[Key] | range
"""Keys that rise by one are a range, and all others a list."""


def check_keys(keys: Iterable[Any], n: int | None) -> Keys:
    """Return keys; refuse what is no key, and equal ones. Of labels there may be none this time."""
    if isinstance(keys, str):
        raise ValueError(f"keys must be a list of keys, not the single string {shown(keys)}")
    if not isinstance(keys, list | range):
        refuse_without_order(keys)
    if isinstance(keys, np.ma.MaskedArray):
        refuse_masked(keys, "keys", "give every row its key")
    names = keys if isinstance(keys, range) and keys.step == 1 else _read(keys)
    if n is not None and len(names) != n:
        raise ValueError(f"{len(names)} keys for {n} rows: give every row a key")
    if isinstance(names, list) and len(set(names)) != len(names):
        key = next(key for key, times in Counter(names).items() if times > 1)
        first = names.index(key)
        raise ValueError(
            f"the key {shown(key)} is given to row {first} and to row "
            f"{names.index(key, first + 1)}: every row needs a key of its own"
        )
    return names


def _read(keys: Iterable[Any]) -> Keys:
    names = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    if not set(map(type, names)) <= {int, str}:
        names = [key.item() if isinstance(key, np.generic) else key for key in names]
        for row, key in enumerate(names):
            if isinstance(key, bool) or not isinstance(key, int | str):
                raise ValueError(
                    f"the key {shown(key)} of row {row} must be an int or a str: make one of it, "
                    "or leave the row out"
                )
    return _in_line(names)


def _in_line(names: list[Key]) -> Keys:
    """Return keys that rise by one as a range."""
    if not names or isinstance(names[0], str):
        return names
    line = range(names[0], names[0] + len(names))
    return line if names[-1] == line[-1] and names == list(line) else names


def some_keys(keys: Keys, which: Places) -> Keys:
    """Return some of the keys, in their order."""
    if isinstance(keys, range) and len(which):
        first, last = int(which[0]), int(which[-1])
        if last - first + 1 == len(which):
            return keys[first : last + 1]
    return [keys[j] for j in which.tolist()]


def places_in(line: range, keys: Keys) -> Places:
    """Return the place of each key among keys that rise by one, -1 where it is none of them."""
    if isinstance(keys, list):
        first = line.start  # a text is searched for in all of a range
        at = [key - first if isinstance(key, int) and key in line else -1 for key in keys]
        return np.array(at, np.int64)
    places = np.full(len(keys), -1)
    first, last = max(line.start, keys.start), min(line.stop, keys.stop)
    if first < last:
        places[first - keys.start : last - keys.start] = np.arange(
            first - line.start, last - line.start
        )
    return places


def places_among(all_keys: Keys, keys: Keys) -> Places:
    """Return the place of each key among others, -1 where it is none of them."""
    if isinstance(all_keys, range):
        return places_in(all_keys, keys)
    table = dict(zip(all_keys, range(len(all_keys)), strict=True))
    return np.array([table.get(key, -1) for key in keys], np.int64)


@cache
def _nothing(dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return no numbers; a model has a dozen of these, nearly always."""
    return np.empty(0, dtype)


class Queue:
    """Numbers in their order, added behind and dropped in front.

    Parameters
    ----------
    dtype : dtype
        Of the numbers.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._buffer = _nothing(np.dtype(dtype))
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
        starts, counts = self._found(rows)
        if counts.sum() == ends[rows[-1]] - starts[0] and (rows[1:] > rows[:-1]).all():
            part = slice(starts[0] - self._dropped, ends[rows[-1]] - self._dropped)
            return counts, [queue.values[part] for queue in self._parts]  # without a gap
        at = self._numbers_of(starts, counts)
        return counts, [queue.values[at] for queue in self._parts]

    def replace(self, rows: Places, counts: Places, *parts: NDArray[Any]) -> None:
        """Give rows, in ascending order, other numbers; how many each has may change."""
        starts, had = self._found(rows)
        at = self._numbers_of(starts, had)
        if (counts == had).all():
            for queue, numbers in zip(self._parts, parts, strict=True):
                queue.values[at] = numbers
            return
        ends = self._ends.values
        lengths = np.diff(ends, prepend=self._dropped)
        where = np.repeat(starts - self._dropped + had, counts)  # behind what they had
        for queue, numbers in zip(self._parts, parts, strict=True):
            joined = np.insert(queue.values, where, numbers)
            gone = at + np.repeat(np.cumsum(counts) - counts, had)
            queue.drop(len(queue))
            queue.add(np.delete(joined, gone))
        lengths[rows] = counts
        ends[:] = self._dropped + np.cumsum(lengths)

    def _found(self, rows: Places) -> tuple[Places, Places]:
        """Return where the numbers of rows start, and how many there are."""
        ends = self._ends.values
        starts = np.where(rows > 0, ends[rows - 1], self._dropped)
        return starts, ends[rows] - starts

    def _numbers_of(self, starts: Places, counts: Places) -> Places:
        before = np.cumsum(counts) - counts
        at = np.repeat(starts - self._dropped - before, counts)
        at += np.arange(len(at))
        return at


class KeyPlaces:
    """The place of each key in a queue: added behind, dropped in front, removed anywhere."""

    def __init__(self) -> None:
        self._line: range | None = range(0)
        """The keys of all places, where they rise by one; there is no table then."""
        self._numbers: dict[Key, int] = {}
        """The table: places, counted from the very first row."""
        self._dropped = 0
        self._here = Queue(np.bool_)
        """Of every place: whether its row was not removed."""
        self._count = 0

    @property
    def here(self) -> Places:
        """The places of all rows that were not removed."""
        return np.flatnonzero(self._here.values)

    @property
    def keys(self) -> Keys:
        """Their keys, in the same order."""
        return list(self._numbers) if self._line is None else some_keys(self._line, self.here)

    def oldest(self, count: int) -> Keys:
        """Return the keys of so many rows in front."""
        return self.keys[:count] if self._line is not None else [*islice(self._numbers, count)]

    def find(self, keys: Keys) -> Places:
        """Return the place of each key, -1 of one that is not here."""
        if self._line is None:
            get, none = self._numbers.get, self._dropped - 1
            return np.array([get(key, none) for key in keys], np.int64) - self._dropped
        places = places_in(self._line, keys)
        if self._count < len(self._here):
            places[~self._here.values[places]] = -1
        return places

    def add(self, keys: Keys) -> None:
        """Add rows behind."""
        if not self._count:
            self._line = keys if isinstance(keys, range) else None
        elif self._line is not None:
            if isinstance(keys, range) and keys.start == self._line.stop:
                self._line = range(self._line.start, keys.stop)
            else:
                self._make_table()
        if self._line is None:
            end = self._dropped + len(self._here)
            self._numbers.update(zip(keys, range(end, end + len(keys)), strict=True))
        self._here.add(np.ones(len(keys), np.bool_))
        self._count += len(keys)

    def _make_table(self) -> None:
        numbers = (self._dropped + self.here).tolist()
        self._numbers, self._line = dict(zip(self.keys, numbers, strict=True)), None

    def remove(self, keys: Keys, places: Places) -> int:
        """Forget rows, and return how many places in front have none any more, and are dropped."""
        here = self._here.values
        here[places] = False
        self._count -= len(places)
        front = int(np.argmax(here)) if self._count else len(here)
        self._here.drop(front)
        self._dropped += front
        if self._line is not None:
            self._line = self._line[front:]
        else:
            for key in keys:
                del self._numbers[key]
        return front
