"""The table of forgetting periods: which mu is best, and what the change interval suggests."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dfop.classifier import DFOPClassifier
from dfop.evaluation import compare

from . import printed
from .run import Run, table
from .settings import find
from .supply import supply

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRID = (
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1,
    0.2,
)  # fmt: skip
NEAR = 0.1
"""Within so many points of the best accuracy a mu counts as good."""


def search(run: Run, name: str, progress: Callable[..., None]) -> dict[str, Any] | None:
    """Score every mu of the grid on one stream.

    Parameters
    ----------
    run : Run
        Where finished trials are kept.
    name : str
        The stream, as the paper prints it.
    progress : callable
        Gets the trials done and how many there are.

    Returns
    -------
    dict or None
        What the table says of the stream; None if it could not be had.
    """
    supplied = supply(run, find(name))
    if supplied is None:
        return None
    comparison = compare(
        {f"{mu:g}": DFOPClassifier(mu, cap=None) for mu in GRID},
        {name: supplied.rows},
        trials=run.trials,
        jobs=run.jobs,
        resume=run.record("forgetting", name),
        progress=progress,
    )
    accuracy = 100 * comparison.mean[0]
    good = [mu for mu, value in zip(GRID, accuracy, strict=True) if value >= accuracy.max() - NEAR]
    edges = [0, *supplied.rows.changes, len(supplied.rows)]
    line = printed.periods()[name]
    interval = float(np.median(np.diff(edges)))
    best = GRID[int(accuracy.argmax())]
    return {
        "stream": name,
        "source": supplied.source,
        "paper_T0": line.T0,
        "T0": round(interval),
        "paper_mu": line.mu,
        "best_mu": best,
        "good_from": good[0],
        "good_to": good[-1],
        "paper_product": line.mu * line.T0,
        "product": best * interval,
        "accuracy_at_paper_mu": float(accuracy[GRID.index(line.mu)]),
        "accuracy_at_best_mu": float(accuracy.max()),
        "curve": accuracy,
    }


def forgetting(run: Run) -> None:
    """Write the table of forgetting periods and draw it.

    Parameters
    ----------
    run : Run
        Files ``forgetting.csv``, ``forgetting-grid.csv``, ``forgetting.md`` and the picture go
        into its folder.
    """
    names = [n for n in printed.periods() if not run.only or n in run.only]
    work = [run.rows(printed.sizes()[name].rows) for name in names]
    found = []
    for at, name in enumerate(names):
        progress = run.part(f"forgetting: {name}", sum(work[:at]), work[at], sum(work))
        progress(0, 1)
        line = search(run, name, progress)
        if line is not None:
            found.append(line)
    run.tell("forgetting", sum(work), sum(work))
    keys = [key for key in found[0] if key != "curve"]
    run.write_csv("forgetting", keys, [[line[key] for key in keys] for line in found])
    run.write_csv(
        "forgetting-grid",
        ["stream", "mu", "accuracy"],
        [
            [line["stream"], mu, f"{value:.4f}"]
            for line in found
            for mu, value in zip(GRID, line["curve"], strict=True)
        ],
    )
    rows = [
        [
            _label(line),
            f"{line['paper_T0']:,} / {line['T0']:,}",
            f"{line['paper_mu']:g} / {line['best_mu']:g}",
            f"{line['good_from']:g} to {line['good_to']:g}",
            f"{line['paper_product']:.3g} / {line['product']:.3g}",
            f"{line['accuracy_at_paper_mu']:.2f}",
            f"{line['accuracy_at_best_mu']:.2f}",
        ]
        for line in found
    ]
    header = ["stream", "T0: paper / stream", "mu: paper / best", f"mu within {NEAR:g} points"]
    header += ["mu T0: paper / best", "accuracy at the paper's mu, %", "at the best mu, %"]
    run.write_markdown(
        "forgetting",
        "Forgetting",
        [
            "T0 is the number of rows between two changes, mu the paper's forgetting factor. Best: "
            f"the highest mean accuracy of {run.trials} trials among {len(GRID)} values of mu "
            f"from {GRID[0]:g} to {GRID[-1]:g}, plain recursion.",
            table(header, rows),
            "The printed T0 of SEA (10,000) and hyperplane (9,000) are not those of the streams "
            "(12,500 and 10,000). 1CSurr has steps of about 547 rows; its nominal 600 lose the "
            "rows that fall on the other class.",
        ],
    )
    run.save("forgetting", lambda: _picture(found))


def _label(line: dict[str, Any]) -> str:
    stand_in = line["source"].startswith("stand-in")
    return f"{line['stream']} (stand-in)" if stand_in else str(line["stream"])


def _picture(found: list[dict[str, Any]]) -> "Figure":
    from .figures import GREY, OURS, PAPER, log_scale, panels

    figure, (ax,) = panels(1, 1, 8.5, 1.4 + 0.32 * len(found))
    y = np.arange(len(found))
    low, high = ([line[key] for line in found] for key in ("good_from", "good_to"))
    ax.hlines(y, low, high, color=OURS, linewidth=6, alpha=0.25)
    ax.plot([1 / line["T0"] for line in found], y, "|", color=GREY, markersize=12, mew=2)
    paper = [line["paper_mu"] for line in found]
    ax.plot(paper, y, "o", color=PAPER, markerfacecolor="white", markersize=9)
    ax.plot([line["best_mu"] for line in found], y, "o", color=OURS, markersize=5)
    log_scale(ax)
    ax.set_yticks(y, [_label(line) for line in found])
    ax.set_ylim(len(found) - 0.3, -1.2)
    ax.set_xlabel("forgetting factor mu per row (log scale)")
    ax.grid(axis="x", color="0.9")
    for x, text, colour in (
        (0.01, "| 1/T0", GREY),
        (0.16, "○ mu of the paper", PAPER),
        (0.42, f"● best mu, bar: within {NEAR:g} points of it", OURS),
    ):
        ax.annotate(text, (x, 0.985), xycoords="axes fraction", color=colour, va="top")
    ax.set_title(
        "Forgetting: the mu of the paper, the best mu, and one over the interval of change",
        loc="left",
        fontsize=11,
    )
    return figure
