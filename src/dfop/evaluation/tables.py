"""A stand-in until `dfop.rows` reads tables itself: arrays and frames as a `Batch`."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from dfop.rows import Batch, Text
from dfop.rows.cells import is_missing, to_number


def as_batch(X: Any) -> Batch:
    """Take a Batch as it is, and make one of an array, a frame or lists.

    Parameters
    ----------
    X : Batch, array, data frame or list of rows
        Cells are numbers, text, or missing.

    Returns
    -------
    Batch

    Examples
    --------
    >>> as_batch([[1.0, "red"], [None, "blue"]]).rows()
    [[1.0, 'red'], [None, 'blue']]
    """
    if isinstance(X, Batch):
        return X
    columns = getattr(X, "columns", None)
    named = columns is not None and hasattr(X, "dtypes")
    names = tuple(str(name) for name in columns) if named and columns is not None else None
    values = np.asarray(X)
    if values.dtype.kind in "USO" and not isinstance(X, np.ndarray) and not named:
        values = np.asarray(X, dtype=object)  # numbers beside text stay numbers
    if values.ndim != 2:
        raise ValueError(
            f"X must have two dimensions (rows, columns), got the shape {values.shape}"
        )
    if values.dtype.kind in "biuf":
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        return Batch(numbers, bool(np.isnan(numbers).any()), names=names)
    numbers, texts = np.zeros(values.shape), {}
    for j, column in enumerate(values.T.tolist()):
        cells = _cells(column)
        if isinstance(cells, Text):
            texts[j] = cells
        else:
            numbers[:, j] = cells
    return Batch(numbers, bool(np.isnan(numbers).any()), texts, names)


def _cells(column: Iterable[Any]) -> Text | list[float]:
    cells = [None if is_missing(cell) else cell for cell in column]
    if not any(isinstance(cell, str) for cell in cells):
        return [np.nan if cell is None else to_number(cell) for cell in cells]
    found: dict[str, int] = {}
    codes = [-1 if c is None else found.setdefault(str(c).strip(), len(found)) for c in cells]
    return Text(np.array(codes, dtype=np.int64), list(found))
