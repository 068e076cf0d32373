"""Series with one sudden change: families of noise and of targets, and what changes in them.

`series(family, change, seed)` draws one. A target is a sum over columns that are unlike in level
and scale, plus noise of variance one innovation; without a change it is the same to the end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray
CHANGED_AT = 2500
"""The row of the change."""


def _white(rng: np.random.Generator, n: int) -> Array:
    return rng.normal(size=n)


def _autoregressive(rng: np.random.Generator, n: int) -> Array:
    e, u = rng.normal(size=n), np.zeros(n)
    for t in range(1, n):
        u[t] = 0.8 * u[t - 1] + e[t]
    return u


def _walk(rng: np.random.Generator, n: int) -> Array:
    return np.cumsum(rng.normal(size=n))


def _seasonal(rng: np.random.Generator, n: int) -> Array:
    return 5 * np.sin(2 * np.pi * np.arange(n) / 48) + rng.normal(size=n)


def _bursts(rng: np.random.Generator, n: int) -> Array:
    """GARCH(1, 1) of variance 1."""
    e, u, variance = rng.normal(size=n), np.zeros(n), 1.0
    for t in range(n):
        u[t] = np.sqrt(variance) * e[t]
        variance = 0.05 + 0.15 * u[t] ** 2 + 0.8 * variance
    return u


def _student(rng: np.random.Generator, n: int) -> Array:
    return rng.standard_t(3, size=n) / np.sqrt(3)


NOISES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "white": _white,
    "AR(.8)": _autoregressive,
    "walk": _walk,
    "seasonal": _seasonal,
    "GARCH": _bursts,
    "heteroscedastic": _white,
    "Student-3": _student,
    "wide": _white,
}
"""Families, by their noise; "wide" has 50 columns, the others 5, and in "heteroscedastic" the size
of the noise goes with a column."""

ERRORS = ("jump 3", "jump 5", "jump 10", "flip", "noise x3", "outlier 20")
INPUTS = ("swapped", "silenced", "x10")
NONE = "no change"


def series(family: str, change: str = NONE, seed: int = 0, n: int = 2700) -> tuple[Array, Array]:
    """Return rows and targets of a series whose row `CHANGED_AT` is the first after a change."""
    rng = np.random.default_rng([seed, list(NOISES).index(family)])
    d = 50 if family == "wide" else 5
    at, scale = rng.normal(size=d) * 3, np.exp(rng.uniform(-1, 1, d))
    at[1] = at[0] + 8  # the two that change places are unlike
    plain = rng.normal(size=(n, d))
    weights = rng.choice([-1.0, 1.0], d) * rng.uniform(2, 3, d)
    noise = NOISES[family](rng, n)
    if family == "heteroscedastic":
        noise *= np.exp(0.5 * plain[:, -1] - 0.25)
    after = np.arange(n) >= CHANGED_AT
    if change == "flip":
        weights = np.where(after[:, np.newaxis] & (np.arange(d) == 0), -1, 1) * weights
    if change == "noise x3":
        noise = _louder(family, rng, noise, after)
    y = (plain * weights).sum(axis=1) + noise
    kind, _, size = change.partition(" ")
    if kind == "jump":
        y = y + float(size) * after
    if kind == "outlier":
        y[CHANGED_AT] += float(size)
    X = at + scale * plain
    return _inputs_changed(X, change, after), y


def _louder(family: str, rng: np.random.Generator, noise: Array, after: Array) -> Array:
    """Make innovations three times as large from the change on."""
    if family in ("AR(.8)", "walk"):
        fade = 0.8 if family == "AR(.8)" else 1.0
        innovations = np.diff(noise, prepend=0) + (1 - fade) * np.append(0, noise[:-1])
        loud, out = np.where(after, 3, 1) * innovations, np.zeros(len(noise))
        for t in range(len(noise)):
            out[t] = fade * out[t - 1] * (t > 0) + loud[t]
        return np.where(after, out, noise)
    if family == "seasonal":
        season = 5 * np.sin(2 * np.pi * np.arange(len(noise)) / 48)
        return season + np.where(after, 3, 1) * (noise - season)
    return np.where(after, 3, 1) * noise


def _inputs_changed(X: Array, change: str, after: Array) -> Array:
    """Let columns change: two change places, one stays at its last value, one in another unit."""
    X = X.copy()
    if change == "swapped":
        X[np.ix_(after, [0, 1])] = X[np.ix_(after, [1, 0])]
    if change == "silenced":
        X[after, 0] = X[CHANGED_AT - 1, 0]
    if change == "x10":
        X[after, 0] *= 10
    return X
