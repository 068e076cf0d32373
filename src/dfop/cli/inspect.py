"""``dfop inspect``: what a model has learned, in words and figures."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dfop.files import load
from dfop.insight.influence import influence
from dfop.insight.looks import effective_forgetting
from dfop.scale import Keyed

from . import keys
from .options import AsJson, check_file
from .problems import fail, in_sentences

HELP = """Show what a model has learned: from what, how it forgets, what matters, what changed.

\b
Examples:
  dfop inspect sales.dfop
  dfop inspect sales.dfop --json
"""
MOST = 10
"""Of experts, weights and alarms that are shown."""


@in_sentences
def inspect(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A model that `dfop learn` or `save` wrote."),
    ],
    as_json: AsJson = False,
) -> None:
    """Show what a model has learned."""
    check_file(str(model))
    if model.is_dir():
        fail(f"{model} is a folder: name the file of a model; `dfop report` shows a checkpoint", 2)
    loaded = load(model)
    by_key = isinstance(loaded, Keyed)
    found = keys.facts(loaded, model) if by_key else facts(loaded, model)
    if as_json:
        print(json.dumps(found))
        return
    for line in keys.lines(found) if by_key else _lines(found):
        print(line)


def facts(model: Any, path: Path) -> dict[str, Any]:
    """Return what is known of a model, as values that JSON can hold."""
    inner = model.__dfop_model__()
    content = path.stat()
    return {
        "model": type(model).__name__,
        "bytes": content.st_size,
        "saved": datetime.fromtimestamp(content.st_mtime, UTC).isoformat(timespec="seconds"),
        "rows": int(inner.rows),
        "learned": int(inner.learned),
        "waiting": len(inner.waiting),
        "expired": int(inner.waiting.expired),
        "features": [str(name) for name in inner.names or inner.ids or range(inner.columns)],
        "classes": _classes(model),
        "forgetting": _forgetting(model),
        "experts": _experts(model),
        "influence": influence(inner),
        "drift": _drift(model),
        "alarms": _alarms(model),
        "health": _health(model),
    }


def _classes(model: Any) -> list[Any] | None:
    found = getattr(model, "classes_", None)
    return None if found is None else np.asarray(found, dtype=object).tolist()


def _forgetting(model: Any) -> dict[str, Any]:
    rule = str(model.forgetting)
    return {"rule": rule, "mu": effective_forgetting(model.__dfop_model__())}


def _experts(model: Any) -> list[dict[str, Any]]:
    experts = sorted(getattr(model, "experts_", []), key=lambda e: -abs(e.weight))[:MOST]
    return [
        {
            "sees": expert.features or expert.kind.replace("_", " "),
            "mu": expert.forgetting,
            "walk": expert.walk,
            "weight": expert.weight,
            "recent error": expert.recent_error,
        }
        for expert in experts
    ]


def _drift(model: Any) -> dict[str, Any] | None:
    try:
        spectrum = model.drift_
    except AttributeError:
        return None
    return {
        "noise": spectrum.noise,
        "power": spectrum.power,
        "mu": spectrum.mu,
        "believed": spectrum.verdict.believed,
        "verdict": spectrum.verdict.words,
    }


def _alarms(model: Any) -> list[dict[str, Any]]:
    alarms = getattr(model, "alarms_", [])[-MOST:]
    return [
        {"row": a.row, "began": a.began, "kind": a.kind, "time": a.moment, "words": str(a)}
        for a in alarms
    ]


def _health(model: Any) -> dict[str, Any]:
    """Say whether all weights are finite, and on how many rows a single filter's cap acted."""
    try:
        finite = bool(np.isfinite(model.coef_).all())
    except AttributeError:
        finite = True
    return {"finite": finite, "limited rows": getattr(model, "limited_rows_", None)}


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [
        f"{found['model']}, {found['bytes'] / 1000:,.1f} kB, saved {found['saved']}",
        f"learned from    {found['learned']:,} of {found['rows']:,} rows",
        f"features        {', '.join(found['features'][:20])}",
    ]
    if found["classes"] is not None:
        lines.append(f"classes         {', '.join(map(str, found['classes'][:20]))}")
    if found["waiting"] or found["expired"]:
        lines.append(f"labels          {found['waiting']:,} awaited, {found['expired']:,} given up")
    mu = found["forgetting"]["mu"]
    effective = "" if mu is None else f", effective mu {mu:.3g}"
    lines.append(f"forgetting      {found['forgetting']['rule']}{effective}")
    if found["drift"] is not None:
        lines.append(f"drift           {found['drift']['verdict']}")
    lines += _some("what matters", [f"{s:>4.0%} {name}" for name, s in found["influence"].items()])
    lines += _some(
        "experts",
        [
            f"{e['sees']}, {'walk' if e['walk'] else 'mu'} {e['walk'] or e['mu']:.3g}, "
            f"counts {e['weight']:.2f}, recent error {e['recent error']:.3g}"
            for e in found["experts"]
        ],
    )
    lines += _some("alarms", [alarm["words"] for alarm in found["alarms"]])
    health, limited = found["health"], found["health"]["limited rows"]
    acted = "" if limited is None else f", the cap acted on {limited:,} rows"
    lines.append(
        f"health          {'all weights are finite' if health['finite'] else 'BROKEN'}{acted}"
    )
    return lines


def _some(name: str, entries: list[str]) -> list[str]:
    return [f"{name if i == 0 else '':<15} {entry}" for i, entry in enumerate(entries)]
