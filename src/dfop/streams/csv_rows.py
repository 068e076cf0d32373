r"""Where the rows of a CSV file are: line ends, quotes, byte positions.

A quote opens a cell only at its very beginning, ``""`` inside is a quote, and nothing but a
separator or a line end may follow the closing one. Lines end with LF, CRLF or CR, and empty ones
are no rows. Where quotes break these rules, the line is a bad row and the next one begins anew, so
that one stray quote does not swallow the file.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from dfop.streams.cells import MAX_CELL, TOO_LONG

QUOTE = 34
BROKEN_QUOTE = "broken quote"
_PROBLEMS = {
    0: (
        BROKEN_QUOTE,
        "text follows a closing quote; double the quotes inside a cell and close the others",
    ),
    -1: (
        BROKEN_QUOTE,
        "a quote is never closed; double the quotes inside a cell and close the others",
    ),
    -2: (TOO_LONG, f"a quoted cell has more than {MAX_CELL} bytes, or its quote is never closed"),
}
_LINE_END = re.compile(rb"\r\n|\n|\r")


class CsvRow(NamedTuple):
    """A row as it stands in the file, or what is wrong with it."""

    start: int
    end: int
    line: int
    """Lines before it, in the bytes that were given."""
    cells: list[bytes]
    problem: tuple[str, str] | None = None
    """Kind and message."""


def split_clean(data: bytes, separator: bytes, at_end: bool) -> int | None:
    r"""Return how many bytes are whole rows, or None where quotes need a closer look.

    Examples
    --------
    >>> split_clean(b'1,"a,b"\n2,c\n3', b",", at_end=False)
    12
    >>> split_clean(b'1,"a"b\n', b",", at_end=True) is None
    True
    """
    quotes = np.empty(0, dtype=np.intp)
    if b'"' in data:
        found = _well_placed(data, separator)
        if found is None or (at_end and len(found) % 2):
            return None
        quotes = found
    if at_end:
        return len(data)
    end = len(data)
    while True:
        # a CR at the very end may be half of a CRLF
        last = data.rfind(b"\n", 0, end)
        if b"\r" in data:
            last = max(last, data.rfind(b"\r", 0, min(end, len(data) - 1)))
        before = int(np.searchsorted(quotes, last))
        if last < 0 or before % 2 == 0:
            return last + 1
        end = int(quotes[before - 1])


def _well_placed(data: bytes, separator: bytes) -> np.ndarray[tuple[int], np.dtype[np.intp]] | None:
    """Return where the quotes are, if they open and close by turns as they should."""
    octets = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(octets == QUOTE)
    borders = (separator[0], 10, 13)
    opening, closing = quotes[::2], quotes[1::2]
    # what is before an opening quote: the beginning, a border, or the quote that it doubles
    before = octets[np.maximum(opening - 1, 0)]
    good = (opening == 0) | np.isin(before, borders)
    good[1:] |= opening[1:] == closing[: len(opening) - 1] + 1
    if not good.all():
        return None
    after = octets[np.minimum(closing + 1, len(octets) - 1)]
    good = (closing == len(octets) - 1) | np.isin(after, borders)
    follows = opening[1:]
    good[: len(follows)] |= closing[: len(follows)] + 1 == follows
    return quotes if good.all() else None


def count_lines(data: bytes) -> int:
    r"""Count line ends: LF, CRLF or CR.

    Examples
    --------
    >>> count_lines(b"a\r\nb\rc\n")
    3
    """
    if b"\r" not in data:
        return data.count(b"\n")
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def csv_rows(data: bytes, separator: bytes, at_end: bool) -> tuple[list[CsvRow], int]:
    r"""Take rows one by one; return them, and how many bytes they are.

    Examples
    --------
    >>> rows, size = csv_rows(b'a,"b\nc"\n\nd,e', b",", at_end=True)
    >>> [row.cells for row in rows]
    [[b'a', b'b\nc'], [b'd', b'e']]
    """
    breaks = _breaks(separator)
    rows: list[CsvRow] = []
    start = line = 0
    while start < len(data):
        row = _row(data, start, line, separator, breaks, at_end)
        if row is None:
            break
        # the line end after the row; a CR at the very end may be half of a CRLF
        found = _LINE_END.match(data, row.end)
        half = found is not None and found[0] == b"\r" and found.end() == len(data)
        if (found is None or half) and not at_end:
            break
        if row.end > row.start:
            rows.append(row)
        line += count_lines(data[row.start : row.end]) + 1
        start = row.end if found is None else found.end()
    return rows, start


def first_row(data: bytes, separator: bytes) -> tuple[CsvRow | None, int]:
    r"""Take the first row that is not empty; return it, and where the next one begins.

    Examples
    --------
    >>> first_row(b"\r\na,b\r\n1,2\r\n", b",")[1]
    7
    """
    start = 0
    while found := _LINE_END.match(data, start):
        start = found.end()
    if start == len(data):
        return None, start
    row = _row(data, start, count_lines(data[:start]), separator, _breaks(separator), True)
    assert row is not None
    found = _LINE_END.match(data, row.end)
    return row, row.end if found is None else found.end()


def _breaks(separator: bytes) -> re.Pattern[bytes]:
    return re.compile(b"[" + re.escape(separator) + rb"\r\n]")


def _row(
    data: bytes, start: int, line: int, separator: bytes, breaks: re.Pattern[bytes], at_end: bool
) -> CsvRow | None:
    """Take the row that begins at `start`; None where it may go on beyond the data."""
    found = _LINE_END.search(data, start)
    end = len(data) if found is None else found.start()
    if QUOTE not in data[start:end]:
        return CsvRow(start, end, line, data[start:end].split(separator))
    cells: list[bytes] = []
    at = start
    while True:
        if data[at : at + 1] == b'"':
            closing = _closing_quote(data, at, at_end)
            if closing is None:
                return None
            after = data[closing + 1 : closing + 2]
            if closing < 0 or (after and after not in (separator, b"\n", b"\r")):
                return CsvRow(start, end, line, [], _PROBLEMS[min(closing, 0)])
            cells.append(data[at + 1 : closing].replace(b'""', b'"'))
            at = closing + 1
        else:
            stop = breaks.search(data, at)
            cells.append(data[at : stop.start() if stop else len(data)])
            at = stop.start() if stop else len(data)
        if data[at : at + 1] != separator:
            return CsvRow(start, at, line, cells)
        at += 1


def _closing_quote(data: bytes, opening: int, at_end: bool) -> int | None:
    """Return where a cell's quote is closed; None if more data must tell.

    It is -1 where the quote is never closed, -2 where not within the length of a cell.
    """
    at = opening + 1
    limit = opening + MAX_CELL + 2
    while True:
        at = data.find(b'"', at, limit)
        if at < 0:
            return -2 if len(data) >= limit else -1 if at_end else None
        if at + 1 == len(data) and not at_end:
            return None
        if data[at + 1 : at + 2] != b'"':
            return at
        at += 2
