"""JSON lines: blocks of whole lines, each handed to Arrow's parser at once if it is safe."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

from numpy.typing import NDArray

from dfop.rows.arrow import one_array, reader_of
from dfop.rows.batch import Batch
from dfop.rows.cells import shown
from dfop.rows.extras import need
from dfop.streams.bad_rows import BadRow, Log
from dfop.streams.cells import NOT_UTF8, Flaw
from dfop.streams.chunks import Chunks
from dfop.streams.errors import DataError
from dfop.streams.layout import SAMPLE, Layout
from dfop.streams.no_text import refuse_no_text
from dfop.streams.pieces import Judged, UncleanError, from_arrow, from_cells, settle
from dfop.streams.tally import Tally, tally

NOT_JSON = "not JSON"
UNKNOWN_COLUMN = "unknown column"
BOM = b"\xef\xbb\xbf"
MAX_ROW = 2**24
MAX_SAMPLE = 2**25
# Between objects stand line ends alone. Anything else makes Arrow's parser take two rows of a
# line, or crash (a bare `null` does).
_AFTER_OBJECT = re.compile(rb"\}[ \t]*[^ \t\r\n,\]}]")


class JsonSource:
    """Rows as JSON objects, one a line; `open_chunks` opens the file at the beginning."""

    length: int | None = None

    def __init__(self, open_chunks: Callable[[], Chunks], name: str, *, reusable: bool) -> None:
        self.name = name
        self.reusable = reusable
        self._open = open_chunks
        chunks = open_chunks()
        head, whole = chunks.peek(
            lambda data: len(data) > MAX_SAMPLE or data.count(b"\n") >= SAMPLE,
            first=lambda data: b"\n" in data,
        )
        self._chunks: Chunks | None = None if reusable else chunks
        refuse_no_text(head, name)
        data = head if whole else head[: head.rfind(b"\n") + 1]
        rows = [_read(line) for _, _, line in _lines(data)]
        self._rows = [row for row in rows if isinstance(row, dict)][:SAMPLE]
        self.seen, self.good = len(rows), len(self._rows)
        if not self._rows:
            chunks.refuse_cut()
        # the last object of an array may stand on a line of its own
        array = head.removeprefix(BOM).lstrip().startswith(b"[") and len(self._rows) < 2
        if array or (head.strip() and not self._rows):
            raise DataError(
                "no line is a JSON object, and one object per line is needed",
                source=name,
                remedy="Make lines of an array with jq -c '.[]'",
            )
        self.names = tuple(dict.fromkeys(key for row in self._rows for key in row))

    def tally(self, column: str, *, fully: bool) -> Tally:
        """Count what the first rows hold in a column."""
        return tally([row.get(column) for row in self._rows], typed=True)

    def pieces(self, layout: Layout, log: Log) -> Iterator[tuple[Batch, NDArray[Any]]]:
        """Give the rows; bad ones go to the log."""
        chunks, self._chunks = self._chunks or self._open(), None
        known = None if layout.chosen else frozenset(self.names)
        parse = _Parser(self.name, layout, known, self._schema(layout))
        done = 0
        with closing(chunks):
            for data, offset, lines in self._blocks(chunks):
                judged, bad, first, rows = parse.judged(data, offset, lines, done)
                done += rows
                yield from settle(judged, bad, first, done, log)

    def _schema(self, layout: Layout) -> Any:
        """Return the Arrow type of every column; numbers that were bools at first stay so."""
        pa = need("pyarrow", extra="data", purpose="reading JSON lines")

        def number(name: str) -> Any:
            cells = [row[name] for row in self._rows if row.get(name) is not None]
            return pa.bool_() if cells and all(isinstance(c, bool) for c in cells) else pa.float64()

        types = {
            n: pa.string() if layout.kinds[n] == "text" else number(n) for n in layout.features
        }
        labels = layout.task == "classification" and not layout.whole
        types |= {n: pa.string() if labels else number(n) for n in layout.targets}
        if layout.time is not None:
            types[layout.time] = pa.float64() if layout.numeric_time else pa.string()
        return pa.schema(types)

    def _blocks(self, chunks: Chunks) -> Iterator[tuple[bytes, int, int]]:
        """Give blocks of whole lines with their offset and the lines before them."""
        data, offset, lines = b"", 0, 0
        first = True
        for chunk in chunks:
            data += chunk
            if first and len(data) >= len(BOM):
                first = False
                if data.startswith(BOM):
                    data, offset = data[len(BOM) :], len(BOM)
            size = data.rfind(b"\n") + 1
            if size:
                yield data[:size], offset, lines
                lines += data.count(b"\n")
                data, offset = data[size:], offset + size
            elif len(data) > MAX_ROW:
                raise DataError(
                    f"line {lines + 1} has no end in {MAX_ROW} bytes",
                    source=self.name,
                    remedy="Check that this is a file of JSON lines",
                )
        if data:
            yield data, offset, lines


class _Parser:
    """Blocks to rows, for one layout; `known` are the columns beyond which a row is refused."""

    def __init__(
        self, source: str, layout: Layout, known: frozenset[str] | None, schema: Any
    ) -> None:
        self._source, self._layout, self._known, self._schema = source, layout, known, schema

    def judged(
        self, data: bytes, offset: int, lines: int, done: int
    ) -> tuple[Judged, list[BadRow], int, int]:
        """Return good rows, bad rows, the index of the first bad one, and the number of both."""
        try:
            return self._together(data)
        except UncleanError:
            return self._one_by_one(data, offset, lines, done)

    def _together(self, data: bytes) -> tuple[Judged, list[BadRow], int, int]:
        pa = need("pyarrow", extra="data", purpose="reading JSON lines")
        reader = need("pyarrow.json", extra="data", purpose="reading JSON lines")
        rows = safe_rows(data)
        try:
            table = reader.read_json(
                reader_of(data),
                reader.ReadOptions(block_size=len(data) + 1),
                reader.ParseOptions(
                    explicit_schema=self._schema,
                    # never "infer": it recurses, and a deep row would end the process
                    unexpected_field_behavior="ignore" if self._known is None else "error",
                ),
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise UncleanError from None
        if table.num_rows != rows:
            raise UncleanError
        columns = {name: one_array(table.column(name)) for name in self._layout.columns}
        return from_arrow(columns, self._layout, rows, typed=True), [], 0, rows

    def _one_by_one(
        self, data: bytes, offset: int, lines: int, done: int
    ) -> tuple[Judged, list[BadRow], int, int]:
        found = list(_lines(data))
        flaws: dict[int, Flaw] = {}
        good: list[int] = []
        rows: list[dict[str, Any]] = []
        for i, (_, _, line) in enumerate(found):
            row = self._known_columns(_read(line))
            if isinstance(row, Flaw):
                flaws[i] = row
            else:
                good.append(i)
                rows.append(row)
        columns = {name: [row.get(name) for row in rows] for name in self._layout.columns}
        judged = from_cells(columns, self._layout, typed=True)
        flaws.update((good[i], flaw) for i, flaw in judged.flaws.items())
        bad = []
        for i in sorted(flaws):
            at, number, line = found[i]
            text = line.decode("utf-8", "backslashreplace")
            where = (done + i + 1, lines + number + 1, offset + at)
            bad.append(BadRow(self._source, *where, *flaws[i], text))
        return judged, bad, min(flaws, default=0), len(found)

    def _known_columns(self, row: dict[str, Any] | Flaw) -> dict[str, Any] | Flaw:
        if self._known is not None and isinstance(row, dict):
            for key in row:
                if key not in self._known:
                    return unknown_column(key)
        return row


def unknown_column(name: str) -> Flaw:
    """Say that a row has a column which the first rows do not have."""
    remedy = "name the columns to use with features=[...]"
    return Flaw(name, UNKNOWN_COLUMN, f"the column is not among those of the first rows; {remedy}")


def safe_rows(data: bytes) -> int:
    r"""Return the number of lines if Arrow's parser can be trusted with them.

    Examples
    --------
    >>> safe_rows(b'{"x": 1}\n{"x": 2}\n')
    2
    """
    rows = data.count(b"\n") + (not data.endswith(b"\n"))
    starts = data.count(b"\n{") + data.startswith(b"{")
    if starts != rows or b"\0" in data or _AFTER_OBJECT.search(data):
        raise UncleanError
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            raise UncleanError from None
    return rows


def _lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Give the lines that are not blank, with their position and the lines before them."""
    at = 0
    for number, line in enumerate(data.split(b"\n")):
        kept = line.rstrip(b"\r")
        if kept.strip():
            yield at, number, kept
        at += len(line) + 1


def _read(line: bytes) -> dict[str, Any] | Flaw:
    try:
        row = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_unique)
    except UnicodeDecodeError:
        remedy = "save the file as UTF-8, e.g. iconv -f latin1 -t utf-8"
        return Flaw(None, NOT_UTF8, f"not UTF-8 text; {remedy}")
    except (ValueError, RecursionError) as error:
        return Flaw(None, NOT_JSON, f"not JSON ({error})")
    if not isinstance(row, dict):
        return Flaw(None, NOT_JSON, 'not a JSON object; write each row as {"column": value, ...}')
    return row


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shown(twice)} occurs twice")
    return row
