r"""What rows left behind, in a form that merges: square roots of discounted sums of products.

Rows that came one after the other leave behind ``R = sum Lambda x x'`` and ``b = sum Lambda x y``
and the factor ``L`` by which they faded what came before. For A before B

.. math:: L = L_A L_B, \quad R = L_B R_A + R_B, \quad b = L_B b_A + b_B

whatever A and B are, so any tree over consecutive partitions gives the model of one machine. What
is kept is not ``R`` but the triangle ``C`` of ``[1 X Y]`` with ``C'C = [1 X Y]' Lambda [1 X Y]``:
it merges by the QR decomposition of two triangles, one above the other, and loses half as many
digits where features are far from zero or nearly the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .limits import (
    FORGOTTEN,
    HOPELESS,
    LEAD,
    SPACING,
    Bounds,
    Checkpoint,
    Window,
    settled_by,
    variances,
)
from .triangle import triangle

Array = NDArray[np.float64]

_BLOCK = 4096
"""Rows that are decomposed together."""
_BEFORE = HOPELESS + 2.0 * SPACING
"""How much fades while rows find out whether they stand alone."""


@dataclass(frozen=True)
class Summary:
    """What rows left behind.

    Attributes
    ----------
    factor : ndarray of shape (p + m, p + m)
        The triangle of p columns that have weights, the constant first, and m outputs.
    columns : int
        p.
    fade : float
        ``-log L``: how much of what came before has faded with these rows.
    rows : int
        How many they are.
    largest, first : ndarray of shape (p,)
        The largest magnitude in each column, and the first that is not 0.
    silence : ndarray of shape (p,)
        The fade until a column was first not 0; infinite if it never was.
    lead : float
        The fade from which on these rows alone keep every limit from acting; infinite where they
        do not: it then depends on what came before.
    heads : tuple of Checkpoint
        How things stood while it depended on what came before.
    peak : ndarray of shape (p,)
        The largest that a part of each weight's variance has been since then.
    """

    factor: Array
    columns: int
    fade: float
    rows: int
    largest: Array
    first: Array
    silence: Array
    lead: float
    heads: tuple[Checkpoint, ...]
    peak: Array

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which columns have not been 0 always."""
        return self.largest > 0.0

    @property
    def is_settled(self) -> bool:
        """Whether, from some row on, these rows alone keep every limit from acting."""
        return bool(np.isfinite(self.lead))

    def embedded(self, columns: list[int], count: int, outputs: list[int], most: int) -> Summary:
        """Return the same where further columns and outputs have been 0.

        Parameters
        ----------
        columns : list of int
            Where each column stands among all `count`.
        count : int
            How many columns there are.
        outputs : list of int
            Where each output stands among all `most`.
        most : int
            How many outputs there are.
        """
        places = columns + [count + k for k in outputs]
        if places == list(range(count + most)) and len(self.factor) == count + most:
            return self

        def widened(factor: Array) -> Array:
            rows = np.zeros((len(factor), count + most))
            rows[:, places] = factor
            return triangle(rows)

        def placed(values: Array, rest: float) -> Array:
            out = np.full(count, rest)
            out[columns] = values
            return out

        return replace(
            self,
            factor=widened(self.factor),
            columns=count,
            largest=placed(self.largest, 0.0),
            first=placed(self.first, 0.0),
            silence=placed(self.silence, np.inf),
            heads=tuple(Checkpoint(head.fade, widened(head.factor)) for head in self.heads),
            peak=placed(self.peak, 0.0),
        )


def nothing(columns: int, outputs: int) -> Summary:
    """Return what no row leaves behind."""
    k = columns + outputs
    largest, first, peak = np.zeros((3, columns))
    never = np.full(columns, np.inf)
    return Summary(np.zeros((k, k)), columns, 0.0, 0, largest, first, never, np.inf, (), peak)


