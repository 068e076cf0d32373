"""What is decided of a source before its rows are read: kinds of columns, the task, the times.

The decision is made from the first rows (10,000 where a source has them at once), by the large
majority of their cells: one odd cell decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from dfop.rows.cells import shown
from dfop.streams.errors import DataError, warn
from dfop.streams.stream import Task
from dfop.streams.tally import MANY_LABELS, MOST, TOO_MANY_LABELS, Tally

Kind: TypeAlias = Literal["number", "text"]
SAMPLE = 10_000
"""Rows from which columns are judged."""
# Numbers such as 0.0 and 1.0, so few of them, may be classes that went through a table of floats;
# more whole numbers than that may be counts.
FEW_LABELS = 10
# From so many cells on something can be said of how often they differ.
ENOUGH = 100
# From this size on a time is not in seconds, but so many make one.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


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
    ticks: float = 1.0
    """How many numbers of a numeric time make a second."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        time = (self.time,) if self.time else ()
        return tuple(dict.fromkeys((*self.features, *self.targets, *time)))


def unique_names(names: Sequence[str], source: str) -> tuple[str, ...]:
    """Refuse two columns of one name."""
    for name, times in Counter(names).items():
        if times > 1:
            remedy = "Rename one of the two"
            raise DataError(
                "the column name occurs twice", source=source, column=name, remedy=remedy
            )
    return tuple(names)


def kind_of(column: str, counts: Tally, source: str) -> Kind:
    """Decide what a feature holds; dates, and numbers that are written as text, are refused."""
    if counts.most(counts.numbers):  # also where all is missing
        if counts.padded:
            warn(
                f"{source}, column {column!r} is learned as numbers, though some begin with 0, as "
                f"codes do. If they are names, pass kinds={{{column!r}: 'text'}}"
            )
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
    if counts.most(counts.moments + counts.dates):
        raise DataError(
            f"the cells are dates, such as {shown(counts.example)}, which are no feature",
            source=source,
            column=column,
            remedy="Leave the column out with features=[...], or write them as 2024-05-01 and "
            f"pass time={column!r}",
        )
    if counts.most(counts.others):
        raise DataError(
            f"the cells are neither numbers nor text, such as {shown(counts.example)}",
            source=source,
            column=column,
            remedy="Leave the column out with features=[...], or make numbers of it",
        )
    if 2 * counts.numbers > counts.present:
        warn(
            f"{source}, column {column!r} is taken as text: {counts.numbers} of its first "
            f"{counts.present} cells are numbers, but others are such as {shown(counts.example)}. "
            f"If those are gaps, leave them empty; else pass kinds={{{column!r}: 'text'}}",
        )
    elif counts.present >= ENOUGH and counts.distinct >= MOST * counts.present:
        warn(
            f"{source}, column {column!r} is text, and {counts.distinct} of its first "
            f"{counts.present} cells are different, such as {shown(counts.example)}: little can "
            "be learned from names that do not come again. Leave the column out with "
            "features=[...], or write numbers without their unit",
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
            _warn_of_float_classes(column, counts, source)
            return "regression"
        if counts.distinct_whole > MANY_LABELS and not fractions:
            raise unclear(
                f"{counts.distinct_whole} different whole numbers may be classes or counts"
            )
        if fractions and counts.distinct_whole <= MANY_LABELS:
            raise unclear(f"{fractions} of {counts.numbers} numbers have fractions, the rest none")
        if not fractions:
            _warn_of_counts(column, counts, source)
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


def _warn_of_float_classes(column: str, counts: Tally, source: str) -> None:
    """Say that few different numbers, all of them like 1.0, are not taken as classes."""
    if counts.whole_floats == counts.numbers and 1 < counts.distinct <= FEW_LABELS:
        warn(
            f"{source}, column {column!r}: the target has {counts.distinct} different values, "
            f"such as {counts.names[0]}, and is learned as numbers. If they are classes, pass "
            "task='classification'",
        )


def _warn_of_counts(column: str, counts: Tally, source: str) -> None:
    """Say that many different whole numbers are taken as classes: they may count something."""
    if counts.distinct_whole > FEW_LABELS:
        warn(
            f"{source}, column {column!r}: the target has {counts.distinct_whole} different whole "
            f"numbers, such as {counts.names[0]}, and is learned as classes. If they are counts or "
            "amounts, pass task='regression'",
        )


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
        kinds=_kinds_of(features, kinds, counted, source),
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
        ticks=1.0 if moments is None else ticks_of(moments.magnitude),
    )


def _kinds_of(
    features: Sequence[str],
    kinds: Mapping[str, Kind],
    counted: Callable[..., Tally],
    source: str,
) -> dict[str, Kind]:
    """Return what each feature holds; all that cannot be one are named at once."""
    found: dict[str, Kind] = {}
    refused: list[DataError] = []
    for name in features:
        try:
            found[name] = kinds.get(name) or kind_of(name, counted(name, fully=False), source)
        except DataError as error:
            refused.append(error)
    if not refused:
        return found
    first, *others = refused
    also = ", ".join(repr(error.column) for error in others[:20])
    if not also:
        raise first
    more = f" and {len(others) - 20} more" if len(others) > 20 else ""
    remedy = f"{first.remedy}. No features, either: {also}{more}"
    raise DataError(first.problem, source=source, column=first.column, remedy=remedy)


def ticks_of(magnitude: float) -> float:
    """Tell the unit of numeric times by their size: how many of them make a second.

    Seconds since 1970 have ten digits until the year 2286, and 1e11 of them are the year 5138. So
    numbers from there on are milliseconds, from 1e14 on microseconds, from 1e17 on nanoseconds.

    Examples
    --------
    >>> [ticks_of(moment) for moment in (1.7e9, 1.7e12, 1.7e15, 1.7e18)]
    [1.0, 1000.0, 1000000.0, 1000000000.0]
    """
    return next((ticks for least, ticks in _UNITS if magnitude >= least), 1.0)


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
    found: list[Any] = sorted({*counts.names})
    if whole:
        found = sorted(label for label in counts.labels if isinstance(label, int))
    if len(found) < 2:
        only = f"only the class {shown(found[0])}" if found else "no label"
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
