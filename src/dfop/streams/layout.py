"""What is decided of a source before its rows are read: kinds of columns, the task, the times.

The decision is made from the first rows (10,000 where a source has them at once), by the large
majority of their cells: one odd cell decides nothing.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from dfop.rows.cells import is_missing
from dfop.streams.cells import (
    parse_number,
    reads_as_dressed_number,
    reads_as_moment,
    shown,
    whole_label,
    whole_number,
)
from dfop.streams.errors import DataError
from dfop.streams.stream import Task

Kind: TypeAlias = Literal["number", "text"]
SAMPLE = 10_000
"""Rows from which columns are judged."""
MOST = 0.9
"""Share of the cells that decides what a column is."""
# More distinct whole numbers than this are as likely counts as classes ...
MANY_LABELS = 50
# ... and more than this are no classes. More texts than this are hardly classes, either.
TOO_MANY_LABELS = 1000


@dataclass(frozen=True)
class Layout:
    """What every row of a source must be."""

    source: str
    features: tuple[str, ...]
    kinds: Mapping[str, Kind]
    """Of the features."""
    targets: tuple[str, ...]
    one_target: bool
    """Whether y is a vector rather than a matrix."""
    task: Task
    whole: bool
    """Whether labels are whole numbers."""
    classes: tuple[Any, ...] | None
    time: str | None
    numeric_time: bool
    zoned: bool
    """Whether times name their zone."""
    gaps: bool
    """Whether a feature may be missing."""
    chosen: bool
    """Whether the features were named, so that other columns are no matter."""
    given: frozenset[str] = frozenset()
    """The columns whose kind was given rather than decided."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        time = (self.time,) if self.time else ()
        return tuple(dict.fromkeys((*self.features, *self.targets, *time)))


class Tally(NamedTuple):
    """How many cells of a column are of which kind; missing ones are not counted."""

    present: int
    numbers: int = 0
    number_texts: int = 0
    """Texts of a typed source that read as numbers."""
    dressed: int = 0
    """Texts such as $1,234.50, which people read as numbers."""
    moments: int = 0
    zoned: int = 0
    others: int = 0
    """Lists, bytes and the like."""
    whole: int = 0
    distinct_whole: int = 0
    whole_floats: int = 0
    """Whole numbers written as 1.0."""
    distinct: int = 0
    nones: int = 0
    """Texts "none", which are counted as missing, but may name a class."""
    labels: tuple[Any, ...] = ()
    """What differs among the cells, as labels: whole numbers or texts."""
    example: Any = None

    def most(self, count: int) -> bool:
        """Whether a kind is the large majority."""
        return count >= MOST * self.present


def unique_names(names: Sequence[str], source: str) -> tuple[str, ...]:
    """Refuse two columns of one name."""
    for name, times in Counter(names).items():
        if times > 1:
            remedy = "Rename one of the two"
            raise DataError(
                "the column name occurs twice", source=source, column=name, remedy=remedy
            )
    return tuple(names)


def tally(cells: Iterable[Any], *, typed: bool) -> Tally:
    """Count the cells of a column by kind; equal cells are looked at once.

    Examples
    --------
    >>> tally(["1", "2", "2.5", "x", ""], typed=False)[:2]
    (4, 3)
    """
    counts: Iterable[tuple[tuple[Any, Any], int]]
    cells = list(cells)
    try:
        counts = Counter((type(cell), cell) for cell in cells).items()
    except TypeError:  # lists and dicts have no hash
        counts = [((type(cell), cell), 1) for cell in cells]
    found: Counter[str] = Counter()
    example = None
    labels: dict[Any, None] = {}
    for (_, cell), times in counts:
        if is_missing(cell):
            found["nones"] += times * (isinstance(cell, str) and cell.strip().lower() == "none")
            continue
        found["distinct"] += 1
        found["present"] += times
        if len(labels) <= TOO_MANY_LABELS:
            whole = whole_label(cell, typed=typed)
            labels[cell.strip() if whole is None and isinstance(cell, str) else whole] = None
        what = _what(cell, typed)
        found[what] += times
        if what == "numbers" and not isinstance(cell, float) and _is_whole(cell, typed):
            found["whole"] += times
            found["distinct_whole"] += 1
        elif what == "numbers" and whole_label(cell, typed=typed) is not None:
            found["whole_floats"] += times
        if what == "moments" and isinstance(cell, str) and _has_zone(cell):
            found["zoned"] += times
        if example is None and what != "numbers":
            example = cell
    labels.pop(None, None)
    counted = {name: found[name] for name in Tally._fields[:-2]}
    return Tally(**counted, labels=tuple(labels), example=example)


