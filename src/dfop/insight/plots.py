"""Pictures of a model, for a person who asks what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank
from dfop.model.model import Model
from dfop.model.monitor import Alarm
from dfop.model.movement import compared_experts, linear_forgetters
from dfop.plotting import COLOURS, GREY, draw_lines, mark_alarms, name_ends, new_axes, panels

from .drift import DriftSpectrum
from .experts import bank_of, weights_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

MOST_WEIGHTS = 12
MOST_POINTS = 200
LONGEST_NAME = 24


class Effects(NamedTuple):
    """What features do to the prediction, each by one of its standard deviations."""

    names: list[str]
    now: Array
    """By an expert that forgets fast."""
    before: Array | None
    """By one that forgets slowly; None where there is only one filter."""
    unit: str


def draw_all(model: Model, drift: DriftSpectrum | None, alarms: list[Alarm]) -> Figure:
    """Draw errors, drift and (of linear experts) weights in one figure, with the alarms."""
    weighed = len(linear_forgetters(bank_of(model, "plot"))) > 1
    heights = [3.0, 2.2, 3.2][: 2 + weighed]
    figure, axes = panels(len(heights), 1, 8.0, 0.6 + sum(heights), height_ratios=heights)
    draw_errors(axes[0], model, alarms)
    _draw_forgetting(axes[1], drift, alarms)
    axes[1].set_xlim(axes[0].get_xlim())
    if weighed:
        draw_weights(axes[2], model)
    return figure


def draw_errors(ax: Axes, model: Model, alarms: list[Alarm]) -> Axes:
    """Draw the error of the best expert and of one that never forgets, and the alarms."""
    bank = bank_of(model, "plot")
    errors = bank.errors()
    history, length = errors["history"], int(errors["piece_length"])
    best = int(np.argmin(errors["mean"]))
    lines = {"best expert": best}
    plain = [k for k in linear_forgetters(bank) if bank.experts[k][1] == 0.0]
    if plain and plain[0] != best:
        lines["never forgets"] = plain[0]
    groups = np.unique(np.linspace(0, len(history), MOST_POINTS, endpoint=False).astype(int))
    if len(history):
        counts = np.diff(np.append(groups, len(history)))
        rows = length * np.append(groups[1:], len(history))
        means = np.add.reduceat(history, groups) / counts[:, np.newaxis]
        settled = float(rows[-1]) / 20
        curves = [(name, means[:, k]) for name, k in lines.items()]
        ax = draw_lines(ax, rows, curves, settled=settled, loss=True)
    mark_alarms(ax, [(alarm.row, _name_of(alarm)) for alarm in alarms])
    count = len(alarms)
    found = "no sudden change" if count == 0 else f"{count} sudden change{'s' * (count > 1)}"
    ax.set_title(f"Errors of experts along the stream: {found} found", loc="left", fontsize=10)
    ax.set_xlim(0, max(model.monitor.rows if model.monitor else 1, 1))
    ax.set_ylabel("mean squared error")
    return ax


def _draw_forgetting(ax: Axes, drift: DriftSpectrum | None, alarms: list[Alarm]) -> None:
    ax.set_xlabel("rows")
    ax.set_ylabel("mu, per row")
    if drift is None:
        ax.set_title("Too few rows to tell drift from noise", loc="left", fontsize=10)
        return
    draw_lines(ax, drift.rows, [("mu that suits", drift.mu_over_time)])
    ax.set_ylim(bottom=0)
    mark_alarms(ax, [(alarm.row, "") for alarm in alarms])
    told = f"looking back {drift.period:,.0f} rows suits it" if drift.mu > 0 else "nothing moves"
    ax.set_title(f"How fast the stream drifts: overall, {told}", loc="left", fontsize=10)


def draw_weights(ax: Axes | None, model: Model) -> Axes:
    """Draw what each feature does to the prediction, now and over the longer past."""
    effects = _effects(model)
    order = np.argsort(-np.abs(effects.now), kind="stable")[:MOST_WEIGHTS][::-1]
    ax = new_axes(height=1.2 + 0.28 * len(order)) if ax is None else ax
    at = np.arange(len(order))
    ax.axvline(0, color=GREY, linewidth=0.6)
    if effects.before is not None:
        ax.hlines(at, effects.before[order], effects.now[order], color=GREY, linewidth=1.2)
        ax.plot(effects.before[order], at, "o", color="white", markeredgecolor=GREY, markersize=6)
    ax.plot(effects.now[order], at, "o", color=COLOURS[0], markersize=7)
    ax.set_yticks(at, [effects.names[j][:LONGEST_NAME] for j in order], parse_math=False)
    ax.set_ylim(-0.6, max(len(order) - 0.4, 0.6))
    ax.set_xlabel(effects.unit)
    told = "now (filled), and over the longer past (open)" if effects.before is not None else "now"
    shown = "" if len(order) == len(effects.names) else f", the {len(order)} largest"
    ax.set_title(f"Weights {told}{shown}", loc="left", fontsize=10)
    return ax


def draw_alarms(ax: Axes | None, model: Model, alarms: list[Alarm]) -> Axes:
    """Draw alarms along the stream over the features whose weights moved."""
    names = list(dict.fromkeys(name for alarm in reversed(alarms) for name in _clear(alarm)))
    names = names[:MOST_WEIGHTS][::-1]
    ax = new_axes(height=1.6 + 0.3 * len(names)) if ax is None else ax
    mark_alarms(ax, [(alarm.row, "") for alarm in alarms])
    for alarm in alarms:
        for name, z in _clear(alarm).items():
            if name in names:
                colour = COLOURS[0] if z > 0 else COLOURS[3]
                size = min(4 + 2 * np.log2(abs(z)), 14)
                ax.plot([alarm.row], [names.index(name)], "o", color=colour, markersize=size)
    ax.set_yticks(range(len(names)), [name[:LONGEST_NAME] for name in names], parse_math=False)
    ax.set_ylim(-0.6, max(len(names) - 0.4, 0.6))
    ax.set_xlim(0, max(model.monitor.rows if model.monitor else 1, 1))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("rows")
    if names:
        name_ends(ax, [("up", len(names) - 1.0, COLOURS[0]), ("down", -0.4, COLOURS[3])])
    count = len(alarms)
    found = "No sudden change was found" if count == 0 else f"{count} alarms, and what moved"
    ax.set_title(found if count != 1 else "One alarm, and what moved", loc="left", fontsize=10)
    return ax


def _clear(alarm: Alarm) -> dict[str, float]:
    return {name: z for name, z in alarm.moved.items() if abs(z) > 3}


def _name_of(alarm: Alarm) -> str:
    return next(iter(_clear(alarm)), "")[:LONGEST_NAME]


def _effects(model: Model) -> Effects:
    """Return the weights of a filter, or of two experts in units of what they do."""
    names, engine = model.weight_names(), model.engine
    if not isinstance(engine, Bank):
        return Effects(names, _added(weights_of(model)[0]), None, "weight")
    if len(linear_forgetters(engine)) < 2:
        raise AttributeError('plot_weights needs linear experts: features="auto" or "linear"')
    fast, slow = compared_experts(engine)
    mu, t = engine.experts[slow][1], max(engine.errors()["rows"], 1.0)
    rows = -np.expm1(t * np.log1p(-mu)) / mu if mu else t
    variances = engine.variances(slow)[int(engine.intercept) :]
    with np.errstate(divide="ignore"):
        spread = 1.0 / np.sqrt(rows * variances)
    now, before = (
        _added(engine.coefficients(k)[0][model.counted_outputs]) * spread for k in (fast, slow)
    )
    unit = "what a typical change of the feature, given the others, does to the output"
    return Effects(names, now, before, unit)


def _added(coef: Array) -> Array:
    """Return the weights of one output, or how large they are over several."""
    return np.asarray(coef[0] if len(coef) == 1 else np.abs(coef).sum(axis=0))
