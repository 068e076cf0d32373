"""Beyond one process and one model: partitions of a stream merged, and many models by key."""

from .information import Information, LimitError
from .keyed import Keyed

__all__ = ["Information", "Keyed", "LimitError"]
