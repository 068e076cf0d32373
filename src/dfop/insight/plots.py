"""Pictures of a model, for a person who asks what happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank
from dfop.model.model import Model
from dfop.model.monitor import Alarm
from dfop.model.movement import compared_experts, linear_forgetters

from .drift import DriftSpectrum
from .experts import bank_of, weights_of
from .looks import effective_forgetting
from .plotting import (
    COLOURS,
    GREY,
    axes_or_new,
    draw_lines,
    mark_alarms,
    name_decades,
    name_ends,
    panels,
)
from .short_names import short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

MOST_WEIGHTS = 12
MOST_POINTS = 200
MOST_WINDOWS = 32
MOST_LINES = 6


class Effects(NamedTuple):
    """What features do to the prediction, each by one of its standard deviations."""

    names: list[str]
    now: Array
    """By an expert that forgets fast."""
    before: Array | None
    """By one that forgets slowly; None where there is only one filter."""
    unit: str


def draw_all(model: Model, drift: DriftSpectrum | None, alarms: list[Alarm]) -> Figure:
    """Draw errors, forgetting and (of linear experts) weights in one figure, with the alarms."""
    weighed = len(linear_forgetters(bank_of(model, "plot"))) > 1
    heights = [3.0, 2.2, 3.2][: 2 + weighed]
    figure, axes = panels(len(heights), 1, 8.0, 0.6 + sum(heights), height_ratios=heights)
    draw_errors(axes[0], model, alarms)
    draw_forgetting(axes[1], model, drift, alarms)
    if weighed:
        draw_weights_over_past(axes[2], model)
    return figure


def draw_errors(ax: Axes, model: Model, alarms: list[Alarm]) -> Axes:
    """Draw the error of the best expert against that of no-change, and the alarms by name."""
    bank = bank_of(model, "plot")
    errors = bank.errors()
    best = int(np.argmin(errors["mean"]))
    lines = {"best expert": best}
    last = [k for k, (view, _, _) in enumerate(bank.experts) if view == "no_change"]
    if last and last[0] != best:
        lines["no-change"] = last[0]
    rows, means = _windows(bank, MOST_POINTS)
    if len(rows):
        curves = [(name, means[:, k]) for name, k in lines.items()]
        draw_lines(ax, rows, curves, settled=float(rows[-1]) / 20, loss=True)
    short = _short(model, alarms)
    mark_alarms(ax, [(a.row, next((short[name] for name in _named(a)), "")) for a in alarms])
    count = len(alarms)
    found = "no sudden change" if count == 0 else f"{count} sudden change{'s' * (count > 1)}"
    told = _against_no_change(errors["mean"], best, last)
    ax.set_title(f"Errors along the stream: {told}{found} found", loc="left", fontsize=10)
    _along_rows(ax, model)
    ax.set_ylabel("mean squared error")
    return ax


def _against_no_change(mean: Array, best: int, last: list[int]) -> str:
    """Say what learning was worth."""
    if not last or not mean[last[0]] > 0.0:
        return ""
    if last[0] == best:
        return "nothing beats no-change, "
    return f"{1 - mean[best] / mean[last[0]]:.0%} less than no-change, "


def draw_forgetting(
    ax: Axes, model: Model, drift: DriftSpectrum | None, alarms: list[Alarm]
) -> Axes:
    """Draw how far back the linear expert looked that erred least, and the model does now."""
    bank = bank_of(model, "plot")
    rows, means = _windows(bank, MOST_WINDOWS)
    experts = linear_forgetters(bank)
    now = 1.0 / max(effective_forgetting(model) or 0.0, 1.0 / max(model.rows, 1))
    if len(rows) and experts:
        mu = np.array([bank.experts[k][1] for k in experts])[means[:, experts].argmin(axis=1)]
        ax.step(rows, 1.0 / np.maximum(mu, 1.0 / rows), color=COLOURS[2], where="pre")
        name_ends(ax, [("erred least", 1.0 / max(float(mu[-1]), 1.0 / rows[-1]), COLOURS[2])])
    ax.set_yscale("log")
    ax.axhline(now, color=COLOURS[0], linestyle=":", linewidth=1.2)
    _room_on_log(ax)
    name_ends(ax, [("in use now", now, COLOURS[0])])
    mark_alarms(ax, [(alarm.row, "") for alarm in alarms])
    told = "too few rows to tell drift from noise" if drift is None else drift.verdict.short
    ax.set_title(f"How far back to look: {told}", loc="left", fontsize=10)
    ax.set_ylabel("1/mu, rows")
    _along_rows(ax, model)
    return ax


def _room_on_log(ax: Axes) -> None:
    """Let a logarithmic axis show two decades at least."""
    low, high = ax.get_ylim()
    middle, reach = np.sqrt(low * high), max(np.sqrt(high / low), 10.0)
    ax.set_ylim(middle / reach, middle * reach)


def _along_rows(ax: Axes, model: Model) -> None:
    ax.set_xlim(0, max(model.monitor.rows if model.monitor else 1, 1))
    ax.locator_params(axis="x", integer=True)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("rows")


def _windows(bank: Bank, most: int) -> tuple[Array, Array]:
    """Return the rows at which windows of the stream end, and each expert's mean error in them."""
    errors = bank.errors()
    history, length = errors["history"], int(errors["piece_length"])
    if not len(history):
        return np.empty(0), history
    starts = np.unique(np.linspace(0, len(history), most, endpoint=False).astype(int))
    counts = np.diff(np.append(starts, len(history)))
    ends = length * np.append(starts[1:], len(history)).astype(float)
    return ends, np.add.reduceat(history, starts) / counts[:, np.newaxis]


