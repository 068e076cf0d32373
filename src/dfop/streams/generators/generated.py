"""Streams that are drawn as they are read: constant memory, reproducible by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dfop.streams.stream import Fresh, Rows, Stream, Task, TimedRows


def generated(
    name: str,
    n: int,
    draw: Callable[[int, int, np.random.Generator], Rows],
    *,
    seed: int,
    piece: int = 4096,
    task: Task,
    feature_names: Sequence[str],
    classes: Sequence[Any] | None = None,
    changes: Sequence[int] = (),
    fresh: Fresh | None = None,
) -> Stream:
    """Make a stream of `draw(start, stop, rng)`.

    Every piece has a random generator of its own, seeded by (seed, number of the piece). So the
    rows do not depend on the batch size, and a sub-stream starts without drawing what is before
    it.
    """

    def read(start: int, stop: int | None) -> Iterator[TimedRows]:
        stop = n if stop is None else min(stop, n)
        for k in range(start // piece, -(-stop // piece)):
            first, last = k * piece, min((k + 1) * piece, n)
            X, y = draw(first, last, np.random.default_rng([seed, k]))
            part = slice(max(start - first, 0), stop - first)
            yield X[part], y[part], None

    return Stream(
        name,
        task,
        feature_names,
        read,
        classes=classes,
        changes=changes,
        length=n,
        fresh=fresh,
    )


def stage_starts(n: int, stages: int) -> list[int]:
    """First rows of `stages` equal stages of n rows."""
    if n < stages:
        raise ValueError(f"{stages} stages need at least {stages} rows, not {n}")
    return [i * n // stages for i in range(stages)]
