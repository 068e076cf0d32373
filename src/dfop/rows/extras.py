"""Packages that only an extra brings."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, *, extra: str, purpose: str | None = None) -> Any:
    """Import a module of an extra, or say how to install it.

    Parameters
    ----------
    module : str
        Its name, such as "pyarrow.csv".
    extra : str
        The extra of dfop that brings it.
    purpose : str, optional
        What it is needed for.

    Returns
    -------
    module

    Examples
    --------
    >>> need("no_such_package", extra="data", purpose="reading CSV")
    Traceback (most recent call last):
    ...
    ImportError: reading CSV needs no_such_package: pip install 'dfop[data]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if not f"{module}.".startswith(f"{error.name}."):
            raise  # it is installed, and broken for a reason of its own
        what = f"{purpose} needs {package}" if purpose else f"{package} is not installed"
        raise ImportError(f"{what}: pip install 'dfop[{extra}]'") from None
