"""ARFF, the format of Weka and MOA: a header of attributes, then comma-separated rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dfop.streams.errors import DataError

_CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.|'')*)'|"((?:[^"\\]|\\.|"")*)"|([^,]*?))\s*(,|$)""")
_ESCAPED = {mark: re.compile(rf"""\\(['"\\%])|({mark}){mark}""") for mark in "'\""}
_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+?)\s*(\{.*\}|\s\S.*)$", re.IGNORECASE)


def read_arff(
    lines: Iterable[str], source: str
) -> tuple[list[tuple[str, str]], Iterator[list[str]]]:
    """Read the header, and give the rows as they are asked for.

    Parameters
    ----------
    lines : iterable of str
        The lines of the file.
    source : str
        What error messages call it.

    Returns
    -------
    attributes : list of (name, type)
        In the order of the columns; the type is as written.
    rows : iterator of list of str
        The cells of each row, without quotes and surrounding space.
    """
    rest = iter(lines)
    attributes = read_header(rest, source)
    return attributes, _rows(rest, len(attributes), source)


def read_header(lines: Iterator[str], source: str) -> list[tuple[str, str]]:
    """Read the attributes, up to the line @data."""
    attributes: list[tuple[str, str]] = []
    for line in lines:
        line = line.strip()
        if line[:5].lower() == "@data":
            break
        if line[:10].lower() == "@attribute":
            match = _ATTRIBUTE.match(line)
            if match is None:
                raise DataError(f"cannot read the header line {line!r}", source=source)
            attributes.append((match[1].strip("'\""), match[2].strip()))
    else:
        raise DataError(
            "there is no @data line", source=source, remedy="Check that this is an ARFF file"
        )
    if not attributes:
        raise DataError("there is no @attribute line before @data", source=source)
    return attributes


def _rows(lines: Iterator[str], width: int, source: str) -> Iterator[list[str]]:
    number = 0
    for line in lines:
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        number += 1
        try:
            yield row_cells(line, width)
        except ValueError as error:
            raise DataError(str(error), source=source, row=number) from None


def row_cells(line: str, width: int) -> list[str]:
    """Cut a row into its cells; a ValueError says what is wrong with it.

    Examples
    --------
    >>> row_cells('1, "a, b", c d,?', 4)
    ['1', 'a, b', 'c d', '?']
    """
    if line.startswith("{"):
        raise ValueError("sparse rows are not supported; convert the file to dense ARFF or CSV")
    cells = [cell.strip() for cell in _split(line)]
    if len(cells) == width + 1 and cells[-1] == "":
        # A stray comma at the end of a row is common and harmless.
        cells.pop()
    if len(cells) != width:
        message = f"{len(cells)} cells where the header has {width} attributes"
        raise ValueError(f"{message}; mend or remove the row")
    return cells


def _split(line: str) -> list[str]:
    if '"' not in line and "'" not in line:
        return line.split(",")
    cells, at, more = [], 0, ","
    while more:
        cell = _CELL.match(line, at)
        assert cell is not None  # whatever comes is a cell, if only an unquoted one
        single, double, plain, more = cell.groups()
        if plain and plain[0] in "'\"":
            raise ValueError("a quote is not closed, or text follows it; mend or remove the row")
        mark, quoted = ("'", single) if double is None else ('"', double)
        cells.append(plain if quoted is None else _ESCAPED[mark].sub(r"\1\2", quoted))
        at = cell.end()
    return cells
