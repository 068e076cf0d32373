"""What a difference between two learners on the same rows is worth.

Neighbouring rows of a stream are alike, so rows are no independent draws: losses are summed over
blocks, and the spread of the blocks' paired differences says how far chance reaches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

MOST_BLOCKS = 100
LEAST_ROWS = 50
"""Of a block."""
LEVEL = 0.05
"""Two-sided: so often a difference of nothing is called one."""

BETTER, CHANCE, WORSE = "better", "within chance", "worse"


class Difference(NamedTuple):
    """Mean loss of the other minus ours, its standard error, and what that says of ours."""

    mean: float
    error: float
    verdict: str


def block_edges(n: int) -> NDArray[np.int64]:
    """Return where blocks begin and end: at most 100, of at least 50 rows.

    Examples
    --------
    >>> block_edges(10_000)[:3].tolist(), len(block_edges(503)) - 1
    ([0, 100, 200], 10)
    """
    blocks = max(1, min(MOST_BLOCKS, n // LEAST_ROWS))
    return np.linspace(0, n, blocks + 1).astype(np.int64)


def block_sums(losses: NDArray) -> NDArray[np.float64]:
    """Sum the losses of rows over blocks.

    Examples
    --------
    >>> block_sums(np.ones(130)).tolist()
    [65.0, 65.0]
    """
    return np.add.reduceat(np.asarray(losses, dtype=float), block_edges(len(losses))[:-1])


def compared(ours: NDArray, other: NDArray, n: int) -> Difference:
    """Compare two learners by the block sums of their losses over the same n rows.

    Parameters
    ----------
    ours, other : ndarray
        As `block_sums` gives them.
    n : int
        How many rows they are of.

    Returns
    -------
    Difference
        Ours is "better" or "worse" where Student's t-test of the blocks' means says so. A loss
        that is not finite is worse than any that is.

    Examples
    --------
    >>> ours, other = np.full(20, 5.0), np.full(20, 6.0) + np.arange(20) % 2
    >>> difference = compared(ours, other, 1000)
    >>> difference.mean, difference.verdict
    (0.03, 'better')
    """
    ours_broke, other_broke = (not np.isfinite(losses).all() for losses in (ours, other))
    if ours_broke or other_broke:
        verdict = CHANCE if ours_broke and other_broke else WORSE if ours_broke else BETTER
        return Difference(float("inf"), float("inf"), verdict)
    means = (other - ours) / np.diff(block_edges(n))
    mean = float((other - ours).sum() / n)
    if len(means) < 2:
        return Difference(mean, float("inf"), CHANCE)
    error = float(means.std(ddof=1) / np.sqrt(len(means)))
    reach = stats.t.ppf(1 - LEVEL / 2, len(means) - 1) * error
    if abs(mean) <= reach:
        return Difference(mean, error, CHANCE)
    return Difference(mean, error, BETTER if mean > 0 else WORSE)
