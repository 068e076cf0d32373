"""`Model`: the one learner behind every face.

What a model knows is the named parts of `Model`. A row's way: the batch is checked against the
settings, its targets and weights are planned, and nothing has changed so far; then cells are
coded, the engine predicts each row before it learns it, and the monitor judges the prediction that
was made.
"""

from __future__ import annotations

import copy
import itertools
import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dfop.core import Bank, Coder, Filter, KindError, Lock, Snapshot
from dfop.engines import Engine, learn_filtered
from dfop.forgetting import ByRows
from dfop.rows.batch import Batch
from dfop.rows.kinds import refuse_kind
from dfop.rows.sparse import SparseBatch
from dfop.rows.times import Clock
from dfop.rows.weights import row_weights

from .label_targets import LabelTarget
from .lags import Lags
from .made import Made, has_doubled, made_of, most_remade
from .monitor import STRIDE, Found, LabelMonitor, Monitor, NumberMonitor, at_once
from .movement import moved_weights_of
from .opening import Target, check_columns, check_targets, new_engine, new_monitor
from .own_experts import OwnExperts
from .remembered import RememberedRows
from .settings import Settings, check_truth
from .sparse_rows import DENSE_ROWS, as_taken
from .targets import NumberTarget, Planned
from .transform import Transform
from .unlabelled import plan_with_gaps
from .waiting import WaitingRows

Array = NDArray[np.float64]

# Where d mu is larger, lam^d is below 1e-8: forgetting outruns what d rows can teach.
_LARGEST_D_MU = 18.0


class Run(NamedTuple):
    """What was predicted of rows in a run, before their targets were seen."""

    target: Target
    """As it was then: it says what the outputs mean."""
    outputs: Array
    monitored: Any
    """What the monitor says of them: half-widths, or probabilities; None without one."""

    def cut(self, part: slice, target: Target) -> Run:
        """Return some rows of it; a label is called as the target says."""
        monitored = None if self.monitored is None else [p[part] for p in self.monitored]
        return Run(target, self.outputs[part], monitored)


def count_rows(batch: Batch | SparseBatch) -> int:
    """Return the number of rows; a row at a time must not pay for a call of its own."""
    return len(batch.numbers) if isinstance(batch, Batch) else len(batch)