def summarise(rows: Array, outputs: int, fades: Array, bounds: Bounds) -> Summary:
    """Return what rows leave behind.

    Parameters
    ----------
    rows : ndarray of shape (n, p + m)
        ``[1 X Y]``.
    outputs : int
        m.
    fades : ndarray of shape (n,)
        ``-log lam`` of each row.
    bounds : Bounds
        What limits a filter would have.
    """
    p = rows.shape[1] - outputs
    summary = nothing(p, outputs)
    if not len(rows):
        return summary
    total = np.cumsum(fades)
    magnitude = np.abs(rows[:, :p])
    largest = magnitude.max(axis=0)
    heard = magnitude > 0.0
    at = heard.argmax(axis=0)
    seen = heard.any(axis=0)
    scan = _scanned(rows, total, heard, p, bounds.of(largest))
    fade = float(total[-1])
    return _without_old_heads(
        Summary(
            factor=scan.factor,
            columns=p,
            fade=fade,
            rows=len(rows),
            largest=largest,
            first=np.where(seen, magnitude[at, np.arange(p)], 0.0),
            silence=np.where(seen, total[at], np.inf),
            lead=scan.lead,
            heads=tuple(scan.heads),
            peak=scan.window.peak,
        )
    )


def _scanned(rows: Array, total: Array, heard: NDArray[np.bool_], p: int, bound: Array) -> _Scan:
    """Go through rows, block by block; `total` is what has faded up to each of them."""
    # What is older leaves no trace; how limits stood at that moment, rows before it tell.
    oldest = int(np.searchsorted(total, total[-1] - FORGOTTEN))
    start = int(np.searchsorted(total, total[oldest - 1] - _BEFORE)) if oldest else 0
    begin = float(total[start - 1]) if start else 0.0
    known: NDArray[np.bool_] = np.asarray(heard[:start].any(axis=0))
    scan = _Scan(p, rows.shape[1] - p, bound, known, begin)
    while start < len(rows):
        reach = max(int(np.searchsorted(total, begin + SPACING, side="right")), start + 1)
        last = oldest if start < oldest else len(rows)
        stop = min(reach, start + _BLOCK, last)
        end = float(total[stop - 1])
        kept = np.exp(-0.5 * (end - total[start:stop]))[:, np.newaxis]
        scan.add(rows[start:stop] * kept, end - begin)
        start, begin = stop, end
        if stop == oldest:
            scan.window.forget_peak()
    return scan


class _Scan:
    """One pass over blocks of rows: the factor, and how near limits have come.

    Parameters
    ----------
    columns, outputs : int
        How many there are.
    bound : ndarray
        How uncertain forgetting may make each weight.
    known : ndarray of bool
        Which columns have not been 0 always.
    begin : float
        What has faded before: with rows that it is not given.
    """

    def __init__(
        self, columns: int, outputs: int, bound: Array, known: NDArray[np.bool_], begin: float
    ) -> None:
        self.columns, self.bound, self.known, self.begin = columns, bound, known, begin
        self.factor = np.zeros((columns + outputs, columns + outputs))
        self.fade = self.looked = begin
        self.lead = np.inf
        self.heads: list[Checkpoint] = []
        self.window = Window(columns)

    def add(self, rows: Array, fade: float) -> None:
        """Take rows, each faded up to the last of them, and what faded with all of them."""
        self.factor = triangle(np.vstack([np.exp(-0.5 * fade) * self.factor, rows]))
        self.known = self.known | (rows[:, : self.columns] != 0.0).any(axis=0)
        self.fade += fade
        passed = self.fade - self.looked
        if passed < 0.5 * SPACING:  # a short block
            return
        self.looked, alone = self.fade, self.fade - self.begin
        if np.isfinite(self.lead):
            self.window.pass_time(passed)
            self.window.look(self.factor, self.known)
        elif alone >= LEAD and settled_by(self.factor, self.known, self.bound):
            self.lead = self.fade
            self.window.look(self.factor, self.known)
        else:
            self.heads.append(Checkpoint(self.fade, self.factor))
            if alone > HOPELESS:
                self.lead = self.fade
                self.window.look(self.factor, self.known)


def with_prior(summary: Summary, variance: float, new: NDArray[np.bool_]) -> Summary:
    """Return the same with what was believed of the weights of `new` columns before any row."""
    start = nothing(summary.columns, len(summary.factor) - summary.columns)
    at = np.flatnonzero(new)
    start.factor[at, at] = variance**-0.5
    return then(replace(start, lead=0.0), summary, known=new & summary.seen)


