r"""Whether the limits of a filter would have acted, told from what rows left behind.

A filter keeps ``P = U D U'`` and lets forgetting raise ``D_j`` only so far that no variance
``P_ii``, to which it adds ``u_ij^2 D_j``, passes what the cap allows (`Bounds`). Where such a limit
acts the filter keeps what forgetting would have taken, and no merged form can know. So it is found
out: U and D of what rows left behind are looked at whenever the past has faded by `SPACING`, from
the moment on from which what came before the rows no longer matters; before, they are kept
(`Summary.heads`) until it is known what came before. A filter draws its limits anew only when the
past has faded a thousandfold, so U of one moment limits D of later ones (`Window`). `MARGIN` covers
what happens between two looks: it may be said that a limit acted where none did, by that factor.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .triangle import factors_of_inverse, triangle

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SPACING = 0.5
"""How much fades, as a logarithm, between two looks."""
LEAD = 5.0
"""What fades before rows are looked at without those before them."""
HOPELESS = 30.0
"""Where this much has faded and a column is still not excited, a limit has acted."""
FORGOTTEN = 60.0
"""What has faded by this much leaves no trace in double precision."""
MARGIN = 4.0
_ROOM = 16.0
"""By how much less than `MARGIN` allows rows must need to stand alone: scales may grow later."""
LARGEST_VARIANCE = 1e40
"""Where a filter without a cap stops: like a cap, in units of the noise over the square of a
feature's scale."""
_REFRESH = math.log(1e3)
_PRIOR_SLACK = 1e3


class Checkpoint(NamedTuple):
    """How things stood at one moment."""

    fade: float
    """How much had faded since the first row."""
    factor: Array


@dataclass(frozen=True)
class Bounds:
    """How uncertain forgetting may make the weights of a filter.

    Attributes
    ----------
    cap : float
        In units of the noise over the square of the feature's scale.
    prior_variance : float
        Of which a thousandfold is always allowed.
    """

    cap: float
    prior_variance: float

    def of(self, largest: Array) -> Array:
        """Return the largest variance of each weight, given the largest magnitudes."""
        scaled = self.cap / np.maximum(powers_of_two_above(largest), 1e-150) ** 2
        return np.where(
            largest > 0.0, np.maximum(scaled, _PRIOR_SLACK * self.prior_variance), np.inf
        )

    def passed(self, peak: Array, largest: Array) -> Mask:
        """Return for which weights a limit may have acted."""
        return np.asarray(peak * MARGIN > self.of(largest))


def powers_of_two_above(magnitudes: Array) -> Array:
    """Return the scales of features with these largest magnitudes.

    Examples
    --------
    >>> powers_of_two_above(np.array([0.3, 1.0, 1.1]))
    array([0.5, 1. , 2. ])
    """
    fraction, exponent = np.frexp(magnitudes)
    return np.asarray(np.ldexp(1.0, exponent - (fraction == 0.5)))


def _spread(factor: Array, known: Mask) -> tuple[Array, Array]:
    """Return u_ij^2 and D_j of the known columns, 0 for the others."""
    p = len(known)
    squares, D = np.zeros((p, p)), np.zeros(p)
    at = np.flatnonzero(known)
    if len(at):
        U, D[at] = factors_of_inverse(triangle(factor[:, at]))
        with np.errstate(over="ignore"):
            squares[np.ix_(at, at)] = U * U
    return squares, D


def _parts(squares: Array, D: Array) -> Array:
    """Return the largest part of each weight's variance."""
    with np.errstate(invalid="ignore", over="ignore"):
        products = np.nan_to_num(squares * D, nan=np.inf, posinf=np.inf)
    return np.asarray(np.where(squares > 0.0, products, 0.0).max(axis=1, initial=0.0))


def variances(factor: Array, known: Mask) -> Array:
    """Return the variances of the weights of the known columns."""
    squares, D = _spread(factor, known)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.where(squares > 0.0, squares * D, 0.0).sum(axis=1))


def settled_by(factor: Array, known: Mask, bound: Array) -> bool:
    """Whether what a factor knows keeps every limit of the known columns far from acting."""
    return bool((_parts(*_spread(factor, known)) * MARGIN * _ROOM <= bound).all())


class Window:
    """The last looks, as far as a filter's limits may go back.

    Parameters
    ----------
    columns : int
        How many there are.
    """

    def __init__(self, columns: int) -> None:
        self.peak = np.zeros(columns)
        """The largest part of each weight's variance so far."""
        self._looks: deque[tuple[float, Array, Array]] = deque()
        self._fade = 0.0

    def pass_time(self, fade: float) -> None:
        """Let the past fade: D grows at most so much."""
        if self._looks:
            at, squares, D = self._looks[-1]
            with np.errstate(over="ignore"):
                self._looks[-1] = at, squares, D * np.exp(min(fade, 700.0))
            self._raise_peak()
        self._fade += fade

    def look(self, factor: Array, known: Mask) -> None:
        """Take in how things stand now."""
        self._looks.append((self._fade, *_spread(factor, known)))
        while self._looks[0][0] < self._fade - _REFRESH:
            self._looks.popleft()
        self._raise_peak()

    def forget_peak(self) -> None:
        """Leave out what has been so far."""
        self.peak = np.zeros_like(self.peak)

    def _raise_peak(self) -> None:
        squares = np.max([look[1] for look in self._looks], axis=0)
        self.peak = np.maximum(self.peak, _parts(squares, self._looks[-1][2]))
