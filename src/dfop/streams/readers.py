"""`read`: a stream from a file, a pipe, a frame or an iterable."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from dfop.rows.cells import reads_as_number
from dfop.streams.bad_rows import BadRows, FurtherRows, Mode
from dfop.streams.csv_source import WRONG_CELLS, CsvSource
from dfop.streams.errors import BadRowsError, DataError, UnknownColumnError, warn
from dfop.streams.layout import Kind, Layout, decide
from dfop.streams.several_files import SeveralFiles
from dfop.streams.sources import Source, open_raw, open_source
from dfop.streams.stream import BatchRows, Stream, Task, TimedRows
from dfop.streams.tally import Tally

_NO_NAME = re.compile(r"|Unnamed: \d+")
_NO_HEADER = "The first line names no columns: remove all lines before the one that does"
ENOUGH = 100
"""Rows of a pipe from which it is said that a target has one value."""


def read(
    source: Any,
    *,
    target: str | int | Sequence[str],
    time: str | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    task: Task | None = None,
    classes: Sequence[Any] | Literal["first"] | None = None,
    missing: Literal["nan", "error"] = "nan",
    bad_rows: Mode = "fail",
    quarantine: Any = None,
    max_bad: float | None = None,
    format: str | None = None,  # noqa: A002
    separator: str | None = None,
    name: str | None = None,
    skip: int = 0,
    layout: Layout | None = None,
    opener: Callable[[Path], Any] = open_raw,
) -> Stream:
    r"""Read a stream from a file, a pipe, a DataFrame, or an iterable.

    Files and pipes are read in pieces as the stream is iterated: the memory needed does not grow
    with the file. Text and gaps are taken as they are. What a column holds, and the task, is
    decided by nine tenths of the cells of the first 10,000 rows (of a pipe: of what it brings
    within a second), so that one odd cell decides nothing; a row with such a cell is a bad row.

    Parameters
    ----------
    source : path, open file, DataFrame, Arrow table or reader, or iterable of dicts or rows
        CSV, TSV, JSON lines or ARFF by the file's ending, which ``.gz``, ``.bz2`` or ``.zst``
        may follow; Parquet, also a folder of it. Named pipes and ``/dev/fd/63`` are read once.
        A list of `pathlib.Path` is read as one source, in their order.
    target : str, int or sequence of str
        The column to predict; an int for the position in rows without names (-1 is the last);
        several names for several regression targets; none (an empty list) for rows without labels.
    time : str, optional
        A column of arrival times, numbers or ISO dates; it is not a feature. Numbers are seconds;
        from 1e11, 1e14 and 1e17 on (the median of the first rows) they are milli-, micro- and
        nanoseconds since 1970, and given as seconds.
    features : sequence of str, optional
        The columns to learn from; by default all others that have a name (the index that pandas
        writes has none, or "Unnamed: 0").
    ignore : sequence of str
        Columns to leave out.
    kinds : mapping of str to {"number", "text"}, optional
        What columns hold where it must not be guessed: ``{"zip": "text"}``.
    task : {"classification", "regression"}, optional
        By default few different whole numbers, or text, are labels, other numbers a regression
        target; what cannot be told is an error.
    classes : sequence or "first", optional
        All labels; needed for a pipe if they are asked for, and a guard against strange ones.
        "first": those of the first rows; a row with another label is then a bad one. A target that
        has one value in all of them is refused then, also where it is a number.
    missing : {"nan", "error"}
        Whether a feature may be missing, or such a row is a bad one.
    bad_rows : {"fail", "skip", "quarantine"}
        What to do with a bad row: raise, leave it out and count it, or also put it aside.
    quarantine : path, optional
        The file in which bad rows are put aside: CSV, or JSON lines by its ending.
    max_bad : int or float, optional
        More bad rows than this (an int), or than this share of all (a float), are an error.
    format : {"csv", "tsv", "parquet", "jsonl", "arff"}, optional
        For open files, or where the ending does not tell.
    separator : str, optional
        The character between the cells of CSV, such as ``";"``; by default a comma.
    name : str, optional
        By default the file's name.
    skip : int
        Rows at the beginning, good and bad, to leave out.
    layout : Layout, optional
        What was decided before of the same columns (`Stream.layout`), instead of a new decision.
    opener : callable, optional
        Opens the path of a file of text as a binary file: for those who watch what is read.

    Returns
    -------
    Stream
        The rows in their order; ``stream.bad`` counts those that were left out.

    Raises
    ------
    DataError
        A bad row, with file, row, line, byte, column and kind of error; or the file as a whole
        cannot be read.

    Examples
    --------
    >>> rows = [{"size": 1, "color": "red", "price": 2.5}, {"size": None, "price": 3.5}]
    >>> stream = read(rows, target="price")
    >>> stream.task, stream.feature_names
    ('regression', ('size', 'color'))
    >>> for batch, y in stream.batches():
    ...     print(batch.rows(), y)
    [[1.0, 'red'], [None, None]] [2.5 3.5]
    >>> import io
    >>> lines = ["day,height,label"] + ["2024-05-01,1.5,up", "2024-05-02,2.5,down"] * 6
    >>> lines[3] = "2024-05-02,oops,down"
    >>> pipe = io.BytesIO("\n".join(lines).encode())
    >>> read(pipe, target="label", time="day", format="csv").arrays()
    Traceback (most recent call last):
    ...
    dfop.streams.errors.BadRowsError: pipe, row 3 (line 4, byte 55), column 'height': 'oops' is not
    a number. Mend it, pass kinds={'height': 'text'}, or leave the column out with features=[...].
    """
    if missing not in ("error", "nan"):
        raise ValueError(f"missing must be 'error' or 'nan', not {missing!r}")
    if task not in (None, "classification", "regression"):
        raise ValueError(f"task must be 'classification' or 'regression', not {task!r}")
    log = BadRows(bad_rows, quarantine, max_bad, skip)
    opened = _open(source, format, separator, opener)
    targets = _targets(opened, target)
    chosen = _chosen(opened, targets, time, features, ignore, kinds or {})
    _refuse_nothing(opened, chosen, targets)
    before, counted = layout is not None, cache(opened.tally)
    layout = layout or decide(
        opened.name,
        chosen,
        targets,
        time,
        counted,
        kinds=_kinds(opened, kinds or {}),
        task=task,
        classes=classes,
        one_target=isinstance(target, str | int),
        gaps=missing == "nan",
        chosen=features is not None,
    )
    if classes == "first" and not before:
        _refuse_one_value(opened, layout, counted)
    return Stream(
        name or _name_of(source, opened),
        layout.task,
        chosen,
        _reader(opened, layout, log),
        target_names=targets,
        classes=layout.classes,
        length=opened.length if bad_rows == "fail" else None,
        has_time=time is not None,
        reusable=opened.reusable,
        bad=log,
        layout=layout,
    )


def _open(
    source: Any, kind: str | None, separator: str | None, opener: Callable[[Path], Any]
) -> Source:
    """Open a source, or several files as one."""
    if (
        isinstance(source, list | tuple)
        and source
        and all(isinstance(one, os.PathLike) for one in source)
    ):
        paths = [Path(one) for one in source]
        return SeveralFiles(paths, lambda path: open_source(path, kind, separator, opener))
    return open_source(source, kind, separator, opener)


def _name_of(source: Any, opened: Source) -> str:
    is_path = isinstance(source, str | bytes | os.PathLike)
    return Path(os.fsdecode(source)).name if is_path else opened.name


def _reader(source: Source, layout: Layout, log: BadRows) -> Any:
    used = False

    def rows(start: int, stop: int | None) -> Iterator[TimedRows | BatchRows]:
        nonlocal used
        if used and not source.reusable:
            raise DataError(
                "this source can be read only once, and was",
                source=source.name,
                remedy="Read it into arrays or a frame to use it again",
            )
        used = True
        done = 0
        # a pipe whose log knows of rows already is the continuation of another one
        before = 0 if source.reusable else max(log.rows - log.skip, 0)
        rows_log = FurtherRows(log, before, log.skip) if before else log
        for batch, y in source.pieces(layout, rows_log):
            first, last = max(start - done, 0), None if stop is None else max(stop - done, 0)
            done += len(y)
            if layout.ticks != 1.0 and batch.time is not None:
                batch = replace(batch, time=batch.time / layout.ticks)
            if len(y[first:last]):
                whole = first == 0 and (last is None or last >= len(y))
                yield (batch, y) if whole else (batch[first:last], y[first:last])
            if stop is not None and done >= stop:
                return
        log.end()

    return rows


def _refuse_nothing(source: Source, features: list[str], targets: list[str]) -> None:
    """Refuse a source without a row, or in which none of the first rows is good."""
    if not source.seen:
        raise DataError("there are no rows", source=source.name)
    if not source.good:
        layout = decide(
            source.name,
            features,
            targets,
            None,
            source.tally,
            kinds={},
            task="regression",
            classes=None,
            one_target=True,
            gaps=True,
            chosen=False,
        )
        try:
            for _ in source.pieces(layout, BadRows()):
                pass  # says what is wrong with the first
        except BadRowsError as error:
            if source.seen > 1:
                raise _of_all(error, source) from None
            raise
        raise DataError("none of the first rows is good", source=source.name)


def _of_all(first: BadRowsError, source: Source) -> BadRowsError:
    """Say of all first rows that they are bad, and why: leaving one out is no remedy."""
    odd = first.kind == WRONG_CELLS
    return BadRowsError(
        f"none of the first {source.seen:,} rows is good; row 1: {first.problem}",
        source=source.name,
        column=first.column,
        remedy="Check that the header fits the rows" if odd else first.remedy,
        kind=first.kind,
    )


def _refuse_one_value(source: Source, layout: Layout, counted: Callable[..., Tally]) -> None:
    """Refuse a number to predict that is the same in all first rows."""
    # a pipe is judged by what it brings within a second, which may be a single row
    if layout.task != "regression" or source.seen < (2 if source.reusable else ENOUGH):
        return
    for column in layout.targets:
        if counted(column, fully=True).distinct == 1:
            raise DataError(
                f"the target has one value in all of the first {source.seen:,} rows",
                source=source.name,
                column=column,
                remedy="Check the target column, or pass task='regression' if others come later",
            )


def _kinds(source: Source, kinds: Mapping[str, Kind]) -> Mapping[str, Kind]:
    for column, kind in kinds.items():
        if column not in source.names:
            raise UnknownColumnError(
                f"there is no such column; there are {_some(source.names)}",
                source=source.name,
                column=column,
                columns=source.names,
            )
        if kind not in ("number", "text"):
            raise ValueError(f"the kind of {column!r} must be 'number' or 'text', not {kind!r}")
    return kinds


def _targets(source: Source, target: str | int | Sequence[str]) -> list[str]:
    if isinstance(target, int):
        _warn_of_row_for_names(source)
        try:
            return [source.names[target]]
        except IndexError:
            raise DataError(
                f"there is no column number {target}: rows have {len(source.names)} cells",
                source=source.name,
            ) from None
    return [target] if isinstance(target, str) else list(target)


def _chosen(
    source: Source,
    targets: list[str],
    time: str | None,
    features: Sequence[str] | None,
    ignore: Sequence[str],
    kinds: Mapping[str, Kind],
) -> list[str]:
    features = [features] if isinstance(features, str) else features
    ignore = [ignore] if isinstance(ignore, str) else ignore
    set_apart = {*targets, time, *ignore}
    if features is None:
        set_apart |= _nameless(source, {*set_apart, *kinds})
    chosen = list(features or (name for name in source.names if name not in set_apart))
    for role, column in [
        *(("target", column) for column in targets),
        *([("time", time)] if time is not None else []),
        *(("feature", column) for column in chosen),
        *(("column to ignore", column) for column in ignore),
    ]:
        if column not in source.names:
            raise UnknownColumnError(
                f"the {role} is not a column; there are {_some(source.names)}",
                source=source.name,
                column=column,
                columns=source.names,
                remedy=_header_remedy(source, column),
            )
    leaks = [column for column in chosen if column in targets]
    if leaks:
        raise DataError(
            "the column is both target and feature", source=source.name, column=leaks[0]
        )
    if time in targets:
        raise DataError(
            "the column is both target and time",
            source=source.name,
            column=time,
            remedy="Name another one",
        )
    if not chosen:
        raise DataError(
            "no column is left to learn from",
            source=source.name,
            remedy="Give rows further columns; to predict a series from its own past, one that is "
            "always 1, and pass lags=",
        )
    return chosen


def _nameless(source: Source, spoken_of: set[str | None]) -> set[str]:
    """Return the columns without a name: an index, which pandas writes and reads so."""
    found = {name for name in source.names if _NO_NAME.fullmatch(name)} - spoken_of
    for name in sorted(found):
        warn(
            f"{source.name}, column {source.names.index(name) + 1} has no name ({name!r}), as the "
            "index of a table that pandas wrote: it is left out. To learn from it, name it in the "
            "file",
        )
    return found


def _header_remedy(source: Source, wanted: str) -> str | None:
    """Say what seems to be wrong with the first line of a CSV file that should name columns."""
    if not isinstance(source, CsvSource):
        return None
    first = source.names[0]
    if first.startswith(("#", "sep=")):
        return _NO_HEADER
    if any(reads_as_number(name) for name in source.names):
        return "The first line seems to be a row: write a line before it that names the columns"
    found = max(";\t|, ", key=first.count)
    if len(source.names) != 1 or found not in first:
        return None
    if found == " " and wanted not in first.split():  # words, not names
        return _NO_HEADER if source.good < source.seen else None
    return f"The cells seem to be separated by {found!r}: pass separator={found!r}"


def _warn_of_row_for_names(source: Source) -> None:
    """Say so where the first line of a CSV file, which names the columns, seems to be a row."""
    if isinstance(source, CsvSource) and all(reads_as_number(name) for name in source.names):
        warn(
            f"{source.name}: the first line is taken as the names of the columns, "
            f"{_some(source.names)}, and seems to be a row: if it is, write a line before it that "
            "names the columns",
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
