"""One-pass learning from data streams whose distribution changes.

Learners: `DFOPClassifier`, `DFOPRegressor`; how they forget: `period`, `half_life`; files: `save`,
`load`. Streams: `dfop.streams`. Honest scores: `evaluate`, `holdout`, `compare`. The methods of the
paper: `dfop.baselines`. For River: `dfop.river`.
"""

from importlib.metadata import version as _version

from . import baselines, streams
from .classifier import DFOPClassifier
from .evaluation import compare, evaluate, holdout
from .forgetting import half_life, period
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
