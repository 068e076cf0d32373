"""Rows by their non-zeros: SciPy's sparse matrices, and what else has few values in many columns.

A `SparseBatch` holds numbers alone: what is not held is 0, and nothing is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import LARGEST

from .batch import Batch
from .checks import refuse_no_columns, refuse_no_rows, where_in
from .sparse_parts import check_parts, checked_rows

Array = NDArray[np.float64]

WIDEST = 2**31 - 1
"""Columns are counted in 32 bits."""


@dataclass(eq=False, slots=True)
class SparseBatch:
    """Rows in their order, each by its non-zeros.

    Parameters
    ----------
    starts : ndarray of shape (n + 1,), int64
        Where each row begins in the two others, and where the last one ends.
    columns : ndarray, int32
        The columns of the values, in ascending order within a row.
    values : ndarray, float64
        The values.
    width : int
        How many columns there are.

    Examples
    --------
    >>> batch = SparseBatch(np.array([0, 1, 3]), np.array([2, 0, 1], np.int32), np.ones(3), 3)
    >>> len(batch), batch.shape
    (2, (2, 3))
    >>> batch[1:].dense().numbers
    array([[1., 1., 0.]])
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: Array
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.width

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> SparseBatch:
        if not isinstance(rows, slice):
            return self._some(rows)
        first, last, _ = rows.indices(len(self))
        starts = self.starts[first : last + 1]
        held = slice(int(starts[0]), int(starts[-1]))
        return SparseBatch(starts - starts[0], self.columns[held], self.values[held], self.width)

    def _some(self, rows: NDArray[np.int64]) -> SparseBatch:
        """Return rows by their numbers, which ascend."""
        of = np.repeat(np.arange(len(self)), np.diff(self.starts))  # the row of each cell
        held = np.isin(of, rows)
        sizes = np.diff(self.starts)[rows]
        return SparseBatch.of(sizes, self.columns[held], self.values[held], self.width)

    def then(self, later: SparseBatch) -> SparseBatch:
        """Return these rows and others behind them."""
        return SparseBatch(
            np.concatenate([self.starts, self.starts[-1] + later.starts[1:]]),
            np.concatenate([self.columns, later.columns]),
            np.concatenate([self.values, later.values]),
            max(self.width, later.width),
        )

    def dense(self) -> Batch:
        """Return the same rows with all their zeros."""
        numbers = np.zeros(self.shape)
        rows = np.repeat(np.arange(len(self)), np.diff(self.starts))
        numbers[rows, self.columns] = self.values
        return Batch(numbers)

    @classmethod
    def of(
        cls, sizes: NDArray[Any], columns: NDArray[np.int32], values: Array, width: int
    ) -> SparseBatch:
        """Return rows that hold so many cells each."""
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(starts, columns, values, width)

    @classmethod
    def of_dense(cls, numbers: Array) -> SparseBatch:
        """Return the non-zeros of rows."""
        rows, columns = np.nonzero(numbers)
        starts = np.searchsorted(rows, np.arange(len(numbers) + 1)).astype(np.int64)
        return cls(starts, columns.astype(np.int32), numbers[rows, columns], numbers.shape[1])

    def learn_by(self, engine: Any, Y: Array, discount: Array, gain: Array, out: Array) -> None:
        """Let a sketch learn the rows, each predicted before."""
        engine.learn_sparse(self.starts, self.columns, self.values, Y, discount, gain, out)

    def replay_by(self, engine: Any, *how: Any) -> float:
        """Let a sketch take rows, and labels that come later, in the order of their steps."""
        now: float = engine.replay_sparse(self.starts, self.columns, self.values, *how)
        return now

    def predict_by(self, engine: Any, out: Array) -> None:
        """Let a sketch predict the rows."""
        engine.predict_sparse(self.starts, self.columns, self.values, out)


def sparse_batch(X: Any) -> SparseBatch:
    """Make a batch of a sparse matrix.

    Parameters
    ----------
    X : scipy.sparse matrix or array
        The rows; values of one cell given several times are summed up, as SciPy does.

    Returns
    -------
    SparseBatch

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> sparse_batch(csc_array([[0.0, 2.0], [1.0, 0.0]])).columns
    array([1, 0], dtype=int32)
    """
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"X is sparse with shape {X.shape}: give rows and columns")
    check_parts(X)
    n, width = X.shape
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"X is sparse and holds {X.dtype}: give real numbers; Complex data not supported"
        )
    if n == 0:
        refuse_no_rows()
    if width == 0:
        refuse_no_columns(n)
    if width > WIDEST:
        raise ValueError(f"X has {width} columns, more than {WIDEST}: hash them into fewer")
    rows = checked_rows(X)
    if not rows.has_canonical_format:
        rows = rows.copy()  # the one given stays as it is
        rows.sum_duplicates()
    if rows.nnz and not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()  # no cell that is held is 0
    batch = SparseBatch(
        np.ascontiguousarray(rows.indptr, np.int64),
        np.ascontiguousarray(rows.indices, np.int32),
        np.ascontiguousarray(rows.data, np.float64),
        width,
    )
    _refuse_unusable(batch)
    return batch


def _refuse_unusable(batch: SparseBatch) -> None:
    """Refuse gaps and what is infinite or too large, with row, column and remedy."""
    good = np.abs(batch.values) <= LARGEST
    if good.all():
        return
    at = int(np.argmin(good))
    value, row = batch.values[at], int(np.searchsorted(batch.starts, at, side="right")) - 1
    if np.isnan(value):
        problem, remedy = "NaN", "sparse rows have no gaps; leave the cell out, which makes it 0"
    elif np.isinf(value):
        problem, remedy = "infinity", "clip or drop infinite values before learning"
    else:
        problem, remedy = f"{value:g}, a value too large", "scale it below 2**500 (3e150)"
    where = where_in((row, int(batch.columns[at])), None)
    raise ValueError(f"X contains {problem} at {where}: {remedy}")
