"""The named fields of compiled parts: each part knows its own, and everything here loops over them.

A part has ``state()``, its fields by name, and ``restore(fields)``, which checks every name, shape
and value and refuses what no such part can have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .container import Tensors


def fields_of(part: Any) -> Tensors:
    """Return the fields of a part."""
    if hasattr(part, "state"):
        return dict(part.state())
    snapshot = part.snapshot()
    if not isinstance(snapshot, dict):
        return {"all": snapshot}
    flat: Tensors = {}
    for name, value in snapshot.items():
        if isinstance(value, dict):
            flat |= {f"{name}/{inner}": np.asarray(v) for inner, v in value.items()}
        else:
            flat[name] = np.asarray(value)
    return flat


def restore_fields(part: Any, fields: Tensors) -> None:
    """Let a part go on from its fields."""
    if hasattr(part, "state"):
        part.restore(fields)
        return
    expected = fields_of(part)
    for name, value in expected.items():
        if name not in fields or (fields[name].shape != value.shape and name != "errors"):
            raise ValueError(f"{name} does not fit")
        if not np.isfinite(fields[name]).all() or fields[name].dtype != np.float64:
            raise ValueError(f"{name} is not finite")
    if set(fields) != set(expected):
        raise ValueError("fields that no such part has")
    if set(expected) == {"all"}:
        part.restore(fields["all"])
        return
    nested: dict[str, Any] = {}
    for name, value in fields.items():
        outer, _, inner = name.rpartition("/")
        into = nested.setdefault(outer, {}) if outer else nested
        into[inner] = value if value.ndim else float(value)
    part.restore(nested)
