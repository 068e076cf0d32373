"""What a model made of rows before it learned the label of any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank

if TYPE_CHECKING:
    from .model import Model

Array = NDArray[np.float64]


class Made(NamedTuple):
    """Predictions of rows that wait together for their labels."""

    outputs: Array
    """What made the predictions."""
    experts: Array
    """What a bank put down of its experts; nothing of a single filter."""
    lags: Array
    """The labels known when the rows came; nothing without lags."""

    def cut(self, part: slice) -> Made:
        """Return what was made of some of the rows."""
        return Made(self.outputs[part], self.experts[part], self.lags[part])

    def learn(self, model: Model, before: Any, part: slice, how: tuple[Any, ...]) -> Array:
        """Let the engine learn some of the rows, as `how` says; return what was predicted."""
        engine = model.engine
        if isinstance(engine, Bank):
            size = engine.made_size
            experts = self.experts[part]
            if experts.shape[1] != size:  # the margin it was made of has no meaning any more
                experts = np.full((len(experts), size), np.nan)
            X, Y, pace, gain, outputs = how
            engine.learn_made(X, Y, pace, gain, outputs, experts)
        else:
            assert engine is not None
            engine.learn(*how)
        return np.asarray(before.as_active(self.outputs[part]))


def made_of(model: Model, rows: Array, widths: list[tuple[int, int]]) -> Made:
    """Predict coded rows with the model as it is now."""
    engine, n = model.open_engine(widths[0][1], rows), len(rows)
    lags = np.empty((n, 0))
    if model.lags is not None:
        none = np.empty((0, model.lags.recent.shape[1]))
        lags = model.lags.before(none, np.zeros(n, np.int64))
        model.lags.fill(rows, lags)
    X = np.ascontiguousarray(model.seen_by_engine(rows)[:, : engine.features])
    outputs = np.empty((n, engine.outputs))
    experts = np.empty((n, 0))
    if isinstance(engine, Bank):
        experts = np.empty((n, engine.made_size))
        engine.predict_made(X, outputs, experts)
    else:
        engine.predict(X, outputs)
    return Made(model.target.active(outputs), experts, lags)
