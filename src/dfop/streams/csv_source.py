"""CSV and TSV: blocks of whole rows, each handed to Arrow's parser at once.

Where a block holds a cell that its column should not hold, the block is cut smaller, and what is
still doubtful is taken apart row by row. So a clean file is read at the speed of the parser, and a
bad row is known by its line and byte.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.rows.arrow import one_array, reader_of
from dfop.rows.batch import Batch
from dfop.rows.cells import GAP_WORDS
from dfop.rows.extras import need
from dfop.streams.bad_rows import BadRow, Log
from dfop.streams.cells import NOT_UTF8, NUL_BYTE, Flaw
from dfop.streams.chunks import Chunks
from dfop.streams.csv_rows import CsvRow, count_lines, csv_rows, first_row, split_clean
from dfop.streams.errors import DataError
from dfop.streams.layout import SAMPLE, Layout, unique_names
from dfop.streams.no_text import refuse_no_text
from dfop.streams.pieces import Judged, UncleanError, from_arrow, from_cells, settle
from dfop.streams.tally import PADDED, TOO_MANY_LABELS, Tally, tally

WRONG_CELLS = "wrong number of cells"
BOM = b"\xef\xbb\xbf"
# A file without a line end in so many bytes is no table.
MAX_ROW = 2**24
MAX_SAMPLE = 2**25
SOME = 100
"""Cells of a column of numbers that are looked at one by one."""
# A block that holds a bad row is cut in four, and again, down to parts of this size.
PART = 2**14
_GAPS = sorted({f(word) for word in GAP_WORDS for f in (str, str.upper, str.title)} | {"NaN"})
# "none" may name a class.
_LABEL_GAPS = [word for word in _GAPS if word.lower() != "none"]


class Block(NamedTuple):
    """Whole rows: their bytes, where they stand, and the rows themselves if quotes are broken."""

    data: bytes
    offset: int
    lines: int
    """Lines before the block."""
    rows: list[CsvRow] | None


class CsvSource:
    """A CSV file or pipe with a header; `open_chunks` opens it at the beginning."""

    length: int | None = None

    def __init__(
        self, open_chunks: Callable[[], Chunks], name: str, *, separator: str, reusable: bool
    ) -> None:
        self.name = name
        self.reusable = reusable
        self._separator = separator.encode()
        self._open = open_chunks
        chunks = open_chunks()
        head, whole = chunks.peek(
            lambda data: len(data) > MAX_SAMPLE or count_lines(data) > SAMPLE,
            first=lambda data: count_lines(data) > 1,
        )
        self._chunks: Chunks | None = None if reusable else chunks
        refuse_no_text(head, name)
        if not count_lines(head):
            chunks.refuse_cut()
        self.names, self._header = self._read_header(head)
        self._header_lines = count_lines(head[: self._header])
        self._sample = self._first_rows(head[self._header :], whole)
        if not self.seen:
            chunks.refuse_cut()

    def _read_header(self, head: bytes) -> tuple[tuple[str, ...], int]:
        """Return the names of the columns, and how many bytes are before the first row."""
        skipped = len(BOM) if head.startswith(BOM) else 0
        header, end = first_row(head[skipped:], self._separator)
        if header is None:
            remedy = "Name the columns in line 1"
            raise DataError("the file is empty or has no header", source=self.name, remedy=remedy)
        if header.problem is not None:
            raise DataError(f"the header: {header.problem[1]}", source=self.name)
        try:
            names = tuple(cell.decode("utf-8").strip() for cell in header.cells)
        except UnicodeDecodeError as error:
            raise DataError(
                f"the header is not UTF-8 text ({error.reason})",
                source=self.name,
                remedy="Save the file as UTF-8, e.g. iconv -f latin1 -t utf-8",
            ) from None
        return unique_names(names, self.name), skipped + end

    def _first_rows(self, data: bytes, at_end: bool) -> Callable[[str], Any]:
        """Return a function that gives a column of the first rows: Arrow's, or a list."""
        size = split_clean(data, self._separator, at_end)
        if size is not None:
            try:
                table = self._parse(data[:size], dict.fromkeys(self.names, "string"), _LABEL_GAPS)
                table = table.slice(0, SAMPLE)
                self.seen = self.good = table.num_rows
                return lambda column: one_array(table.column(column))
            except (UncleanError, UnicodeDecodeError):
                pass
        rows, _ = csv_rows(data, self._separator, at_end)
        good = [row.cells for row in rows if len(row.cells) == len(self.names)][:SAMPLE]
        self.seen, self.good = len(rows), len(good)
        cells = dict(zip(self.names, zip(*good, strict=True), strict=True)) if good else {}
        return lambda name: [cell.decode("utf-8", "replace") for cell in cells.get(name, ())]

    def tally(self, column: str, *, fully: bool) -> Tally:
        """Count what the first rows hold in a column; `fully` also how many are whole numbers."""
        cells = self._sample(column)
        if hasattr(cells, "to_pylist"):
            cells = cells.drop_null()
            if not fully and _all_numbers(cells):
                padded = sum(PADDED.match(cell) is not None for cell in cells[:SOME].to_pylist())
                return Tally(present=len(cells), numbers=len(cells), padded=padded)
            if _all_numbers(cells):
                some = tally(_few_fractions(cells).to_pylist(), typed=False)
                if some.distinct > TOO_MANY_LABELS:  # then further fractions say no more
                    return some._replace(present=len(cells), numbers=len(cells))
            cells = cells.to_pylist()
        return tally(cells, typed=False)

    def pieces(self, layout: Layout, log: Log) -> Iterator[tuple[Batch, NDArray[Any]]]:
        """Give the rows; bad ones go to the log."""
        chunks, self._chunks = self._chunks or self._open(), None
        done = 0
        parse = Parser(self, layout)
        with closing(chunks):
            for block in self._blocks(chunks):
                for judged, bad, first, rows in parse.judged(block, done):
                    done += rows
                    yield from settle(judged, bad, first, done, log)

    def _blocks(self, chunks: Chunks) -> Iterator[Block]:
        data, offset, lines = b"", self._header, self._header_lines
        skip = self._header
        for chunk in itertools.chain(chunks, [None]):
            if chunk is not None and skip:
                skip, chunk = max(skip - len(chunk), 0), chunk[skip:]
            data += chunk or b""
            rows, at_end = None, chunk is None
            size = split_clean(data, self._separator, at_end)
            if size is None:
                rows, size = csv_rows(data, self._separator, at_end)
            if size:
                yield Block(data[:size], offset, lines, rows)
                lines += count_lines(data[:size])
                offset += size
                data = data[size:]
            elif len(data) > MAX_ROW:
                raise DataError(
                    f"the row that begins at byte {offset} has no end in {MAX_ROW} bytes",
                    source=self.name,
                    line=lines + 1,
                    byte=offset,
                    remedy="Check that this is a text file, and its quotes",
                )

    def _parse(self, data: bytes, types: dict[str, Any], gaps: list[str]) -> Any:
        pa = need("pyarrow", extra="data", purpose="reading CSV")
        csv = need("pyarrow.csv", extra="data", purpose="reading CSV")
        try:
            return csv.read_csv(
                reader_of(data),
                csv.ReadOptions(column_names=list(self.names), block_size=len(data) + 1),
                csv.ParseOptions(
                    delimiter=self._separator.decode(), newlines_in_values=b'"' in data
                ),
                csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    null_values=gaps,
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                ),
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise UncleanError from None


