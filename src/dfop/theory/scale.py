r"""The two scales of ``P``, and how to pass between them.

Algorithm 2 (G-DFOP), and every learner of this library, keeps

.. math:: R(t) = \lambda R(t-1) + x(t) x(t)' .

Algorithm 1 (DFOP), and with it Lemmas 2 and 3 and Theorem 2, keeps

.. math:: R(t) = (1-\mu) R(t-1) + \mu\, x(t) x(t)' .

Both estimate the same ``w`` if and only if they start from matching matrices: the second ``R`` is
``mu`` times the first, so ``P_DFOP = P_GDFOP / mu``. The paper writes one ``P0`` for both.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .checks import check_mu

__all__ = ["Scale", "prior_precision", "to_dfop_scale", "to_gdfop_scale"]

Array = NDArray[np.float64]
Scale = Literal["gdfop", "dfop"]


def to_dfop_scale(P: Any, mu: float) -> Array:
    """Turn a ``P`` of G-DFOP (Algorithm 2, the learners) into the ``P`` of Theorem 2.

    Parameters
    ----------
    P : array_like
        Matrix, or its norm, or a prior variance, in G-DFOP scale.
    mu : float
        Forgetting factor, in (0, 1).

    Returns
    -------
    ndarray
        ``P / mu``.

    Examples
    --------
    >>> from dfop.theory import to_dfop_scale
    >>> float(to_dfop_scale(100.0, mu=0.01))
    10000.0
    """
    return np.asarray(P, dtype=np.float64) / check_mu(mu)


def to_gdfop_scale(P: Any, mu: float) -> Array:
    """Turn a ``P`` of Algorithm 1 and Theorem 2 into that of G-DFOP and of the learners.

    Parameters
    ----------
    P : array_like
        Matrix, or its norm, or a prior variance, in DFOP scale.
    mu : float
        Forgetting factor, in (0, 1).

    Returns
    -------
    ndarray
        ``mu P``: for a prior, what ``prior_variance`` of a learner must be.

    Examples
    --------
    >>> from dfop.theory import to_gdfop_scale
    >>> float(to_gdfop_scale(10000.0, mu=0.01))
    100.0
    """
    return np.asarray(P, dtype=np.float64) * check_mu(mu)


def prior_precision(P0: Any, d: int, mu: float, scale: Scale) -> Array:
    """Return ``R(0)`` in DFOP scale, (d, d), from ``P0`` (number or matrix) in either scale."""
    if scale not in ("gdfop", "dfop"):
        raise ValueError(f"scale={scale!r} must be 'gdfop' (the learners) or 'dfop' (Theorem 2)")
    P = np.asarray(P0, dtype=np.float64)
    if P.ndim == 0:
        P = P * np.eye(d)
    if P.shape != (d, d) or not np.isfinite(P).all() or not np.allclose(P, P.T):
        raise ValueError(f"P0 must be a number or a symmetric matrix of shape ({d}, {d})")
    if scale == "gdfop":
        P = to_dfop_scale(P, mu)
    if np.linalg.eigvalsh(P)[0] <= 0.0:
        raise ValueError("P0 must be positive definite")
    return np.asarray(np.linalg.inv(P))
