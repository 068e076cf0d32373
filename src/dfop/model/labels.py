"""What least squares on coded labels says about classes: margins and probabilities.

Least squares on coded labels estimates the expectation of the code given x: the probability p of
the class where the code is 0 and 1, or 2p - 1 where it is -1 and +1. What is estimated may leave
its range, so it is bent back into it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfop.core import choose

Array = NDArray[np.float64]

DOUBT = 0.01
"""Share of the probability that is spread evenly over the classes: nothing learned by least squares
is certain, and a surprise should cost a finite log loss."""


def raw_probabilities(outputs: Array, classes: int) -> Array:
    """Return the probabilities of classes from the outputs of a filter, not calibrated.

    Examples
    --------
    >>> raw_probabilities(np.array([[0.0]]), 2)
    array([[0.5, 0.5]])
    """
    if classes <= 1:
        return np.ones((len(outputs), classes))
    if outputs.shape[1] == 1:
        p = probability_of_second(outputs)
        return np.hstack([1.0 - p, p])
    return probabilities_of_many(outputs)


def probability_of_second(margin: Array) -> Array:
    """Probability of the second of two classes from the margin g, an estimate of 2p - 1.

    g / (1 + g^8)^(1/8) is g where |g| is well below 1, stays below 1, and keeps the order.
    """
    g = np.clip(margin, -1e30, 1e30)
    p: Array = 0.5 + 0.5 * g / (1.0 + g**8) ** 0.125
    return np.asarray(0.5 * DOUBT + (1.0 - DOUBT) * p)


def probabilities_of_many(outputs: Array) -> Array:
    """Probabilities of three or more classes: the nearest point of the simplex."""
    return np.asarray(DOUBT / outputs.shape[1] + (1.0 - DOUBT) * _nearest_in_simplex(outputs))


def _nearest_in_simplex(v: Array) -> Array:
    """Euclidean projection of each row on the probability simplex.

    The projection is max(v - theta, 0) with theta chosen so that the row sums to 1; with the
    row sorted downwards, theta = (v_1 + ... + v_r - 1)/r for the largest r that keeps v_r > theta.
    """
    v = v - v.max(axis=1, keepdims=True)  # the same projection, and no digits lost to a common size
    ordered = -np.sort(-v, axis=1)
    theta = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, v.shape[1] + 1)
    r = np.count_nonzero(ordered > theta, axis=1)
    return np.asarray(np.maximum(v - theta[np.arange(len(v)), r - 1][:, np.newaxis], 0.0))


class LabelCode:
    """The code of a label whose classes are known: a margin of -1 and 1, or one output per class.

    Parameters
    ----------
    classes : int
        How many there are; labels are given by number.

    Examples
    --------
    >>> LabelCode(3).encode(np.array([0, 2]))
    array([[1., 0., 0.],
           [0., 0., 1.]])
    >>> LabelCode(2).decode(np.array([[-0.3], [0.7]])).tolist()
    [0, 1]
    """

    def __init__(self, classes: int) -> None:
        self.classes = classes

    @property
    def margin(self) -> bool:
        """Whether there is one output for both classes."""
        return self.classes <= 2

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return 1 if self.margin else self.classes

    def encode(self, numbers: NDArray[np.int64]) -> Array:
        """Return the outputs that labels ask for."""
        if self.margin:
            return np.where(numbers == 1, 1.0, -1.0)[:, np.newaxis]
        return np.asarray(numbers[:, np.newaxis] == np.arange(self.classes), dtype=np.float64)

    def decode(self, outputs: Array) -> NDArray[np.int64]:
        """Return the labels that outputs stand for."""
        chosen = choose(np.ascontiguousarray(outputs), self.margin)
        return np.minimum(chosen, self.classes - 1)
