"""Whatever the user has as a table: column names, and rows in pieces."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from dfop.streams.errors import DataError
from dfop.streams.formats import OPENERS, SUFFIXES
from dfop.streams.optional import optional
from dfop.streams.rows import PIECE, Piece, open_rows


@dataclass(frozen=True)
class Table:
    """Column names, and a function that reads the rows from the first one on.

    If the table is not reusable, the function works once.
    """

    source: str
    names: tuple[str, ...]
    pieces: Callable[[], Iterator[Piece]]
    reusable: bool
    length: int | None = None


def open_table(source: Any, kind: str | None) -> Table:
    """Make a table of a path, an open file, a frame or an iterable."""
    if kind is not None and kind not in OPENERS:
        raise ValueError(f"no format {kind!r}: use one of {', '.join(OPENERS)}")
    if isinstance(source, str | Path):
        return _file(Path(source), kind)
    if hasattr(source, "read"):
        return _pipe(source, kind)
    if hasattr(source, "__arrow_c_stream__"):
        return _frame(source)
    if isinstance(source, Iterable):
        names, pieces = open_rows(source, "rows")
        return Table("rows", tuple(names), pieces, reusable=iter(source) is not source)
    raise TypeError(
        f"cannot read a {type(source).__name__}: give a path, an open file, a DataFrame, an Arrow "
        "table, or an iterable of dicts or rows"
    )


def _file(path: Path, kind: str | None) -> Table:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    *_, last = ["", *(suffix.lower() for suffix in path.suffixes)]
    packed = last == ".gz"
    if packed:
        last = path.with_suffix("").suffix.lower()
    kind = kind or SUFFIXES.get(last)
    if kind is None:
        raise ValueError(
            f"{path}: cannot tell the format from the name; pass format=, one of "
            f"{', '.join(OPENERS)}"
        )
    opener = OPENERS[kind]

    def open_file() -> IO[bytes]:
        return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]

    def pieces() -> Iterator[Piece]:
        with open_file() as file, _readable(str(path)):
            yield from opener(file, str(path))[1]

    with open_file() as file, _readable(str(path)):
        names = _unique(opener(file, str(path))[0], str(path))
    return Table(str(path), names, pieces, reusable=True)


def _pipe(file: Any, kind: str | None) -> Table:
    source = str(getattr(file, "name", "pipe"))
    if kind is None:
        raise ValueError(f"an open file needs format=, one of {', '.join(OPENERS)}")
    if isinstance(file, io.TextIOBase):
        file = getattr(file, "buffer", None) or io.BytesIO(file.read().encode("utf-8"))
    with _readable(source):
        names, rest = OPENERS[kind](file, source)

    def pieces() -> Iterator[Piece]:
        with _readable(source):
            yield from rest

    return Table(source, _unique(names, source), pieces, reusable=False)


def _frame(frame: Any) -> Table:
    """Take a pandas or polars DataFrame or an Arrow table: all speak Arrow's C interface."""
    table = optional("pyarrow", "reading a DataFrame").table(frame)
    # pandas adds its index when it is not the plain count of rows.
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    names = list(_unique(names, "frame"))

    def pieces() -> Iterator[Piece]:
        for batch in table.select(names).to_batches(max_chunksize=PIECE):
            yield dict(zip(names, batch.columns, strict=True))

    return Table("frame", tuple(names), pieces, reusable=True, length=len(table))


def _unique(names: list[str], source: str) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise DataError("the column name occurs twice", source=source, column=name)
    return tuple(names)


@contextmanager
def _readable(source: str) -> Iterator[None]:
    """Turn what a broken file raises into an error that names the file."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"the compressed file is broken or cut off ({error})",
            source=source,
            remedy="Get the file again",
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"the file is not UTF-8 text ({error.reason})",
            source=source,
            remedy="Save the file as UTF-8, e.g. iconv -f latin1 -t utf-8",
        ) from None
