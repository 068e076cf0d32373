"""What evaluation asks of a stream, and rows in memory dressed up as one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dfop.rows import Batch
from dfop.rows.cells import is_missing, shown
from dfop.rows.labels import found_classes, target_labels
from dfop.rows.tables import as_batch
from dfop.rows.target_cells import cells_of, target_numbers

Array = NDArray[Any]
Task = Literal["classification", "regression"]
_LARGE = 65_536  # rows that are read at a time where all are wanted


class Stream(Protocol):
    """Rows in their order, with what is known about them.

    More is used where a stream has it: ``len(stream)``; ``has_time``, whether its batches carry
    the time of their rows, or ``time``, the moment of every row; ``fresh(t, n, rng)``, which draws
    ``n`` new rows of the concept of row ``t``.

    Examples
    --------
    >>> stream: Stream = as_stream(([[0.0], [1.0]], ["no", "yes"]))
    >>> stream.task
    'classification'
    """

    @property
    def name(self) -> str:
        """A short name for tables and plots."""

    @property
    def task(self) -> Task:
        """Whether ``y`` holds classes or numbers."""

    @property
    def feature_names(self) -> Sequence[str]:
        """One name per column of ``X``."""

    @property
    def classes(self) -> Sequence[Any] | Array | None:
        """Every label that can occur, sorted; None for regression."""

    @property
    def changes(self) -> Sequence[int]:
        """Rows at which a new concept begins, as far as they are known."""

    def batches(self, size: int) -> Iterable[tuple[Batch | Array, Array]]:
        """Read once, in order, at most ``size`` rows at a time: a Batch or numbers, and labels."""

    def __getitem__(self, rows: slice) -> "Stream":
        """Give the contiguous part ``stream[a:b]``."""


@dataclass(frozen=True, eq=False)
class ArrayStream:
    """A stream that is in memory, as one Batch; what a tuple ``(X, y)`` becomes.

    Examples
    --------
    >>> stream = ArrayStream(as_batch([[0.0], [1.0]]), np.array([3.0, 5.0]), "regression")
    >>> len(stream[1:]), stream.feature_names
    (1, ['0'])
    """

    rows: Batch
    y: Array
    task: Task
    classes: Sequence[Any] | Array | None = None
    name: str = "data"
    changes: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: slice) -> "ArrayStream":
        start, stop, _ = slice(rows.start, rows.stop).indices(len(self))
        return replace(
            self,
            rows=self.rows[start:stop],
            y=self.y[start:stop],
            changes=[c - start for c in self.changes if start < c < stop],
        )

    @property
    def X(self) -> Array:  # noqa: N802
        """The rows as a matrix; text has none."""
        return np.asarray(self.rows)

    @property
    def feature_names(self) -> Sequence[str]:
        """One name per column; its number where it has none."""
        return [self.rows.name_of(j) for j in range(self.rows.shape[1])]

    @property
    def has_time(self) -> bool:
        """Whether the rows carry their time."""
        return self.rows.time is not None

    def batches(self, size: int) -> Iterator[tuple[Batch, Array]]:
        """Read in order, at most ``size`` rows at a time."""
        for start in range(0, len(self), size):
            yield self.rows[start : start + size], self.y[start : start + size]


Source = Stream | tuple[Any, Any]


def as_stream(source: Source, task: Task | None = None) -> Stream:
    """Take a stream as it is, and make one of a tuple ``(X, y)``.

    Parameters
    ----------
    source : stream or tuple of (X, y)
        Arrays, lists, data frames or a Batch, with text and gaps or without; the columns of a
        frame name the features, and a Batch may hold the time of its rows.
    task : {"classification", "regression"}, optional
        What the model does. It settles what ``y`` means, which a tuple does not say: whole
        numbers may be classes or counts. Without it, fractions mean regression.

    Returns
    -------
    Stream

    Examples
    --------
    >>> as_stream(([[0.0], [1.0]], [3, 5])).classes
    array([3, 5])
    >>> as_stream(([[0.0], [1.0]], [3, 5]), task="regression").classes is None
    True
    """
    if not isinstance(source, tuple):
        if not hasattr(source, "batches"):
            raise TypeError(
                "a stream is an object with name, task, feature_names, classes, changes and "
                f"batches(), or a tuple (X, y); got {type(source).__name__}. A file or a frame "
                "becomes one by dfop.streams.read(..., target=...)"
            )
        if task is not None and task != source.task:
            raise ValueError(f"the stream {source.name!r} is {source.task}, the model {task}")
        return source
    if len(source) != 2:
        raise ValueError(f"a tuple must be (X, y), got {len(source)} parts")
    rows, y = as_batch(source[0]), cells_of(source[1])
    if y.ndim != 1 or len(rows) != len(y):
        raise ValueError(
            f"y must have one value per row of X; got the shapes {rows.shape} and {y.shape}"
        )
    check_targets(y, 0, "y")
    if task is None:
        fractions = y.dtype.kind == "f" and (y != np.floor(y)).any()
        task = "regression" if fractions else "classification"
    if task == "regression":
        return ArrayStream(rows, target_numbers(y, len(y)), task)
    labels = target_labels(y, len(y))
    return ArrayStream(rows, labels, task, found_classes(labels))


def in_memory(stream: Stream) -> ArrayStream:
    """Read a whole stream, so that parts of it can be taken again and again.

    Examples
    --------
    >>> len(in_memory(as_stream(([[0.0], [1.0]], [3, 5])))[1:])
    1
    """
    if isinstance(stream, ArrayStream):
        return stream
    parts = list(labelled_batches(stream, _LARGE))
    if not parts:
        parts = [(Batch(np.empty((0, len(stream.feature_names)))), np.empty(0))]
    return ArrayStream(
        Batch.join([rows for rows, _ in parts]),
        np.concatenate([y for _, y in parts]),
        stream.task,
        stream.classes,
        stream.name,
        stream.changes,
    )


def has_clock(stream: Stream) -> bool:
    """Tell whether the rows have a time, without reading it where that can be avoided.

    Examples
    --------
    >>> has_clock(as_stream(([[0.0], [1.0]], [3, 5])))
    False
    """
    has_time = getattr(stream, "has_time", None)
    return bool(has_time) if has_time is not None else getattr(stream, "time", None) is not None


def labelled_batches(stream: Stream, size: int) -> Iterator[tuple[Batch, Array]]:
    """Read a stream in order: rows, with names and times where it has them, and labels.

    Parameters
    ----------
    stream : Stream
        It may yield arrays: then its names and times are put beside the numbers.
    size : int
        Rows at a time, at most.

    Yields
    ------
    rows : Batch
        With `time` wherever the stream has one.
    y : array
        Their labels.

    Examples
    --------
    >>> [(rows, y)] = labelled_batches(as_stream(([[0.0], [1.0]], [3, 5])), 2)
    >>> rows.rows(), y
    ([[0.0], [1.0]], array([3, 5]))
    """
    seen = 0
    clock: Any = None
    for X, y, *moments in _read(stream, size):
        if len(y) == 0:
            continue
        rows = named_rows(X, stream)
        if rows.time is None:
            if moments:
                time = moments[0]
            else:
                clock = clock if seen else getattr(stream, "time", None)
                time = None if clock is None else clock[seen : seen + len(y)]
            rows = replace(rows, time=None if time is None else np.asarray(time))
        seen += len(y)
        yield rows, cells_of(y)


def named_rows(X: Batch | Array, stream: Stream) -> Batch:
    """Make a Batch of rows of a stream; numbers get the stream's names.

    Examples
    --------
    >>> named_rows(np.ones((1, 1)), as_stream(([[0.0]], [1.5]))).names
    ('0',)
    """
    rows = X if isinstance(X, Batch) else as_batch(X)
    if isinstance(X, Batch) or rows.names is not None:
        return rows
    return replace(rows, names=tuple(stream.feature_names))


def _read(stream: Any, size: int) -> Iterable[Any]:
    """Read arrays with their times where a stream gives them so."""
    read: Iterable[Any] = getattr(stream, "timed_batches", stream.batches)(size)
    return read


def check_targets(y: Array, first: int, name: str) -> None:
    """Refuse targets that are not there: a score over them would mean nothing.

    Examples
    --------
    >>> check_targets(np.array([1.0, np.nan]), first=40, name="sensor")
    Traceback (most recent call last):
    ValueError: sensor: row 41 has the target nan; drop the row or wait for its label
    """
    if y.ndim != 1:
        raise ValueError(f"{name}: one target per row is scored, got the shape {y.shape}")
    bad = np.empty(0, dtype=np.intp)
    if y.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(y))
    elif y.dtype.kind == "O":
        bad = np.array([i for i, cell in enumerate(y) if _no_target(cell)], dtype=np.intp)
    if len(bad):
        raise ValueError(
            f"{name}: row {first + bad[0]} has the target {shown(y[bad[0]])}; "
            "drop the row or wait for its label"
        )


def _no_target(cell: Any) -> bool:
    return not isinstance(cell, str) and is_missing(cell)


def length(stream: Stream) -> int | None:
    """Count the rows, or give None when the stream cannot tell.

    Examples
    --------
    >>> length(as_stream(([[0.0], [1.0]], [3, 5])))
    2
    """
    try:
        return len(cast("Any", stream))
    except TypeError:
        return None
