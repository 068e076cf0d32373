"""Upper triangles C that stand for the matrices C'C."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

Array = NDArray[np.float64]

# A column that the columns before it explain up to this share of its length is explained wholly.
_ROUNDING = 1e-14


def triangle(rows: Array) -> Array:
    """Return the square upper triangle C with ``C'C = rows' rows``.

    Examples
    --------
    >>> abs(triangle(np.array([[3.0], [4.0]])))
    array([[5.]])
    """
    k = rows.shape[1]
    C = np.zeros((k, k))
    if len(rows) and k:
        top = np.linalg.qr(rows, mode="r")
        C[: len(top)] = top
    return C


def inverse(C: Array) -> Array:
    """Return the inverse of a triangle.

    Examples
    --------
    >>> inverse(np.array([[2.0, 1.0], [0.0, 1.0]]))
    array([[ 0.5, -0.5], [ 0. , 1. ]])
    """
    if not len(C):
        return C
    found, failed = dtrtri(C)  # SciPy's own solvers wait for threads at any size
    if failed:
        raise ValueError("a triangle with a 0 on its diagonal has no inverse")
    return np.asarray(found)


def factors_of_inverse(C: Array) -> tuple[Array, Array]:
    """Return U and D with ``(C'C)^-1 = U D U'``, U unit upper triangular.

    D is infinite where a column is explained by those before it.

    Examples
    --------
    >>> U, D = factors_of_inverse(np.array([[2.0, 1.0], [0.0, 1.0]]))
    >>> U, D
    (array([[ 1. , -0.5], [ 0. , 1. ]]), array([0.25, 1. ]))
    """
    pivots = np.abs(np.diagonal(C))
    free = pivots <= _ROUNDING * np.linalg.norm(C, axis=0)
    safe = C.copy()
    np.fill_diagonal(safe, np.where(free, 1.0, np.diagonal(C)))
    U = inverse(safe) * np.diagonal(safe)
    with np.errstate(divide="ignore", over="ignore"):
        D = np.where(free, np.inf, (1.0 / pivots) ** 2)
    return U, D
