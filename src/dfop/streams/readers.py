"""`read`: a stream from a file, a pipe, a frame or an iterable."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dfop.streams.cells import (
    Missing,
    Place,
    as_whole,
    is_gap,
    is_number,
    labels,
    numbers,
    text,
    times,
)
from dfop.streams.errors import DataError
from dfop.streams.stream import Array, Floats, Stream, Task, TimedRows
from dfop.streams.tables import Table, open_table

# More distinct whole numbers than this are as likely counts as classes.
MANY_LABELS = 50


def read(
    source: Any,
    *,
    target: str | int | Sequence[str],
    time: str | None = None,
    features: Sequence[str] | None = None,
    task: Task | None = None,
    classes: Sequence[Any] | None = None,
    missing: Missing = "error",
    format: str | None = None,  # noqa: A002
    name: str | None = None,
) -> Stream:
    r"""Read a stream from a file, a pipe, a DataFrame, or an iterable.

    Files and pipes are read in pieces as the stream is iterated: the memory needed does not grow
    with the file. Cells are checked as they are read, and a bad one is named by file, row
    (counted from 1, header excluded) and column.

    Parameters
    ----------
    source : path, open file, DataFrame, Arrow table, or iterable of dicts or rows
        CSV, TSV, Parquet, JSON lines or ARFF, by the file's ending; ``.gz`` may follow it.
    target : str, int or sequence of str
        The column to predict; an int for the position in rows without names (-1 is the last);
        several names for several regression targets.
    time : str, optional
        A column of arrival times, numbers or ISO dates; it is not a feature.
    features : sequence of str, optional
        The columns to learn from; by default all others.
    task : {"classification", "regression"}, optional
        By default seen from the first rows: text and whole numbers are labels, other numbers
        are a regression target.
    classes : sequence, optional
        All labels; needed for a pipe if they are asked for, and a guard against strange ones.
    missing : {"error", "nan"}
        Whether an empty feature cell is an error or a NaN.
    format : {"csv", "tsv", "parquet", "jsonl", "arff"}, optional
        For open files, or where the ending does not tell.
    name : str, optional
        By default the file's name.

    Returns
    -------
    Stream
        The rows in their order.

    Raises
    ------
    DataError
        The data is broken: a ragged row, a cell that is not a number, a missing target.

    Examples
    --------
    >>> rows = [{"size": 1, "price": 2.5}, {"size": 2, "price": 3.5}]
    >>> stream = read(rows, target="price")
    >>> stream.task, stream.feature_names
    ('regression', ('size',))
    >>> import io
    >>> pipe = io.BytesIO(b"day,height,label\n2024-05-01,1.5,up\n2024-05-02,oops,down\n")
    >>> stream = read(pipe, target="label", time="day", format="csv")
    >>> stream.arrays()
    Traceback (most recent call last):
    ...
    dfop.streams.errors.DataError: pipe, row 2, column 'height': 'oops' is not a number. Code it
    as a number, or name the columns to use with features=[...].
    """
    if missing not in ("error", "nan"):
        raise ValueError(f"missing must be 'error' or 'nan', not {missing!r}")
    table = open_table(source, format)
    targets = _targets(table, target)
    chosen = _chosen(table, targets, time, features)
    first, table = _peek(table)
    task = task or _task(first, targets, classes, table.source)
    if task == "classification" and len(targets) > 1:
        raise ValueError(f"{len(targets)} targets are for regression, not for classification")
    # Labels are whole numbers or text: as the classes are given, or as the first rows look.
    if classes is not None:
        whole = all(isinstance(label, int | np.integer) for label in classes)
    else:
        whole = all(as_whole(cell) is not None for cell in _list(first[targets[0]]))
    numeric = time is not None and is_number(_list(first[time])[0])

    def rows(start: int, stop: int | None) -> Iterator[TimedRows]:
        done = 0
        for piece in table.pieces():
            X, y, when = converted(piece, done + 1)
            part = slice(max(start - done, 0), None if stop is None else max(stop - done, 0))
            if len(X[part]):
                yield X[part], y[part], None if when is None else when[part]
            done += len(X)
            if stop is not None and done >= stop:
                return

    def converted(piece: Mapping[str, Any], first_row: int) -> TimedRows:
        def place(column: str) -> Place:
            return Place(table.source, first_row, column)

        X = np.empty((len(piece[targets[0]]), len(chosen)))
        for j, column in enumerate(chosen):
            X[:, j] = _numbers(piece[column], place(column), missing)
        if task == "classification":
            y: Array = labels(_list(piece[targets[0]]), place(targets[0]), classes, whole)
        else:
            y = np.column_stack([_numbers(piece[t], place(t), "error") for t in targets])
            y = y[:, 0] if isinstance(target, str | int) else y
        return X, y, None if time is None else times(_list(piece[time]), place(time), numeric)

    return Stream(
        name or (Path(source).name if isinstance(source, str | Path) else table.source),
        task,
        chosen,
        rows,
        target_names=targets,
        classes=classes,
        length=table.length,
        has_time=time is not None,
        reusable=table.reusable,
    )


def _targets(table: Table, target: str | int | Sequence[str]) -> list[str]:
    if isinstance(target, int):
        try:
            return [table.names[target]]
        except IndexError:
            raise DataError(
                f"there is no column number {target}: rows have {len(table.names)} cells",
                source=table.source,
            ) from None
    return [target] if isinstance(target, str) else list(target)


def _chosen(
    table: Table, targets: list[str], time: str | None, features: Sequence[str] | None
) -> list[str]:
    set_apart = {*targets, time}
    chosen = list(features or (name for name in table.names if name not in set_apart))
    for role, column in [
        *(("target", column) for column in targets),
        *([("time", time)] if time is not None else []),
        *(("feature", column) for column in chosen),
    ]:
        if column not in table.names:
            raise DataError(
                f"the {role} is not a column; there are {_some(table.names)}",
                source=table.source,
                column=column,
            )
    leaks = [column for column in chosen if column in targets]
    if leaks:
        raise DataError(
            "the column is both target and feature", source=table.source, column=leaks[0]
        )
    if not chosen:
        raise DataError("no column is left to learn from", source=table.source)
    return chosen


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _peek(table: Table) -> tuple[Mapping[str, Any], Table]:
    """Look at the first piece; a pipe must give it out again when it is read."""
    pieces = table.pieces()
    first = next(pieces, None)
    if first is None:
        raise DataError("there are no rows", source=table.source)
    if table.reusable:
        pieces.close()  # type: ignore[attr-defined]
        return first, table
    held = [itertools.chain([first], pieces)]

    def once() -> Iterator[Mapping[str, Any]]:
        if not held:
            raise DataError(
                "this source can be read only once, and was",
                source=table.source,
                remedy="Read it into arrays to use it again",
            )
        return held.pop()

    return first, replace(table, pieces=once)


def _task(
    first: Mapping[str, Any], targets: list[str], classes: Sequence[Any] | None, source: str
) -> Task:
    if classes is not None:
        return "classification"
    if len(targets) > 1:
        return "regression"
    place = Place(source, 1, targets[0])
    cells = [text(cell, i, place) for i, cell in enumerate(_list(first[targets[0]]))]
    cells = [cell for cell in cells if not is_gap(cell)]
    whole = [as_whole(cell) is not None and not isinstance(cell, float) for cell in cells]
    if not all(whole) and all(is_number(cell) for cell in cells):
        return "regression"
    if all(whole) and len(set(cells)) > MANY_LABELS:
        raise DataError(
            f"{len(set(cells))} different whole numbers may be classes or counts",
            source=source,
            column=targets[0],
            remedy="Pass task='classification' or task='regression'",
        )
    return "classification"


def _numbers(cells: Any, place: Place, missing: Missing) -> Floats:
    """Turn a column into numbers: Arrow's cast if all is well, else cell by cell."""
    if hasattr(cells, "cast"):
        try:
            if str(cells.type) == "binary":
                cells = cells.cast("string")
            values: Floats = cells.cast("float64").to_numpy(zero_copy_only=False)
        except (ValueError, NotImplementedError):
            # Arrow's errors do not say where: go through the cells.
            values = numbers(cells.to_pylist(), place, missing)
        if np.isfinite(values).all():
            return values
    return numbers(_list(cells), place, missing)


def _list(cells: Any) -> Sequence[Any]:
    listed: Sequence[Any] = cells.to_pylist() if hasattr(cells, "to_pylist") else cells
    return listed
