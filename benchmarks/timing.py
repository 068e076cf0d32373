"""Fair timing on a machine that others use too.

Contenders take turns, round after round, so that all see the same machine; each is charged with
the CPU time of the process, not with the time spent waiting for a core; the median round counts.
"""

import gc
import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)

ROUNDS = 11
SECONDS_PER_TURN = 0.04


def seconds_for(run: Callable[[int], object], n: int) -> float:
    start = time.process_time()
    run(n)
    return time.process_time() - start


def turn_length(run: Callable[[int], object], most: int) -> int:
    """How many units fill a turn; also warms up."""
    n = min(4, most)
    while (seconds := seconds_for(run, n)) < SECONDS_PER_TURN / 4 and n < most:
        n = min(4 * n, most)
    return max(1, min(most, round(n * SECONDS_PER_TURN / seconds)))


def seconds_per_unit(
    runs: Mapping[Name, Callable[[int], object]], most: int = 1_000_000
) -> dict[Name, float]:
    """Median CPU seconds of one unit (row, call) of each run, at most `most` units a turn."""
    gc.freeze()  # what was prepared for the runs is not theirs to be searched for garbage
    lengths = {name: turn_length(run, most) for name, run in runs.items()}
    rounds = [
        {name: seconds_for(run, lengths[name]) / lengths[name] for name, run in runs.items()}
        for _ in range(ROUNDS)
    ]
    return {name: statistics.median(r[name] for r in rounds) for name in runs}
