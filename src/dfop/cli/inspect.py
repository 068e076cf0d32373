"""``dfop inspect``: what a model has learned, in words and figures."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dfop.files import load
from dfop.insight.looks import effective_forgetting, influence

from .options import AsJson
from .problems import in_sentences

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
    model: Annotated[Path, typer.Argument(help="A model that `dfop learn` or `save` wrote.")],
    as_json: AsJson = False,
) -> None:
    """Show what a model has learned."""
    found = facts(load(model), model)
    if as_json:
        print(json.dumps(found))
        return
    for line in _lines(found):
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
            "sees": expert.features,
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
        "verdict": verdict(spectrum.mu, jumped=bool(model.alarms_)),
    }


def verdict(mu: float, *, jumped: bool) -> str:
    """Say in words how a stream drifts.

    Examples
    --------
    >>> verdict(0.001, jumped=False)
    'it drifts: a memory of about 1,000 rows suits it'
    >>> verdict(0.0, jumped=False)
    'no drift was found: every row counts as much as the last'
    """
    if mu < 1e-6:
        return "no drift was found: every row counts as much as the last"
    words = f"it drifts: a memory of about {1 / mu:,.0f} rows suits it"
    # a jump looks like much drift to a formula that knows steady drift alone
    return f"{words}; with its jumps (alarms), that is a guess" if jumped else words


def _alarms(model: Any) -> list[dict[str, Any]]:
    alarms = getattr(model, "alarms_", [])[-MOST:]
    return [{"row": a.row, "began": a.began, "words": str(a)} for a in alarms]


def _health(model: Any) -> dict[str, Any]:
    """Say whether all weights are finite, and how many rows wait for their label."""
    try:
        finite = bool(np.isfinite(model.coef_).all())
    except AttributeError:
        finite = True
    return {"finite": finite}


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
    lines.append(
        f"health          {'all weights are finite' if found['health']['finite'] else 'BROKEN'}"
    )
    return lines


def _some(name: str, entries: list[str]) -> list[str]:
    return [f"{name if i == 0 else '':<15} {entry}" for i, entry in enumerate(entries)]
