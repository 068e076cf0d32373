"""Learners made of a filter that was learned elsewhere: merged, or by key."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import Coder, Filter
from dfop.model.model import Model
from dfop.model.settings import Settings
from dfop.rows.weights import Clock

from .columns import number_columns

Array = NDArray[np.float64]


def resume(
    learner: Any,
    target: Any,
    engine: Filter,
    *,
    names: tuple[str, ...] | None,
    clock: Clock,
    rows: int,
    means: tuple[Array, Array] | None = None,
) -> None:
    """Let a new learner go on with a filter on columns of numbers.

    Parameters
    ----------
    learner : DFOPRegressor or DFOPClassifier
        Which has learned nothing.
    target : NumberTarget or LabelTarget
        What the filter has learned.
    engine : Filter
        The filter.
    names : tuple of str or None
        Of the columns.
    clock : Clock
        When the last row came.
    rows : int
        How many there were.
    means : tuple of ndarray, optional
        Sums and numbers of the values of each column, which stand in for gaps to come.
    """
    d = engine.features
    sums, counts = (np.zeros(d), np.zeros(d)) if means is None else means
    model = Model(Settings.of(**learner.get_params()), target)
    model.coder = Coder()
    model.coder.restore(number_columns(0, d), sums, counts)
    model.columns, model.names, model.clock = d, names, clock
    model.rows = model.learned = rows
    model.engine = engine
    learner.__dfop_resume__(model)