def _what(cell: Any, typed: bool) -> str:
    if isinstance(cell, str):
        try:
            parse_number(cell)
        except ValueError:
            if reads_as_moment(cell):
                return "moments"
            return "dressed" if reads_as_dressed_number(cell) else "texts"
        return "number_texts" if typed else "numbers"
    if isinstance(cell, date | np.datetime64):
        return "moments"
    if isinstance(cell, bytes | time | timedelta | np.timedelta64) or not hasattr(
        cell, "__float__"
    ):
        return "others"
    return "numbers"


def _is_whole(cell: Any, typed: bool) -> bool:
    return whole_number(cell, typed=typed) is not None


def _has_zone(cell: str) -> bool:
    tail = cell.strip()[10:]
    return tail.endswith("Z") or "+" in tail or "-" in tail


def kind_of(column: str, counts: Tally, source: str) -> Kind:
    """Decide what a feature holds; dates, and numbers that are written as text, are refused."""
    if counts.most(counts.numbers):  # also where all is missing
        return "number"
    remedy = f"Pass kinds={{{column!r}: 'number'}} or 'text', whichever they are"
    if counts.most(counts.number_texts):
        problem = f"the cells are numbers given as text, such as {shown(counts.example)}"
        raise DataError(problem, source=source, column=column, remedy=remedy)
    if counts.most(counts.numbers + counts.dressed):
        raise DataError(
            _dressed(counts),
            source=source,
            column=column,
            remedy=f"Write them as 1234.5, or pass kinds={{{column!r}: 'text'}} if they are names",
        )
    if counts.most(counts.moments):
        raise DataError(
            f"the cells are dates, such as {shown(counts.example)}, which are no feature",
            source=source,
            column=column,
            remedy=f"Pass time={column!r}, or leave the column out with features=[...]",
        )
    if counts.most(counts.others):
        raise DataError(
            f"the cells are neither numbers nor text, such as {shown(counts.example)}",
            source=source,
            column=column,
            remedy="Leave the column out with features=[...], or make numbers of it",
        )
    if 2 * counts.numbers > counts.present:
        warnings.warn(
            f"{source}, column {column!r} is taken as text: {counts.numbers} of its first "
            f"{counts.present} cells are numbers, but others are such as {shown(counts.example)}. "
            f"If those are gaps, leave them empty; else pass kinds={{{column!r}: 'text'}}",
            stacklevel=2,
        )
    return "text"


def _dressed(counts: Tally) -> str:
    return f"the cells are numbers, but written with signs, such as {shown(counts.example)}"


def task_of(column: str, counts: Tally, source: str) -> Task:
    """Decide the task by the target's cells; what cannot be told is an error."""

    def unclear(problem: str) -> DataError:
        remedy = "Pass task='classification' or task='regression'"
        return DataError(problem, source=source, column=column, remedy=remedy)

    if counts.most(counts.numbers):
        if not counts.present and counts.nones:
            return "classification"
        if not counts.present:
            raise unclear("all labels at the beginning are missing")
        fractions = counts.numbers - counts.whole
        if counts.distinct_whole > TOO_MANY_LABELS or fractions >= (1 - MOST) * counts.numbers:
            return "regression"
        if counts.distinct_whole > MANY_LABELS and not fractions:
            raise unclear(
                f"{counts.distinct_whole} different whole numbers may be classes or counts"
            )
        if fractions and counts.distinct_whole <= MANY_LABELS:
            raise unclear(f"{fractions} of {counts.numbers} numbers have fractions, the rest none")
        return "regression" if fractions else "classification"
    if counts.most(counts.moments) or counts.most(counts.others):
        raise DataError(
            f"the target is {shown(counts.example)}, which is neither a number nor a class",
            source=source,
            column=column,
            remedy="Name another target",
        )
    if counts.most(counts.number_texts):
        raise DataError(
            f"the labels are numbers given as text, such as {shown(counts.example)}",
            source=source,
            column=column,
            remedy="Convert them, or pass classes=(...) as they are meant",
        )
    if counts.most(counts.numbers + counts.dressed):
        raise DataError(
            _dressed(counts),
            source=source,
            column=column,
            remedy="Write them as 1234.5, or pass task='classification' if they are names",
        )
    few = counts.distinct <= MANY_LABELS or 2 * counts.distinct <= counts.present
    if counts.distinct > TOO_MANY_LABELS or not few:
        raise unclear(
            f"{counts.distinct} different texts among {counts.present} are hardly classes"
        )
    return "classification"


