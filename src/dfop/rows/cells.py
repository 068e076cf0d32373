"""The one rule for what a cell is: missing, a number, or text.

Missing are None, NaN, pandas' NA and NaT, and texts that say so (`GAP_WORDS`). A number is whatever
`float` takes that is no text; it must be finite and below 2**500 in magnitude. Text is taken
without surrounding blanks. Text that reads as a number is refused, since more often than not it is
a number that lost its type on the way; in a column that is declared text it is what it says it is.
What has underscores, as 2024_01, is a name, though Python would read a number. All else (dates,
lists, bytes) is neither.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

GAP_WORDS = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "<na>"})
"""Texts that mean a missing value, in lower case."""
LABEL_GAP_WORDS = GAP_WORDS - {"none"}
"""Texts that mean a missing label: "none" is the name of a class more often than not."""

_MOST_SHOWN = 60


def is_gap_word(text: str) -> bool:
    """Whether a text means a missing value.

    Examples
    --------
    >>> is_gap_word(" NA "), is_gap_word("Nancy")
    (True, False)
    """
    return len(text) < 16 and text.strip().lower() in GAP_WORDS


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT, pandas' NA, or a text that says so."""
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, str):
        return is_gap_word(value)
    try:
        return bool(value != value)  # NaN is the one value unlike itself
    except ArithmeticError:  # decimal's signalling NaN does not even compare
        return True
    except (TypeError, ValueError):  # NA does not say whether it is
        return type(value).__name__ == "NAType"


def reads_as_number(text: str) -> bool:
    """Whether text would pass for a number: "12", " 1e5"; Python's own "2024_01" would not.

    Examples
    --------
    >>> [reads_as_number(text) for text in ("1e5", "A1", "2024_01")]
    [True, False, False]
    """
    if "_" in text:
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_text(value: Any) -> str:
    """Return the text of a name: whole numbers without a point, whatever type they come in.

    Examples
    --------
    >>> to_text(3.0), to_text(3), to_text(" b ")
    ('3', '3', 'b')
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def to_number(value: Any) -> float:
    """Return the number a value is, infinity where it is too large; others are a TypeError."""
    if isinstance(value, str | bytes | np.datetime64 | np.timedelta64):
        raise TypeError(f"a {type(value).__name__} is no number")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def shown(cell: Any) -> str:
    """Return a cell as messages show it, cut short.

    Examples
    --------
    >>> shown("red"), len(shown("x" * 10**6))
    ("'red'", 60)
    """
    if isinstance(cell, str | bytes):
        cell = cell[: _MOST_SHOWN + 1]
    if isinstance(cell, np.str_ | np.number | np.bool_):
        cell = cell.item()
    full = str(cell) if isinstance(cell, date) else repr(cell)
    return full if len(full) <= _MOST_SHOWN else full[: _MOST_SHOWN - 3] + "..."
