"""The one type of this package: rows in their order of arrival, read in batches."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dfop.rows.arrow import CellError, batch_from_arrow, check_numbers
from dfop.rows.batch import Batch, Text
from dfop.rows.cells import shown
from dfop.rows.checks import check_length, refuse_masked
from dfop.rows.extras import need
from dfop.rows.labels import class_labels, found_classes, target_labels
from dfop.rows.tables import as_batch
from dfop.rows.target_cells import cells_of, target_numbers
from dfop.streams.bad_rows import BadRows
from dfop.streams.errors import DataError

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Task: TypeAlias = Literal["classification", "regression"]
Rows: TypeAlias = tuple[Floats, Array]
BatchRows: TypeAlias = tuple[Batch, Array]
TimedRows: TypeAlias = tuple[Floats | Batch, Array, Array | None]
# Rows start..stop of the stream (stop None: to the end), in pieces of any size.
Read: TypeAlias = Callable[[int, int | None], Iterator[TimedRows | BatchRows]]
Fresh: TypeAlias = Callable[[int, int, np.random.Generator], Rows]


class Stream:
    """Labelled rows in their order of arrival.

    A stream from a file or a generator is never in memory at once: `batches` reads it piece by
    piece, as often as one likes (a pipe: once). `arrays` and `frame` read all of it.

    Parameters
    ----------
    name : str
        What tables and error messages call it.
    task : {"classification", "regression"}
        Labels or numbers to predict.
    feature_names : sequence of str
        One name per column of X.
    read : callable
        ``read(start, stop)`` yields pieces of any size that together are the rows ``start`` to
        ``stop`` (None: the end): ``(X, y, time)`` with a matrix X and None for no time, or
        ``(batch, y)``.
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
    bad : BadRows, optional
        What counts the rows that were left out.
    layout : dfop.streams.layout.Layout, optional
        What was decided of a file's columns.

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
        bad: BadRows | None = None,
        layout: Any = None,
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
        self.bad = BadRows() if bad is None else bad
        self.layout = layout
        self._read = read
        self._classes = None if classes is None else tuple(classes)
        if self._classes:
            class_labels(self._classes)
        self._length = length

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        name: str = "arrays",
        task: Task | None = None,
        time: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
        changes: Sequence[int] = (),
        missing: Literal["nan", "error"] = "nan",
    ) -> Stream:
        """Make a stream of what is in memory.

        Parameters
        ----------
        X : array-like of shape (n, d), data frame, Arrow table, or Batch
            Features; a frame may hold text and gaps, an array gaps (NaN).
        y : array-like of shape (n,) or (n, q)
            Labels, or numbers for regression.
        name : str
            What messages call it.
        task : {"classification", "regression"}, optional
            By default regression if y holds floats, else classification.
        time : array-like of shape (n,), optional
            When each row arrived: numbers or datetime64.
        feature_names : sequence of str, optional
            By default the names of the frame's columns, or x1, x2, ...
        classes : sequence, optional
            The labels, if y may not show all of them.
        changes : sequence of int
            The rows at which a new concept begins.
        missing : {"nan", "error"}
            Whether a gap in X is left to the model or an error.

        Returns
        -------
        Stream
            A stream of views of these arrays.

        Examples
        --------
        >>> Stream.from_arrays([[1.0, 2.0], [3.0, 4.0]], [0.5, 0.7]).task
        'regression'
        """
        batch = _in_memory(X, name, time, feature_names)
        y, task = _targets(y, len(batch), task, classes, name)
        if missing == "error":
            _refuse_gaps(batch, name)

        def read(start: int, stop: int | None) -> Iterator[BatchRows]:
            if len(y[start:stop]):
                yield batch[start:stop], y[start:stop]

        stream = cls(
            name,
            task,
            batch.names or (),
            read,
            classes=classes,
            changes=changes,
            length=len(batch),
            has_time=batch.time is not None,
        )
        if task == "classification" and len(batch):
            found = stream._scan()[1]
            unknown = [label for label in found if label not in (stream.classes or ())]
            if unknown:
                raise DataError(f"label {shown(unknown[0])} is not among the classes", source=name)
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
                    f"there is only the class {shown(found[0])}" if found else "there are no rows",
                    source=self.name,
                    column=self.target_names[0],
                    remedy="Check the target column, or pass classes=(...) if more may come",
                )
            self._classes = found
        return self._classes

    def batches(self, size: int = 1000) -> Iterator[BatchRows]:
        """Read the stream as ``(X, y)`` of `size` rows each; the last may be shorter.

        Parameters
        ----------
        size : int
            Rows per batch.

        Yields
        ------
        X : Batch
            Features with their names, text, gaps and time. Where all are numbers,
            ``np.asarray(X)`` is the matrix.
        y : array of shape (size,) or (size, q)
            Targets.
        """
        if size < 1:
            raise ValueError(f"a batch has at least one row, not {size}")
        return _rechunk(self.pieces(0, None), size)

    def timed_batches(self, size: int = 1000) -> Iterator[tuple[Batch, Array, Array | None]]:
        """Read the stream as ``(X, y, time)``; time is None if the rows carry none.

        Parameters
        ----------
        size : int
            Rows per batch.

        Yields
        ------
        X, y : Batch, array
            As in `batches`.
        time : array of shape (size,) or None
            Numbers or datetime64; X has it, too.
        """
        return ((X, y, X.time) for X, y in self.batches(size))

    def arrays(self) -> Rows:
        """Read all rows into memory, where all features are numbers.

        Returns
        -------
        X : array of shape (n, d)
            Features, NaN where missing.
        y : array of shape (n,) or (n, q)
            Targets.
        """
        batch, y = self.all_rows()
        if batch.texts:
            raise DataError(
                "the column holds text, so the rows are no matrix of numbers",
                source=self.name,
                column=batch.name_of(min(batch.texts)),
                remedy="Use frame() or batches(), or choose other columns with features=[...]",
            )
        return batch.numbers, y

    def frame(self) -> Any:
        """Read all rows into a pandas DataFrame: features, then targets, then the time.

        Text is categorical, so that what reads as a number stays text.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> from dfop.streams import read
        >>> rows = [{"color": "red", "y": 0.5}, {"color": None, "y": 1.5}]
        >>> read(rows, target="y").frame().color.isna().tolist()
        [False, True]
        """
        pandas = need("pandas", extra="stats", purpose="making a DataFrame")
        batch, y = self.all_rows()
        columns: dict[str, Any] = {}
        for j, name in enumerate(self.feature_names):
            if j in batch.texts:
                columns[name] = pandas.Categorical.from_codes(*batch.texts[j])
            else:
                columns[name] = batch.numbers[:, j]
        targets = [y] if y.ndim == 1 else list(y.T)
        columns |= dict(zip(self.target_names, targets, strict=True))
        if batch.time is not None:
            columns["time"] = batch.time
        return pandas.DataFrame(columns)

    @property
    def time(self) -> Array | None:
        """The times of all rows, or None."""
        return self.all_rows()[0].time if self.has_time else None

    def pieces(self, start: int, stop: int | None) -> Generator[BatchRows, None, None]:
        """Read rows in pieces of any size, whatever `read` gives."""
        for X, y, *rest in self._read(start, stop):
            if isinstance(X, Batch):
                yield X, y
                continue
            numbers = np.ascontiguousarray(X, dtype=np.float64)
            gaps = bool(np.isnan(numbers).any())
            yield Batch(numbers, gaps, {}, self.feature_names, rest[0] if rest else None), y

    def all_rows(self) -> BatchRows:
        """Read all rows as one Batch, and their targets."""
        pieces = list(self.pieces(0, None))
        if not pieces:
            empty = np.empty((0, len(self.feature_names)))
            return Batch(empty, names=self.feature_names), np.empty(0)
        return _join(pieces)

    def _scan(self) -> tuple[int, tuple[Any, ...]]:
        rows, found = 0, set()
        for _, y in self.pieces(0, None):
            rows += len(y)
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

        def read(first: int, last: int | None) -> Iterator[BatchRows]:
            ends = [
                end for end in (stop, None if last is None else start + last) if end is not None
            ]
            return parent.pieces(start + first, min(ends, default=None))

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
            bad=self.bad,
        )

    def __repr__(self) -> str:
        rows = "? rows" if self._length is None else f"{self._length} rows"
        return (
            f"Stream({self.name!r}, {self.task}, {rows}, {len(self.feature_names)} features, "
            f"{len(self.changes)} changes)"
        )


