"""Rows that wait for their label, kept small: the cells that are not 0, and what was predicted."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Key = int | str


class WaitingRow(NamedTuple):
    """One row that waits."""

    columns: bytes
    """Which coded columns are not 0 (int32)."""
    values: bytes
    """Their values (float64)."""
    stamp: float
    """How much had been forgotten when it came."""
    arrived: float
    """When it came: its number, or its time in seconds."""
    predicted: bytes
    """What the engine predicted then (float64)."""

    @property
    def outputs(self) -> Array:
        """What was predicted."""
        return np.frombuffer(self.predicted)


class WaitingRows:
    """Rows by their key, oldest first; at most `limit`, none longer than `expiry`.

    Parameters
    ----------
    limit : int
        How many may wait.
    expiry : int, float or None
        How long a row may wait, in the unit of `arrived`.
    """

    def __init__(self, limit: int, expiry: float | None) -> None:
        self.limit, self.expiry = limit, expiry
        self.rows: dict[Key, WaitingRow] = {}
        self.expired = 0
        """How many rows were given up."""

    def __deepcopy__(self, memo: dict[int, Any]) -> WaitingRows:
        copied = WaitingRows(self.limit, self.expiry)
        copied.rows, copied.expired = dict(self.rows), self.expired  # a row is never changed
        return copied

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.rows)

    def __contains__(self, key: Key) -> bool:
        return key in self.rows

    def check_waiting(self, keys: Iterable[Key]) -> None:
        """Refuse keys of rows that do not wait."""
        for key in keys:
            if key not in self.rows:
                gone = f", {self.expired} have expired" if self.expired else ""
                raise ValueError(
                    f"no row with the key {key!r} waits for its label ({len(self)} do{gone}): "
                    "predict_pending announces rows, and each is learned once"
                )

    def expiring(self, now: float) -> list[Key]:
        """Return rows that have waited too long, or are too many."""
        gone: list[Key] = []
        excess = len(self) - self.limit
        for key, row in self.rows.items():
            late = self.expiry is not None and now - row.arrived >= self.expiry
            if not late and len(gone) >= excess:
                break
            gone.append(key)
        return gone

    def expiring_between(
        self, keys: Sequence[Key], arrived: Array, due: Sequence[Key], before: Sequence[int]
    ) -> list[Key]:
        """Return rows that will have to be given up while rows arrive and labels between them.

        As if every row and every label came in a call of its own; a label that comes too late for
        its row is refused.
        """
        waiting = {key: row.arrived for key, row in self.rows.items()}
        gone: list[Key] = []
        labels = list(zip(due, before, strict=True))[::-1]
        for t, (key, now) in enumerate(zip(keys, arrived.tolist(), strict=True)):
            while labels and labels[-1][1] <= t:
                self._take(waiting, labels.pop()[0])
            waiting[key] = now
            while waiting:
                oldest, when = next(iter(waiting.items()))
                late = self.expiry is not None and now - when >= self.expiry
                if not late and len(waiting) <= self.limit:
                    break
                del waiting[oldest]
                gone.append(oldest)
        for key, _ in labels[::-1]:
            self._take(waiting, key)
        return gone

    @staticmethod
    def _take(waiting: dict[Key, float], key: Key) -> None:
        if waiting.pop(key, None) is None:
            raise ValueError(
                f"the label of row {key!r} comes too late: the row has expired by then; raise "
                "pending_limit or pending_expiry, or leave the label away"
            )

    def give_up(self, gone: Sequence[Key]) -> None:
        """Stop waiting for the labels of rows; warn the first time."""
        if not gone:
            return
        first = self.expired == 0
        for key in gone:
            del self.rows[key]
        self.expired += len(gone)
        if first:
            warnings.warn(
                f"{len(gone)} rows were given up that waited for their label (the first: "
                f"{gone[0]!r}): at most pending_limit={self.limit} wait, no longer than "
                f"pending_expiry={self.expiry}; expired_ counts them",
                UserWarning,
                stacklevel=4,
            )

    def keep(
        self, keys: Sequence[Key], rows: Array, stamps: Array, arrived: Array, predicted: Array
    ) -> None:
        """Keep coded rows, in their order."""
        at, columns = np.nonzero(rows)
        ends = np.searchsorted(at, np.arange(len(keys) + 1)).tolist()
        cells, values = columns.astype(np.int32).tobytes(), rows[at, columns].tobytes()
        outputs, size = predicted.tobytes(), predicted.shape[1] * 8
        for t, (key, stamp, when) in enumerate(
            zip(keys, stamps.tolist(), arrived.tolist(), strict=True)
        ):
            start, stop = ends[t], ends[t + 1]
            self.rows[key] = WaitingRow(
                cells[4 * start : 4 * stop],
                values[8 * start : 8 * stop],
                stamp,
                when,
                outputs[size * t : size * (t + 1)],
            )

    def dense(self, keys: Iterable[Key], width: int) -> Array:
        """Return rows as wide as they would be coded now: what is new since was 0 then."""
        chosen = [self.rows[key] for key in keys]
        out = np.zeros((len(chosen), width))
        at = np.repeat(np.arange(len(chosen)), [len(row.columns) // 4 for row in chosen])
        columns = np.frombuffer(b"".join(row.columns for row in chosen), np.int32)
        out[at, columns] = np.frombuffer(b"".join(row.values for row in chosen))
        return out


def check_keys(keys: Iterable[Any], n: int | None) -> list[Key]:
    """Return keys as a list; refuse what is no key, and equal ones."""
    if isinstance(keys, str):
        raise ValueError(f"keys must be a list of keys, not the single string {keys!r}")
    names = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    if not set(map(type, names)) <= {int, str}:
        names = [key.item() if isinstance(key, np.generic) else key for key in names]
        for key in names:
            if isinstance(key, bool) or not isinstance(key, int | str):
                raise ValueError(f"the key {key!r} must be an int or a str")
    if not names or (n is not None and len(names) != n):
        raise ValueError(f"{len(names)} keys for {n if n is not None else 'no'} rows")
    if len(set(names)) != len(names):
        raise ValueError("every row needs a key of its own, but some keys are equal")
    return names