def decide(
    source: str,
    features: Sequence[str],
    targets: Sequence[str],
    time: str | None,
    counted: Callable[..., Tally],
    *,
    kinds: Mapping[str, Kind],
    task: Task | None,
    classes: Sequence[Any] | Literal["first"] | None,
    one_target: bool,
    gaps: bool,
    chosen: bool,
) -> Layout:
    """Decide everything that was not given; `counted` tallies a column of the first rows."""
    first = classes == "first"
    if classes == "first":
        classes = None
    task = _task(task, classes, targets, kinds, counted, source)
    # Labels are whole numbers or text: as the classes are given, or as the first rows look.
    if classes is not None:
        whole = all(isinstance(label, int | np.integer) for label in classes)
    elif task == "regression" or kinds.get(targets[0]) == "text":
        whole = False
    else:
        whole = _whole_labels(targets[0], counted(targets[0], fully=True), source)
    if first and task == "classification":
        classes = _first_classes(targets[0], counted(targets[0], fully=True), whole, source)
    moments = None if time is None else counted(time, fully=True)
    if moments is not None and moments.present and not (moments.numbers or moments.moments):
        raise DataError(
            f"the cells are no times, such as {shown(moments.example)}",
            source=source,
            column=time,
            remedy="Write times as numbers or as 2024-05-01T12:00:00",
        )
    return Layout(
        source=source,
        features=tuple(features),
        kinds={
            f: kinds[f] if f in kinds else kind_of(f, counted(f, fully=False), source)
            for f in features
        },
        targets=tuple(targets),
        one_target=one_target,
        task=task,
        whole=whole,
        classes=None if classes is None else tuple(classes),
        time=time,
        numeric_time=moments is not None and moments.numbers >= moments.moments,
        zoned=moments is not None and 2 * moments.zoned > moments.moments,
        gaps=gaps,
        chosen=chosen,
        given=frozenset(kinds),
    )


def _task(
    task: Task | None,
    classes: Sequence[Any] | None,
    targets: Sequence[str],
    kinds: Mapping[str, Kind],
    counted: Callable[..., Tally],
    source: str,
) -> Task:
    """Return the task: as it was given, or as the target looks."""
    if not targets:
        return "regression"
    if task is None and classes is not None:
        task = "classification"
    if task is None and len(targets) > 1:
        task = "regression"
    if task is None and kinds.get(targets[0]) == "text":
        task = "classification"
    if task is None:
        task = task_of(targets[0], counted(targets[0], fully=True), source)
    if task == "classification" and len(targets) > 1:
        raise ValueError(f"{len(targets)} targets are for regression, not for classification")
    return task


def _first_classes(column: str, counts: Tally, whole: bool, source: str) -> list[Any]:
    """Return the labels of the first rows."""
    found = sorted(label for label in counts.labels if isinstance(label, int) == whole)
    if not whole:
        found = sorted({*found, *(str(label) for label in counts.labels)})
    if len(found) < 2:
        only = f"only the class {found[0]!r}" if found else "no label"
        raise DataError(
            f"there is {only} among the first rows",
            source=source,
            column=column,
            remedy="Check the target column, or name all classes",
        )
    return found


def _whole_labels(column: str, counts: Tally, source: str) -> bool:
    if counts.most(counts.number_texts) and counts.present:
        task_of(column, counts, source)  # refuses them
    if not counts.present and counts.nones:
        return False
    return counts.most(counts.whole + counts.whole_floats)
