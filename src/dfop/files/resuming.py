"""Learners made of an engine that has learned elsewhere: merged, or by key."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank, Coder, Filter
from dfop.model.model import Model
from dfop.model.opening import new_monitor
from dfop.model.settings import Settings
from dfop.rows.times import Clock

from .columns import number_columns

Array = NDArray[np.float64]


def numbers_coder(sums: Array, counts: Array) -> Coder:
    """Return the coder of columns of numbers, whose means stand in for gaps to come."""
    coder = Coder()
    coder.restore(number_columns(0, len(sums)), sums, counts)
    return coder


def resume(
    learner: Any,
    target: Any,
    engine: Filter | Bank,
    *,
    names: tuple[str, ...] | None,
    clock: Clock,
    rows: int,
    coder: Coder,
) -> None:
    """Let a new learner go on with an engine.

    Parameters
    ----------
    learner : DFOPRegressor or DFOPClassifier
        Which has learned nothing.
    target : NumberTarget or LabelTarget
        What the engine has learned.
    engine : Filter or Bank
        The engine; its monitor begins anew.
    names : tuple of str or None
        Of the columns.
    clock : Clock
        When the last row came.
    rows : int
        How many there were.
    coder : Coder
        Of the columns.
    """
    model = Model(Settings.of(**learner.get_params()), target)
    model.coder = coder
    model.columns, model.names, model.clock = coder.columns, names, clock
    model.rows = model.learned = rows
    model.engine = engine
    if model.settings.monitored:
        model.monitor = new_monitor(target, engine.features)
    learner.__dfop_resume__(model)
