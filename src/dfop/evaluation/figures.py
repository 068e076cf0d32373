"""Pictures: colours that everybody can tell apart, and names beside the lines."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ._extras import need
from .sources import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, without its yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#6E6E6E"
_END = "name at the end of a line"


def new_axes(width: float = 8.0, height: float = 3.6) -> "Axes":
    """Axes on a new figure, with only the two lines that carry a scale.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> new_axes().spines["top"].get_visible()
    False
    """
    figure = need("matplotlib.pyplot", extra="plot").figure(
        figsize=(width, height), layout="constrained"
    )
    ax: Axes = figure.add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_lines(
    ax: "Axes | None", x: Array, lines: Sequence[tuple[str, Array]], changes: Sequence[int]
) -> "Axes":
    """Draw lines over the rows of a stream, each named at its right end.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Lines that are there already stay, so that models can be drawn over each other.
    x : array
        Numbers of rows.
    lines : sequence of (name, values)
        What to draw.
    changes : sequence of int
        Where a new concept begins: a dotted line.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> ax = draw_lines(None, np.arange(3), [("a", np.ones(3)), ("b", np.ones(3))], [1])
    >>> [text.get_text() for text in ax.texts]
    ['new concept', 'a', 'b']
    """
    fresh = ax is None
    ax = new_axes() if ax is None else ax
    if fresh:
        for change in changes:
            ax.axvline(change, color=GREY, linestyle=":", linewidth=1)
        if len(changes):
            ax.annotate(
                "new concept",
                (changes[0], 1),
                xycoords=("data", "axes fraction"),
                xytext=(3, -3),
                textcoords="offset points",
                va="top",
                fontsize=8,
                color=GREY,
            )
    for name, values in lines:
        drawn = sum(line.get_label()[:1] != "_" for line in ax.lines)
        colour = COLOURS[drawn % len(COLOURS)]
        ax.plot(x, values, color=colour, linewidth=1.5, label=name)
        finite = np.flatnonzero(np.isfinite(values))
        if len(finite):
            ax.annotate(
                name,
                (1, float(values[finite[-1]])),
                xycoords=("axes fraction", "data"),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=colour,
                gid=_END,
            )
    _keep_apart(ax)
    ax.margins(x=0)
    ax.set_xlabel("rows")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return ax


def _keep_apart(ax: "Axes") -> None:
    """Move names that would cover each other; 14 points is a line of text."""
    names = [text for text in ax.texts if text.get_gid() == _END]
    height = ax.get_position().height * ax.get_figure().get_figheight() * 72  # type: ignore[union-attr]
    low, high = ax.get_ylim()
    at = [(text.xy[1] - low) / (high - low) * height for text in names]  # type: ignore[attr-defined]
    floor = -np.inf
    for i in np.argsort(at, kind="stable"):
        floor = max(at[i], floor + 14)
        names[i].set_position((6, floor - at[i]))
