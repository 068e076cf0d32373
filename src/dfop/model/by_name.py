"""Rows that are dicts: features come and go by name, one row at a time or in frames."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import BUCKETS, Bank, Lock, NamedRows, digest_of_row
from dfop.rows.batch import Batch

from .label_targets import LabelTarget
from .made import Made, has_doubled, made_of, most_remade
from .model import Model
from .remembered import RememberedRows
from .settings import Settings
from .targets import Planned

Array = NDArray[np.float64]

_SEEN = np.ones(1, bool)


def in_order(names: Iterable[Hashable]) -> list[Any]:
    """Return names of features in an order of their own: a dict's is chance, and must not matter.

    Examples
    --------
    >>> in_order(["b", 2, "a", 1])
    [1, 2, 'a', 'b']
    """
    return sorted(names, key=_rank)


def _rank(name: Hashable) -> tuple[str, Any]:
    return type(name).__name__, name if isinstance(name, str | int | float) else repr(name)


class Limits:
    """Warns of more names or classes than have room, once of each."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._warned: set[str] = set()

    def warn_of_names(self) -> None:
        """Warn of further names of features."""
        self._warn("feature names", "max_features", f"share {BUCKETS} weights by their hash")

    def warn_of_classes(self) -> None:
        """Warn of further classes."""
        self._warn("classes", "max_classes", "count as none of them, and are not predicted")

    def _warn(self, what: str, limit: str, fate: str) -> None:
        if limit in self._warned:
            return
        self._warned.add(limit)
        warnings.warn(
            f"more than {limit}={getattr(self._settings, limit)} {what} have come: further "
            f"ones {fate}; raise {limit} if they are meant",
            UserWarning,
            stacklevel=6,
        )


