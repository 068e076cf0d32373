"""What the cells of a column are: how many numbers, texts, dates, and which labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date, time, timedelta
from typing import Any, NamedTuple

import numpy as np

from dfop.rows.cells import is_missing
from dfop.streams.cells import (
    names_zone,
    parse_number,
    reads_as_dressed_number,
    reads_as_moment,
    reads_as_other_date,
    whole_label,
    whole_number,
)

MOST = 0.9
"""Share of the cells that decides what a column is."""
# More distinct whole numbers than this are as likely counts as classes ...
MANY_LABELS = 50
# ... and more than this are no classes. More texts than this are hardly classes, either.
TOO_MANY_LABELS = 1000


PADDED = re.compile(r"\s*0[0-9]+\s*$")


class Tally(NamedTuple):
    """How many cells of a column are of which kind; missing ones are not counted."""

    present: int
    numbers: int = 0
    number_texts: int = 0
    """Texts of a typed source that read as numbers."""
    dressed: int = 0
    """Texts such as $1,234.50, which people read as numbers."""
    moments: int = 0
    zoned: int = 0
    dates: int = 0
    """Dates that are written in other ways than 2024-05-01."""
    others: int = 0
    """Lists, bytes and the like."""
    whole: int = 0
    distinct_whole: int = 0
    whole_floats: int = 0
    """Whole numbers written as 1.0."""
    distinct: int = 0
    padded: int = 0
    """Whole numbers that are written with zeros before them, as codes are: 00123."""
    nones: int = 0
    """Texts "none", which are counted as missing, but may name a class."""
    labels: tuple[Any, ...] = ()
    """What differs among the cells, as labels: whole numbers or texts."""
    names: tuple[str, ...] = ()
    """The same as texts, as they stand: "7.0" where the label is 7."""
    example: Any = None
    magnitude: float = 0.0
    """The median of the absolute values of the first different numbers."""

    def most(self, count: int) -> bool:
        """Whether a kind is the large majority."""
        return count >= MOST * self.present


def tally(cells: Iterable[Any], *, typed: bool) -> Tally:
    """Count the cells of a column by kind; equal cells are looked at once.

    Examples
    --------
    >>> tally(["1", "2", "2.5", "x", ""], typed=False)[:2]
    (4, 3)
    """
    counts: Iterable[tuple[tuple[Any, Any], int]]
    cells = list(cells)
    try:
        counts = Counter((type(cell), cell) for cell in cells).items()
    except TypeError:  # lists and dicts have no hash
        counts = [((type(cell), cell), 1) for cell in cells]
    found: Counter[str] = Counter()
    example = None
    labels: dict[Any, str] = {}
    sizes: list[float] = []
    for (_, cell), times in counts:
        if is_missing(cell):
            found["nones"] += times * (isinstance(cell, str) and cell.strip().lower() == "none")
            continue
        found["distinct"] += 1
        found["present"] += times
        if len(labels) <= TOO_MANY_LABELS:
            whole = whole_label(cell, typed=typed)
            name = str(cell).strip()
            labels[name if whole is None and isinstance(cell, str) else whole] = name
        what = _what(cell, typed)
        found[what] += times
        if what == "numbers":
            value = float(cell)
            found["padded"] += times * (isinstance(cell, str) and PADDED.match(cell) is not None)
            if len(sizes) < MANY_LABELS:
                sizes.append(abs(value))
            # most numbers have fractions, which is seen at once
            if value.is_integer() and not isinstance(cell, float) and _is_whole(cell, typed):
                found["whole"] += times
                found["distinct_whole"] += 1
            elif value.is_integer() and whole_label(cell, typed=typed) is not None:
                found["whole_floats"] += times
        if what == "moments" and names_zone(cell):
            found["zoned"] += times
        if example is None and what != "numbers":
            example = cell
    names = tuple(labels.values())
    labels.pop(None, None)
    counted = {name: found[name] for name in Tally._fields[: Tally._fields.index("labels")]}
    size = sorted(sizes)[len(sizes) // 2] if sizes else 0.0
    return Tally(**counted, labels=tuple(labels), names=names, example=example, magnitude=size)


def _what(cell: Any, typed: bool) -> str:
    if isinstance(cell, str):
        try:
            parse_number(cell)
        except ValueError:
            if reads_as_moment(cell):
                return "moments"
            if reads_as_other_date(cell):
                return "dates"
            return "dressed" if reads_as_dressed_number(cell) else "texts"
        return "number_texts" if typed else "numbers"
    if isinstance(cell, date | np.datetime64):
        return "moments"
    if isinstance(cell, bytes | time | timedelta | np.timedelta64) or not hasattr(
        cell, "__float__"
    ):
        return "others"
    return "numbers"


def _is_whole(cell: Any, typed: bool) -> bool:
    return whole_number(cell, typed=typed) is not None
