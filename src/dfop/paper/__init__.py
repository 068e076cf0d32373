"""The paper's tables and figures, from our own run, beside the printed numbers.

Each of `TARGETS` takes a `Run` and writes CSV, Markdown and pictures into its folder; the command
``dfop paper`` calls them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .automatic import automatic
from .classification import classification
from .datasets import datasets
from .evidence import evidence
from .forgetting import forgetting
from .holdout import holdout
from .regression import regression
from .robustness import robustness
from .run import Run, unconverged_is_known
from .sensitivity import sensitivity
from .theorem import theorem
from .tracking import tracking

TARGETS: Mapping[str, Callable[[Run], None]] = MappingProxyType(
    {
        "datasets": datasets,
        "tracking": tracking,
        "sensitivity": sensitivity,
        "regression": regression,
        "forgetting": forgetting,
        "holdout": holdout,
        "theorem": theorem,
        "automatic": automatic,
        "evidence": evidence,
        "classification": classification,
        "robustness": robustness,
    }
)
"""The short ones first."""

__all__ = ["TARGETS", "Run", "unconverged_is_known"]
