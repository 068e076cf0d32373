"""Drift made of any two streams: abrupt, gradual, incremental, recurring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dfop.rows.batch import Batch
from dfop.streams.errors import DataError
from dfop.streams.pieces import take
from dfop.streams.stream import Array, BatchRows, Floats, Fresh, Rows, Stream


def abrupt(a: Stream, b: Stream, at: int) -> Stream:
    """Change from one row to the next: the first `at` rows of a, then b.

    Parameters
    ----------
    a, b : Stream
        The old and the new concept; same task and features.
    at : int
        The first row of the new concept.

    Returns
    -------
    Stream
        ``a[:at]`` followed by all of b.

    Examples
    --------
    >>> from dfop.streams import sea
    >>> old, new = sea(1000, thresholds=[8]), sea(1000, thresholds=[5], seed=1)
    >>> stream = abrupt(old, new, at=600)
    >>> len(stream), stream.changes
    (1600, (600,))
    """
    _check(a, b, at)

    def whole() -> Iterator[BatchRows]:
        yield from a.pieces(0, at)
        yield from b.pieces(0, None)

    def where(t: int) -> tuple[Stream, int]:
        return (a, t) if t < at else (b, t - at)

    changes = [*(c for c in a.changes if c < at), at, *(at + c for c in b.changes)]
    return _made("abrupt", a, b, whole, at + len(b), changes, _either(a, b, where))


def gradual(a: Stream, b: Stream, at: int, width: int, *, seed: int = 0) -> Stream:
    """Change by turns: in a window, rows of the new concept become more and more frequent.

    Row t of the window comes from b with probability (t - at + 1) / (width + 1), else from a;
    each stream goes on where it stopped, and after the window b goes on alone.

    Parameters
    ----------
    a, b : Stream
        The old and the new concept; same task and features.
    at : int
        The first row of the window.
    width : int
        Rows of the window; so many rows are held in memory.
    seed : int
        The same seed makes the same choices.

    Returns
    -------
    Stream
        `changes` holds the first row of the window and the first row after it.

    Examples
    --------
    >>> from dfop.streams import sea
    >>> old, new = sea(1000, thresholds=[8]), sea(1000, thresholds=[5], seed=1)
    >>> gradual(old, new, at=300, width=400).changes
    (300, 700)
    """
    _check(a, b, at, width)
    chosen = np.random.default_rng(seed).random(width) < np.arange(1, width + 1) / (width + 1)
    from_b = int(chosen.sum())
    if len(a) < at + width - from_b or len(b) < from_b:
        raise ValueError(f"the window needs {at + width - from_b} rows of a and {from_b} of b")

    def whole() -> Iterator[BatchRows]:
        yield from a.pieces(0, at)
        old, new = a[at : at + width - from_b], b[:from_b]
        yield _mixed(old.all_rows(), new.all_rows(), chosen)
        yield from b.pieces(from_b, None)

    def mixture(t: int, n: int, rng: np.random.Generator) -> Rows:
        assert a.fresh is not None
        assert b.fresh is not None
        in_window = min(max(t - at, 0), width)
        read_b = int(chosen[:in_window].sum()) + max(t - at - width, 0)
        share = min(max((t - at + 1) / (width + 1), 0.0), 1.0)
        pick = rng.random(n) < share
        old = a.fresh(min(t - read_b, len(a) - 1), int((~pick).sum()), rng)
        new = b.fresh(min(read_b, len(b) - 1), int(pick.sum()), rng)
        order = _order(pick)
        return np.concatenate([old[0], new[0]])[order], np.concatenate([old[1], new[1]])[order]

    length = at + width + len(b) - from_b
    fresh = mixture if a.fresh and b.fresh else None
    return _made("gradual", a, b, whole, length, [at, at + width], fresh)


def incremental(a: Stream, b: Stream, at: int, width: int) -> Stream:
    """Change by moving: in a window, each row slides from the old concept to the new one.

    Row t of the window is (1 - w) x_a + w x_b with w = (t - at + 1) / (width + 1), of a row of a
    and a row of b; targets of regression slide in the same way, and in classification the two
    rows are of the same class. After the window b goes on alone.

    Parameters
    ----------
    a, b : Stream
        The old and the new concept; same task and features.
    at : int
        The first row of the window.
    width : int
        Rows of the window; so many rows of each stream are held in memory.

    Returns
    -------
    Stream
        `changes` holds the first row of the window and the first row after it.

    Examples
    --------
    >>> from dfop.streams import Stream
    >>> low = Stream.from_arrays([[0.0]] * 9, [0.0] * 9)
    >>> high = Stream.from_arrays([[4.0]] * 9, [8.0] * 9)
    >>> X, y = incremental(low, high, at=2, width=3)[:7].arrays()
    >>> X[:, 0].tolist()
    [0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 4.0]
    """
    _check(a, b, at, width)
    if len(a) < at + width or len(b) < width:
        raise ValueError(f"the window needs {at + width} rows of a and {width} of b")
    share = np.arange(1, width + 1) / (width + 1)

    def whole() -> Iterator[BatchRows]:
        yield from a.pieces(0, at)
        old, new = a[at : at + width], b[:width]
        X, y = _blend(old.arrays(), new.arrays(), share, a)
        yield Batch(X, bool(np.isnan(X).any()), {}, a.feature_names, old.time), y
        yield from b.pieces(width, None)

    def blend(t: int, n: int, rng: np.random.Generator) -> Rows:
        assert a.fresh is not None
        assert b.fresh is not None
        w = (t - at + 1) / (width + 1)
        if w <= 0:
            return a.fresh(t, n, rng)
        if w >= 1:
            return b.fresh(t - at, n, rng)
        old, new = a.fresh(t, n, rng), b.fresh(t - at, n, rng)
        return _blend(old, new, np.full(n, w), a)

    changes = [at, at + width]
    fresh = blend if a.fresh and b.fresh else None
    return _made("incremental", a, b, whole, at + len(b), changes, fresh)


def recurring(a: Stream, b: Stream, period: int) -> Stream:
    """Return to old concepts: `period` rows of a, as many of b, of a again, and so on.

    Each stream goes on where it stopped; the end is where the next full period cannot be read.

    Parameters
    ----------
    a, b : Stream
        The two concepts; same task and features.
    period : int
        Rows between changes.

    Returns
    -------
    Stream
        A multiple of `period` rows.

    Examples
    --------
    >>> from dfop.streams import sea
    >>> stream = recurring(sea(1000, thresholds=[8]), sea(700, thresholds=[5]), period=300)
    >>> len(stream), stream.changes
    (1500, (300, 600, 900, 1200))
    """
    _check(a, b, period)
    turns_a, turns_b = len(a) // period, len(b) // period
    turns = min(2 * turns_a, 2 * turns_b + 1)
    if turns < 2:
        raise ValueError(f"a period of {period} rows needs two streams of at least that length")

    def part(turn: int) -> tuple[Stream, int]:
        return (b if turn % 2 else a), turn // 2 * period

    def whole() -> Iterator[BatchRows]:
        for turn in range(turns):
            stream, start = part(turn)
            yield from stream.pieces(start, start + period)

    def where(t: int) -> tuple[Stream, int]:
        stream, start = part(t // period)
        return stream, start + t % period

    changes = range(period, turns * period, period)
    return _made("recurring", a, b, whole, turns * period, changes, _either(a, b, where))


def _check(a: Stream, b: Stream, *rows: int) -> None:
    if min(rows) < 1:
        raise ValueError("at, width and period are at least 1 row")
    if a.task != b.task:
        raise ValueError(f"{a.name} is for {a.task}, {b.name} for {b.task}")
    if len(a.feature_names) != len(b.feature_names):
        raise ValueError(
            f"{a.name} has {len(a.feature_names)} features, {b.name} {len(b.feature_names)}"
        )
    for stream in (a, b):
        if not stream.reusable:
            raise ValueError(f"{stream.name} can be read only once: read it into arrays first")
    if rows[0] > len(a):
        raise ValueError(f"{a.name} has only {len(a)} rows, {rows[0]} are needed")


def _made(
    kind: str,
    a: Stream,
    b: Stream,
    whole: Callable[[], Iterator[BatchRows]],
    length: int,
    changes: Sequence[int],
    fresh: Fresh | None,
) -> Stream:
    """Make a stream of `whole()`, which yields all rows from the first."""
    timed = a.has_time and b.has_time

    def read(start: int, stop: int | None) -> Iterator[BatchRows]:
        row = 0
        for X, y in whole():
            part = slice(max(start - row, 0), None if stop is None else max(stop - row, 0))
            if len(y[part]):
                # the columns are called what the first stream calls them
                time = X.time if timed else None
                yield replace(X, names=a.feature_names, time=time)[part], y[part]
            row += len(y)
            if stop is not None and row >= stop:
                return

    return Stream(
        f"{kind}({a.name}, {b.name})",
        a.task,
        a.feature_names,
        read,
        target_names=a.target_names,
        classes=sorted({*(a.classes or ()), *(b.classes or ())}),
        changes=changes,
        length=length,
        fresh=fresh,
        has_time=timed,
    )


def _either(a: Stream, b: Stream, where: Callable[[int], tuple[Stream, int]]) -> Fresh | None:
    if a.fresh is None or b.fresh is None:
        return None

    def fresh(t: int, n: int, rng: np.random.Generator) -> Rows:
        stream, row = where(t)
        assert stream.fresh is not None
        return stream.fresh(row, n, rng)

    return fresh


def _order(from_new: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Interleave: row i is the next row of the new where from_new[i], else the next of the old.

    The old rows stand before the new ones.
    """
    return np.where(
        from_new, len(from_new) - from_new.sum() + np.cumsum(from_new) - 1, np.cumsum(~from_new) - 1
    )


def _mixed(old: BatchRows, new: BatchRows, from_new: NDArray[np.bool_]) -> BatchRows:
    parts = [rows for rows in (old, new) if len(rows[1])]
    timed = all(X.time is not None for X, _ in parts)
    X = Batch.join([replace(X, time=X.time if timed else None) for X, _ in parts])
    order = _order(from_new)
    return take(X, order), np.concatenate([y for _, y in parts])[order]


def _blend(old: Rows, new: Rows, share: Floats, like: Stream) -> Rows:
    (Xa, ya), (Xb, yb) = old, new
    partner: Array = np.arange(len(Xa))
    if like.task == "classification":
        for label in np.unique(ya).tolist():
            mine, theirs = np.flatnonzero(ya == label), np.flatnonzero(yb == label)
            if not len(theirs):
                raise DataError(
                    f"the new concept has no row of class {label!r} in the window",
                    source=like.name,
                    remedy="Make the window wider",
                )
            partner[mine] = np.resize(theirs, len(mine))
        y = ya
    else:
        weight = share.reshape(-1, *[1] * (ya.ndim - 1))
        y = (1 - weight) * ya + weight * yb[partner]
    return (1 - share)[:, None] * Xa + share[:, None] * Xb[partner], y
