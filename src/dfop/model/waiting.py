"""Rows that wait for their label, kept small: the cells that are not 0, and what was predicted."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dfop.rows.sparse import SparseBatch

from .keys import Key, KeyPlaces, Keys, Places, Queue, RaggedQueue

Array = NDArray[np.float64]
Coder = Callable[["Kept"], Array]
Remake = Callable[[Array, Array], None]

_FEW = 64  # places that are empty are no matter


class Kept(NamedTuple):
    """What is kept of rows, one after the other."""

    cells: Places
    """How many cells of each are not 0."""
    columns: NDArray[np.int32]
    """The coded columns of these."""
    values: Array
    """Their values."""
    stamps: Array
    """How much had been forgotten when each row came."""
    arrived: Array
    """When it came: its number, or its time in seconds."""
    widths: Places
    """How many outputs there were then."""
    predicted: Array
    """What the engine predicted then."""
    made_widths: Places
    """How many numbers are kept of what its experts made of each row; 0 if nothing is."""
    made: NDArray[np.floating[Any]]
    """These numbers."""
    said_widths: Places
    """How many numbers are kept of what the monitor said of each row; 0 if nothing is."""
    said: Array
    """These numbers."""

    @classmethod
    def of(
        cls,
        rows: Array | SparseBatch,
        stamps: Array,
        arrived: Array,
        predicted: Array,
        made: Array,
        said: Array,
    ) -> Kept:
        """Take what must be kept of coded rows.

        What was `made` and `said` begins with NaN where it is not known.
        """
        if isinstance(rows, SparseBatch):
            cells, columns, values = np.diff(rows.starts), rows.columns, rows.values
        else:
            at, held = np.nonzero(rows)
            cells, columns = np.bincount(at, minlength=len(rows)), held.astype(np.int32)
            values = rows[at, held]
        made_widths, made = _known(made)
        said_widths, said = _known(said)
        n, width = predicted.shape
        return cls(
            cells,
            columns,
            values,
            stamps,
            arrived,
            np.full(n, width),
            predicted.ravel(),
            made_widths,
            made,
            said_widths,
            said,
        )

    def sparse(self, width: int) -> SparseBatch:
        """Return rows as wide as they would be now, by their non-zeros."""
        return SparseBatch.of(self.cells, self.columns, self.values, width)

    def dense(self, width: int) -> Array:
        """Return rows as wide as they would be coded now: what is new since was 0 then."""
        out = np.zeros((len(self.cells), width))
        out[np.repeat(np.arange(len(self.cells)), self.cells), self.columns] = self.values
        return out

    def made_of(self, width: int, *, alike: bool) -> Array:
        """Return what experts made of rows, NaN where that is not known or was of other outputs.

        If all outputs were `alike` then, that of one of them was that of all.
        """
        out = np.full((len(self.made_widths), width), np.nan)
        for found in np.unique(self.made_widths[self.made_widths > 0]).tolist():
            if found == width or (alike and width % found == 0):
                known = self.made_widths == found
                made = self.made[np.repeat(known, self.made_widths)].reshape(-1, found)
                out[known] = np.tile(made, width // found)
        return out

    def said_of(self, width: int) -> Array:
        """Return what the monitor said of rows, NaN where that is not known."""
        out = np.full((len(self.said_widths), width), np.nan)
        for found in np.unique(self.said_widths[self.said_widths > 0]).tolist():
            known = self.said_widths == found
            said = self.said[np.repeat(known, self.said_widths)].reshape(-1, found)
            out[known] = said_of_more(said, width)
        return out

    def outputs(self) -> list[Array]:
        """Return what was predicted of each row."""
        return np.split(self.predicted, np.cumsum(self.widths))[:-1]


def said_of_more(said: Array, width: int) -> Array:
    """Return what the monitor said of rows, as it would be of more targets.

    Before the first label it was not known how many there are: everything was possible of all.
    """
    if said.shape[1] == width:
        return said
    out = np.full((len(said), width), np.inf)
    out[:, 0] = said[:, 0]
    return out


def _known(numbers: Array) -> tuple[Places, Array]:
    """Return how many of each row's numbers are kept, none if the first is NaN, and these."""
    known = ~np.isnan(numbers[:, :1]).all(axis=1)
    return np.where(known, numbers.shape[1], 0), numbers[known].ravel()


