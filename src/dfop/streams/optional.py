"""Packages that only the extra `data` brings."""

from __future__ import annotations

import importlib
from typing import Any


def optional(module: str, purpose: str) -> Any:
    """Import a module of the extra `data`, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(f"{purpose} needs {package}: pip install 'dfop[data]'") from None
