"""Classes by number, in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rivals import MOST_CLASSES

LONGEST_NAME = 200


class Classes:
    """Numbers of classes, by what is written of them.

    Those beyond the first 1000 share a number.

    Parameters
    ----------
    names : iterable of str
        Those that came so far.

    Examples
    --------
    >>> Classes().codes(np.array(["up", "down", "up"]))
    array([0, 1, 0])
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._numbers = {name: number for number, name in enumerate(names)}

    @property
    def names(self) -> list[str]:
        """What is written of each class."""
        return list(self._numbers)

    def codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of every label; new ones get the next."""
        if labels.dtype.kind == "O":  # they need not have an order
            return np.array([self._number(label) for label in labels], np.int64)
        found, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        numbers = np.empty(len(found), np.int64)
        for at in np.argsort(first):
            numbers[at] = self._number(found[at])
        return numbers[inverse]

    def _number(self, label: Any) -> int:
        name = str(label)[:LONGEST_NAME]
        if len(self._numbers) >= MOST_CLASSES:
            return self._numbers.get(name, MOST_CLASSES)
        return self._numbers.setdefault(name, len(self._numbers))
