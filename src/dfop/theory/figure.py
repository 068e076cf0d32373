"""The picture of the experiment: error and bounds over time, one panel per setting."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dfop.insight.plotting import COLOURS as PALETTE
from dfop.insight.plotting import name_ends, panels, save

from .experiment import NAMES, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_experiment"]

# The error is black.
BLUE, ORANGE, GREEN, PINK = PALETTE[:4]
COLOURS = {"C0": ORANGE, "C1": PINK, "C2": BLUE, "C3": GREEN}
MEANINGS = {"C0": "Theorem 2", "C1": "with |P(t)|", "C2": "sharp sums", "C3": "covariance"}
LAWS = {"normal": "Gaussian", "uniform": "uniform", "sign": "random signs"}


def draw_experiment(outcomes: Sequence[Outcome], path: str | Path | None = None) -> Figure:
    """Draw error and bounds over time, and how often each bound held.

    Needs matplotlib. Assumes nothing beyond what the experiment does.

    Parameters
    ----------
    outcomes : sequence of Outcome
        From `run_experiment`.
    path : path, optional
        File to write; its ending says the format (png, svg, pdf).

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from dfop.theory import SETTINGS, draw_experiment, run_experiment
    >>> figure = draw_experiment(run_experiment(SETTINGS[1:2], seeds=20, points=5))
    >>> len(figure.axes)
    1
    """
    if not outcomes:
        raise ValueError("there is no outcome to draw")
    figure, all_axes = panels(1, len(outcomes), 4.7 * len(outcomes), 4.9, sharey=True)
    for axes, outcome in zip(all_axes, outcomes, strict=True):
        _draw_curves(axes, outcome)
    for axes, outcome in zip(all_axes, outcomes, strict=True):  # the shared scale is known now
        _draw_labels(axes, outcome)
    all_axes[0].set_ylabel("distance from the true concept, |ŵ(t) - w(t)|")
    first = outcomes[0]
    figure.suptitle(
        f"Certificates of the error, each to hold with probability {1 - first.delta:.0%} at any row"
        f" (in brackets: the share of {len(first.error)} seeds where it held, at its worst row)",
        x=0.01,
        ha="left",
        fontsize=11,
    )
    if path is not None:
        save(figure, path)
    return figure


def _draw_curves(axes: Axes, outcome: Outcome) -> None:
    rows, setting = outcome.rows, outcome.setting
    for name in NAMES:
        median = np.median(outcome.bounds[name], axis=0)
        axes.plot(rows, median, color=COLOURS[name], linewidth=1.8)
    low, middle, high = np.quantile(outcome.error, [0.05, 0.5, 0.95], axis=0)
    axes.fill_between(rows, low, high, color="0.8", linewidth=0)
    axes.plot(rows, middle, color="black", linewidth=1.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, rows[-1])
    axes.set_title(
        f"{setting.name}: d = {setting.d}, mu = {setting.mu:g}\n"
        f"noise {setting.noise:g}, drift {setting.drift:g} a row, {LAWS[setting.law]}",
        loc="left",
        fontsize=10,
    )
    axes.set_xlabel("row of the stream, t")


def _draw_labels(axes: Axes, outcome: Outcome) -> None:
    """Name each curve at its end, in its colour."""
    ends = {name: float(np.median(outcome.bounds[name][:, -1])) for name in NAMES}
    texts = {"error": ("error: median, 90 % band", "black")}
    for name in NAMES:
        held = np.floor(1000 * outcome.coverage[name].min()) / 10
        texts[name] = (f"{name} {MEANINGS[name]} ({held:g} %)", COLOURS[name])
    ends["error"] = float(np.median(outcome.error[:, -1]))
    finite = [name for name in ends if np.isfinite(ends[name]) and ends[name] > 0.0]
    names = [(texts[name][0], ends[name], texts[name][1]) for name in sorted(finite)]
    name_ends(axes, names, fontsize=9)
