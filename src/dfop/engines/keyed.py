"""Many filters of one design, one per key: the compiled store, and how large it may become."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfop.core import Filter, KeyedStore

Array = NDArray[np.float64]
Keys = NDArray[np.int64] | list[str]
Times = NDArray[np.float64] | NDArray[np.int64] | None

_ENTRY = 32 + 11
"""Bytes of a key beside its record: its entry in the list, and its place in a half-full table."""
_TEXT = 32
"""Of a key that is a short text."""


def bytes_per_key(design: Filter, text: bool) -> int:
    """Return what a key takes.

    Examples
    --------
    >>> bytes_per_key(Filter(10, 1, True, 100.0, 1e6), text=False)
    811
    """
    record = KeyedStore(design, text, 0, 0.0, 0.0).record_bytes
    return record + _ENTRY + text * _TEXT


def build_store(
    design: Filter, text: bool, memory_limit: int | None, expiry: int | float | None
) -> KeyedStore:
    """Build an empty store.

    Parameters
    ----------
    design : Filter
        As every key begins.
    text : bool
        Whether keys are texts.
    memory_limit : int, optional
        Bytes that it may take.
    expiry : int or float, optional
        How long a key may be idle: rows, or (a float) seconds.
    """
    most = 0
    if memory_limit is not None:
        each = bytes_per_key(design, text)
        most = memory_limit // each
        if not most:
            raise ValueError(
                f"memory_limit={memory_limit} bytes is too little for one key, which takes {each}"
            )
    rows = float(expiry) if isinstance(expiry, int) else 0.0
    seconds = expiry if isinstance(expiry, float) else 0.0
    return KeyedStore(design, text, most, rows, seconds)


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