def draw_weights_over_past(ax: Axes, model: Model) -> Axes:
    """Draw what features do to the prediction, by how far back the expert looks that says so.

    An expert that looks back 100 rows knows the weights of the last 100, one that never forgets
    their mean over all rows: side by side they are the weights over time.
    """
    bank = bank_of(model, "plot")
    names, total = model.weight_names(), max(float(bank.errors()["rows"]), 1.0)
    experts = [k for k in linear_forgetters(bank) if bank.features * bank.experts[k][1] < 0.5]
    experts = sorted(experts, key=lambda k: bank.experts[k][1]) or linear_forgetters(bank)
    spread = _spread(bank, compared_experts(bank)[1])
    # of those that look back to the first row only the slowest is shown
    experts = experts[:1] + [k for k in experts[1:] if bank.experts[k][1] * total > 1.0]
    back = np.array([1.0 / max(bank.experts[k][1], 1.0 / total) for k in experts])
    effects = np.array(
        [_added(bank.coefficients(k)[0][model.counted_outputs]) * spread for k in experts]
    )
    order = np.argsort(-np.abs(effects).max(axis=0), kind="stable")[:MOST_LINES]
    ends, short = [], short_names(names)
    for at, j in enumerate(order):
        colour = COLOURS[at % len(COLOURS)]
        ax.plot(back, effects[:, j], "o-", color=colour, markersize=3.5, linewidth=1.4)
        ends.append((short[names[j]], float(effects[-1, j]), colour))
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=0)
    ax.set_xscale("log")
    ax.invert_xaxis()
    name_decades(ax.xaxis)
    name_ends(ax, ends)
    shown = "" if len(order) == len(names) else f", the {len(order)} largest"
    ax.set_title(f"Weights, from the long past to now{shown}", loc="left", fontsize=10)
    ax.set_xlabel("over how many last rows")
    ax.set_ylabel("what the feature does")
    return ax


def draw_weights(ax: Axes | None, model: Model) -> Axes:
    """Draw what each feature does to the prediction, now and over the longer past."""
    effects = _effects(model)
    order = np.argsort(-np.abs(effects.now), kind="stable")[:MOST_WEIGHTS][::-1]
    ax = axes_or_new(ax, height=1.2 + 0.28 * len(order))
    at = np.arange(len(order))
    ax.axvline(0, color=GREY, linewidth=0.6)
    if effects.before is not None:
        ax.hlines(at, effects.before[order], effects.now[order], color=GREY, linewidth=1.2)
        ax.plot(effects.before[order], at, "o", color="white", markeredgecolor=GREY, markersize=6)
    ax.plot(effects.now[order], at, "o", color=COLOURS[0], markersize=7)
    short = short_names(effects.names)
    ax.set_yticks(at, [short[effects.names[j]] for j in order], parse_math=False)
    ax.set_ylim(-0.6, max(len(order) - 0.4, 0.6))
    ax.set_xlabel(effects.unit)
    told = "now (filled), and over the longer past (open)" if effects.before is not None else "now"
    shown = "" if len(order) == len(effects.names) else f", the {len(order)} largest"
    ax.set_title(f"Weights {told}{shown}", loc="left", fontsize=10)
    return ax


