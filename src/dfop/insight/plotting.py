"""What all pictures share: axes, colours that everybody can tell apart, names beside the lines.

matplotlib is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dfop.rows.extras import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "GREY",
    "axes_or_new",
    "draw_lines",
    "mark_alarms",
    "name_decades",
    "name_ends",
    "new_axes",
    "panels",
    "save",
]

# The palette of Okabe and Ito, without its yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#6E6E6E"
MANY = 12
"""More changes or alarms than this are not named one by one."""
DECADES = 100.0
"""A loss whose largest value is so many times its least is drawn on a logarithmic scale."""
_LINE_OF_TEXT = 14.0  # points
_END, _CHANGE, _ALARM = "name at the end of a line", "a new concept begins", "an alarm"


def new_axes(width: float = 8.0, height: float = 3.6) -> Axes:
    """Axes on a new figure, with only the two lines that carry a scale.

    Parameters
    ----------
    width, height : float
        Of the figure, in inches.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> new_axes().spines["top"].get_visible()
    False
    """
    figure = _need("matplotlib.pyplot").figure(figsize=(width, height), layout="constrained")
    ax: Axes = figure.add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def axes_or_new(ax: Axes | None, height: float = 3.6) -> Axes:
    """Return the axes that were given, or those of a new figure where none were.

    Parameters
    ----------
    ax : matplotlib Axes or None
        What a caller of a picture gave.
    height : float
        Of a new figure, in inches.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> given = new_axes()
    >>> axes_or_new(given) is given, axes_or_new(None) is given
    (True, False)
    """
    return new_axes(height=height) if ax is None else ax


def panels(
    rows: int, columns: int, width: float, height: float, **kwargs: Any
) -> tuple[Figure, list[Axes]]:
    """Make a figure to be saved, with panels like `new_axes`.

    Parameters
    ----------
    rows, columns : int
        How many panels.
    width, height : float
        Of the figure, in inches.
    **kwargs
        As for ``Figure.subplots``.

    Returns
    -------
    figure : matplotlib Figure
        No window shows it.
    axes : list of matplotlib Axes
        Row by row.

    Examples
    --------
    >>> figure, axes = panels(1, 2, 8, 3)
    >>> len(axes)
    2
    """
    figure: Figure = _need("matplotlib.figure").Figure(
        figsize=(width, height), layout="constrained"
    )
    axes: list[Axes] = list(figure.subplots(rows, columns, squeeze=False, **kwargs).flat)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Figure, path: str | Path) -> None:
    """Write a picture; the same picture gives the same file.

    Parameters
    ----------
    figure : matplotlib Figure
        What to write.
    path : path
        Its ending says the format (png, svg, pdf).

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "nothing.svg"
    >>> save(panels(1, 1, 2, 2)[0], path)
    >>> path.exists()
    True
    """
    path = Path(path)
    svg = path.suffix == ".svg"
    settings = {"svg.hashsalt": path.stem, "svg.fonttype": "none"}
    with _need("matplotlib").rc_context(settings):
        figure.savefig(path, dpi=150, metadata={"Date": None} if svg else None)


def draw_lines(
    ax: Axes | None,
    x: NDArray[Any],
    lines: Sequence[tuple[str, NDArray[Any]]],
    changes: Sequence[int] = (),
    *,
    settled: float = 0.0,
    loss: bool = False,
) -> Axes:
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
    settled : float
        The axis fits the lines from this row on: the mean of a few rows may be anywhere.
    loss : bool
        Whether the values may span decades; if they do, the scale is logarithmic.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = draw_lines(None, np.arange(3), [("a", np.ones(3)), ("b", np.ones(3))], [1])
    >>> [text.get_text() for text in ax.texts]
    ['new concept', 'a', 'b']
    """
    ax = axes_or_new(ax)
    _mark_changes(ax, changes)
    ends = []
    for name, values in lines:
        colour = COLOURS[len(named_lines(ax)) % len(COLOURS)]
        point = "o" if len(x) == 1 else ""
        ax.plot(
            x, values, marker=point, color=colour, linewidth=1.5, label=name, clip_on=len(x) > 1
        )
        finite = np.flatnonzero(np.isfinite(values))
        if len(finite):
            ends.append((name, float(values[finite[-1]]), colour))
    if ax.get_autoscaley_on():
        _fit_y(ax, settled, loss)
    name_ends(ax, ends)
    ax.margins(x=0)
    ax.set_xlabel("rows")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return ax


