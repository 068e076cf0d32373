"""From the formats in which public streams are published to the one that `load` reads.

Ours is CSV: UTF-8, LF, a header, features first, targets last, digits as in the source.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from dfop.streams.arff import read_arff
from dfop.streams.entries import Entry
from dfop.streams.errors import DataError

# The public copy of UG-2C-5D is scaled to [0, 1]; x = offset + range * u undoes it.
_UG5_OFFSET = (-3.5821, -4.3389, -5.2566, -5.5878, -5.2966)
_UG5_RANGE = (18.5071, 21.1179, 19.0716, 20.4308, 18.2486)


def convert(entry: Entry, paths: list[Path]) -> Iterator[str]:
    """Give the lines of our CSV from upstream files, in the order of the catalogue.

    Parameters
    ----------
    entry : Entry
        What the files are.
    paths : list of Path
        One per upstream file.

    Yields
    ------
    str
        A line, with its newline.
    """
    pieces = [_cells(entry.format, path) for path in paths]
    # Two files of weather stand side by side; the nine of hyperplane follow one another.
    side_by_side = entry.name == "weather"
    rows = _beside(pieces, paths) if side_by_side else (row for rows in pieces for row in rows)
    yield ",".join(entry.columns) + "\n"
    number = 0
    for number, cells in enumerate(rows, 1):
        if len(cells) != len(entry.columns):
            raise DataError(
                f"{len(cells)} cells instead of {len(entry.columns)}",
                source=", ".join(path.name for path in paths),
                row=number,
                remedy="Delete the file and download it again",
            )
        yield ",".join(cells) + "\n"
    if number != entry.rows:
        raise DataError(
            f"{number} rows instead of {entry.rows}",
            source=", ".join(path.name for path in paths),
            remedy="Delete the file and download it again",
        )


def _cells(kind: str, path: Path) -> Iterator[list[str]]:
    if kind == "ug-2c-5d":
        yield from _ug5(path)
        return
    with path.open(encoding="utf-8", newline=None) as lines:
        try:
            if kind == "arff":
                yield from read_arff(lines, path.name)[1]
            elif kind == "table":
                yield from _table(lines)
            else:
                if kind == "csv with header":
                    next(lines, None)
                yield from (line.rstrip("\n").split(",") for line in lines if line.strip())
        except UnicodeDecodeError as error:
            raise DataError(f"not UTF-8 text ({error.reason})", source=path.name) from None


def _table(lines: Iterable[str]) -> Iterator[list[str]]:
    """Columns parted by spaces, numbers like 6.6311319e-001, a title above."""
    for line in lines:
        try:
            values = [float(cell) for cell in line.split()]
        except ValueError:
            continue
        if values:
            yield [_shortest(value) for value in values]


def _ug5(path: Path) -> Iterator[list[str]]:
    with tarfile.open(path) as archive:
        members = [m for m in archive.getmembers() if m.isfile() and m.name.endswith(".arff")]
        if len(members) != 1:
            raise DataError(f"{len(members)} ARFF files in the archive, not 1", source=path.name)
        data = archive.extractfile(members[0])
        assert data is not None
        lines = (line.decode("utf-8") for line in data)
        for *scaled, label in read_arff(lines, path.name)[1]:
            values = [
                offset + width * float(u)
                for offset, width, u in zip(_UG5_OFFSET, _UG5_RANGE, scaled, strict=True)
            ]
            yield [*(_five_digits(value) for value in values), str(int(float(label)) + 1)]


def _five_digits(value: float) -> str:
    """Round to the five digits of the original; below 1 only five decimals can be recovered."""
    decimals = 3 if abs(value) >= 10 else 4 if abs(value) >= 1 else 5
    return _shortest(round(value, decimals))


def _shortest(value: float) -> str:
    return repr(value).removesuffix(".0")


def _beside(pieces: list[Iterator[list[str]]], paths: list[Path]) -> Iterator[list[str]]:
    try:
        for parts in zip(*pieces, strict=True):
            yield [cell for part in parts for cell in part]
    except ValueError:
        names = " and ".join(path.name for path in paths)
        raise DataError("the files differ in their number of rows", source=names) from None
