"""What goes wrong with data, said so that a person can mend it."""

from __future__ import annotations


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
    ) -> None:
        self.problem = problem
        self.source = source
        self.row = row
        self.column = column
        self.remedy = remedy
        parts = [source] if source else []
        if row is not None:
            parts.append(f"row {row}")
        if column is not None:
            parts.append(f"column {column!r}")
        place = ", ".join(parts)
        message = f"{place}: {problem}." if place else f"{problem}."
        super().__init__(f"{message} {remedy}." if remedy else message)


class DownloadError(OSError):
    """A public file could not be fetched; the message says where to put which file by hand.

    Examples
    --------
    >>> issubclass(DownloadError, OSError)
    True
    """
