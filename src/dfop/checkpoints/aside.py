"""Bad rows while a run reads: marked among the predictions, and put aside in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dfop.streams.bad_rows import BadRow, check_quarantine, quarantine_text

from .disk import Disk
from .outputs import Appended
from .predictions import BadMark, Predictions
from .words import in_options


class Aside:
    """What takes the bad rows of a run, in their order."""

    def __init__(self) -> None:
        self.out: Appended | None = None
        """The file in which they are put aside."""
        self._lines = False
        self.predictions: Predictions | None = None
        self.marks: list[BadMark] = []
        """Of rows since the last good ones were taken."""
        self._before = 0

    def open(self, path: Path, disk: Disk, length: int | None) -> None:
        """Put rows aside in a file from now on; `length` as in `Appended`."""
        self._lines = check_quarantine(path)
        self.out = Appended(path, disk, length)
        if not length:
            self.out.append(quarantine_text((), self._lines, head=True).encode())

    def close(self) -> None:
        """Close the file, if there is one."""
        if self.out is not None:
            self.out.close()

    def append(self, bad: Sequence[BadRow]) -> None:
        """Take bad rows."""
        self.put(bad)
        # No good row came since the last call: what was marked then comes before all to come.
        if self.marks:
            self._before = self.marks[-1].row
            if self.predictions is not None:
                self.predictions.add(None, self.marks)
        self.marks = [BadMark(row.row, row.kind) for row in bad]

    def put(self, bad: Sequence[BadRow]) -> None:
        """Put bad rows aside, without a mark."""
        if self.out is not None:
            told = [row._replace(message=in_options(row.message)) for row in bad]
            self.out.append(quarantine_text(told, self._lines).encode())

    def take(self) -> list[BadMark]:
        """Return the rows that were bad since the last call and are not yet written."""
        marks, self.marks = self.marks, []
        return marks

    def number(self, before: int, count: int) -> tuple[NDArray[np.int64], list[BadMark]]:
        """Return the numbers of good rows that came after row `before`, and what `take` returns.

        They are the first `count` numbers that are not those of bad rows.

        Examples
        --------
        >>> aside = Aside()
        >>> aside.append([BadRow("a.csv", 12, 13, 90, None, "not JSON", "not JSON", "{")])
        >>> aside.number(10, 3)
        (array([11, 13, 14]), [BadMark(row=12, kind='not JSON')])
        """
        marks = self.take()
        before = max(before, self._before)
        numbers = np.arange(before + 1, before + count + len(marks) + 1)
        return numbers[~np.isin(numbers, [mark.row for mark in marks])][:count], marks


class OnlyAside:
    """What takes the bad rows of another source than that of the predictions."""

    def __init__(self, aside: Aside) -> None:
        self._aside = aside

    def append(self, bad: Sequence[BadRow]) -> None:
        """Put rows aside without a mark among the predictions."""
        self._aside.put(bad)
