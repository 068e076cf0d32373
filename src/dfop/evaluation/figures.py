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
        drawn = sum(str(line.get_label())[:1] != "_" for line in ax.lines)
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


def draw_ranks(
    ax: "Axes | None", mean_ranks: dict[str, float], p_values: Array, difference: float
) -> "Axes":
    """Draw a critical-difference diagram.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Where to draw.
    mean_ranks : dict of str to float
        By model.
    p_values : array of shape (models, models)
        In the same order; models above .05 are joined by a bar.
    difference : float
        The critical difference, for the legend.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> ax = draw_ranks(None, {"A": 1.2, "B": 1.8, "C": 3.0}, np.ones((3, 3)), 2.3)
    >>> ax.texts[-1].get_text()
    'orange bar: no significant difference (Nemenyi, 95 %: less than 2.30)'
    """
    names = list(mean_ranks)
    posthocs = need("scikit_posthocs", extra="stats")
    matrix = need("pandas", extra="stats").DataFrame(p_values, index=names, columns=names)
    if ax is None:
        ax = new_axes(height=1.2 + 0.22 * len(names))
    posthocs.critical_difference_diagram(
        mean_ranks,
        matrix,
        ax=ax,
        label_fmt_left="{label}  {rank:.2f}",
        label_fmt_right="{rank:.2f}  {label}",
        text_h_margin=0.03,
        color_palette=dict.fromkeys(names, COLOURS[0]),
        crossbar_props={"color": COLOURS[1], "linewidth": 4, "marker": ""},
    )
    ax.annotate(
        f"orange bar: no significant difference (Nemenyi, 95 %: less than {difference:.2f})",
        (0, 0),
        xycoords="axes fraction",
        xytext=(0, -12),
        textcoords="offset points",
        fontsize=8,
        color=GREY,
    )
    return ax
