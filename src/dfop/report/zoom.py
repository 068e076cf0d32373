"""The zoomable curves of the page, by Bokeh: linked, and without any text from the data.

Bokeh reads ``$$...$$`` in its labels as TeX and looks for a column where a label is the name of
one. So names of features stand beside the curves, on the page, in their colours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.insight.plotting import COLOURS, GREY
from dfop.rows.extras import need

from .curves import forgetting_curve, influence_curves, recent_errors, settled_from
from .history import History

Array = NDArray[np.float64]

LINES = 6
MOST_ALARMS = 100
PLACE = "zoom"
"""The id of the element on the page into which the curves are drawn."""


class Zoom(NamedTuple):
    """Curves for the page."""

    item: dict[str, Any]
    """What ``Bokeh.embed.embed_item`` takes."""
    errors: list[tuple[str, str]]
    """Names and colours of the curves of errors."""
    features: list[tuple[str, str]]
    """Names and colours of the features drawn."""


def scripts() -> list[str]:
    """Return the scripts of Bokeh that the curves need.

    Examples
    --------
    >>> len(scripts()) > 0
    True
    """
    resources = need("bokeh.resources", extra="report", purpose="the report")
    inline = resources.Resources(mode="inline", components=["bokeh"], log_level="error")
    return list(inline.js_raw)


def zoomable(history: History) -> Zoom:
    """Return linked curves: errors, how far the model looks back, influence of features.

    Parameters
    ----------
    history : History
        Of at least one row.

    Returns
    -------
    Zoom

    Examples
    --------
    >>> history = History("regression")
    >>> history.add([0.0, 1.0, 2.0], [0.5, 1.0, 2.0])
    >>> zoomable(history).item["target_id"]
    'zoom'
    """
    models = need("bokeh.models", extra="report", purpose="the report")
    along = models.Range1d(0, max(history.rows, 1), bounds=(0, max(history.rows, 1)))
    plots = [_errors(history, along)]
    rows, mu = forgetting_curve(history)
    if len(rows) > 1 and len(set(mu.tolist())) > 1:
        plots.append(_periods(history, rows, mu, along))
    rows, shares = influence_curves(history, LINES)
    if len(rows) > 1:
        plots.append(_influence(history, rows, list(shares.values()), along))
    else:
        shares = {}
    layout = need("bokeh.layouts", extra="report").column(plots, sizing_mode="stretch_width")
    item = need("bokeh.embed", extra="report").json_item(layout, PLACE)
    errors = [("model", COLOURS[0]), ("no-change", COLOURS[1]), (history.simple, GREY)]
    return Zoom(item, errors, list(zip(shares, COLOURS, strict=False)))


def _figure(history: History, along: Any, title: str, unit: str, **kwargs: Any) -> Any:
    plotting = need("bokeh.plotting", extra="report")
    models = need("bokeh.models", extra="report")
    plot = plotting.figure(
        height=230,
        sizing_mode="stretch_width",
        x_range=along,
        tools="xbox_zoom,xpan,xwheel_zoom,reset",
        active_drag="xbox_zoom",
        active_scroll=None,
        toolbar_location="above",
        title=title,
        output_backend="canvas",
        **kwargs,
    )
    plot.toolbar.logo = None
    plot.outline_line_color = None
    plot.xaxis.formatter = models.NumeralTickFormatter(format="0,0")
    plot.xaxis.ticker = models.BasicTicker(desired_num_ticks=4)  # more run into each other
    plot.xaxis.axis_label = "rows"
    plot.yaxis.axis_label = unit
    plot.axis.minor_tick_line_color = None
    plot.min_border_left = 64  # so that the curves stand exactly above each other
    for alarm in history.alarms[-MOST_ALARMS:]:
        line = {"line_color": COLOURS[1], "line_dash": "dotted", "line_alpha": 0.8}
        plot.add_layout(models.Span(location=alarm["row"], dimension="height", **line))
    return plot


def _errors(history: History, along: Any) -> Any:
    models = need("bokeh.models", extra="report")
    curves = recent_errors(history)
    settled = curves["row"] >= settled_from(history)
    lines = [curves[name][settled] for name in ("model", "no_change", "simple")]
    low, high, log = _span(lines, history)
    classes = history.task == "classification"
    plot = _figure(
        history,
        along,
        f"Error over the last {history.window:,} rows",
        "wrong" if classes else "squared error",
        y_range=models.Range1d(low, high),
        y_axis_type="log" if log else "linear",
    )
    if classes:
        plot.yaxis.formatter = models.NumeralTickFormatter(format="0.[00] %")
    source = models.ColumnDataSource({name: _small(values) for name, values in curves.items()})
    for column, colour in (("simple", GREY), ("no_change", COLOURS[1]), ("model", COLOURS[0])):
        line = plot.line("row", column, source=source, color=colour, line_width=1.5)
    form = "{0.00 %}" if classes else "{0.000a}"
    tips = [
        ("rows", "@row{0,0}"),
        ("model", f"@model{form}"),
        ("no-change", f"@no_change{form}"),
        (history.simple, f"@simple{form}"),
    ]
    plot.add_tools(models.HoverTool(tooltips=tips, mode="vline", renderers=[line]))
    return plot


def _periods(history: History, rows: Array, mu: Array, along: Any) -> Any:
    models = need("bokeh.models", extra="report")
    with np.errstate(divide="ignore"):
        period = 1.0 / mu
    plot = _figure(history, along, "Rows that the model looks back", "1/mu", y_axis_type="log")
    plot.yaxis.formatter = models.NumeralTickFormatter(format="0,0")
    plot.yaxis.ticker = models.FixedTicker(ticks=_round_steps(period))
    source = models.ColumnDataSource({"row": _small(rows), "period": _small(period)})
    line = plot.line("row", "period", source=source, color=COLOURS[2], line_width=1.5)
    tips = [("rows", "@row{0,0}"), ("looks back", "@period{0,0} rows")]
    plot.add_tools(models.HoverTool(tooltips=tips, mode="vline", renderers=[line]))
    return plot


def _round_steps(values: Array) -> list[float]:
    """Return 1, 2, 5, 10, ... as far as values go; powers of ten alone where these are many."""
    finite = values[np.isfinite(values) & (values > 0)]
    if not len(finite):
        return []
    first, last = np.floor(np.log10([finite.min(), finite.max()])).astype(int)
    steps = (1, 2, 5) if last - first < 2 else (1,)
    return [float(step * 10.0**power) for power in range(first, last + 2) for step in steps]


def _influence(history: History, rows: Array, shares: list[Array], along: Any) -> Any:
    models = need("bokeh.models", extra="report")
    plot = _figure(history, along, "Influence of features", "share")
    plot.yaxis.formatter = models.NumeralTickFormatter(format="0 %")
    plot.y_range.start = 0
    for values, colour in zip(shares, COLOURS, strict=False):
        source = models.ColumnDataSource({"row": _small(rows), "share": _small(values)})
        plot.line("row", "share", source=source, color=colour, line_width=1.5)
    return plot


def _span(lines: list[Array], history: History) -> tuple[float, float, bool]:
    """Return the ends of an axis that fits the lines, and whether it is logarithmic."""
    values = np.concatenate(lines)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0, False
    low, high = float(values.min()), float(values.max())
    if history.task == "regression" and low > 0 and high > 30 * low:
        return low / 1.2, high * 1.2, True
    room = 0.05 * (high - low) or 0.05 * (abs(high) or 1.0)
    return max(0.0, low - room), high + room, False


def _small(values: Array) -> NDArray[np.float32]:
    """Return numbers as precise as a screen: half the bytes, NaN where there is nothing."""
    with np.errstate(over="ignore", invalid="ignore"):
        small = values.astype(np.float32)
    return np.where(np.isfinite(small), small, np.float32(np.nan))
