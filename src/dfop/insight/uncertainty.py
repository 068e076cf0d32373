"""How sure a model is: widths of intervals at any coverage, and what moved when an alarm rang.

The tracking itself is compiled (`dfop.core.Intervals`, `Calibration`, `ErrorAlarm`): it runs with
every row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dfop.core import COVERAGES
from dfop.model.model import Model
from dfop.model.monitor import Alarm, Monitor
from dfop.model.movement import moved
from dfop.model.settings import Settings
from dfop.model.sparse_rows import WIDEST_DENSE

__all__ = ["Alarm", "half_widths_at", "monitor_of", "moved", "no_monitor"]

Array = NDArray[np.float64]

_KNOTS = ndtri((1 + np.array([0.0, *COVERAGES])) / 2)
"""The quantiles of a Gaussian at the coverages that are tracked."""


def monitor_of(model: Model | None, what: str) -> Monitor:
    """Return the monitor of a model, or say why there is none."""
    if model is None or model.engine is None:
        raise AttributeError(f"{what} is known once a row was learned")
    if model.monitor is None:
        raise no_monitor(what, model.settings)
    return model.monitor


def no_monitor(what: str, settings: Settings) -> AttributeError:
    """Say that a model was made without a monitor, and what to do."""
    if settings.given is not settings:
        return AttributeError(
            f"{what} needs a monitor, and there is none here: wide sparse rows are learned by one "
            "sketch, without intervals and alarms. Give rows of no more than "
            f"{WIDEST_DENSE:,} columns, such as hashed(bits=9), or dense ones"
        )
    if settings.storage is not None:
        return AttributeError(
            f"{what} needs a monitor, and a sketch has none: leave out storage= and give "
            'monitor=True, or forgetting="auto" and rows that are dense or of no more than '
            f"{WIDEST_DENSE:,} columns"
        )
    return AttributeError(
        f"{what} needs a monitor, and this single filter has none: make the model with "
        'monitor=True, or with forgetting="auto"'
    )


def half_widths_at(half_widths: Array, coverage: float) -> Array:
    """Half-widths of intervals at any coverage, from those that are tracked.

    Between tracked coverages they are interpolated, linearly in the quantile of a Gaussian of
    the same coverage; below the least they go to 0 in the same way.

    Parameters
    ----------
    half_widths : ndarray of shape (..., levels)
        Half-widths at `dfop.core.COVERAGES`.
    coverage : float
        Share of the targets that shall be inside, above 0 and at most 0.99.

    Returns
    -------
    ndarray of shape (...)

    Examples
    --------
    >>> from scipy.stats import norm
    >>> tracked = norm.ppf((1 + np.array(COVERAGES)) / 2)  # of a Gaussian
    >>> float(half_widths_at(tracked, 0.85)), float(norm.ppf(0.925))
    (1.43953, 1.43953)
    >>> half_widths_at(tracked, 0.999)
    Traceback (most recent call last):
    ValueError: coverage=0.999: it must be above 0 and at most 0.99, the largest that is tracked
    """
    if not isinstance(coverage, int | float | np.number) or not 0.0 < coverage <= COVERAGES[-1]:
        raise ValueError(
            f"coverage={coverage!r}: it must be above 0 and at most {COVERAGES[-1]}, the largest "
            "that is tracked"
        )
    at = float(ndtri((1 + coverage) / 2))
    upper = min(int(np.searchsorted(_KNOTS, at)), len(COVERAGES))
    share = (at - _KNOTS[upper - 1]) / (_KNOTS[upper] - _KNOTS[upper - 1])
    high = half_widths[..., upper - 1]
    low = half_widths[..., upper - 2] if upper > 1 else np.zeros_like(high)
    # Before the first row all are infinite, and 0 times that would be no number.
    known = np.isfinite(high)
    between = (1 - share) * np.where(known, low, 0.0) + share * np.where(known, high, 0.0)
    return np.asarray(np.where(known, between, high))
