"""From rows with text, gaps and new columns to rows of numbers, coded as they come.

A column of numbers is coded as itself. Its first gap opens an indicator, a coded column that is 1
where the number is missing; the number itself is then replaced by the mean of those before it.
A column of text has a coded column per text, 1 where the cell holds it, opened as the texts come;
after `MOST_TEXTS` of them, further ones share `BUCKETS` columns by their hash. A missing text
opens an indicator, too.

Coded columns are opened in the order of the rows and never moved, and a row is coded with what the
rows before it have shown. So the coded rows are the same for any split into batches, and a new
coded column is one that was 0 in all rows before: least squares can take it up exactly.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .batch import Batch, Text, is_missing, reads_as_number, to_number
from .core import LARGEST, Means, restore_means
from .validation import where_in

Array = NDArray[np.float64]

MOST_TEXTS = 100
"""How many texts of a column have a coded column of their own."""
BUCKETS = 32
"""How many coded columns the further texts of a column share."""

_ONCE = np.ones(1)


class First(str):
    """The name of a column that comes before all others."""


def in_order(keys: Iterable[Hashable]) -> list[Hashable]:
    """Return names of columns in an order of their own: a dict's is chance, and must not matter."""
    return sorted(keys, key=_rank)


def _rank(key: Hashable) -> tuple[str, Any]:
    if isinstance(key, First):
        return "", 0
    return type(key).__name__, key if isinstance(key, str | int | float) else repr(key)


def bucket_of(text: str) -> int:
    """Which of the shared columns a text falls into, the same on every machine."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % BUCKETS


@dataclass(slots=True)
class Column:
    """How a column is coded: the coded columns that it has."""

    place: int
    """Of its numbers, or of its first text."""
    kind: str | None = None
    """"number" or "text", by its first value; None while all values were missing."""
    gap: int | None = None
    """Of the indicator of missing values, once there was one."""
    texts: dict[str, int] = field(default_factory=dict)
    buckets: dict[int, int] = field(default_factory=dict)


class Change(NamedTuple):
    """One thing that a row shows about a column for the first time."""

    key: Hashable
    what: str
    """"column", "number", "gap", "text" or "bucket"."""
    value: Any
    """The text or bucket."""
    place: int
    """The coded column it gets."""


class Coded(NamedTuple):
    """Coded rows, and what they change in the coder."""

    rows: Array
    """(n, coded columns)"""
    widths: list[tuple[int, int]]
    """(row, how many coded columns there are from this row on), from row 0."""
    changes: list[Change]
    weight: Array
    means: Means | None
    """The running means after the rows; None: the rows are the numbers themselves."""

    @property
    def width(self) -> int:
        """How many coded columns there are after the rows."""
        return int(self.rows.shape[1])


class RowCoder:
    """The coding of the columns seen so far."""

    def __init__(self) -> None:
        self.columns: dict[Hashable, Column] = {}
        self.numbers: dict[Hashable, int] = {}
        """Places of the columns of numbers."""
        self.means = Means()
        """Running means of the numbers, by place."""
        self.lock = threading.RLock()
        """To be held from coding rows to their learning."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.RLock())

    @classmethod
    def of_numbers(cls, keys: Iterable[Hashable]) -> RowCoder:
        """Make a coder that knows columns of numbers, but nothing of their values."""
        coder = cls()
        for place, key in enumerate(keys):
            coder.columns[key] = Column(place, "number")
            coder.numbers[key] = place
        coder.means.resize(len(coder.numbers))
        return coder

    @property
    def width(self) -> int:
        """How many coded columns there are."""
        return len(self.means)

    def labels(self, names: Iterable[Any]) -> list[Any]:
        """Names of the coded columns, given those of the columns."""
        labels: list[Any] = [None] * self.width
        for name, column in zip(names, self.columns.values(), strict=True):
            labels[column.place] = name
            for text, place in column.texts.items():
                labels[place] = f"{name}={text}"
            for bucket, place in column.buckets.items():
                labels[place] = f"{name}#{bucket}"
            if column.gap is not None:
                labels[column.gap] = f"{name} is missing"
        return labels

    def code(self, batch: Batch, weight: Array = _ONCE) -> Coded:
        """Code rows that count `weight` times each, as a change that `take` makes.

        A row of weight 0 is coded with what is known, and shows nothing new.
        """
        if self._is_coded(batch):
            return Coded(batch.numbers, [(0, len(self.numbers))], [], weight, None)
        return _Coding(self, batch, weight, learn=True).coded()

    def code_to_predict(self, batch: Batch) -> Array:
        """Code rows with what is known; columns and texts never learned have no part in it."""
        if self._is_coded(batch):
            return batch.numbers
        return _Coding(self, batch, np.zeros(1), learn=False).coded().rows

    def _is_coded(self, batch: Batch) -> bool:
        """Whether all columns were always plain numbers, and the rows are their code."""
        width = len(self.numbers)
        return (
            not batch.gaps
            and not batch.texts
            and batch.keys == range(width)
            and len(self.means) == width
        )

    def take(self, coded: Coded) -> None:
        """Learn what the coded rows have shown."""
        if coded.means is None:
            self.means.add_rows(coded.rows, coded.weight)
        else:
            self._apply(coded.changes, coded.width)
            self.means.restore(**coded.means.snapshot())

    def _apply(self, changes: list[Change], width: int) -> None:
        for key, what, value, place in changes:
            if what == "column":
                self.columns[key] = Column(place)
                continue
            column = self.columns[key]
            if what == "number":
                column.kind = what
                self.numbers[key] = place
            elif what == "gap":
                column.gap = place
            elif what == "bucket":
                column.buckets[value] = place
            else:
                column.kind = what
                column.texts[value] = place
        self.means.resize(width)

    def code_one(self, row: dict[Hashable, Any], learn: bool) -> tuple[list[int], list[float]]:
        """Code a row that is a dict, and if `learn` also take what it shows.

        Returns the coded columns that are not 0, and their values. A column that the row does not
        have has no value there, which counts as 0.
        """
        cells: list[tuple[int, float]] = []
        numbers: list[tuple[int, float]] = []
        changes: list[Change] = []
        width = self.width
        fresh: dict[Hashable, Column] = {}
        if learn:
            row = {key: row[key] for key in in_order(row)}
            for key in row:
                if key not in self.columns:
                    fresh[key] = Column(width)
                    changes.append(Change(key, "column", None, width))
                    width += 1
        for key, value in row.items():
            column = self.columns.get(key) or fresh.get(key)
            place: int | None = None
            change: Change | None = None
            if isinstance(value, str):
                place, change = _place_of_text(column, key, value, width)
                cell = 1.0
            elif is_missing(value):
                if column is not None:
                    if column.kind == "number":
                        cells.append((column.place, self.means.mean(column.place)))
                    place = column.gap
                    change = Change(key, "gap", None, width) if place is None else None
                cell = 1.0
            else:
                cell = _check_number(column, key, value)
                if column is not None:
                    place = column.place
                    numbers.append((place, cell))
                    if column.kind is None:
                        change = Change(key, "number", None, place)
            if change is not None and learn:
                changes.append(change)
                place = change.place
                width = max(width, place + 1)
            if place is not None:
                cells.append((place, cell))
        if learn:
            self._apply(changes, width)
            for at, number in numbers:
                self.means.add(at, number)
        return [at for at, _ in cells], [cell for _, cell in cells]


