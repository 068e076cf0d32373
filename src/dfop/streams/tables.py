"""Files, frames and iterables as tables: column names, and rows in pieces."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from dfop.streams.arff import read_arff
from dfop.streams.errors import DataError
from dfop.streams.optional import optional

PIECE = 8192
FORMATS = ("csv", "tsv", "parquet", "jsonl", "arff")
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arff": "arff",
}

# Column names, and the rows in pieces.
Opened: TypeAlias = tuple[list[str], Iterator[Mapping[str, Any]]]


@dataclass(frozen=True)
class Table:
    """Columns of cells; `pieces()` gives the rows, a mapping of column name to cells at a time."""

    source: str
    names: tuple[str, ...]
    pieces: Callable[[], Iterator[Mapping[str, Any]]]
    reusable: bool
    length: int | None = None


def open_table(source: Any, kind: str | None) -> Table:
    """Make a table of whatever the user has."""
    if isinstance(source, str | Path):
        return _file(Path(source), kind)
    if hasattr(source, "read"):
        if kind is None:
            raise ValueError(f"an open file needs format=, one of {', '.join(FORMATS)}")
        return _opened(getattr(source, "name", "pipe"), kind, _once(source), reusable=False)
    if hasattr(source, "__arrow_c_stream__"):
        return _frame(source)
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return _iterable(source)
    raise TypeError(
        f"cannot read a {type(source).__name__}: give a path, an open file, a DataFrame, an Arrow "
        "table, or an iterable of dicts or rows"
    )


def _file(path: Path, kind: str | None) -> Table:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] == ".gz"
    last = suffixes[-2 if packed else -1] if len(suffixes) > packed else ""
    kind = kind or _SUFFIXES.get(last)
    if kind is None:
        raise ValueError(
            f"{path}: cannot tell the format from the name; pass format=, one of "
            f"{', '.join(FORMATS)}"
        )

    def open_file() -> IO[bytes]:
        return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]

    return _opened(str(path), kind, open_file, reusable=True)


def _once(file: Any) -> Callable[[], IO[bytes]]:
    """Open a pipe: the first time only."""
    held = [file]

    def open_file() -> IO[bytes]:
        if not held:
            raise DataError(
                "this pipe was read already", remedy="Read it into arrays to use it again"
            )
        one = held.pop()
        if isinstance(one, io.TextIOBase):
            one = getattr(one, "buffer", None) or io.BytesIO(one.read().encode("utf-8"))
        return one  # type: ignore[no-any-return]

    return open_file


def _opened(source: str, kind: str, open_file: Callable[[], IO[bytes]], *, reusable: bool) -> Table:
    readers: dict[str, Callable[[IO[bytes]], Opened]] = {
        "csv": lambda file: _csv(file, source, ","),
        "tsv": lambda file: _csv(file, source, "\t"),
        "parquet": lambda file: _parquet(file, source),
        "jsonl": lambda file: _jsonl(file, source),
        "arff": lambda file: _arff(file, source),
    }
    if kind not in readers:
        raise ValueError(f"no format {kind!r}: use one of {', '.join(FORMATS)}")
    reader = readers[kind]
    file = open_file()
    with _Readable(source):
        names, first = reader(file)
    if len(set(names)) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise DataError("the column name occurs twice", source=source, column=double)
    waiting = [first]
    if reusable:
        file.close()
        waiting.clear()

    def pieces() -> Iterator[Mapping[str, Any]]:
        # A pipe is open already and continues behind its header; a file is opened anew.
        if waiting:
            rows, again = waiting.pop(), None
        else:
            again = open_file()
            with _Readable(source):
                rows = reader(again)[1]
        try:
            with _Readable(source):
                yield from rows
        finally:
            if again is not None:
                again.close()

    return Table(source, tuple(names), pieces, reusable)


class _Readable:
    """Turn what a broken file raises into an error that names the file."""

    def __init__(self, source: str) -> None:
        self.source = source

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, EOFError | gzip.BadGzipFile | zlib.error):
            raise DataError(
                f"the compressed file is broken or cut off ({error})",
                source=self.source,
                remedy="Get the file again",
            ) from None
        if isinstance(error, UnicodeDecodeError):
            raise DataError(
                f"the file is not UTF-8 text ({error.reason})",
                source=self.source,
                remedy="Save the file as UTF-8, e.g. iconv -f latin1 -t utf-8",
            ) from None


def _csv(file: IO[bytes], source: str, separator: str) -> Opened:
    arrow, arrow_csv = optional("pyarrow", "reading CSV"), optional("pyarrow.csv", "reading CSV")
    header = file.readline().decode("utf-8-sig")
    if not header.strip():
        raise DataError(
            "the file is empty or has no header", source=source, remedy="Name the columns in line 1"
        )
    names = [name.strip() for name in next(csv.reader([header], delimiter=separator))]

    def pieces() -> Iterator[Mapping[str, Any]]:
        ragged: list[Any] = []

        def note(row: Any) -> str:
            ragged.append(row)
            return "skip"

        def complain(done: int) -> None:
            row = ragged[0]
            raise DataError(
                f"{row.actual_columns} cells where the header has {row.expected_columns}",
                source=source,
                row=row.number or done + 1,
                remedy="Mend or remove the row",
            )

        try:
            # Cells come as bytes: what they mean is decided where an error can name the row.
            reader = arrow_csv.open_csv(
                file,
                read_options=arrow_csv.ReadOptions(column_names=names, use_threads=False),
                parse_options=arrow_csv.ParseOptions(delimiter=separator, invalid_row_handler=note),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, arrow.binary()), strings_can_be_null=False
                ),
            )
        except arrow.ArrowInvalid as error:
            if ragged:
                complain(0)
            if "Empty CSV" in str(error):
                return
            raise DataError(str(error), source=source) from None
        done = 0
        with closing(reader):
            for batch in reader:
                if ragged:
                    complain(done)
                done += len(batch)
                yield dict(zip(names, batch.columns, strict=True))
        if ragged:
            complain(done)

    return names, pieces()


def _parquet(file: IO[bytes], source: str) -> Opened:
    arrow, parquet = optional("pyarrow", "reading Parquet"), optional("pyarrow.parquet", "Parquet")
    try:
        table = parquet.ParquetFile(file)
    except (arrow.ArrowInvalid, OSError) as error:
        raise DataError(
            f"not a complete Parquet file ({error})", source=source, remedy="Get the file again"
        ) from None
    names = table.schema_arrow.names
    batches = table.iter_batches(batch_size=PIECE)
    return names, (dict(zip(names, batch.columns, strict=True)) for batch in batches)


def _jsonl(file: IO[bytes], source: str) -> Opened:
    def rows() -> Iterator[Any]:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                raise DataError(f"not JSON ({error})", source=source, row=number) from None
            if not isinstance(row, dict):
                raise DataError(
                    "not a JSON object",
                    source=source,
                    row=number,
                    remedy='Write each row as {"column": value, ...}',
                )
            yield row

    table = _iterable(rows(), source)
    return list(table.names), table.pieces()


def _arff(file: IO[bytes], source: str) -> Opened:
    attributes, rows = read_arff((line.decode("utf-8") for line in file), source)
    names = [name for name, _ in attributes]
    return names, _columns(rows, names)


def _frame(frame: Any) -> Table:
    """Take a pandas or polars DataFrame or an Arrow table: all speak Arrow's C interface."""
    table = optional("pyarrow", "reading a DataFrame").table(frame)
    # pandas adds its index when it is not the plain count of rows.
    names = [name for name in table.column_names if not name.startswith("__index_level_")]

    def pieces() -> Iterator[Mapping[str, Any]]:
        for batch in table.select(names).to_batches(max_chunksize=PIECE):
            yield dict(zip(names, batch.columns, strict=True))

    return Table("frame", tuple(names), pieces, True, len(table))


