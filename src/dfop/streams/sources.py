"""What can be read: a path, an open file, a frame or an iterable, each to its source of rows."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dfop.rows.batch import Batch
from dfop.streams.arff_source import ArffSource
from dfop.streams.arrow_source import frame_source, parquet_source, reader_source
from dfop.streams.bad_rows import Log
from dfop.streams.chunks import PACKED, Chunks
from dfop.streams.csv_source import CsvSource
from dfop.streams.json_source import JsonSource
from dfop.streams.layout import Layout
from dfop.streams.row_source import RowSource
from dfop.streams.tally import Tally

FORMATS = ("csv", "tsv", "parquet", "jsonl", "arff")
SUFFIXES = {**{f".{kind}": kind for kind in FORMATS}, ".ndjson": "jsonl", ".pq": "parquet"}
ENTRIES_WITHOUT_DATA = 100_000
MOST_ENTRIES = 1_000_000
"""How many files and folders are looked at: without finding data, and at all."""

_CSV_ALONE = "separator= is for CSV: a path, or an open file with format='csv'"


class Source(Protocol):
    """Named columns, and rows that are read from the first one on."""

    name: str
    names: tuple[str, ...]
    reusable: bool
    length: int | None
    seen: int
    """Rows that were looked at to decide what the columns hold."""
    good: int
    """Those among them that have the right number of cells."""

    def tally(self, column: str, *, fully: bool) -> Tally:
        """Count what the first rows hold in a column."""

    def pieces(self, layout: Layout, log: Log) -> Iterator[tuple[Batch, NDArray[Any]]]:
        """Give the rows; bad ones go to the log. Works once if the source is not reusable."""


def open_raw(path: Path) -> Any:
    """Open a file for reading, without a buffer of its own."""
    return path.open("rb", buffering=0)


def open_source(
    source: Any,
    kind: str | None,
    separator: str | None = None,
    opener: Callable[[Path], Any] = open_raw,
) -> Source:
    """Find out what a source is and look at its first rows."""
    if separator is not None:
        return _separated(source, kind, separator, opener)
    if kind is not None and kind not in FORMATS:
        raise ValueError(f"no format {kind!r}: use one of {', '.join(FORMATS)}")
    if isinstance(source, str | bytes | os.PathLike):
        return _path(Path(os.fsdecode(source)), kind, None, opener)
    if hasattr(source, "read_next_batch"):
        return reader_source(source)
    if hasattr(source, "read"):
        return _open_file(source, kind)
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return frame_source(source)
    if isinstance(source, np.ma.MaskedArray):  # what is masked is missing
        source = np.ma.filled(source.astype(object), None)
    if isinstance(source, Iterable):
        return RowSource(source)
    raise TypeError(
        f"cannot read a {type(source).__name__}: give a path, an open file, a DataFrame, an Arrow "
        "table, or an iterable of dicts or rows"
    )


def _separated(
    source: Any, kind: str | None, separator: str, opener: Callable[[Path], Any]
) -> Source:
    """Open CSV whose separator is given."""
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise ValueError(f"separator must be one ASCII character such as ';', not {separator!r}")
    if isinstance(source, str | bytes | os.PathLike):
        return _path(Path(os.fsdecode(source)), kind, separator, opener)
    if hasattr(source, "read") and not hasattr(source, "read_next_batch"):
        return _open_file(source, kind, separator)
    raise ValueError(_CSV_ALONE)


def _path(
    path: Path, kind: str | None, separator: str | None, opener: Callable[[Path], Any]
) -> Source:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None
    if stat.S_ISDIR(mode):
        return _folder(path, kind)
    packing = path.suffix.lower() if path.suffix.lower() in PACKED else ""
    inner = path.with_suffix("") if packing else path
    kind = kind or SUFFIXES.get(inner.suffix.lower())
    if kind is None and not stat.S_ISREG(mode):
        kind = "csv"  # a pipe seldom has an ending: /dev/fd/63
    if kind is None:
        raise ValueError(
            f"{path}: cannot tell the format from the name; pass format=, one of "
            f"{', '.join(FORMATS)}"
        )
    _check_separator(kind, separator)
    reusable = stat.S_ISREG(mode)
    if kind == "parquet":
        if packing or not reusable:
            data = b"".join(Chunks(opener(path), str(path), packing))
            return parquet_source([io.BytesIO(data)], str(path), reusable=False)
        return parquet_source([path], str(path), reusable=True)

    def chunks() -> Chunks:
        return Chunks(opener(path), str(path), packing)

    return _text_source(chunks, str(path), kind, reusable, separator)


def natural_order(name: str) -> list[Any]:
    """Return what sorts names as people count: part-2 before part-10.

    Examples
    --------
    >>> sorted(["part-10", "part-2", "part-02"], key=natural_order)
    ['part-02', 'part-2', 'part-10']
    """
    parts = re.split(r"(\d+)", name)
    return [[int(part) if i % 2 else part for i, part in enumerate(parts)], name]


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder and those in it, in the order of their names.

    What begins with _ or . is left out, as others that write such folders mean it. The search goes
    from the top down and is given up where nothing is found near the top.
    """
    found: list[Path] = []
    folders, seen = [folder], 0
    while folders:
        within = []
        for here in folders:
            for entry in _entries(here, folder):
                seen += 1
                if entry.is_dir(follow_symlinks=False):
                    within.append(Path(entry.path))
                elif entry.name.lower().endswith((".parquet", ".pq")):
                    found.append(Path(entry.path))
            if seen > MOST_ENTRIES or (seen > ENTRIES_WITHOUT_DATA and not found):
                raise ValueError(
                    f"{folder}: {len(found)} of the {seen:,} files and folders near the top are "
                    "Parquet, and there are more; name the folder that holds the data"
                )
        folders = within
    return sorted(found, key=lambda path: natural_order(str(path)))


