"""Columns to rows of a stream: `(Batch, y)`, and what is wrong with the rest.

Columns come as Arrow arrays, where all cells are looked at together and any doubt is an
`UncleanError`, or as lists of Python cells, where each doubtful cell is judged by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.rows.arrow import (
    LARGEST,
    is_number,
    is_text,
    numbers_from_arrow,
    text_from_arrow,
    time_from_arrow,
)
from dfop.rows.batch import Batch, Text
from dfop.rows.extras import need
from dfop.streams.bad_rows import BadRow, Log
from dfop.streams.cells import (
    MAX_CELL,
    MISSING_CELL,
    Flaw,
    FlawError,
    is_class_name,
    label,
    moment,
    number,
    target,
    text,
    whole_label,
)
from dfop.streams.layout import Layout

Columns = Mapping[str, Any]


class UncleanError(Exception):
    """Some cell is not what the layout says: look at the rows one by one."""


class Judged(NamedTuple):
    """The good rows, and what is wrong with the others by their index."""

    batch: Batch
    y: NDArray[Any]
    flaws: dict[int, Flaw]


def settle(
    judged: Judged,
    bad: Sequence[BadRow],
    first: int,
    rows: int,
    log: Log,
) -> Iterator[tuple[Batch, NDArray[Any]]]:
    """Give the good rows and take note of the bad ones.

    `first` is the index of the first bad one, `rows` are all rows so far. Where bad rows are not
    allowed, those before the first are given before it is raised.
    """
    batch, y = judged.batch, judged.y
    left_out = log.skip - (rows - len(y) - len(bad))
    if left_out > 0:
        batch, y, bad, first = _leave_out(batch, y, bad, rows, left_out)
    if bad and log.mode == "fail":
        batch, y = batch[:first], y[:first]
        if len(y):
            yield batch, y
        log.add(bad, rows)
    log.add(bad, rows)
    if len(y):
        yield batch, y


def _leave_out(
    batch: Batch, y: NDArray[Any], bad: Sequence[BadRow], rows: int, left_out: int
) -> tuple[Batch, NDArray[Any], Sequence[BadRow], int]:
    """Leave out the first rows of a piece, good and bad; as `settle` goes on with the others."""
    before = rows - len(y) - len(bad)
    last = min(before + left_out, rows)
    kept = [row for row in bad if row.row > last]
    good = last - before - (len(bad) - len(kept))
    return batch[good:], y[good:], kept, kept[0].row - 1 - last if kept else 0


# -- all cells together -------------------------------------------------------------------------


def from_arrow(columns: Columns, layout: Layout, rows: int, *, typed: bool) -> Judged:
    """Make rows of Arrow arrays if every cell is clean."""
    numbers = np.zeros((rows, len(layout.features)))
    texts: dict[int, Text] = {}
    for j, name in enumerate(layout.features):
        if layout.kinds[name] == "text":
            texts[j] = _clean_text(columns[name], name)
        else:
            numbers[:, j] = _clean_numbers(columns[name], name, typed)
    good = np.abs(numbers) <= LARGEST
    gaps = not good.all()
    if gaps and not (good | np.isnan(numbers)).all():
        raise UncleanError
    if not layout.gaps and (gaps or any((t.codes < 0).any() for t in texts.values())):
        raise UncleanError
    time = None
    if layout.time is not None:
        time = _clean_time(columns[layout.time], layout)
    if not layout.targets:
        y = np.empty((rows, 0))
    elif layout.task == "classification":
        y = _clean_labels(columns, layout)
    else:
        y = _clean_targets(columns, layout)
    return Judged(Batch(numbers, gaps, texts, layout.features, time), y, {})


def _clean_text(column: Any, name: str) -> Text:
    if not is_text(column.type):
        if column.null_count == len(column):
            return Text(np.full(len(column), -1, dtype=np.int64), [])
        raise UncleanError
    try:
        found = text_from_arrow(column, name, declared=True)
    except UnicodeDecodeError:
        raise UncleanError from None
    if any(len(value) > MAX_CELL for value in found.values):
        raise UncleanError
    return found


def _clean_numbers(column: Any, name: str, typed: bool) -> NDArray[np.float64]:
    if not is_number(column.type):
        raise UncleanError
    values = numbers_from_arrow(column, name)
    if not typed and np.count_nonzero(np.isnan(values)) > column.null_count:
        raise UncleanError  # the parser reads "nan(x)" as NaN, we do not
    return values


def _clean_targets(columns: Columns, layout: Layout) -> NDArray[np.float64]:
    found = [_clean_numbers(columns[name], name, typed=True) for name in layout.targets]
    y = found[0] if layout.one_target else np.column_stack(found)
    if not (np.abs(y) <= LARGEST).all():
        raise UncleanError
    return y


def _clean_labels(columns: Columns, layout: Layout) -> NDArray[Any]:
    column = columns[layout.targets[0]]
    if column.null_count:
        raise UncleanError
    if not is_text(column.type):
        return _clean_whole(column, layout)
    names, codes = _names(column, layout)
    values: list[Any] = names
    if layout.whole:
        values = [whole_label(value, typed=False) for value in values]
    known = values if layout.classes is None else layout.classes
    if not all(value is not None and value in known for value in values):
        raise UncleanError
    if not values:
        return np.empty(len(codes), dtype=np.int64 if layout.whole else "U1")
    return np.asarray(np.array(values)[codes])


def _names(column: Any, layout: Layout) -> tuple[list[str], NDArray[Any]]:
    """Return the names of the classes in a column of text, and which of them each cell has."""
    pa = need("pyarrow", extra="data")
    try:
        if not pa.types.is_dictionary(column.type):
            column = column.cast(pa.string()).dictionary_encode()
        found = column.dictionary.to_pylist()
    except (UnicodeDecodeError, pa.ArrowInvalid):
        raise UncleanError from None
    codes: NDArray[Any] = column.indices.to_numpy(zero_copy_only=False)
    # a dictionary may hold values that do not occur
    used, codes = np.unique(codes, return_inverse=True)
    names = [found[code] for code in used.tolist()]
    if not all(is_class_name(name, layout.classes) and len(name) <= MAX_CELL for name in names):
        raise UncleanError
    return [name.strip() for name in names], codes


def _clean_whole(column: Any, layout: Layout) -> NDArray[np.int64]:
    pa = need("pyarrow", extra="data")
    if not (layout.whole and is_number(column.type)):
        raise UncleanError
    try:
        y: NDArray[np.int64] = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise UncleanError from None
    if layout.classes is not None and not np.isin(y, np.array(layout.classes)).all():
        raise UncleanError
    return y


def _clean_time(column: Any, layout: Layout) -> NDArray[Any]:
    if column.null_count or is_number(column.type) != layout.numeric_time:
        raise UncleanError
    try:
        return time_from_arrow(column, str(layout.time), zoned=layout.zoned)
    except ValueError:
        raise UncleanError from None


# -- cell by cell -------------------------------------------------------------------------------


def from_cells(columns: Mapping[str, Sequence[Any]], layout: Layout, *, typed: bool) -> Judged:
    """Make rows of lists of cells; rows with a flaw are left out."""
    flaws: dict[int, Flaw] = {}
    rows = len(columns[layout.columns[0]])
    numbers = np.zeros((rows, len(layout.features)))
    texts: dict[int, Text] = {}
    for j, name in enumerate(layout.features):
        if layout.kinds[name] == "text":
            texts[j] = _texts(columns[name], name, flaws, layout)
        else:
            numbers[:, j] = _numbers(columns[name], name, flaws, layout, typed)
        if not layout.gaps:
            missing = texts[j].codes < 0 if j in texts else np.isnan(numbers[:, j])
            message = "the cell is missing; fill it, or allow gaps with missing='nan'"
            for i in np.flatnonzero(missing).tolist():
                flaws.setdefault(i, Flaw(name, MISSING_CELL, message))
    y = _labels(columns, layout, flaws, typed)
    time = _times(columns, layout, flaws)
    batch = Batch(numbers, bool(np.isnan(numbers).any()), texts, layout.features, time)
    if flaws:
        keep = np.ones(rows, dtype=bool)
        keep[list(flaws)] = False
        batch, y = take(batch, keep), y[keep]
    return Judged(batch, y, flaws)


def take(batch: Batch, rows: NDArray[Any]) -> Batch:
    """Pick rows by a mask or by their indices."""
    numbers = batch.numbers[rows]
    return Batch(
        numbers,
        batch.gaps and bool(np.isnan(numbers).any()),
        {j: Text(text.codes[rows], text.values) for j, text in batch.texts.items()},
        batch.names,
        None if batch.time is None else batch.time[rows],
    )


def _each(
    cells: Sequence[Any], flaws: dict[int, Flaw], otherwise: Any, judge: Callable[[Any], Any]
) -> list[Any]:
    """Judge each cell; keep the first flaw of a row, and `otherwise` in its place."""
    found = []
    for i, cell in enumerate(cells):
        try:
            found.append(judge(cell))
        except FlawError as error:
            flaws.setdefault(i, error.flaw)
            found.append(otherwise)
    return found


_PLAIN = {float, int, bool, type(None), np.float64, np.int64, np.float32, np.int32}


def _numbers(
    cells: Sequence[Any], name: str, flaws: dict[int, Flaw], layout: Layout, typed: bool
) -> Any:
    if set(map(type, cells)) <= _PLAIN:
        try:
            # None becomes NaN
            values = np.array(cells, dtype=np.float64)
            if (np.isnan(values) | (np.abs(values) <= LARGEST)).all():
                return values
        except (TypeError, OverflowError):
            pass
    given = name in layout.given
    # numbers given as text are taken where the column is said to be numbers
    strict = typed and not given
    return _each(cells, flaws, 0.0, lambda cell: number(cell, name, typed=strict, given=given))


def _texts(cells: Sequence[Any], name: str, flaws: dict[int, Flaw], layout: Layout) -> Text:
    given = name in layout.given
    cells = _each(cells, flaws, None, lambda cell: text(cell, name, given=given))
    found: dict[str, int] = {}
    codes = [-1 if cell is None else found.setdefault(cell, len(found)) for cell in cells]
    return Text(np.array(codes, dtype=np.int64), list(found))


def _targets(cells: Sequence[Any], name: str, flaws: dict[int, Flaw], typed: bool) -> list[float]:
    return _each(cells, flaws, 0.0, lambda cell: target(cell, name, typed=typed))


def _labels(columns: Columns, layout: Layout, flaws: dict[int, Flaw], typed: bool) -> NDArray[Any]:
    if not layout.targets:
        return np.empty((len(columns[layout.columns[0]]), 0))
    if layout.task == "regression":
        found = [_targets(columns[n], n, flaws, typed) for n in layout.targets]
        return np.array(found[0]) if layout.one_target else np.array(found).T
    name, known = layout.targets[0], layout.classes
    cells = _each(
        columns[name],
        flaws,
        0 if layout.whole else "",
        lambda c: label(c, name, whole=layout.whole, known=known, typed=typed),
    )
    return np.array(cells, dtype=np.int64 if layout.whole else np.str_)


def _times(columns: Columns, layout: Layout, flaws: dict[int, Flaw]) -> NDArray[Any] | None:
    if layout.time is None:
        return None
    name, numeric = layout.time, layout.numeric_time
    otherwise = 0.0 if numeric else np.datetime64(0, "ns")
    found = _each(
        columns[name],
        flaws,
        otherwise,
        lambda c: moment(c, name, numeric=numeric, zoned=layout.zoned),
    )
    return np.array(found, dtype=np.float64 if numeric else "datetime64[ns]")
