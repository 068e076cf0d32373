"""The first pass over a stored stream: what each run of its partitions teaches."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import types as sql

from dfop.scale.information import Information

from .design import Design
from .order import MOST_RUNS, order_fields, pieces, shown

_CELLS = 2**22
"""Numbers that are decomposed together: 32 MB."""
_FAN = 32
"""Runs that one place merges."""


class Run(NamedTuple):
    """Where a stretch of the stream begins and ends, and who has it."""

    first: tuple[Any, ...]
    last: tuple[Any, ...]
    rows: int
    partition: int
    number: int


def learned_parts(df: DataFrame, design: Design) -> DataFrame:
    """Return a row per run: its borders and what it teaches, or what is wrong with it."""
    fields = order_fields(df.schema, design.order_by)
    schema = sql.StructType([
        sql.StructField("first", fields), sql.StructField("last", fields),
        sql.StructField("rows", sql.LongType()), sql.StructField("partition", sql.LongType()),
        sql.StructField("number", sql.LongType()), sql.StructField("state", sql.BinaryType()),
        sql.StructField("problem", sql.StringType()),
    ])  # fmt: skip
    # Spark would quote a worker's error with its whole stack, after trying again: it is returned.
    return df.select(design.columns).mapInArrow(_learn(design), schema)


def ordered_runs(parts: DataFrame, design: Design) -> list[Run]:
    """Return the runs in the order of the stream; refuse those that overlap."""
    found = parts.drop("state").collect()
    for row in found:
        if row.problem is not None:
            raise ValueError(row.problem)
    if not found:
        raise ValueError("df has no rows: there is nothing to learn")
    runs = sorted(
        Run(tuple(row.first), tuple(row.last), row.rows, row.partition, row.number) for row in found
    )
    for run, following in itertools.pairwise(runs):
        if following.first <= run.last:
            one = shown(following.first, design.order_by)
            if following.first in (run.first, run.last):
                raise ValueError(
                    f"two rows have the order {one}: name a further column in order_by that tells "
                    "which came first"
                )
            raise ValueError(
                f"partitions are not stretches of the stream, the rows at {one} lie between those "
                f"of another: sort it first, df.orderBy({', '.join(map(repr, design.order_by))})"
            )
    return runs


def merged(parts: DataFrame, runs: list[Run]) -> Information:
    """Return what all runs teach, merged in a tree on the workers, the last level here."""
    rank = {(run.partition, run.number): at for at, run in enumerate(runs)}
    states = parts.select("partition", "number", "state").rdd.map(
        lambda row: (rank[row.partition, row.number], bytes(row.state))
    )
    many = len(runs)
    while many > _FAN:
        groups = states.map(lambda ranked: (ranked[0] // _FAN, ranked)).groupByKey()
        states = groups.mapValues(_merge)
        many = -(-many // _FAN)
    return Information.from_bytes(_merge(states.collect()))


def in_order(parts: DataFrame, runs: list[Run]) -> list[Information]:
    """Return what each run teaches."""
    found = {
        (row.partition, row.number): bytes(row.state)
        for row in parts.select("partition", "number", "state").toLocalIterator()
    }
    return [Information.from_bytes(found[run.partition, run.number]) for run in runs]


def _merge(ranked: Iterable[tuple[int, bytes]]) -> bytes:
    parts = [Information.from_bytes(state) for _, state in sorted(ranked)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.then(part)
    return whole.to_bytes()


def _learn(design: Design) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def learn(batches: Iterable[Any]) -> Iterator[Any]:
        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        names: list[str] = ["first", "last", "rows", "partition", "number", "state", "problem"]
        kinds: list[Any] = []

        def record(*cells: Any) -> Any:
            arrays = [pa.array([cell], kind) for cell, kind in zip(cells, kinds, strict=True)]
            return pa.RecordBatch.from_arrays(arrays, names=names)

        def watched() -> Iterator[Any]:
            for batch in batches:
                if not kinds:
                    kinds.extend(_kinds(batch.schema, design.order_by))
                yield batch

        number = 0
        try:
            for first, last, known in _runs(watched(), design):
                if number == MOST_RUNS:
                    raise ValueError(
                        f"rows are not in order: in partition {partition} it falls back "
                        f"{MOST_RUNS} times; sort them first, "
                        f"df.orderBy({', '.join(map(repr, design.order_by))})"
                    )
                cells = dict(zip(design.order_by, first, strict=True))
                ends = dict(zip(design.order_by, last, strict=True))
                yield record(cells, ends, known.rows, partition, number, known.to_bytes(), None)
                number += 1
        except (ValueError, TypeError) as error:
            yield record(None, None, None, partition, number, None, str(error))

    return learn


def _runs(
    batches: Iterable[Any], design: Design
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], Information]]:
    """Learn runs one after the other, each in blocks."""
    most = max(_CELLS // (len(design.features) + 2), 4096)
    held: list[Any] = []
    known: Information | None = None
    first = last = start = ()

    def learned() -> Information:
        try:
            block = design.information(pa.concat_tables(held))
        except (ValueError, TypeError) as error:
            at = shown(start, design.order_by)
            raise ValueError(f"in the rows from {at} on: {error}") from None
        return block if known is None else known.then(block)

    for piece in pieces(batches, design.order_by):
        if piece.begins and held:
            yield first, last, learned()
            held, known = [], None
        elif sum(map(len, held)) >= most:
            known = learned()
            held = []
        if not held:
            start = piece.first
        if piece.begins:
            first = piece.first
        last = piece.last
        held.append(piece.table)
    if held:
        yield first, last, learned()


def _kinds(schema: Any, order_by: tuple[str, ...]) -> list[Any]:
    fields = []
    for name in order_by:
        kind = schema.field(name).type
        if pa.types.is_timestamp(kind):
            kind = pa.int64()
        elif pa.types.is_date(kind):
            kind = pa.int32()
        fields.append((name, kind))
    order = pa.struct(fields)
    return [order, order, pa.int64(), pa.int64(), pa.int64(), pa.binary(), pa.string()]
