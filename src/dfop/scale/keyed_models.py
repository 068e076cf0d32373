"""What a `Keyed` knows: the compiled store of its models, and what belongs to all of them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank, Coder, Filter, KeyedStore, KindError
from dfop.engines.build import build_engine
from dfop.engines.keyed import KeyDesign, find, place
from dfop.files.resuming import resume
from dfop.forgetting import Automatic, ByClock
from dfop.model.keyed_late import GONE, LateRows, Placed, Shown
from dfop.model.keyed_targets import Coded, KeyedLabels, Opened, SharedLabels, Targets
from dfop.model.keys import Keys
from dfop.model.settings import Settings
from dfop.regressor import DFOPRegressor
from dfop.rows.batch import Batch
from dfop.rows.keys import KeyArray
from dfop.rows.kinds import refuse_kind
from dfop.rows.tables import check_columns, first_batch, has_no_rows
from dfop.rows.times import Clock, Times, check_told, read_times
from dfop.rows.weights import RowWeights, discounts_of_gaps, row_weights

Array = NDArray[np.float64]


class Bounds(NamedTuple):
    """What keeps a store from growing for ever."""

    expiry: int | float | None
    """How long a key may be idle: rows, or (a float) seconds."""
    memory_limit: int | None


class KeyedModels:
    """Settings, targets, store, rows that wait, and the model that all keys share.

    Parameters
    ----------
    settings : Settings
        Of all models.
    targets : KeyedNumbers, KeyedLabels or SharedLabels
        What is learned.
    bounds : Bounds
        Of the store.
    shared : DFOPRegressor, optional
        The model that all keys share.
    """

    def __init__(
        self, settings: Settings, targets: Targets, bounds: Bounds, shared: DFOPRegressor | None
    ) -> None:
        self.settings, self.targets, self.bounds, self.shared = settings, targets, bounds, shared
        self.store: KeyedStore | None = None
        self.names: tuple[str, ...] | None = None
        self.coder = Coder()
        """Codes the rows of all keys: a text has the same column for all of them."""
        self.width = 0
        """How many coded columns the models have."""
        self.datetimes: bool | None = None
        self.zoned: bool | None = None
        """Whether times name their zone, as in `Clock`."""
        self.late = LateRows(settings.pending_limit)
        self.two_combinations = False
        """Whether records have room for the second combination of a bank, for late labels."""

    def known(self) -> KeyedStore:
        """Return the store; refuse if no row was learned."""
        if self.store is None:
            raise ValueError(
                "no row was learned yet: predict_then_learn or partial_fit comes first"
            )
        return self.store

    # -- checks -------------------------------------------------------------------------------

    def read(self, X: Any, *, maybe_none: bool = False) -> Batch:
        """Read rows, which must fit those before; at least one, or, where asked, maybe none."""
        if maybe_none and has_no_rows(X, self.coder.columns, self.names):
            return Batch(np.empty((0, self.coder.columns)))
        batch = first_batch(X)
        if self.store is not None:
            check_columns(batch, self.names, self.coder.columns, "Keyed")
        return batch

    def check_kind(self, keys: KeyArray) -> None:
        """Refuse keys of another kind than before."""
        if self.store is not None and keys.text != self.store.text and len(keys.values):
            kinds = ("texts", "whole numbers") if self.store.text else ("whole numbers", "texts")
            raise ValueError(f"keys were {kinds[0]} before and are {kinds[1]} now: keep to one")

    def check_outputs(self, targets: Targets) -> None:
        """Refuse targets that rows which wait were not predicted for."""
        if self.store is not None and targets.width != self.targets.width:
            raise ValueError(
                f"y has {targets.width} outputs, but rows were predicted before as if it had one: "
                "learn a row with its label first"
            )

    def read_times(self, keys: KeyArray, time: Any) -> Times | None:
        """Read the times of rows, which must not run backwards within a key."""
        n, rule = len(keys.values), self.settings.rule
        row_weights(rule, 0, Clock(), time=None if time is None else np.empty(0))  # needs it or not
        if time is None:
            return None
        times = read_times(time, n)
        if self.datetimes is not None:
            check_told(Clock(None, self.datetimes, self.zoned), times.datetimes, times.zoned)
        store = self.store
        if store is None:  # rows among themselves
            design = KeyDesign(Filter(0, 1, True, 1.0, 1.0), None, False, keys.text, False)
            store = design.build_store(None, None)
        row = store.first_backwards(keys.values, times.values)
        if row < n:
            raise ValueError(
                f"time runs backwards at row {row}, key {keys.shown(row)}: sort the rows of "
                "each key by time, or leave late rows out"
            )
        return times

    # -- learning and predicting --------------------------------------------------------------

    def learn(self, keys: KeyArray, batch: Batch, coded: Coded, time: Any) -> Shown:
        """Predict each row with the model of its key, then learn it."""
        moments = self.read_times(keys, time)
        self.check_outputs(coded.targets)
        rows, widths = self._code(batch)
        with self._undoing():
            self._check_room(keys.text, coded.targets, widths[-1][1], coded.opened)
            store = self.open(batch, keys.text, coded.targets, widths[0][1])
            ahead = self._learn_shared(rows, coded.values, time)
        values = coded.values if ahead is None else coded.values - ahead
        opened, wider = dict(coded.opened), dict(widths)
        edges = sorted({0, len(values), *opened, *wider})
        shown = []
        for start, stop in itertools.pairwise(edges):
            self._grow(store, wider.get(start), opened.get(start))
            part = slice(start, stop)
            some, X = keys, rows
            if len(edges) > 2:
                some = KeyArray(keys.values[part], keys.text)
                X = np.ascontiguousarray(rows[part, : self.width])
            placed = self._place(store, some, None if moments is None else moments.cut(part))
            out = self._room(stop - start)
            store.learn(placed.entries, placed.fresh, X, values[part], placed.pace, out)
            shown.append(out)
        self.late.settle(store)
        return self._with_shared(self._joined(shown), ahead)

    def predict(self, keys: KeyArray, batch: Batch) -> Shown:
        """Predict each row with the model of its key as it is now."""
        store, shown = self.known(), self._room(len(batch))
        if not len(batch):
            return shown
        try:
            X = self.coder.code_to_predict(
                batch.numbers, batch.texts, range(batch.shape[1]), batch.gaps
            )
        except KindError as error:
            refuse_kind(batch, error)
        store.predict(find(store, keys.values), X, shown)
        return self._with_shared(shown, self._predict_shared(X))

    def check_rows(self, keys: KeyArray, batch: Batch, targets: Targets, opened: Opened) -> None:
        """Refuse rows, and labels between them, before the first of several parts is learned."""
        _, widths = self._code(batch)
        self.coder.rollback()
        self._check_room(keys.text, targets, widths[-1][1], opened, late=True)

    def _code(self, batch: Batch) -> tuple[Array, list[tuple[int, int]]]:
        """Code rows: how many columns there are from which row on."""
        try:
            return self.coder.code(
                *(batch.numbers, batch.texts, range(batch.shape[1]), np.ones(1)),
                *(batch.gaps, batch.since),
            )
        except KindError as error:
            refuse_kind(batch, error)

    @contextmanager
    def _undoing(self) -> Iterator[None]:
        """Take back what rows that are refused have changed: the coder, and a store just opened."""
        before = self.store, self.targets, self.width, self.names
        try:
            yield
        except BaseException:
            self.coder.rollback()
            self.store, self.targets, self.width, self.names = before
            raise

    def arrive(self, keys: KeyArray, batch: Batch, rows: Keys, time: Any, classes: Any) -> Shown:
        """Predict rows whose labels come later."""
        self.late.check_new(rows)
        targets = self.targets.announced(classes)
        moments = self.read_times(keys, time)
        coded, widths = self._code(batch)
        with self._undoing():
            self._check_room(keys.text, targets, widths[-1][1], late=True)
            store = self.open(batch, keys.text, targets, widths[0][1], late=True)
            ahead = self._predict_shared(coded)
        shown = []
        for start, stop in itertools.pairwise([*(row for row, _ in widths), len(rows)]):
            self._grow(store, dict(widths)[start], None)
            part, some = slice(start, stop), self._room(stop - start)
            placed = self._place(
                store,
                KeyArray(keys.values[part], keys.text),
                None if moments is None else moments.cut(part),
            )
            kept = np.zeros((stop - start, self.targets.width)) if ahead is None else ahead[part]
            X = np.ascontiguousarray(coded[part, : self.width])
            self.late.arrive(store, rows[part], X, kept, placed, some)
            shown.append(some)
        return self._with_shared(self._joined(shown), ahead)

    def learn_late(self, rows: Keys, coded: Coded) -> None:
        """Learn the labels of rows that wait."""
        store = self.known()
        self._check_room(store.text, coded.targets, self.width, coded.opened)
        if self.shared is not None:
            X = self.late.coded(rows, self.width)
            given: dict[str, Any] = {"time": self._moments(rows)} if self.shared.needs_time else {}
            y = coded.targets.of_shared(coded.values)
            self.shared.partial_fit(self._as_shared(X), y, **given)
        self.targets = coded.targets
        opened = dict(coded.opened)
        for start, stop in itertools.pairwise(sorted({0, len(rows), *opened})):
            self._grow(store, None, opened.get(start))
            self.late.learn(store, rows[start:stop], coded.values[start:stop], self.width)
        self.late.settle(store)

    def _check_room(
        self, text: bool, targets: Targets, width: int, opened: Opened = (), *, late: bool = False
    ) -> None:
        """Refuse rows that would make one key larger than all may be, before anything changes."""
        limit = self.bounds.memory_limit
        late = late and self.settings.several_experts and not self.two_combinations
        grows = self.store is None or width > self.width or len(opened) > 0 or late
        if limit is not None and grows:
            for _, label in opened:
                targets = _with_class(targets, label)
            self._design(text, targets, width, late=late).most_keys(limit)

    def _grow(self, store: KeyedStore, width: int | None, label: Any) -> None:
        """Make room for coded columns and a class that no key has met."""
        targets = self.targets if label is None else _with_class(self.targets, label)
        width = width or self.width
        if width > self.width or label is not None:
            design = self._design(store.text, targets, width)
            design.grow_store(store, self.bounds.memory_limit)
        self.width, self.targets = width, targets

    def _room(self, n: int) -> Shown:
        return Shown.of(n, self.targets.outputs, self.targets.classes)

    def _joined(self, parts: list[Shown]) -> Shown:
        """Return what parts show as one: a class that came later was 0 before."""
        if len(parts) == 1:
            return parts[0]
        shown = self._room(sum(len(part.outputs) for part in parts))
        shown.outputs[:], shown.ranks[:] = 0.0, -1
        start = 0
        for part in parts:
            rows = slice(start, start + len(part.outputs))
            shown.outputs[rows, : part.outputs.shape[1]] = part.outputs
            shown.ranks[rows, : part.ranks.shape[1]] = part.ranks
            start = rows.stop
        return shown

    # -- the model that all keys share ----------------------------------------------------------

    def _learn_shared(self, X: Array, values: Array, time: Any) -> Array | None:
        if self.shared is None:
            return None
        assert not isinstance(self.targets, KeyedLabels)
        given = {"time": time} if self.shared.needs_time else {}
        y = self.targets.of_shared(values)
        ahead = self.shared.predict_then_learn(self._as_shared(X), y, **given)
        return ahead.reshape(values.shape)

    def _predict_shared(self, X: Array) -> Array | None:
        if self.shared is None or self.shared.__dfop_model__() is None:
            return None
        return self.shared.predict(self._as_shared(X)).reshape(len(X), self.targets.outputs)

    def _moments(self, rows: Keys) -> NDArray[Any]:
        """Return when late labels come: with the last rows of their keys, or of all.

        Of a model that is gone it is not known any more: its labels come with the latest so far.
        """
        assert self.shared is not None
        store, of_shared = self.known(), self.shared.__dfop_model__()
        part = self.datetimes is True
        latest = store.now[part] if of_shared is None else of_shared.clock.last
        entries = [self.late.rows[row].entry for row in rows]
        last = [latest if entry == GONE else store.last(entry)[part] for entry in entries]
        moments = np.array(last, "M8[ns]" if self.datetimes else np.float64)
        if of_shared is not None:
            moments[0] = max(moments[0], np.array(latest, moments.dtype))
        return np.maximum.accumulate(moments)

    def _as_shared(self, X: Array) -> Batch:
        """Return coded rows with names, so that further columns may follow."""
        assert self.shared is not None
        model = self.shared.__dfop_model__()
        named = model is None or model.names is not None  # not those of the first files
        return Batch(X, names=tuple(map(str, range(X.shape[1]))) if named else None)

    @staticmethod
    def _with_shared(shown: Shown, ahead: Array | None) -> Shown:
        return shown if ahead is None else shown._replace(outputs=shown.outputs + ahead)

    # -- the store ----------------------------------------------------------------------------

    def open(
        self, batch: Batch, text: bool, targets: Targets, width: int, *, late: bool = False
    ) -> KeyedStore:
        """Return the store; make it for the first rows, which have been checked by now.

        With the first row whose label comes `late`, a bank needs room for a second combination.
        """
        late = (late and self.settings.several_experts) or self.two_combinations
        limit = self.bounds.memory_limit
        if self.store is None:
            design = self._design(text, targets, width, late=late)
            self.store = design.build_store(limit, self.bounds.expiry)
            self.width, self.names = width, batch.names
        elif late and not self.two_combinations:
            self._design(text, late=True).grow_store(self.store, limit)
        self.two_combinations = late
        self.targets = targets
        return self.store

    def restore(self, coder: Coder, names: Any, text: bool, state: dict[str, Any]) -> None:
        """Go on with the models of a file."""
        self.coder, self.width, self.names = coder, coder.width, names
        design = self._design(text)
        self.store = design.build_store(self.bounds.memory_limit, self.bounds.expiry)
        self.store.restore(state)
        self.datetimes = any(state["ticks"])

    def bytes_per_key(self) -> int:
        """Return what one more key takes."""
        return self._design(self.known().text).bytes_per_key()

    def _design(
        self,
        text: bool,
        targets: Targets | None = None,
        width: int | None = None,
        *,
        late: bool = False,
    ) -> KeyDesign:
        """Return the design of the store, as it is now where nothing else is said."""
        targets = self.targets if targets is None else targets
        settings = self.settings
        engine = build_engine(
            self.width if width is None else width, targets.designs(settings.several_experts),
            settings.rule, settings.features, fit_intercept=bool(settings.fit_intercept),
            prior_variance=settings.prior_variance, cap=settings.cap,
        )  # fmt: skip
        assert isinstance(engine, Filter | Bank)
        late = late or self.two_combinations
        return KeyDesign(engine, targets.classes, targets.open, text, late)

    def _place(self, store: KeyedStore, keys: KeyArray, times: Times | None) -> Placed:
        """Decide which model each row belongs to, and how it fades: nothing can fail from here."""
        entries, fresh, gaps = place(store, keys.values, None if times is None else times.values)
        rule = self.settings.rule
        if isinstance(rule, ByClock):
            assert times is not None
            self.datetimes = times.datetimes
            self.zoned = self.zoned if times.zoned is None else times.zoned
            return Placed(entries, fresh, discounts_of_gaps(rule, gaps))
        if isinstance(rule, Automatic):  # every expert has a pace of its own
            return Placed(entries, fresh, (np.ones(1), np.zeros(1)))
        weights = row_weights(rule, len(gaps), Clock())
        assert isinstance(weights, RowWeights)
        return Placed(entries, fresh, weights.pace)

    def learner_of(self, entry: int, learner: Any) -> Any:
        """Let a new learner go on with the model of a key."""
        store = self.known()
        clock = Clock()
        if self.datetimes is not None:
            seconds, ticks = store.last(entry)
            clock = Clock(ticks if self.datetimes else seconds, self.datetimes, self.zoned)
        if isinstance(self.targets, SharedLabels):
            raise ValueError(
                "a key's own model is what it has learned beside the shared one, and no classifier"
            )
        target, engine = self.targets.of_key(store.engine(entry), store.ranks(entry))
        # How many rows a filter had is not counted: one at least.
        rows = engine.errors()["rows"] if isinstance(engine, Bank) else 1
        resume(
            learner, target, engine, names=self.names, clock=clock, rows=int(rows),
            coder=copy.deepcopy(self.coder),
        )  # fmt: skip
        return learner


def _with_class(targets: Targets, label: Any) -> KeyedLabels:
    """Return what is known once a class came that no key had met."""
    assert isinstance(targets, KeyedLabels)
    return targets.learned(label)
