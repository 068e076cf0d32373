"""Whether the parts of a sparse matrix fit together: SciPy's own code reads past their ends else.

SciPy checks parts when a matrix is made of them, not those that were changed afterwards, and not
all of them.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .cells import shown

_LINES = {"csr": "row", "csc": "column", "bsr": "row of blocks"}
_PARTS = {
    "csr": {"indptr": 1, "indices": 1, "data": 1},
    "csc": {"indptr": 1, "indices": 1, "data": 1},
    "bsr": {"indptr": 1, "indices": 1, "data": 3},
    "coo": {"row": 1, "col": 1, "data": 1},
    "dia": {"offsets": 1, "data": 2},
    "lil": {"rows": 1, "data": 1},
}
"""How many dimensions the parts have; all but the values, and lists, hold whole numbers."""
_REMEDY = (
    "make the matrix anew of rows, columns and values, "
    "scipy.sparse.coo_array((values, (rows, columns)), shape=shape)"
)


def check_parts(X: Any) -> None:
    """Refuse parts of a sparse matrix that are no arrays of their kind.

    Parameters
    ----------
    X : scipy.sparse matrix or array
        In any format.
    """
    for name, dimensions in _PARTS.get(X.format, {}).items():
        part = getattr(X, name)
        if not isinstance(part, np.ndarray):
            _refuse(f"{name} is of type {type(part).__name__}, not an array")
        if part.ndim != dimensions:
            _refuse(f"{name} has {part.ndim} dimensions, not {dimensions}")
        if name not in ("data", "rows") and part.dtype.kind not in "iu":
            _refuse(f"{name} holds {part.dtype}, not whole numbers")
    if X.format == "bsr" and 0 in X.data.shape[1:]:
        _refuse(f"data has blocks of shape {X.data.shape[1:]}")


def checked_rows(X: Any) -> Any:
    """Return a sparse matrix as SciPy's CSR, with nothing noted of the order of its cells.

    Parameters
    ----------
    X : scipy.sparse matrix or array
        In any format; it stays as it is.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = csr_array(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2))
    >>> X.indices[1] = 7
    >>> checked_rows(X)
    Traceback (most recent call last):
    ...
    ValueError: X is sparse and damaged: row 1 has a cell in column 7 of 2; make the matrix anew ...
    """
    if X.format == "coo":
        _check_coordinates(X)
    elif X.format == "dia" and len(X.offsets) != len(X.data):
        _refuse(f"{len(X.offsets)} offsets are held for {len(X.data)} diagonals")
    elif X.format == "lil":
        _check_lists(X)
    elif X.format in _LINES:
        _check_lines(X)
    rows = X.tocsr()
    if rows is not X:
        _check_lines(rows)
    # what a matrix notes of its order may be older than its parts
    return type(rows)((rows.data, rows.indices, rows.indptr), shape=rows.shape)


def _check_coordinates(X: Any) -> None:
    """Check a row, a column and a value for each cell."""
    if not len(X.row) == len(X.col) == len(X.data):
        _refuse(f"{len(X.row)} rows, {len(X.col)} columns and {len(X.data)} values are held")
    for cells, size, word in ((X.row, X.shape[0], "row"), (X.col, X.shape[1], "column")):
        bad = _outside(cells, size)
        if bad.any():
            at = int(np.argmax(bad))
            _refuse(f"cell {at} is in {word} {cells[at]} of {size}")


def _check_lists(X: Any) -> None:
    """Check a list of columns and one of values for each row."""
    if not len(X.rows) == len(X.data) == X.shape[0]:
        _refuse(f"{len(X.rows)} and {len(X.data)} lists are held for {X.shape[0]} rows")
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        for word, cells, kinds in (("columns", columns, "iu"), ("values", values, "biufc")):
            if not (isinstance(cells, list) and _are_line(cells, kinds)):
                _refuse(f"row {row} holds {shown(cells)}, which is no list of {word}")
        if len(columns) != len(values):
            _refuse(f"row {row} holds {len(columns)} columns and {len(values)} values")


def _check_lines(X: Any) -> None:
    """Check cells that lie row by row, or column by column: the ends of these, and the cells."""
    block = X.blocksize if X.format == "bsr" else (1, 1)
    lines, across = X.shape[0] // block[0], X.shape[1] // block[1]
    if X.format == "csc":
        lines, across = across, lines
    ends, cells, line = X.indptr, X.indices, _LINES[X.format]
    held = min(len(cells), len(X.data))
    if len(ends) != lines + 1:
        _refuse(f"indptr has {len(ends)} entries for {lines} {line}s, one more is needed")
    bad = (ends[1:] < ends[:-1]) | (ends[1:] > held) | (ends[:-1] < 0)
    if ends[0] != 0 or bad.any():
        at = 0 if ends[0] != 0 else int(np.argmax(bad))
        _refuse(f"{line} {at} is cells {ends[at]} to {ends[at + 1]} of {held} (indptr)")
    bad = _outside(cells[: ends[-1]], across)
    if bad.any():
        at = int(np.argmax(bad))
        of = int(np.searchsorted(ends, at, side="right")) - 1
        other = {"csr": "column", "csc": "row", "bsr": "column of blocks"}[X.format]
        _refuse(f"{line} {of} has a cell in {other} {cells[at]} of {across}")


def _are_line(cells: list[Any], kinds: str) -> bool:
    try:
        line = np.array(cells)
    except ValueError:  # lists of unlike length
        return False
    return not cells or (line.ndim == 1 and line.dtype.kind in kinds)


def _outside(places: NDArray[Any], size: int) -> NDArray[np.bool_]:
    return (places < 0) | (places >= size)


def _refuse(problem: str) -> NoReturn:
    raise ValueError(f"X is sparse and damaged: {problem}; {_REMEDY}")
