"""The parts of an `Information` as bytes, and back, all checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from dfop.engines.information import Summary
from dfop.engines.limits import Checkpoint
from dfop.model.label_targets import LabelTarget
from dfop.model.settings import Settings

from .container import FORMAT, ModelFileError, Tensors, as_bytes, pack, unpack
from .faces import describe_forgetting, read_forgetting
from .saving import NONSENSE
from .targets import describe_target, read_target
from .values import Reading, describe_clock, known, listed, number, read_clock, texts, truth, whole

_KIND = "Information"
_PARTS = {
    "format",
    "kind",
    "settings",
    "labels",
    "target",
    "names",
    "clocks",
    "rows",
    "fade",
    "lead",
}
_SETTINGS = ("fit_intercept", "prior_variance", "cap")
_COLUMNS = ("largest", "first", "silence", "peak")


def pack_information(parts: dict[str, Any]) -> bytes:
    """Return the bytes of the named parts of an Information."""
    settings, target, summary = parts["settings"], parts["target"], parts["summary"]
    labels = isinstance(target, LabelTarget)
    empty = labels and target.classes is None
    document = {
        "format": FORMAT,
        "kind": _KIND,
        "settings": {
            "forgetting": describe_forgetting(settings.rule),
            **{name: getattr(settings, name) for name in _SETTINGS},
        },
        "labels": labels,
        "target": None if empty else describe_target(target),
        "names": None if parts["names"] is None else list(parts["names"]),
        "clocks": [describe_clock(parts[name]) for name in ("clock", "opened")],
        "rows": summary.rows,
        "fade": summary.fade,
        "lead": summary.lead if summary.is_settled else None,
    }
    tensors: Tensors = {name: getattr(summary, name) for name in ("factor", *_COLUMNS)}
    tensors |= {name: parts[name] for name in ("sums", "counts")}
    tensors["informed"] = parts["informed"].astype(np.float64)
    tensors["heads"] = np.array([head.fade for head in summary.heads])
    for k, head in enumerate(summary.heads):
        tensors[f"head {k}"] = head.factor
    return pack(document, tensors)


def unpack_information(data: bytes) -> dict[str, Any]:
    """Return the named parts of an Information; refuse what makes no sense."""
    content = as_bytes(data)
    try:
        return _rebuild(*unpack(content))
    except ModelFileError as error:
        raise ModelFileError(f"cannot read this Information: {error}") from None
    except NONSENSE as error:
        raise ModelFileError(f"cannot read this Information: it makes no sense ({error})") from None


def _rebuild(document: dict[str, Any], tensors: Tensors) -> dict[str, Any]:
    known(document, _PARTS, "an Information")
    if document["kind"] != _KIND:
        raise ValueError(f"it is a {document['kind']!r}")
    given = known(document["settings"], {"forgetting", *_SETTINGS}, "settings")
    truth(given["fit_intercept"])
    settings = Settings.of(**{**given, "forgetting": read_forgetting(given["forgetting"])})
    if settings.several_experts:
        raise ValueError("experts")
    target: Any = LabelTarget()
    if document["target"] is not None:
        kind = "DFOPClassifier" if truth(document["labels"]) else "DFOPRegressor"
        target = read_target(kind, document["target"], settings)
    outputs = len(target.order) if isinstance(target, LabelTarget) else target.outputs
    names = document["names"]
    reading = Reading(tensors)
    sums, counts = reading.take("sums", (-1,)), reading.take("counts", (len(tensors["sums"]),))
    if names is not None:
        names = tuple(texts(names, "names"))
        if not len(set(names)) == len(names) == len(sums):
            raise ValueError("names that do not fit the columns")
    p = len(sums) + settings.fit_intercept
    clock, opened = (read_clock(described) for described in listed(document["clocks"], "clocks"))
    informed = reading.take("informed", (p,)) > 0.0
    summary = _read_summary(document, reading, p, outputs)
    reading.check_all_read()
    return {
        "settings": settings, "names": names, "target": target, "clock": clock, "opened": opened,
        "sums": sums, "counts": counts, "informed": informed, "summary": summary,
    }  # fmt: skip


def _read_summary(document: dict[str, Any], reading: Reading, p: int, outputs: int) -> Summary:
    k = p + outputs
    factor = reading.take("factor", (k, k))
    fades = reading.take("heads", (-1,))
    heads = [Checkpoint(float(at), reading.take(f"head {i}", (k, k))) for i, at in enumerate(fades)]
    if not all(np.isfinite(part).all() for part in (factor, fades, *(h.factor for h in heads))):
        raise ValueError("numbers that are none")
    columns = {name: reading.take(name, (p,)) for name in _COLUMNS}
    if not all((part >= 0.0).all() for part in columns.values()):
        raise ValueError("magnitudes below 0")
    lead = document["lead"]
    return Summary(
        factor=factor,
        columns=p,
        fade=number(document["fade"]),
        rows=whole(document["rows"]),
        lead=np.inf if lead is None else number(lead),
        heads=tuple(heads),
        **columns,
    )
