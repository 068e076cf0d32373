"""The half-widths of `src/core/intervals.hpp` in NumPy: one output, targets at once."""

import numpy as np

from dfop.core import COVERAGES

LEVELS = np.array(COVERAGES)
GAUSSIAN = np.array([0.8453, 1.0548, 1.2990, 1.6062, 2.0615, 2.4564, 2.9156, 3.2283])
WILD, RUN = 10.0, 4


def track(errors):
    """Half-widths before each error is seen, and the rows after which all began anew."""
    mean, ratio, run, told, anew = 0.0, GAUSSIAN, [], [], []
    for t, size in enumerate(np.abs(errors)):
        half = np.maximum.accumulate(ratio) * mean
        told.append(half if t else np.full(len(LEVELS), np.inf))
        if t:
            ratio = np.clip(ratio * np.exp(0.05 * ((size > half) - (1 - LEVELS))), 1e-4, 1e4)
            run = [*run, size] if size > WILD * half[-1] else []
            if len(run) == RUN:
                mean, ratio, run = max(mean, min(run)), GAUSSIAN, []
                anew.append(t)
                continue
        counted = min(size, WILD * half[-1]) if t else size
        mean += max(0.03, 1 / max(t, 1)) * (counted - mean)
    return np.array(told), anew