class Model:
    """Settings, coder, target, engine, monitor, lags, clock and waiting rows.

    Parameters
    ----------
    settings : Settings
        What it is made with.
    target : NumberTarget, LabelTarget or SeveralLabels
        What it learns.
    by_name : bool
        Whether columns are known by their names, and come and go (River), not by their order.
    """

    def __init__(self, settings: Settings, target: Target, *, by_name: bool = False) -> None:
        self.settings = settings
        self.target = target
        self.by_name = by_name
        self.lock = Lock()
        """Held by every public call of a face, from its first check to its last change."""
        self.names: tuple[str, ...] | None = None
        """Of the columns, where they have names and an order."""
        self.columns = 0
        self.sparse = by_name and settings.storage is not None
        """Whether a sketch learns rows by their non-zeros, without the coder."""
        self.ids: dict[Any, int] = {}
        """Columns by name, where rows are dicts."""
        self.coder = Coder()
        self.transform = None if settings.transformer is None else Transform(settings.transformer)
        self.engine: Engine | None = None
        self.own = None if settings.experts is None else OwnExperts(settings, target)
        """The user's own experts, if there are any."""
        self.monitor: Monitor | None = None
        self.lags: Lags | None = None
        self.clock = Clock()
        self.now = 0.0
        """Log of the product of all discounts so far; of a bank, the rows so far."""
        self.rows = 0
        """How many rows have come; not counted where they are dicts, which never wait."""
        self.learned = 0
        """How many of them were learned; of dicts too, where it matters when their labels come."""
        number = isinstance(target, NumberTarget)  # classes need no more than single precision
        self.waiting = WaitingRows(
            settings.pending_limit,
            settings.pending_expiry,
            np.float64 if number else np.float32,
        )
        self.remembered: RememberedRows | None = None
        """Rows that were predicted, where they are dicts and it matters when their labels come."""
        if by_name and (settings.monitored or settings.lags):
            self.remembered = RememberedRows(settings.pending_limit, self.waiting.made_dtype)

    def __getstate__(self) -> dict[str, Any]:
        """Return the model as it is between two calls, also while other threads use it.

        What changes is copied, since it is read only when the lock is no longer held.
        """
        same = {"settings": self.settings, "transform": self.transform}
        with self.lock:
            parts = {name: value for name, value in vars(self).items() if name not in same}
            del parts["lock"], parts["engine"]
            engine = None if self.engine is None else Snapshot(self.engine)
            parts = copy.deepcopy(parts)
        return {**parts, **same, "engine": engine}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=Lock())
        if isinstance(self.engine, Snapshot):  # of a shallow copy
            self.engine = self.engine.restore()
        self.use_threads(self.settings.threads)

    # -- learning -----------------------------------------------------------------------------

    def learn(
        self,
        batch: Batch | SparseBatch,
        y: Any,
        *,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
        discount: ArrayLike | None = None,
        time: Any = None,
        late: bool = False,
        filtered: bool = False,
    ) -> list[Run]:
        """Predict every row before its target is seen, and learn it.

        If `late`, all rows are predicted before the target of any of them is seen. If `filtered`,
        what is returned of each row was worked out after it was learned.

        All is checked before anything changes. A model that was never used may be left in pieces
        by an error: its face then throws it away.
        """
        if late is not False:
            check_truth("late", late, "whether all rows are predicted before any target is seen")
        n = count_rows(batch)
        weights = self.weigh(n, sample_weight=sample_weight, discount=discount, time=time)
        seen = np.ones(n, bool) if weights.times.size == 1 else weights.times > 0.0
        if weights.times.size == 1 and weights.times[0] == 0.0:
            seen[:] = False
        if self.settings.semi:
            lags = self.settings.lags
            planned, labelled = plan_with_gaps(self.target, y, n, seen, classes, lags=lags)
        else:
            planned, labelled = self.target.plan(y, n, seen, classes), None
        how = {"late": late, "filtered": filtered}
        return self.learn_planned(batch, planned, weights, seen, labelled, **how)

    def weigh(
        self, n: int, *, sample_weight: Any = None, discount: Any = None, time: Any = None
    ) -> Any:
        """Check weights, discounts and times of n rows."""
        settings = self.settings
        if settings.unweighted is not None and sample_weight is discount is time is None:
            return settings.unweighted
        given = {"sample_weight": sample_weight, "discount": discount, "time": time}
        return row_weights(settings.pace, n, self.clock, noted=settings.monitored, **given)

    def learn_planned(
        self,
        batch: Batch | SparseBatch,
        planned: Planned,
        weights: Any,
        seen: NDArray[np.bool_],
        labelled: NDArray[np.bool_] | None = None,
        *,
        late: bool = False,
        filtered: bool = False,
    ) -> list[Run]:
        """Learn rows whose targets and weights are checked; without a target time passes alone."""
        batch = self.check_rows(batch)
        if late and isinstance(batch, SparseBatch) and not self.sparse:
            batch = batch.dense()
        self.check_prior(planned.target)
        if labelled is not None and not labelled.all():
            weights, seen = weights.without_targets(~labelled), seen & labelled
        if self.own is not None:
            self.own.check(planned.target)
        runs: list[Run] = []
        start, n = 0, count_rows(batch)
        parts = self._parts(batch, planned.opened)
        if self.engine is None:  # a new model, which is thrown away if its rows are refused
            self.take_target(planned.target)
        if len(parts) > 1 and isinstance(batch, Batch):
            # a cell that is refused must be found before the first part is learned
            coded = self.code(batch, weights)
            self.coder.rollback()
        made = None
        for part, opened in parts:
            some, values, weighed, known = batch, planned.values, weights, seen
            if part.stop - part.start < n:
                some, values, weighed = batch[part], values[part], weights.cut(part)
                known = seen[part]
            rows, widths = self.code(some, weighed, refusable=start == 0)
            self.take_target(planned.target)
            if late and made is None:
                made = made_of(self, *(coded if len(parts) > 1 else (rows, widths)))
                made.experts[~seen] = np.nan  # without a label there is nobody to be judged
            of_part = None if made is None else made.cut(part)
            runs += self.learn_coded(
                rows, widths, values, weighed, known, opened, of_part, filtered=filtered
            )
            if not self.by_name or self.remembered is not None:
                self.learned += int(np.count_nonzero(known))
            start = part.stop
        self.clock = weights.clock
        # Only differences matter: the count starts anew where no row waits.
        self.now = weights.passed(self.now, n) if self.waiting.count else 0.0
        if not self.by_name:
            self.rows += n
        if self.waiting.count:
            self._expire(weights)
        self.warn()
        return runs

    def warn(self) -> None:
        """Say what went wrong with own experts, now that everything is learned."""
        if self.own is not None:
            self.own.warn()

    def _expire(self, weights: Any) -> None:
        """Give up rows that have waited too long now that others came with their labels."""
        now = float(self.rows - 1)
        if isinstance(self.waiting.expiry, float):
            if weights.moments is None:  # no time has passed
                return
            now = float(weights.moments[-1])
        self.waiting.give_up(self.waiting.expiring(now))

    def _parts(
        self, batch: Batch | SparseBatch, opened: Sequence[tuple[int, Any]]
    ) -> list[tuple[slice, list[tuple[int, Any]]]]:
        """Cut rows where labels open features: after a row with a class that was not met before.

        Sparse rows that must be made dense are cut into blocks, so that few are dense at a time.
        """
        n = count_rows(batch)
        ends = [row + 1 for row, _ in opened] if self.settings.lags else []
        if isinstance(batch, SparseBatch) and not self.sparse:
            ends += range(DENSE_ROWS, n, DENSE_ROWS)
        if not ends:
            return [(slice(0, n), list(opened))]
        parts = []
        for start, stop in itertools.pairwise(sorted({0, *ends, n})):
            mine = [(row - start, label) for row, label in opened if start <= row < stop]
            parts.append((slice(start, stop), mine))
        return parts

    def learn_coded(
        self,
        rows: Any,
        widths: list[tuple[int, int]],
        values: NDArray[Any],
        weights: Any,
        seen: NDArray[np.bool_],
        opened: list[tuple[int, Any]],
        made: Made | None = None,
        *,
        filtered: bool = False,
    ) -> list[Run]:
        """Learn coded rows with their lags, run by run; `made` is what was predicted of them."""
        n = len(rows)
        engine = self.open_engine(widths[0][1], rows)
        self._fill_lags(rows, values, seen, made)
        if self.transform is not None:
            rows = self.seen_by_engine(rows)
            widths = [(0, rows.shape[1])]
        named: list[tuple[int, Any]] = []
        if opened and made is None and self._only_names_open():
            named, opened = opened, []
        doubled = {} if made is None else self._doubled(seen)
        labels, edges = dict(opened), self._edges(n, widths, opened, doubled)
        runs = []
        for start, stop, width in edges:
            before = self.target
            if start in labels:
                self.meet(labels[start])
            part = slice(start, stop)
            if width > engine.features:
                engine.add_features(width - engine.features)
            coded = self.coded(values[part], before)
            outputs = np.empty(coded.shape)
            some, weighed = rows, weights
            if width < rows.shape[1] or stop - start < n:
                some, weighed = self._cut(rows, part, width), weights.cut(part)
            pace, gain = weighed.per_row
            how: tuple[Any, ...] = (some, coded, pace, gain, outputs)
            own: tuple[Array, ...] = ()
            if self.own is not None:
                own = (self.own.learn(self, some, values[part], seen[part], weighed.times, before),)
            shown = None
            if made is not None:
                active = made.learn(self, before, part, how, own)
            else:
                shown = self._teach(how, own, filtered=filtered)
                active = before.active(outputs)
            judged = (active, before.active(coded), values[part], seen[part])
            said = None if made is None else made.said[part]
            monitored = self.observe(some, *judged, weighed.times, said, weighed.when)
            runs.append(Run(before, active if shown is None else before.active(shown), monitored))
            self.settle(before)
            if made is not None and stop in doubled:
                left = stop + np.flatnonzero(seen[stop:])
                made.remake(self, rows, left[: most_remade(doubled[stop])])
        if self.lags is not None:
            self.lags.add(values[seen])
        return self._name(runs, named) if named else runs

    def _teach(self, how: Any, own: tuple[Array, ...], *, filtered: bool) -> Array | None:
        """Let the engine learn rows; return what it predicts once it knows them, if that counts."""
        engine, rows = self.engine, how[0]
        assert engine is not None
        if filtered and isinstance(engine, Filter):
            return learn_filtered(engine, *how)
        if isinstance(rows, SparseBatch):
            rows.learn_by(engine, *how[1:])
        else:
            engine.learn(*how, *own)
        return None

    def _only_names_open(self) -> bool:
        """Whether a class that is met changes nothing but what a prediction is called.

        Rows need not be cut there: the two classes of a margin are -1 and 1 from the first row on.
        """
        target = self.target
        two = isinstance(target, LabelTarget) and target.always_two and target.margin
        return two and self.own is None and self.lags is None

    def _name(self, runs: list[Run], opened: list[tuple[int, Any]]) -> list[Run]:
        """Cut runs behind the rows that bring a class, from where on it may be predicted."""
        assert isinstance(self.target, LabelTarget)
        found, start, left = [], 0, iter([*opened, (math.inf, None)])
        row, label = next(left)
        for run in runs:
            at, end = 0, len(run.outputs)
            while row < start + end:
                stop = int(row) + 1 - start
                found.append(run.cut(slice(at, stop), self.target))
                self.target = self.target.learned(label)
                at, (row, label) = stop, next(left)
            if at < end:
                found.append(run.cut(slice(at, end), self.target))
            start += end
        return found

    def _fill_lags(
        self, rows: Any, values: NDArray[Any], seen: NDArray[np.bool_], made: Made | None
    ) -> None:
        """Write the labels known when each row came into its first columns."""
        if self.lags is None:
            return
        if made is not None:
            self.lags.fill(rows, made.lags)
            return
        arrived: NDArray[np.int64] = np.cumsum(seen) - seen
        self.lags.fill(rows, self.lags.before(values[seen], arrived))

    @staticmethod
    def _cut(rows: Array | SparseBatch, part: slice, width: int) -> Array | SparseBatch:
        if isinstance(rows, SparseBatch):
            return rows[part]
        return np.ascontiguousarray(rows[part, :width])

    def _doubled(self, seen: NDArray[np.bool_]) -> dict[int, int]:
        """Return after which rows there are twice as many labels as the last time, and how many."""
        counts = self.learned + np.cumsum(seen)
        rows = np.flatnonzero(seen & has_doubled(counts))
        return dict(zip((rows + 1).tolist(), counts[rows].tolist(), strict=True))

    def _edges(
        self,
        n: int,
        widths: list[tuple[int, int]],
        opened: list[tuple[int, Any]],
        doubled: Iterable[int],
    ) -> list[tuple[int, int, int]]:
        """Return runs of rows during which nothing is opened, as (start, stop, width)."""
        if len(widths) == 1 and not opened and not doubled and self.monitor is None:
            return [(0, n, widths[0][1])]
        cuts = {0, n, *(row for row, _ in widths), *doubled}
        cuts.update(at for row, _ in opened for at in (row, row + 1))
        if self.monitor is not None:
            cuts.update(range(self.monitor.rows_to_stride(), n, STRIDE))
        ordered, edges, at = sorted(cuts), [], 0
        for start, stop in itertools.pairwise(ordered):
            while at + 1 < len(widths) and widths[at + 1][0] <= start:
                at += 1
            edges.append((start, stop, widths[at][1]))
        return edges

    def coded(self, values: NDArray[Any], before: Target) -> Array:
        """Return targets as the engine learns them now."""
        if isinstance(self.target, LabelTarget):
            return self.target.coded(values, margin=before.margin)  # type: ignore[union-attr]
        return self.target.coded(values)

    # -- steps of learning, for labels known at once and for those that come late ---------------

    def check_rows(self, batch: Batch | SparseBatch) -> Batch | SparseBatch:
        """Return rows as this model takes them; refuse those that it cannot take."""
        if isinstance(batch, SparseBatch) or self.sparse:
            if self.engine is None and self.settings.storage is not None:
                self.sparse = True
            batch = as_taken(batch, self.settings, self.sparse)
        if self.transform is not None:
            assert isinstance(batch, Batch)
            self.transform.check(batch)
        if self.settings.prior is not None:
            constant = bool(self.settings.fit_intercept)
            check_columns(self.settings.prior, batch, constant, new=self.engine is None)
        return batch

    def check_prior(self, target: Target) -> None:
        """Refuse targets that a prior mean does not fit."""
        if self.settings.prior is not None:
            check_targets(self.settings.prior, target)

    def column_ids(self, batch: Batch) -> Sequence[int]:
        """Return the columns of a batch as the coder knows them."""
        if not self.by_name:
            return range(batch.numbers.shape[1])
        known = dict(self.ids)
        assert batch.names is not None
        return [known.setdefault(name, len(known)) for name in batch.names]

    def code(
        self, batch: Batch | SparseBatch, weights: Any, *, refusable: bool = True
    ) -> tuple[Any, list[tuple[int, int]]]:
        """Code rows and take over what they show of their columns.

        A warning that is turned into an error leaves everything as it was, if `refusable`.
        """
        if isinstance(batch, SparseBatch):
            if self.sparse:
                self.columns = batch.width
                return batch, [(0, batch.width)]
            batch = batch.dense()
        if self.settings.lags and self.lags is None:
            self.open_lags()
        columns = self.column_ids(batch)
        try:
            rows, widths = self.coder.code(
                batch.numbers, batch.texts, columns, weights.times, batch.gaps, batch.since
            )
        except KindError as error:
            refuse_kind(batch, error)
        try:
            self._warn_of_fast_forgetting(self.coder.width)
        except UserWarning:
            if refusable:
                self.coder.rollback()
                raise
        if not self.by_name:
            self.columns, self.names = len(columns), batch.names
        else:
            assert batch.names is not None
            self.ids.update(zip(batch.names, columns, strict=True))
        return rows, widths

    def take_target(self, target: Target) -> None:
        """Take over how many outputs or which classes there are, known from the first targets."""
        if target is self.target or target.known == self.target.known:
            return
        if self.engine is not None and isinstance(target, NumberTarget):
            more = target.outputs - self.target.outputs  # type: ignore[union-attr]
            if more and isinstance(self.engine, Bank):
                self.engine.add_number_targets(more)
            elif more:
                self.engine.add_outputs(more)
            if self.monitor is not None:
                before, self.monitor = self.monitor, new_monitor(target, self.engine.features)
                self.monitor.rows, self.monitor.came = before.rows, before.came
                self.monitor.time = before.time
        self.target = target

    def open_engine(self, width: int, rows: Any) -> Engine:
        """Return the engine; make it for the first row, which has `width` coded columns."""
        if self.engine is None:
            if self.transform is not None:
                width = self.seen_by_engine(rows[:1]).shape[1]
            settings = self.settings
            self.engine = new_engine(settings, self.target, width, self.lag_columns)
            if settings.monitored:
                self.monitor = new_monitor(self.target, width)
            self.use_threads(settings.threads)
        return self.engine

    def use_threads(self, threads: int) -> None:
        """Let experts learn on so many threads from now on."""
        if threads != self.settings.threads:
            self.settings = replace(self.settings, threads=threads)
        if isinstance(self.engine, Bank):
            self.engine.threads = threads

    @property
    def width(self) -> int:
        """How many columns the engine sees of rows, before a transformer."""
        if not self.sparse:
            return self.coder.width
        return len(self.ids) if self.by_name else self.columns

    def open_lags(self) -> None:
        """Make room for the labels that are features."""
        target = self.target
        classes = isinstance(target, LabelTarget)
        numbers = 1 if classes else sum(design[1] for design in target.designs())
        self.lags = Lags(self.settings.lags, numbers, classes)
        self.lags.blocks.append(self.coder.open_lags(self.lags.block))

    @property
    def lag_columns(self) -> int:
        """How many coded columns are labels."""
        return 0 if self.lags is None else self.lags.block * len(self.lags.blocks)

    def meet(self, label: Any) -> None:
        """Make room for a class that is learned for the first time."""
        target, engine = self.target, self.engine
        assert isinstance(target, LabelTarget)
        assert engine is not None
        grown = target.learned(label)
        if grown.one_hot > target.one_hot:
            engine.add_outputs(grown.one_hot - target.one_hot)
        self.target = grown
        if target.margin == grown.margin:
            self._match_monitor(grown)

    def settle(self, before: Target) -> None:
        """Go on after a row whose class was learned for the first time."""
        now, engine = self.target, self.engine
        if now is before or not isinstance(now, LabelTarget):
            return
        assert isinstance(before, LabelTarget)
        assert engine is not None
        if before.margin and not now.margin:  # the third class: the margin has no meaning any more
            if isinstance(engine, Bank):
                engine.drop_first_target()
                engine.set_shadow(0, False)
            else:
                engine.drop_output(0)
            self._match_monitor(now)
        if self.lags is not None and (self.lags.indicators or not now.margin):
            start = self.coder.open_lags(self.lags.block)
            self.lags.add_class(len(now.order) - 1, start)
            engine.add_features(self.coder.width - engine.features)

    def _match_monitor(self, target: LabelTarget) -> None:
        if isinstance(self.monitor, LabelMonitor):
            known = self.monitor.calibrations[0].classes
            self.monitor.add_classes(max(target.calibrated - known, 0))

    def observe(
        self,
        X: Array,
        predicted: Array,
        coded: Array,
        labels: NDArray[Any],
        seen: NDArray[np.bool_],
        times: Array | None = None,
        said: Array | None = None,
        when: NDArray[Any] | None = None,
    ) -> Any:
        """Let the monitor see rows that were just learned, up to its next stride at most.

        A row that counts no times, of which the coder learned nothing, is as if left out. `said` is
        what the monitor said of rows whose targets come late.
        """
        monitor = self.monitor
        if monitor is None:
            return None
        self.look_at(X, predicted, coded, at_once(seen, times), when=when)
        if said is None or not isinstance(monitor, NumberMonitor):
            return self.judge(predicted, coded, labels, seen)
        monitor.rows += int(np.count_nonzero(~seen))
        return self.replay_monitor(~np.flatnonzero(seen), predicted, coded, said)

    def count_one(self, found: list[Found] | None) -> None:
        """Let the monitor count a row that it has seen, and the alarms that rang."""
        monitor = self.monitor
        assert monitor is not None
        monitor.count_one(found, self.weight_names)
        if monitor.open:
            self._close()

    def look_at(
        self,
        X: Array,
        predicted: Array,
        coded: Array,
        order: NDArray[np.int64],
        numbers: NDArray[np.int64] | None = None,
        when: NDArray[Any] | None = None,
    ) -> None:
        """Let the monitor look for sudden change, see `Monitor.look_at`."""
        monitor = self.monitor
        assert monitor is not None
        if not monitor.knows_columns or X.shape[1] > monitor.watch.features:
            monitor.know_columns(X.shape[1], *self._gaps(X.shape[1]))
        monitor.look_at(X, predicted, coded, order, self.weight_names, numbers, when)

    def _gaps(self, width: int) -> tuple[list[int], bool]:
        """Return of the first coded columns what `Monitor.know_columns` wants to know."""
        if self.transform is not None:
            return [-2] * self.lag_columns + [-1] * (width - self.lag_columns), True
        gaps, columns = [-2] * width, self.coder.describe()
        for column in columns:
            if column["kind"] == "number" and column["place"] < width:
                gaps[column["place"]] = -1 if column["gap"] is None else column["gap"]
        # One that was always missing may become a number or a text.
        return gaps, all(column["kind"] is not None for column in columns)

    def judge(
        self, predicted: Array, coded: Array, labels: NDArray[Any], seen: NDArray[np.bool_]
    ) -> Any:
        """Let the monitor say what was known of rows that it has looked at."""
        monitor = self.monitor
        assert monitor is not None
        monitored = monitor.learn(predicted, coded, labels, seen)
        self._close()
        return monitored

    def replay_monitor(
        self, order: NDArray[np.int64], predicted: Array, coded: Array, said: Array
    ) -> Array:
        """Let the monitor of numbers go through rows and targets, see `NumberMonitor.replay`."""
        assert isinstance(self.monitor, NumberMonitor)
        widths = self.monitor.replay(order, predicted, coded, said)
        self._close()
        return widths

    def _close(self) -> None:
        """At a stride of the monitor: say what moved at its alarms."""
        monitor = self.monitor
        assert monitor is not None
        if monitor.open and monitor.rows % STRIDE == 0:
            monitor.close(moved_weights_of(self))

    def _warn_of_fast_forgetting(self, width: int) -> None:
        """Warn where `width` coded columns are too many, if they have not been before."""
        rule, engine = self.settings.rule, self.engine
        if self.settings.several_experts or not isinstance(rule, ByRows):
            return
        if self.settings.storage is not None:  # its prior does not fade
            return
        before = 0 if engine is None else engine.features + bool(self.settings.fit_intercept)
        d = width + bool(self.settings.fit_intercept)
        if d != before and d * rule.mu > _LARGEST_D_MU >= before * rule.mu:
            warnings.warn(
                f"{d} weights and mu={rule.mu:g} forget faster than {d} rows can teach "
                f"(d mu = {d * rule.mu:.0f}, above {_LARGEST_D_MU:.0f}): the cap keeps the "
                "model finite, but use a smaller mu or fewer features",
                UserWarning,
                stacklevel=6,
            )

    # -- predicting ---------------------------------------------------------------------------

    def predict(self, batch: Batch | SparseBatch) -> Array:
        """Return the outputs that make the predictions of rows, with the model as it is now."""
        batch = self.check_rows(batch)
        if isinstance(batch, SparseBatch):
            return self._predict_sparse(batch)
        try:
            rows = self.coder.code_to_predict(
                batch.numbers, batch.texts, self.column_ids(batch), batch.gaps
            )
        except KindError as error:
            refuse_kind(batch, error)
        return self.outputs_of(rows)

    def _predict_sparse(self, batch: SparseBatch) -> Array:
        if not self.sparse:
            blocks = range(0, len(batch), DENSE_ROWS)
            return np.concatenate(
                [self.predict(batch[at : at + DENSE_ROWS].dense()) for at in blocks]
            )
        assert self.engine is not None
        outputs = np.empty((len(batch), self.engine.outputs))
        batch.predict_by(self.engine, outputs)
        return self.target.active(outputs)

    def outputs_of(self, rows: Array) -> Array:
        """Return the active outputs of coded rows, with the labels known now."""
        n = len(rows)
        if self.engine is None:
            return np.zeros((n, 1))
        if self.lags is not None:
            none = np.empty((0, self.lags.recent.shape[1]))
            self.lags.fill(rows, self.lags.before(none, np.zeros(n, np.int64)))
        outputs = np.empty((n, self.engine.outputs))
        X = np.ascontiguousarray(self.seen_by_engine(rows))
        self.engine.predict(X, outputs, *self.answers(X))
        return self.target.active(outputs)

    def answers(self, X: Array) -> tuple[Array, ...]:
        """Return what own experts say of rows that the engine sees; nothing without any."""
        return () if self.own is None else (self.own.answers(self, X),)

    def seen_by_engine(self, rows: Array) -> Array:
        """Return coded rows as the engine sees them: through the transformer, if there is one."""
        return rows if self.transform is None else self.transform.apply(rows, self.lag_columns)

    @property
    def counted_outputs(self) -> slice:
        """Which outputs of the engine count: not those learned in the background."""
        target = self.target
        hidden = isinstance(target, LabelTarget) and target.margin and not target.always_two
        return slice(0, 1) if hidden else slice(None)

    # -- words --------------------------------------------------------------------------------

    def coded_names(self) -> list[str]:
        """Return names of the coded columns, without those of lags."""
        lags = set(self.coder.lags)
        return [name for at, name in enumerate(self.weight_names()) if at not in lags]

    def empty_columns(self) -> list[str]:
        """Return names of the columns that have had no value in any row that counts."""
        given = self.names or [f"x{j}" for j in range(self.columns)]
        kinds = self.coder.kinds()  # without any where rows are learned by their non-zeros
        return [str(name) for name, kind in zip(given, kinds, strict=False) if kind is None]

    def weight_names(self) -> list[str]:
        """Return names of what the linear experts see, in the order of their weights."""
        if self.by_name:
            given: Sequence[Any] = list(self.ids)
        else:
            given = self.names or [f"x{j}" for j in range(self.columns)]
            if not self.sparse:  # columns that rows yet to come will open have no weight
                given = given[: self.coder.columns]
        if self.sparse:
            return [str(name) for name in given]
        names = [str(name) for name in self.coder.labels(list(given))]
        if self.lags is not None:
            labels = [str(label) for label in getattr(self.target, "order", ())]
            for at, name in self.lags.names(labels).items():
                names[at] = name
        if self.transform is not None and self.engine is not None:
            lagged = names[: self.lag_columns]
            return lagged + [f"feature {j}" for j in range(self.engine.features - len(lagged))]
        return names