def _rechunk(pieces: Iterator[BatchRows], size: int) -> Iterator[BatchRows]:
    """Cut pieces of any size into batches of one size, holding one batch at a time.

    Where the reading fails, the rows before the failure are given first.
    """
    held: list[BatchRows] = []
    rows = 0
    try:
        for piece in pieces:
            start, n = 0, len(piece[1])
            while rows + n - start >= size:
                stop = start + size - rows
                batch = _join([*held, _cut(piece, start, stop)])
                held, rows, start = [], 0, stop
                yield batch
            if start < n:
                held.append(_cut(piece, start, n))
                rows += n - start
    except DataError:
        if held:
            yield _join(held)
        raise
    if held:
        yield _join(held)


def _cut(piece: BatchRows, start: int, stop: int) -> BatchRows:
    X, y = piece[0][start:stop], piece[1][start:stop]
    for j, text in X.texts.items():
        if len(text.values) > len(y):
            # a part of a large piece needs few of its values
            used, codes = np.unique(text.codes, return_inverse=True)
            values = [text.values[code] for code in used.tolist() if code >= 0]
            X.texts[j] = Text(codes - (len(used) - len(values)), values)
    return X, y


def _join(pieces: list[BatchRows]) -> BatchRows:
    if len(pieces) == 1:
        return pieces[0]
    return Batch.join([X for X, _ in pieces]), np.concatenate([y for _, y in pieces])


