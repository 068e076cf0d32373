"""Streams whose past is the same and whose later labels are not.

An honest prediction of row t is a function of the rows up to t and of the labels that have
arrived. Here are streams that agree in these and differ in the rest, in ways that a leak can
hardly miss: labels beyond all seen before, on either side and more so with every row; classes
changed for others; one class for ever. What a model hides in ordinary rows (a prediction is
inside the range of the labels anyway) shows in unusual ones, so the row at which one looks is
far out, and a second stream has one label only until the cut: whatever comes is new.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dfop.rows import Batch, Text

from .sources import Array, ArrayStream

FAR = 100.0
"""How many times as large numbers are in a row that is far out."""
TAIL = 10
"""Rows of a changed stream after the cut."""


def far_out(data: ArrayStream, row: int) -> ArrayStream:
    """Move a row far out, so that its prediction leaves the range of labels.

    Examples
    --------
    >>> from dfop.evaluation.sources import as_stream
    >>> far_out(as_stream(([[1.0], [1.0]], [0.5, 1.5])), 1).X.ravel()
    array([  1., 100.])
    """
    numbers = data.rows.numbers.copy()
    numbers[row] *= FAR
    return replace(data, rows=replace(data.rows, numbers=numbers))


def of_one_label(data: ArrayStream) -> ArrayStream:
    """Give every row the label of the first.

    Examples
    --------
    >>> from dfop.evaluation.sources import as_stream
    >>> of_one_label(as_stream(([[1.0], [1.0]], [0.5, 1.5]))).y
    array([0.5, 0.5])
    """
    return replace(data, y=np.repeat(data.y[:1], len(data)))


def changed_streams(data: ArrayStream, cut: int, start: int) -> Iterator[ArrayStream]:
    """Change all that comes later.

    Parameters
    ----------
    data : ArrayStream
        The stream as it is.
    cut : int
        The last row that stays. Those after it come in another order, and the stream ends soon.
    start : int
        The first label that is changed; at most `cut`.

    Yields
    ------
    ArrayStream

    Examples
    --------
    >>> from dfop.evaluation.sources import as_stream
    >>> data = as_stream((np.arange(4.0)[:, None], [0.5, 1.0, 0.5, 1.0]))
    >>> for changed in changed_streams(data, cut=1, start=1):
    ...     print(changed.X.ravel(), changed.y)
    [0. 1. 3. 2.] [ 0.5 16.  17.  18. ]
    [0. 1. 3. 2.] [  0.5 -16.  -17.  -18. ]
    [0. 1. 3. 2.] [0.5 3.  2.  3. ]
    """
    n = len(data)
    order = np.append(np.arange(cut + 1), np.arange(n - 1, cut, -1))[: cut + 1 + TAIL]
    rows = _reordered(data.rows, order)
    change = _other_numbers if data.classes is None else _other_classes
    for later in change(data, start):
        y = np.append(data.y[:start], later)[: len(order)]
        yield replace(data, rows=rows, y=y, changes=())


def _other_numbers(data: ArrayStream, start: int) -> Iterator[Array]:
    y = data.y[start:].astype(float)
    size = float(np.abs(data.y).max()) or 1.0
    new_extremes = size * (16 + np.arange(len(y)))
    yield new_extremes
    yield -new_extremes
    yield y + np.abs(y) + size


def _other_classes(data: ArrayStream, start: int) -> Iterator[Array]:
    classes = np.asarray(data.classes)
    codes = np.searchsorted(classes, data.y[start:])
    k = len(classes)
    for step in {1, k - 1}:
        yield classes[(codes + step) % k]
    yield np.repeat(classes[(codes[:1] + 1) % k], len(codes))


def _reordered(rows: Batch, order: Array) -> Batch:
    """Put rows into another order; their times stay where they are."""
    return replace(
        rows,
        numbers=rows.numbers[order],
        texts={j: Text(text.codes[order], text.values) for j, text in rows.texts.items()},
        time=None if rows.time is None else rows.time[: len(order)],
        since=None,
    )