def learn_coded(
    learner: Any,
    coded: Coded,
    targets: Array,
    per_row: tuple[Array, Array],
    outputs: Array,
) -> None:
    """Let a filter or bank learn rows, and grow at the rows at which coded columns are opened."""
    if coded.width == learner.features:  # a row at a time must not pay for parts
        learner.learn(coded.rows, targets, *per_row, outputs)
        return
    for part, width in parts_of(coded):
        learner.add_features(width - learner.features)
        learner.learn(
            np.ascontiguousarray(coded.rows[part, :width]),
            targets[part],
            *cut(per_row, part, len(coded.rows)),
            outputs[part],
        )


def parts_of(coded: Coded) -> list[tuple[slice, int]]:
    """Return runs of rows, and how many coded columns there are in each."""
    ends = [row for row, _ in coded.widths[1:]] + [len(coded.rows)]
    return [
        (slice(start, end), width) for (start, width), end in zip(coded.widths, ends, strict=True)
    ]


def cut(per_row: tuple[Array, Array], part: slice, n: int) -> tuple[Array, Array]:
    """Return the values of some of n rows; a single value stands for all of them."""
    first, second = (values[part] if values.size == n else values for values in per_row)
    return first, second


def _place_of_text(
    column: Column | None, key: Hashable, text: str, width: int
) -> tuple[int | None, Change | None]:
    """Coded column of a text; if it has none, how to open one."""
    if column is not None and column.kind == "number":
        raise ValueError(
            f"feature {key!r} is {text!r}, but it was a number before: give a feature values of "
            "one kind"
        )
    place = None if column is None else column.texts.get(text)
    if place is not None:
        return place, None
    if reads_as_number(text):
        raise ValueError(
            f"feature {key!r} is {text!r}, a number given as text: convert it to a number, or put "
            "a letter before it if it is a name"
        )
    if column is None:
        return None, None
    if len(column.texts) < MOST_TEXTS:
        return None, Change(key, "text", text, width if column.texts else column.place)
    bucket = bucket_of(text)
    place = column.buckets.get(bucket)
    return place, None if place is not None else Change(key, "bucket", bucket, width)


def _check_number(column: Column | None, key: Hashable, value: Any) -> float:
    try:
        number = to_number(value)
    except (TypeError, ValueError):
        number = np.inf
    if not abs(number) <= LARGEST:
        raise ValueError(
            f"feature {key!r} is {value!r}; expected text or a finite number below 2**500 in "
            "magnitude: encode or drop it before learning"
        )
    if column is not None and column.kind == "text":
        raise ValueError(
            f"feature {key!r} is {value!r}, but it was text before: give a feature values of one "
            "kind"
        )
    return number


