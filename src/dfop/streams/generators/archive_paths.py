"""How the classes of the non-stationary archive move, as read off the published files.

Every function gives, for block k (from 0), label (1 or 2) and n, that many rows of the class.
Means and variances of the Gaussian sets are whole or half numbers at evenly spaced knots,
linear in between; the fit of each to its file is in the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Callable[[int, int, int, np.random.Generator], Floats]


def translation(names: str) -> Draw:
    """1CDT, 2CDT, 1CHT, 2CHT: one or both classes move 20 units away and back, sd 1.5."""
    moving, diagonal = int(names[0]), names[2] == "d"

    def draw(k: int, label: int, n: int, rng: np.random.Generator) -> Floats:
        away = k if k <= 20 else 40 - k
        shift = (away if moving == 2 or label == 2 else 0) + (4 if label == 2 else 0)
        mean = (shift, shift) if diagonal else (shift, 2)
        return rng.normal(mean, 1.5, (n, 2))

    return draw


# UG-2C-2D: knots at k = 0, 19.8, ..., 99. Rows: class, knot, feature.
_UG2_MEAN = np.array(
    [
        [(2, 3), (6, 3), (8, 5), (7, 5), (3, 7), (3, 3)],
        [(8, 7), (4, 7), (2, 5), (3, 4), (7, 2), (7, 7)],
    ]
)
_UG2_VARIANCE = np.array(
    [
        [(1, 1), (2, 1), (2, 2), (1, 1), (1.5, 1.5), (1.5, 1.5)],
        [(1, 1), (2, 2), (2, 3), (1, 3), (1, 3), (1.5, 1.5)],
    ]
)


def ug_2c_2d(k: int, label: int, n: int, rng: np.random.Generator) -> Floats:
    """UG-2C-2D: one Gaussian a class."""
    mean = _at_knots(k * 5 / 99, _UG2_MEAN[label - 1])
    variance = _at_knots(k * 5 / 99, _UG2_VARIANCE[label - 1])
    return rng.normal(mean, np.sqrt(variance), (n, 2))


def ug_2c_3d(k: int, label: int, n: int, rng: np.random.Generator) -> Floats:
    """UG-2C-3D, a stand-in: the path of the published set is not known."""
    a = 1.5 * np.pi * k / 99
    u = np.array([np.cos(a), np.sin(a) / np.sqrt(2), np.sin(a) / np.sqrt(2)])
    return rng.normal(5 + (1.7 if label == 1 else -1.7) * u, 1.0, (n, 3))


# UG-2C-5D: block k stands at (k + 1) / 20 on a path with a knot at 0, 1, ..., 5.
_UG5_MEAN = np.array(
    [
        [(9, 1, 8, 4, 3), (4, 3, 5, 7, 1), (2, 4, 6, 8, 5),
         (5, 5, 7, 6, 8), (6, 3, 6, 3, 7), (10, 5, 3, 4, 6)],
        [(1, 5, 3, 8, 6), (3, 3, 1, 4, 2), (6, 5, 4, 6, 5),
         (7, 6, 3, 8, 7), (3, 3, 5, 4, 8), (7, 6, 4, 5, 7)],
    ]
)  # fmt: skip
_UG5_VARIANCE = np.array(
    [
        [(3, 1, 2, 1, 4), (3, 3, 2, 1, 3), (1, 3, 3, 1, 2),
         (2, 3, 3, 3, 1), (2, 2, 2, 4, 2), (2, 1, 1, 5, 1)],
        [(1, 2, 3, 2, 1), (3, 2, 2, 3, 1), (3, 1, 2, 1, 3),
         (2, 3, 4, 4, 2), (1, 5, 4, 4, 1), (1, 4, 4, 3, 1)],
    ]
)  # fmt: skip
# The second feature of class 2 jumps: it arrives at knots 1 and 4 at 3 and leaves from these.
_UG5_JUMPS = {1: 4.0, 4: 9.0}


def ug_2c_5d(k: int, label: int, n: int, rng: np.random.Generator) -> Floats:
    """UG-2C-5D: one Gaussian a class."""
    position = (k + 1) / 20
    mean = _at_knots(position, _UG5_MEAN[label - 1])
    segment = min(int(position), 4)
    if label == 2 and segment in _UG5_JUMPS:
        end = float(_UG5_MEAN[1, segment + 1, 1])
        start = _UG5_JUMPS[segment]
        mean[1] = start + (position - segment) * (end - start)
    variance = _at_knots(position, _UG5_VARIANCE[label - 1])
    return rng.normal(mean, np.sqrt(variance), (n, 5))


# MG-2C-2D, class 2: one half follows this path, the other its mirror image in x1 = x2.
_MG_PATH = np.array([(8, 8), (6, 8), (4, 7.5), (2.5, 6), (2, 4), (2, 2)])


def mg_2c_2d(k: int, label: int, n: int, rng: np.random.Generator) -> Floats:
    """MG-2C-2D: each class is two Gaussians of unit variance with the same number of rows."""
    u = k / 99
    if label == 1:
        centres = np.array([(2 + 6 * u, 2 + 6 * u), (8 - 6 * u, 2 + 6 * u)])
    else:
        one = _at_knots(5 * u, _MG_PATH)
        centres = np.array([one, one[::-1]])
    return rng.normal(centres[rng.permutation(n) % 2], 1.0)


def g_2c_2d(k: int, label: int, n: int, rng: np.random.Generator) -> Floats:
    """GEARS-2C-2D: two wheels of five spokes, length 0.8, sd 0.05, turning against each other."""
    sense, centre = (1, 0.0) if label == 1 else (-1, 1.2)
    angle = 2 * np.pi / 5 * (rng.permutation(n) % 5) + sense * 4 * np.pi * k / 99
    radius = rng.uniform(0, 0.8, n)
    X = np.column_stack([centre + radius * np.cos(angle), radius * np.sin(angle)])
    return X + rng.normal(0, 0.05, (n, 2))


# 1CSurr: the small class walks round a square, 20 steps a side, then along the diagonal.
_SURR_PATH = np.array([(0, 10), (10, 10), (10, 0), (0, 0), (0, 10), (10, 0)])
SURR_STEPS = 101


def surr_step(k: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
    """Step k of 1CSurr, shuffled.

    Class 1 is 200 rows of N(c, I); class 2 is what is left of 400 rows of N((5, 5), 10 I)
    when those inside the bounding box of class 1 are taken out.
    """
    inner = rng.normal(_at_knots(k / 20, _SURR_PATH), 1.0, (200, 2))
    outer = rng.normal(5.0, np.sqrt(10.0), (400, 2))
    covered = ((outer >= inner.min(axis=0)) & (outer <= inner.max(axis=0))).all(axis=1)
    X = np.concatenate([inner, outer[~covered]])
    y = np.repeat([1, 2], [len(inner), len(X) - len(inner)])
    order = rng.permutation(len(X))
    return X[order], y[order]


def _at_knots(position: float, knots: NDArray[np.number]) -> Floats:
    places = np.arange(len(knots))
    return np.array([np.interp(position, places, column) for column in knots.T])
