"""The one type of this package: rows in their order of arrival, read in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dfop.streams.cells import check_finite
from dfop.streams.errors import DataError

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Task: TypeAlias = Literal["classification", "regression"]
Rows: TypeAlias = tuple[Floats, Array]
TimedRows: TypeAlias = tuple[Floats, Array, Array | None]
# Rows start..stop of the stream (stop None: to the end), in pieces of any size.
Read: TypeAlias = Callable[[int, int | None], Iterator[TimedRows]]
Fresh: TypeAlias = Callable[[int, int, np.random.Generator], Rows]


class Stream:
    """Labelled rows in their order of arrival.

    A stream from a file or a generator is never in memory at once: `batches` reads it piece by
    piece, as often as one likes (a pipe: once). `arrays` reads all of it.

    Parameters
    ----------
    name : str
        What tables and error messages call it.
    task : {"classification", "regression"}
        Labels or numbers to predict.
    feature_names : sequence of str
        One name per column of X.
    read : callable
        ``read(start, stop)`` yields ``(X, y, time)`` pieces of any size that together are the
        rows ``start`` to ``stop`` (None: the end); ``time`` may be None.
    target_names : sequence of str
        One name per target.
    classes : sequence, optional
        The labels that occur. If absent, `classes` finds them in one pass.
    changes : sequence of int
        The rows at which a new concept begins.
    length : int, optional
        The number of rows. If absent, ``len`` counts them in one pass.
    fresh : callable, optional
        ``fresh(t, n, rng)`` draws n new labelled rows of the concept in force at row t.
    has_time : bool
        Whether rows carry a time.
    reusable : bool
        False for a pipe or an iterator, which can be read only once.

    See Also
    --------
    dfop.streams.read : a stream from a file, a frame or an iterable.

    Examples
    --------
    >>> stream = Stream.from_arrays([[0.0], [1.0], [2.0]], ["a", "b", "a"], name="tiny")
    >>> stream
    Stream('tiny', classification, 3 rows, 1 features, 0 changes)
    >>> [len(X) for X, y in stream.batches(2)]
    [2, 1]
    >>> stream[1:].arrays()[1].tolist()
    ['b', 'a']
    """

    def __init__(
        self,
        name: str,
        task: Task,
        feature_names: Sequence[str],
        read: Read,
        *,
        target_names: Sequence[str] = ("y",),
        classes: Sequence[Any] | None = None,
        changes: Sequence[int] = (),
        length: int | None = None,
        fresh: Fresh | None = None,
        has_time: bool = False,
        reusable: bool = True,
    ) -> None:
        if task not in ("classification", "regression"):
            raise ValueError(f"task must be 'classification' or 'regression', not {task!r}")
        self.name = name
        self.task: Task = task
        self.feature_names = tuple(feature_names)
        self.target_names = tuple(target_names)
        self.changes = tuple(changes)
        self.fresh = fresh
        self.has_time = has_time
        self.reusable = reusable
        self._read = read
        self._classes = None if classes is None else tuple(classes)
        self._length = length

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        name: str = "arrays",
        task: Task | None = None,
        time: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
        changes: Sequence[int] = (),
        missing: Literal["error", "nan"] = "error",
    ) -> Stream:
        """Make a stream of arrays in memory.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        y : array-like of shape (n,) or (n, q)
            Labels, or numbers for regression.
        name : str
            What messages call it.
        task : {"classification", "regression"}, optional
            By default regression if y holds floats, else classification.
        time : array-like of shape (n,), optional
            When each row arrived: numbers or datetime64.
        feature_names : sequence of str, optional
            By default x1, x2, ...
        classes : sequence, optional
            The labels, if y may not show all of them.
        changes : sequence of int
            The rows at which a new concept begins.
        missing : {"error", "nan"}
            Whether a NaN in X is an error or a gap that the model will handle.

        Returns
        -------
        Stream
            A stream of views of these arrays.

        Examples
        --------
        >>> Stream.from_arrays([[1.0, 2.0], [3.0, 4.0]], [0.5, 0.7]).task
        'regression'
        """
        X = np.ascontiguousarray(X, dtype=np.float64)
        y = np.asarray(y)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions (rows, features), not {X.ndim}")
        if y.shape[:1] != X.shape[:1]:
            raise ValueError(f"X has {len(X)} rows and y has {len(y) if y.ndim else 0}")
        when = None if time is None else np.asarray(time)
        if when is not None and when.shape != (len(X),):
            raise ValueError(f"time must have shape ({len(X)},), not {when.shape}")
        names = tuple(feature_names or (f"x{j + 1}" for j in range(X.shape[1])))
        if len(names) != X.shape[1]:
            raise ValueError(f"{len(names)} feature names for {X.shape[1]} features")
        check_finite(X, names, name, 1, missing)
        task = task or ("regression" if y.dtype.kind == "f" else "classification")
        if task == "regression":
            y = y.astype(np.float64)
            check_finite(y.reshape(len(y), -1), ["y"] * y[:1].size, name, 1, "error")

        def read(start: int, stop: int | None) -> Iterator[TimedRows]:
            part = slice(start, stop)
            if len(X[part]):
                yield X[part], y[part], None if when is None else when[part]

        stream = cls(
            name,
            task,
            names,
            read,
            classes=classes,
            changes=changes,
            length=len(X),
            has_time=when is not None,
        )
        if task == "classification" and len(X):
            found = stream._scan()[1]
            unknown = [label for label in found if label not in (stream.classes or ())]
            if unknown:
                raise DataError(f"label {unknown[0]!r} is not among the classes", source=name)
        return stream

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The labels in sorted order; None for regression."""
        if self.task == "regression":
            return None
        if self._classes is None:
            if not self.reusable:
                raise DataError(
                    "the classes of a source that can be read only once are not known beforehand",
                    source=self.name,
                    remedy="Pass classes=(...)",
                )
            self._length, found = self._scan()
            if len(found) < 2:
                raise DataError(
                    f"there is only the class {found[0]!r}" if found else "there are no rows",
                    source=self.name,
                    column=self.target_names[0],
                    remedy="Check the target column, or pass classes=(...) if more may come",
                )
            self._classes = found
        return self._classes

    def batches(self, size: int = 1000) -> Iterator[Rows]:
        """Read the stream as ``(X, y)`` arrays of `size` rows; the last may be shorter.

        Parameters
        ----------
        size : int
            Rows per batch.

        Yields
        ------
        X : array of shape (size, d)
            Features, float64.
        y : array of shape (size,) or (size, q)
            Targets.
        """
        return ((X, y) for X, y, _ in self.timed_batches(size))

    def timed_batches(self, size: int = 1000) -> Iterator[TimedRows]:
        """Read the stream as ``(X, y, time)``; time is None if the rows carry none.

        Parameters
        ----------
        size : int
            Rows per batch.

        Yields
        ------
        X, y : arrays
            As in `batches`.
        time : array of shape (size,) or None
            Numbers or datetime64.
        """
        if size < 1:
            raise ValueError(f"a batch has at least one row, not {size}")
        return _rechunk(self._read(0, None), size)

    def arrays(self) -> Rows:
        """Read all rows into memory.

        Returns
        -------
        X, y : arrays
            As in `batches`.
        """
        X, y, _ = self._all()
        return X, y

    @property
    def time(self) -> Array | None:
        """The times of all rows, or None."""
        return self._all()[2] if self.has_time else None

    def _all(self) -> TimedRows:
        pieces = list(self._read(0, None))
        if not pieces:
            return np.empty((0, len(self.feature_names))), np.empty(0), None
        return _join(pieces)

    def _scan(self) -> tuple[int, tuple[Any, ...]]:
        rows, found = 0, set()
        for X, y, _ in self._read(0, None):
            rows += len(X)
            if self.task == "classification":
                found.update(np.unique(y).tolist())
        return rows, tuple(sorted(found))

    def __len__(self) -> int:
        if self._length is None:
            if not self.reusable:
                raise TypeError(f"{self.name} can be read only once: its length is not known")
            self._length = self._scan()[0]
        return self._length

    def __bool__(self) -> bool:
        # Without this, `if stream:` would count the rows of a file.
        return True

    def __getitem__(self, rows: slice) -> Stream:
        if not isinstance(rows, slice):
            raise TypeError("a stream is cut with a slice: stream[start:stop]")
        if rows.step not in (None, 1):
            raise ValueError("a stream is cut in its order: no step in stream[start:stop]")
        start, stop = rows.start or 0, rows.stop
        if self._length is not None or start < 0 or (stop is not None and stop < 0):
            start, stop, _ = slice(start, stop).indices(len(self))
            stop = max(start, stop)
        parent = self

        def read(first: int, last: int | None) -> Iterator[TimedRows]:
            ends = [
                end for end in (stop, None if last is None else start + last) if end is not None
            ]
            return parent._read(start + first, min(ends, default=None))

        fresh = self.fresh
        return Stream(
            self.name,
            self.task,
            self.feature_names,
            read,
            target_names=self.target_names,
            classes=self._classes,
            changes=[c - start for c in self.changes if c > start and (stop is None or c < stop)],
            length=None if stop is None or self._length is None else stop - start,
            fresh=None if fresh is None else lambda t, n, rng: fresh(start + t, n, rng),
            has_time=self.has_time,
            reusable=self.reusable,
        )

    def __repr__(self) -> str:
        rows = "? rows" if self._length is None else f"{self._length} rows"
        return (
            f"Stream({self.name!r}, {self.task}, {rows}, {len(self.feature_names)} features, "
            f"{len(self.changes)} changes)"
        )


def _rechunk(pieces: Iterator[TimedRows], size: int) -> Iterator[TimedRows]:
    """Cut pieces of any size into batches of one size, holding one batch at a time."""
    held: list[TimedRows] = []
    rows = 0
    for piece in pieces:
        start, n = 0, len(piece[0])
        while rows + n - start >= size:
            stop = start + size - rows
            yield _join([*held, _cut(piece, start, stop)])
            held, rows, start = [], 0, stop
        if start < n:
            held.append(_cut(piece, start, n))
            rows += n - start
    if held:
        yield _join(held)


def _cut(piece: TimedRows, start: int, stop: int) -> TimedRows:
    X, y, time = piece
    return X[start:stop], y[start:stop], None if time is None else time[start:stop]


def _join(pieces: list[TimedRows]) -> TimedRows:
    if len(pieces) == 1:
        return pieces[0]
    times = [time for _, _, time in pieces if time is not None]
    return (
        np.concatenate([X for X, _, _ in pieces]),
        np.concatenate([y for _, y, _ in pieces]),
        np.concatenate(times) if times else None,
    )
