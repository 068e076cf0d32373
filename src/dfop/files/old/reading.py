"""From the description of formats 1 and 2 to that of format 3.

What changed its meaning since: classes are numbered in the order in which they are learned, so that
those of an old model count as learned in their sorted order; two classes of River have a margin.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dfop.engines import Engine, build_engine
from dfop.files import format3
from dfop.files.container import Tensors
from dfop.files.engine import describe_engine
from dfop.files.faces import read_parameters
from dfop.files.monitoring import describe_monitor
from dfop.files.targets import read_target
from dfop.files.values import Reading, listed, number, texts, truth, whole, within
from dfop.files.waiting import describe_waiting
from dfop.model.keys import check_keys
from dfop.model.opening import new_monitor
from dfop.model.settings import Settings
from dfop.model.waiting import Kept, WaitingRows

from .engines import is_fresh, old_engine
from .lags import of_arrays, of_river
from .numbers import watch_fields

_FIRST_PARAMETERS = {"forgetting", "fit_intercept", "prior_variance", "cap"}
_MOST_FREE = 10**6
_WIDEST_FRESH = 5000
"""Coded columns of a model without a label: its engine is not in the file and must be made."""


def rebuild(document: dict[str, Any], tensors: Tensors) -> Any:
    """Make the learner that was described; a value that makes no sense is an error."""
    for name, values in tensors.items():
        if values.dtype != np.float64 or not np.isfinite(values).all():
            raise ValueError(f"tensor {name!r} of {values.dtype} is not finite")
    kind = document["kind"]
    parameters = _parameters(document)
    make = _River if kind in ("river.DFOPRegressor", "river.DFOPClassifier") else _Arrays
    old = make(kind, parameters, dict(document["state"]), Reading(tensors))
    described, arrays = old.converted()
    old.reading.check_all_read()
    parts = {"format": 3, "kind": kind, "written_by": "", "parameters": old.parameters}
    return format3.rebuild({**parts, **described}, arrays)


def _parameters(document: dict[str, Any]) -> dict[str, Any]:
    parameters = dict(document["parameters"])
    expected = _FIRST_PARAMETERS | (set() if document["format"] == 1 else {"features", "lags"})
    if set(parameters) != expected:
        raise ValueError(f"parameters {sorted(parameters)}")
    return {"features": "auto", "lags": 0, **parameters}


class _Old:
    """A model of format 1 or 2 on its way."""

    def __init__(
        self, kind: Any, parameters: dict[str, Any], state: dict[str, Any], reading: Reading
    ) -> None:
        self.kind, self.parameters, self.state, self.reading = kind, parameters, state, reading
        self.arrays: Tensors = {}
        self.columns: dict[str, Any] = {}
        self.rows = 0

    @property
    def settings(self) -> Settings:
        return Settings.of(**read_parameters(self.kind, self.parameters))

    def read_columns(self, names: int) -> None:
        """Take over how columns are coded; all of them are numbers where nothing is said."""
        if "columns" in self.state:
            self.coded = [dict(column) for column in self.state["columns"]]
            self.sums, self.counts = (self.reading.take(s, (-1,)) for s in ("sums", "counts"))
        else:
            plain: dict[str, Any] = {"kind": "number", "gap": None, "texts": [], "buckets": []}
            self.coded = [{**plain, "place": j} for j in range(whole(names, _MOST_FREE))]
            self.sums, self.counts = np.zeros((2, names))
        if len(self.coded) != names:
            raise ValueError("columns that do not fit their names")

    def write_columns(self, names: Any, lags: list[int]) -> None:
        """Describe how columns are coded."""
        order = ("kind", "place", "gap", "texts", "buckets")
        coded = [[column[part] for part in order] for column in self.coded]
        self.columns = {"numbers": [0, 0], "coded": coded, "lags": lags, "names": names}
        self.arrays["coder/sums"], self.arrays["coder/counts"] = self.sums, self.counts

    def write_monitor(self, target: Any, outputs: int, classes: list[int]) -> Any:
        """Describe the monitor: the watch of old."""
        if not self.settings.several_experts:
            return None
        described = self.state["watch"]
        if described is None:
            return describe_monitor(new_monitor(target, len(self.sums)), self.arrays)
        river = self.kind.startswith("river.")
        for name, values in watch_fields(self.reading, river, outputs, classes).items():
            self.arrays[f"monitor/{name}"] = values
        self.rows = whole(described["rows"])
        alarms = [[row, began, dict(moved)] for row, began, moved in described["alarms"]]
        return {"rows": self.rows, "alarms": alarms, "open": described["open"]}

    def parts(self, described: dict[str, Any], waiting: WaitingRows) -> dict[str, Any]:
        """Return all parts of the description; those not given are as in a new model."""
        learned = max(self.rows, 1)
        return {
            "columns": self.columns,
            "monitor": None,
            "lags": None,
            "clock": [None, False],
            "now": 0.0,
            "rows": learned + len(waiting),
            "learned": learned,
            "waiting": describe_waiting(waiting, self.arrays),
            **described,
        }


class _Arrays(_Old):
    """A regressor or a classifier of arrays."""

    def converted(self) -> tuple[dict[str, Any], Tensors]:
        state = self.state
        described, classes = self._target()
        target = read_target(self.kind, described, self.settings)
        targets: Any = target.designs()
        self.outputs = sum(design[1] for design in targets)
        self.read_columns(whole(state["n_features"], _MOST_FREE))
        names = None if state["feature_names"] is None else texts(state["feature_names"], "names")
        lags = None
        if self.parameters["lags"]:
            lags, columns = of_arrays(self, target)
        else:
            columns = []
        self.write_columns(names, columns)
        width = self.sums.size
        engine = self._engine(targets, width)
        log = number(state["log_discount"])
        now = -log if self.settings.several_experts else log
        waiting = self._waiting(width, target.width)
        parts = {
            "target": described,
            "engine": describe_engine(engine, self.arrays),
            "monitor": self.write_monitor(target, self.outputs, classes),
            "lags": lags,
            "clock": state["clock"],
            "now": now if len(waiting) else 0.0,
        }
        return self.parts(parts, waiting), self.arrays

    def _target(self) -> tuple[dict[str, Any], list[int]]:
        """Describe the target; return how many classes each label has."""
        state, outputs = self.state, self.state["outputs"]
        if self.kind == "DFOPRegressor":
            if outputs is None:
                return {"outputs": 1, "flat": True, "known": False}, []
            return {"outputs": outputs, "flat": state["flat"], "known": True}, []
        classes = state["classes"]
        counts = [len(some["values"]) for some in classes]
        if self.kind == "DFOPClassifier":
            self.parameters["max_classes"] = max(1000, *counts)
        if not truth(state["flat"]):
            return {"several": classes}, counts
        (only,) = classes
        return {"classes": only, "met": list(range(counts[0]))}, counts

    def _engine(self, targets: Any, width: int) -> Engine:
        state = self.state
        if state["filter"] is not None or state.get("bank") is not None:
            return old_engine(self, targets, width)
        if width > _WIDEST_FRESH:
            raise ValueError(f"{width} coded columns, and no label yet")
        settings = self.settings
        engine = build_engine(
            width,
            targets,
            settings.rule,
            settings.features,
            fit_intercept=bool(settings.fit_intercept),
            prior_variance=settings.prior_variance,
            cap=settings.cap,
        )
        passed = number(state["log_discount"])
        if passed < 0.0:
            engine.forget(-passed if settings.several_experts else max(math.exp(passed), 1e-300))
        return engine

    def _waiting(self, width: int, outputs: int) -> WaitingRows:
        """Return the rows that wait: of a single filter it was not kept what was predicted."""
        keys = listed(self.state["waiting"], "keys")
        waiting = WaitingRows(10**9, None)
        if not keys:
            return waiting
        rows = self.reading.take("waiting_rows", (len(keys), width))
        stamps = self.reading.take("waiting_stamps", (len(keys),))
        within(stamps, -1e300, 1e300, "the stamps of waiting rows")
        predicted = np.zeros((len(keys), outputs))
        if self.settings.several_experts:
            predicted = self.reading.take("waiting_outputs", (len(keys), outputs))
            stamps = -stamps
        arrived = np.arange(len(keys), dtype=np.float64)
        none = np.empty((len(keys), 0))
        waiting.keep(check_keys(keys, None), Kept.of(rows, stamps, arrived, predicted, none, none))
        return waiting


class _River(_Old):
    """A regressor or a classifier of dicts."""

    def converted(self) -> tuple[dict[str, Any], Tensors]:
        state = self.state
        names, self.classes = list(state["names"]), list(state["classes"])
        labels = self.kind.endswith("Classifier")
        if labels:
            self.parameters["max_classes"] = max(1000, len(self.classes))
        self.parameters["max_features"] = max(1000, len(names))
        self.read_columns(len(names))
        described = self._target(labels)
        target = read_target(self.kind, described, self.settings)
        lags, missing = None, 0
        columns: list[int] = []
        untouched = self._untouched(labels)
        if self.parameters["lags"] and not untouched:
            lags, names, columns, missing = of_river(self, names, target)
        elif len(state.get("recent", [])) != self.parameters["lags"]:
            raise ValueError(f"{self.parameters['lags']} labels are features")
        width = self.sums.size
        self.write_columns(names, columns)
        if untouched:
            self.reading.under("")  # a filter that has not learned anything
            parts = {"target": described, "engine": None, "rows": 0, "learned": 0}
            return self.parts(parts, WaitingRows(1, None)), self.arrays
        outputs = len(self.classes) if labels else 1
        targets = [("one_hot", outputs) if labels else ("number", 1)]
        engine = old_engine(self, targets, width - missing, grows=labels)
        engine.add_features(missing)
        parts = {
            "target": described,
            "engine": describe_engine(engine, self.arrays),
            "monitor": self.write_monitor(target, outputs, [outputs] if labels else []),
            "lags": lags,
        }
        return self.parts(parts, WaitingRows(1, None)), self.arrays

    def _target(self, labels: bool) -> dict[str, Any]:
        if not labels:
            return {"outputs": 1, "flat": True, "known": True}
        # There is no way to combine a bank's two outputs into what it would make of a margin.
        one_each = self.settings.several_experts and 1 <= len(self.classes) <= 2
        return {"order": self.classes, **({"one_each": True} if one_each else {})}

    def _untouched(self, labels: bool) -> bool:
        """Whether no row was learned: a single filter is there nevertheless."""
        if self.coded or self.classes:
            return False
        if self.settings.several_experts or labels:
            return True
        return is_fresh(self)