def _in_memory(
    X: Any, name: str, time: ArrayLike | None, feature_names: Sequence[str] | None
) -> Batch:
    """Make a batch of what is in memory, checked, with names and time."""
    if isinstance(X, Batch):
        batch = X
    elif hasattr(X, "__arrow_c_stream__"):
        try:
            batch = batch_from_arrow(X)
        except CellError as error:
            raise _as_data_error(error, name) from None
    elif isinstance(X, np.ma.MaskedArray):
        batch = as_batch(X)
    else:
        numbers = np.ascontiguousarray(X, dtype=np.float64)
        if numbers.ndim != 2:
            raise ValueError(f"X must have two dimensions (rows, features), not {numbers.ndim}")
        batch = Batch(numbers)
    names = tuple(feature_names or batch.names or (f"x{j + 1}" for j in range(batch.shape[1])))
    if len(names) != batch.shape[1]:
        raise ValueError(f"{len(names)} feature names for {batch.shape[1]} features")
    refuse_masked(time, "time", "give every row its time, or drop the row")
    when = batch.time if time is None else np.asarray(time)
    if when is not None and when.shape != (len(batch),):
        raise ValueError(f"time must have shape ({len(batch)},), not {when.shape}")
    return replace(batch, names=names, time=when, gaps=_checked(batch.numbers, names, name))


def _targets(y: Any, n: int, task: Task | None, classes: Any, name: str) -> tuple[Array, Task]:
    """Return targets that are in memory, checked, and the task."""
    cells = cells_of(y)
    check_length(cells, n)
    task = task or ("regression" if cells.dtype.kind == "f" else "classification")
    if task == "classification":
        labels = target_labels(cells, n) if n else cells
        if classes is None and n:
            found_classes(labels)
        return labels, task
    numbers: Floats = cells.astype(np.float64) if cells.dtype.kind in "biuf" else cells
    matrix = numbers.reshape(n, -1)
    if numbers.dtype.kind == "f" and _checked(matrix, ["y"] * matrix.shape[1], name):
        row = int(np.argwhere(np.isnan(matrix))[0][0])
        raise DataError("the target is missing", source=name, row=row + 1, column="y")
    return target_numbers(numbers, n) if n else numbers, task


def _checked(numbers: Floats, names: Sequence[str], source: str) -> bool:
    """Whether numbers are missing; infinite ones are refused."""
    try:
        return check_numbers(numbers, names)
    except CellError as error:
        raise _as_data_error(error, source) from None


def _refuse_gaps(batch: Batch, source: str) -> None:
    for j in range(batch.shape[1]):
        text = batch.texts.get(j)
        missing = np.isnan(batch.numbers[:, j]) if text is None else text.codes < 0
        if missing.any():
            raise DataError(
                "the cell is missing",
                source=source,
                row=int(np.argmax(missing)) + 1,
                column=batch.name_of(j),
                remedy="Fill it, or allow gaps with missing='nan'",
            )


def _as_data_error(error: CellError, source: str) -> DataError:
    return DataError(
        error.problem,
        source=source,
        row=error.row + 1,
        column=error.column,
        remedy=error.remedy[:1].upper() + error.remedy[1:],
    )
