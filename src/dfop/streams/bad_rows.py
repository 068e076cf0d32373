"""Bad rows: what is wrong with each, how many there were, and the file they are put aside in."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from dfop.streams.errors import BadRowsError, DataError

Mode: TypeAlias = Literal["fail", "skip", "quarantine"]
MODES = ("fail", "skip", "quarantine")
# A share of bad rows means little before this many rows were read.
ENOUGH_FOR_A_SHARE = 1000
EXAMPLES = 5
SHOWN = 1000


class BadRow(NamedTuple):
    """A row that was not taken.

    Examples
    --------
    >>> BadRow("a.csv", 2, 3, 14, "size", "not a number", "'big' is not a number", "big,1").kind
    'not a number'
    """

    file: str
    """The file, or what the source is called."""
    row: int
    """The row among all rows, good and bad, counted from 1."""
    line: int | None
    """The line of the file on which it begins, counted from 1; None where there are no lines."""
    byte: int | None
    """The position of its first byte in the (uncompressed) file; None where there is none."""
    column: str | None
    """The column of the bad cell; None where the row as a whole is bad."""
    kind: str
    """What kind of error it is: "not a number", "missing label", ..."""
    message: str
    """What is wrong, with the cell."""
    text: str
    """The row as it stands in the file."""


class BadRows:
    """The bad rows of a stream as far as it was read, each counted once however often that was.

    Attributes
    ----------
    total : int
        How many there were.
    kinds : dict of str to int
        How many there were of each kind.
    examples : list of BadRow
        The first five, their text cut after 1,000 characters.
    rows : int
        The rows read so far, good and bad.
    skip : int
        How many rows at the beginning are left out, good and bad.

    Examples
    --------
    >>> from dfop.streams import read
    >>> rows = [{"x": 1, "y": 0.5}, {"x": "one", "y": 0.5}, {"x": 2, "y": None}] * 9
    >>> rows = [{"x": 1, "y": 0.5}] * 200 + rows
    >>> stream = read(rows, target="y", bad_rows="skip")
    >>> X, y = stream.arrays()
    >>> len(X), stream.bad
    (209, BadRows(18 of 227 rows: 9 not a number, 9 missing label))
    """

    def __init__(
        self,
        mode: Mode = "fail",
        quarantine: Any = None,
        max_bad: float | None = None,
        skip: int = 0,
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"bad_rows must be one of {', '.join(MODES)}, not {mode!r}")
        if (mode == "quarantine") != (quarantine is not None):
            raise ValueError(
                "bad_rows='quarantine' needs quarantine=, the file to put bad rows into"
                if mode == "quarantine"
                else "quarantine= goes with bad_rows='quarantine'"
            )
        if max_bad is not None and (mode == "fail" or isinstance(max_bad, bool)):
            raise ValueError("max_bad is a number or a share, for bad_rows='skip' or 'quarantine'")
        most = 1.0 if isinstance(max_bad, float) else float("inf")
        if max_bad is not None and not 0 <= max_bad <= most:  # nor nan
            raise ValueError(f"max_bad is a number of rows or a share up to 1.0, not {max_bad!r}")
        self.mode: Mode = mode
        self.max_bad = max_bad
        self.total = 0
        self.kinds: Counter[str] = Counter()
        self.examples: list[BadRow] = []
        self.rows = 0
        self.skip = skip
        if quarantine is None or hasattr(quarantine, "append"):
            self._file = quarantine
        else:
            self._file = Quarantine(quarantine)

    def state(self) -> dict[str, Any]:
        """Return what was counted so far, for JSON.

        Examples
        --------
        >>> log = BadRows("skip")
        >>> log.add([BadRow("a.csv", 2, 3, 14, None, "not JSON", "not JSON", "{")], rows=9)
        >>> again = BadRows("skip")
        >>> again.restore(log.state())
        >>> again
        BadRows(1 of 9 rows: 1 not JSON)
        """
        return {
            "rows": self.rows,
            "total": self.total,
            "kinds": dict(self.kinds),
            "examples": [list(row) for row in self.examples],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on counting where another left off: its rows, read again, are not noted again."""
        self.rows, self.total = int(state["rows"]), int(state["total"])
        self.kinds = Counter(state["kinds"])
        self.examples = [BadRow(*row) for row in state["examples"]]

    def add(self, bad: Sequence[BadRow], rows: int) -> None:
        """Take note of the bad ones among the first `rows` rows; those known are not noted again.

        Where bad rows are not allowed, the first is raised.
        """
        new = [row for row in bad if row.row > self.rows]
        if self.mode == "fail" and new:  # nobody reads beyond the first
            new, rows = new[:1], new[0].row
        self.rows = max(self.rows, rows)
        self.total += len(new)
        self.kinds.update(row.kind for row in new)
        for row in new[: EXAMPLES - len(self.examples)]:
            self.examples.append(row._replace(text=row.text[:SHOWN]))
        if self._file is not None and new:
            self._file.append(new)
        if bad and self.mode == "fail":
            raise as_error(bad[0])
        if self.total:
            self._check_limit(end=False)

    def end(self) -> None:
        """Check the limit once more, now that all rows were read."""
        if self.total:
            self._check_limit(end=True)

    def _check_limit(self, end: bool) -> None:
        if self.max_bad is None:
            return
        limit: float = self.max_bad
        if isinstance(limit, float):
            if self.rows < ENOUGH_FOR_A_SHARE and not end:
                return
            limit *= self.rows
        if self.total > limit:
            kinds = ", ".join(f"{n} {kind}" for kind, n in self.kinds.most_common())
            first = self.examples[0]
            raise BadRowsError(
                f"{self.total} bad rows among {self.rows}, more than max_bad={self.max_bad} "
                f"({kinds}); the first is row {first.row}: {first.message}",
                source=first.file,
                remedy="Mend the file, or allow more",
            )

    def __repr__(self) -> str:
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.kinds.most_common())
        return f"BadRows({self.total} of {self.rows} rows{': ' if kinds else ''}{kinds})"


