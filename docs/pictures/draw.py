"""Draws the pictures of the pages: ``python docs/pictures/draw.py`` (needs dfop[plot])."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

from dfop import DFOPRegressor
from dfop.insight.plotting import COLOURS, GREY, new_axes

HERE = Path(__file__).parent
ROWS = 6000
STEP = 25


def drift():
    """Draw errors of experts over mu, on the walk of the page on drift."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 4))
    weights = np.cumsum(0.01 * rng.normal(size=X.shape), axis=0)
    y = (X * weights).sum(axis=1) + rng.normal(size=40_000)
    return DFOPRegressor(fit_intercept=False).fit(X, y).drift_.plot()


def intervals():
    """Draw a series whose level walks and whose noise trebles for a while."""
    rng = np.random.default_rng(3)
    n = 1200
    level = np.cumsum(0.15 * rng.normal(size=n))
    noisy = (np.arange(n) >= 600) & (np.arange(n) < 900)
    y = level + np.where(noisy, 1.5, 0.5) * rng.normal(size=n)
    low, high = DFOPRegressor().predict_interval_then_learn(np.zeros((n, 1)), y, 0.9).T
    inside = (low <= y) & (y <= high)
    show = np.arange(n) >= 50
    rows = np.arange(n)
    ax = new_axes(9.0, 3.6)
    ax.fill_between(rows[show], low[show], high[show], color=COLOURS[5], alpha=0.45, linewidth=0)
    ax.plot(rows[show & inside], y[show & inside], ".", color=COLOURS[0], markersize=3)
    ax.plot(rows[show & ~inside], y[show & ~inside], ".", color=COLOURS[1], markersize=4)
    share = inside[show].mean()
    ax.set_title(f"Inside: {share:.1%} of the targets (orange: outside)", loc="left", fontsize=10)
    ax.set_xlabel("row")
    ax.set_ylabel("target, and its interval")
    return ax


def experts():
    """Draw whom the learner believes while the stream changes its ways."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(ROWS, 2))
    third = ROWS // 3
    t = np.arange(ROWS)
    steps = np.where((t >= third) & (t < 2 * third), 0.1, 0.0)[:, None] * rng.normal(size=X.shape)
    y = (X * (1.0 + np.cumsum(steps, axis=0))).sum(axis=1)
    y[2 * third :] = 3 * np.sin(2 * X[2 * third :, 0]) + X[2 * third :, 1] ** 2
    y += 0.3 * rng.normal(size=ROWS)
    model = DFOPRegressor()
    groups = {
        "linear, slow (mu to .001)": lambda e: e.features == "linear" and _slow(e),
        "linear, fast or walking": lambda e: e.features == "linear" and not _slow(e),
        "curved or trees": lambda e: e.features != "linear",
    }
    shares = []
    for start in range(0, ROWS, STEP):
        model.partial_fit(X[start : start + STEP], y[start : start + STEP])
        now = model.experts_
        shares.append([sum(e.weight for e in now if member(e)) for member in groups.values()])
    # The weights jump with every row: a mean over 200 rows shows where they go.
    kernel = np.ones(200 // STEP) / (200 // STEP)
    smooth = np.array([np.convolve(s, kernel, mode="valid") for s in np.array(shares).T])
    at = STEP * (np.arange(smooth.shape[1]) + len(kernel))
    ax = new_axes(9.0, 3.6)
    places = ((1000, 0.75), (3300, 0.75), (5000, 1.2))  # of the names, beside their lines
    for name, place, colour, share in zip(groups, places, COLOURS, smooth, strict=False):
        ax.plot(at, share, color=colour, linewidth=1.5)
        ax.annotate(name, place, color=colour, ha="center")
    for change, what in ((0, "steady"), (third, "weights walk"), (2 * third, "curved")):
        if change:
            ax.axvline(change, color=GREY, linestyle=":", linewidth=1)
        ax.annotate(what, (change, 1.05), xycoords=("data", "axes fraction"), color=GREY)
    ax.axhline(0, color=GREY, linewidth=0.6)
    ax.set_xlabel("row")
    ax.set_ylabel("weight in the prediction")
    return ax


def _slow(expert):
    return expert.walk == 0 and expert.forgetting <= 1e-3


if __name__ == "__main__":
    mpl.use("agg")
    for draw in (drift, intervals, experts):
        draw().figure.savefig(HERE / f"{draw.__name__}.png", dpi=110)
