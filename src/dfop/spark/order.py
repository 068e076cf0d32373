"""The order of rows: which columns tell it, and whether it holds.

A partition of a table need not be one stretch of the stream: Spark packs files into partitions by
their size. So a partition is read as runs, within which the order rises; runs of all partitions
are put in order by whoever merges them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import types as sql

MOST_RUNS = 256
"""Of a partition. Rows in no order would have one every other row."""

_AS_NUMBERS = {sql.TimestampType: sql.LongType(), sql.TimestampNTZType: sql.LongType(),
               sql.DateType: sql.IntegerType()}  # fmt: skip
_ORDERED = (sql.NumericType, sql.StringType, *_AS_NUMBERS)


class Piece(NamedTuple):
    """Rows that came one after the other."""

    table: Any
    begins: bool
    """Whether a run begins with them."""
    first: tuple[Any, ...]
    """The order of the first row."""
    last: tuple[Any, ...]


def order_fields(schema: sql.StructType, order_by: tuple[str, ...]) -> sql.StructType:
    """Return the columns of the order as they are compared: moments as whole numbers."""
    fields = []
    for name in order_by:
        kind = schema[name].dataType
        if not isinstance(kind, _ORDERED):
            raise ValueError(
                f"order_by column {name!r} is {kind.simpleString()}: the order of rows must be "
                "told by numbers, times or texts"
            )
        fields.append(sql.StructField(name, _AS_NUMBERS.get(type(kind), kind)))
    return sql.StructType(fields)


def pieces(batches: Iterable[Any], order_by: tuple[str, ...]) -> Iterator[Piece]:
    """Cut record batches where the order falls back; refuse missing and equal orders."""
    before = None
    for batch in batches:
        if not batch.num_rows:
            continue
        table = pa.Table.from_batches([batch])
        keys = _keys(table, order_by)
        joined = keys if before is None else pa.concat_tables([before, keys])
        steps = _steps(joined)
        if (steps == 0).any():
            at = int(np.argmax(steps == 0))
            raise ValueError(
                f"two rows have the order {shown(_row(joined, at), order_by)}: name a further "
                "column in order_by that tells which came first"
            )
        falls = np.flatnonzero(steps < 0) + (before is None)
        edges = sorted({0, *falls.tolist(), table.num_rows})
        for start, stop in itertools.pairwise(edges):
            begins = start in falls if start or before is not None else True
            part = table.slice(start, stop - start)
            yield Piece(part, begins, _row(keys, start), _row(keys, stop - 1))
        before = keys.slice(table.num_rows - 1)


def shown(order: tuple[Any, ...], order_by: tuple[str, ...]) -> str:
    """Return an order in words."""
    return ", ".join(f"{name}={value!r}" for name, value in zip(order_by, order, strict=True))


def _keys(table: Any, order_by: tuple[str, ...]) -> Any:
    columns = []
    for name in order_by:
        column = table.column(name)
        missing = column.null_count
        if pa.types.is_floating(column.type):
            missing += pc.sum(pc.is_nan(column)).as_py() or 0
        if missing:
            raise ValueError(
                f"order_by column {name!r} is missing in {missing} of {table.num_rows} rows: "
                "leave out rows of which nobody knows when they came"
            )
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        elif pa.types.is_date(column.type):
            column = column.cast(pa.int32())
        columns.append(column)
    return pa.table(columns, names=[f"{at}" for at in range(len(order_by))])


def _steps(keys: Any) -> NDArray[np.int8]:
    """Return 1 where the order rises from a row to the next, -1 where it falls, 0 where equal."""
    n = keys.num_rows
    steps = np.zeros(max(n - 1, 0), np.int8)
    for column in keys.columns:
        here, following = column.slice(0, n - 1), column.slice(1)
        rises = pc.greater(following, here).to_numpy(zero_copy_only=False)
        falls = pc.less(following, here).to_numpy(zero_copy_only=False)
        steps = np.where(steps == 0, rises.astype(np.int8) - falls.astype(np.int8), steps)
    return steps


def _row(keys: Any, at: int) -> tuple[Any, ...]:
    return tuple(column[at].as_py() for column in keys.columns)
