"""One-pass learning from data streams whose distribution changes.

Learners: `DFOPClassifier`, `DFOPRegressor`; how they forget: `period`, `half_life`; files: `save`,
`load`. Streams: `dfop.streams`. Honest scores: `evaluate`, `holdout`, `compare`. The methods of the
paper: `dfop.baselines`. For River: `dfop.river`.
"""

import sys as _sys
from importlib.metadata import version as _version

from . import baselines, streams
from .classifier import DFOPClassifier
from .evaluation import compare, evaluate, holdout
from .forgetting import half_life, period
from .insight import drift as _drift
from .insight import experts as _experts
from .insight import uncertainty as _uncertainty
from .regressor import DFOPRegressor

__all__ = [
    "DFOPClassifier",
    "DFOPRegressor",
    "baselines",
    "compare",
    "evaluate",
    "half_life",
    "holdout",
    "period",
    "streams",
]
__version__ = _version("dfop")

# Modules under the names that they had before.
_sys.modules.update(
    {"dfop.automatic": _experts, "dfop.drift": _drift, "dfop.uncertainty": _uncertainty}
)