def _iterable(rows: Iterable[Any], source: str = "rows") -> Table:
    reusable = iter(rows) is not rows
    if reusable:
        first = next(iter(rows), None)
        again: Callable[[], Iterator[Any]] = lambda: iter(rows)  # noqa: E731
    else:
        one = iter(rows)
        first = next(one, None)
        held = [itertools.chain([first], one)]

        def again() -> Iterator[Any]:
            if not held:
                raise DataError(
                    "this iterator was read already",
                    source=source,
                    remedy="Give a list, or read it into arrays to use it again",
                )
            return held.pop()

    if first is None:
        raise DataError("there are no rows", source=source)
    if isinstance(first, Mapping):
        names = [str(name) for name in first]
        return Table(
            source, tuple(names), lambda: _columns(_dicts(again(), names, source), names), reusable
        )
    if not isinstance(first, Sequence) and not hasattr(first, "__array__"):
        raise TypeError(f"a row must be a dict or a sequence of cells, not {type(first).__name__}")
    names = [f"x{j + 1}" for j in range(len(first))]
    return Table(
        source,
        tuple(names),
        lambda: _columns(_sequences(again(), len(names), source), names),
        reusable,
    )


def _dicts(rows: Iterator[Any], names: list[str], source: str) -> Iterator[list[Any]]:
    known = set(names)
    for number, row in enumerate(rows, 1):
        strange = row.keys() - known
        if strange:
            raise DataError(
                f"the column is new: the first row has {', '.join(names)}",
                source=source,
                row=number,
                column=str(min(strange, key=str)),
                remedy="Give every row the same columns",
            )
        yield [row.get(name) for name in names]


def _sequences(rows: Iterator[Any], width: int, source: str) -> Iterator[Sequence[Any]]:
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise DataError(
                f"{len(row)} cells where the first row has {width}", source=source, row=number
            )
        yield row


def _columns(rows: Iterator[Sequence[Any]], names: list[str]) -> Iterator[Mapping[str, Any]]:
    while piece := list(itertools.islice(rows, PIECE)):
        yield dict(zip(names, zip(*piece, strict=True), strict=True))
