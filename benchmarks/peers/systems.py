"""What takes part in a comparison, and those that need neither Java nor River."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.baselines import MajorityClass, RunningMean

from .rows import LABELS, Rows

Race = Callable[[], NDArray]
"""Goes over all rows once, each predicted before it is learned, and returns the predictions."""

EVERY, WINDOW = 250, 5000
"""LightGBM is trained anew after so many rows, on so many."""


@dataclass(frozen=True)
class System:
    """One learner, in one form.

    Attributes
    ----------
    peer : str
        Its name; of a peer in several forms the better one counts, stream by stream.
    kind : str
        What it is, whoever wrote it: the column of the tables.
    library : str
        The distribution whose version is recorded.
    tasks : tuple of str
        What it learns.
    ready : callable
        Makes everything that it reads, and returns the race: only that is timed.
    form : str
        "scaled" behind a running standardisation of the features; else empty.
    most_columns : int
        It is left out where there are more, because a row would take tens of milliseconds.
    """

    peer: str
    kind: str
    library: str
    tasks: tuple[str, ...]
    ready: Callable[[Rows], Race]
    form: str = ""
    most_columns: int = 10_000

    @property
    def name(self) -> str:
        """The peer and its form."""
        return f"{self.peer}, {self.form}" if self.form else self.peer

    def takes(self, rows: Rows) -> bool:
        """Tell whether it takes part on these rows."""
        return rows.task in self.tasks and rows.X.shape[1] <= self.most_columns


def whole(classifier: type, regressor: type, **parameters: Any) -> Callable[[Rows], Race]:
    """Make a system of our own interface: all rows in one call."""

    def ready(rows: Rows) -> Race:
        model = (classifier if rows.task == LABELS else regressor)(**parameters)
        return lambda: model.predict_then_learn(rows.X, rows.y)

    return ready


def retrained(rows: Rows) -> Race:
    """Train LightGBM anew every 250 rows on the last 5,000, which is what people do today.

    Until the first training the most frequent label so far is predicted, or the mean.
    """
    import lightgbm

    labels = rows.task == LABELS
    model = lightgbm.LGBMClassifier if labels else lightgbm.LGBMRegressor
    first = (MajorityClass if labels else RunningMean)()

    def race() -> NDArray:
        told = [first.predict_then_learn(rows.X[:EVERY], rows.y[:EVERY])]
        for start in range(EVERY, len(rows.y), EVERY):
            past = slice(max(0, start - WINDOW), start)
            now = rows.X[start : start + EVERY]
            if labels and len(np.unique(rows.y[past])) == 1:
                told.append(np.full(len(now), rows.y[start - 1]))
                continue
            trained = model(n_jobs=1, verbosity=-1).fit(rows.X[past], rows.y[past])
            told.append(trained.predict(now))
        return np.concatenate(told)

    return race
