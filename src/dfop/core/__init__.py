"""The mathematics: the learner's state and its update, knowing nothing but numpy.

`Filter` is the compiled update (``src/core``), `NamedFilter` the same for rows that are dicts;
`Intervals`, `Calibration`, `ErrorAlarm` and `ErrorRecord` say how sure it is, row by row.
`dfop.core.oracle` is the same mathematics in plain NumPy, row by row, to check it against.
"""

import copyreg
from typing import Any

from ._native import (
    COVERAGES,
    LARGEST,
    Calibration,
    ErrorAlarm,
    ErrorRecord,
    Filter,
    Intervals,
    NamedFilter,
    first_unusable,
    moved_weights,
)

__all__ = [
    "COVERAGES",
    "LARGEST",
    "Calibration",
    "ErrorAlarm",
    "ErrorRecord",
    "Filter",
    "Intervals",
    "NamedFilter",
    "first_unusable",
    "moved_weights",
    "restore_filter",
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
    return NamedFilter, (f.filter, f.names, f.discount)


# pickle, copy and joblib of everything that holds a filter
copyreg.pickle(Filter, _reduce_filter)
copyreg.pickle(NamedFilter, _reduce_named)
