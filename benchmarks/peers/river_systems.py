"""River's learners, at their defaults; linear ones both raw and behind a `StandardScaler`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import LABELS, NUMBERS, Rows
from .systems import Race, System

SEED = 0


def _learner(make: Callable[[], Any], scaled: bool = False) -> Callable[[Rows], Race]:
    def ready(rows: Rows) -> Race:
        from river.preprocessing import StandardScaler

        model = StandardScaler() | make() if scaled else make()
        names = [f"x{j}" for j in range(rows.X.shape[1])]
        dicts = [dict(zip(names, row, strict=True)) for row in rows.X.tolist()]
        targets = rows.y.tolist()
        # River's linear classifiers want truth values where there are two classes.
        if rows.task == LABELS and rows.classes <= 2:
            targets = [bool(y) for y in targets]
        nothing = -1 if rows.task == LABELS else 0.0

        def race() -> NDArray:
            told = []
            for x, y in zip(dicts, targets, strict=True):
                told.append(model.predict_one(x))
                model.learn_one(x, y)
            return np.array([nothing if one is None else one for one in told], dtype=float)

        return race

    return ready


def _made(module: str, name: str, **parameters: Any) -> Callable[[], Any]:
    def make() -> Any:
        import importlib

        return getattr(importlib.import_module(f"river.{module}"), name)(**parameters)

    return make


def _bagging() -> Any:
    from river import ensemble, tree

    return ensemble.LeveragingBaggingClassifier(tree.HoeffdingTreeClassifier(), seed=SEED)


def _system(
    peer: str, kind: str, task: str, make: Callable[[], Any], most_columns: int = 10_000
) -> list[System]:
    learner = _learner(make)
    return [System(f"River {peer}", kind, "river", (task,), learner, most_columns=most_columns)]


def _linear(peer: str, task: str, name: str, **parameters: Any) -> list[System]:
    make = _made("linear_model", name, **parameters)
    return [
        System(f"River {peer}", "linear", "river", (task,), _learner(make, scaled), form)
        for scaled, form in ((False, ""), (True, "scaled"))
    ]


SYSTEMS = [
    *_linear("LogisticRegression", LABELS, "LogisticRegression"),
    *_linear("PassiveAggressive", LABELS, "PAClassifier"),
    *_linear("ALMA", LABELS, "ALMAClassifier"),
    *_system("NaiveBayes", "naive Bayes", LABELS, _made("naive_bayes", "GaussianNB")),
    *_system("kNN", "kNN", LABELS, _made("neighbors", "KNNClassifier")),
    *_system("ARF10", "ARF10", LABELS, _made("forest", "ARFClassifier", seed=SEED)),
    *_linear("LinearRegression", NUMBERS, "LinearRegression"),
    *_linear("PassiveAggressive", NUMBERS, "PARegressor"),
    *_linear("BayesianLinearRegression", NUMBERS, "BayesianLinearRegression"),
    *_linear("BayesianLinearRegression(.9)", NUMBERS, "BayesianLinearRegression", smoothing=0.9),
    *_system("kNN", "kNN", NUMBERS, _made("neighbors", "KNNRegressor")),
    *_system("ARF10", "ARF10", NUMBERS, _made("forest", "ARFRegressor", seed=SEED)),
]

SLOW = [
    *_system("SRP10", "SRP10", NUMBERS, _made("ensemble", "SRPRegressor", seed=SEED)),
    *_system("LeveragingBagging", "LeveragingBagging", LABELS, _bagging, 100),
    *_system("SRP10", "SRP10", LABELS, _made("ensemble", "SRPClassifier", seed=SEED), 100),
]
"""They need milliseconds a row."""
