"""Optional packages, imported when they are first needed."""

import importlib
from typing import Any


def need(module: str, extra: str) -> Any:
    """Import an optional module, or say how to install it.

    Parameters
    ----------
    module : str
        Name of the module, dots included.
    extra : str
        The extra of ``dfop`` that brings it.

    Returns
    -------
    module
        The imported module. It is typed as Any: whoever type-checks need not have it installed.

    Examples
    --------
    >>> need("math", extra="plot").sqrt(4.0)
    2.0
    >>> need("no_such_package", extra="plot")
    Traceback (most recent call last):
    ImportError: this needs the package 'no_such_package': pip install 'dfop[plot]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise  # it is installed, and broken for a reason of its own
        raise ImportError(f"this needs the package {package!r}: pip install 'dfop[{extra}]'") from (
            error
        )
