"""One-pass learning from data streams whose distribution changes.

>>> from dfop import DFOPClassifier, DFOPRegressor, half_life, load, period, save
"""

from importlib.metadata import version as _version

from .estimators import DFOPClassifier, DFOPRegressor
from .forgetting import half_life, period
from .persistence import ModelFileError, load, save

__all__ = [
    "DFOPClassifier",
    "DFOPRegressor",
    "ModelFileError",
    "half_life",
    "load",
    "period",
    "save",
]
__version__ = _version("dfop")
