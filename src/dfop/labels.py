r"""Class labels as numbers for least squares, and back.

Two classes: one output, -1 for ``classes[0]`` and +1 for ``classes[1]``, as in the paper; a
margin of 0 (before anything is learned, say) means ``classes[0]``.
More classes: one output each, 1 for rows of the class and 0 for the others; the largest output
wins, and of equal ones the first in the order of the classes. What differs by less than 1e-9 is
equal (`dfop.core.choose`): which is the larger would be decided by the machine's rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from .core import choose
from .validation import check_length

Array = NDArray[np.float64]

# Share of the probability that is spread evenly over the classes: nothing learned by least
# squares is certain, and a surprise should cost a finite log loss.
DOUBT = 0.01


class LabelCode:
    """The coding of one target column.

    Parameters
    ----------
    classes : ndarray
        The labels, sorted and distinct.
    """

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes

    @classmethod
    def learn(cls, y: NDArray[Any], classes: Any = None) -> LabelCode:
        """Take over the classes given, or those found in `y`."""
        if classes is None:
            check_classification_targets(y)
            return cls(np.unique(y))
        given = np.asarray(classes)
        if given.ndim != 1 or given.size == 0:
            raise ValueError(f"classes has shape {given.shape}: give a list of labels")
        return cls(np.unique(given))

    @property
    def outputs(self) -> int:
        """How many outputs the coding needs."""
        return len(self.classes) if len(self.classes) > 2 else 1

    def encode(self, y: NDArray[Any]) -> Array:
        """Code labels as a matrix of shape (n, outputs)."""
        at = self._indices(y)
        if self.outputs == 1:
            return np.where(at == 1, 1.0, -1.0)[:, np.newaxis]
        coded = np.zeros((len(y), self.outputs))
        coded[np.arange(len(y)), at] = 1.0
        return coded

    def decode(self, outputs: Array) -> NDArray[Any]:
        """Labels of margins of shape (n, outputs)."""
        at = choose(outputs, margin=self.outputs == 1)
        return self.classes[np.minimum(at, len(self.classes) - 1)]

    def margins(self, outputs: Array) -> Array:
        """Show outputs as `decision_function` does: (n,) for two classes, else (n, classes)."""
        return outputs[:, 0] if self.outputs == 1 else outputs

    def probabilities(self, outputs: Array) -> Array:
        """Class probabilities, in the order of the classes."""
        if len(self.classes) == 1:
            return np.ones((len(outputs), 1))
        if self.outputs == 1:
            p = probability_of_second(outputs)
            return np.hstack([1.0 - p, p])
        return probabilities_of_many(outputs)

    def _indices(self, y: NDArray[Any]) -> NDArray[np.intp]:
        try:
            at = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
            known = np.asarray(self.classes[at] == y)
        except TypeError:  # labels that cannot be compared with the known ones
            known = np.zeros(len(y), bool)
        if known.shape != y.shape or not known.all():
            t = int(np.argmin(np.broadcast_to(known, y.shape)))
            shown = ", ".join(map(str, self.classes[:10])) + (
                ", ..." if len(self.classes) > 10 else ""
            )
            raise ValueError(
                f"y has the unknown class {y[t]!r} at row {t}; the classes are {shown}. Name all "
                "classes in the first call: partial_fit(X, y, classes=[...])"
            )
        return at


# Least squares on coded labels estimates the expectation of the code given x: the probability p
# of the class where the code is 0 and 1, or 2p - 1 where it is -1 and +1. What is estimated may
# leave its range, so it is bent back into it.


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


def as_labels(y: Any, n: int) -> NDArray[Any]:
    """Return labels as a usable array of shape (n,) or (n, m)."""
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    labels: NDArray[Any] = y
    if type(y) is not np.ndarray or y.dtype.kind not in "biuU":
        labels = check_array(
            y, dtype=None, ensure_2d=False, ensure_all_finite=False, ensure_min_samples=0,
            input_name="y",
        )  # fmt: skip
    check_length(labels, n)
    if labels.dtype == object:
        _check_alike(labels)
    if labels.ndim > 2 or labels.size == 0:
        raise ValueError(f"y has shape {labels.shape}: expected (n,) or (n, m) with m > 0")
    missing = labels != labels  # NaN of any type is the one value unlike itself
    if np.any(missing):
        t = int(np.argwhere(missing)[0][0])
        raise ValueError(f"y contains NaN at row {t}: drop rows without a label before learning")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        t = int(np.argwhere(np.isinf(labels))[0][0])
        raise ValueError(f"y contains infinity at row {t}: drop or recode it before learning")
    return labels


def _check_alike(labels: NDArray[Any]) -> None:
    """Refuse missing labels and labels that cannot be sorted among each other."""
    for column in labels.reshape(len(labels), -1).T:
        for t, label in enumerate(column):
            if label is None:
                raise ValueError(
                    f"y contains None at row {t}: drop rows without a label before learning"
                )
            if isinstance(label, str) != isinstance(column[0], str) and label == label:
                raise ValueError(
                    f"y contains {label!r} at row {t} but {column[0]!r} at row 0: labels must be "
                    "of one type"
                )
