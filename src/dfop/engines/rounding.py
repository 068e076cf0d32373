r"""Whether rounding decides weights, told from the triangle that rows left behind.

The QR decomposition of rows changes each column by a few units in the last place of its length.
What that does to the weights ``w = R^-1 c`` is known to first order (Bjorck, *Numerical Methods
for Least Squares Problems*, 1.4): with :math:`v_i` the length of row i of ``R^-1``, :math:`a_j`
that of column j, :math:`\kappa = \max_j v_j a_j`, and r what the weights leave over of the
targets c,

.. math:: |\delta w_i| \le \epsilon\, v_i (\kappa |r| + |c| + \sum_j a_j |w_j|).

A learner that goes row by row has errors of that size, too, but others. So where they matter, what
was merged is not the model of one machine, and neither is exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .information import Summary
from .triangle import inverse, triangle

CLOSE = 1e-9
"""As near as weights have to be, in themselves and by what their columns add to predictions."""
_UNIT = np.finfo(np.float64).eps / 2.0


def undetermined(summary: Summary, rows: Summary, intercept: bool) -> NDArray[np.bool_]:
    """Return of which weights rounding decides more than `CLOSE`.

    The constant is not judged: it is as exact as the weights are, times columns far from zero.

    Parameters
    ----------
    summary : Summary
        With the prior.
    rows : Summary
        Without it.
    intercept : bool
        Whether the first column is the constant.
    """
    found = np.zeros(summary.columns, bool)
    at = np.flatnonzero(summary.seen)
    k = len(at)
    C = triangle(summary.factor[:, [*at, *range(summary.columns, len(summary.factor))]])
    R, c, rest = C[:k, :k], C[:k, k:], C[k:, k:]
    if not np.diagonal(R).all():
        found[at] = np.diagonal(R) == 0.0
        return found
    with np.errstate(over="ignore", invalid="ignore"):
        G = inverse(R)
        w, v, a = G @ c, np.linalg.norm(G, axis=1), np.linalg.norm(R, axis=0)
        length = np.linalg.norm(C[:, k:], axis=0)
        left = np.max(v * a, initial=0.0) * np.linalg.norm(rest, axis=0)
        error = _UNIT * v[:, np.newaxis] * (left + length + a @ np.abs(w))
        # how far columns are from their means, where the constant stands for these
        spread = np.linalg.norm(triangle(rows.factor[:, at])[int(intercept) :], axis=0)
        spread = spread[:, np.newaxis]
        largest = np.maximum(np.abs(w).max(axis=0, initial=0.0), 1.0)
        safe = (error * spread <= CLOSE * length) & (error <= CLOSE * largest)
    found[at] = ~safe.all(axis=1)
    if intercept:
        found[0] = False
    return found
