"""Many models of one design, one per key: the compiled store, and how large it may become."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank, Filter, KeyedStore

Array = NDArray[np.float64]
Keys = NDArray[np.int64] | list[str]
Times = NDArray[np.float64] | NDArray[np.int64] | None

_ENTRY = 32 + 11
"""Bytes of a key beside its record: its entry in the list, and its place in a half-full table."""
_TEXT = 32
"""Of a key that is a short text."""


class KeyDesign(NamedTuple):
    """As every key begins."""

    engine: Filter | Bank
    classes: int | None
    """How many classes labels have; None for numbers."""
    open: bool
    """Whether further classes may come."""
    text: bool
    """Whether keys are texts."""
    late: bool
    """Whether a bank has room for what it knows of late labels."""

    def bytes_per_key(self) -> int:
        """Return what a key takes.

        Examples
        --------
        >>> design = KeyDesign(Filter(10, 1, True, 100.0, 1e6), None, False, text=False, late=False)
        >>> design.bytes_per_key()
        811
        """
        return KeyedStore(*self, 0, 0.0, 0.0).record_bytes + _ENTRY + self.text * _TEXT

    def most_keys(self, memory_limit: int | None) -> int:
        """Return how many keys so many bytes hold; 0 for any number."""
        if memory_limit is None:
            return 0
        each = self.bytes_per_key()
        if memory_limit < each:
            raise ValueError(
                f"memory_limit={memory_limit} bytes is too little for one key, which takes {each}"
            )
        return memory_limit // each

    def grow_store(self, store: KeyedStore, memory_limit: int | None) -> None:
        """Let every key of a store begin so from now on, with more columns, classes or room."""
        store.grow(self.engine, self.classes, self.open, self.late, self.most_keys(memory_limit))

    def build_store(self, memory_limit: int | None, expiry: int | float | None) -> KeyedStore:
        """Build an empty store.

        Parameters
        ----------
        memory_limit : int, optional
            Bytes that it may take.
        expiry : int or float, optional
            How long a key may be idle: rows, or (a float) seconds.
        """
        rows = float(expiry) if isinstance(expiry, int) else 0.0
        seconds = expiry if isinstance(expiry, float) else 0.0
        return KeyedStore(*self, self.most_keys(memory_limit), rows, seconds)


def place(
    store: KeyedStore, keys: Keys, times: Times
) -> tuple[NDArray[np.int64], NDArray[np.uint8], Array]:
    """Find or make room for the keys of rows; return entries, which are new, and gaps of time."""
    n = len(keys)
    entries, fresh, gaps = np.empty(n, np.int64), np.empty(n, np.uint8), np.empty(n)
    store.place(keys, times, entries, fresh, gaps)
    return entries, fresh, gaps


def find(store: KeyedStore, keys: Keys) -> NDArray[np.int64]:
    """Return the entries of keys, -1 where one is not known."""
    entries = np.empty(len(keys), np.int64)
    store.find(keys, entries)
    return entries
