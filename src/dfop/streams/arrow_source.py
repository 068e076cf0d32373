"""Parquet, data frames, Arrow tables and readers: columns that know their type."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dfop.rows.arrow import is_number, is_text, one_array
from dfop.rows.batch import Batch
from dfop.rows.extras import need
from dfop.streams.bad_rows import BadRow, Log
from dfop.streams.errors import DataError
from dfop.streams.layout import SAMPLE, Layout, unique_names
from dfop.streams.pieces import UncleanError, from_arrow, from_cells, settle
from dfop.streams.tally import Tally, tally

PIECE = 2**16


class ArrowSource:
    """Record batches of one schema; `batches` gives them from the first, for the columns named."""

    def __init__(
        self,
        batches: Callable[[list[str] | None], Iterator[Any]],
        schema: Any,
        name: str,
        *,
        reusable: bool,
        length: int | None = None,
    ) -> None:
        self.name = name
        self.reusable = reusable
        self.length = length
        # pandas adds its index when it is not the plain count of rows
        names = [n for n in schema.names if not n.startswith("__index_level_")]
        self.names = unique_names(names, name)
        self._batches = batches
        self._held: list[Any] = []
        self._rest: Iterator[Any] | None = None
        self._schema = schema
        rest = batches(None)
        rows = 0
        for batch in rest:
            self._held.append(batch)
            rows += batch.num_rows
            if rows >= SAMPLE:
                break
        self.seen = self.good = rows
        if not reusable:
            self._rest = rest

    def tally(self, column: str, *, fully: bool) -> Tally:
        """Count what the first rows hold in a column; its type may be enough."""
        kind = self._schema.field(column).type
        if is_number(kind) and not fully:
            return Tally(present=1, numbers=1)
        cells = list(
            islice(chain.from_iterable(b.column(column).to_pylist() for b in self._held), SAMPLE)
        )
        types = need("pyarrow", extra="data").types
        if types.is_dictionary(kind) and (not fully or is_text(kind.value_type)):
            # names, whatever they look like
            labels = dict.fromkeys(str(cell).strip() for cell in cells if cell is not None)
            names = tuple(labels)
            return Tally(len(cells), distinct=len(set(cells)), labels=names, names=names)
        return tally(cells, typed=True)

    def pieces(self, layout: Layout, log: Log) -> Iterator[tuple[Batch, NDArray[Any]]]:
        """Give the rows; bad ones go to the log."""
        if self._rest is not None:
            batches: Iterator[Any] = chain(self._held, self._rest)
            self._held, self._rest = [], None
        else:
            batches = self._batches(list(layout.columns))
        done = 0
        for batch in batches:
            for start in range(0, batch.num_rows, PIECE):
                piece = batch.slice(start, PIECE)
                columns = {name: one_array(piece.column(name)) for name in layout.columns}
                columns |= {name: _label_values(columns[name]) for name in layout.targets}
                try:
                    judged = from_arrow(columns, layout, piece.num_rows, typed=True)
                except UncleanError:
                    cells = {name: _cells(column) for name, column in columns.items()}
                    judged = from_cells(cells, layout, typed=True)
                bad = [
                    BadRow(self.name, done + i + 1, None, None, *judged.flaws[i], _text(piece, i))
                    for i in sorted(judged.flaws)
                ]
                done += piece.num_rows
                yield from settle(judged, bad, min(judged.flaws, default=0), done, log)


def _label_values(column: Any) -> Any:
    """Return labels as what they are: categories of whole numbers are whole numbers."""
    types = need("pyarrow", extra="data").types
    if types.is_dictionary(column.type) and not is_text(column.type.value_type):
        return column.dictionary_decode()
    return column


def _cells(column: Any) -> list[Any]:
    """Return Python cells; a dictionary's values as text, as its type says."""
    cells: list[Any] = column.to_pylist()
    if need("pyarrow", extra="data").types.is_dictionary(column.type):
        return [None if cell is None else str(cell) for cell in cells]
    return cells


def _text(piece: Any, row: int) -> str:
    """Return a row as JSON, for those who look at it later."""
    return json.dumps(piece.slice(row, 1).to_pylist()[0], default=str)


def frame_source(frame: Any) -> ArrowSource:
    """Take a pandas or polars DataFrame or an Arrow table: all speak Arrow's C interface."""
    pa = need("pyarrow", extra="data", purpose="reading a DataFrame")
    try:
        table = frame if isinstance(frame, pa.Table) else pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"a column holds cells of different types ({error})",
            source="frame",
            remedy="Give every column one type, e.g. by astype(str) or pd.to_numeric",
        ) from None
    names = table.schema.names

    def batches(columns: list[str] | None) -> Iterator[Any]:
        wanted = [n for n in names if n in columns] if columns is not None else names
        return iter(table.select(wanted).to_batches(max_chunksize=PIECE))

    unique_names(names, "frame")
    return ArrowSource(batches, table.schema, "frame", reusable=True, length=table.num_rows)


def reader_source(reader: Any) -> ArrowSource:
    """Take a reader of record batches, which can be read once."""
    return ArrowSource(
        lambda columns: iter(reader), reader.schema, "record batches", reusable=False
    )


def parquet_source(files: Sequence[Any], name: str, *, reusable: bool) -> ArrowSource:
    """Take Parquet files (paths, or one open file) of the same columns, one after the other."""
    parquet = need("pyarrow.parquet", extra="data", purpose="reading Parquet")
    pa = need("pyarrow", extra="data", purpose="reading Parquet")

    def broken(source: Any, error: Exception) -> DataError:
        return DataError(
            f"the file is broken or cut off ({error})",
            source=str(source) if isinstance(source, Path) else name,
            remedy="Get the file again",
        )

    def opened(source: Any) -> Any:
        try:
            return parquet.ParquetFile(source)
        except pa.ArrowException as error:
            raise broken(source, error) from None

    first = opened(files[0])
    schema = first.schema_arrow

    def batches(columns: list[str] | None) -> Iterator[Any]:
        for source in files:
            with opened(source) as file:
                _same_columns(file.schema_arrow, schema, source)
                try:
                    yield from file.iter_batches(batch_size=PIECE, columns=columns)
                except pa.ArrowException as error:
                    raise broken(source, error) from None

    length = None
    if reusable:
        first.close()
    return ArrowSource(batches, schema, name, reusable=reusable, length=length)


def _same_columns(found: Any, expected: Any, source: Any) -> None:
    for field in expected:
        if field.name not in found.names:
            raise DataError("the column is missing", source=str(source), column=field.name)
        kind = found.field(field.name).type
        alike = is_text(kind) == is_text(field.type) and is_number(kind) == is_number(field.type)
        if not alike:
            raise DataError(
                f"the column is {kind} here and {field.type} in the first file",
                source=str(source),
                column=field.name,
                remedy="Write all files with one schema",
            )
