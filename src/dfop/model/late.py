"""Labels that come late: predict now, learn exactly when the label arrives.

A row whose label arrives after further discounts ``lam_(i+1) ... lam_t`` enters with exactly
their product as its gain, as if it had been learned on arrival and forgotten since: the model
is then the minimiser of the same objective. Only the rows that still wait are kept.

Rows arrive and labels arrive, in some order; `Replay` goes through both. It does not matter how
the rows and labels are cut into calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank
from dfop.rows.sparse import SparseBatch
from dfop.rows.target_cells import cells_of, split_targets

from .between import said_between
from .keys import Keys, places_among, some_keys
from .label_targets import LabelTarget
from .made import most_remade
from .model import Model, Run
from .monitor import STRIDE, NumberMonitor
from .targets import NumberTarget, Planned
from .waiting import Kept, said_of_more

Array = NDArray[np.float64]
Steps = NDArray[np.int64]


class Labels(NamedTuple):
    """Labels, checked, that arrive while rows do."""

    keys: Keys
    before: Steps
    rows: Steps
    """Which of the rows that arrive each belongs to, -1 for one that waits."""

    def some(self, part: slice, arriving: Keys, first: int) -> Labels:
        """Return some of them, for rows that arrive from the number `first` on."""
        keys = self.keys[part]
        return Labels(keys, self.before[part] - first, places_among(arriving, keys))


def learn_late(model: Model, names: Keys, y: Any) -> None:
    """Learn the labels of rows that were predicted before."""
    model.waiting.find(names)
    planned = plan_labels(model.target, y, names)
    model.check_prior(planned.target)
    if model.own is not None:
        model.own.check(planned.target)
    model.take_target(planned.target)
    none = np.zeros(len(names), np.int64)
    learn_part(model, Labels(names, none, none - 1), planned)
    model.warn()


def check_none(y: Any) -> None:
    """Refuse labels where no row is named that they belong to."""
    labels = cells_of(y)
    if labels.ndim == 0 or len(labels):
        raise ValueError(
            f"keys names no row, but y has {labels.size} labels: give the key of each one's row"
        )


def plan_labels(target: Any, y: Any, keys: Keys) -> Planned:
    """Check labels of rows that waited; where one is missing, say what becomes of its row."""
    n = len(keys)
    try:
        planned: Planned = target.plan(y, n, np.ones(n, bool))
    except ValueError:
        refuse_missing(y, keys, words=isinstance(target, NumberTarget))
        raise
    return planned


def refuse_missing(y: Any, keys: Keys, *, words: bool) -> None:
    """Refuse labels of which some are missing: say of the first what becomes of its row.

    Parameters
    ----------
    y : array-like
        The labels.
    keys : sequence of int or str
        Of which rows.
    words : bool
        Whether words such as "nan" mean a missing one.
    """
    known = split_targets(y, len(keys), words=words)[1]
    if known.all():
        return
    t = int(np.argmin(known))
    raise ValueError(
        f"the label of row {keys[t]!r} is missing (None or NaN at row {t} of y): drop both, "
        "and it goes on waiting, or give it up with forget_pending"
    ) from None


def forget_late(model: Model, names: Keys) -> None:
    """Stop waiting for labels that will never come."""
    model.waiting.remove(names, model.waiting.find(names))


def learn_part(model: Model, labels: Labels, planned: Planned) -> None:
    """Learn labels of rows that wait."""
    none: Any = np.zeros((0, model.width))
    if model.sparse:
        none = SparseBatch.of_dense(none)
    replay = Replay(model, [], none, [(0, model.width)], None)
    replay.run(labels, planned)


class Piece(NamedTuple):
    """Some steps after each other, among the rows from `first` to `last - 1`."""

    first: int
    last: int
    order: Steps
    """Which row, counted from `first`, comes, or which got its label: ~row."""
    came: slice
    """Rows that come."""
    labels: slice
    """Labels that come."""
    told: Steps
    """Their rows."""


class Order(NamedTuple):
    """The order in which rows and labels arrive."""

    order: Steps
    """Which row comes, or which got its label: ~row."""
    rows: Steps
    """The step with which each new row comes."""
    labels: Steps
    """The step with which each label comes."""
    told: Steps
    """The row of each label."""
    old: int
    """Rows that came before."""

    @classmethod
    def of(cls, arrived: Steps, before: Steps, old: int, told: Steps) -> Order:
        """Order rows, of each the labels that come before it, and labels, before a row each."""
        n, m = len(arrived), len(before)
        rows, labels = np.arange(n) + arrived, np.arange(m) + before
        order = np.empty(n + m, np.int64)
        order[rows] = np.arange(old, old + n)
        order[labels] = ~told
        return cls(order, rows, labels, told, old)

    def cut(self, start: int, stop: int) -> Piece:
        """Return the steps from `start` to `stop - 1`."""
        came, labels = (
            slice(*np.searchsorted(some, (start, stop)).tolist())
            for some in (self.rows, self.labels)
        )
        told, came = self.told[labels], slice(self.old + came.start, self.old + came.stop)
        first, last = came.start, came.stop
        if len(told):
            lowest, highest = int(told.min()), int(told.max()) + 1
            first = min(first, lowest) if came.start < came.stop else lowest
            last = max(last, highest) if came.start < came.stop else highest
        order = self.order[start:stop]
        if first:
            order = np.where(order < 0, order + first, order - first)
        return Piece(first, last, order, came, labels, told)


class Replay:
    """One pass over rows and labels that arrive: first those that waited, then the new ones."""

    def __init__(
        self,
        model: Model,
        keys: Keys,
        rows: Any,
        widths: list[tuple[int, int]],
        weights: Any,
        *,
        told: bool = False,
    ) -> None:
        self.model, self.keys, self.new, self.widths = model, keys, rows, widths
        self.weights, self.told = weights, told
        self.X = rows
        self._rows: Array | None = None
        """All rows as the engine sees them."""
        self.learned = np.zeros(len(keys), bool)

    def run(self, labels: Labels, planned: Planned) -> list[Run]:
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
        if not self.old:
            self.X = self.new
        else:
            self.X = self.X.then(self.new) if model.sparse else np.vstack([self.X, self.new])
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
        self.old, self.places = len(places), places
        rows = model.waiting.kept(places)
        self.X = rows.sparse(model.width) if model.sparse else rows.dense(model.width)
        self.stamps = np.append(rows.stamps, np.zeros(n))
        # before the first number it was not known how many there are
        made = rows.made_of(self._made_size, alike=isinstance(model.target, NumberTarget))
        self.made = np.vstack([made, np.full((n, self._made_size), np.nan)])
        self.said = np.vstack([rows.said_of(self._said_size), np.empty((n, self._said_size))])
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
        doubled = self._doubled(steps)
        for start, stop, width in self._pieces(steps, opened, doubled):
            engine = model.engine
            assert engine is not None
            if model.transform is None:
                engine.add_features(max(width - engine.features, 0))
            before = model.target
            if start in opened:
                model.meet(opened[start])
                if isinstance(before, LabelTarget) and not before.margin:  # one output more now
                    self._match_outputs()
            runs += self._piece(steps.cut(start, stop), planned.values, before)
            model.settle(before)
            self._match_outputs()
            if stop in doubled:
                self._remake(steps, stop, most_remade(doubled[stop]))
        return runs

    def _doubled(self, steps: Order) -> dict[int, int]:
        """Return after which steps labels have doubled since the last time, and how many it is."""
        if not isinstance(self.model.engine, Bank) or self.model.sparse:
            return {}
        had, last = self.model.learned, len(steps.labels)
        powers = (2**k for k in range((had + last).bit_length()))
        return {int(steps.labels[n - had - 1]) + 1: n for n in powers if had < n <= had + last}

    def _remake(self, steps: Order, stop: int, most: int) -> None:
        """Predict rows once more that wait since before the first label, see `Bank.remake`.

        These are the oldest rows that wait, `most` at most.
        """
        model, engine = self.model, self.model.engine
        assert isinstance(engine, Bank)
        waits = np.zeros(len(self.X), bool)
        waits[: self.old + int(np.searchsorted(steps.rows, stop))] = True
        waits[steps.told[: int(np.searchsorted(steps.labels, stop))]] = False
        kept = model.waiting.others(self.places)
        old = np.concatenate([self.places[waits[: self.old]], kept])
        if len(old) > most:
            first_left = np.partition(old, most)[most]
            waits[: self.old] &= self.places < first_left
            kept = kept[kept < first_left]
        new = self.old + np.flatnonzero(waits[self.old :])
        waits[new[max(most - len(old), 0) :]] = False
        made = self.made[waits]
        engine.remake(np.ascontiguousarray(self._seen()[waits]), made)
        self.made[waits] = made
        width = model.width
        model.waiting.remake(
            kept,
            engine.made_size,
            alike=isinstance(model.target, NumberTarget),
            code=lambda rows: self._as_seen(rows.dense(width)),
            remake=engine.remake,
        )

    def _match_outputs(self) -> None:
        """Bring what was predicted of the rows into the outputs that there are now."""
        self.predicted = self.model.target.as_active(self.predicted)
        if self.made.shape[1] != self._made_size:  # what experts made of fewer has no meaning
            self.made = np.full((len(self.X), self._made_size), np.nan)
        self.said = said_of_more(self.said, self._said_size)

    @property
    def _said_size(self) -> int:
        """How many numbers the monitor wants to know again of what it said of a row."""
        monitor = self.model.monitor
        return 0 if monitor is None else monitor.said_size

    @property
    def _made_size(self) -> int:
        """How many numbers a bank puts down of what its experts made of a row."""
        engine = self.model.engine
        return engine.made_size if isinstance(engine, Bank) else 0

    def _pieces(
        self, steps: Order, opened: dict[int, Any], doubled: Iterable[int]
    ) -> list[tuple[int, int, int]]:
        """Cut where a column, a class or a stride of the monitor begins, or labels have doubled."""
        model, cuts = self.model, {0, len(steps.order), *doubled}
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
            model.now = engine.replay(
                *how, self.made[first:last], *self._own(piece, values, before)
            )
        elif isinstance(X, SparseBatch):
            model.now = X.replay_by(engine, *how[1:])
        else:
            model.now = engine.replay(*how)
        active = before.active(outputs[came.start - first : came.stop - first])
        self.predicted[came] = active
        if model.monitor is not None:
            self._look_at(piece, X, before.active(Y))
        if isinstance(model.monitor, NumberMonitor):
            said = self._observe_numbers(piece, before.active(Y))
        else:
            said = self._observe(piece, active, before.active(coded), mine)
        return [Run(before, active, said)] if len(active) else []

    def _observe_numbers(self, piece: Piece, coded: Array) -> Array | None:
        """Let the monitor go through rows and targets; return what it said of those that came."""
        rows = slice(piece.first, piece.last)
        widths = self.model.replay_monitor(
            piece.order, self.predicted[rows], coded, self.said[rows]
        )
        came = slice(piece.came.start - piece.first, piece.came.stop - piece.first)
        return widths[came] if self.told else None

    def _observe(self, piece: Piece, active: Array, coded: Array, mine: NDArray[Any]) -> Any:
        """Let the monitor see the labels; return what it said of the rows that came, if asked."""
        monitor, seen = self.model.monitor, 0
        if monitor is None:
            return None

        def learn(labels: slice) -> None:
            nonlocal seen
            predicted, some = self.predicted[piece.told[labels]], mine[labels]
            self.model.judge(predicted, coded[labels], some, np.ones(len(some), bool))
            seen = labels.stop

        said = None
        if self.told and len(active):
            arrived = np.cumsum(piece.order < 0, dtype=np.int64)[piece.order >= 0]
            said = said_between(monitor, active, arrived, learn)
        if seen < len(mine):
            learn(slice(seen, len(mine)))
        return said

    def _look_at(self, piece: Piece, X: Array, coded: Array) -> None:
        """Let the monitor look at rows and labels in the order in which they came."""
        numbers = np.zeros(len(X), np.int64)
        numbers[piece.told - piece.first] = np.arange(len(piece.told))
        predicted = self.predicted[piece.first : piece.last]
        when = None if self.weights is None else self.weights.when
        if when is not None:  # only new rows come
            of_rows = np.concatenate([np.zeros(self.old, when.dtype), when])
            when = of_rows[piece.first : piece.last]
        self.model.look_at(X, predicted, coded, piece.order, numbers, when)

    def _own(self, piece: Piece, values: NDArray[Any], before: Any) -> tuple[Array, ...]:
        """Return what own experts say when rows come, and when labels do; nothing without any."""
        model = self.model
        if model.own is None:
            return ()
        X = self._seen()[piece.first : piece.last]
        of_rows = np.zeros((len(X), values.shape[1]), values.dtype)
        of_rows[piece.told - piece.first] = values[piece.labels]
        return model.own.replay(model, X, piece.order, of_rows, before)

    def _seen(self) -> Any:
        """Return all rows as the engine sees them now."""
        engine = self.model.engine
        assert engine is not None
        if self.model.sparse:
            return self.X
        if self._rows is None or self._rows.shape[1] != engine.features:
            self._rows = self._as_seen(self.X)
        return self._rows

    def _as_seen(self, rows: Array) -> Array:
        engine = self.model.engine
        assert engine is not None
        rows = self.model.seen_by_engine(rows)[:, : engine.features]
        missing = engine.features - rows.shape[1]
        if missing:  # what a label has opened meanwhile was 0 then
            rows = np.pad(rows, ((0, 0), (0, missing)))
        return np.ascontiguousarray(rows)

    def _pace(self, first: int, last: int) -> Any:
        """Return how fast time passes with each row; rows that waited do not come again."""
        if self.weights is None:
            several = self.model.settings.several_experts
            return np.zeros(1) if several else (np.ones(1), np.zeros(1))
        if self.weights.alike:
            return self.weights.pace
        if first >= self.old:
            return self.weights.cut(slice(first - self.old, last - self.old)).pace
        return self.weights.cut(np.maximum(np.arange(first, last) - self.old, 0)).pace

    def keep_waiting(self, arrived: Array) -> None:
        """Keep the rows whose labels have not come."""
        left = np.flatnonzero(~self.learned)
        at = self.old + left
        rows = Kept.of(
            self.new[left],
            self.stamps[at],
            arrived[left],
            self.predicted[at],
            self.made[at],
            self.said[at],
        )
        self.model.waiting.keep(some_keys(self.keys, left), rows)