def draw_alarms(ax: Axes | None, model: Model, alarms: list[Alarm]) -> Axes:
    """Draw alarms along the stream over the weights that moved and the columns that changed."""
    names = list(dict.fromkeys(name for alarm in reversed(alarms) for name in _named(alarm)))
    names, short = names[:MOST_WEIGHTS][::-1], _short(model, alarms)
    ax = axes_or_new(ax, height=1.6 + 0.3 * len(names))
    mark_alarms(ax, [(alarm.row, "") for alarm in alarms])
    for alarm in alarms:
        for name, z in _named(alarm).items():
            if name in names:
                ax.plot([alarm.row], [names.index(name)], **_mark_of(z))
    ax.set_yticks(range(len(names)), [short[name] for name in names], parse_math=False)
    ax.set_ylim(-0.6, max(len(names) - 0.4, 0.6))
    _along_rows(ax, model)
    _name_marks(ax, [z for alarm in alarms for z in _named(alarm).values()])
    count = len(alarms)
    found = "No sudden change was found" if count == 0 else f"{count} alarms, and what changed"
    ax.set_title(found if count != 1 else "One alarm, and what changed", loc="left", fontsize=10)
    return ax


def _mark_of(z: float | None) -> dict[str, Any]:
    """Return how a weight that moved by z standard errors, or a column that changed, is drawn."""
    if z is None:
        return {"marker": "s", "color": COLOURS[2], "markersize": 8}
    colour = COLOURS[0] if z > 0 else COLOURS[3]
    return {"marker": "o", "color": colour, "markersize": min(4 + 2 * np.log2(abs(z)), 14)}


def _name_marks(ax: Axes, drawn: list[float | None]) -> None:
    """Name the kinds of marks that are there, right of the axes, from above."""
    there = [
        ("weight up", COLOURS[0], any(z is not None and z > 0 for z in drawn)),
        ("weight down", COLOURS[3], any(z is not None and z < 0 for z in drawn)),
        ("column changed", COLOURS[2], any(z is None for z in drawn)),
    ]
    top = ax.get_ylim()[1]
    name_ends(ax, [(name, top, colour) for name, colour, is_there in there[::-1] if is_there])


def _clear(alarm: Alarm) -> dict[str, float]:
    return {name: z for name, z in alarm.moved.items() if abs(z) > 3}


def _named(alarm: Alarm) -> Mapping[str, float | None]:
    """Return the columns that changed, or the weights that moved clearly, in standard errors."""
    return dict.fromkeys(alarm.columns) if alarm.columns else _clear(alarm)


def _short(model: Model, alarms: list[Alarm]) -> dict[str, str]:
    """Return how names are written, the same in every picture of a model."""
    return short_names([*model.weight_names(), *(name for a in alarms for name in _named(a))])


def _effects(model: Model) -> Effects:
    """Return the weights of a filter, or of two experts in units of what they do."""
    names, engine = model.weight_names(), model.engine
    if not isinstance(engine, Bank):
        return Effects(names, _added(weights_of(model)[0]), None, "weight")
    if len(linear_forgetters(engine)) < 2:
        raise AttributeError('plot_weights needs linear experts: features="auto" or "linear"')
    fast, slow = compared_experts(engine)
    spread = _spread(engine, slow)
    now, before = (
        _added(engine.coefficients(k)[0][model.counted_outputs]) * spread for k in (fast, slow)
    )
    unit = "what a typical change of the feature, given the others, does to the output"
    return Effects(names, now, before, unit)


def _spread(bank: Bank, slow: int) -> Array:
    """Return how far each feature varies, given the others, as a slow expert has seen it."""
    mu, t = bank.experts[slow][1], max(bank.errors()["rows"], 1.0)
    rows = -np.expm1(t * np.log1p(-mu)) / mu if mu else t
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / np.sqrt(rows * bank.variances(slow)[int(bank.intercept) :]))


def _added(coef: Array) -> Array:
    """Return the weights of one output, or how large they are over several."""
    return np.asarray(coef[0] if len(coef) == 1 else np.abs(coef).sum(axis=0))
