"""Rows: the only place that knows cells.

`Batch` is what a row is from here on: numbers, text as codes and values, gaps, names, time.
`as_batch` makes one of arrays, data frames, Arrow tables and dicts.
"""

from .batch import Batch, Text
from .tables import as_batch

__all__ = ["Batch", "Text", "as_batch"]
