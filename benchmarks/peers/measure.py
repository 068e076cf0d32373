"""Lets systems run over streams, and keeps what they did."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import version

import numpy as np

from .chance import block_sums
from .record import Entry, Record
from .rows import LABELS, Rows
from .systems import System


def key_of(stream: str, system: System) -> tuple[str, str, str]:
    """Return the key of an entry."""
    return stream, system.peer, system.form


def run(system: System, rows: Rows, limit: int) -> Entry:
    """Let a system predict and learn all rows."""
    race = system.ready(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        told = race()
        seconds = time.process_time() - start
    if rows.task == LABELS:
        losses = (told != rows.y).astype(float)
    else:
        with np.errstate(over="ignore"):
            losses = np.nan_to_num((told - rows.y) ** 2, nan=np.inf)
    n, d = rows.X.shape
    return Entry(
        stream=rows.name, task=rows.task, system=system.peer, form=system.form, kind=system.kind,
        library=system.library, version=version(system.library), limit=limit, rows=n, columns=d,
        us_per_row=1e6 * seconds / n, losses=block_sums(losses),
    )  # fmt: skip


def measure(
    record: Record,
    systems: Iterable[System],
    names: list[str],
    load: Callable[[str, int | None], Rows],
    limit: int,
) -> None:
    """Run what is missing in the record: every system on every stream that it can learn.

    Our own learners are measured anew every time, because they change without their version.
    """
    loaded: dict[str, Rows] = {}
    for system in systems:
        for name in names:
            if system.kind != "dfop" and record.has(key_of(name, system), version(system.library)):
                continue
            if name not in loaded:
                loaded[name] = load(name, limit or None)
            rows = loaded[name]
            if not system.takes(rows):
                continue
            entry = run(system, rows, limit)
            record.add(entry)
            print(
                f"{system.name} on {name}: {entry.score:.4g}, {entry.us_per_row:.0f} us a row",
                file=sys.stderr,
                flush=True,
            )
