"""Sums over consecutive rows in pieces that double, so that a stream of any length fits."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
How = Literal["sum", "least", "most", "last"]

MOST_PIECES = 1000


class Pieces:
    """Figures of consecutive pieces of a stream, at most 1000 of the same length.

    A piece begins with one row. When all are full, neighbours are joined and the length doubles,
    at a row that does not depend on how rows came in batches. Within a piece values are added one
    after the other, so that the sums do not depend on it either, to the last bit.

    Parameters
    ----------
    columns : dict of str to {"sum", "least", "most", "last"}
        What is kept of each figure over the rows of a piece.
    most : int
        How many pieces there may be, an even number.

    Examples
    --------
    >>> pieces = Pieces({"error": "sum", "time": "last"}, most=4)
    >>> pieces.add({"error": np.array([1.0, 0.0, 1.0, 1.0, 0.0]), "time": np.arange(5.0)})
    >>> pieces.length, pieces.column("error"), pieces.rows_of_pieces()
    (2, array([1., 2., 0.]), array([2, 2, 1]))
    >>> pieces.column("time")
    array([1., 3., 4.])
    """

    def __init__(self, columns: dict[str, How], most: int = MOST_PIECES) -> None:
        self.columns = columns
        self.most = most
        self.rows = 0
        self.length = 1
        self._values = {name: _empty(how, most) for name, how in columns.items()}

    def __len__(self) -> int:
        return -(-self.rows // self.length)

    def add(self, rows: dict[str, Array]) -> None:
        """Add the figures of further rows; a figure that is left out adds nothing."""
        n, at = len(next(iter(rows.values()))), 0
        while at < n:
            stop = min(n, at + self.most * self.length - self.rows)
            piece = (self.rows + np.arange(stop - at)) // self.length
            starts = np.flatnonzero(np.diff(piece, prepend=-1))
            for name, values in rows.items():
                _gather(self.columns[name], self._values[name], piece, starts, values[at:stop])
            self.rows += stop - at
            at = stop
            if self.rows == self.most * self.length:
                self._double()

    def column(self, name: str) -> Array:
        """Return one figure of every piece."""
        return self._values[name][: len(self)].copy()

    def rows_of_pieces(self) -> NDArray[np.int64]:
        """Return how many rows every piece has: the last one may still grow."""
        return np.diff(self.ends(), prepend=0)

    def ends(self) -> NDArray[np.int64]:
        """Return after how many rows of the stream every piece ends."""
        return np.minimum(self.length * np.arange(1, len(self) + 1), self.rows)

    def _double(self) -> None:
        for name, how in self.columns.items():
            values = self._values[name]
            joined = _empty(how, self.most)
            joined[: self.most // 2] = _join(how, values[0::2], values[1::2])
            self._values[name] = joined
        self.length *= 2

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return counts that JSON can hold, and arrays."""
        return {"rows": self.rows, "length": self.length}, {
            name: self.column(name) for name in self.columns
        }

    def restore(self, counts: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Go on from a state."""
        self.rows, self.length = int(counts["rows"]), int(counts["length"])
        for name, how in self.columns.items():
            self._values[name] = _empty(how, self.most)
            self._values[name][: len(self)] = arrays[name]


def _empty(how: How, most: int) -> Array:
    return np.full(most, 0.0 if how == "sum" else np.nan)


def _gather(
    how: How,
    into: Array,
    piece: NDArray[np.intp],
    starts: NDArray[np.intp],
    values: Array,
) -> None:
    """Add the values of rows to their pieces, which begin at the rows `starts`."""
    touched = piece[starts]
    with np.errstate(over="ignore", invalid="ignore"):
        if how == "sum":
            np.add.at(into, piece, values)  # row by row in order
        elif how == "least":  # fmin and fmax pass over NaN, which is what pieces start with
            into[touched] = np.fmin(into[touched], np.fmin.reduceat(values, starts))
        elif how == "most":
            into[touched] = np.fmax(into[touched], np.fmax.reduceat(values, starts))
        else:
            into[touched] = values[np.append(starts[1:], len(values)) - 1]


def _join(how: How, first: Array, second: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        if how == "sum":
            return first + second
        if how == "least":
            return np.fmin(first, second)
        return np.fmax(first, second) if how == "most" else second
