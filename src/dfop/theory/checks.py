"""What the numbers of the theory must be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_delta", "check_mu", "check_rows", "check_shape"]

Array = NDArray[np.float64]


def check_mu(mu: float) -> float:
    """Return `mu` if Theorem 2 speaks about it: strictly between 0 and 1."""
    if not 0.0 < mu < 1.0:
        raise ValueError(
            f"mu={mu!r} must be strictly between 0 and 1: Theorem 2 says nothing about mu = 0"
        )
    return float(mu)


def check_delta(delta: float) -> float:
    """Return `delta` if it is a probability strictly between 0 and 1."""
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta={delta!r} must be a probability strictly between 0 and 1")
    return float(delta)


def check_rows(t: Any) -> Array:
    """Return row numbers as floats if they are counted from 1."""
    rows = np.asarray(t, dtype=np.float64)
    if not (rows >= 1.0).all():
        raise ValueError(f"row numbers are counted from 1, not {rows.min():g}")
    return rows


def check_shape(name: str, matrix: Any, d: int) -> Array:
    """Return a matrix of directions: symmetric, positive semidefinite, of shape (d, d)."""
    S = np.asarray(matrix, dtype=np.float64)
    if S.shape != (d, d):
        raise ValueError(f"{name} must have shape ({d}, {d}), not {S.shape}")
    if not (np.isfinite(S).all() and np.allclose(S, S.T)):
        raise ValueError(f"{name} must be finite and symmetric")
    values = np.linalg.eigvalsh(S)
    if values[0] < -1e-12 * abs(values[-1]):
        raise ValueError(f"{name} must be positive semidefinite; an eigenvalue is {values[0]:.3g}")
    return S
