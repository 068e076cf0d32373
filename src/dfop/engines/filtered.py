"""Filtered values: what the weights say of a row once its own target is among what they know."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfop.core import Filter

Array = NDArray[np.float64]


def learn_filtered(
    engine: Filter, X: Array, Y: Array, discount: Array, gain: Array, ahead: Array
) -> Array:
    """Learn rows, write what was predicted of each before into `ahead`, and return it after."""
    n = len(X)
    lam, weight = (np.ascontiguousarray(np.broadcast_to(some, n)) for some in (discount, gain))
    filtered = np.empty(ahead.shape)
    for t in range(n):
        row = slice(t, t + 1)
        engine.learn(X[row], Y[row], lam[row], weight[row], ahead[row])
        engine.predict(X[row], filtered[row])
    return filtered
