"""Keys of rows: whole numbers or texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from .cells import is_missing, shown
from .checks import refuse_masked, refuse_without_order

_LARGEST = 2**63 - 1


class KeyArray(NamedTuple):
    """Keys, all of one kind."""

    values: NDArray[np.int64] | list[str]
    text: bool

    def shown(self, row: int) -> str:
        """Return the key of a row in words."""
        return shown(self.values[row]) if self.text else str(self.values[row])


def read_keys(keys: Any, n: int | None) -> KeyArray:
    """Return the keys of n rows (None: of any number); refuse missing ones and mixed kinds.

    Examples
    --------
    >>> read_keys([3, 1], 2)
    KeyArray(values=array([3, 1]), text=False)
    >>> read_keys(["a", 1], 2)
    Traceback (most recent call last):
    ...
    ValueError: keys has 1 at row 1 but 'a' at row 0: keys must be all texts or all whole numbers
    """
    refuse_masked(keys, "keys", "give every row its key, or drop the row")
    array = keys if isinstance(keys, np.ndarray) else _cells(keys)
    if array.ndim != 1 or (n is not None and len(array) != n):
        rows = "" if n is None else f" but there are {n} rows"
        raise ValueError(f"keys has shape {array.shape}{rows}: give one per row")
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and len(array) and array.max() > np.uint64(_LARGEST):
            _refuse_beyond_64_bits(array.tolist())
        return KeyArray(np.ascontiguousarray(array, np.int64), False)
    if array.dtype.kind in "UT":
        return _of_texts(array.tolist())
    if array.dtype.kind == "f":
        _refuse_fractions(array)
    return _of_objects(array)


def _refuse_fractions(array: NDArray[Any]) -> None:
    """Tell the row without a key for which a column of whole numbers has become one of floats."""
    missing = np.isnan(array)
    if missing.any():
        _refuse_without_key(array, int(np.argmax(missing)))
    exact = (array == np.floor(array)) & (np.abs(array) < 2**53)  # larger ones have lost digits
    if len(array) and exact.all():
        raise ValueError(
            f"keys are floats, {array[0]} at row 0: make whole numbers of them, keys.astype(int)"
        )


def _refuse_without_key(cells: Sequence[Any] | NDArray[Any], row: int) -> NoReturn:
    found = "NaN" if isinstance(cells[row], float) else shown(cells[row])
    raise ValueError(
        f"keys has {found} at row {row}: a row without a key belongs to no model, leave it out"
    )


def _refuse_beyond_64_bits(numbers: Sequence[int]) -> NoReturn:
    row = next(t for t, key in enumerate(numbers) if not -_LARGEST - 1 <= key <= _LARGEST)
    raise ValueError(
        f"keys has {numbers[row]} at row {row}, 2**63 or more or below -2**63: give all keys as "
        "texts"
    )


def _cells(keys: Any) -> NDArray[Any]:
    refuse_without_order(keys)
    if isinstance(keys, str):
        raise ValueError(f"keys is {shown(keys)}: give a list with one key per row")
    if hasattr(keys, "to_pylist"):  # Arrow
        keys = keys.to_pylist()
    if hasattr(keys, "to_numpy"):  # pandas, polars
        return np.asarray(keys.to_numpy())
    cells = np.empty(len(found := list(keys)), dtype=object)
    cells[:] = found
    return cells


def _of_objects(array: NDArray[Any]) -> KeyArray:
    cells = array.tolist()
    texts = bool(cells) and isinstance(cells[0], str)
    for row, key in enumerate(cells):
        if isinstance(key, str) if texts else type(key) in (int, np.int64, np.int32):
            continue
        if isinstance(key, str | int | np.integer) and not isinstance(key, bool):
            if not texts and not isinstance(key, str):
                continue
            raise ValueError(
                f"keys has {shown(key)} at row {row} but {shown(cells[0])} at row 0: keys must be "
                "all texts or all whole numbers"
            )
        if is_missing(key):
            _refuse_without_key(cells, row)
        raise ValueError(
            f"keys has {shown(key)} at row {row}, which is no key: give whole numbers or texts"
        )
    if texts:
        return _of_texts(cells)
    try:
        return KeyArray(np.array(cells, np.int64), False)
    except OverflowError:
        _refuse_beyond_64_bits(cells)


def _of_texts(texts: list[str]) -> KeyArray:
    """Refuse texts with half a character, which the compiled store does not take."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        ends = accumulate(map(len, texts))
        row = next(t for t, end in enumerate(ends) if end > error.start)
        raise ValueError(
            f"keys has {shown(texts[row])} at row {row}, with half a character (a lone surrogate): "
            'mend how the text was read, or give key.encode("utf-8", "replace").decode()'
        ) from None
    return KeyArray(texts, True)
