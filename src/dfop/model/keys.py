"""Keys of rows, and the places of the rows in a queue.

Keys that are whole numbers and rise by one from row to row, as numbers of rows do, need no table:
the difference to the first of them is the place.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .queues import Places, Queue

Key = int | str
Keys = list[Key] | NDArray[np.int64]
"""Whole numbers are an array, unless they are too large for one."""


def check_keys(keys: Iterable[Any], n: int | None) -> Keys:
    """Return keys in the form in which they are looked up; refuse what is no key, and equal ones."""
    if isinstance(keys, str):
        raise ValueError(f"keys must be a list of keys, not the single string {keys!r}")
    names = _read(keys)
    if not len(names) or (n is not None and len(names) != n):
        raise ValueError(f"{len(names)} keys for {n if n is not None else 'no'} rows")
    if not in_line(names) and len(set(listed(names))) != len(names):
        raise ValueError("every row needs a key of its own, but some keys are equal")
    return names


def _read(keys: Iterable[Any]) -> Keys:
    if isinstance(keys, range):
        keys = np.arange(keys.start, keys.stop, keys.step)
    if isinstance(keys, np.ndarray):
        if keys.dtype.kind == "i" and keys.ndim == 1:
            return keys.astype(np.int64)
        keys = keys.tolist()
    names = list(keys)
    kinds = set(map(type, names))
    if not kinds <= {int, str}:
        names = [key.item() if isinstance(key, np.generic) else key for key in names]
        for key in names:
            if isinstance(key, bool) or not isinstance(key, int | str):
                raise ValueError(f"the key {key!r} must be an int or a str")
        kinds = set(map(type, names))
    if kinds == {int}:
        with suppress(OverflowError):
            return np.array(names, np.int64)
    return names


def in_line(keys: Keys) -> bool:
    """Tell whether keys are whole numbers that rise by one."""
    if isinstance(keys, list):
        return False
    first, last = int(keys[0]), int(keys[-1])
    return last - first == len(keys) - 1 and bool((keys[1:] > keys[:-1]).all())


def listed(keys: Keys) -> list[Key]:
    """Return keys as Python's own."""
    return keys if isinstance(keys, list) else keys.tolist()


def some_keys(keys: Keys, which: Places) -> Keys:
    """Return some of the keys."""
    return [keys[j] for j in which.tolist()] if isinstance(keys, list) else keys[which]


class KeyPlaces:
    """The place of each key in a queue: added behind, dropped in front, removed anywhere."""

    def __init__(self) -> None:
        self._first: int | None = 0
        """The key of the row in front, where keys are in line; there is no table then."""
        self._numbers: dict[Key, int] = {}
        """The table: places, counted from the very first row."""
        self._dropped = 0
        self._here = Queue(np.bool_)
        """Of every row between the first and the last: whether it was not removed."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def here(self) -> Places:
        """The places of all rows that were not removed."""
        return np.flatnonzero(self._here.values)

    @property
    def keys(self) -> Keys:
        """Their keys, in the same order."""
        return list(self._numbers) if self._first is None else self._first + self.here

    def oldest(self, count: int) -> Keys:
        """Return the keys of so many rows in front."""
        return self.keys[:count] if self._first is not None else [*islice(self._numbers, count)]

    def find(self, keys: Keys) -> Places:
        """Return the place of each key, -1 of one that is not here."""
        if not self._count or not len(keys):
            return np.full(len(keys), -1)
        if self._first is not None and isinstance(keys, list):
            self._make_table()
        if self._first is None:
            get, none = self._numbers.get, self._dropped - 1
            return np.array([get(key, none) for key in listed(keys)], np.int64) - self._dropped
        places = keys - np.int64(self._first)  # what overflows is not here either
        places[(places < 0) | (places >= len(self._here))] = -1
        places[~self._here.values[places]] = -1
        return places

    def add(self, keys: Keys) -> None:
        """Add rows behind."""
        if not self._count:
            self._first = int(keys[0]) if in_line(keys) else None
        elif self._first is not None and not self._goes_on(keys):
            self._make_table()
        if self._first is None:
            end = self._dropped + len(self._here)
            self._numbers.update(zip(listed(keys), range(end, end + len(keys)), strict=True))
        self._here.add(np.ones(len(keys), np.bool_))
        self._count += len(keys)

    def remove(self, keys: Keys, places: Places) -> int:
        """Forget rows, and return how many in front are none any more."""
        if self._first is None:
            for key in listed(keys):
                del self._numbers[key]
        here = self._here.values
        here[places] = False
        self._count -= len(places)
        front = int(np.argmax(here)) if self._count else len(here)
        self._here.drop(front)
        self._dropped += front
        if self._first is not None:
            self._first += front
        return front

    def _goes_on(self, keys: Keys) -> bool:
        assert self._first is not None
        return in_line(keys) and int(keys[0]) == self._first + len(self._here)

    def _make_table(self) -> None:
        places = self.here
        keys, numbers = listed(self.keys), (self._dropped + places).tolist()
        self._numbers = dict(zip(keys, numbers, strict=True))
        self._first = None
