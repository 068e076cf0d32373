"""Models by key on the command line: what `dfop inspect` and `dfop learn` tell of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dfop.scale import Keyed


def given_up(keyed: Keyed) -> str:
    """Return how many keys were given up, in words; nothing where none was."""
    return f", {keyed.expired_:,} more were idle for too long" if keyed.expired_ else ""


def facts(keyed: Keyed, path: Path) -> dict[str, Any]:
    """Return what is known of models by key, as values that JSON can hold."""
    names = keyed.feature_names_in_
    return {
        "model": f"Keyed({' '.join(repr(keyed.model).split())})",
        "bytes": path.stat().st_size,
        "keys": len(keyed),
        "bytes per key": keyed.bytes_per_key_,
        "memory": keyed.memory_bytes_,
        "expired": keyed.expired_,
        "evicted": keyed.evicted_,
        "shared": bool(keyed.shared),
        "features": list(range(keyed.n_features_in_)) if names is None else list(names),
        "classes": keyed.classes_.tolist() if hasattr(keyed, "classes_") else None,
        "waiting": len(keyed.pending_),
        "given up": keyed.expired_rows_,
        "limited rows": getattr(keyed, "limited_rows_", None),
    }


def lines(found: dict[str, Any]) -> list[str]:
    """Return the facts in words."""
    told = [
        f"{found['model']}, {found['bytes'] / 1000:,.1f} kB",
        f"keys            {found['keys']:,}, {found['bytes per key']:,} bytes each, "
        f"{found['memory'] / 1e6:,.1f} MB in memory",
        f"given up        {found['expired']:,} idle for too long, {found['evicted']:,} for want "
        "of memory",
        f"features        {', '.join(map(str, found['features'][:20]))}",
    ]
    if found["classes"] is not None:
        told.append(f"classes         {', '.join(map(str, found['classes'][:20]))}")
    if found["waiting"] or found["given up"]:
        told.append(f"labels          {found['waiting']:,} awaited, {found['given up']:,} given up")
    if found["shared"]:
        told.append("shared          a model of all keys comes before theirs")
    if found["limited rows"] is not None:
        told.append(f"limits          acted on {found['limited rows']:,} rows")
    return told
