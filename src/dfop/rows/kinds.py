"""A column keeps to one kind: numbers, or text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core import Coder
from .batch import Batch
from .checks import where_in


def check_kinds(coder: Coder, batch: Batch, columns: Sequence[int]) -> None:
    """Refuse text in columns that held numbers before, and the reverse."""
    kinds = coder.kinds()
    for j, column in enumerate(columns):
        kind = kinds[column] if column < len(kinds) else None
        if j in batch.texts:
            if kind == "number":
                codes, values = batch.texts[j]
                row = int(np.argmax(codes >= 0))
                raise ValueError(
                    f"X has {values[codes[row]]!r} at {where_in((row, j), batch.names)}, a column "
                    "that held numbers before: keep a column to one kind, text or numbers"
                )
        elif kind == "text":
            numbers = batch.numbers[:, j]
            missing = np.isnan(numbers)
            if not missing.all():
                row = int(np.argmin(missing))
                raise ValueError(
                    f"X has {numbers[row]:g} at {where_in((row, j), batch.names)}, a column that "
                    "held text before: give it as text, or as a categorical type if its numbers "
                    "are names"
                )
