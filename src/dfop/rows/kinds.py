"""A column keeps to one kind: numbers, or text."""

from __future__ import annotations

from typing import NoReturn

from dfop.core import KindError

from .batch import Batch
from .cells import shown
from .checks import where_in


def refuse_kind(batch: Batch, error: KindError) -> NoReturn:
    """Say in words which cell leaves the kind that its column had before."""
    row, column, kind = error.args
    where = where_in((row, column), batch.names)
    if kind == "text":
        codes, values = batch.texts[column]
        raise ValueError(
            f"X has {shown(values[codes[row]])} at {where}, a column that held numbers before: "
            "keep a column to one kind, text or numbers"
        ) from None
    raise ValueError(
        f"X has {batch.numbers[row, column]:g} at {where}, a column that held text before: give it "
        "as text, or as a categorical type if its numbers are names"
    ) from None