def then(
    a: Summary, b: Summary, between: float = 0.0, *, known: NDArray[np.bool_] | None = None
) -> Summary:
    """Return what the rows of a and then those of b leave behind.

    Parameters
    ----------
    a, b : Summary
        Of the same columns and outputs.
    between : float, default=0
        What fades between the last row of a and the first of b.
    known : ndarray of bool, optional
        Columns of which a knows something; by default those that it has seen.
    """
    fade = a.fade + between + b.fade
    merged = replace(
        b,
        factor=_joined(a.factor, b.factor, between + b.fade),
        fade=fade,
        rows=a.rows + b.rows,
        largest=np.maximum(a.largest, b.largest),
        first=np.where(a.first > 0.0, a.first, b.first),
        silence=np.minimum(a.silence, a.fade + between + b.silence),
        peak=b.peak if b.fade >= FORGOTTEN else np.maximum(a.peak, b.peak),
    )
    if not a.rows and known is None:
        return replace(merged, heads=b.heads, lead=b.lead)
    if not b.rows:
        return replace(merged, heads=a.heads, lead=a.lead)
    if a.is_settled:
        peak = _passage(a, b, between, a.seen if known is None else known)
        merged = replace(merged, peak=np.maximum(merged.peak, peak), lead=a.lead, heads=a.heads)
    else:
        start = a.fade + between
        later = [Checkpoint(start + h.fade, _joined(a.factor, h.factor, between + h.fade))
                 for h in b.heads]  # fmt: skip
        heads = _thinned([*a.heads, Checkpoint(a.fade, a.factor), *later])
        # Columns that only a has heard of: what came before a could know more of them than a does,
        # but that is not known here, and a limit that may have acted must not pass unseen.
        peak = np.maximum(merged.peak, _silenced(a, b, between, a.seen))
        merged = replace(merged, lead=start + b.lead, heads=heads, peak=peak)
    return _without_old_heads(merged)


def settled(summary: Summary, bounds: Bounds) -> Summary:
    """Return the same, knowing whether merged rows can stand alone by now."""
    if summary.is_settled or summary.fade < LEAD:
        return summary
    alone = settled_by(summary.factor, summary.seen, bounds.of(summary.largest))
    if not alone and summary.fade <= HOPELESS:
        return summary
    window = Window(summary.columns)
    window.look(summary.factor, summary.seen)
    peak = np.maximum(summary.peak, window.peak)
    return replace(summary, lead=summary.fade, peak=peak)


def _without_old_heads(summary: Summary) -> Summary:
    """Leave out how things stood where limits that acted then would be forgotten by now."""
    return replace(summary, heads=()) if _stood_long(summary) else summary


def _stood_long(summary: Summary) -> bool:
    """Whether rows have stood alone for so long that nothing before is remembered."""
    return summary.fade - summary.lead >= FORGOTTEN


def _joined(a: Array, b: Array, fade: float) -> Array:
    return triangle(np.vstack([np.exp(-0.5 * fade) * a, b]))


def _thinned(heads: list[Checkpoint]) -> tuple[Checkpoint, ...]:
    """Leave out checkpoints whose neighbours are near."""
    kept, last = [], 0.0
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        if following is None or following.fade - last > SPACING:
            kept.append(head)
            last = head.fade
    return tuple(kept)


def _passage(a: Summary, b: Summary, between: float, known: NDArray[np.bool_]) -> Array:
    """Return how near limits came from the last row of a until b stands alone."""
    window = Window(a.columns)
    if not _stood_long(b):
        window.look(a.factor, known)
        last = 0.0
        for head in b.heads:
            at = between + head.fade
            window.pass_time(at - last)
            heard = np.abs(head.factor[:, : a.columns]).any(axis=0)
            window.look(_joined(a.factor, head.factor, at), known | heard)
            last = at
        window.pass_time(between + min(b.lead, b.fade) - last)
    return np.maximum(window.peak, _silenced(a, b, between, known))


def _silenced(a: Summary, b: Summary, between: float, known: NDArray[np.bool_]) -> Array:
    """Return what forgetting made of weights whose column b brings only later, or not at all."""
    silence = np.minimum(b.silence, b.fade)
    late = known & (silence > b.lead) & (b.fade - silence < FORGOTTEN - LEAD - 10.0)
    if not late.any():
        return np.zeros(a.columns)
    with np.errstate(over="ignore"):
        grown = variances(a.factor, known) * np.exp(np.minimum(between + silence, 700.0))
    return np.where(late, np.nan_to_num(grown, nan=np.inf, posinf=np.inf), 0.0)
