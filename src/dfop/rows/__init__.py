"""Rows: the only place that knows cells.

`Batch` is what a row is from here on: numbers, text as codes and values, gaps, names, time.
`as_batch` makes one of arrays, data frames, Arrow tables and dicts. `SparseBatch` holds rows by
their non-zeros; `hashed` makes sparse rows of text.
"""

from .batch import Batch, Text
from .hashed import hashed
from .sparse import SparseBatch
from .tables import as_batch

__all__ = ["Batch", "SparseBatch", "Text", "as_batch", "hashed"]
