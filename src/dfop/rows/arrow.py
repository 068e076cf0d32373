"""Arrow to `Batch`: the way of files and data frames, column by column, no Python call per cell.

Texts are looked at once per distinct value, numbers in one pass over the whole column. Where a
cell is refused, the row is looked for afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .batch import Array, Batch, Text
from .cells import is_gap_word, reads_as_number, shown, to_text
from .extras import need

LARGEST = 2.0**500
"""Numbers beyond this are refused, as infinity is."""


@cache
def _arrow(purpose: str | None = None) -> Any:
    return need("pyarrow", extra="data", purpose=purpose)


def reader_of(data: bytes) -> Any:
    """Return bytes as a file for Arrow's parsers, in memory of Arrow's own.

    Its threads may let go of a file later than the parser returns. Memory that belongs to Python
    they cannot free while Python ends: the process would be aborted.

    Examples
    --------
    >>> reader_of(b"x,y").read(1)
    b'x'
    """
    pa = _arrow("reading files")
    own = pa.allocate_buffer(len(data))
    memoryview(own).cast("B")[:] = data
    return pa.BufferReader(own)


class CellError(ValueError):
    """A cell that is neither a number nor text nor missing.

    Parameters
    ----------
    problem : str
        What is wrong with it.
    row : int
        Its row, counted from 0.
    column : str
        Its column.
    remedy : str
        What to do about it.

    Examples
    --------
    >>> raise CellError("inf is not finite", 3, "size", "remove the row")
    Traceback (most recent call last):
    ...
    dfop.rows.arrow.CellError: row 3, column 'size': inf is not finite; remove the row
    """

    def __init__(self, problem: str, row: int, column: str, remedy: str) -> None:
        super().__init__(f"row {row}, column {column!r}: {problem}; {remedy}")
        self.problem, self.row, self.column, self.remedy = problem, row, column, remedy


def batch_from_arrow(
    table: Any,
    names: Sequence[str] | None = None,
    time: str | None = None,
    text: Collection[str] = (),
) -> Batch:
    """Make a batch of an Arrow table or record batch.

    Numbers of any type, bools and decimals are numbers, nulls are missing, dictionary-encoded
    (categorical) columns are text. Other texts are text, too, unless they read as numbers.

    Parameters
    ----------
    table : pyarrow.Table, pyarrow.RecordBatch, or anything that speaks Arrow's C interface
        The rows: a pandas or polars frame, too.
    names : sequence of str, optional
        The columns to take, in this order; by default all but `time`.
    time : str, optional
        A column of timestamps, dates, ISO texts or numbers.
    text : collection of str
        Columns of text in which "12" is a text as good as any.

    Returns
    -------
    Batch

    Raises
    ------
    CellError
        A cell is a date, a list, infinite, too large, or a number given as text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"size": [1, None], "color": ["red", " NA "], "t": [0.5, 1.0]})
    >>> batch = batch_from_arrow(rows, time="t")
    >>> batch.dicts(), batch.time.tolist()
    ([{'size': 1.0, 'color': 'red'}, {'size': None, 'color': None}], [0.5, 1.0])
    """
    pa = _arrow("reading Arrow")
    if not isinstance(table, pa.Table | pa.RecordBatch):
        table = pa.table(table)
    if names is None:
        # pandas adds its index when it is not the plain count of rows
        found = table.schema.names
        names = [n for n in found if n != time and not n.startswith("__index_level_")]
    twice = [name for name in names if table.schema.names.count(name) > 1]
    if twice:
        raise ValueError(
            f"X has several columns named {twice[0]!r}: give every column a name of its own"
        )
    numbers = np.zeros((table.num_rows, len(names)))
    texts: dict[int, Text] = {}
    for j, name in enumerate(names):
        column = one_array(table.column(name))
        if is_text(column.type):
            texts[j] = text_from_arrow(column, name, declared=name in text)
        else:
            numbers[:, j] = numbers_from_arrow(column, name)
    when = None if time is None else time_from_arrow(one_array(table.column(time)), time)
    return Batch(numbers, check_numbers(numbers, names), texts, tuple(names), when)


def check_numbers(numbers: Array, names: Sequence[str]) -> bool:
    """Whether numbers are missing; those infinite or too large are a `CellError`."""
    good = np.abs(numbers) <= LARGEST
    if good.all():
        return False
    bad = np.argwhere(~good & ~np.isnan(numbers))
    if len(bad):
        row, column = map(int, bad[0])
        raise CellError(*range_problem(float(numbers[row, column]), row, names[column]))
    return True


def range_problem(value: float, row: int, column: str) -> tuple[str, int, str, str]:
    """Return what `CellError` needs to know of a number that is infinite or too large."""
    problem = f"{value:g} is not finite" if np.isinf(value) else f"{value:g} is too large"
    return problem, row, column, "remove the row, or bring the number below 2**500 (3e150)"


def one_array(column: Any) -> Any:
    """Return a column as one array, also where it lies in chunks."""
    if not hasattr(column, "chunks"):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    pa = _arrow()
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    whole = column.combine_chunks()
    return whole.chunk(0) if hasattr(whole, "chunks") else whole


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text: strings, or a dictionary of anything."""
    types = _arrow().types
    return bool(
        types.is_dictionary(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
    )


def is_number(kind: Any) -> bool:
    """Whether an Arrow type holds numbers, bools, or nothing at all."""
    types = _arrow().types
    return bool(
        types.is_floating(kind)
        or types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def numbers_from_arrow(column: Any, name: str) -> Array:
    """Return a column of numbers, NaN where missing; dates, lists and the like are refused."""
    pa = _arrow()
    if not is_number(column.type):
        raise CellError(*_neither(column, name))
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_decimal(column.type):  # by its digits: Arrow's own way is not the nearest
        column = column.cast(pa.string())
    if not pa.types.is_float64(column.type):
        column = column.cast(pa.float64(), safe=False)
    values: Array = column.to_numpy(zero_copy_only=False)
    return values


def _neither(column: Any, name: str) -> tuple[str, int, str, str]:
    """Return what `CellError` needs to know of a column of dates, lists and the like."""
    present = column.is_valid().to_numpy(zero_copy_only=False)
    row = int(np.argmax(present)) if present.any() else 0
    if _arrow().types.is_temporal(column.type):
        problem = f"a {column.type} is a date or a duration, which is no feature"
        return problem, row, name, "name it as time=, leave it out, or make numbers of it"
    remedy = "leave the column out, or make a number or a text of it"
    return f"a {column.type} is neither a number nor text", row, name, remedy


def text_from_arrow(column: Any, name: str, *, declared: bool = False) -> Text:
    """Return a column of text; what reads as a number is refused unless declared.

    A dictionary is a declaration: its type says that the values are names.
    """
    pa = _arrow()
    declared = declared or pa.types.is_dictionary(column.type)
    if not pa.types.is_dictionary(column.type):
        column = _as_string(column).dictionary_encode()
    codes = column.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    text = _stripped(
        codes, ["" if v is None else to_text(v) for v in column.dictionary.to_pylist()]
    )
    if not declared:
        for code, value in enumerate(text.values):
            if reads_as_number(value):
                row = int(np.argmax(text.codes == code))
                raise CellError(
                    f"{shown(value)} is a number given as text",
                    row,
                    name,
                    "convert the column to numbers, or to a categorical type if they are names",
                )
    return text


def _as_string(column: Any) -> Any:
    """Return a column of strings as Arrow's functions take it."""
    pa = _arrow()
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


def _stripped(codes: NDArray[np.int64], values: list[str]) -> Text:
    """Strip the values, join those that become equal, and drop those that mean a gap."""
    found: dict[str, int] = {}
    new = [-1 if is_gap_word(v) else found.setdefault(v.strip(), len(found)) for v in values]
    if len(found) < len(values):
        # the last place is for the code -1
        codes = np.array([*new, -1], dtype=np.int64)[codes]
    return Text(codes, list(found))


def time_from_arrow(column: Any, name: str, *, zoned: bool | None = None) -> NDArray[Any]:
    """Return a column of times as datetime64[ns] (UTC) or float64; a missing one is refused.

    Where it is known whether times name their zone (`zoned`), others are refused.
    """
    pa = _arrow()
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise CellError("the time is missing", row, name, "remove the row")
    if is_number(column.type):
        values = numbers_from_arrow(column, name)
        if len(values) and not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise CellError(f"{values[row]} is not a time", row, name, "remove the row")
        return values
    remedy = "give times as timestamps, as numbers, or as 2024-05-01T12:00:00"
    if is_text(column.type):
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        column = _timestamps(column, name, remedy)
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        raise CellError(f"a {column.type} is not a time", 0, name, remedy)
    zone = getattr(column.type, "tz", None)
    if zoned is not None and len(column) and zoned != (zone is not None):
        which = "without a zone" if zoned else "with a zone"
        raise CellError(f"a time {which} is not like the others", 0, name, remedy)
    try:
        moments = column.cast(pa.timestamp("ns", zone))
    except pa.ArrowInvalid:
        problem = "a time is outside the years 1678 to 2262"
        raise CellError(problem, 0, name, "give times as numbers") from None
    when: NDArray[Any] = moments.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return when.view("datetime64[ns]")


def _timestamps(column: Any, name: str, remedy: str) -> Any:
    """Parse texts: all with a zone, or all without one."""
    pa = _arrow()
    column = need("pyarrow.compute", extra="data").utf8_trim_whitespace(_as_string(column))
    for zone in (None, "UTC"):
        try:
            return column.cast(pa.timestamp("ns", zone))
        except pa.ArrowInvalid:
            continue
    row = next((i for i, text in enumerate(column.to_pylist()) if not _reads(text)), 0)
    raise CellError(
        f"{shown(column[row].as_py())} is not a time like the others", row, name, remedy
    )


def _reads(text: str) -> bool:
    pa = _arrow()
    for zone in (None, "UTC"):
        try:
            pa.scalar(text).cast(pa.timestamp("ns", zone))
        except pa.ArrowInvalid:
            continue
        return True
    return False
