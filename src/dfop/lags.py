"""The last known labels as features: temporal augmentation.

Where labels depend on the ones before them, the last k of them tell more than the features do.
They are features only of a stream whose labels are known before the next row comes; with labels
that come late, the last ones that had arrived are taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Lags:
    """The last `count` labels, as coded for the learner; 0 before the first ones.

    Parameters
    ----------
    count : int
        How many.
    outputs : int
        Numbers per label.
    """

    def __init__(self, count: int, outputs: int) -> None:
        self.labels = np.zeros((count, outputs))
        """Oldest first."""

    @property
    def width(self) -> int:
        """How many features they make."""
        return self.labels.size

    def before(self, targets: Array, known: NDArray[np.bool_]) -> Array:
        """Return the lags of each row, newest first; `known` says which targets arrive."""
        count = len(self.labels)
        arrived = np.vstack([self.labels, targets[known]])
        # one past the newest label known at each row
        last: NDArray[np.intp] = np.cumsum(known, dtype=np.intp) + (count - known.astype(np.intp))
        places = last[:, np.newaxis] - 1 - np.arange(count)
        return np.ascontiguousarray(arrived[places].reshape(len(targets), self.width))

    def now(self, n: int) -> Array:
        """Return the lags of n rows for none of which a label has arrived."""
        return np.tile(self.labels[::-1].reshape(-1), (n, 1))

    def add(self, targets: Array) -> None:
        """Take over labels that have arrived, oldest first."""
        self.labels = np.vstack([self.labels, targets])[len(targets) :]
