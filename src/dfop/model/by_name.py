"""Rows that are dicts: features come and go by name, one row at a time or in frames."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import Lock, NamedRows
from dfop.rows.batch import Batch

from .label_targets import LabelTarget
from .model import Model
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
            model.engine,
            model.coder,
            model.ids,
            model.lock,
            1.0 - getattr(model.settings.rule, "mu", 0.0),
            model.settings.max_features,
        )
        self._coded: dict[int, Array] = {}
        self._coded_for: Any = None
        self._warned_of: set[str] = set()
        self._classes_beyond = False
        self._lag_names = {f"label {k + 1} back" for k in range(model.settings.lags)}

    # -- one row ------------------------------------------------------------------------------

    def learn(self, x: dict[Any, Any], planned: Planned) -> None:
        """Learn one row, whose target is checked."""
        model = self.model
        self._set_lags(x)
        if model.engine is None or planned.opened:
            self._learn_first(x, planned)
        else:
            coded = self._target(planned.values)
            outputs = self.named.step(x, coded)
            if model.monitor is not None:
                target = model.target
                active, mine = outputs[np.newaxis], coded[np.newaxis]
                model.observe(target.active(active), target.active(mine), planned.values, _SEEN)
            if model.lags is not None:
                model.lags.add(planned.values)
        self._warn()

    def _learn_first(self, x: dict[Any, Any], planned: Planned) -> None:
        """Learn a row that opens the engine, or a class."""
        model = self.model
        if model.lags is None and model.settings.lags:
            model.open_lags()
        rows = self.named.code(x)
        model.take_target(planned.target)
        weights = model.weigh(1)
        model.learn_coded(
            rows, [(0, rows.shape[1])], planned.values, weights, _SEEN, list(planned.opened)
        )
        self.named.use(model.engine)

    def _target(self, values: NDArray[Any]) -> Array:
        """Return a target as the engine learns it; of a class, made once."""
        model = self.model
        if not isinstance(model.target, LabelTarget):
            return np.ascontiguousarray(values[0])
        if self._coded_for is not model.target:
            self._coded, self._coded_for = {}, model.target
        k = int(values[0, 0])
        self._classes_beyond = self._classes_beyond or k < 0
        if k not in self._coded:
            self._coded[k] = np.ascontiguousarray(model.coded(values, model.target)[0])
        return self._coded[k]

    def outputs(self, x: dict[Any, Any]) -> list[float]:
        """Return all outputs of the engine for one row; none before the first one."""
        self._set_lags(x)
        return self.named.predict_outputs(x)

    def chosen(self, x: dict[Any, Any], *, margin: bool) -> int:
        """Return the number of the class predicted for one row."""
        self._set_lags(x)
        return self.named.predict_class(x, margin)

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
        """Warn if there are more names or classes than have room, once what came is learned."""
        if self.named.shared_names:
            self._warn_of("feature names", "max_features", "share 32 weights by their hash")
        if self._classes_beyond:
            self._warn_of("classes", "max_classes", "count as none of them, and are not predicted")

    def _warn_of(self, what: str, limit: str, fate: str) -> None:
        """Warn once that there are more of something than have room."""
        if limit in self._warned_of:
            return
        self._warned_of.add(limit)
        warnings.warn(
            f"more than {limit}={getattr(self.model.settings, limit)} {what} have come: further "
            f"ones {fate}; raise {limit} if they are meant",
            UserWarning,
            stacklevel=5,
        )

    # -- frames -------------------------------------------------------------------------------

    def learn_batch(self, batch: Batch, planned: Planned) -> None:
        """Learn rows in their order, the same as one after the other."""
        model = self.model
        names = batch.names
        assert names is not None
        self._refuse_lag_names(names)
        batch = ordered(batch)
        if len(model.ids.keys() | set(names)) > model.settings.max_features:
            self._learn_rows(batch.dicts(), planned)
            return
        n = len(batch)
        model.learn_planned(batch, planned, model.weigh(n), np.ones(n, bool))
        self.named.use(model.engine)
        if isinstance(model.target, LabelTarget) and (planned.values < 0).any():
            self._classes_beyond = True
        self._warn()

    def _learn_rows(self, rows: list[dict[Any, Any]], planned: Planned) -> None:
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
            one = [(0, opened[t])] if t in opened else []
            self.learn(row, Planned(model.target, planned.values[t : t + 1], one))

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