class _Coding:
    """The coding of one batch, which collects what its rows show.

    Coded columns to be opened are numbered in the order in which they are found, column by column,
    and brought into the order of the rows at the end.
    """

    def __init__(self, coder: RowCoder, batch: Batch, weight: Array, *, learn: bool) -> None:
        self.coder, self.batch, self.weight, self.learn = coder, batch, weight, learn
        self.n = len(batch.numbers)
        self.seen = np.broadcast_to(weight > 0.0, self.n)
        self.opened: list[tuple[int, bool, int]] = []  # row, whether after the columns, position
        self.changes: list[Change] = []
        self.numbers: list[tuple[int, Array]] = []  # place, values
        self.ones: list[tuple[NDArray[np.intp], Any]] = []  # rows, places

    def open(self, row: int, position: int, *, column: bool = False) -> int:
        self.opened.append((row, not column, position))
        return self.coder.width + len(self.opened) - 1

    def coded(self) -> Coded:
        for position, key in enumerate(self.batch.keys):
            column = self.coder.columns.get(key)
            if column is None and self.learn:
                column = Column(self.open(0, position, column=True))
                self.changes.append(Change(key, "column", None, column.place))
            text = self.batch.texts.get(position)
            if text is None:
                self.code_numbers(position, key, column)
            else:
                self.code_text(position, key, column, text)
        old = self.coder.width
        order = sorted(range(len(self.opened)), key=self.opened.__getitem__)
        final = np.arange(old + len(order))
        final[old + np.array(order, dtype=np.intp)] = np.arange(old, final.size)
        rows = np.zeros((self.n, final.size))
        for place, values in self.numbers:
            rows[:, final[place]] = values
        for where, places in self.ones:
            rows[where, final[places]] = 1.0
        means = restore_means(**self.coder.means.snapshot())
        means.resize(final.size)
        means.fill(rows, [int(final[place]) for place, _ in self.numbers], self.weight)
        widths = [(0, old)]
        for width, k in enumerate(order, old + 1):
            row = self.opened[k][0]
            widths[-1 if row == widths[-1][0] else len(widths) :] = [(row, width)]
        changes = [change._replace(place=int(final[change.place])) for change in self.changes]
        return Coded(rows, widths, changes, self.weight, means)

    def code_numbers(self, position: int, key: Hashable, column: Column | None) -> None:
        values = self.batch.numbers[:, position]
        missing = np.isnan(values)
        if column is not None and column.kind == "text" and not missing.all():
            row = int(np.argmin(missing))
            raise ValueError(
                f"X has {values[row]:g} at {where_in((row, position), self.batch.names)}, a column "
                "that held text before: give it as text, or as a categorical type if its numbers "
                "are names"
            )
        if column is None:
            return
        if not missing.all():
            self.numbers.append((column.place, values))
            if column.kind is None and not missing[self.seen].all():
                self.changes.append(Change(key, "number", None, column.place))
        elif column.kind == "number":
            self.numbers.append((column.place, values))
        self.code_gaps(position, key, column, np.flatnonzero(missing))

    def code_gaps(
        self, position: int, key: Hashable, column: Column, rows: NDArray[np.intp]
    ) -> None:
        gap = column.gap
        if gap is None:
            shown = rows[self.seen[rows]]
            if shown.size == 0:
                return
            gap = self.open(int(shown[0]), position)
            self.changes.append(Change(key, "gap", None, gap))
            rows = rows[rows >= shown[0]]
        self.ones.append((rows, gap))

    def code_text(self, position: int, key: Hashable, column: Column | None, text: Text) -> None:
        codes, values = text
        if column is not None and column.kind == "number":
            row = int(np.argmax(codes >= 0))
            raise ValueError(
                f"X has {values[codes[row]]!r} at {where_in((row, position), self.batch.names)}, a "
                "column that held numbers before: keep a column to one kind, text or numbers"
            )
        if column is None:
            return
        known = np.array([column.texts.get(value, -1) for value in values], dtype=np.intp)
        places = np.where(codes >= 0, known[codes], -1)
        texts, buckets = dict(column.texts), dict(column.buckets)
        for t in np.flatnonzero((codes >= 0) & (places < 0)).tolist():
            value = values[codes[t]]
            place = texts.get(value)
            if place is None and len(texts) < MOST_TEXTS:
                if self.seen[t]:
                    place = self.open(t, position) if texts else column.place
                    texts[value] = place
                    self.changes.append(Change(key, "text", value, place))
            elif place is None:
                bucket = bucket_of(value)
                place = buckets.get(bucket)
                if place is None and self.seen[t]:
                    place = buckets[bucket] = self.open(t, position)
                    self.changes.append(Change(key, "bucket", bucket, place))
            places[t] = -1 if place is None else place
        rows = np.flatnonzero(places >= 0)
        self.ones.append((rows, places[rows]))
        self.code_gaps(position, key, column, np.flatnonzero(codes < 0))


def coded_names(coder: RowCoder, names: Sequence[str] | None) -> NDArray[Any]:
    """Names of the coded columns of an estimator, "x0", "x1" and so on where it knows none."""
    given = [f"x{j}" for j in range(len(coder.columns))] if names is None else names
    return np.array(coder.labels(given), dtype=object)
