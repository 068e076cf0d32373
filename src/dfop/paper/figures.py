"""What the pictures have in common; matplotlib is imported when one is drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dfop.insight.plotting import COLOURS, GREY, MANY, draw_lines, named_lines, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "GREY", "OURS", "PAPER", "curves", "log_scale", "panels", "paper_and_ours"]

PAPER, OURS = COLOURS[1], COLOURS[0]
"""The colours of the paper's numbers and of ours."""


def curves(
    ax: "Axes",
    x: NDArray[Any],
    lines: Sequence[tuple[str, NDArray[Any]]],
    *,
    title: str,
    ylabel: str,
    ylim: tuple[float, float],
    changes: Sequence[int] = (),
    log: bool = False,
) -> None:
    """Draw named lines over the rows of a stream, and where its concept changes.

    Examples
    --------
    >>> figure, (ax,) = panels(1, 1, 4, 3)
    >>> curves(ax, np.arange(3), [("a", np.ones(3))], title="t", ylabel="%", ylim=(0, 2))
    >>> ax.get_xlabel()
    'rows learned'
    """
    from matplotlib.ticker import MaxNLocator

    if log:
        ax.set_yscale("log")
    ax.set_ylim(*ylim)
    if len(changes) <= MANY:
        for change in changes:
            ax.axvline(change, color=GREY, linestyle=":", linewidth=1, zorder=0)
    draw_lines(ax, x, lines, ())
    for place, line in enumerate(named_lines(ax)):
        line.set(linewidth=1.2, zorder=3 - place / 10)  # the first on top
    ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.set_title(title, loc="left", fontsize=10)
    ax.set_ylabel(ylabel)
    ax.set_xlabel("rows learned")


def log_scale(ax: "Axes") -> None:
    """Put a logarithmic scale below, with plain numbers at 1, 3, 10, ...

    Examples
    --------
    >>> figure, (ax,) = panels(1, 1, 4, 3)
    >>> log_scale(ax)
    >>> ax.get_xscale()
    'log'
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def paper_and_ours(ax: "Axes", names: Sequence[str], paper: Any, ours: Any) -> None:
    """Draw a line per name with a hollow mark for the paper and a full one for us.

    Examples
    --------
    >>> figure, (ax,) = panels(1, 1, 4, 3)
    >>> paper_and_ours(ax, ["RLS"], [1.0], [1.1])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['RLS']
    """
    y = np.arange(len(names))
    ax.hlines(y, np.fmin(paper, ours), np.fmax(paper, ours), color="0.8", linewidth=2, zorder=1)
    ax.plot(paper, y, "o", color=PAPER, markerfacecolor="white", markersize=7, label="paper")
    ax.plot(ours, y, "o", color=OURS, markersize=5, label="ours")
    ax.set_yticks(y, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
