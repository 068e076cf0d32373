"""Format 3: the parts of a model by name.

The description has

    format, kind, written_by   3, which learner, and the version of dfop that wrote it
    parameters                 the constructor's arguments; a prior's are arrays
    target                     how many numbers, or which classes in which order
    columns                    names, and how each is coded
    engine                     prior, and the design of a bank; None before the first row (River)
    monitor                    where there is one: rows, alarms
    lags                       coded columns of the last labels
    clock, now, rows, learned  when the last row came; how much has faded; how many rows came, and
                               how many were learned
    waiting                    keys of the rows that wait for their label, and how many expired

and each part has its numbers in arrays under its name: ``engine/``, ``monitor/``, ``coder/``,
``lags/``, ``waiting/``. Which arrays an engine or a monitor has, its compiled parts say. What was
predicted of dicts that have not been learned is in arrays alone, ``remembered/``, if there are any.
If dicts were predicted since something was learned, there is a part more:

    asked                      by which methods the last of them was asked about, and before the
                               first label all of them
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from dfop.model.model import Model
from dfop.model.settings import Settings

from .columns import describe_columns, read_columns
from .container import FORMAT, Tensors
from .engine import describe_engine, read_engine
from .faces import ARRAYS, Face, class_of, describe_parameters, kind_of, read_parameters
from .lagged import describe_lags, read_lags
from .monitoring import describe_monitor, read_monitor
from .remembered import describe_asked, describe_remembered, read_asked, read_remembered
from .targets import describe_target, read_target
from .values import Reading, describe_clock, known, number, read_clock, whole
from .waiting import describe_waiting, read_waiting

_PARTS = {
    "format", "kind", "written_by", "parameters", "target", "columns", "engine", "monitor", "lags",
    "clock", "now", "rows", "learned", "waiting",
}  # fmt: skip


@cache
def _version() -> str:
    return version("dfop")


def describe(face: Face) -> tuple[dict[str, Any], Tensors]:
    """Return the description of a learner, and its arrays."""
    kind = kind_of(face)
    model = face.__dfop_model__()  # first: it refuses parameters that were changed
    parameters = describe_parameters(face)
    if model is None:
        raise ValueError("this model has not seen a row yet: there is nothing to save")
    tensors: Tensors = {}
    with model.lock:
        parts = _describe_parts(model, tensors)
        for name in ARRAYS:
            values = getattr(model.settings, name)
            if values is not None:
                tensors[f"parameters/{name}"] = np.array(values)
    document = {"format": FORMAT, "kind": kind, "written_by": _version(), "parameters": parameters}
    return {**document, **parts}, tensors


def _describe_parts(model: Model, tensors: Tensors) -> dict[str, Any]:
    asked = describe_asked(model, tensors)
    if model.engine is None:  # its first row may have been refused, and left lags without columns
        model = Model(model.settings, model.target, by_name=model.by_name)
    engine, monitor, lags = model.engine, model.monitor, model.lags
    describe_remembered(model, tensors)
    return {
        "target": describe_target(model.target),
        "columns": describe_columns(model, tensors),
        "engine": None if engine is None else describe_engine(engine, tensors),
        "monitor": None if monitor is None else describe_monitor(monitor, tensors),
        "lags": None if lags is None else describe_lags(lags, tensors),
        "clock": describe_clock(model.clock),
        "now": model.now,
        "rows": model.rows,
        "learned": model.learned,
        "waiting": describe_waiting(model.waiting, tensors),
        **({} if asked is None else {"asked": asked}),
    }


def rebuild(document: dict[str, Any], tensors: Tensors) -> Any:
    """Make the learner that was described; a value that makes no sense is an error."""
    known({"asked": None, **document}, _PARTS | {"asked"}, "the model")
    kind = document["kind"]
    reading = Reading(tensors)
    arrays = reading.under("parameters/")
    parameters = read_parameters(kind, {**document["parameters"], **arrays})
    settings = Settings.of(**parameters)
    face = class_of(kind)(**parameters)
    if document["columns"].get("sparse") is not None and settings.storage is None:
        settings = settings.for_wide_sparse_rows()
    target = read_target(kind, document["target"], settings)
    model = Model(settings, target, by_name=kind.startswith("river."))
    read_columns(model, document["columns"], reading)
    _read_time(model, document)
    if document["engine"] is None:
        _check_untouched(model, document)
    else:
        _read_knowledge(model, document, reading)
    if "asked" in document:
        read_asked(model, document["asked"], reading)
    reading.check_all_read()
    face.__dfop_resume__(model)
    return face


def _read_knowledge(model: Model, document: dict[str, Any], reading: Reading) -> None:
    """Give a model its engine and what belongs to it."""
    model.engine = read_engine(model, document["engine"], reading)
    model.use_threads(model.settings.threads)
    if model.settings.monitored:
        features = model.engine.features
        model.monitor = read_monitor(model.target, features, document["monitor"], reading)
    elif document["monitor"] is not None:
        raise ValueError("a monitor that the settings do not have")
    if model.settings.lags:
        model.lags = read_lags(model, document["lags"], reading)
    elif document["lags"] is not None or model.coder.lags:
        raise ValueError("lags that the settings do not have")
    read_waiting(model, document["waiting"], reading)
    read_remembered(model, reading)


def _read_time(model: Model, document: dict[str, Any]) -> None:
    model.clock = read_clock(document["clock"])
    model.now = number(document["now"])
    model.rows = whole(document["rows"])
    model.learned = whole(document["learned"])


def _check_untouched(model: Model, document: dict[str, Any]) -> None:
    """Refuse a model that knows something and has no engine."""
    empty = model.by_name and not model.ids and not model.coder.width and not model.rows
    if not empty or document["target"].get("order") or document["waiting"]["keys"]:
        raise ValueError("a model that nothing was learned from")
