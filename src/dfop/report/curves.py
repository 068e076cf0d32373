"""What the pictures of a history draw: curves of a bounded number of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .history import History

Array = NDArray[np.float64]

SMOOTH = 9
"""Looks whose median is drawn: what an expert counts jumps with every row."""


class ErrorCurves(NamedTuple):
    """Errors along the stream, one value per group of pieces."""

    rows: Array
    """Where a group ends."""
    model: Array
    no_change: Array
    simple: Array
    least: Array
    """Of the error over the window, at any row of the group."""
    most: Array


def error_curves(history: History, groups: int) -> ErrorCurves:
    """Return mean errors of at most `groups` groups of pieces, in the order of the stream.

    Parameters
    ----------
    history : History
        Of at least one row.
    groups : int
        How many points a curve may have.

    Returns
    -------
    ErrorCurves
        NaN where a rival knew no label.

    Examples
    --------
    >>> from dfop.report import History
    >>> history = History("regression")
    >>> history.add([0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.0])
    >>> curves = error_curves(history, 2)
    >>> curves.rows, curves.model, curves.no_change
    (array([2., 4.]), array([0.5, 0.5]), array([0. , 0.5]))
    """
    pieces = history.pieces
    starts = _starts(len(pieces), groups)
    ends = np.append(starts[1:], len(pieces)) - 1

    def grouped(name: str) -> Array:
        return np.asarray(np.add.reduceat(pieces.column(name), starts))

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rows = np.add.reduceat(pieces.rows_of_pieces(), starts)
        known = grouped("rivals")
        return ErrorCurves(
            rows=pieces.ends()[ends].astype(np.float64),
            model=grouped("error") / rows,
            no_change=grouped("no_change") / known,
            simple=grouped("simple") / known,
            least=np.fmin.reduceat(pieces.column("least"), starts),
            most=np.fmax.reduceat(pieces.column("most"), starts),
        )


def recent_errors(history: History) -> dict[str, Array]:
    """Return errors over the window at every row, decimated: the least and the most of each piece.

    Parameters
    ----------
    history : History
        Of at least one row.

    Returns
    -------
    dict of str to ndarray
        Two values per piece under "row", "model", "no_change" and "simple"; a piece of one row has
        the same twice.

    Examples
    --------
    >>> from dfop.report import History
    >>> history = History("regression", window=2)
    >>> history.add([0.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    >>> recent_errors(history)["model"]
    array([1. , 1. , 0.5, 0.5, 0. , 0. ])
    """
    pieces = history.pieces

    def both(prefix: str) -> Array:
        ends = pieces.column(f"{prefix}least"), pieces.column(f"{prefix}most")
        return np.column_stack(ends).reshape(-1)

    return {
        "row": np.repeat(pieces.ends(), 2).astype(np.float64),
        "model": both(""),
        "no_change": both("no_change_"),
        "simple": both("simple_"),
    }


def coverage_curve(history: History, groups: int) -> tuple[Array, Array]:
    """Return where groups of pieces end, and what share of their intervals held the target.

    Parameters
    ----------
    history : History
        Of at least one row.
    groups : int
        How many points the curve may have.

    Returns
    -------
    rows, share : ndarray

    Examples
    --------
    >>> from dfop.report import History
    >>> history = History("regression")
    >>> history.add([0.0, 5.0], [0.0, 0.0], intervals=[[-1.0, 1.0], [-1.0, 1.0]])
    >>> coverage_curve(history, 2)
    (array([1., 2.]), array([1., 0.]))
    """
    pieces = history.pieces
    starts = _starts(len(pieces), groups)
    ends = np.append(starts[1:], len(pieces)) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.add.reduceat(pieces.column("inside"), starts)
        share = inside / np.add.reduceat(pieces.column("intervals"), starts)
    return pieces.ends()[ends].astype(np.float64), share


def few_groups(history: History) -> int:
    """Return how many points a small picture has: each of a window or more, if possible.

    Examples
    --------
    >>> from dfop.report import History
    >>> history = History("regression")
    >>> history.add([0.0] * 60, [0.0] * 60)
    >>> few_groups(history)
    20
    """
    return int(np.clip(history.rows / history.window, 20, 120))


def forgetting_curve(history: History) -> tuple[Array, Array]:
    """Return rows and the effective mu at them, a running median over nine looks.

    Examples
    --------
    >>> from dfop.report import History
    >>> forgetting_curve(History("regression"))
    (array([], dtype=float64), array([], dtype=float64))
    """
    looks = [look for look in history.looks.all() if look.forgetting is not None]
    rows = np.array([look.row for look in looks], dtype=np.float64)
    return rows, _median(np.array([look.forgetting for look in looks], dtype=np.float64))


def influence_curves(history: History, most: int) -> tuple[Array, dict[str, Array]]:
    """Return rows, and the influence of the features that matter most, running medians.

    Parameters
    ----------
    history : History
        Its looks are drawn.
    most : int
        How many features.

    Returns
    -------
    rows : ndarray
    shares : dict of str to ndarray
        The one that matters most now first; 0 where a feature was not among the first twelve.

    Examples
    --------
    >>> from dfop.report import History
    >>> influence_curves(History("regression"), 3)
    (array([], dtype=float64), {})
    """
    looks = [look for look in history.looks.all() if look.influence]
    rows = np.array([look.row for look in looks], dtype=np.float64)
    names = list(dict.fromkeys(name for look in looks for name in look.influence))
    table = np.array([[look.influence.get(name, 0.0) for look in looks] for name in names])
    smooth = dict(zip(names, _median(table), strict=True))
    # A feature that mattered once counts half of what it did, so that what is over is seen, too.
    kept = sorted(names, key=lambda name: -max(smooth[name][-1], 0.5 * float(smooth[name].max())))
    kept = sorted(kept[:most], key=lambda name: -smooth[name][-1])
    return rows, {name: smooth[name] for name in kept}


def settled_from(history: History) -> int:
    """Return the row from which means are worth looking at: the axis fits what comes after it.

    Examples
    --------
    >>> from dfop.report import History
    >>> settled_from(History("regression"))
    0
    """
    return min(history.window, history.rows // 10)


def _starts(count: int, groups: int) -> NDArray[np.intp]:
    """Return where groups begin: as many whole pieces in each as in the others, or nearly."""
    groups = max(1, min(groups, count))
    return np.asarray(np.arange(groups) * count // groups, dtype=np.intp)


def _median(values: Array) -> Array:
    """Return running medians along the last axis; near the ends over fewer values."""
    n, half = values.shape[-1], SMOOTH // 2
    if n == 0:
        return values
    beyond = [(0, 0)] * (values.ndim - 1) + [(half, half)]
    padded = np.pad(values, beyond, constant_values=np.nan)
    ordered = np.sort(np.lib.stride_tricks.sliding_window_view(padded, SMOOTH, axis=-1), axis=-1)
    t = np.arange(n)
    counts = np.minimum(t, half) + np.minimum(t[::-1], half) + 1  # NaN are sorted behind them
    return np.asarray((ordered[..., t, (counts - 1) // 2] + ordered[..., t, counts // 2]) / 2)
