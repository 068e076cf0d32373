"""The picture of the README: peers on every stream, as far from ours as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dfop.insight.plotting import COLOURS, panels

from .chance import CHANCE
from .summary import Contest, Rival, counts, peers_of, rows_seen

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style = tuple[str, str, str, float]
"""Name, shape, colour and size of a mark."""
SHOWN: dict[str, Style] = {
    "no-change": ("no-change", "s", COLOURS[6], 6.0),
    "ARF10": ("adaptive random forest, 10 trees", "^", COLOURS[2], 6.0),
    "SRP10": ("random patches, 10 trees", "v", COLOURS[4], 6.0),
    "LightGBM": ("LightGBM, retrained every 250 rows", "D", COLOURS[1], 6.0),
}
"""Kinds of peers with a mark of their own; of each the best in hindsight."""
OTHERS: Style = ("every other peer", "o", "0.6", 3.0)
FARTHEST = 30.0
"""Points behind, or times our error: what is farther off is drawn at the edge."""


def picture(found: Sequence[Contest]) -> Figure:
    """Draw labels and numbers side by side, a line for every stream."""
    labelled = [one for one in found if one.labels]
    numbers = [one for one in found if not one.labels]
    figure, axes = panels(1, 2, 12, 2.2 + 0.26 * max(len(labelled), len(numbers)))
    for ax, some in zip(axes, (labelled, numbers), strict=True):
        _draw(ax, some, some is labelled)
    axes[0].set_xlabel("accuracy minus that of dfop, points")
    axes[1].set_xlabel("mean squared error, times that of dfop (less is better)")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(title(found), x=0.01, ha="left", fontsize=11)
    return figure


def title(found: Sequence[Contest]) -> str:
    """Say what the picture shows, as the record has it."""
    better, chance, worse = counts(found, lambda one: one.best())
    return (
        f"dfop, nothing chosen, on {rows_seen(found)} of {len(found)} streams: better than the "
        f"best of {len(peers_of(found))} peers,\npicked for each stream afterwards, on {better}, "
        f"within chance of it on {chance}, worse on {worse}. Hollow marks: within chance"
    )


def _draw(ax: Axes, some: Sequence[Contest], labels: bool) -> None:
    for y, one in enumerate(some):
        ax.axhline(y, color="0.92", linewidth=0.8, zorder=0)
        for rival in one.rivals.values():
            if rival.entry.kind not in SHOWN:
                _mark(ax, one, rival, y, OTHERS)
        for kind, style in SHOWN.items():
            if (rival := one.best(kind)) is not None:
                _mark(ax, one, rival, y, style)
        best = one.best()
        if best is not None:
            _mark(ax, one, best, y, ("the best of all peers", "o", COLOURS[3], 12.0), ring=True)
    ax.set_yticks(range(len(some)), [one.stream.removesuffix(", numbers") for one in some])
    ax.set_ylim(len(some) - 0.5, -0.5)
    ax.axvline(0.0, color=COLOURS[0], linewidth=2, zorder=1)
    _scale(ax, labels)


def _mark(ax: Axes, one: Contest, rival: Rival, y: int, style: Style, ring: bool = False) -> None:
    """Draw a mark, hollow where the difference is within chance."""
    name, shape, colour, size = style
    hollow = "none" if ring else "white"
    full = not ring and rival.difference.verdict != CHANCE
    known = {line.get_label() for line in ax.get_lines()}
    ax.plot(
        _place(one, rival.entry.score), y, shape, color=colour, markersize=size,
        markerfacecolor=colour if full else hollow, label=None if name in known else name,
        zorder=3 if style is not OTHERS else 2,
    )  # fmt: skip


def _place(one: Contest, score: float) -> float:
    """Return where a peer stands: points from ours, or the binary logarithm of errors' ratio."""
    if one.labels:
        return max(score - one.ours.score, -FARTHEST)
    return float(np.log2(min(score / one.ours.score, FARTHEST)))


def _scale(ax: Axes, labels: bool) -> None:
    if labels:
        ax.set_xscale("symlog", linthresh=1)
        ticks = (-30, -10, -3, -1, 0, 1, 3)
        ax.set_xticks(ticks, ["≤ -30", *map(str, ticks[1:])])
        ax.set_xlim(-36, 5)
    else:
        ticks = (0.5, 1, 2, 5, 10, 30)
        ax.set_xticks(np.log2(ticks), ["½", "1", "2", "5", "10", "≥ 30"])
        ax.set_xlim(np.log2(36), np.log2(0.45))  # better is to the right in both panels
    ax.minorticks_off()
