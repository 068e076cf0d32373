"""From the triangle that rows left behind to a filter that goes on, and back."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dfop.core import Filter, restore_filter

from .information import Summary, nothing
from .limits import LARGEST_VARIANCE, powers_of_two_above
from .triangle import factors_of_inverse, inverse, triangle

Array = NDArray[np.float64]

_UNSEEN_SCALE, _UNSEEN_D = 2.0**-500, 1e-200


def to_filter(
    summary: Summary, coding: Array, *, intercept: bool, prior_variance: float, cap: float
) -> Filter:
    """Return a filter that knows what rows, and a prior among them, left behind.

    Parameters
    ----------
    summary : Summary
        With the prior.
    coding : ndarray of shape (m, outputs)
        The filter's outputs as sums of those of the summary.
    intercept, prior_variance, cap
        As the filter has them.
    """
    p = summary.columns
    at = np.flatnonzero(summary.seen)
    k = len(at)
    C = triangle(summary.factor[:, [*at, *range(p, len(summary.factor))]])
    U, D = factors_of_inverse(C[:k, :k])
    weights = (inverse(C[:k, :k]) @ (C[:k, k:] @ coding)).T
    s = powers_of_two_above(summary.largest[at])
    whole, scale = np.eye(p), np.full(p, _UNSEEN_SCALE)
    whole[np.ix_(at, at)] = U * s[:, np.newaxis] / s
    scale[at] = s
    variance, scaled = np.full(p, _UNSEEN_D), np.zeros((coding.shape[1], p))
    variance[at] = D * s * s
    scaled[:, at] = weights * s
    unseen = prior_variance * math.exp(min(summary.fade, 700.0))
    state = {
        "upper": whole.T[np.tril_indices(p, -1)],
        "D": variance,
        "limit": variance.copy(),
        "scale": scale,
        "weights": scaled,
        "unseen_variance": np.array(min(unseen, LARGEST_VARIANCE)),
        "faded": np.array(1.0),
        "limited_rows": np.array(0.0),
    }
    filter_ = restore_filter(p - intercept, coding.shape[1], intercept, prior_variance, cap, state)
    filter_.refresh_limits()
    return filter_


def from_filter(filter_: Filter, rows: int, decoding: Array) -> Summary:
    """Return what a filter knows, its prior for what it has seen among it.

    Parameters
    ----------
    filter_ : Filter
        The filter.
    rows : int
        How many rows it has learned.
    decoding : ndarray of shape (outputs, m)
        The summary's outputs as sums of those of the filter.
    """
    state = filter_.state()
    p = len(state["D"])
    U = np.eye(p)
    U.T[np.tril_indices(p, -1)] = state["upper"]
    at = np.flatnonzero(state["scale"] > _UNSEEN_SCALE)
    s = state["scale"][at]
    C = inverse(U[np.ix_(at, at)]) * s / np.sqrt(state["D"][at])[:, np.newaxis]
    summary = nothing(p, decoding.shape[1])
    summary.factor[np.ix_(np.arange(len(at)), at)] = C
    summary.factor[: len(at), p:] = C @ (state["weights"][:, at] / s).T @ decoding
    summary.largest[at] = summary.first[at] = s
    summary.silence[at] = 0.0
    fade = math.log(float(state["unseen_variance"]) / filter_.prior_variance)
    return Summary(
        triangle(summary.factor), p, max(fade, 0.0), rows, summary.largest, summary.first,
        summary.silence, 0.0, (), summary.peak,
    )  # fmt: skip
