"""Readers of what earlier versions wrote: they turn it into the parts of format 3."""

from typing import Any


def rebuild(document: dict[str, Any], tensors: Any) -> Any:
    raise ValueError("not yet")
