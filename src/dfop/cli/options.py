"""Options that several commands have, and a source opened as they say."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from dfop.checkpoints.options import classes_of
from dfop.streams import Stream, catalogue, load, read
from dfop.streams.sources import FORMATS

from .problems import USAGE, close_to, fail

Source = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A file, a folder of Parquet, - or a public stream.")
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.")]
Features = Annotated[
    list[str] | None, typer.Option(help="Columns to learn from, a,b,c; by default all.")
]
Ignore = Annotated[list[str] | None, typer.Option(help="Columns to leave out, a,b,c.")]
TextColumns = Annotated[
    list[str] | None, typer.Option("--text", help="Columns whose numbers are names, a,b,c.")
]
Time = Annotated[str | None, typer.Option(help="The column of times.")]
ClassNames = Annotated[
    list[str] | None, typer.Option("--classes", help="All labels, a,b,c; by default those found.")
]
TaskName = Annotated[
    str | None, typer.Option(help="classification or regression; by default found out.")
]
Format = Annotated[str | None, typer.Option("--format", help="csv, tsv, jsonl, parquet or arff.")]
Separator = Annotated[str | None, typer.Option(help="Between the cells of CSV: ';'.")]
BadRows = Annotated[str, typer.Option(help="What to do with bad rows: fail or skip.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def names(given: list[str] | None) -> tuple[str, ...]:
    """Read names separated by commas; a name that holds one is quoted.

    Examples
    --------
    >>> names(["a,b", '"c,d"'])
    ('a', 'b', 'c,d')
    """
    return tuple(name for some in given or () for name in next(csv.reader([some]), []))


def check_choice(option: str, value: str | None, choices: tuple[str, ...]) -> None:
    """Refuse what is not among the choices."""
    if value is not None and value not in choices:
        near = close_to(value, choices)
        fail(f"{option} {value}: give one of {', '.join(choices)}.{near}", USAGE)


def check_reading(task: str | None, form: str | None) -> None:
    """Refuse a task or a format that does not exist."""
    check_choice("--task", task, ("classification", "regression"))
    check_choice("--format", form, FORMATS)


def check_file(path: str, others: Iterable[str] = ()) -> None:
    """Refuse a file that is not there; `others` may have been meant as well as its neighbours."""
    if path != "-" and not Path(path).exists():
        beside = Path(path).parent
        there = [str(p) for p in beside.iterdir()] if beside.is_dir() else []
        fail(f"{path}: no such file or folder.{close_to(path, [*there, *others])}", USAGE)


def check_folder(file: str | Path | None) -> None:
    """Refuse, before any work is done, an output whose folder cannot be written to."""
    if file is not None and not os.access(Path(file).parent, os.W_OK):
        fail(f"{file}: there is no folder {Path(file).parent} that can be written to", USAGE)


def open_stream(
    source: str,
    target: str | None,
    *,
    features: list[str] | None,
    ignore: list[str] | None,
    text: list[str] | None,
    time: str | None,
    task: str | None,
    form: str | None,
    separator: str | None,
    bad_rows: str,
    classes: list[str] | None,
) -> Stream:
    """Open a file or a pipe; a name of the catalogue is a public stream."""
    if source != "-" and not Path(source).exists() and source in catalogue():
        return load(source)
    check_reading(task, form)
    check_choice("--bad-rows", bad_rows, ("fail", "skip"))
    check_file(source, catalogue())
    if target is None:
        fail("--target is missing: name the column to predict", USAGE)
    given: Any = {"task": task, "bad_rows": bad_rows, "classes": classes_of(names(classes)) or None}
    return read(
        sys.stdin.buffer if source == "-" else Path(source),
        target=target,
        time=time,
        features=names(features) or None,
        ignore=names(ignore),
        kinds=dict.fromkeys(names(text), "text"),
        format=form or ("csv" if source == "-" else None),
        separator=separator,
        **given,
    )
