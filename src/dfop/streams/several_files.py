"""Several files of the same columns, one after the other, as one source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dfop.rows.batch import Batch
from dfop.streams.bad_rows import FurtherRows, Log
from dfop.streams.errors import DataError
from dfop.streams.json_source import JsonSource
from dfop.streams.layout import Layout
from dfop.streams.sources import Source
from dfop.streams.tally import Tally


class SeveralFiles:
    """Files that are read in their order; the first one decides what the columns hold.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    open_one : callable
        Opens one of them as a source.
    """

    length: int | None = None

    def __init__(self, paths: Sequence[Path], open_one: Callable[[Path], Source]) -> None:
        self._paths, self._open = paths, open_one
        self._first: Source | None = open_one(paths[0])
        first = self._first
        self.name = f"{first.name} and {len(paths) - 1} more"
        self.names, self.reusable = first.names, first.reusable
        self.seen, self.good = first.seen, first.good
        self.tally: Callable[..., Tally] = first.tally

    def pieces(self, layout: Layout, log: Log) -> Iterator[tuple[Batch, NDArray[Any]]]:
        """Give the rows of all files; bad ones go to the log, numbered on."""
        before = 0
        for at, path in enumerate(self._paths):
            held, self._first = self._first, None
            source = held if at == 0 and held is not None else self._open(path)
            self._check(source, layout)
            counted = _Counted(log, before)
            yield from source.pieces(layout, counted)
            before += counted.rows

    def _check(self, source: Source, layout: Layout) -> None:
        for column in layout.columns:
            # a row of JSON may leave out what is missing
            if column not in source.names and not isinstance(source, JsonSource):
                raise DataError(
                    f"the column is missing; {self._paths[0]} has it",
                    source=source.name,
                    column=column,
                    remedy="Give files of the same columns",
                )
        strange = [name for name in source.names if name not in self.names]
        if strange and not layout.chosen:
            raise DataError(
                f"the column is not in {self._paths[0]}",
                source=source.name,
                column=strange[0],
                remedy="Give files of the same columns, or name those to learn from",
            )


class _Counted(FurtherRows):
    """The log of one file, which also counts its rows."""

    def __init__(self, log: Log, before: int) -> None:
        super().__init__(log, before, max(log.skip - before, 0))
        self.rows = 0

    def add(self, bad: Any, rows: int) -> None:
        """Take note of bad rows among the first `rows` of this file."""
        self.rows = rows
        super().add(bad, rows)
