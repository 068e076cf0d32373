"""The regression table: four streams, the paper's seven methods and what it leaves out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dfop.evaluation import compare
from dfop.evaluation.sources import ArrayStream
from dfop.streams import Stream, hyperplane_regression

from . import printed
from .run import Run, table
from .scores import MARKS, Scores, beside
from .settings import REGRESSION, REGRESSION_SEVEN, PaperStream, regressors
from .supply import supply

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WARM = 250
"""Rows of the hyperplane after which the paper seems to have begun to score."""


def unit_range(stream: ArrayStream) -> ArrayStream:
    """Scale every feature and the target to [0, 1] over the whole stream.

    It looks ahead: the range is not known while the stream is read. The paper's errors are of
    data scaled so.

    Parameters
    ----------
    stream : ArrayStream
        Rows in memory.

    Returns
    -------
    ArrayStream

    Examples
    --------
    >>> from dfop.rows import Batch
    >>> X, y = np.array([[1.0], [3.0]]), np.array([5.0, 7.0])
    >>> rows = ArrayStream(Batch(X), y, "regression")
    >>> unit_range(rows).X.ravel(), unit_range(rows).y
    (array([0., 1.]), array([0., 1.]))
    """

    def scaled(values: Any) -> Any:
        width = np.ptp(values, axis=0)
        return (values - values.min(axis=0)) / np.where(width > 0, width, 1.0)

    rows = replace(stream.rows, numbers=scaled(stream.X))
    return replace(stream, rows=rows, y=scaled(stream.y))


def _plane(seed: int) -> Stream:
    return hyperplane_regression(seed=seed)


def _short_plane(seed: int) -> Stream:
    return hyperplane_regression(seed=seed)[:WARM]


def source(run: Run, stream: PaperStream) -> tuple[Any, float] | None:
    """Give what the trials on a stream read, and which share of it each.

    Parameters
    ----------
    run : Run
        Is told what had to be left out.
    stream : PaperStream
        One of the regression table.

    Returns
    -------
    tuple or None
        A new hyperplane for every trial and all its rows, or a file in [0, 1] and 80 % of them;
        None without the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> draw, share = source(Run(Path("unused")), REGRESSION[0])
    >>> len(draw(seed=1)), share
    (2000, 1.0)
    """
    if stream.generate is not None:
        return _plane, 1.0
    supplied = supply(run, stream)
    return None if supplied is None else (unit_range(supplied.rows), 0.8)


def scores(run: Run) -> tuple[Scores, dict[str, Any]]:
    """Do all trials, or read those that are done.

    Parameters
    ----------
    run : Run
        Where finished trials are kept, how many there shall be.

    Returns
    -------
    Scores
        Mean squared errors x 100.
    dict of str to float
        Of the hyperplane, by method: the same from row 251 on, one value per trial.
    """
    result = Scores("DFOP", greater_is_better=False)
    late: dict[str, Any] = {}
    for at, stream in enumerate(REGRESSION):
        run.tell(f"regression: {stream.name}", at, len(REGRESSION))
        if run.only and stream.name not in run.only:
            continue
        found = source(run, stream)
        if found is None:
            continue
        rows, share = found
        common: dict[str, Any] = {"trials": run.trials, "share": share, "jobs": run.jobs}
        models = regressors(stream)
        record = run.record("regression", stream.name)
        result.add(compare(models, {stream.name: rows}, resume=record, **common))
        if stream.generate is not None:
            record = run.record("regression", stream.name, "first")
            # The name decides the seeds: these are the first rows of the same trials.
            first = compare(models, {stream.name: _short_plane}, resume=record, **common)
            n = len(_plane(0))
            for m, method in enumerate(models):
                whole = result.trials[stream.name, method]
                late[method] = (n * whole - 100 * WARM * first.scores[0, m]) / (n - WARM)
    run.tell("regression", len(REGRESSION), len(REGRESSION))
    return result, late


def regression(run: Run) -> None:
    """Write the regression table: ours beside the printed one.

    Parameters
    ----------
    run : Run
        Files ``regression.csv``, ``regression-trials.csv``, ``regression.md`` and the picture
        go into its folder.
    """
    result, late = scores(run)
    streams = [s for s in REGRESSION if (s.name, "DFOP") in result.trials]
    known = printed.scores("regression")
    lines, each = [], []
    for stream in streams:
        for method in regressors(stream):
            ours = result.trials[stream.name, method]
            p, mark = result.outcome(stream.name, method)
            cell = known.get((stream.name, method))
            lines.append(
                [
                    stream.name, method, _mu(stream, method), len(ours),
                    f"{ours.mean():.5f}", f"{result.spread(stream.name, method):.5f}",
                    *beside(cell, ours.mean()),
                    "" if method == "DFOP" else f"{p:.4g}", mark, cell.dfop_is if cell else "",
                ]
            )  # fmt: skip
            each += [[stream.name, method, t, f"{v:.6f}"] for t, v in enumerate(ours)]
    run.write_csv(
        "regression",
        ["stream", "method", "mu", "trials", "mse_x100", "std", "paper_mse_x100", "paper_std",
         "difference", "p_value", "dfop_is", "paper_dfop_is"],
        lines,
    )  # fmt: skip
    run.write_csv("regression-trials", ["stream", "method", "trial", "mse_x100"], each)
    run.write_markdown("regression", "Regression", _page(run, result, streams, late))
    run.save("regression", lambda: _picture(result, streams))


def _mu(stream: PaperStream, method: str) -> str:
    if not method.startswith("DFOP"):
        return ""
    mu = stream.best_mu if method == "DFOP best mu" else stream.mu
    return f"{mu:g}"


def _page(
    run: Run, result: Scores, streams: Sequence[PaperStream], late: dict[str, Any]
) -> list[str]:
    known = printed.scores("regression")
    methods = list(regressors(streams[0]))
    rows = []
    for method in methods:
        row = [method]
        for stream in streams:
            mean = result.trials[stream.name, method].mean()
            seven = result.mean([stream.name], REGRESSION_SEVEN)[0]
            field = f"{mean:.3f}±{result.spread(stream.name, method):.3f}"
            field = f"**{field}**" if method in REGRESSION_SEVEN and mean == seven.min() else field
            cell = known.get((stream.name, method))
            mark = MARKS[result.outcome(stream.name, method)[1]]
            row.append(f"{f'{cell.mean:.3f}' if cell else '-'} / {field}{mark}")
        rows.append(row)
    mus = "; ".join(f"{s.name} {s.mu:g} (best {s.best_mu:g})" for s in streams)
    paragraphs = [
        f"Mean squared error x 100, mean ± standard deviation of {run.trials} trials: paper / "
        "ours. ●: DFOP is significantly better, ○: worse (paired t-test, 95 %). **Bold**: best of "
        "the paper's seven methods in our run.",
        table(["method", *(s.name for s in streams)], rows),
        "The paper does not state its protocol. Here: no intercept; every row predicted before "
        "its target is learned and scored; SRU and Debutanizer scaled to [0, 1] over the whole "
        "file, which looks ahead, and a random contiguous 80 % of it per trial; a new hyperplane "
        'per trial. DFOP\'s mu is the one whose error is the printed one, "best mu" the one with '
        f"the least error in hindsight: {mus}.",
        "No-change, which predicts the previous value, is not in the paper.",
    ]
    if late:
        fields = [
            [m, f"{known['hyperplane', m].mean:.3f}±{known['hyperplane', m].std:.3f}"]
            + [
                f"{values.mean():.3f}±{values.std(ddof=1):.3f}"
                for values in (result.trials["hyperplane", m], late[m])
            ]
            for m in REGRESSION_SEVEN
        ]
        paragraphs += [
            f"The hyperplane, scored over all rows and from row {WARM + 1} on:",
            table(["method", "paper", "all rows", f"from row {WARM + 1}"], fields),
        ]
    missing = [s.name for s in REGRESSION if s not in streams]
    if missing and not run.only:
        paragraphs.append(f"Left out, no file: {', '.join(missing)}.")
    return paragraphs


def _picture(result: Scores, streams: Sequence[PaperStream]) -> "Figure":
    from .figures import OURS, PAPER, log_scale, panels, paper_and_ours

    known = printed.scores("regression")
    figure, axes = panels(1, len(streams), 3.1 * len(streams) + 1, 3.4, sharey=True)
    names = [*REGRESSION_SEVEN, "No-change"]
    for ax, stream in zip(axes, streams, strict=True):
        paper = [known[stream.name, m].mean for m in REGRESSION_SEVEN]
        paper_and_ours(ax, names, [*paper, np.nan], result.mean([stream.name], names)[0])
        log_scale(ax)
        ax.set_title(stream.name, loc="left", fontsize=10)
        ax.set_xlabel("mean squared error x 100")
        ax.grid(axis="x", color="0.9")
    axes[0].annotate("○ paper", (0.03, 0.10), xycoords="axes fraction", color=PAPER)
    axes[0].annotate("● ours", (0.03, 0.03), xycoords="axes fraction", color=OURS)
    figure.suptitle("Regression: the paper's errors and ours", x=0.01, ha="left", fontsize=11)
    return figure
