"""Cells to numbers, labels and times; the first bad cell is named by row and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from dfop.streams.errors import DataError

Missing = Literal["error", "nan"]
_GAPS = {"", "?", "na", "n/a", "nan", "null", "none"}


@dataclass(frozen=True)
class Place:
    """Where a piece of a column comes from: its source, its first row (from 1), its name."""

    source: str
    first_row: int
    column: str

    def error(self, index: int, problem: str, remedy: str | None = None) -> NoReturn:
        """Raise for the cell at `index` of the piece."""
        row = self.first_row + index
        raise DataError(problem, source=self.source, row=row, column=self.column, remedy=remedy)


def is_gap(cell: Any) -> bool:
    """Tell a missing cell: None, NaN, or a text that means it."""
    if isinstance(cell, str):
        return cell.strip().lower() in _GAPS
    return cell is None or cell != cell


def text(cell: Any, index: int, place: Place) -> Any:
    """Decode a cell that was read as bytes."""
    if not isinstance(cell, bytes):
        return cell
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        place.error(
            index,
            f"{cell!r} is not UTF-8 text",
            "Save the file as UTF-8, e.g. iconv -f latin1 -t utf-8",
        )


def numbers(cells: Sequence[Any], place: Place, missing: Missing) -> NDArray[np.float64]:
    """Turn cells into finite numbers, or NaN where gaps are allowed."""
    try:
        values = np.asarray(cells, dtype=np.float64)
        if values.ndim == 1 and np.isfinite(values).all():
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    return np.array([_number(cell, i, place, missing) for i, cell in enumerate(cells)], np.float64)


def _number(cell: Any, index: int, place: Place, missing: Missing) -> float:
    cell = text(cell, index, place)
    if is_gap(cell):
        if missing == "nan":
            return float("nan")
        place.error(
            index, "the cell is missing", "Fill it, or pass missing='nan' if the model takes gaps"
        )
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        place.error(
            index,
            f"{cell!r} is not a number",
            "Code it as a number, or name the columns to use with features=[...]",
        )
    if not np.isfinite(value):
        place.error(index, f"{cell!r} is not finite", "Remove the row or clip the value")
    return value


def labels(
    cells: Sequence[Any], place: Place, known: Sequence[Any] | None, whole: bool
) -> NDArray[Any]:
    """Turn cells into class labels: whole numbers if `whole`, else text."""
    out = []
    for i, cell in enumerate(cells):
        cell = text(cell, i, place)
        if is_gap(cell):
            place.error(i, "the label is missing", "Remove the row")
        if whole:
            label: Any = as_whole(cell)
            if label is None:
                place.error(
                    i,
                    f"the label {cell!r} is not a whole number, as all before it",
                    "Pass classes=(...), or task='regression'",
                )
        else:
            label = str(cell).strip()
        if known is not None and label not in known:
            place.error(i, f"the label {label!r} is not among the classes {tuple(known)!r}")
        out.append(label)
    return np.array(out, dtype=np.int64 if whole else None)


def as_whole(cell: Any) -> int | None:
    """Read a whole number, or None if the cell is not one."""
    try:
        if isinstance(cell, bytes | str):
            return int(cell)
        return int(cell) if float(cell) == int(cell) else None
    except (TypeError, ValueError, OverflowError):
        return None


def times(cells: Sequence[Any], place: Place, numeric: bool) -> NDArray[Any]:
    """Turn cells into numbers if `numeric`, else into UTC datetime64."""
    if not numeric:
        return np.array([_moment(cell, i, place) for i, cell in enumerate(cells)], "datetime64[us]")
    for i, cell in enumerate(cells):
        if not is_number(cell):
            place.error(i, f"{text(cell, i, place)!r} is not a time like the number before it")
    return np.array([float(cell) for cell in cells])


def is_number(cell: Any) -> bool:
    """Tell whether a cell is a finite number."""
    try:
        return bool(np.isfinite(float(cell)))
    except (TypeError, ValueError, OverflowError):
        return False


def _moment(cell: Any, index: int, place: Place) -> np.datetime64:
    cell = text(cell, index, place)
    if isinstance(cell, np.datetime64):
        return cell
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if isinstance(cell, str):
        try:
            cell = datetime.fromisoformat(cell.strip())
        except ValueError:
            cell = cell.strip()
    if not isinstance(cell, datetime):
        place.error(
            index, f"{cell!r} is not a time", "Write times as numbers or as 2024-05-01T12:00:00"
        )
    if cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(cell, "us")


def check_finite(
    values: NDArray[np.float64],
    names: Sequence[str],
    source: str,
    first_row: int,
    missing: Missing,
) -> None:
    """Refuse infinite numbers, and NaN unless gaps are allowed, naming the first bad cell."""
    bad = ~np.isfinite(values)
    if missing == "nan":
        bad &= ~np.isnan(values)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        _number(float(values[row, column]), row, Place(source, first_row, names[column]), missing)
