"""One-pass learning from data streams whose distribution changes.

Learners: `DFOPClassifier`, `DFOPRegressor`; how they forget: `period`, `half_life`; your
own models among their experts: `Retrained` and others; files: `save`,
`load`; bytes: `to_bytes`, `from_bytes`. At scale: `Information` (one stream in parts), `Keyed` (a
model per key). Streams: `dfop.streams`. Honest scores: `evaluate`,
`holdout`, `compare`. The methods of the paper: `dfop.baselines`. For River: `dfop.river`.

Each is loaded when it is first asked for.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
from types import ModuleType as _ModuleType

TYPE_CHECKING = False  # the module typing need not be loaded
if TYPE_CHECKING:
    from typing import Any

    from . import baselines, streams
    from .classifier import DFOPClassifier
    from .engines.retrained import Retrained
    from .evaluation import compare, evaluate, holdout
    from .files import ModelFileError, from_bytes, load, save, to_bytes
    from .forgetting import half_life, period
    from .regressor import DFOPRegressor
    from .scale import Information, Keyed, LimitError

__all__ = [
    "DFOPClassifier",
    "DFOPRegressor",
    "Information",
    "Keyed",
    "LimitError",
    "ModelFileError",
    "Retrained",
    "baselines",
    "compare",
    "evaluate",
    "from_bytes",
    "half_life",
    "holdout",
    "load",
    "period",
    "save",
    "streams",
    "to_bytes",
]

_HOMES = {
    "classifier": ("DFOPClassifier",),
    "engines.retrained": ("Retrained",),
    "evaluation": ("compare", "evaluate", "holdout"),
    "files": ("ModelFileError", "from_bytes", "load", "save", "to_bytes"),
    "forgetting": ("half_life", "period"),
    "regressor": ("DFOPRegressor",),
    "scale": ("Information", "Keyed", "LimitError"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = (
    *("baselines", "classifier", "core", "engines", "evaluation", "files", "forgetting"),
    *("insight", "model", "regressor", "rows", "scale", "streams"),
)
# Modules under the names that they had before.
_RENAMED = {
    "automatic": "insight.experts",
    "drift": "insight.drift",
    "persistence": "files",
    "uncertainty": "insight.uncertainty",
}


class _Renamed(_ModuleType):
    """A module by its former name."""

    def __getattr__(self, name: str) -> Any:
        now = _RENAMED[self.__name__.removeprefix("dfop.")]
        return getattr(_importlib.import_module(f"dfop.{now}"), name)


_sys.modules.update({f"dfop.{name}": _Renamed(f"dfop.{name}") for name in _RENAMED})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("dfop")
    elif name in _HOME_OF:
        found = getattr(_importlib.import_module(f"dfop.{_HOME_OF[name]}"), name)
    elif name in _ROOMS or name in _RENAMED:
        found = _importlib.import_module(f"dfop.{name}")
    else:
        raise AttributeError(f"module 'dfop' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS, "__version__"})
