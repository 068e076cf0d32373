"""Honest evaluation on streams.

`evaluate` reads a stream once and predicts every row before its label is learned; `holdout`
asks about fresh rows; `compare` does trials of many models on many streams, with statistics;
`check_honest` finds models that look before they predict.
"""

from .comparison import Comparison
from .fresh import Holdout, holdout
from .honesty import check_honest
from .prequential import evaluate
from .result import Result
from .sources import Stream
from .trials import compare

__all__ = [
    "Comparison",
    "Holdout",
    "Result",
    "Stream",
    "check_honest",
    "compare",
    "evaluate",
    "holdout",
]