def name_ends(ax: Axes, ends: Sequence[tuple[str, float, str]], **style: Any) -> None:
    """Write names right of the axes, at the heights of their lines, without overlap.

    Parameters
    ----------
    ax : matplotlib Axes
        Its scale and limits must be as they will be.
    ends : sequence of (name, y, colour)
        What to write; names that are there already are moved, too.
    **style
        As for ``Axes.annotate``.

    Examples
    --------
    >>> _, [ax] = panels(1, 1, 4, 3)
    >>> name_ends(ax, [("a", 0.5, "black"), ("b", 0.5, "red")])
    >>> [float(text.get_position()[1]) for text in ax.texts]
    [0.0, 14.0]
    """
    for name, y, colour in ends:
        ax.annotate(
            name,
            (1, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            gid=_END,
            annotation_clip=False,
            parse_math=False,  # a name may be $x$
            **style,
        )
    _keep_apart(ax)


def mark_alarms(ax: Axes, alarms: Sequence[tuple[int, str]]) -> None:
    """Draw alarms as upright lines, with what moved beside them.

    Parameters
    ----------
    ax : matplotlib Axes
        Rows from left to right.
    alarms : sequence of (row, name)
        Where each rang, and what moved; names are left out where there are more than twelve.

    Examples
    --------
    >>> _, [ax] = panels(1, 1, 4, 3)
    >>> mark_alarms(ax, [(100, "speed"), (900, "")])
    >>> [text.get_text() for text in ax.texts]
    ['speed']
    """
    outlined = _need("matplotlib.patheffects").withStroke(linewidth=2.5, foreground="white")
    for row, name in alarms:
        ax.axvline(row, color=COLOURS[1], linestyle="--", linewidth=0.8, zorder=0, gid=_ALARM)
        if name and len(alarms) <= MANY:
            ax.annotate(
                name,
                (row, 1),
                xycoords=("data", "axes fraction"),
                xytext=(3, -2),
                textcoords="offset points",
                rotation=90,
                va="top",
                fontsize=8,
                color=COLOURS[1],
                parse_math=False,  # a column may be called $x$
                path_effects=[outlined],
            )


def name_decades(axis: Axis) -> None:
    """Write 1, 2, 5, 10, ... beside a logarithmic axis; within a decade a few more.

    Parameters
    ----------
    axis : matplotlib Axis
        Whose scale is logarithmic, and whose limits are set.

    Examples
    --------
    >>> _, [ax] = panels(1, 1, 4, 3)
    >>> ax.set_xscale("log")
    >>> ax.set_xlim(30, 700)
    (30, 700)
    >>> name_decades(ax.xaxis)
    >>> [f"{at:g}" for at in ax.get_xticks() if 30 <= at <= 700]
    ['50', '100', '200', '500']
    """
    ticker = _need("matplotlib.ticker")
    low, high = sorted(axis.get_view_interval())
    named = (1.0, 2.0, 5.0) if high > 10 * low else (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axis.set_major_locator(ticker.LogLocator(subs=named, numticks=7))
    axis.set_major_formatter("{x:,.6g}")
    axis.set_minor_locator(ticker.NullLocator())


def named_lines(ax: Axes) -> list[Any]:
    """Return the lines that have a name.

    Examples
    --------
    >>> len(named_lines(draw_lines(panels(1, 1, 4, 3)[1][0], np.arange(2), [("a", np.ones(2))])))
    1
    """
    return [line for line in ax.lines if not str(line.get_label()).startswith("_")]


def _mark_changes(ax: Axes, changes: Sequence[int]) -> None:
    """Draw a dotted line at each change, once per axes."""
    if not 0 < len(changes) <= MANY or any(line.get_gid() == _CHANGE for line in ax.lines):
        return
    for change in changes:
        ax.axvline(change, color=GREY, linestyle=":", linewidth=1, zorder=0, gid=_CHANGE)
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


def _fit_y(ax: Axes, settled: float, loss: bool) -> None:
    """Let the axis span what the lines do once they have settled."""
    shown = []
    for line in named_lines(ax):
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        shown.append(y[np.isfinite(y) & (x >= settled)])
    values = np.concatenate(shown) if shown else np.empty(0)
    if len(values) == 0:
        return
    low, high = float(values.min()), float(values.max())
    if loss and low > 0 and high > DECADES * low:
        ax.set_yscale("log")
    elif low == high:
        low, high = low - 0.05 * (abs(low) or 1.0), high + 0.05 * (abs(high) or 1.0)
    # A twentieth of the axis stays free above and below; the next line is fitted in, too.
    scale = ax.yaxis.get_transform()
    bottom, top = scale.transform([low, high])
    room = 0.05 * (top - bottom)
    low, high = scale.inverted().transform([bottom - room, top + room])
    ax.set_ylim(low, high, auto=True)


def _keep_apart(ax: Axes) -> None:
    """Move names that would cover each other."""
    names: list[Any] = [text for text in ax.texts if text.get_gid() == _END]
    figure: Any = ax.get_figure()
    height = ax.get_position().height * figure.get_figheight() * 72
    scale = ax.yaxis.get_transform()
    low, high = scale.transform(ax.get_ylim())
    at = [(float(scale.transform([text.xy[1]])[0]) - low) / (high - low) * height for text in names]
    floor = -np.inf
    for i in np.argsort(at, kind="stable"):
        floor = max(float(np.clip(at[i], 0, height)), floor + _LINE_OF_TEXT)
        names[i].set_position((6, floor - at[i]))


def _need(module: str) -> Any:
    return need(module, extra="plot", purpose="drawing")
