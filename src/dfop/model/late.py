"""Labels that come late: predict now, learn exactly when the label arrives.

A row whose label arrives after further discounts ``lam_(i+1) ... lam_t`` enters with exactly
their product as its gain, as if it had been learned on arrival and forgotten since: the model
is then the minimiser of the same objective. Only the rows that still wait are kept.

Rows arrive and labels arrive, in some order; `replay` goes through both. It does not matter how
the rows and labels are cut into calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.rows.batch import Batch

from .label_targets import LabelTarget
from .model import Model, Run
from .monitor import STRIDE
from .several_labels import SeveralLabels
from .targets import NumberTarget, Planned
from .waiting import Key, check_keys

Array = NDArray[np.float64]
Steps = NDArray[np.int64]


class Due(NamedTuple):
    """Labels that arrive while rows do."""

    keys: Sequence[Key]
    y: Any
    before: NDArray[np.int64]
    """Before which of the rows each label arrives, in ascending order."""


def arrive(
    model: Model,
    batch: Batch,
    keys: Iterable[Key],
    *,
    due: Due | None = None,
    classes: Any = None,
    discount: Any = None,
    time: Any = None,
) -> list[Run]:
    """Predict rows as they arrive and keep them; learn the labels that arrive between them."""
    n = len(batch)
    names = check_keys(keys, n)
    if not model.waiting.rows.keys().isdisjoint(names):
        key = next(key for key in names if key in model.waiting)
        raise ValueError(f"a row with the key {key!r} is already waiting for its label")
    weights = model.weigh(n, discount=discount, time=time)
    target = _target_before_labels(model, classes)
    arrived = _arrival(model, n, weights)
    planned, due_keys, before = _plan_due(model, target, due, names)
    gone = None
    if due_keys and (model.waiting.expiry or len(model.waiting) + n > model.waiting.limit):
        gone = model.waiting.expiring_between(names, arrived, due_keys, before.tolist())
    model.check_rows(batch)
    if model.engine is None:  # a new model, which is thrown away if its rows are refused
        model.take_target(planned.target)
    parts = _parts(model, n, planned, before)
    if len(parts) > 1:  # a cell that is refused must be found before the first part is learned
        model.code(batch, weights)
        model.coder.rollback()
    runs: list[Run] = []
    for rows, labels in parts:
        some = _some_labels(planned, labels)
        late, when = due_keys[labels], before[labels] - rows.start
        if rows.start < rows.stop:
            new = _New(batch[rows], names[rows], weights.cut(rows), arrived[rows])
            runs += _arrive_part(model, new, late, some, when)
        else:
            _learn_part(model, late, some)
    model.clock = weights.clock
    model.waiting.give_up(model.waiting.expiring(float(arrived[-1])) if gone is None else gone)
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

    batch: Batch
    keys: list[Key]
    weights: Any
    arrived: Array
    """When each came, in the unit in which waiting is counted."""


def _arrive_part(
    model: Model, new: _New, due: list[Key], planned: Planned, before: NDArray[np.int64]
) -> list[Run]:
    """Let rows and labels arrive during which no label opens a feature."""
    rows, widths = model.code(new.batch, new.weights)
    model.take_target(planned.target)
    model.open_engine(widths[0][1], rows)
    replay = _Replay(model, new.keys, rows, widths, new.weights)
    runs = replay.run(due, planned, before)
    model.rows += len(new.keys)
    replay.keep_waiting(new.arrived)
    return runs


def _learn_part(model: Model, due: list[Key], planned: Planned) -> None:
    """Learn labels of rows that wait."""
    none = np.zeros((0, model.coder.width))
    replay = _Replay(model, [], none, [(0, model.coder.width)], None)
    replay.run(due, planned, np.zeros(len(due), np.int64))


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


def learn_late(model: Model, keys: Iterable[Key], y: Any) -> None:
    """Learn the labels of rows that were predicted before."""
    names = check_keys(keys, None)
    model.waiting.check_waiting(names)
    planned = model.target.plan(y, len(names), np.ones(len(names), bool))
    model.take_target(planned.target)
    _learn_part(model, names, planned)


def forget_late(model: Model, keys: Iterable[Key]) -> None:
    """Stop waiting for labels that will never come."""
    names = check_keys(keys, None)
    model.waiting.check_waiting(names)
    for key in names:
        del model.waiting.rows[key]


def _target_before_labels(model: Model, classes: Any) -> Any:
    """Return the target, knowing its classes where no label has come yet."""
    target = model.target
    if isinstance(target, NumberTarget):
        # rows have lags before the first label has shown how many outputs there are
        return NumberTarget(known=True) if model.settings.lags and not target.known else target
    if target.known:
        target.check_same(classes)
        return target
    if not hasattr(classes, "__len__") or not len(classes):
        raise ValueError(
            "rows cannot wait for labels of unknown kind: name all classes in the first call, "
            "predict_pending(X, keys, classes=[...])"
        )
    if all(np.ndim(some) for some in classes):
        return SeveralLabels(limit=target.limit).with_classes(None, classes)
    return LabelTarget(limit=target.limit).with_classes(None, classes)


def _check_before(before: NDArray[np.int64], labels: int, rows: int) -> None:
    """Refuse moments at which labels cannot arrive."""
    if before.shape != (labels,):
        raise ValueError(
            f"labels: {labels} keys but before has the shape {before.shape}: say for each label "
            "before which row it arrives"
        )
    if (before < 0).any() or (before > rows).any() or (np.diff(before) < 0).any():
        raise ValueError(
            f"labels: before={before.tolist()} must ascend from 0 to {rows}, the number of rows: "
            "sort labels by when they arrive"
        )


def _plan_due(
    model: Model, target: Any, due: Due | None, arriving: list[Key]
) -> tuple[Planned, list[Key], NDArray[np.int64]]:
    """Check the labels that arrive while rows do."""
    if due is None or not len(due.keys):
        labels = isinstance(target, LabelTarget)
        none: NDArray[Any] = np.empty((0, 1), np.int64) if labels else np.empty((0, target.width))
        return Planned(target, none), [], np.empty(0, np.int64)
    keys = check_keys(due.keys, None)
    _check_before(due.before, len(keys), len(arriving))
    at = {key: t for t, key in enumerate(arriving)}
    model.waiting.check_waiting(key for key in keys if key not in at)
    early = np.array([at.get(key, -1) for key in keys]) >= due.before
    if early.any():
        key = keys[int(np.argmax(early))]
        raise ValueError(f"the label of row {key!r} arrives before the row itself")
    return target.plan(due.y, len(keys), np.ones(len(keys), bool)), keys, due.before


class _Replay:
    """One pass over rows and labels that arrive: first those that waited, then the new ones."""

    def __init__(
        self,
        model: Model,
        keys: list[Key],
        rows: Array,
        widths: list[tuple[int, int]],
        weights: Any,
    ) -> None:
        self.model, self.keys, self.new, self.widths = model, keys, rows, widths
        self.weights = weights
        self.X = rows
        self.learned = np.zeros(len(keys), bool)

    def run(self, due: list[Key], planned: Planned, before: NDArray[np.int64]) -> list[Run]:
        """Go through all steps; return what was predicted of the rows that arrived."""
        model, n = self.model, len(self.keys)
        arriving = {key: t for t, key in enumerate(self.keys)}
        at = np.array([arriving.get(key, -1) for key in due], dtype=np.int64)
        waited = at < 0
        old = [due[j] for j in np.flatnonzero(waited).tolist()]
        self._gather(old)
        at = np.where(waited, np.cumsum(waited) - 1, at + self.old)
        if model.lags is not None and n:
            arrived = np.searchsorted(before, np.arange(n), side="right")
            model.lags.fill(self.new, model.lags.before(planned.values, arrived))
        self.X = np.vstack([self.X, self.new]) if old else self.new
        # In the order of the rows before which they come; labels before the row itself.
        arrivals = np.arange(n, dtype=np.int64)
        order = np.argsort(np.concatenate([2 * before, 2 * arrivals + 1]), kind="stable")
        steps = np.concatenate([~at, self.old + arrivals])[order]
        label_of = np.concatenate([np.arange(len(due)), np.full(n, -1)])[order]
        runs = self._walk(steps, label_of, planned)
        if model.lags is not None and len(due):
            model.lags.add(planned.values)
        model.learned += len(due)
        for key in old:
            del model.waiting.rows[key]
        self.learned[at[~waited] - self.old] = True
        return runs

    def _gather(self, old: list[Key]) -> None:
        """Bring the rows that waited, what was predicted of them, and when they came."""
        model = self.model
        self.old = len(old)
        self.X = model.waiting.dense(old, model.coder.width)
        waiting = [model.waiting.rows[key] for key in old]
        self.stamps = np.array([row.stamp for row in waiting] + [0.0] * len(self.keys))
        width = model.target.width
        self.predicted = np.zeros((self.old + len(self.keys), width))
        if all(len(row.predicted) == 8 * width for row in waiting):
            given = np.frombuffer(b"".join(row.predicted for row in waiting))
            self.predicted[: self.old] = given.reshape(self.old, width)
            return
        for k, row in enumerate(waiting):
            self.predicted[k] = model.target.as_active(row.outputs[np.newaxis])

    def _walk(self, steps: Steps, label_of: Steps, planned: Planned) -> list[Run]:
        """Go through the steps in pieces during which nothing is opened."""
        model = self.model
        opened = dict(planned.opened)
        runs: list[Run] = []
        for start, stop, width in self._pieces(steps, label_of, opened):
            engine = model.engine
            assert engine is not None
            if model.transform is None:
                engine.add_features(max(width - engine.features, 0))
            before = model.target
            label = opened.get(int(label_of[start]))
            if label is not None:
                model.meet(label)
            runs += self._piece(steps[start:stop], label_of[start:stop], planned.values, before)
            model.settle(before)
            self.predicted = model.target.as_active(self.predicted)
        return runs

    def _pieces(
        self, steps: Steps, label_of: Steps, opened: dict[int, Any]
    ) -> list[tuple[int, int, int]]:
        """Cut where a column, a class or a stride of the monitor begins."""
        model, cuts = self.model, {0, len(steps)}
        labels = np.flatnonzero(label_of >= 0)
        for at in labels[np.isin(label_of[labels], list(opened))].tolist() if opened else ():
            cuts.update((at, at + 1))
        if model.monitor is not None:
            strides = np.arange(model.monitor.rows_to_stride() - 1, len(labels), STRIDE)
            cuts.update((labels[strides] + 1).tolist())
        grows = {}
        if len(self.keys):  # labels that come before the first row do not see what it opens
            for row, width in self.widths:
                grows[int(np.flatnonzero(steps == self.old + row)[0])] = width
        ordered, width, pieces = sorted(cuts | set(grows)), 0, []
        for start, stop in itertools.pairwise(ordered):
            width = grows.get(start, width)
            pieces.append((start, stop, width))
        return pieces

    def _piece(self, steps: Steps, labels: Steps, values: NDArray[Any], before: Any) -> list[Run]:
        """Let the engine go through steps, and the monitor see what was learned."""
        model, engine = self.model, self.model.engine
        assert engine is not None
        comes = steps >= 0
        rows = np.where(comes, steps, ~steps)
        used, where = np.unique(rows, return_inverse=True)
        mine = values[labels[~comes]]
        coded = model.coded(mine, before)
        Y = np.zeros((len(used), engine.outputs))
        Y[where[~comes]] = coded
        X = np.ascontiguousarray(model.seen_by_engine(self.X[used])[:, : engine.features])
        if X.shape[1] < engine.features:  # what a label has opened meanwhile was 0 then
            X = np.pad(X, ((0, 0), (0, engine.features - X.shape[1])))
        outputs, stamps = np.zeros(Y.shape), self.stamps[used]
        local = np.where(comes, where, ~where)
        model.now = engine.replay(X, Y, local, self._pace(used), stamps, model.now, outputs)
        self.stamps[used] = stamps
        active = before.active(outputs[where[comes]])
        self.predicted[rows[comes]] = active
        if len(mine):
            made = self.predicted[rows[~comes]]
            model.observe(made, before.active(coded), mine, np.ones(len(mine), bool))
        return [Run(before, active, None)] if len(active) else []

    def _pace(self, used: Steps) -> Any:
        """Return how fast time passes with each row; rows that waited do not come again."""
        if self.weights is None:
            several = self.model.settings.several_experts
            return np.zeros(1) if several else (np.ones(1), np.zeros(1))
        new = np.maximum(used - self.old, 0)
        return self.weights.cut(new).pace

    def keep_waiting(self, arrived: Array) -> None:
        """Keep the rows whose labels have not come."""
        left = np.flatnonzero(~self.learned)
        at = self.old + left
        keys = [self.keys[t] for t in left.tolist()]
        self.model.waiting.keep(
            keys, self.new[left], self.stamps[at], arrived[left], self.predicted[at]
        )
