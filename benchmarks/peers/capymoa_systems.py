"""CapyMOA's learners, at their defaults on raw features; ensembles of ten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import LABELS, NUMBERS, Rows
from .systems import Race, System


def _learner(name: str, **parameters: Any) -> Callable[[Rows], Race]:
    def ready(rows: Rows) -> Race:
        from capymoa import classifier, regressor
        from capymoa.core import LabeledInstance, RegressionInstance
        from capymoa.stream import Schema

        labels = rows.task == LABELS
        columns = [f"x{j}" for j in range(rows.X.shape[1])]
        classes = {"y": [str(k) for k in range(rows.classes)]} if labels else {}
        schema = Schema.from_custom([*columns, "y"], "y", classes, rows.name)
        model = getattr(classifier if labels else regressor, name)(schema, **parameters)
        made = LabeledInstance if labels else RegressionInstance
        instances = [
            made.from_array(schema, x, y) for x, y in zip(rows.X, rows.y.tolist(), strict=True)
        ]
        for instance in instances:
            _ = instance.java_instance  # made when first asked for: before the clock starts

        def race() -> NDArray:
            told = []
            for instance in instances:
                told.append(model.predict(instance))
                model.train(instance)
            nothing = -1 if labels else 0.0
            return np.array([nothing if one is None else one for one in told])

        return race

    return ready


def _system(
    peer: str, kind: str, task: str, name: str, most_columns: int = 10_000, **parameters: Any
) -> System:
    learner = _learner(name, **parameters)
    return System(f"CapyMOA {peer}", kind, "capymoa", (task,), learner, most_columns=most_columns)


SYSTEMS = [
    _system("ARF10", "ARF10", LABELS, "AdaptiveRandomForestClassifier", ensemble_size=10),
    _system("SRP10", "SRP10", LABELS, "StreamingRandomPatches", ensemble_size=10),
    _system(
        "LeveragingBagging", "LeveragingBagging", LABELS, "LeveragingBagging", ensemble_size=10
    ),
    _system("kNN", "kNN", LABELS, "KNN"),
    _system("NaiveBayes", "naive Bayes", LABELS, "NaiveBayes"),
    _system("SAMkNN", "kNN", LABELS, "SAMkNN"),
    _system("DWM", "others", LABELS, "DynamicWeightedMajority"),
    _system("HoeffdingTree", "others", LABELS, "HoeffdingTree"),
    _system("HoeffdingAdaptiveTree", "others", LABELS, "HoeffdingAdaptiveTree"),
    _system("OzaBoost", "boosting", LABELS, "OzaBoost", boosting_iterations=10),
    _system("ARF10", "ARF10", NUMBERS, "AdaptiveRandomForestRegressor", ensemble_size=10),
    _system("SOKNL10", "SRP10", NUMBERS, "SOKNL", ensemble_size=10),
    _system("kNN", "kNN", NUMBERS, "KNNRegressor"),
    _system("FIMTDD", "others", NUMBERS, "FIMTDD"),
    _system("SGBR", "boosting", NUMBERS, "StreamingGradientBoostedRegression"),
]

SLOW = [
    _system("ARF100", "ARF100", LABELS, "AdaptiveRandomForestClassifier", 100, ensemble_size=100),
    _system("SGBT100", "boosting", LABELS, "StreamingGradientBoostedTrees", 100),
]
"""They need milliseconds a row."""
