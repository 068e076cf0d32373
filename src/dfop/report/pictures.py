"""The small static pictures of the page, as SVG: they need no script, and print."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dfop.insight.plotting import COLOURS, GREY, name_decades, name_ends, panels
from dfop.rows.extras import need

from .curves import (
    coverage_curve,
    error_curves,
    few_groups,
    forgetting_curve,
    influence_curves,
    settled_from,
)
from .history import History
from .summary import in_bins
from .text import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

WIDTH, HEIGHT = 4.6, 2.5
LINES = 6
MOST_ALARMS = 25
"""More are not drawn one by one."""
_SETTINGS = {
    "text.parse_math": False,  # a column may be called $$x$$
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.labelcolor": "#444444",
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "axes.edgecolor": "#999999",
}


def picture(name: str, description: str, draw: Any, history: History) -> str:
    """Return a picture as an SVG element.

    Parameters
    ----------
    name : str
        One of its own on the page: ids begin with it.
    description : str
        For those who do not see it.
    draw : callable
        Called with the axes and the history.
    history : History
        What is drawn.

    Returns
    -------
    str

    Examples
    --------
    >>> history = History("regression")
    >>> history.add([0.0, 1.0, 2.0], [0.5, 1.0, 2.0])
    >>> picture("error", "error over time", draw_error, history)[:44]
    '<svg role="img" aria-label="error over time"'
    """
    mpl = need("matplotlib", extra="report", purpose="the report")
    with mpl.rc_context({**_SETTINGS, "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that this font lacks: the browser has others
        figure, [ax] = panels(1, 1, WIDTH, HEIGHT)
        draw(ax, history)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Places of six decimals are more than any screen shows; what is written must keep its own.
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d+\.\d\d)\d+", r"\1", tag[0]), svg)
    svg = re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", svg, count=1)
    svg = re.sub(r'<svg ([^>]*?)height="[^"]*"', r"<svg \1", svg, count=1)
    return svg.replace("<svg", f'<svg role="img" aria-label="{description}"', 1)


def draw_error(ax: Axes, history: History) -> None:
    """Draw the error of the model between those of no-change and of majority or mean.

    Examples
    --------
    >>> history = History("regression")
    >>> history.add([0.0, 1.0, 2.0], [0.5, 1.0, 2.0])
    >>> _, [ax] = panels(1, 1, 4, 3)
    >>> draw_error(ax, history)
    >>> [text.get_text() for text in ax.texts]
    ['model', 'no-change', 'mean so far']
    """
    curves = error_curves(history, few_groups(history))
    lines = [
        ("model", curves.model, COLOURS[0], 2.0),
        ("no-change", curves.no_change, COLOURS[1], 1.2),
        (history.simple, curves.simple, GREY, 1.2),
    ]
    ax.fill_between(
        curves.rows, curves.least, curves.most, color=COLOURS[0], alpha=0.18, linewidth=0
    )
    shown_values = []
    ends = []
    for name, values, colour, width in lines:
        finite = np.isfinite(values)
        ax.plot(curves.rows[finite], values[finite], color=colour, linewidth=width)
        shown_values.append(values[finite & (curves.rows >= settled_from(history))])
        if finite.any():
            ends.append((name, float(values[finite][-1]), colour))
    _fit_y(ax, np.concatenate(shown_values), log=history.task == "regression")
    if history.task == "classification":
        ax.yaxis.set_major_formatter(_formatter("{:.4g} %", 100.0))
    _along_rows(ax, history)
    ax.set_ylabel("rows wrong" if history.task == "classification" else "mean squared error")
    name_ends(ax, ends, fontsize=8.5)


def draw_forgetting(ax: Axes, history: History) -> None:
    """Draw how far back the model looks: 1/mu in rows.

    Examples
    --------
    >>> _, [ax] = panels(1, 1, 4, 3)
    >>> draw_forgetting(ax, History("regression"))
    >>> ax.get_ylabel()
    'looks back (1/mu), rows'
    """
    rows, mu = forgetting_curve(history)
    with np.errstate(divide="ignore"):
        periods = 1.0 / mu
    finite = np.isfinite(periods)
    ax.plot(rows[finite], periods[finite], color=COLOURS[2], linewidth=1.8)
    ax.set_yscale("log")
    name_decades(ax.yaxis)
    ax.set_ylabel("looks back (1/mu), rows")
    if finite.any():
        _few_decades(ax, periods[finite])
    _along_rows(ax, history)


def draw_influence(ax: Axes, history: History) -> None:
    """Draw the influence of the features that matter most.

    Examples
    --------
    >>> _, [ax] = panels(1, 1, 4, 3)
    >>> draw_influence(ax, History("regression"))
    >>> ax.get_ylabel()
    'share of the influence'
    """
    rows, shares = influence_curves(history, LINES)
    ends = []
    for at, (name, values) in enumerate(shares.items()):
        colour = COLOURS[at % len(COLOURS)]
        ax.plot(rows, values, color=colour, linewidth=1.5)
        ends.append((shown(name, 16), float(values[-1]), colour))
    ax.yaxis.set_major_formatter(_formatter("{:.3g} %", 100.0))
    ax.set_ylim(bottom=0)
    ax.set_ylabel("share of the influence")
    _along_rows(ax, history)
    name_ends(ax, ends, fontsize=8.5)


def draw_calibration(ax: Axes, history: History) -> None:
    """Draw how often predictions were right over how sure the model was.

    Examples
    --------
    >>> history = History("classification")
    >>> history.add(["a", "b"], ["a", "a"], probability=[0.75, 0.75])
    >>> _, [ax] = panels(1, 1, 4, 3)
    >>> draw_calibration(ax, history)
    >>> ax.get_xlabel()
    'probability of the predicted class'
    """
    p, right, rows = in_bins(history)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":")
    ax.plot(p, right, color=COLOURS[0], linewidth=1.2)
    ax.scatter(p, right, s=12 + 120 * rows / rows.max(), color=COLOURS[0], alpha=0.8, linewidths=0)
    low = max(0.0, min(float(p.min()), float(right.min())) - 0.05)
    ax.set_xlim(low, 1.02)
    ax.set_ylim(low, 1.02)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(_formatter("{:.0f} %", 100.0))
    ax.annotate("dotted: as sure as right", (0.02, 0.92), xycoords="axes fraction", color=GREY)
    ax.set_xlabel("probability of the predicted class")
    ax.set_ylabel("right")


def draw_coverage(ax: Axes, history: History) -> None:
    """Draw what share of the targets the intervals held, along the stream.

    Examples
    --------
    >>> history = History("regression")
    >>> history.add([0.0, 5.0], [0.0, 0.0], intervals=[[-1.0, 1.0], [-1.0, 1.0]])
    >>> _, [ax] = panels(1, 1, 4, 3)
    >>> draw_coverage(ax, history)
    >>> ax.get_ylabel()
    'targets inside'
    """
    rows, share = coverage_curve(history, few_groups(history))
    finite = np.isfinite(share)
    ax.axhline(history.coverage, color=GREY, linewidth=1, linestyle=":")
    ax.plot(rows[finite], share[finite], color=COLOURS[0], linewidth=1.8)
    low = float(np.min(share[finite], initial=history.coverage))
    ax.set_ylim(max(0.0, low - 0.05), 1.005)
    ax.yaxis.set_major_formatter(_formatter("{:.3g} %", 100.0))
    ax.set_ylabel("targets inside")
    _along_rows(ax, history)
    name_ends(ax, [("wanted", history.coverage, GREY)], fontsize=8.5)


def _along_rows(ax: Axes, history: History) -> None:
    """Let x be the rows of the stream, with its alarms."""
    alarms = [alarm["row"] for alarm in history.alarms]
    if len(alarms) <= MOST_ALARMS:
        for row in alarms:
            ax.axvline(row, color=COLOURS[1], linewidth=0.8, linestyle=":", zorder=0)
    ax.set_xlim(0, max(history.rows, 1))
    ax.xaxis.set_major_locator(
        need("matplotlib.ticker", extra="report").MaxNLocator(5, integer=True)
    )
    ax.xaxis.set_major_formatter(_formatter("{:,.0f}"))
    ax.set_xlabel("rows")


def _formatter(form: str, times: float = 1.0) -> Any:
    return lambda value, at: form.format(times * value)


def _fit_y(ax: Axes, values: Array, *, log: bool) -> None:
    """Let the axis span what the lines do once they have settled."""
    values = values[np.isfinite(values)]
    if not len(values):
        return
    low, high = float(values.min()), float(values.max())
    if log and low > 0 and high > 30 * low:
        ax.set_yscale("log")
        ax.set_ylim(low / 1.3, high * 1.3)
        name_decades(ax.yaxis)
        return
    room = 0.06 * (high - low) or 0.05 * (abs(high) or 1.0)
    ax.set_ylim(max(low - room, 0.0), high + room)


def _few_decades(ax: Axes, values: Array) -> None:
    """Let a logarithmic axis show at least a decade."""
    low, high = float(values.min()), float(values.max())
    middle = np.sqrt(low * high)
    reach = max(np.sqrt(high / low) * 1.2, np.sqrt(10.0) * 1.05)
    ax.set_ylim(middle / reach, middle * reach)
