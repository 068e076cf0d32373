"""What evaluation asks of a stream, and plain arrays dressed up as one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

Array = NDArray[Any]
Task = Literal["classification", "regression"]


class Stream(Protocol):
    """Rows in their order, with what is known about them.

    More is used where a stream has it: ``len(stream)``; ``time``, the moment of every row, or
    ``timed_batches(size)`` for triples (X, y, time), so that the times need not be in memory at
    once; ``fresh(t, n, rng)``, which draws ``n`` new rows of the concept of row ``t``.

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

    def batches(self, size: int) -> Iterable[tuple[Array, Array]]:
        """Read once, in order, at most ``size`` rows at a time."""

    def arrays(self) -> tuple[Array, Array]:
        """Read everything."""

    def __getitem__(self, rows: slice) -> "Stream":
        """Give the contiguous part ``stream[a:b]``."""


@dataclass(frozen=True, eq=False)
class ArrayStream:
    """A stream that is in memory; what a tuple ``(X, y)`` becomes."""

    X: Array
    y: Array
    task: Task
    feature_names: Sequence[str]
    classes: Sequence[Any] | Array | None
    name: str = "data"
    changes: Sequence[int] = ()
    time: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: slice) -> "ArrayStream":
        start, stop, _ = slice(rows.start, rows.stop).indices(len(self))
        return replace(
            self,
            X=self.X[start:stop],
            y=self.y[start:stop],
            changes=[c - start for c in self.changes if start < c < stop],
            time=None if self.time is None else self.time[start:stop],
        )

    def arrays(self) -> tuple[Array, Array]:
        """Read everything."""
        return self.X, self.y

    def batches(self, size: int) -> Iterator[tuple[Array, Array]]:
        """Read in order, at most ``size`` rows at a time."""
        for start in range(0, len(self), size):
            yield self.X[start : start + size], self.y[start : start + size]


Source = Stream | tuple[Any, Any]


def as_stream(source: Source, task: Task | None = None) -> Stream:
    """Take a stream as it is, and make one of a tuple ``(X, y)``.

    Parameters
    ----------
    source : stream or tuple of (X, y)
        Arrays, lists or data frames; the columns of a frame name the features.
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
                "a stream is an object with name, task, feature_names, classes, changes, "
                f"batches() and arrays(), or a tuple (X, y); got {type(source).__name__}"
            )
        if task is not None and task != source.task:
            raise ValueError(f"the stream {source.name!r} is {source.task}, the model {task}")
        return source
    if len(source) != 2:
        raise ValueError(f"a tuple must be (X, y), got {len(source)} parts")
    X, y = np.asarray(source[0]), np.asarray(source[1])
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
        raise ValueError(
            f"X must have two dimensions and y one value per row of X; got the shapes "
            f"{X.shape} and {y.shape}"
        )
    check_targets(y, 0, "y")
    if task is None:
        task = "regression" if type_of_target(y).startswith("continuous") else "classification"
    names = [str(c) for c in getattr(source[0], "columns", range(X.shape[1]))]
    return ArrayStream(X, y, task, names, np.unique(y) if task == "classification" else None)


def in_memory(stream: Stream) -> ArrayStream:
    """Read a whole stream, so that parts of it can be taken again and again.

    Examples
    --------
    >>> len(in_memory(as_stream(([[0.0], [1.0]], [3, 5])))[1:])
    1
    """
    X, y = stream.arrays()
    time = getattr(stream, "time", None)
    return ArrayStream(
        np.asarray(X),
        np.asarray(y),
        stream.task,
        stream.feature_names,
        stream.classes,
        stream.name,
        stream.changes,
        None if time is None else np.asarray(time),
    )


def has_clock(stream: Stream) -> bool:
    """Tell whether the rows have a time, without reading it where that can be avoided.

    Examples
    --------
    >>> has_clock(as_stream(([[0.0], [1.0]], [3, 5])))
    False
    """
    told = getattr(stream, "has_time", None)
    return bool(told) if told is not None else getattr(stream, "time", None) is not None


def timed_batches(stream: Stream, size: int) -> Iterator[tuple[Array, Array, Array | None]]:
    """Read a stream in order, with the moment of every row, or None.

    Examples
    --------
    >>> list(timed_batches(as_stream(([[0.0], [1.0]], [3, 5])), 2))
    [(array([[0.], [1.]]), array([3, 5]), None)]
    """
    if hasattr(stream, "timed_batches"):
        for X, y, time in stream.timed_batches(size):
            yield np.asarray(X), np.asarray(y), None if time is None else np.asarray(time)
        return
    clock = getattr(stream, "time", None)
    seen = 0
    for X, y in stream.batches(size):
        time = None if clock is None else np.asarray(clock[seen : seen + len(y)])
        seen += len(y)
        yield np.asarray(X), np.asarray(y), time


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
    if y.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(y))
        if len(bad):
            raise ValueError(
                f"{name}: row {first + bad[0]} has the target {y[bad[0]]}; "
                "drop the row or wait for its label"
            )


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
