"""Figure 1: accuracy on fresh rows of the present concept, over time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from dfop.evaluation import holdout as score_on_fresh_rows

from .run import Run, table, unconverged_is_known
from .settings import SEVEN, classifiers, find

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STREAMS = {"SEA": 50_000, "hyperplane": 90_000}
"""The streams of the figure and their rows."""
NEAT = ("DFOP", "DWM", "RLS")
ORDER = (*NEAT, "SVM-fix", "SVM-ada", "1NN-win", "SVM-win")
POINTS = 200
"""Scores per stream."""
SIZE = 1000
"""Fresh rows per score."""


def one_curve(stream: str, method: str, rows: int) -> dict[str, Any]:
    """Learn a generated stream and score the method on fresh rows again and again.

    Parameters
    ----------
    stream, method : str
        Their names.
    rows : int
        The length of the stream; its stages divide it.

    Returns
    -------
    dict
        The rows learned, the accuracy in percent, and where the concept changes.

    Examples
    --------
    >>> curve = one_curve("SEA", "DFOP", 400)
    >>> len(curve["rows"]), curve["changes"]
    (200, [100, 200, 300])
    """
    facts = find(stream)
    assert facts.generate is not None
    source = facts.generate(rows, seed=0)
    model = classifiers(facts)[method]
    with unconverged_is_known():
        result = score_on_fresh_rows(model, source, every=max(1, rows // POINTS), size=SIZE)
    return {
        "rows": result.rows.tolist(),
        "accuracy": (100 * result.scores).tolist(),
        "changes": list(result.changes),
    }


def holdout(run: Run) -> None:
    """Draw holdout accuracy over time on SEA and hyperplane, and write its means.

    Parameters
    ----------
    run : Run
        Files ``holdout.csv``, ``holdout.md`` and the picture go into its folder.
    """
    cells: list[dict[str, Any]] = [
        {"stream": stream, "method": method, "rows": run.rows(rows)}
        for stream, rows in STREAMS.items()
        for method in reversed(ORDER)
    ]
    done = run.each("holdout", one_curve, cells, {"points": POINTS, "size": SIZE})
    found = {
        (cell["stream"], cell["method"]): curve for cell, curve in zip(cells, done, strict=True)
    }
    run.write_csv(
        "holdout",
        ["stream", "method", "rows", "accuracy"],
        [
            [*key, t, f"{value:.2f}"]
            for key, curve in found.items()
            for t, value in zip(curve["rows"], curve["accuracy"], strict=True)
        ],
    )
    rows = [
        [method] + [f"{np.mean(found[stream, method]['accuracy']):.2f}" for stream in STREAMS]
        for method in SEVEN
    ]
    run.write_markdown(
        "holdout",
        "Holdout accuracy",
        [
            f"Accuracy in percent on {SIZE:,} fresh rows of the concept of the next row, mean over "
            f"{POINTS} points in time. Both streams are generated: the weights of the published "
            "hyperplane, which would be needed to draw fresh rows, are not known. The paper gives "
            "the figure without numbers.",
            table(["method", *STREAMS], rows),
            "![Holdout accuracy over time](holdout.png)",
        ],
    )
    run.save("holdout", lambda: _picture(found))


def _picture(found: dict[tuple[str, str], dict[str, Any]]) -> "Figure":
    from .figures import curves, panels

    figure, axes = panels(len(STREAMS), 2, 13, 3.6 * len(STREAMS))
    for i, stream in enumerate(STREAMS):
        for j, methods in enumerate((ORDER, NEAT)):
            lines = [(m, np.array(found[stream, m]["accuracy"])) for m in methods]
            lowest = min(values.min() for _, values in lines)
            highest = max(values.max() for _, values in lines)
            first = found[stream, methods[0]]
            curves(
                axes[2 * i + j],
                np.array(first["rows"]),
                lines,
                title=f"{stream}: {'all seven' if j == 0 else 'the neat version'}",
                ylabel="accuracy on fresh rows, %",
                # Room above for the names of lines that end close together.
                ylim=(lowest - 1, highest + 0.12 * (highest - lowest)),
                changes=first["changes"],
            )
    figure.suptitle(
        "Accuracy on fresh rows of the present concept, which changes at the dotted lines",
        x=0.01,
        ha="left",
    )
    return figure
