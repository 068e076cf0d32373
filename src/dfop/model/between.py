"""What the monitor says of rows as they come, while labels of earlier rows come between them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .monitor import Monitor

Array = NDArray[np.float64]


def said_between(
    monitor: Monitor, rows: Array, arrived: NDArray[np.int64], learn: Callable[[slice], object]
) -> Any:
    """Let a monitor learn labels; return what it says of rows that come between them.

    Parameters
    ----------
    monitor : Monitor
        What learns the labels.
    rows : ndarray of shape (n, outputs)
        What was predicted of the rows that come.
    arrived : ndarray of shape (n,)
        How many of the labels come before each, ascending.
    learn : callable
        Lets the monitor learn some of the labels.

    Returns
    -------
    ndarray, or list of ndarray
        As `Monitor.says` gives it. Labels that come after the last row are not learned.
    """
    starts = np.flatnonzero(np.diff(arrived, prepend=-1)).tolist()
    parts, known = [], 0
    for start, stop in itertools.pairwise([*starts, len(rows)]):
        labels = int(arrived[start])
        if labels > known:
            learn(slice(known, labels))
            known = labels
        parts.append(monitor.says(rows[start:stop]))
    if isinstance(parts[0], list):
        return [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    return np.concatenate(parts)
