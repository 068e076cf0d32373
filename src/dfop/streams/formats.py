"""CSV, Parquet, JSON lines and ARFF: an open file to column names and pieces of rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import IO, Any, TypeAlias

from dfop.streams.arff import read_arff
from dfop.streams.errors import DataError
from dfop.streams.optional import optional
from dfop.streams.rows import PIECE, Piece, columns, open_rows

Opened: TypeAlias = tuple[list[str], Iterator[Piece]]


def open_csv(file: IO[bytes], source: str, separator: str = ",") -> Opened:
    """Read comma-separated values with a header."""
    arrow_csv = optional("pyarrow.csv", "reading CSV")
    header = file.readline().decode("utf-8-sig")
    if not header.strip():
        raise DataError(
            "the file is empty or has no header", source=source, remedy="Name the columns in line 1"
        )
    names = [name.strip() for name in next(csv.reader([header], delimiter=separator))]
    return names, _csv_pieces(file, source, separator, names, arrow_csv)


def _csv_pieces(
    file: IO[bytes], source: str, separator: str, names: list[str], arrow_csv: Any
) -> Iterator[Piece]:
    arrow = optional("pyarrow", "reading CSV")
    ragged: list[Any] = []

    def note(row: Any) -> str:
        ragged.append(row)
        return "skip"

    def refuse_ragged() -> None:
        if ragged:
            raise DataError(
                f"{ragged[0].actual_columns} cells where the header has {len(names)}",
                source=source,
                row=ragged[0].number,
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
        refuse_ragged()
        if "Empty CSV" in str(error):
            return
        raise DataError(str(error), source=source) from None
    with closing(reader), _whole(source):
        for batch in reader:
            refuse_ragged()
            yield dict(zip(names, batch.columns, strict=True))
    refuse_ragged()


def open_parquet(file: IO[bytes], source: str) -> Opened:
    """Read Parquet."""
    parquet = optional("pyarrow.parquet", "reading Parquet")
    with _whole(source):
        table = parquet.ParquetFile(file)
    names = table.schema_arrow.names

    def pieces() -> Iterator[Piece]:
        with _whole(source):
            for batch in table.iter_batches(batch_size=PIECE):
                yield dict(zip(names, batch.columns, strict=True))

    return names, pieces()


@contextmanager
def _whole(source: str) -> Iterator[None]:
    """Name the file in what Arrow says of a broken one."""
    arrow = optional("pyarrow", "reading this file")
    try:
        yield
    except arrow.ArrowException as error:
        raise DataError(
            f"the file is broken or cut off ({error})", source=source, remedy="Get the file again"
        ) from None


def open_jsonl(file: IO[bytes], source: str) -> Opened:
    """Read one JSON object a line; the first names the columns."""
    names, pieces = open_rows(_objects(file, source), source)
    return names, pieces()


def _objects(file: IO[bytes], source: str) -> Iterator[dict[str, Any]]:
    lines = (line for line in file if line.strip())
    for number, line in enumerate(lines, 1):
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


def open_arff(file: IO[bytes], source: str) -> Opened:
    """Read dense ARFF."""
    attributes, rows = read_arff(_decoded(file, source), source)
    names = [name for name, _ in attributes]
    return names, columns(rows, names)


def _decoded(file: IO[bytes], source: str) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            raise DataError(
                f"line {number} is not UTF-8 text",
                source=source,
                remedy="Save the file as UTF-8, e.g. iconv -f latin1 -t utf-8",
            ) from None


OPENERS: dict[str, Callable[[IO[bytes], str], Opened]] = {
    "csv": open_csv,
    "tsv": lambda file, source: open_csv(file, source, "\t"),
    "parquet": open_parquet,
    "jsonl": open_jsonl,
    "arff": open_arff,
}
SUFFIXES = {**{f".{kind}": kind for kind in OPENERS}, ".ndjson": "jsonl"}
