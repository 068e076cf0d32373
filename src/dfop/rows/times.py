"""When rows came: numbers, or datetimes, all with a zone or all without."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cells import shown
from .checks import refuse_masked

_NUMBER, _ZONED, _NAIVE = "number", "datetime with a zone", "datetime without a zone"
_EVERY_ROW = "give every row its time, or drop the row"
_ONE_ZONE = "give all times with a zone, or all without, or all as numbers"
_REMEDY = "give numbers (seconds) or datetimes, such as pandas.to_datetime makes of texts and dates"
_EARLIEST, _LATEST = np.datetime64("1678-01-01", "s"), np.datetime64("2262-01-01", "s")


@dataclass(frozen=True)
class Clock:
    """When the last row came: ns since 1970 for datetimes, a plain number otherwise."""

    last: int | float | None = None
    datetimes: bool = False
    zoned: bool | None = None
    """Whether datetimes named their zone; None where nobody knows: NumPy's have none, and count
    as UTC."""


class Times(NamedTuple):
    """The times of some rows."""

    values: NDArray[Any]
    """Whole ns since 1970 where they are datetimes, else numbers."""
    datetimes: bool
    zoned: bool | None
    """As in `Clock`."""

    def cut(self, part: slice) -> Times:
        """Return the times of some of the rows."""
        return self._replace(values=self.values[part])


def read_times(time: Any, n: int) -> Times:
    """Return the times of n rows, of which none may be missing."""
    array, zoned = _one_per_row(time, n)
    if array.dtype.kind == "M":
        if np.isnat(array).any():
            t = int(np.argmax(np.isnat(array)))
            raise ValueError(f"time is missing (NaT) at row {t}: {_EVERY_ROW}")
        beyond = (array < _EARLIEST) | (array > _LATEST)
        if beyond.any():
            t = int(np.argmax(beyond))
            raise ValueError(
                f"time is {array[t]} at row {t}: it must lie between 1678 and 2262; mend it, or "
                "give times as numbers"
            )
        return Times(array.astype("datetime64[ns]").astype(np.int64), True, zoned)
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        t = int(np.argmax(~np.isfinite(array)))
        raise ValueError(f"time is {array[t]} at row {t}: it must be finite; {_EVERY_ROW}")
    return Times(array, False, zoned)


def noted_times(time: Any, n: int, clock: Clock) -> tuple[NDArray[Any] | None, Clock]:
    """Return the times of n rows as alarms carry them: ``datetime64[ns]``, or numbers.

    They need not ascend, and may be missing. The clock then knows whether they name a zone.
    """
    if time is None:
        return None, clock
    array, zoned = _one_per_row(time, n)
    check_zone(clock.zoned, zoned, "before", "now")
    clock = clock if zoned is None else replace(clock, zoned=zoned)
    if array.dtype.kind != "M":
        return array.astype(np.float64), clock
    beyond = (array < _EARLIEST) | (array > _LATEST)
    return np.where(beyond, np.datetime64("NaT"), array).astype("datetime64[ns]"), clock


def check_told(before: Clock, datetimes: bool, zoned: bool | None) -> None:
    """Refuse times of another kind than before."""
    if before.datetimes != datetimes:
        kinds = ("datetimes", "numbers") if before.datetimes else ("numbers", "datetimes")
        raise ValueError(f"time was given as {kinds[0]} before and as {kinds[1]} now: keep to one")
    check_zone(before.zoned, zoned, "before", "now")


def check_zone(a: bool | None, b: bool | None, first: str, then: str) -> None:
    """Refuse times of which some name their zone and others do not."""
    if a is not None and b is not None and a != b:
        kinds = ("with a zone", "without one") if a else ("without a zone", "with one")
        raise ValueError(f"time is given {kinds[0]} {first} and {kinds[1]} {then}: {_ONE_ZONE}")


def _one_per_row(time: Any, n: int) -> tuple[NDArray[Any], bool | None]:
    """Return times, one per row, and whether they name their zone."""
    refuse_masked(time, "time", _EVERY_ROW)
    array, zoned = np.asarray(time), _zone_of_column(time)
    if array.dtype == object:
        array, zoned = _of_cells(array)
    if array.ndim == 0:
        array = np.full(n, array)
    if array.shape != (n,):
        raise ValueError(
            f"time has shape {array.shape} but there are {n} rows: give one time per row"
        )
    if array.dtype.kind not in "Miuf":
        first = shown(array[0]) if n else array.dtype
        raise ValueError(f"time is {first} at row 0, which is no time: {_REMEDY}")
    return array, zoned


def _zone_of_column(time: Any) -> bool | None:
    """Whether a column names the zone of its datetimes; None where its type does not say."""
    kind = getattr(time, "dtype", getattr(time, "type", None))
    kind = getattr(kind, "pyarrow_dtype", kind)
    for name in ("tz", "time_zone"):  # pandas and Arrow; polars
        if hasattr(kind, name):
            return getattr(kind, name) is not None
    of_pandas = type(time).__module__.startswith("pandas")
    return False if of_pandas and getattr(kind, "kind", "") == "M" else None


def _of_cells(cells: NDArray[Any]) -> tuple[NDArray[Any], bool | None]:
    """Return times given one by one: all of them numbers, or datetimes with a zone or without."""
    found: dict[str, int] = {}
    times = []
    for row, cell in enumerate(cells.ravel()):
        time, kind = _as_time(cell, row)
        times.append(time)
        if kind is not None and kind not in found:
            found[kind] = row
            if len(found) > 1:
                (before, first), _ = found.items()
                raise ValueError(
                    f"time is a {kind} at row {row} and a {before} at row {first}: {_ONE_ZONE}"
                )
    zoned = None if _ZONED not in found and _NAIVE not in found else _ZONED in found
    return np.array(times).reshape(cells.shape), zoned


def _as_time(cell: Any, row: int) -> tuple[np.datetime64 | float, str | None]:
    """Return a time and its kind; None of one that is missing, or NumPy's."""
    if isinstance(cell, np.datetime64):
        return cell, None
    if isinstance(cell, datetime):
        if cell != cell:  # pandas' NaT is a datetime unlike itself
            return np.datetime64("NaT"), None
        if cell.tzinfo is None:
            return np.datetime64(cell), _NAIVE
        return np.datetime64(cell.astimezone(UTC).replace(tzinfo=None)), _ZONED
    if isinstance(cell, int | float | np.integer | np.floating):
        return float(cell), _NUMBER
    raise ValueError(f"time is {shown(cell)} at row {row}, which is no time: {_REMEDY}")