class Parser:
    """Blocks to rows, for one layout."""

    def __init__(self, source: CsvSource, layout: Layout) -> None:
        self._source, self._layout = source, layout
        self._index = [source.names.index(name) for name in layout.columns]
        self._types = csv_types(layout)
        names = layout.task == "classification" and not layout.whole
        nones = names and source.tally(layout.targets[0], fully=True).nones
        self._gaps = _LABEL_GAPS if nones else _GAPS

    def judged(self, block: Block, done: int) -> Iterator[tuple[Judged, list[BadRow], int, int]]:
        """Give good rows, bad rows, the index of the first bad one, and the number of both."""
        if block.rows is None:
            try:
                yield self._together(block.data)
                return
            except UncleanError:
                pass
            if len(block.data) > PART:
                for part in self._parts(block):
                    for found in self.judged(part, done):
                        done += found[3]
                        yield found
                return
        yield self._one_by_one(block, done)

    def _together(self, data: bytes) -> tuple[Judged, list[BadRow], int, int]:
        if b"\0" in data or data.startswith(BOM):  # the parser would drop a BOM
            raise UncleanError
        table = self._source._parse(data, self._types, self._gaps)
        columns = {name: one_array(table.column(name)) for name in self._types}
        judged = from_arrow(columns, self._layout, table.num_rows, typed=False)
        return judged, [], 0, table.num_rows

    def _parts(self, block: Block) -> Iterator[Block]:
        separator = self._source._separator
        step = max(len(block.data) // 4, PART)
        at, lines = 0, block.lines
        while at < len(block.data):
            size = split_clean(block.data[at : at + step], separator, at_end=False) or 0
            if not size:  # a row longer than that
                size = len(block.data) - at
            part = block.data[at : at + size]
            # a part as large as the block is not cut again
            rows = csv_rows(part, separator, True)[0] if size > step else None
            yield Block(part, block.offset + at, lines, rows)
            at, lines = at + size, lines + count_lines(part)

    def _one_by_one(self, block: Block, done: int) -> tuple[Judged, list[BadRow], int, int]:
        rows = block.rows
        if rows is None:
            rows, _ = csv_rows(block.data, self._source._separator, True)
        flaws: dict[int, Flaw] = {}
        good: list[int] = []
        cells: list[Sequence[str]] = []
        for i, row in enumerate(rows):
            found = self._cells(row, block.data)
            if isinstance(found, Flaw):
                flaws[i] = found
            else:
                good.append(i)
                cells.append(found)
        names = self._layout.columns
        columns = zip(*cells, strict=True) if cells else ((),) * len(names)
        judged = from_cells(dict(zip(names, columns, strict=True)), self._layout, typed=False)
        flaws.update((good[i], flaw) for i, flaw in judged.flaws.items())
        bad = [self._bad(block, rows[i], done + i + 1, flaws[i]) for i in sorted(flaws)]
        return judged, bad, min(flaws, default=0), len(rows)

    def _cells(self, row: CsvRow, data: bytes) -> Sequence[str] | Flaw:
        if row.problem is not None:
            return Flaw(None, *row.problem)
        if b"\0" in data[row.start : row.end]:
            return Flaw(None, NUL_BYTE, "there is a NUL byte; check how the file was written")
        names = self._source.names
        if len(row.cells) != len(names):
            message = f"{len(row.cells)} cells where the header has {len(names)}"
            return Flaw(None, WRONG_CELLS, f"{message}; mend or remove the row")
        try:
            return [row.cells[j].decode("utf-8") for j in self._index]
        except UnicodeDecodeError as error:
            at = next(j for j in self._index if row.cells[j] == error.object)
            remedy = "save the file as UTF-8, e.g. iconv -f latin1 -t utf-8"
            return Flaw(names[at], NOT_UTF8, f"{row.cells[at]!r} is not UTF-8 text; {remedy}")

    def _bad(self, block: Block, row: CsvRow, number: int, flaw: Flaw) -> BadRow:
        return BadRow(
            self._source.name,
            number,
            block.lines + row.line + 1,
            block.offset + row.start,
            flaw.column,
            flaw.kind,
            flaw.message,
            block.data[row.start : row.end].decode("utf-8", "backslashreplace"),
        )


def csv_types(layout: Layout) -> dict[str, Any]:
    """Return the Arrow type of every column that is read."""
    pa = need("pyarrow", extra="data", purpose="reading CSV")
    text, number = pa.dictionary(pa.int32(), pa.string()), pa.float64()
    types = {n: text if layout.kinds[n] == "text" else number for n in layout.features}
    types |= dict.fromkeys(layout.targets, text if layout.task == "classification" else number)
    if layout.time is not None:
        moment = pa.timestamp("ns", "UTC" if layout.zoned else None)
        types[layout.time] = number if layout.numeric_time else moment
    return types


def _all_numbers(cells: Any) -> bool:
    """Whether all texts of an Arrow array are numbers; in one go, for files of many columns."""
    pa = need("pyarrow", extra="data")
    try:
        return bool(cells.cast(pa.float64()) is not None)
    except pa.ArrowInvalid:
        return False


def _few_fractions(cells: Any) -> Any:
    """Leave out numbers of an Arrow array that are not whole, but for those of the first rows."""
    values = cells.cast("double").to_numpy(zero_copy_only=False)
    first = np.arange(len(values)) <= 2 * TOO_MANY_LABELS
    return cells.take(np.flatnonzero(first | (values == np.floor(values))))
