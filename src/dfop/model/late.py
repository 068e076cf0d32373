"""Labels that come late: predict now, learn exactly when the label arrives.

A row whose label arrives after further discounts ``lam_(i+1) ... lam_t`` enters with exactly
their product as its gain, as if it had been learned on arrival and forgotten since: the model
is then the minimiser of the same objective. Only the rows that still wait are kept.

Rows arrive and labels arrive, in some order; `replay` goes through both. It does not matter how
the rows and labels are cut into calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank
from dfop.rows.batch import Batch

from .keys import Key, Keys, check_keys, places_among, some_keys
from .label_targets import LabelTarget
from .model import Model, Run
from .monitor import STRIDE
from .several_labels import SeveralLabels
from .steps import Order, Piece, Steps
from .targets import NumberTarget, Planned
from .waiting import Kept

Array = NDArray[np.float64]


class Due(NamedTuple):
    """Labels that arrive while rows do."""

    keys: Collection[Key]
    y: Any
    before: NDArray[np.int64]
    """Before which of the rows each label arrives, in ascending order."""


class _Labels(NamedTuple):
    """Labels, checked, that arrive while rows do."""

    keys: Keys
    before: Steps
    rows: Steps
    """Which of the rows that arrive each belongs to, -1 for one that waits."""

    def some(self, part: slice, arriving: Keys, first: int) -> _Labels:
        """Return some of them, for rows that arrive from the number `first` on."""
        keys = self.keys[part]
        return _Labels(keys, self.before[part] - first, places_among(arriving, keys))


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
    model.waiting.check_new(names)
    weights = model.weigh(n, discount=discount, time=time)
    target = _target_before_labels(model, classes)
    arrived = _arrival(model, n, weights)
    planned, labels, gone = _plan_due(model, target, due, names, arrived)
    model.check_rows(batch)
    if model.engine is None:  # a new model, which is thrown away if its rows are refused
        model.take_target(planned.target)
    parts = _parts(model, n, planned, labels.before)
    if len(parts) == 1:
        runs = _arrive_part(model, _New(batch, names, weights, arrived), labels, planned)
    else:  # a cell that is refused must be found before the first part is learned
        model.code(batch, weights)
        model.coder.rollback()
        runs = []
    for rows, which in parts if len(parts) > 1 else ():
        some = _some_labels(planned, which)
        late = labels.some(which, names[rows], rows.start)
        if rows.start < rows.stop:
            new = _New(batch[rows], names[rows], weights.cut(rows), arrived[rows])
            runs += _arrive_part(model, new, late, some)
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
    keys: Keys
    weights: Any
    arrived: Array
    """When each came, in the unit in which waiting is counted."""


def _arrive_part(model: Model, new: _New, labels: _Labels, planned: Planned) -> list[Run]:
    """Let rows and labels arrive during which no label opens a feature."""
    rows, widths = model.code(new.batch, new.weights)
    model.take_target(planned.target)
    model.open_engine(widths[0][1], rows)
    replay = _Replay(model, new.keys, rows, widths, new.weights)
    runs = replay.run(labels, planned)
    model.rows += len(new.keys)
    replay.keep_waiting(new.arrived)
    return runs


def _learn_part(model: Model, labels: _Labels, planned: Planned) -> None:
    """Learn labels of rows that wait."""
    none = np.zeros((0, model.coder.width))
    replay = _Replay(model, [], none, [(0, model.coder.width)], None)
    replay.run(labels, planned)


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
    model.waiting.find(names)
    planned = model.target.plan(y, len(names), np.ones(len(names), bool))
    model.take_target(planned.target)
    none = np.zeros(len(names), np.int64)
    _learn_part(model, _Labels(names, none, none - 1), planned)


def forget_late(model: Model, keys: Iterable[Key]) -> None:
    """Stop waiting for labels that will never come."""
    names = check_keys(keys, None)
    model.waiting.remove(names, model.waiting.find(names))


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
    if before[0] < 0 or before[-1] > rows or (before[1:] < before[:-1]).any():
        raise ValueError(
            f"labels: before={before.tolist()} must ascend from 0 to {rows}, the number of rows: "
            "sort labels by when they arrive"
        )


def _plan_due(
    model: Model, target: Any, due: Due | None, arriving: Keys, arrived: Array
) -> tuple[Planned, _Labels, int | None]:
    """Check the labels that arrive while rows do, and count the rows that expire meanwhile.

    Without labels that is None: those that expire are the oldest in the end.
    """
    waiting = model.waiting
    if due is None or not len(due.keys):
        classes = isinstance(target, LabelTarget)
        none: NDArray[Any] = np.empty((0, 1), np.int64) if classes else np.empty((0, target.width))
        no = np.empty(0, np.int64)
        return Planned(target, none), _Labels([], no, no), None
    names, before = check_keys(due.keys, None), due.before
    _check_before(before, len(names), len(arriving))
    at = places_among(arriving, names)
    places = waiting.find(some_keys(names, np.flatnonzero(at < 0)))
    early = at >= before
    if early.any():
        key = names[int(np.argmax(early))]
        raise ValueError(f"the label of row {key!r} arrives before the row itself")
    planned = target.plan(due.y, len(names), np.ones(len(names), bool))
    gone = None
    if waiting.expiry or len(waiting) + len(arriving) > waiting.limit:
        told = np.where(at < 0, -1, at + waiting.places)
        told[at < 0] = places
        gone = waiting.expiring_between(arrived, names, told, before)
    return planned, _Labels(names, before, at), gone


class _Replay:
    """One pass over rows and labels that arrive: first those that waited, then the new ones."""

    def __init__(
        self,
        model: Model,
        keys: Keys,
        rows: Array,
        widths: list[tuple[int, int]],
        weights: Any,
    ) -> None:
        self.model, self.keys, self.new, self.widths = model, keys, rows, widths
        self.weights = weights
        self.X = rows
        self._rows: Array | None = None
        """All rows as the engine sees them."""
        self.learned = np.zeros(len(keys), bool)

    def run(self, labels: _Labels, planned: Planned) -> list[Run]:
        """Go through all steps; return what was predicted of the rows that arrived."""
        model, n, before = self.model, len(self.keys), labels.before
        waited = labels.rows < 0
        old = some_keys(labels.keys, np.flatnonzero(waited))
        places = model.waiting.find(old)
        self._gather(places)
        self.learned[labels.rows[~waited]] = True
        at = np.where(waited, np.cumsum(waited) - 1, labels.rows + self.old)
        # So many labels come before each row; a label comes before the row itself.
        arrived = np.searchsorted(before, np.arange(n), side="right")
        if model.lags is not None and n:
            model.lags.fill(self.new, model.lags.before(planned.values, arrived))
        self.X = np.vstack([self.X, self.new]) if self.old else self.new
        steps = Order.of(arrived, before, self.old, at)
        runs = self._walk(steps, planned)
        if model.lags is not None and len(at):
            model.lags.add(planned.values)
        model.learned += len(at)
        model.waiting.remove(old, places)
        return runs

    def _gather(self, places: Steps) -> None:
        """Bring the rows that waited, what was predicted of them, and when they came."""
        model, n = self.model, len(self.keys)
        self.old = len(places)
        rows = model.waiting.kept(places)
        self.X = rows.dense(model.coder.width)
        self.stamps = np.append(rows.stamps, np.zeros(n))
        # before the first number it was not known how many there are
        made = rows.made_of(self._made_size, alike=isinstance(model.target, NumberTarget))
        self.made = np.vstack([made, np.full((n, self._made_size), np.nan)])
        width = model.target.width
        self.predicted = np.zeros((self.old + n, width))
        if (rows.widths == width).all():
            self.predicted[: self.old] = rows.predicted.reshape(self.old, width)
            return
        for k, outputs in enumerate(rows.outputs()):
            self.predicted[k] = model.target.as_active(outputs[np.newaxis])

    def _walk(self, steps: Order, planned: Planned) -> list[Run]:
        """Go through the steps in pieces during which nothing is opened."""
        model = self.model
        opened = {int(steps.labels[j]): label for j, label in planned.opened}
        runs: list[Run] = []
        for start, stop, width in self._pieces(steps, opened):
            engine = model.engine
            assert engine is not None
            if model.transform is None:
                engine.add_features(max(width - engine.features, 0))
            before = model.target
            if start in opened:
                model.meet(opened[start])
            runs += self._piece(steps.cut(start, stop), planned.values, before)
            model.settle(before)
            self.predicted = model.target.as_active(self.predicted)
            if self.made.shape[1] != self._made_size:  # the margin has no meaning any more
                self.made = np.full((len(self.X), self._made_size), np.nan)
        return runs

    @property
    def _made_size(self) -> int:
        """How many numbers a bank puts down of what its experts made of a row."""
        engine = self.model.engine
        return engine.made_size if isinstance(engine, Bank) else 0

    def _pieces(self, steps: Order, opened: dict[int, Any]) -> list[tuple[int, int, int]]:
        """Cut where a column, a class or a stride of the monitor begins."""
        model, cuts = self.model, {0, len(steps.order)}
        for at in opened:
            cuts.update((at, at + 1))
        if model.monitor is not None:
            cuts.update((steps.labels[model.monitor.rows_to_stride() - 1 :: STRIDE] + 1).tolist())
        grows = {}
        if len(self.keys):  # labels that come before the first row do not see what it opens
            grows = {int(steps.rows[row]): width for row, width in self.widths}
        ordered, width, pieces = sorted(cuts | set(grows)), 0, []
        for start, stop in itertools.pairwise(ordered):
            width = grows.get(start, width)
            pieces.append((start, stop, width))
        return pieces

    def _piece(self, piece: Piece, values: NDArray[Any], before: Any) -> list[Run]:
        """Let the engine go through steps, and the monitor see what was learned."""
        model, engine = self.model, self.model.engine
        assert engine is not None
        first, last, came = piece.first, piece.last, piece.came
        mine = values[piece.labels]
        coded = model.coded(mine, before)
        Y = np.zeros((last - first, engine.outputs))
        Y[piece.told - first] = coded
        X, outputs, stamps = self._seen()[first:last], np.zeros(Y.shape), self.stamps[first:last]
        pace: Any = self._pace(first, last)
        how = (X, Y, piece.order, pace, stamps, model.now, outputs)
        if isinstance(engine, Bank):
            model.now = engine.replay(*how, self.made[first:last])
        else:
            model.now = engine.replay(*how)
        active = before.active(outputs[came.start - first : came.stop - first])
        self.predicted[came] = active
        if len(mine) and model.monitor is not None:
            everyone = np.ones(len(mine), bool)
            model.observe(self.predicted[piece.told], before.active(coded), mine, everyone)
        return [Run(before, active, None)] if len(active) else []

    def _seen(self) -> Array:
        """Return all rows as the engine sees them now."""
        engine = self.model.engine
        assert engine is not None
        if self._rows is None or self._rows.shape[1] != engine.features:
            rows = self.model.seen_by_engine(self.X)[:, : engine.features]
            missing = engine.features - rows.shape[1]
            if missing:  # what a label has opened meanwhile was 0 then
                rows = np.pad(rows, ((0, 0), (0, missing)))
            self._rows = np.ascontiguousarray(rows)
        return self._rows

    def _pace(self, first: int, last: int) -> Any:
        """Return how fast time passes with each row; rows that waited do not come again."""
        if self.weights is None:
            several = self.model.settings.several_experts
            return np.zeros(1) if several else (np.ones(1), np.zeros(1))
        if first >= self.old:
            return self.weights.cut(slice(first - self.old, last - self.old)).pace
        return self.weights.cut(np.maximum(np.arange(first, last) - self.old, 0)).pace

    def keep_waiting(self, arrived: Array) -> None:
        """Keep the rows whose labels have not come."""
        left = np.flatnonzero(~self.learned)
        at = self.old + left
        rows = Kept.of(
            self.new[left], self.stamps[at], arrived[left], self.predicted[at], self.made[at]
        )
        self.model.waiting.keep(some_keys(self.keys, left), rows)
