"""Rows that arrive and wait for their labels, with labels of earlier rows between them.

Everything is checked first; then `late.Replay` predicts the rows and learns the labels in their
order, and what has no label yet is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.rows.batch import Batch
from dfop.rows.sparse import SparseBatch

from .keys import Key, Keys, check_keys, places_among, some_keys
from .label_targets import LabelTarget
from .late import Labels, Replay, learn_part, plan_labels
from .model import Model, Run, count_rows
from .targets import Planned
from .unlabelled import target_before_labels

Array = NDArray[np.float64]


class Due(NamedTuple):
    """Labels that arrive while rows do."""

    keys: Collection[Key]
    y: Any
    before: NDArray[np.int64]
    """Before which of the rows each label arrives, in ascending order."""


def read_due(labels: Any) -> Due:
    """Read labels that arrive between rows."""
    if not isinstance(labels, tuple) or len(labels) != 3:
        raise ValueError("labels must be a tuple (keys, y, before)")
    keys, y, before = labels
    when = np.asarray(before)
    if when.dtype.kind not in "iu" and when.size:
        raise ValueError(f"labels: before holds {when.dtype}, not whole numbers of rows")
    return Due(keys if isinstance(keys, Collection) else list(keys), y, when.astype(np.int64))


def arrive(
    model: Model,
    batch: Batch | SparseBatch,
    keys: Iterable[Key],
    *,
    due: Due | None = None,
    classes: Any = None,
    discount: Any = None,
    time: Any = None,
    told: bool = False,
) -> list[Run]:
    """Predict rows as they arrive and keep them; learn the labels that arrive between them.

    If `told`, the runs hold what the monitor said of the rows as they came.
    """
    n = count_rows(batch)
    names = check_keys(keys, n)
    model.waiting.check_new(names)
    weights = model.weigh(n, discount=discount, time=time)
    target = model.target
    if classes is not None or not target.known:
        target = target_before_labels(target, classes, lags=model.settings.lags)
    arrived = _arrival(model, n, weights)
    planned, labels, gone = _plan_due(model, target, due, names, arrived)
    batch = model.check_rows(batch)
    if isinstance(batch, SparseBatch) and not model.sparse:
        batch = batch.dense()
    model.check_prior(planned.target)
    if model.own is not None:
        model.own.check(planned.target)
    if model.engine is None:  # a new model, which is thrown away if its rows are refused
        model.take_target(planned.target)
    parts = _parts(model, n, planned, labels.before)
    if len(parts) == 1:
        runs = _arrive_part(model, _New(batch, names, weights, arrived, told), labels, planned)
    else:  # a cell that is refused must be found before the first part is learned
        model.code(batch, weights)
        model.coder.rollback()
        runs = []
    for rows, which in parts if len(parts) > 1 else ():
        some = _some_labels(planned, which)
        late = labels.some(which, names[rows], rows.start)
        if rows.start < rows.stop:
            new = _New(batch[rows], names[rows], weights.cut(rows), arrived[rows], told)
            runs += _arrive_part(model, new, late, some)
        else:
            learn_part(model, late, some)
    model.clock = weights.clock
    model.waiting.give_up(model.waiting.expiring(float(arrived[-1])) if gone is None else gone)
    model.warn()
    return runs


def _parts(
    model: Model, n: int, planned: Planned, before: NDArray[np.int64]
) -> list[tuple[slice, slice]]:
    """Cut rows and labels where labels open features: after one of a class not met before."""
    if not (model.settings.lags and planned.opened):
        return [(slice(0, n), slice(0, len(before)))]
    parts, row, label = [], 0, 0
    for at, _ in planned.opened:
        parts.append((slice(row, int(before[at])), slice(label, at + 1)))
        row, label = int(before[at]), at + 1
    if row < n or label < len(before):
        parts.append((slice(row, n), slice(label, len(before))))
    return parts


def _some_labels(planned: Planned, labels: slice) -> Planned:
    opened = [
        (at - labels.start, label)
        for at, label in planned.opened
        if labels.start <= at < labels.stop
    ]
    return Planned(planned.target, planned.values[labels], opened)


class _New(NamedTuple):
    """Rows that arrive."""

    batch: Batch | SparseBatch
    keys: Keys
    weights: Any
    arrived: Array
    """When each came, in the unit in which waiting is counted."""
    told: bool
    """Whether it is asked what the monitor says of them."""


def _arrive_part(model: Model, new: _New, labels: Labels, planned: Planned) -> list[Run]:
    """Let rows and labels arrive during which no label opens a feature."""
    rows, widths = model.code(new.batch, new.weights)
    model.take_target(planned.target)
    model.open_engine(widths[0][1], rows)
    replay = Replay(model, new.keys, rows, widths, new.weights, told=new.told)
    runs = replay.run(labels, planned)
    model.rows += len(new.keys)
    replay.keep_waiting(new.arrived)
    return runs


def _arrival(model: Model, n: int, weights: Any) -> Array:
    """Return when each of n rows comes, in the unit in which waiting is counted."""
    if not isinstance(model.waiting.expiry, float):
        return np.arange(model.rows, model.rows + n, dtype=np.float64)
    if weights.moments is None:
        raise ValueError(
            f"rows wait for their label for {model.waiting.expiry:g} seconds at most, so their "
            "time must be known: pass time=, or give pending_expiry as a number of rows"
        )
    moments: Array = weights.moments
    return moments


def check_before(before: NDArray[np.int64], labels: int, rows: int) -> None:
    """Refuse moments at which labels cannot arrive."""
    if before.shape != (labels,):
        raise ValueError(
            f"labels: {labels} keys but before has the shape {before.shape}: say for each label "
            "before which row it arrives"
        )
    if labels and (before[0] < 0 or before[-1] > rows or (before[1:] < before[:-1]).any()):
        raise ValueError(
            f"labels: before={before.tolist()} must ascend from 0 to {rows}, the number of rows: "
            "sort labels by when they arrive"
        )


def _plan_due(
    model: Model, target: Any, due: Due | None, arriving: Keys, arrived: Array
) -> tuple[Planned, Labels, int | None]:
    """Check the labels that arrive while rows do, and count the rows that expire meanwhile.

    Without labels that is None: those that expire are the oldest in the end.
    """
    waiting = model.waiting
    if due is None or not len(due.keys):
        classes = isinstance(target, LabelTarget)
        none: NDArray[Any] = np.empty((0, 1), np.int64) if classes else np.empty((0, target.width))
        no = np.empty(0, np.int64)
        return Planned(target, none), Labels([], no, no), None
    names, before = check_keys(due.keys, None), due.before
    check_before(before, len(names), len(arriving))
    at = places_among(arriving, names)
    places = waiting.find(some_keys(names, np.flatnonzero(at < 0)))
    early = at >= before
    if early.any():
        key = names[int(np.argmax(early))]
        raise ValueError(f"the label of row {key!r} arrives before the row itself")
    planned = plan_labels(target, due.y, names)
    gone = None
    if waiting.expiry or len(waiting) + len(arriving) > waiting.limit:
        told = np.where(at < 0, -1, at + waiting.places)
        told[at < 0] = places
        gone = waiting.expiring_between(arrived, names, told, before)
    return planned, Labels(names, before, at), gone
