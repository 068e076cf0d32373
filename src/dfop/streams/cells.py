"""Cells of files and rows, one by one: for what the parser alone cannot take or refuse.

Here a cell becomes a number, a text, a label or a time, or a `Flaw` says what is wrong with it.
`typed` tells sources that know numbers from text (JSON, frames, dicts) from those where all is
text (CSV, ARFF): only in the latter is "1.5" a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from dfop.rows.arrow import LARGEST
from dfop.rows.cells import LABEL_GAP_WORDS, is_missing, shown, to_number

NOT_A_NUMBER = "not a number"
NOT_FINITE = "not finite"
NOT_TEXT = "not text"
MISSING_CELL = "missing cell"
MISSING_LABEL = "missing label"
UNKNOWN_CLASS = "unknown class"
BAD_TIME = "bad time"
TOO_LONG = "cell too long"
NOT_UTF8 = "not UTF-8"
NUL_BYTE = "NUL byte"

MAX_CELL = 2**20
"""Bytes of a cell of text beyond which it is more likely a quote that was never closed."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?"
)
# a sign of money or %, thousands in groups of three, a decimal comma, an accountant's minus:
# 1,234.50  $5  12%  3,75  (1.50)
_SIGNS = "$\u20ac\u00a3\u00a5\u20b9"
_DRESSED = re.compile(
    rf"[+-]?[{_SIGNS}]?\s*[+-]?(?:\d{{1,3}}(?:[,.'\u2019\u00a0\u202f]\d{{3}})+|\d+)(?:[.,]\d+)?\s*[{_SIGNS}%]?"
)
_OTHER_DATE = re.compile(
    r"(?:\d{1,2}([./-])\d{1,2}\1\d{4}|\d{1,2}/\d{1,2}/\d\d|\d{4}([./])\d{1,2}\2\d{1,2}"
    r"|\d{1,2}[. -]+[A-Za-z]{3,9}\.?[ -]+\d{4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4})"
    r"(?:[T ,].{0,30})?"
)
_EPOCH = datetime(1970, 1, 1)
MOST_SHOWN = 10
"""Of classes, in a message."""


class Flaw(NamedTuple):
    """What is wrong with a cell, or with a row as a whole."""

    column: str | None
    kind: str
    message: str


class FlawError(Exception):
    """Raised for a cell; `flaw` says what is wrong with it."""

    def __init__(self, column: str | None, kind: str, message: str) -> None:
        super().__init__(message)
        self.flaw = Flaw(column, kind, message)


