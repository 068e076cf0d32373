"""Which weights moved lately: a fast expert against a slow one, in standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dfop.core import Bank, moved_weights

if TYPE_CHECKING:
    from .model import Model

Array = NDArray[np.float64]

# The experts that are compared to see which weights moved, by about their mu.
_FAST, _SLOW = 0.03, 0.001
_MOST_NAMES = 10


def linear_forgetters(bank: Bank) -> list[int]:
    """Which experts are linear and forget."""
    maps = bank.maps
    return [
        k
        for k, (view, _, walk) in enumerate(bank.experts)
        if isinstance(view, int) and maps[view][0] == "linear" and walk == 0.0
    ]


def _nearest_forgetter(bank: Bank, among: list[int], mu: float) -> int:
    """Which of some experts forgets about `mu`."""
    experts = bank.experts
    return min(among, key=lambda k: abs(np.log((experts[k][1] + 1e-9) / mu)))


def compared_experts(bank: Bank) -> tuple[int, int]:
    """Which two linear experts are compared: one that forgets fast, and a slower one."""
    forgetters = linear_forgetters(bank)
    fast = _nearest_forgetter(bank, forgetters, _FAST)
    slower = [k for k in forgetters if bank.experts[k][1] < bank.experts[fast][1]]
    return fast, _nearest_forgetter(bank, slower, _SLOW)


def moved_weights_of(model: Model) -> dict[str, float]:
    """How far the weights of a model have moved lately, in standard errors, the farthest first."""
    bank = model.engine
    if not isinstance(bank, Bank) or len(linear_forgetters(bank)) < 2:
        return {}
    fast, slow = compared_experts(bank)
    errors = bank.errors()
    counted = model.counted_outputs
    weights = [np.column_stack(bank.coefficients(k)[::-1])[counted] for k in (fast, slow)]
    variances = bank.variances(fast)
    if not bank.intercept:
        weights = [w[:, 1:] for w in weights]
    z = [
        moved(
            w_fast,
            w_slow,
            variances,
            mu_fast=bank.experts[fast][1],
            mu_slow=bank.experts[slow][1],
            rows=max(errors["rows"], 1.0),
            noise=float(errors["recent"].min()) / len(weights[0]),
        )
        for w_fast, w_slow in zip(*weights, strict=True)
    ]
    of_outputs = np.array(z)
    at = np.abs(of_outputs).argmax(axis=0)
    farthest = of_outputs[at, np.arange(of_outputs.shape[1])]
    names = ["constant"] * bank.intercept + model.weight_names()
    order = np.argsort(-np.abs(farthest), kind="stable")[:_MOST_NAMES]
    return {names[j]: float(farthest[j]) for j in order}


def moved(
    fast: ArrayLike,
    slow: ArrayLike,
    variances: ArrayLike,
    *,
    mu_fast: float,
    mu_slow: float,
    rows: float,
    noise: float,
) -> Array:
    r"""How far each weight has moved of late, in standard errors.

    Compares an expert that forgets fast with one that forgets slowly. While nothing moves, each
    value has mean 0 and variance 1, or less if ``d mu_fast`` is not small (0.8 at 0.5).

    Parameters
    ----------
    fast, slow : array-like of shape (d,)
        The weights of both experts.
    variances : array-like of shape (d,)
        The diagonal of the fast expert's ``P`` (`dfop.core.Filter.variances`).
    mu_fast, mu_slow : float
        Their forgetting factors; 0 for a slow one that never forgets.
    rows : float
        Rows both have learned.
    noise : float
        Variance of the noise.

    Returns
    -------
    ndarray of shape (d,)

    Notes
    -----
    With ages i from 0 to rows - 1, :math:`S = E xx'` and noise :math:`s^2`,

    .. math::

        \operatorname{Var}(w_f - w_s) = s^2 S^{-1} (A_{ff} + A_{ss} - 2 A_{fs}), \quad
        A_{ab} = \frac{\sum (\lambda_a \lambda_b)^i}{\sum \lambda_a^i \sum \lambda_b^i}

    and :math:`S^{-1} = P_f \sum \lambda_f^i`. On a long stream and with a slow expert that never
    forgets this is :math:`s^2 P_f / (1 + \lambda_f)`.

    Examples
    --------
    >>> z = moved([1.5, 0.1], [0.0, 0.0], [0.1, 0.1], mu_fast=0.1, mu_slow=0.0, rows=1e6, noise=1.0)
    >>> z.round(2)  # 1.5 / sqrt(0.1 / 1.9)
    array([6.54, 0.44])
    """
    if not 0 < mu_fast < 1 or not 0 <= mu_slow < mu_fast:
        raise ValueError(
            f"mu_fast={mu_fast!r} and mu_slow={mu_slow!r}: 0 <= mu_slow < mu_fast < 1 is needed"
        )
    if not rows >= 1 or not noise >= 0:
        raise ValueError(f"rows={rows!r} must be at least 1 and noise={noise!r} at least 0")
    w_fast, w_slow, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (fast, slow, variances))
    return moved_weights(w_fast, w_slow, p, 1 - mu_fast, 1 - mu_slow, rows, noise)