def _entries(folder: Path, top: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(("_", "."))]
    except FileNotFoundError:
        if folder == top:
            raise
        return []  # gone since its name was read, as folders of processes are
    except PermissionError:
        raise ValueError(
            f"{top}: looking for Parquet files, {folder} cannot be read; name the folder that "
            "holds the data, or get permission to read all of it"
        ) from None


def _folder(folder: Path, kind: str | None) -> Source:
    files = parquet_files(folder) if kind in (None, "parquet") else []
    if not files:
        raise ValueError(f"{folder}: a folder is read if it holds Parquet files, name.parquet")
    return parquet_source(files, str(folder), reusable=True)


def _open_file(file: Any, kind: str | None, separator: str | None = None) -> Source:
    name = str(getattr(file, "name", "pipe"))
    if kind is None:
        raise ValueError(f"an open file needs format=, one of {', '.join(FORMATS)}")
    _check_separator(kind, separator)
    if isinstance(file, io.TextIOBase):
        file = getattr(file, "buffer", None) or io.BytesIO(file.read().encode("utf-8"))
    if kind == "parquet":
        if not file.seekable():
            file = io.BytesIO(file.read())
        return parquet_source([file], name, reusable=False)
    chunks = partial(Chunks, file, name, owned=False)
    return _text_source(chunks, name, kind, False, separator)


def _check_separator(kind: str, separator: str | None) -> None:
    if separator is not None and kind not in ("csv", "tsv"):
        raise ValueError(_CSV_ALONE)


def _text_source(
    open_chunks: Callable[[], Chunks], name: str, kind: str, reusable: bool, separator: str | None
) -> Source:
    opened: list[Chunks] = []

    def first_chunks() -> Chunks:
        if opened:
            return open_chunks()
        opened.append(open_chunks())
        return opened[0]

    try:
        if kind == "jsonl":
            return JsonSource(first_chunks, name, reusable=reusable)
        if kind == "arff":
            return ArffSource(first_chunks, name, reusable=reusable)
        separator = separator or ("," if kind == "csv" else "\t")
        return CsvSource(first_chunks, name, separator=separator, reusable=reusable)
    except BaseException:
        reusable = True  # it will not be read
        raise
    finally:
        if reusable:
            opened[0].close()