def parse_number(text: str) -> float:
    """Read a number as files write it: ASCII, no underscores; else a ValueError.

    Examples
    --------
    >>> parse_number(" -1.5e3 ")
    -1500.0
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def reads_as_moment(text: str) -> bool:
    """Whether a text is a date or a time: 2024-05-01, 2024-05-01T12:00:00+02:00.

    Examples
    --------
    >>> reads_as_moment("2024-05-01"), reads_as_moment("12:00"), reads_as_moment("May 1")
    (True, False, False)
    """
    return _MOMENT.fullmatch(text.strip()) is not None


def reads_as_other_date(text: str) -> bool:
    """Whether a text is a date as people write it: 1.5.2024, 05/01/24, 1 May 2024.

    Examples
    --------
    >>> [reads_as_other_date(text) for text in ("01.05.2024 12:30", "05/01/24", "1.5", "v1.2.3")]
    [True, True, False, False]
    """
    return _OTHER_DATE.fullmatch(text.strip()) is not None


def reads_as_dressed_number(text: str) -> bool:
    """Whether a text is a number as people write it, but no plain one: 1,234.50, $5, 12%, 3,75.

    Examples
    --------
    >>> [reads_as_dressed_number(text) for text in ("1,234.50", "$5", "12%", "3,75", "(1.50)")]
    [True, True, True, True, True]
    >>> [reads_as_dressed_number(text) for text in ("1.5", "A5", "(a)")]
    [False, False, False]
    """
    bare = text.strip()
    bare = bare[1:-1] if bare[:1] == "(" and bare[-1:] == ")" else bare
    if _DRESSED.fullmatch(bare) is None:
        return False
    try:
        parse_number(text)
    except ValueError:
        return True
    return False


def number(cell: Any, column: str, *, typed: bool, given: bool = False) -> float:
    """Return the number of a cell, NaN where it is missing; `given` as in `text`."""
    if is_missing(cell):
        return float("nan")
    try:
        if isinstance(cell, str):
            if typed:
                raise ValueError
            value = parse_number(cell)
        else:
            value = to_number(cell)
    except (TypeError, ValueError):
        remedy = f", pass kinds={{{column!r}: 'text'}}, or leave the column out with features=[...]"
        as_text = ", but a number given as text" if typed and _is_number_text(cell) else ""
        message = f"{shown(cell)} is not a number{as_text}; mend it{'' if given else remedy}"
        raise FlawError(column, NOT_A_NUMBER, message) from None
    if abs(value) > LARGEST:
        message = f"{shown(cell)} is not finite or too large; keep numbers below 2**500 (3e150)"
        raise FlawError(column, NOT_FINITE, message)
    return value


def _is_number_text(cell: Any) -> bool:
    try:
        return isinstance(cell, str) and parse_number(cell) is not None
    except ValueError:
        return False


def text(cell: Any, column: str, *, given: bool = False) -> str | None:
    """Return the text of a cell, None where it is missing.

    Numbers are taken where the column is `given` as one of text: 8001.0 is "8001".
    """
    if is_missing(cell):
        return None
    if given and isinstance(cell, int | float | np.number):
        whole = whole_number(cell, typed=True)
        return str(cell if whole is None else whole)
    if not isinstance(cell, str):
        message = f"{shown(cell)} is not text, as other cells of the column are; mend it"
        remedy = "" if given else f", or pass kinds={{{column!r}: 'number'}} if others are numbers"
        raise FlawError(column, NOT_TEXT, f"{message}{remedy}")
    return checked_text(cell, column).strip()


def checked_text(cell: str, column: str | None) -> str:
    """Refuse text that is too long, or that no file can hold."""
    if len(cell) > MAX_CELL:
        message = f"{len(cell)} characters in one cell; more than {MAX_CELL} are not taken"
        raise FlawError(column, TOO_LONG, message)
    if not cell.isascii():
        try:
            cell.encode("utf-8")
        except UnicodeEncodeError:
            raise FlawError(column, NOT_UTF8, f"{shown(cell)} is not text in UTF-8") from None
    return cell


def label(
    cell: Any, column: str, *, whole: bool, known: Collection[Any] | None, typed: bool
) -> int | str:
    """Return a class label: a whole number if `whole`, else text."""
    if is_missing(cell) and (whole or not is_class_name(cell, known)):
        raise FlawError(column, MISSING_LABEL, "the label is missing; remove the row")
    if isinstance(cell, date | np.datetime64):
        raise FlawError(column, NOT_A_NUMBER, f"the label {shown(cell)} is a date, not a class")
    given: int | str | None
    if whole:
        given = whole_label(cell, typed=typed)
        if given is None:
            remedy = "pass classes=(...), or task='regression'"
            message = f"the label {shown(cell)} is not a whole number, as the others; {remedy}"
            raise FlawError(column, NOT_A_NUMBER, message)
    else:
        given = checked_text(cell if isinstance(cell, str) else str(cell), column).strip()
    if known is not None and given not in known:
        classes = ", ".join(shown(name) for name in list(known)[:MOST_SHOWN])
        more = f" and {len(known) - MOST_SHOWN} more" if len(known) > MOST_SHOWN else ""
        message = f"the label {shown(given)} is not among the classes {classes}{more}; mend it, or "
        message += "name all of them, classes=(...)"
        raise FlawError(column, UNKNOWN_CLASS, message)
    return given


def is_class_name(cell: Any, known: Collection[Any] | None) -> bool:
    """Whether a cell is text that names a class: "none" does, "NA" only if it is a known class.

    Examples
    --------
    >>> is_class_name("none", None), is_class_name("NA", None), is_class_name("NA", ("NA", "EU"))
    (True, False, True)
    """
    if not isinstance(cell, str):
        return False
    name = cell.strip()
    return name.lower() not in LABEL_GAP_WORDS or (known is not None and name in known)


def whole_label(cell: Any, *, typed: bool) -> int | None:
    """Return the whole number that a label is, or None; 7.0 is 7, also in a file.

    Examples
    --------
    >>> whole_label("7.0", typed=False), whole_label("7.5", typed=False)
    (7, None)
    """
    found = whole_number(cell, typed=typed)
    if found is not None or typed or not isinstance(cell, str):
        return found
    try:
        return whole_number(parse_number(cell), typed=True)
    except ValueError:
        return None


def whole_number(cell: Any, *, typed: bool) -> int | None:
    """Return the whole number that a cell is, or None.

    Examples
    --------
    >>> whole_number("7", typed=False), whole_number("7.0", typed=False)
    (7, None)
    >>> whole_number(7.0, typed=True), whole_number("7", typed=True)
    (7, None)
    """
    if isinstance(cell, str):
        cell = cell.strip()
        return int(cell) if not typed and _WHOLE.fullmatch(cell) else None
    try:
        value = int(cell)
        return value if value == cell and abs(value) < 2**63 else None
    except (TypeError, ValueError, OverflowError):
        return None


def target(cell: Any, column: str, *, typed: bool) -> float:
    """Return the number to predict."""
    try:
        value = number(cell, column, typed=typed)
    except FlawError as error:
        if error.flaw.kind != NOT_A_NUMBER:
            raise
        remedy = "mend it, or pass task='classification' if the labels are classes"
        message = f"the label {shown(cell)} is not a number; {remedy}"
        raise FlawError(column, NOT_A_NUMBER, message) from None
    if value != value:
        raise FlawError(column, MISSING_LABEL, "the label is missing; remove the row")
    return value


def moment(cell: Any, column: str, *, numeric: bool, zoned: bool) -> float | np.datetime64:
    """Return a time: a number if `numeric`, else datetime64[ns] in UTC.

    Times name their zone if `zoned`, else none of them does.
    """
    if is_missing(cell):
        raise FlawError(column, BAD_TIME, "the time is missing; remove the row")
    try:
        when = _seconds(cell) if numeric else _moment(cell)
    except (TypeError, ValueError, OverflowError):
        remedy = "write times as numbers or as 2024-05-01T12:00:00, between 1678 and 2262"
        like = " like the numbers before it" if numeric else ""
        message = f"{shown(cell)} is not a time{like}; {remedy}"
        raise FlawError(column, BAD_TIME, message) from None
    if not numeric and names_zone(cell) not in (None, zoned):
        which = ("has no zone", "have one") if zoned else ("has a zone", "have none")
        message = f"the time {shown(cell)} {which[0]}, and most others {which[1]}"
        remedy = "write all times with a zone, such as +02:00 or Z, or all without"
        raise FlawError(column, BAD_TIME, f"{message}; {remedy}")
    return when


def names_zone(cell: Any) -> bool | None:
    """Whether a date or a time names its zone; None of NumPy's, which cannot: they are in UTC.

    Examples
    --------
    >>> names_zone("2024-05-01T12:00:00+02:00"), names_zone(datetime(2024, 5, 1))
    (True, False)
    """
    if isinstance(cell, np.datetime64):
        return None
    if isinstance(cell, date):
        return getattr(cell, "tzinfo", None) is not None
    tail = str(cell).strip()[10:]
    return tail.endswith("Z") or "+" in tail or "-" in tail


def _seconds(cell: Any) -> float:
    value = parse_number(cell) if isinstance(cell, str) else to_number(cell)
    if not np.isfinite(value):
        raise ValueError
    return value


def _moment(cell: Any) -> np.datetime64:
    if isinstance(cell, np.datetime64):
        _nanoseconds(cell.astype("datetime64[us]").item(), 0)  # whether it is in range
        return np.datetime64(int(cell.astype("datetime64[ns]").astype(np.int64)), "ns")
    if hasattr(cell, "to_datetime64"):  # pandas
        return np.datetime64(cell.to_datetime64(), "ns")
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if isinstance(cell, datetime):
        return _nanoseconds(cell, 0)
    match = _MOMENT.fullmatch(cell.strip())
    if match is None:
        return _nanoseconds(datetime.fromisoformat(cell.strip()), 0)
    day, clock, fraction, zone = match.groups()
    if zone and zone != "Z" and len(zone) == 3:
        zone += ":00"
    when = datetime.fromisoformat(f"{day}T{clock or '00:00'}{zone or ''}")
    return _nanoseconds(when, int((fraction or "0").ljust(9, "0")))


def _nanoseconds(when: datetime, fraction: int) -> np.datetime64:
    if when.tzinfo is not None:
        when = when.astimezone(UTC).replace(tzinfo=None)
    since = (when - _EPOCH) // timedelta(microseconds=1) * 1000 + fraction
    if abs(since) >= 2**63:
        raise OverflowError
    return np.datetime64(since, "ns")
