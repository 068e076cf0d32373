"""Honest evaluation on streams: one pass, holdout, comparison and its statistics."""

from .prequential import evaluate
from .result import Result

__all__ = ["Result", "evaluate"]
