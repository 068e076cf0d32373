"""The mathematics: the learner's state and its update, knowing nothing but numpy.

`Filter` is the compiled update (``src/core``), `NamedFilter` the same for rows that are dicts,
`Means` the running means of columns;
`dfop.core.oracle` is the same mathematics in plain NumPy, row by row, to check it against.
"""

import copyreg
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._native import LARGEST, Filter, Means, NamedFilter, first_unusable

__all__ = [
    "LARGEST",
    "Filter",
    "Means",
    "NamedFilter",
    "first_unusable",
    "restore_filter",
    "restore_means",
]


def restore_filter(
    features: int,
    outputs: int,
    intercept: bool,
    prior_variance: float,
    cap: float,
    state: dict[str, Any],
) -> Filter:
    """Build a filter that goes on where the one that gave the snapshot stood."""
    filter_ = Filter(features, outputs, intercept, prior_variance, cap)
    filter_.restore(state)
    return filter_


def restore_means(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> Means:
    """Build the running means that gave the snapshot."""
    means = Means()
    means.restore(sums, counts)
    return means


def _reduce_means(means: Means) -> tuple[Any, ...]:
    return restore_means, tuple(means.snapshot().values())


def _reduce_filter(f: Filter) -> tuple[Any, ...]:
    return restore_filter, (
        f.features,
        f.outputs,
        f.intercept,
        f.prior_variance,
        f.cap,
        f.snapshot(),
    )


def _reduce_named(f: NamedFilter) -> tuple[Any, ...]:
    return NamedFilter, (f.filter, f.coder, f.discount)


# pickle, copy and joblib of everything that holds a filter
copyreg.pickle(Filter, _reduce_filter)
copyreg.pickle(Means, _reduce_means)
copyreg.pickle(NamedFilter, _reduce_named)