class FurtherRows:
    """The log of rows that stand behind others: those of the second of several files.

    Parameters
    ----------
    log : BadRows
        Where bad rows are noted.
    before : int
        How many rows there were before.
    skip : int
        How many of these rows are left out at the beginning.

    Examples
    --------
    >>> log = BadRows("skip")
    >>> bad = BadRow("b.csv", 2, 3, 14, None, "not JSON", "not JSON", "{")
    >>> FurtherRows(log, before=100, skip=0).add([bad], rows=9)
    >>> log.rows, log.examples[0].row
    (109, 102)
    """

    def __init__(self, log: BadRows | FurtherRows, before: int, skip: int) -> None:
        self._log, self._before, self.skip = log, before, skip
        self.mode: Mode = log.mode

    def add(self, bad: Sequence[BadRow], rows: int) -> None:
        """Take note of bad rows among the first `rows` of this file."""
        before = self._before
        self._log.add([row._replace(row=row.row + before) for row in bad], rows + before)


Log: TypeAlias = BadRows | FurtherRows


def as_error(bad: BadRow) -> DataError:
    """Make an error of a bad row."""
    problem, _, remedy = bad.message.partition("; ")
    return BadRowsError(
        problem,
        source=bad.file,
        row=bad.row,
        column=bad.column,
        remedy=remedy[:1].upper() + remedy[1:] or None,
        line=bad.line,
        byte=bad.byte,
        kind=bad.kind,
        text=bad.text,
    )


class Quarantine:
    """A file of bad rows, CSV or JSON lines by its ending; rows are appended and flushed.

    A file that cannot be written, or that holds something else, is refused here and now.
    """

    def __init__(self, path: Any) -> None:
        self.path = Path(os.fsdecode(path))
        self.lines = check_quarantine(self.path)
        new = not (self.path.is_file() and self.path.stat().st_size)
        self._write(quarantine_text((), self.lines, head=True) if new else "")

    def append(self, bad: Sequence[BadRow]) -> None:
        """Write rows and hand them to the system."""
        self._write(quarantine_text(bad, self.lines))

    def _write(self, text: str) -> None:
        try:
            with self.path.open("a", encoding="utf-8", newline="") as file:
                file.write(text)
        except OSError as error:
            reason = f"the quarantine file cannot be written: {error.strerror or error}"
            raise type(error)(error.errno, reason, str(self.path)) from None


def check_quarantine(path: Path) -> bool:
    """Refuse a file that cannot hold bad rows, or holds something else; whether it is JSON lines.

    Examples
    --------
    >>> check_quarantine(Path("bad.jsonl"))
    True
    """
    lines = path.suffix.lower() in (".jsonl", ".ndjson")
    if path.suffix.lower() in (".parquet", ".pq"):
        raise ValueError(
            f"{path}: rows cannot be appended to Parquet; give a quarantine file that "
            "ends in .csv or .jsonl"
        )
    if path.is_file() and path.stat().st_size:
        with path.open(encoding="utf-8", errors="replace") as file:
            first = file.readline().strip()
        header = ",".join(BadRow._fields)
        if not (first.startswith('{"file"') if lines else first == header):
            raise ValueError(
                f"{path} holds something else than bad rows: name another quarantine file"
            )
    return lines


def quarantine_text(bad: Sequence[BadRow], lines: bool, *, head: bool = False) -> str:
    r"""Return bad rows as they stand in a quarantine file, after its `head`.

    Examples
    --------
    >>> quarantine_text([], lines=False, head=True)
    'file,row,line,byte,column,kind,message,text\n'
    """
    if lines:
        return "".join(json.dumps(row._asdict()) + "\n" for row in bad)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([BadRow._fields, *bad] if head else bad)
    return text.getvalue()
