"""ARFF as a source of rows: line by line, columns judged as those of CSV are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from typing import Any

from numpy.typing import NDArray

from dfop.rows.batch import Batch
from dfop.streams.arff import read_header, row_cells
from dfop.streams.bad_rows import BadRow, Log
from dfop.streams.cells import NOT_UTF8, NUL_BYTE, Flaw
from dfop.streams.chunks import Chunks
from dfop.streams.errors import DataError
from dfop.streams.layout import SAMPLE, Layout, unique_names
from dfop.streams.pieces import from_cells, settle
from dfop.streams.tally import Tally, tally

PIECE = 8192
WRONG_CELLS = "wrong number of cells"
# Position, lines before it, and its bytes.
Line = tuple[int, int, bytes]


class ArffSource:
    """An ARFF file or pipe; `open_chunks` opens it at the beginning."""

    length: int | None = None

    def __init__(self, open_chunks: Callable[[], Chunks], name: str, *, reusable: bool) -> None:
        self.name = name
        self.reusable = reusable
        self._open = open_chunks
        self._held: list[Line] = []
        self._lines: Iterator[Line] | None = None
        self._chunks = open_chunks()
        lines = self._data_lines(_lines(self._chunks))
        self._held = list(islice(lines, SAMPLE))
        if not reusable:
            self._lines = lines
        good = [cells for line in self._held if not isinstance(cells := self._cells(line), Flaw)]
        self._sample = list(zip(*good, strict=True))
        self.seen, self.good = len(self._held), len(good)

    def _data_lines(self, lines: Iterator[Line]) -> Iterator[Line]:
        """Read the header, then give the lines that are rows."""

        def decoded() -> Iterator[str]:
            for _, number, line in lines:
                try:
                    yield line.decode("utf-8-sig")
                except UnicodeDecodeError:
                    raise DataError(
                        f"line {number + 1} is not UTF-8 text",
                        source=self.name,
                        remedy="Save the file as UTF-8, e.g. iconv -f latin1 -t utf-8",
                    ) from None

        header = read_header(decoded(), self.name)
        self.names = unique_names([name for name, _ in header], self.name)
        return (line for line in lines if line[2].strip() and not line[2].lstrip().startswith(b"%"))

    def tally(self, column: str, *, fully: bool) -> Tally:
        """Count what the first rows hold in a column."""
        cells = self._sample[self.names.index(column)] if self._sample else ()
        return tally(cells, typed=False)

    def pieces(self, layout: Layout, log: Log) -> Iterator[tuple[Batch, NDArray[Any]]]:
        """Give the rows; bad ones go to the log."""
        held: list[Line] = []
        if self._lines is not None:
            held, lines, self._lines, self._held = self._held, self._lines, None, []
        else:
            self._chunks = self._open()
            lines = self._data_lines(_lines(self._chunks))
        with closing(self._chunks):
            yield from self._pieces(held, lines, layout, log)

    def _pieces(
        self, held: list[Line], lines: Iterator[Line], layout: Layout, log: Log
    ) -> Iterator[tuple[Batch, NDArray[Any]]]:
        done = 0
        while piece := [*held[:PIECE], *islice(lines, PIECE - len(held[:PIECE]))]:
            held = held[PIECE:]
            flaws: dict[int, Flaw] = {}
            good: list[int] = []
            rows: list[list[str]] = []
            for i, line in enumerate(piece):
                cells = self._cells(line)
                if isinstance(cells, Flaw):
                    flaws[i] = cells
                else:
                    good.append(i)
                    rows.append(cells)
            columns = {n: [row[self.names.index(n)] for row in rows] for n in layout.columns}
            judged = from_cells(columns, layout, typed=False)
            flaws.update((good[i], flaw) for i, flaw in judged.flaws.items())
            bad = [self._bad(piece[i], done + i + 1, flaws[i]) for i in sorted(flaws)]
            done += len(piece)
            yield from settle(judged, bad, min(flaws, default=0), done, log)

    def _cells(self, line: Line) -> list[str] | Flaw:
        data = line[2]
        if b"\0" in data:
            return Flaw(None, NUL_BYTE, "there is a NUL byte; check how the file was written")
        try:
            text = data.decode("utf-8").strip()
        except UnicodeDecodeError:
            remedy = "save the file as UTF-8, e.g. iconv -f latin1 -t utf-8"
            message = f"line {line[1] + 1} is not UTF-8 text; {remedy}"
            return Flaw(None, NOT_UTF8, message)
        try:
            return row_cells(text, len(self.names))
        except ValueError as error:
            return Flaw(None, WRONG_CELLS, str(error))

    def _bad(self, line: Line, row: int, flaw: Flaw) -> BadRow:
        at, number, data = line
        text = data.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
        return BadRow(self.name, row, number + 1, at, *flaw, text)


def _lines(chunks: Chunks) -> Iterator[Line]:
    data, at, number = b"", 0, 0
    for chunk in chunks:
        *whole, data = (data + chunk).split(b"\n")
        for line in whole:
            yield at, number, line
            at, number = at + len(line) + 1, number + 1
    if data:
        yield at, number, data
