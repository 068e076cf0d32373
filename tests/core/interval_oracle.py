"""The half-widths of `src/core/intervals.hpp` in NumPy: one output, targets at once."""

import numpy as np

from dfop.core import COVERAGES

LEVELS = np.array(COVERAGES)
GAUSSIAN = np.array([0.8453, 1.0548, 1.2990, 1.6062, 2.0615, 2.4564, 2.9156, 3.2283])
WILD, RUN, ACCIDENT = 10.0, 4, 64


def track(errors):
    """Half-widths before each error is seen, and the rows after which all began anew."""
    mean, ratio, run, told, anew = 0.0, GAUSSIAN, [], [], []
    usual, calm, until = 0.0, 0, -1  # the mean before a beginning, errors like then, how long
    for t, size in enumerate(np.abs(errors)):
        half = np.maximum.accumulate(ratio) * mean
        told.append(half if t else np.full(len(LEVELS), np.inf))
        limit = WILD * half[-1] if t > 1 else np.inf
        if t:
            ratio = np.clip(ratio * np.exp(0.05 * ((size > half) - (1 - LEVELS))), 1e-4, 1e4)
        if size > limit:
            run, calm, until = [*run, size], 0, until + (until >= 0)
            usual = mean if len(run) == 1 and t >= until else usual
        elif t:
            run = []
            if t <= until:
                calm = calm + 1 if size <= WILD * GAUSSIAN[-1] * usual else 0
        if len(run) == RUN:
            until = t + ACCIDENT
            mean, ratio, run = max(mean, min(run)), GAUSSIAN, []
            anew.append(t)
        elif calm == RUN:
            mean, ratio, calm, until = usual, GAUSSIAN, 0, -1
            anew.append(t)
        else:
            mean += max(0.03, 1 / max(t, 1)) * (min(size, limit) - mean)
    return np.array(told), anew
