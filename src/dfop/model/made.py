"""What a model made of rows before it learned the label of any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank
from dfop.rows.sparse import SparseBatch

from .label_targets import LabelTarget
from .monitor import NumberMonitor

if TYPE_CHECKING:
    from .model import Model

Array = NDArray[np.float64]


LEAST_REMADE = 1000


def has_doubled(labels: Any) -> Any:
    """Return whether there are twice as many labels as the last time that was so; also of arrays.

    Then rows that came before the first label are predicted once more, as many as `most_remade`
    says.

    Examples
    --------
    >>> [labels for labels in range(1, 20) if has_doubled(labels)]
    [1, 2, 4, 8, 16]
    """
    return labels & (labels - 1) == 0


def most_remade(labels: int) -> int:
    """Return how many waiting rows are predicted once more when there are so many labels.

    Until these have doubled, as many rows get their label: the oldest ones, where labels come in
    the order of the rows. More would take time that grows with all that wait.

    Examples
    --------
    >>> most_remade(64), most_remade(4096)
    (1000, 4096)
    """
    return max(labels, LEAST_REMADE)


class Made(NamedTuple):
    """Predictions of rows that wait together for their labels."""

    outputs: Array
    """What made the predictions."""
    experts: Array
    """What a bank put down of its experts; nothing of a single filter."""
    lags: Array
    """The labels known when the rows came; nothing without lags."""
    said: Array
    """What the monitor said of them, see `Monitor.said_size`."""

    def cut(self, part: slice) -> Made:
        """Return what was made of some of the rows."""
        return Made(*(what[part] for what in self))

    def learn(
        self, model: Model, before: Any, part: slice, how: tuple[Any, ...], own: tuple[Array, ...]
    ) -> Array:
        """Let the engine learn some of the rows, as `how` says; return what was predicted.

        `own` is what own experts say of them now.
        """
        engine = model.engine
        if isinstance(engine, Bank):
            size = engine.made_size
            experts = self.experts[part]
            if experts.shape[1] != size:  # the margin it was made of has no meaning any more
                experts = np.full((len(experts), size), np.nan)
            X, Y, pace, gain, outputs = how
            engine.learn_made(X, Y, pace, gain, outputs, experts, *own)
        else:
            assert engine is not None
            rows, *rest = how
            if isinstance(rows, SparseBatch):
                rows.learn_by(engine, *rest)
            else:
                engine.learn(*how)
        margin = isinstance(before, LabelTarget) and before.margin
        target = before if margin else model.target  # with the class that one of them has opened
        return np.asarray(target.as_active(self.outputs[part]))

    def remake(self, model: Model, rows: Any, which: NDArray[np.int64]) -> None:
        """Predict some rows once more, see `Bank.remake`."""
        engine = model.engine
        if not isinstance(engine, Bank) or self.experts.shape[1] != engine.made_size:
            return
        if len(which) == 0:
            return
        X = rows[which, : engine.features]
        missing = engine.features - X.shape[1]
        if missing:
            X = np.pad(X, ((0, 0), (0, missing)))
        experts = self.experts[which]
        engine.remake(np.ascontiguousarray(X), experts)
        self.experts[which] = experts


def made_of(model: Model, rows: Array | SparseBatch, widths: list[tuple[int, int]]) -> Made:
    """Predict coded rows with the model as it is now."""
    engine, n = model.open_engine(widths[0][1], rows), len(rows)
    lags = said = np.empty((n, 0))
    if isinstance(model.monitor, NumberMonitor):
        said = model.monitor.say(n)
    outputs = np.empty((n, engine.outputs))
    if isinstance(rows, SparseBatch):
        rows.predict_by(engine, outputs)
        return Made(model.target.active(outputs), np.empty((n, 0)), lags, said)
    if model.lags is not None:
        none = np.empty((0, model.lags.recent.shape[1]))
        lags = model.lags.before(none, np.zeros(n, np.int64))
        model.lags.fill(rows, lags)
    X = np.ascontiguousarray(model.seen_by_engine(rows)[:, : engine.features])
    experts = np.empty((n, 0))
    if isinstance(engine, Bank):
        experts = np.empty((n, engine.made_size))
        engine.predict_made(X, outputs, experts, *model.answers(X))
    else:
        engine.predict(X, outputs)
    return Made(model.target.active(outputs), experts, lags, said)
