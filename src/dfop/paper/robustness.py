"""Figure 4: robustness, the accuracy over the worst accuracy, summed over the streams."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import printed
from .classification import scores
from .run import Run, table
from .scores import printed_ratios
from .settings import CLASSIFICATION, SEVEN

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def robustness(run: Run) -> None:
    """Draw robustness as stacked bars; does the classification trials if they are not done.

    Parameters
    ----------
    run : Run
        Files ``robustness.csv``, ``robustness.md`` and the picture go into its folder.
    """
    result, sources = scores(run)
    streams = [s.name for s in CLASSIFICATION if s.name in sources]
    own = [s for s in streams if not sources[s].startswith("stand-in")] or streams
    ours, paper = result.robustness(own, SEVEN), printed_ratios(own)
    whole = result.robustness(streams, SEVEN).sum(axis=0)
    everything = printed_ratios([s.name for s in CLASSIFICATION]).sum(axis=0)
    run.write_csv(
        "robustness",
        ["stream", "method", "robustness", "paper_robustness"],
        [
            [stream, method, f"{ours[s, m]:.4f}", f"{paper[s, m]:.4f}"]
            for s, stream in enumerate(own)
            for m, method in enumerate(SEVEN)
        ],
    )
    order = np.argsort(-ours.sum(axis=0))
    columns = (everything, paper.sum(axis=0), ours.sum(axis=0), whole)
    rows = [[SEVEN[m], *(f"{sums[m]:.2f}" for sums in columns)] for m in order]
    run.write_markdown(
        "robustness",
        "Robustness",
        [
            "Accuracy divided by the worst accuracy among the seven methods, summed over streams: "
            "the more the better.",
            table(
                ["method", "paper, 20 streams", f"paper, our {len(own)}", f"ours, {len(own)}",
                 f"ours with stand-ins, {len(streams)}"],
                rows,
            ),
            f"The {len(own)}: {', '.join(own)}.",
            "![Robustness](robustness.png)",
        ],
    )  # fmt: skip
    run.save("robustness", lambda: _picture(own, ours[:, order], paper[:, order], order))


def _picture(streams: Sequence[str], ours: Any, paper: Any, order: Any) -> "Figure":
    from .figures import COLOURS, PAPER, panels

    figure, (ax,) = panels(1, 1, 12, 4.6)
    y = np.arange(len(order))
    left = np.zeros(len(order))
    synthetic = {s.name for s in CLASSIFICATION if s.name in printed.periods()}
    for s, stream in enumerate(streams):
        colour = COLOURS[5] if stream in synthetic else COLOURS[4]
        ax.barh(y, ours[s], left=left, color=colour, edgecolor="white", height=0.7)
        ax.annotate(
            stream, (left[0] + ours[s, 0] / 2, -0.45), rotation=55, fontsize=8, ha="left",
            va="bottom", annotation_clip=False,
        )  # fmt: skip
        left = left + ours[s]
    totals = paper.sum(axis=0)
    ax.plot(totals, y, "D", color=PAPER, markeredgecolor="white", markersize=8, zorder=3)
    for at, total, theirs in zip(y, left, totals, strict=True):
        end = max(total, theirs)
        ax.annotate(
            f"{total:.2f}  (paper {theirs:.2f})", (end, at), xytext=(9, 0),
            textcoords="offset points", va="center",
        )  # fmt: skip
    ax.set_yticks(y, [SEVEN[m] for m in order])
    ax.set_ylim(len(order) - 0.5, -2.0)
    ax.set_xlim(0, 1.17 * max(left.max(), totals.max()))
    ax.set_xlabel(
        "sum of accuracy / worst accuracy on the stream; blue: synthetic, yellow: real; "
        "diamond: the paper's sum over the same streams"
    )
    ax.set_title(f"Robustness over {len(streams)} streams", loc="left")
    return figure