class RowsByName:
    """The way of a dict through a model.

    Parameters
    ----------
    model : Model
        Its columns are known by their names.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.named = NamedRows(
            model.engine,  # type: ignore[arg-type]  # a sketch has rows of its own
            model.coder,
            model.ids,
            model.lock,
            1.0 - getattr(model.settings.rule, "mu", 0.0),
            model.settings.max_features,
        )
        self._remembered = model.remembered
        self._limits = Limits(model.settings)
        self._classes_beyond = False
        self._lag_names = {f"label {k + 1} back" for k in range(model.settings.lags)}

    # -- one row ------------------------------------------------------------------------------

    def learn_number(self, x: dict[Any, Any], y: float) -> None:
        """Learn one row and its number."""
        made = None if self._remembered is None else self._made(x, self._remembered)
        if made is None and self._is_under_way():
            monitor: Any = self.model.monitor
            parts = (None, None) if monitor is None else (monitor.watch, monitor.intervals)
            self._close(self.named.learn_number(x, y, *parts), y)
        else:
            self._learn(x, Planned(self.model.target, np.array([[y]])), made)
        self._count()
        self._warn()

    def learn_label(self, x: dict[Any, Any], label: Any) -> None:
        """Learn one row and its label."""
        target = self.model.target
        assert isinstance(target, LabelTarget)
        k = target.number_of(label)
        planned = target.plan_growing([label]) if k is None else None  # or refuse it
        made = None if self._remembered is None else self._made(x, self._remembered)
        if made is None and k is not None and self._is_under_way():
            monitor: Any = self.model.monitor
            parts = (None, None) if monitor is None else (monitor.watch, monitor.calibrations[0])
            self._close(self.named.learn_class(x, k, target.margin, *parts), k)
        else:
            self._learn(x, planned or target.plan_growing([label]), made)
        self._count()
        self._warn()

    def _count(self) -> None:
        """Count a row that was learned, and go on as that demands."""
        if self._remembered is not None:
            self.model.learned += 1
            if self._remembered.early and has_doubled(self.model.learned):
                self._remake(self._remembered)

    def _is_under_way(self) -> bool:
        """Whether a row needs nothing but what is compiled."""
        model = self.model
        if model.engine is None or model.own is not None or self._lag_names:
            return False
        return model.monitor is None or model.monitor.knows_columns

    def _close(self, found: Any, value: float) -> None:
        """Go on after a row: alarms that it rang, or outputs that the monitor is yet to see."""
        if self.model.monitor is None:
            return
        if found is None or isinstance(found, list):
            self.model.count_one(found)
        else:
            self._observe(found[np.newaxis], np.array([[value]]))

    def _observe(self, outputs: Array, values: NDArray[Any]) -> None:
        """Let the monitor see the row that was just learned."""
        model, target = self.model, self.model.target
        coded = target.active(model.coded(values, target))
        model.observe(self.named.last_row(), target.active(outputs), coded, values, _SEEN)

    def _learn(self, x: dict[Any, Any], planned: Planned, made: Made | None = None) -> None:
        """Learn one row, whose target is checked, in the way that is right for all."""
        model = self.model
        self._set_lags(x)
        if model.engine is None or planned.opened or model.own is not None or made is not None:
            self._learn_coded(x, planned, made)
        else:
            coded = self._target(planned.values)
            outputs = self.named.step(x, coded)
            if model.monitor is not None:
                self._observe(outputs[np.newaxis], planned.values)
            if model.lags is not None:
                model.lags.add(planned.values)

    def pass_by(self, x: dict[Any, Any], values: NDArray[Any]) -> None:
        """Let a row without a target pass; nothing reads the value in its place."""
        made = None if self._remembered is None else self._made(x, self._remembered)
        self._set_lags(x)
        self._learn_coded(x, Planned(self.model.target, values), made, labelled=False)
        self._warn()

    def _learn_coded(
        self,
        x: dict[Any, Any],
        planned: Planned,
        made: Made | None = None,
        *,
        labelled: bool = True,
    ) -> None:
        """Learn a row that opens something, has no target or a late one, or for own experts."""
        model = self.model
        if model.lags is None and model.settings.lags:
            model.open_lags()
        rows = self.named.code(x)
        model.take_target(planned.target)
        if model.engine is None:
            model.open_engine(rows.shape[1], rows)
            made = self._made_first(x)
        weights = model.weigh(1) if labelled else model.weigh(1).without_targets(_SEEN)
        seen = _SEEN if labelled else ~_SEEN
        if made is not None and not labelled:
            made.experts[:] = np.nan  # without a label there is nobody to be judged
        some = (planned.values, weights, seen, list(planned.opened), made)
        model.learn_coded(rows, [(0, rows.shape[1])], *some)
        self.named.use(model.engine)  # type: ignore[arg-type]

    def _target(self, values: NDArray[Any]) -> Array:
        """Return a target as the engine learns it."""
        model = self.model
        if isinstance(model.target, LabelTarget):
            self._classes_beyond = self._classes_beyond or bool(values[0, 0] < 0)
        return np.ascontiguousarray(model.coded(values, model.target)[0])

    def outputs(self, x: dict[Any, Any]) -> list[float]:
        """Return all outputs of the engine for one row; none before the first one."""
        self._set_lags(x)
        if self.model.own is not None and self.model.engine is not None:
            outputs: list[float] = self._outputs_with_own(x)[0].tolist()
            return outputs
        return self.named.predict_outputs(x)

    def chosen(self, x: dict[Any, Any], target: LabelTarget) -> int:
        """Return the number of the class predicted for one row."""
        self._set_lags(x)
        if self.model.own is not None and self.model.engine is not None:
            return int(target.choose(target.active(self._outputs_with_own(x)))[0])
        return self.named.predict_class(x, target.margin, len(target.order))

    def _outputs_with_own(self, x: dict[Any, Any]) -> Array:
        """Return all outputs of the engine for one row, own experts among those asked."""
        model = self.model
        assert model.engine is not None
        rows = self.named.code_to_predict(x)[:, : model.engine.features]
        outputs = np.empty((1, model.engine.outputs))
        model.engine.predict(np.ascontiguousarray(rows), outputs, *model.answers(rows))
        return outputs

    def _set_lags(self, x: dict[Any, Any]) -> None:
        if self._lag_names:
            self._refuse_lag_names(x)
        lags = self.model.lags
        if lags is None:
            return
        row = np.zeros((1, self.model.coder.width))
        none = np.empty((0, lags.recent.shape[1]))
        lags.fill(row, lags.before(none, np.zeros(1, np.int64)))
        self.named.set_lags(np.ascontiguousarray(row[0, self.model.coder.lags]))

    def _refuse_lag_names(self, names: Iterable[Any]) -> None:
        for name in names:
            if name in self._lag_names:
                raise ValueError(
                    f"feature {name!r} has the name of a lag: rename it, or use lags=0"
                )

    def _warn(self) -> None:
        """Warn of own experts and of more names or classes than have room, once all is learned."""
        if self.model.own is not None:
            self.model.warn()
        if self.named.shared_names:
            self._limits.warn_of_names()
        if self._classes_beyond:
            self._limits.warn_of_classes()

    # -- rows that are predicted now and learned later ------------------------------------------

    def ask(self, x: dict[Any, Any], method: int) -> None:
        """Remember the row that was predicted just now, to know it again when its label comes."""
        remembered = self._remembered
        if remembered is None:
            return
        if self.model.engine is None:
            remembered.add_first(x, method)
        else:
            self.named.ask(x, remembered.asked, method)

    def _put_down(self, remembered: RememberedRows) -> None:
        """Put down what is predicted of the rows asked about, before something is learned."""
        if remembered.asked:
            digests, rows = remembered.asked.rows()
            remembered.asked.clear()
            self._put_down_coded(remembered, digests, rows)

    def _put_down_coded(
        self, remembered: RememberedRows, digests: Iterable[int], rows: Array
    ) -> None:
        made = made_of(self.model, rows, [(0, rows.shape[1])])
        remembered.put_down(self.model.engine, digests, made, rows)

    def _made(self, x: dict[Any, Any], remembered: RememberedRows) -> Made | None:
        """Return what was predicted of a row that is learned now; None if nothing changed since."""
        if not remembered and not remembered.asked:
            return None
        self._refuse_lag_names(x)
        digest = self.named.learns(x, remembered.asked)
        self._put_down(remembered)
        return None if digest is None else remembered.take(digest)

    def _made_first(self, x: dict[Any, Any]) -> Made | None:
        """Do the same of the first row of all, now that there is an engine for it."""
        remembered = self._remembered
        if remembered is None or not remembered.first:
            return None
        digests, rows = [], []
        for digest, row in remembered.first:
            try:
                rows.append(self.named.code_to_predict(row))
            except ValueError:  # by the first label a column is of another kind
                continue
            digests.append(digest)
        remembered.first.clear()
        if rows:
            self._put_down_coded(remembered, digests, np.vstack(rows))
        return remembered.take(digest_of_row(x))

    def _remake(self, remembered: RememberedRows) -> None:
        """Predict rows once more that came before the first label, see `Bank.remake`."""
        if isinstance(self.model.engine, Bank):
            remembered.remake(self.model.engine, most_remade(self.model.learned))

    # -- frames -------------------------------------------------------------------------------

    def learn_batch(
        self, batch: Batch, planned: Planned, labelled: NDArray[np.bool_] | None = None
    ) -> None:
        """Learn rows in their order, the same as one after the other.

        Only rows that are `labelled` have a target; None: all.
        """
        model = self.model
        names = batch.names
        assert names is not None
        self._refuse_lag_names(names)
        batch = ordered(batch)
        if self._remembered is not None:
            self._put_down(self._remembered)
        if len(model.ids.keys() | set(names)) > model.settings.max_features:
            self._learn_rows(batch.dicts(), planned, labelled)
            self._warn()
            return
        every = np.ones(len(batch), bool)
        labelled = every if labelled is None else labelled
        model.learn_planned(batch, planned, model.weigh(len(batch)), every, labelled)
        if self._remembered is not None:
            self._remembered.first.clear()
        self.named.use(model.engine)  # type: ignore[arg-type]
        if isinstance(model.target, LabelTarget) and (planned.values[labelled] < 0).any():
            self._classes_beyond = True
        self._warn()

    def _learn_rows(
        self,
        rows: list[dict[Any, Any]],
        planned: Planned,
        labelled: NDArray[np.bool_] | None,
    ) -> None:
        """Learn rows one after the other, since names share columns; check them all before."""
        model = self.model
        coder, ids = copy.deepcopy(model.coder), dict(model.ids)
        trial = NamedRows(None, coder, ids, Lock(), 1.0, model.settings.max_features)
        for t, row in enumerate(rows):
            try:
                trial.code(row)
            except ValueError as error:
                raise ValueError(f"row {t}: {error}") from None
        opened = dict(planned.opened)
        for t, row in enumerate(rows):
            if labelled is not None and not labelled[t]:
                self.pass_by(row, planned.values[t : t + 1])
                continue
            one = [(0, opened[t])] if t in opened else []
            self._learn(row, Planned(model.target, planned.values[t : t + 1], one))
            model.learned += self._remembered is not None

    def outputs_of_batch(self, batch: Batch) -> Array:
        """Return the active outputs of rows; unknown names have no part in it."""
        if self.named.shared_names:
            outputs = np.array([self.outputs(row) for row in batch.dicts()])
            return self.model.target.active(outputs)
        known = [j for j, name in enumerate(batch.names or ()) if name in self.model.ids]
        return self.model.predict(_columns(batch, known))


def ordered(batch: Batch) -> Batch:
    """Bring columns into the order in which a dict's are taken: a frame's own must not matter."""
    names = list(batch.names or ())
    if len(set(names)) != len(names):
        raise ValueError(f"X has several columns of one name: {names}")
    return _columns(batch, [names.index(name) for name in in_order(names)])


def _columns(batch: Batch, positions: list[int]) -> Batch:
    """Return some columns of a batch."""
    names = batch.names or ()
    return Batch(
        np.ascontiguousarray(batch.numbers[:, positions]),
        batch.gaps,
        {at: batch.texts[j] for at, j in enumerate(positions) if j in batch.texts},
        tuple(names[j] for j in positions),
        batch.time,
    )
