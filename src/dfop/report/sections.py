"""The sections of the page, each a function of the history, as markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import pictures
from .history import History
from .text import marked_up, number, percent, size
from .words import (
    alarm_words,
    bad_words,
    calibration_words,
    coverage_words,
    error_words,
    feature_words,
    forgetting_words,
    verdict_words,
)

MOST_FACTS = 30


def figure_of(summary: dict[str, Any], name: str, write: Callable[[Any], str] = number) -> str:
    """Return a figure of the summary as markup that also holds its exact value.

    Parameters
    ----------
    summary : dict
        Of a `History`.
    name : str
        Its keys, joined by dots.
    write : callable
        How it is shown.

    Returns
    -------
    str

    Examples
    --------
    >>> figure_of({"error": {"now": 0.125}}, "error.now", percent)
    '<data data-figure="error.now" value="0.125">12.5 %</data>'
    """
    value: Any = summary
    for key in name.split("."):
        value = value[int(key) if isinstance(value, list) else key]
    exact = "" if value is None else marked_up(value)
    return f'<data data-figure="{name}" value="{exact}">{marked_up(write(value))}</data>'


def headline(title: str, summary: dict[str, Any]) -> str:
    """Return the top of the page: what it is, how good, and the figures that matter.

    Examples
    --------
    >>> history = History("classification")
    >>> history.add(["a", "b"], ["a", "a"])
    >>> "<h1>&lt;b&gt;</h1>" in headline("<b>", history.summary())
    True
    """
    write = percent if summary["task"] == "classification" else number
    what = "Error" if summary["task"] == "classification" else "Squared error"
    window = min(summary["window"], summary["rows"])
    cards = [
        (f"{what} now (last {window:,} rows)", "error.now", write, True),
        (f"{what} overall", "error.overall", write, True),
        (f"No-change: {_last(summary)}", "error.no_change", write, False),
        (
            f"{summary['error']['simple'].capitalize()}, overall",
            "error.simple_overall",
            write,
            False,
        ),
        ("Rows", "rows", number, False),
        ("Looks back, rows", "forgetting.period", _about, False),
        ("Alarms", "alarms.count", number, False),
        ("Bad rows", "bad_rows.total", number, False),
    ]
    drawn = "".join(
        f"<div{' class=main' if main else ''}><dt>{label}</dt>"
        f"<dd>{figure_of(summary, name, form)}</dd></div>"
        for label, name, form, main in cards
    )
    return (
        f'<header><p class="kicker">dfop report</p><h1>{marked_up(title, 200)}</h1>'
        f'<p class="lede">{error_words(summary)}. {verdict_words(summary)}</p></header>'
        f'<dl class="cards">{drawn}</dl>'
    )


def error_section(history: History, summary: dict[str, Any]) -> str:
    """Return the error along the stream.

    Examples
    --------
    >>> history = History("classification")
    >>> history.add(["a", "b"], ["a", "a"])
    >>> error_section(history, history.summary())[:25]
    '<section class="pair"><h2'
    """
    error = summary["error"]
    now, then = error["now"], error["overall"]
    way = "The error along the stream"
    if now is not None and then and summary["rows"] > 2 * summary["window"]:
        ratio = now / then
        way = "The error is now about what it was over the whole stream"
        if ratio < 0.9:
            way = f"The error is now {percent(1 - ratio)} lower than over the whole stream"
        elif ratio > 1.1:
            way = f"The error is now {percent(ratio - 1)} higher than over the whole stream"
    classes = summary["task"] == "classification"
    write = percent if classes else number
    rows = [
        ("model", "error.now", "error.overall"),
        (f"no-change: {_last(summary)}", "error.no_change_now", "error.no_change"),
        (
            "majority: the commonest label so far" if classes else "the mean so far",
            "error.simple_now",
            "error.simple_overall",
        ),
    ]
    body = "".join(
        f'<tr><td>{name}</td><td class="number">{figure_of(summary, a, write)}</td>'
        f'<td class="number">{figure_of(summary, b, write)}</td></tr>'
        for name, a, b in rows
    )
    table = (
        f"<table><caption>{'Share of rows predicted wrong' if classes else 'Mean squared error'}"
        f'</caption><tr><th></th><th class="number">now</th><th class="number">overall</th></tr>'
        f"{body}</table>"
    )
    note = (
        '<p class="note">Every row was predicted before its label was seen. The band is the error '
        f"over the last {summary['window']:,} rows, least to most. Dotted lines are alarms.</p>"
    )
    return _pair(way, table + note, "error", "error along the stream", pictures.draw_error, history)


def forgetting_section(history: History, summary: dict[str, Any], drift: str | None) -> str:
    """Return how far back the model looks, and what is known about drift.

    Examples
    --------
    >>> history = History("classification")
    >>> history.add(["a", "b"], ["a", "a"])
    >>> forgetting_section(history, history.summary(), None)
    ''
    """
    looks = [look.forgetting for look in history.looks.all() if look.forgetting is not None]
    if not looks:
        return ""
    moving = len(set(looks)) > 1
    # one look does not show whether it will move
    heading = forgetting_words(summary, moving or len(looks) == 1)
    words = (
        "<p>The faster the world changes, the less of the past is worth keeping. The effective mu "
        f"is {figure_of(summary, 'forgetting.mu')}: a row counts a share mu less with every row "
        "that comes after it.</p>"
    )
    if drift:
        words += marked_up_lines(drift)
    if not moving:
        return f"<section><h2>{heading}</h2>{words}</section>"
    draw = pictures.draw_forgetting
    return _pair(heading, words, "forgetting", "rows that the model looks back", draw, history)


def alarm_section(summary: dict[str, Any]) -> str:
    """Return the alarms, the last one first.

    Examples
    --------
    >>> alarm_section({"alarms": {"count": 0, "last": []}})
    '<section><h2>No sudden change was found</h2></section>'
    """
    alarms = list(reversed(summary["alarms"]["last"]))
    heading = f"<section><h2>{alarm_words(summary)}</h2>"
    if not alarms:
        return f"{heading}</section>"
    timed = any(alarm["time"] is not None for alarm in alarms)
    rows = "".join(_alarm_row(alarm, timed) for alarm in alarms)
    shown = f"The last {len(alarms)} of them. " if len(alarms) < summary["alarms"]["count"] else ""
    return (
        f'{heading}<p class="note">{shown}An alarm rings when errors rise suddenly. What moved is '
        "given in standard errors of a weight.</p>"
        '<div class="scroll"><table><tr><th class="number">row</th>'
        f"{'<th>about when</th>' if timed else ''}"
        '<th class="number since">since about row</th><th>weights that moved</th></tr>'
        f"{rows}</table></div></section>"
    )


def _alarm_row(alarm: dict[str, Any], timed: bool) -> str:
    clear = {name: z for name, z in alarm["moved"].items() if abs(z) > 3}
    moved = ", ".join(f"<q>{marked_up(name, 40)}</q> {z:+.1f}" for name, z in clear.items())
    when = (
        f"<td class=when>{marked_up('' if alarm['time'] is None else _moment(alarm['time']))}</td>"
        if timed
        else ""
    )
    return (
        f'<tr><td class="number">{alarm["row"]:,}</td>{when}'
        f'<td class="number since">{alarm["began"]:,}</td>'
        f"<td>{moved or 'no single weight clearly'}</td></tr>"
    )


def _moment(time: Any) -> str:
    """Return a time as the page writes it elsewhere."""
    return str(time).replace("T", " ")


def feature_section(history: History, summary: dict[str, Any]) -> str:
    """Return which features matter now, and how that changed.

    Examples
    --------
    >>> feature_section(History("regression"), History("regression").summary())
    ''
    """
    features = summary["features"]
    if not features:
        return ""
    rows = "".join(
        f'<tr><td>{marked_up(feature["name"], 40)}</td><td class="number">'
        f"{figure_of(summary, f'features.{at}.share', percent)}</td></tr>"
        for at, feature in enumerate(features)
    )
    table = (
        "<table><caption>Share of the influence now: how far a feature moves the prediction as it "
        "varies, given the others, by the linear weights of the model</caption>"
        f'<tr><th>feature</th><th class="number">share</th></tr>{rows}</table>'
    )
    if len(history.looks.all()) < 2:  # there is no line to draw
        return f"<section><h2>{feature_words(summary)}</h2>{table}</section>"
    draw = pictures.draw_influence
    return _pair(feature_words(summary), table, "influence", "influence of features", draw, history)


def sureness_section(history: History, summary: dict[str, Any]) -> str:
    """Return calibration of probabilities, or coverage of intervals.

    Examples
    --------
    >>> sureness_section(History("regression"), History("regression").summary())
    ''
    """
    calibration, coverage = summary.get("calibration"), summary.get("coverage")
    if calibration:
        words = (
            "<p>Of rows predicted with a probability of 80 %, 80 % should be right: points on the "
            "dotted line. Large points stand for many rows. The mean probability of the predicted "
            f"class is {figure_of(summary, 'calibration.mean_probability', percent)}, and "
            f"{figure_of(summary, 'calibration.right', percent)} were right; the calibration error "
            f"is {figure_of(summary, 'calibration.error', percent)}.</p>"
        )
        draw = pictures.draw_calibration
        name = "calibration"
        return _pair(calibration_words(calibration), words, name, name, draw, history)
    if coverage:
        words = (
            f"<p>Over the last {min(summary['window'], coverage['rows']):,} rows they held "
            f"{figure_of(summary, 'coverage.now', percent)}. Their mean width is "
            f"{figure_of(summary, 'coverage.width')}.</p>"
        )
        draw = pictures.draw_coverage
        name = "coverage"
        return _pair(coverage_words(coverage), words, name, name, draw, history)
    return ""


def _problem(example: dict[str, Any]) -> str:
    """Return what is wrong with a bad row, without what to do about it in Python."""
    return str(example["message"]).partition("; ")[0]


def bad_section(history: History, summary: dict[str, Any]) -> str:
    """Return bad rows by kind, and the first ones.

    Examples
    --------
    >>> bad_section(History("regression"), History("regression").summary())
    '<section><h2>No row was bad</h2></section>'
    """
    heading = f"<section><h2>{bad_words(summary)}</h2>"
    kinds = summary["bad_rows"]["kinds"]
    if not kinds:
        return f"{heading}</section>"
    rows = "".join(
        f'<tr><td>{marked_up(kind)}</td><td class="number">{count:,}</td></tr>'
        for kind, count in kinds.items()
    )
    first = "".join(
        f'<tr><td class="number">{example["row"]:,}</td><td>{marked_up(_problem(example), 200)}'
        "</td></tr>"
        for example in history.bad["examples"]
    )
    heading = heading.replace("<section>", '<section class="pair">')
    return (
        f'{heading}<div><table><tr><th>kind</th><th class="number">rows</th></tr>{rows}</table>'
        f'</div><div><table><tr><th class="number">row</th><th>what is wrong with '
        f"the first ones</th></tr>{first}</table></div></section>"
    )


def facts_section(about: dict[str, Any], summary: dict[str, Any]) -> str:
    """Return what was learned from what, as a list.

    Examples
    --------
    >>> facts_section({"source": "a<b.csv"}, History("regression").summary())[:81]
    '<section><h2>Source and model</h2><dl class="facts"><dt>source</dt><dd>a&lt;b.csv'
    """
    facts = {str(name): str(value) for name, value in list(about.items())[:MOST_FACTS]}
    facts["task"] = summary["task"]
    if summary["task"] == "classification":
        facts["classes"] = f"{summary['classes']:,}"
    if summary["time"]:
        facts["time of the rows"] = f"{summary['time']['first']} to {summary['time']['last']}"
    return f"<section><h2>Source and model</h2>{_facts(facts)}</section>"


def speed_section(history: History, peak: float | None, model_bytes: float | None) -> str:
    """Return speed and memory, which differ from run to run.

    Examples
    --------
    >>> speed_section(History("regression"), 2e8, None)
    '<section><h2>Speed and memory</h2><dl class="facts"><dt>most memory</dt><dd>200 MB</dd>...
    """
    facts: dict[str, str] = {}
    if history.seconds > 0:
        facts["speed"] = f"{number(float(f'{history.rows / history.seconds:.3g}'))} rows a second"
        facts["time in the model"] = f"{history.seconds:.3g} s"
    if model_bytes is not None:
        facts["size of the model"] = size(model_bytes)
    if peak is not None:
        facts["most memory"] = size(peak)
    return f"<section><h2>Speed and memory</h2>{_facts(facts)}</section>"


def zoom_section(place: str, errors: list[tuple[str, str]], features: list[tuple[str, str]]) -> str:
    """Return the place of the zoomable curves, and what their colours mean.

    Examples
    --------
    >>> "&lt;b&gt;" in zoom_section("zoom", [("model", "#0072B2")], [("<b>", "#0072B2")])
    True
    """
    legends = [("Errors", errors), *([("Influence", features)] if features else [])]
    lists = "".join(
        f'<ul class="names"><li>{what}:</li>'
        + "".join(
            f'<li><span class="chip" style="background:{colour}"></span>{marked_up(name, 40)}</li>'
            for name, colour in names
        )
        + "</ul>"
        for what, names in legends
    )
    return (
        '<section class="onscreen"><h2>Zoom in</h2><p class="note">Drag over a part of a curve to '
        "see it closer; the curves move together. Of every piece of the stream the least and the "
        "most are drawn.</p><noscript><p>This needs scripts; the pictures above show the same."
        f'</p></noscript>{lists}<div id="{place}"></div></section>'
    )


def marked_up_lines(text: str) -> str:
    r"""Return lines of text from elsewhere as markup: "name   value" each.

    Examples
    --------
    >>> marked_up_lines("verdict   a < b")
    '<dl class="facts"><dt>verdict</dt><dd>a &lt; b</dd></dl>'
    """
    lines = [re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in text.splitlines()[:40]]
    return _facts({name: "".join(value) for name, *value in lines})


def _last(summary: dict[str, Any]) -> str:
    """Return what no-change says."""
    return f"the last {'label' if summary['task'] == 'classification' else 'value'} again"


def _about(period: float | None) -> str:
    return number(None if period is None else float(f"{period:.2g}"))


def _facts(facts: dict[str, str]) -> str:
    lines = "".join(
        f"<dt>{marked_up(name)}</dt><dd>{marked_up(value, 500)}</dd>"
        for name, value in facts.items()
    )
    return f'<dl class="facts">{lines}</dl>'


def _pair(
    heading: str, words: str, name: str, description: str, draw: Any, history: History
) -> str:
    drawn = pictures.picture(name, description, draw, history)
    return (
        f'<section class="pair"><h2>{heading}</h2><div>{words}</div>'
        f"<figure>{drawn}</figure></section>"
    )
