"""The record of a comparison: a line of CSV for every stream and system, kept as soon as known.

A run that was killed goes on where it was. Lines are added at the end; of two lines about the same
stream and system the later one counts, and a line that was cut off does not count at all.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HEADER = (
    "stream", "task", "system", "form", "kind", "library", "version", "limit", "rows", "columns",
    "score", "us_per_row", "losses",
)  # fmt: skip


class RecordError(ValueError):
    """The record holds something else than was asked for."""


@dataclass(frozen=True)
class Entry:
    """What one system did on one stream.

    Attributes
    ----------
    stream, task : str
    system, form, kind, library : str
        As `systems.System` has them; `system` is the peer.
    version : str
        Of the library.
    limit : int
        How many first rows were asked for; 0 for all.
    rows, columns : int
        How many there were.
    us_per_row : float
        Microseconds of processor time.
    losses : ndarray
        Sums over blocks (`chance.block_sums`): wrong labels, or squared errors.
    """

    stream: str
    task: str
    system: str
    form: str
    kind: str
    library: str
    version: str
    limit: int
    rows: int
    columns: int
    us_per_row: float
    losses: NDArray[np.float64]

    @property
    def key(self) -> tuple[str, str, str]:
        """What there is one entry of."""
        return self.stream, self.system, self.form

    @property
    def score(self) -> float:
        """Accuracy in percent, or the mean squared error x 100."""
        mean = float(self.losses.sum()) / self.rows
        return 100 * (1 - mean) if self.task == "labels" else 100 * mean

    def cells(self) -> list[str]:
        """Return what stands in the line."""
        losses = " ".join(f"{loss:.6g}" for loss in self.losses)
        return [
            self.stream, self.task, self.system, self.form, self.kind, self.library, self.version,
            str(self.limit), str(self.rows), str(self.columns), f"{self.score:.6g}",
            f"{self.us_per_row:.4g}", losses,
        ]  # fmt: skip


class Record:
    """The entries of one file.

    Parameters
    ----------
    path : Path
        Need not exist.
    limit : int, optional
        How many first rows of each stream the entries are of, 0 for all; entries of another limit
        are refused. None takes what there is.

    Raises
    ------
    RecordError
        If the file is no record, or one of other rows.
    """

    def __init__(self, path: Path, limit: int | None = None) -> None:
        self.path = path
        self._entries: dict[tuple[str, str, str], Entry] = {}
        for entry in _read(path) if path.exists() else ():
            self._entries[entry.key] = entry
        limits = {entry.limit for entry in self._entries.values()}
        if limit is not None and limits - {limit}:
            raise RecordError(
                f"{path} holds scores of the first {limits.pop()} rows of each stream (0: all); "
                f"--rows {limit} would set unlike beside unlike: move the file away"
            )
        if len(limits) > 1:
            raise RecordError(f"{path} mixes scores of different numbers of rows: {sorted(limits)}")

    @property
    def entries(self) -> list[Entry]:
        """All entries, in the order in which they were first made."""
        return list(self._entries.values())

    def has(self, key: tuple[str, str, str], version: str) -> bool:
        """Tell whether an entry is there, made by this version of the library."""
        entry = self._entries.get(key)
        return entry is not None and entry.version == version

    def add(self, entry: Entry) -> None:
        """Keep an entry: it is on the disk when this returns."""
        whole = self.path.exists() and self.path.stat().st_size > 0
        text = _lines([entry.cells()] if whole else [HEADER, entry.cells()])
        with self.path.open("r+" if whole else "w", newline="", encoding="utf-8") as file:
            if whole:
                file.seek(_whole_length(self.path))
            file.write(text)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        self._entries[entry.key] = entry

    def rewrite(self, order: Iterable[tuple[str, str, str]]) -> None:
        """Write the entries of these keys, in their order, and nothing else."""
        kept = [self._entries[key] for key in dict.fromkeys(order) if key in self._entries]
        aside = self.path.with_suffix(".new")
        aside.write_text(_lines([HEADER, *(entry.cells() for entry in kept)]), "utf-8")
        aside.replace(self.path)
        self._entries = {entry.key: entry for entry in kept}


def _whole_length(path: Path) -> int:
    """How many bytes the lines have that end: a kill may have cut off the last one."""
    return path.read_bytes().rfind(b"\n") + 1


def _read(path: Path) -> Iterable[Entry]:
    text = path.read_bytes()[: _whole_length(path)].decode("utf-8")
    reader = csv.reader(io.StringIO(text))
    if (header := next(reader, None)) is not None and tuple(header) != HEADER:
        raise RecordError(f"{path} is no record of a comparison: its first line is {header}")
    for number, cells in enumerate(reader, start=2):
        try:
            row = dict(zip(HEADER, cells, strict=True))
            del row["score"]  # follows from the losses
            yield Entry(
                **{name: row[name] for name in HEADER[:7]},
                limit=int(row["limit"]),
                rows=int(row["rows"]),
                columns=int(row["columns"]),
                us_per_row=float(row["us_per_row"]),
                losses=np.array([float(loss) for loss in row["losses"].split()]),
            )
        except ValueError as error:
            raise RecordError(f"{path}, line {number}: {error}") from None


def _lines(rows: Iterable[Iterable[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
