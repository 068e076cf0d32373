"""What goes wrong with data, said so that a person can mend it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from typing import Any


def warn(message: str) -> None:
    """Warn at the line outside this library: how far away it is depends on what is read."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("dfop."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


class DataError(ValueError):
    """Bad data: what is wrong, in which file, row and column, and what to do about it.

    Parameters
    ----------
    problem : str
        What is wrong, without a full stop.
    source : str, optional
        The file, or the name of the data.
    row : int, optional
        The data row, counted from 1; a header is not counted.
    column : str, optional
        The column's name.
    remedy : str, optional
        What to do, without a full stop.
    line : int, optional
        The line of the file on which the row begins, counted from 1.
    byte : int, optional
        The position of the row's first byte in the (uncompressed) file, counted from 0.
    kind : str, optional
        The kind of a bad row, as `dfop.streams.read` counts them.
    text : str, optional
        The bad row as it stands in the file.

    Examples
    --------
    >>> raise DataError("'abc' is not a number", source="a.csv", row=3, column="price")
    Traceback (most recent call last):
    ...
    dfop.streams.errors.DataError: a.csv, row 3, column 'price': 'abc' is not a number.
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str | None = None,
        row: int | None = None,
        column: str | None = None,
        remedy: str | None = None,
        line: int | None = None,
        byte: int | None = None,
        kind: str | None = None,
        text: str | None = None,
    ) -> None:
        self.problem = problem
        self.source = source
        self.row = row
        self.column = column
        self.remedy = remedy
        self.line, self.byte, self.kind, self.text = line, byte, kind, text
        parts = [source] if source else []
        if row is not None:
            where = f" (line {line}, byte {byte})" if line is not None else ""
            parts.append(f"row {row}{where}")
        if column is not None:
            parts.append(f"column {column!r}")
        place = ", ".join(parts)
        message = f"{place}: {problem}." if place else f"{problem}."
        super().__init__(f"{message} {remedy}." if remedy else message)


class UnknownColumnError(DataError):
    """A column was named that is not there; `column` is its name, `columns` are those there are.

    Examples
    --------
    >>> error = UnknownColumnError("no such column", column="prize", columns=("price",))
    >>> error.columns
    ('price',)
    """

    def __init__(self, problem: str, *, columns: Sequence[str], **where: Any) -> None:
        super().__init__(problem, **where)
        self.columns = tuple(columns)


class BadRowsError(DataError):
    """A bad row where none is allowed, or more of them than are.

    Examples
    --------
    >>> issubclass(BadRowsError, DataError)
    True
    """


class DownloadError(OSError):
    """A public file could not be fetched; the message says where to put which file by hand.

    Examples
    --------
    >>> issubclass(DownloadError, OSError)
    True
    """
