"""Hyperplanes that jump and turn, for classification and for regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dfop.streams.generators.generated import generated, stage_starts
from dfop.streams.stream import Rows, Stream

# (number of drifting weights, movement per 1,000 rows) of the nine published files.
STAGES = ((2, 0.1), (2, 0.5), (2, 1.0), (5, 0.1), (5, 0.5), (5, 1.0), (8, 0.1), (8, 0.5), (8, 1.0))
# After so many rows each drifting weight may turn round, with this probability.
LEG = 1000
TURN = 0.1


def hyperplane(
    n: int = 90_000,
    *,
    d: int = 10,
    stages: Sequence[tuple[int, float]] = STAGES,
    noise: float = 0.05,
    seed: int = 0,
) -> Stream:
    """Draw classes divided by a hyperplane that jumps between stages and turns inside them.

    x is uniform in [0, 1]^d and the label is 1 if sum a_i x_i >= sum a_i / 2. Each stage starts
    with new weights a, uniform in [0, 1] (an abrupt change). Inside a stage (k, s) the first k
    weights move by s per 1,000 rows (a gradual rotation), each up or down, turning round with
    probability 0.1 every 1,000 rows. The defaults are those of the nine published files that
    make up ``load("hyperplane")``; the weights themselves are drawn anew.

    Parameters
    ----------
    n : int
        Rows.
    d : int
        Features.
    stages : sequence of (int, float)
        (k, s) of each stage; s = 0 stands still, so ``[(0, 0.0)] * 4`` is abrupt only and
        ``[(d, 0.1)]`` is gradual only.
    noise : float
        Probability that a label is flipped.
    seed : int
        The same seed gives the same rows.

    Returns
    -------
    Stream
        Classes 0 and 1; `fresh` is known, noise included.

    References
    ----------
    G. Hulten, L. Spencer, P. Domingos. Mining time-changing data streams. KDD 2001.
    W. Fan. Systematic data selection to mine concept-drifting data streams. KDD 2004.

    Examples
    --------
    >>> hyperplane(4000, stages=[(0, 0.0)] * 4).changes
    (1000, 2000, 3000)
    >>> X, y = hyperplane(seed=1)[:1000].arrays()
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 10), [0, 1])
    """
    starts = stage_starts(n, len(stages))
    for k, _ in stages:
        if not 0 <= k <= d:
            raise ValueError(f"a stage moves between 0 and {d} weights, not {k}")
    paths = [
        _path(d, k, size, stop - start, np.random.default_rng([seed, stage, LEG]))
        for stage, ((k, size), start, stop) in enumerate(
            zip(stages, starts, [*starts[1:], n], strict=True)
        )
    ]

    def weights(t: NDArray[np.int64]) -> NDArray[np.float64]:
        stage = np.searchsorted(starts, t, side="right") - 1
        a = np.empty((len(t), d))
        for s in np.unique(stage):
            mine = stage == s
            leg, rest = np.divmod(t[mine] - starts[s], LEG)
            knots = paths[s]
            a[mine] = knots[leg] + (rest / LEG)[:, None] * (knots[leg + 1] - knots[leg])
        return a

    def rows(a: NDArray[np.float64], m: int, rng: np.random.Generator) -> Rows:
        X = rng.random((m, d))
        y = (((X - 0.5) * a).sum(axis=1) >= 0).astype(np.int64)
        return X, np.where(rng.random(m) < noise, 1 - y, y)

    return generated(
        "hyperplane",
        n,
        lambda start, stop, rng: rows(weights(np.arange(start, stop)), stop - start, rng),
        seed=seed,
        task="classification",
        feature_names=[f"attr{i}" for i in range(d)],
        classes=(0, 1),
        changes=starts[1:],
        fresh=lambda t, m, rng: rows(weights(np.array([t])), m, rng),
    )


def _path(d: int, k: int, size: float, rows: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Weights of one stage at every LEG-th row."""
    legs = -(-rows // LEG)
    turns = np.where(rng.random((legs, k)) < TURN, -1.0, 1.0)
    turns[0] = rng.choice([-1.0, 1.0], k)
    knots = np.tile(rng.random(d), (legs + 1, 1))
    knots[1:, :k] += size * np.cumsum(np.cumprod(turns, axis=0), axis=0)
    return knots


def hyperplane_regression(n: int = 2000, *, seed: int = 0) -> Stream:
    """Draw a target that is the mean of three features, which change between four stages.

    x is uniform in [0, 1]^10 and y = (x_i + x_{i+1} + x_{i+2}) / 3 + U(-0.1, 0.1), clipped to
    [0, 1], with i = 1, 2, 4, 7 in four equal stages.

    Parameters
    ----------
    n : int
        Rows.
    seed : int
        The same seed gives the same rows.

    Returns
    -------
    Stream
        A regression stream; `fresh` is known, noise included.

    Examples
    --------
    >>> stream = hyperplane_regression(seed=3)
    >>> len(stream), stream.changes
    (2000, (500, 1000, 1500))
    """
    first = np.array([0, 1, 3, 6])
    starts = stage_starts(n, len(first))

    def rows(t: NDArray[np.int64], rng: np.random.Generator) -> Rows:
        X = rng.random((len(t), 10))
        i = first[np.searchsorted(starts, t, side="right") - 1]
        mean = np.take_along_axis(X, i[:, None] + np.arange(3), axis=1).mean(axis=1)
        return X, np.clip(mean + rng.uniform(-0.1, 0.1, len(t)), 0.0, 1.0)

    return generated(
        "hyperplane-regression",
        n,
        lambda start, stop, rng: rows(np.arange(start, stop), rng),
        seed=seed,
        task="regression",
        feature_names=[f"x{i + 1}" for i in range(10)],
        changes=starts[1:],
        fresh=lambda t, m, rng: rows(np.full(m, t), rng),
    )