class _Queues(NamedTuple):
    """What is kept of rows that wait, in the order in which they came."""

    places: KeyPlaces
    cells: RaggedQueue
    predicted: RaggedQueue
    made: RaggedQueue
    said: RaggedQueue
    stamps: Queue
    arrived: Queue


class WaitingRows:
    """Rows by their key, oldest first; at most `limit`, none longer than `expiry`.

    Parameters
    ----------
    limit : int
        How many may wait.
    expiry : int, float or None
        How long a row may wait, in the unit of `arrived`.
    made : dtype
        In which it is kept what experts made of a row.
    """

    def __init__(self, limit: int, expiry: float | None, made: DTypeLike = np.float64) -> None:
        self.limit, self.expiry, self.made_dtype = limit, expiry, made
        self.expired = 0
        """How many rows were given up."""
        self.count = 0
        """How many rows wait."""

    @cached_property
    def _queues(self) -> _Queues:
        """What is kept of the rows; of most models none ever waits, and they have no queues."""
        return _Queues(
            KeyPlaces(),
            RaggedQueue(np.int32, np.float64),
            RaggedQueue(np.float64),
            RaggedQueue(self.made_dtype),
            RaggedQueue(np.float64),
            Queue(np.float64),
            Queue(np.float64),
        )

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Key]:
        return iter(self._queues.places.keys)

    @property
    def places(self) -> int:
        """How many places there are: of rows that wait, and of some that did."""
        return len(self._queues.stamps)

    def check_new(self, keys: Keys) -> None:
        """Refuse keys of rows that wait already."""
        taken = self._queues.places.find(keys) >= 0
        if taken.any():
            key = keys[int(np.argmax(taken))]
            raise ValueError(f"a row with the key {key!r} is already waiting for its label")

    def find(self, keys: Keys) -> Places:
        """Return the places of rows; refuse keys of rows that do not wait."""
        places = self._queues.places.find(keys)
        if (places < 0).any():
            key = keys[int(np.argmax(places < 0))]
            gone = f", {self.expired} have expired" if self.expired else ""
            raise ValueError(
                f"no row with the key {key!r} waits for its label ({len(self)} do{gone}): "
                "predict_pending announces rows, and each is learned once"
            )
        return places

    def expiring(self, now: float) -> int:
        """Count the rows, the oldest, that have waited too long or are too many."""
        excess = max(len(self) - self.limit, 0)
        expiry, arrived = self.expiry, self._queues.arrived.values
        if expiry is None:
            return excess
        late = bisect_left(range(len(arrived)), True, key=lambda at: now - arrived[at] < expiry)
        return max(excess, int(np.searchsorted(self._queues.places.here, late)))

    def expiring_between(
        self, arrived: Array, keys: Keys, due: Places, before: NDArray[np.int64]
    ) -> int:
        """Count the rows that will have to be given up while rows arrive and labels between them.

        As if every row and every label came in a call of its own; a label that comes too late for
        its row is refused. Those given up are the oldest of the rows that got no label.

        Parameters
        ----------
        arrived : array
            When each row comes.
        keys : array of int or list
            Of the rows that get a label.
        due : array of int
            Their places, if the rows that come were added now.
        before : array of int
            Before which of the rows that come each label comes.
        """
        here = self._queues.places.here
        when = np.concatenate([self._queues.arrived.values, arrived]).tolist()
        first = len(when) - len(arrived)
        order = [*here.tolist(), *range(first, len(when))]  # of those that wait
        labelled = np.full(len(when), len(arrived) + 1)
        labelled[due] = before
        told = labelled.tolist()  # before which row each has its label
        labels = np.searchsorted(before, np.arange(len(arrived)), side="right").tolist()
        oldest, gone, expiry = 0, 0, self.expiry
        for t, now in enumerate(arrived.tolist()):
            while oldest < len(here) + t + 1:
                place = order[oldest]
                late = expiry is not None and now - when[place] >= expiry
                many = len(here) + t + 1 - labels[t] - gone > self.limit
                if told[place] > t:
                    if not (late or many):
                        break
                    if told[place] <= len(arrived):
                        self._refuse_late(keys[int(np.argmax(due == place))])
                    gone += 1
                oldest += 1
        return gone

    @staticmethod
    def _refuse_late(key: Key) -> None:
        raise ValueError(
            f"the label of row {key!r} comes too late: the row has expired by then; raise "
            "pending_limit or pending_expiry, or leave the label away"
        )

    def give_up(self, count: int) -> None:
        """Stop waiting for the labels of the oldest rows; warn the first time."""
        if not count:
            return
        first = self.expired == 0
        gone = self._queues.places.oldest(count)
        self.remove(gone, self.find(gone))
        self.expired += count
        if first:
            warnings.warn(
                f"{count} rows were given up that waited for their label (the first: "
                f"{gone[0]!r}): at most pending_limit={self.limit} wait, no longer than "
                f"pending_expiry={self.expiry}; expired_ counts them",
                UserWarning,
                stacklevel=4,
            )

    def keep(self, keys: Keys, rows: Kept) -> None:
        """Keep rows, in their order."""
        if not len(keys):
            return
        self.count += len(keys)
        queues = self._queues
        queues.places.add(keys)
        queues.cells.add(rows.cells, rows.columns, rows.values)
        queues.predicted.add(rows.widths, rows.predicted)
        queues.made.add(rows.made_widths, rows.made)
        queues.said.add(rows.said_widths, rows.said)
        queues.stamps.add(rows.stamps)
        queues.arrived.add(rows.arrived)

    def kept(self, places: Places) -> Kept:
        """Return what is kept of rows."""
        queues = self._queues
        cells, (columns, values) = queues.cells.take(places)
        widths, (predicted,) = queues.predicted.take(places)
        made_widths, (made,) = queues.made.take(places)
        stamps, arrived = queues.stamps.values[places], queues.arrived.values[places]
        said_widths, (said,) = queues.said.take(places)
        return Kept(
            cells,
            columns,
            values,
            stamps,
            arrived,
            widths,
            predicted,
            made_widths,
            made,
            said_widths,
            said,
        )

    def all_kept(self) -> Kept:
        """Return what is kept of all rows, oldest first."""
        return self.kept(self._queues.places.here)

    def others(self, places: Places) -> Places:
        """Return the places of all rows but some, oldest first."""
        return np.setdiff1d(self._queues.places.here, places, assume_unique=True)

    def remake(
        self, places: Places, width: int, *, alike: bool, code: Coder, remake: Remake
    ) -> None:
        """Let an engine predict the rows at some places once more.

        Parameters
        ----------
        places : array of int
            Which rows.
        width, alike
            How many numbers an engine puts down of a row now, as in `Kept.made_of`.
        code : callable
            Makes of what is kept rows as the engine sees them.
        remake : callable
            Overwrites what was made of rows.
        """
        if not len(places):
            return
        rows = self.kept(places)
        made = rows.made_of(width, alike=alike)
        remake(code(rows), made)
        self._queues.made.replace(places, *_known(made))

    def remove(self, keys: Keys, places: Places) -> None:
        """Stop waiting for the labels of rows."""
        if not len(places):
            return
        self.count -= len(places)
        queues = self._queues
        front = queues.places.remove(keys, places)
        for rows in (queues.cells, queues.predicted, queues.made, queues.said):
            rows.drop(front)
        for times in (queues.stamps, queues.arrived):
            times.drop(front)
        if self.places > 2 * len(self) + _FEW:  # labels that come out of order leave gaps
            left, kept = self._queues.places.keys, self.all_kept()
            del self._queues
            self.count = 0
            self.keep(left, kept)
