"""Figure 2: accumulated accuracy with several forgetting factors."""

from typing import TYPE_CHECKING, Any

import numpy as np

from dfop.classifier import DFOPClassifier
from dfop.evaluation import evaluate

from .run import Run, table
from .settings import find
from .supply import supply

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STREAMS = ("SEA", "hyperplane", "2CDT", "UG-2C-2D")
"""The paper does not name its four streams; these are ours."""
FACTORS = (0.001, 0.01, 0.0, 0.0001, 0.1, 0.5)
POINTS = 300


def sensitivity(run: Run) -> None:
    """Draw accumulated accuracy for several mu, and write where it ends.

    Parameters
    ----------
    run : Run
        Files ``sensitivity.csv``, ``sensitivity.md`` and the picture go into its folder.
    """
    found: dict[str, Any] = {}
    for at, name in enumerate(STREAMS):
        run.tell(f"sensitivity: {name}", at, len(STREAMS))
        supplied = supply(run, find(name))
        assert supplied is not None  # all four can be generated
        n = len(supplied.rows)
        points = np.unique(np.linspace(min(100, n - 1), n - 1, POINTS).astype(int))
        lines = {
            mu: 100
            * evaluate(DFOPClassifier(mu, cap=None), supplied.rows).curve("accumulated")[points]
            for mu in FACTORS
        }
        found[name] = (points + 1, lines, supplied.rows.changes)
    run.tell("sensitivity", len(STREAMS), len(STREAMS))
    run.write_csv(
        "sensitivity",
        ["stream", "mu", "rows", "accumulated_accuracy"],
        [
            [name, mu, t, f"{value:.3f}"]
            for name, (points, lines, _) in found.items()
            for mu, values in lines.items()
            for t, value in zip(points, values, strict=True)
        ],
    )
    ends = [
        [name] + [f"{found[name][1][mu][-1]:.2f}" for mu in sorted(FACTORS)] for name in STREAMS
    ]
    worse = [name for name in STREAMS if found[name][1][0.5][-1] < found[name][1][0.0][-1]]
    run.write_markdown(
        "sensitivity",
        "Sensitivity to mu",
        [
            "Accumulated accuracy in percent, AA(t) = share of the first t rows predicted right, "
            "at the end of the stream; mu = 0 is RLS.",
            table(["stream", *(f"mu = {mu:g}" for mu in sorted(FACTORS))], ends),
            f"The paper says that mu = 0.5 is even much worse than RLS. In our run it is below "
            f"RLS on {', '.join(worse) if worse else 'none'} of these.",
            "![Accumulated accuracy over time](sensitivity.png)",
        ],
    )
    run.save("sensitivity", lambda: _picture(found))


def _picture(found: dict[str, Any]) -> "Figure":
    from .figures import curves, panels

    figure, axes = panels(2, 2, 13, 7.2)
    for ax, (name, (points, lines, changes)) in zip(axes, found.items(), strict=True):
        named = [("mu = 0 (RLS)" if mu == 0 else f"mu = {mu:g}", v) for mu, v in lines.items()]
        every = np.concatenate([values[len(values) // 50 :] for _, values in named])
        curves(
            ax,
            points,
            named,
            title=name,
            ylabel="accumulated accuracy, %",
            ylim=(every.min() - 1, min(100.5, every.max() + 1)),
            changes=changes,
        )
    figure.suptitle(
        "Accuracy for several mu; mu = 0 is RLS, which forgets nothing",
        x=0.01,
        ha="left",
    )
    return figure
