"""One pass over the rows of a stream, keeping what the certificates need to know of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """What the certificates need to know about the rows up to one time."""

    p_norm: Array
    K: Array
    x_max: Array
    Vn: Array
    Vd: Array
    bias: Array
    trace_noise: Array
    trace_drift: Array
    trace_square: Array
    g_norm: Array


def run(
    X: Array,
    mu: float,
    R0: Array,
    S: Array,
    noise: Array,
    drift: Array,
    sigma: Array,
    gamma: Array,
    start: Array,
    rows: NDArray[np.int64],
) -> Iterator[State]:
    """Go through the rows once; give the state at each of `rows`.

    The error obeys ``w~(t) = F w~(t-1) + k eps(t) - s(t)`` with gain ``k = mu P(t) x`` and
    ``F = I - k x'``, so its covariances from noise and drift follow as sums of squares: they stay
    positive where ``P M P``, the same in exact arithmetic, would not.
    """
    lam, (n, d), streams = 1.0 - mu, X.shape[-2:], X.shape[:-2]
    least = float(np.linalg.eigvalsh(R0)[0])
    R = np.broadcast_to(R0, (*streams, d, d))
    P = np.broadcast_to(np.linalg.inv(R0), R.shape)
    Gn, Gd, B = np.zeros_like(R), np.zeros_like(R), np.broadcast_to(np.eye(d), R.shape)
    K, x_max, Vn, Vd = (np.zeros(streams) for _ in range(4))
    wanted = set(rows.tolist())
    for t in range(n):
        x = X[..., t, :]
        length = np.linalg.norm(x, axis=-1)
        Px = (P @ x[..., None])[..., 0]
        k = mu * Px / (lam + mu * (x * Px).sum(axis=-1, keepdims=True))
        F = np.eye(d) - k[..., :, None] * x[..., None, :]
        Gn = F @ Gn @ np.swapaxes(F, -1, -2) + noise[t] ** 2 * k[..., :, None] * k[..., None, :]
        Gd = F @ Gd @ np.swapaxes(F, -1, -2) + drift[t] ** 2 * S
        B = F @ B
        R = lam * R + mu * x[..., :, None] * x[..., None, :]
        eigenvalues, vectors = np.linalg.eigh(R)
        P, p_norm = _inverse(eigenvalues, vectors, lam ** (t + 1) * least)
        K, x_max = np.maximum(K, p_norm), np.maximum(x_max, length)
        Vn = lam**2 * Vn + (mu * length * sigma[t]) ** 2
        Vd = lam**2 * Vd + (eigenvalues[..., -1] * gamma[t]) ** 2
        if t + 1 in wanted:
            G = Gn + Gd
            if start.ndim:
                bias = np.linalg.norm((B @ start[..., None])[..., 0], axis=-1)
            else:
                bias = np.linalg.norm(B, 2, axis=(-2, -1)) * abs(start)
            yield State(
                p_norm=p_norm,
                K=K,
                x_max=x_max,
                Vn=Vn,
                Vd=Vd,
                bias=bias,
                trace_noise=np.trace(Gn, axis1=-2, axis2=-1),
                trace_drift=np.trace(Gd, axis1=-2, axis2=-1),
                trace_square=np.square(G).sum(axis=(-2, -1)),
                g_norm=np.linalg.eigvalsh(G)[..., -1],
            )


def _inverse(eigenvalues: Array, vectors: Array, floor: float) -> tuple[Array, Array]:
    """``P`` for the next gain, and its norm.

    The norm is from above: the least eigenvalue less its rounding, but not below that of
    ``lam^t R(0) <= R(t)``; infinite if both are 0. For the gain, directions with less than 1e-12
    of the largest eigenvalue count as having that much: rows have no component in them but for
    rounding, or such a large one that the gain does not change.
    """
    largest = eigenvalues[..., -1:]
    rounding = eigenvalues.shape[-1] * np.finfo(np.float64).eps * largest[..., 0]
    with np.errstate(divide="ignore", over="ignore"):
        norm = 1.0 / np.maximum(eigenvalues[..., 0] - rounding, floor)
    limited = np.maximum(eigenvalues, np.maximum(1e-12 * largest, 1e-200))
    return (vectors / limited[..., None, :]) @ np.swapaxes(vectors, -1, -2), norm


def stack(states: list[State]) -> State:
    """Join the states of several times along a new last axis."""
    return State(
        **{
            field.name: np.stack([getattr(state, field.name) for state in states], axis=-1)
            for field in fields(State)
        }
    )
