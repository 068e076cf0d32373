"""Bad rows while a run reads: marked among the predictions, and put aside in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dfop.streams.bad_rows import BadRow, check_quarantine, quarantine_text

from .disk import Disk
from .outputs import Appended
from .predictions import BadMark, Predictions


class Aside:
    """What takes the bad rows of a run, in their order."""

    def __init__(self) -> None:
        self.out: Appended | None = None
        """The file in which they are put aside."""
        self._lines = False
        self.predictions: Predictions | None = None
        self.marks: list[BadMark] = []
        """Of rows since the last good ones were taken."""
        self._earlier = 0

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
        if self._earlier and self.predictions is not None:
            self.predictions.add(None, self.marks[: self._earlier])
        self.marks = self.marks[self._earlier :] if self.predictions is not None else []
        self.marks += [BadMark(row.row, row.kind) for row in bad]
        self._earlier = len(self.marks)

    def put(self, bad: Sequence[BadRow]) -> None:
        """Put bad rows aside, without a mark."""
        if self.out is not None:
            self.out.append(quarantine_text(bad, self._lines).encode())

    def take(self) -> list[BadMark]:
        """Return the rows that were bad since the last call."""
        marks, self.marks, self._earlier = self.marks, [], 0
        return marks


class OnlyAside:
    """What takes the bad rows of another source than that of the predictions."""

    def __init__(self, aside: Aside) -> None:
        self._aside = aside

    def append(self, bad: Sequence[BadRow]) -> None:
        """Put rows aside without a mark among the predictions."""
        self._aside.put(bad)
