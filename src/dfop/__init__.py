"""One-pass learning from data streams whose distribution changes.

Learners: `DFOPClassifier`, `DFOPRegressor`; how they forget: `period`, `half_life`; files: `save`,
`load`; bytes: `to_bytes`, `from_bytes`. At scale: `Information` (one stream in parts), `Keyed` (a
model per key). Streams: `dfop.streams`. Honest scores: `evaluate`,
`holdout`, `compare`. The methods of the paper: `dfop.baselines`. For River: `dfop.river`.
"""

import sys as _sys
from importlib.metadata import version as _version

from . import baselines, files, streams
from .classifier import DFOPClassifier
from .evaluation import compare, evaluate, holdout
from .files import ModelFileError, from_bytes, load, save, to_bytes
from .forgetting import half_life, period
from .insight import drift, experts, uncertainty
from .regressor import DFOPRegressor
from .scale import Information, Keyed, LimitError

__all__ = [
    "DFOPClassifier",
    "DFOPRegressor",
    "Information",
    "Keyed",
    "LimitError",
    "ModelFileError",
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
__version__ = _version("dfop")

# Modules under the names that they had before.
automatic, persistence = experts, files
_sys.modules.update(
    {
        "dfop.automatic": experts,
        "dfop.drift": drift,
        "dfop.persistence": files,
        "dfop.uncertainty": uncertainty,
    }
)
