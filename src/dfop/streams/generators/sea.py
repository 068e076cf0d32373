"""SEA: a threshold on the sum of two features that jumps (Street & Kim, KDD 2001)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dfop.streams.generators.generated import generated, stage_starts
from dfop.streams.stream import Rows, Stream

THRESHOLDS = (8.0, 9.0, 7.0, 9.5)
NOISE = 0.1


def sea(
    n: int = 50_000,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    noise: float = NOISE,
    seed: int = 0,
) -> Stream:
    """Draw the SEA concepts.

    x is uniform in [0, 10]^3 and the label is 1 if x1 + x2 <= b; the third feature means nothing.
    The threshold b takes the given values in equal stages, and a share `noise` of the labels is
    flipped. The defaults are those of the published file ``load("sea")``.

    Parameters
    ----------
    n : int
        Rows.
    thresholds : sequence of float
        b, one per stage.
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
    W. N. Street, Y. Kim. A streaming ensemble algorithm (SEA) for large-scale classification.
    KDD 2001.

    Examples
    --------
    >>> stream = sea(1000, noise=0.0, seed=1)
    >>> stream.changes
    (250, 500, 750)
    >>> X, y = stream[:250].arrays()
    >>> bool(((X[:, 0] + X[:, 1] <= 8) == y).all())
    True
    """
    starts = stage_starts(n, len(thresholds))
    levels = np.asarray(thresholds, dtype=np.float64)

    def rows(b: float | np.ndarray, m: int, rng: np.random.Generator) -> Rows:
        X = rng.uniform(0, 10, (m, 3))
        y = (X[:, 0] + X[:, 1] <= b).astype(np.int64)
        return X, np.where(rng.random(m) < noise, 1 - y, y)

    def draw(start: int, stop: int, rng: np.random.Generator) -> Rows:
        stage = np.searchsorted(starts, np.arange(start, stop), side="right") - 1
        return rows(levels[stage], stop - start, rng)

    def fresh(t: int, m: int, rng: np.random.Generator) -> Rows:
        return rows(float(levels[np.searchsorted(starts, t, side="right") - 1]), m, rng)

    return generated(
        "sea",
        n,
        draw,
        seed=seed,
        task="classification",
        feature_names=("at1", "at2", "at3"),
        classes=(0, 1),
        changes=starts[1:],
        fresh=fresh,
    )
