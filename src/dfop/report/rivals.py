"""Two predictors that read no feature, to compare with: no-change, and the commonest label or mean.

Both know what the model knew when it predicted a row: the labels that had come by then.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

MOST_CLASSES = 1000
MOST_WAITING = 100_000
"""Where a row's label came so many rows later than the last one it knew, it has no rivals."""


class Said(NamedTuple):
    """What the rivals said of rows."""

    no_change: Array
    simple: Array
    """The commonest label so far, or the mean."""
    known: NDArray[np.bool_]
    """Whether a label was known at all."""


class Rivals:
    """No-change, and the commonest class (of classes) or the mean (of numbers).

    Parameters
    ----------
    classes : bool
        Whether targets are numbers of classes; of classes equally common the one that was so first
        is said.

    Examples
    --------
    >>> rivals = Rivals(classes=True)
    >>> said = rivals.predict_then_learn(np.array([0.0, 1.0, 1.0, 0.0]))
    >>> said.known, said.no_change[1:], said.simple[1:]
    (array([False,  True,  True,  True]), array([0., 1., 1.]), array([0., 0., 1.]))
    """

    def __init__(self, *, classes: bool) -> None:
        self.classes = classes
        self.rows = 0
        self.counts: Array = np.zeros(MOST_CLASSES + 1 if classes else 1)
        """How often each class came; of numbers, their sum."""
        self.late: bool | None = None
        """Whether rows say how many labels were known; None before the first row."""
        self.after: Array = np.empty((0, 2))
        """What both would say after each of the last labels."""

    def predict_then_learn(self, target: Array, known: Codes | None = None) -> Said:
        """Say what both predict of rows, then learn their targets.

        Parameters
        ----------
        target : ndarray of shape (n,)
            Numbers, or numbers of classes, in the order in which they came.
        known : ndarray of shape (n,), optional
            How many of all targets so far had come when the row was predicted; by default all
            before it. Given for all rows or for none.
        """
        self.check(len(target), known)
        self.late = known is not None
        own = self.rows + np.arange(len(target))
        known = own if known is None else known
        joined = np.concatenate([self.after, self._learn(target)])
        at = known - 1 - (self.rows - len(self.after))
        there = (known > 0) & (at >= 0) & (own - known <= MOST_WAITING)
        said = joined[np.where(there, at, 0)]
        self.rows += len(target)
        self.after = joined[-(MOST_WAITING + 1 if self.late else 1) :].copy()
        return Said(said[:, 0], said[:, 1], there)

    def check(self, n: int, known: Codes | None) -> None:
        """Refuse counts of known labels that cannot be."""
        if self.late is not None and self.late != (known is not None):
            raise ValueError("known: say it of all rows of a stream, or of none")
        if known is None:
            return
        if known.shape != (n,) or known.dtype.kind not in "iu":
            raise ValueError("known: give a whole number per row, how many labels had come")
        wrong = np.flatnonzero((known < 0) | (known > self.rows + np.arange(n)))
        if len(wrong):
            row = int(wrong[0])
            raise ValueError(
                f"known: row {self.rows + row} cannot have known {known[row]} labels before its own"
            )

    def _learn(self, target: Array) -> Array:
        """Return what both say after each target."""
        if not self.classes:
            with np.errstate(over="ignore", invalid="ignore"):
                sums = np.cumsum(np.concatenate([self.counts, target]))[1:]
                mean = sums / (self.rows + 1 + np.arange(len(target)))
            self.counts = sums[-1:].copy() if len(sums) else self.counts
            return np.column_stack([target, mean])
        codes = target.astype(np.int64)
        leader = int(self.after[-1, 1]) if self.rows else 0
        # Counts grow by one, so that the lead changes where a class has more than any had before.
        came = self.counts[codes] + _times_before(codes) + 1
        highest = np.maximum.accumulate(np.concatenate([[self.counts[leader]], came]))
        leads = np.where(came > highest[:-1], np.arange(len(codes)), -1)
        last = np.maximum.accumulate(leads)
        self.counts = self.counts + np.bincount(codes, minlength=len(self.counts))
        return np.column_stack([target, np.where(last >= 0, target[last], float(leader))])

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return counts that JSON can hold, and arrays."""
        return {"rows": self.rows, "late": self.late}, {"counts": self.counts, "after": self.after}

    def restore(self, counts: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Go on from a state."""
        self.rows, self.late = int(counts["rows"]), counts["late"]
        self.counts, self.after = arrays["counts"].copy(), arrays["after"].copy()


def _times_before(codes: Codes) -> Codes:
    """Return how often each code stood before in the array."""
    order = np.argsort(codes.astype(np.int16), kind="stable")  # of so few bits: linear time
    ordered = codes[order]
    starts = np.searchsorted(ordered, ordered)
    before = np.empty(len(codes), np.int64)
    before[order] = np.arange(len(codes)) - starts
    return before
