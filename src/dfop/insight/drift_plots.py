"""Pictures of a drift spectrum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dfop.rows.extras import need

from .plotting import COLOURS, GREY, axes_or_new, draw_lines, name_decades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .drift import DriftSpectrum


_NAMED_ABOVE = 0.76
"""What is drawn is named in the picture above this share of its height."""


def draw_spectrum(ax: Axes | None, drift: DriftSpectrum) -> Axes:
    """Draw the experts' errors over their forgetting factors, the fitted curve, and the verdict."""
    ax = axes_or_new(ax, height=4.0)
    verdict = drift.verdict
    order = np.argsort(drift.forgetting)
    order = order[drift.forgetting[order] > 0]
    mu, errors, fitted = drift.forgetting[order], drift.errors[order], drift.fitted[order]
    style = "-" if verdict.believed else ":"
    [curve] = ax.plot(mu, fitted, style, color=COLOURS[1], linewidth=1.5, zorder=2)
    ax.plot(mu, errors, "o", color=COLOURS[0], markersize=5, zorder=3)
    ax.set_xscale("log")
    if errors.min() > 0:
        ax.set_yscale("log")
        # what was measured decides the axis: a formula that fails may be anywhere
        room = (errors.max() / errors.min()) ** 0.4  # above, for the names
        ax.set_ylim(errors.min() / 1.15, errors.max() * 1.2 * room)
        below = need("matplotlib.patches", extra="plot", purpose="drawing").Rectangle
        curve.set_clip_path(below((0, 0), 1, _NAMED_ABOVE, transform=ax.transAxes))
        name_decades(ax.yaxis)
    left, right = mu[0] / 1.6, mu[-1] * 1.6
    ax.set_xlim(left, right)
    low, high = max(verdict.low, left), min(verdict.high, right)
    if low < high:
        ax.axvspan(low, high, color=GREY, alpha=0.15, linewidth=0, zorder=0)
    if verdict.mu >= left:
        ax.axvline(verdict.mu, color=GREY, linestyle="--", linewidth=1, zorder=1)
    _legend(ax, drift)
    ax.set_title(f"How fast it drifts: {verdict.short}", loc="left", fontsize=10)
    ax.set_xlabel("forgetting factor mu, per row")
    ax.set_ylabel("mean squared error")
    return ax


def _legend(ax: Axes, drift: DriftSpectrum) -> None:
    """Name what is drawn, above the picture's middle, where errors are small."""
    verdict = drift.verdict
    fit = "noise and steady drift" + ("" if verdict.believed else ", not believed")
    span = f" ({verdict.low:.2g} to {verdict.high:.2g})" if verdict.low < verdict.high else ""
    lines = [
        ("● experts", COLOURS[0]),
        (f"{'―' if verdict.believed else '⋯'} {fit}", COLOURS[1]),
        (f"- - recommended mu = {drift.mu:.2g}{span}", GREY),
    ]
    for at, (text, colour) in enumerate(lines):
        ax.annotate(
            text,
            (0.5, 0.98 - 0.07 * at),
            xycoords="axes fraction",
            ha="center",
            va="top",
            color=colour,
            fontsize=9,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        )


def draw_over_time(ax: Axes | None, drift: DriftSpectrum) -> Axes:
    """Draw the formula's forgetting factor along the stream, under the verdict on it."""
    ax = draw_lines(ax, drift.rows, [("mu*", drift.mu_over_time)], [])
    ax.set_title(f"Drift along the stream: {drift.verdict.short}", loc="left", fontsize=10)
    ax.set_ylabel("the formula's mu, per row")
    ax.set_ylim(bottom=0)
    return ax
