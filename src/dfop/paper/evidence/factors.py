"""How the forgetting factors that the paper does not print were chosen."""

from typing import Any

from dfop.classifier import DFOPClassifier
from dfop.evaluation import compare
from dfop.paper import printed
from dfop.paper.forgetting import GRID, NEAR
from dfop.paper.regression import source
from dfop.paper.run import Run
from dfop.paper.settings import CLASSIFICATION, REGRESSION, PaperStream
from dfop.paper.supply import supply
from dfop.regressor import DFOPRegressor

from .section import Section, lines_of

CLASSIFICATION_GRID = (*GRID, 0.3, 0.5)
REGRESSION_GRID = (
    0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5,
)  # fmt: skip
MOST = 18
"""Beyond ``d mu`` = 18 the plain recursion is numerically singular: such mu are left out."""


def real_streams(run: Run) -> Section:
    """Score a grid of mu on the streams of the classification table without a printed mu.

    Parameters
    ----------
    run : Run
        Where finished trials are kept.

    Returns
    -------
    Section
    """
    rows, lines = [], []
    for stream in CLASSIFICATION:
        supplied = None if stream.printed_mu else supply(run, stream)
        if supplied is None:
            continue
        grid = [mu for mu in CLASSIFICATION_GRID if mu * supplied.rows.X.shape[1] <= MOST]
        comparison = compare(
            {f"DFOP mu={mu:g}": DFOPClassifier(mu, cap=None) for mu in grid},
            {stream.name: supplied.rows},
            trials=run.trials,
            jobs=run.jobs,
            resume=run.record("evidence", "mu", stream.name),
        )
        lines += lines_of(comparison, "mu, classification", supplied.source, "accuracy, %")
        accuracy = 100 * comparison.mean[0]
        good = [mu for mu, v in zip(grid, accuracy, strict=True) if v >= accuracy.max() - NEAR]
        rows.append(
            [
                *_fields(stream, "classification", grid, accuracy, int(accuracy.argmax()), 2),
                f"{good[0]:g} to {good[-1]:g}",
            ]
        )
    return Section(
        "Choice of mu: classification",
        f"Mean accuracy in percent of {run.trials} trials, plain recursion, mu from "
        f"{CLASSIFICATION_GRID[0]:g} to {CLASSIFICATION_GRID[-1]:g} (as long as mu times the "
        f"features is at most {MOST}).",
        ["stream", "paper", "mu here", "accuracy", "best mu", "accuracy there",
         f"mu within {NEAR:g} points"],
        rows,
        lines,
    )  # fmt: skip


def regression_streams(run: Run) -> Section:
    """Score a grid of mu on the streams of the regression table.

    Parameters
    ----------
    run : Run
        Where finished trials are kept.

    Returns
    -------
    Section
    """
    rows, lines = [], []
    for stream in REGRESSION:
        found = source(run, stream)
        if found is None:
            continue
        comparison = compare(
            {
                f"DFOP mu={mu:g}": DFOPRegressor(mu, fit_intercept=False, cap=None)
                for mu in REGRESSION_GRID
            },
            {stream.name: found[0]},
            trials=run.trials,
            share=found[1],
            jobs=run.jobs,
            resume=run.record("evidence", "mu", "regression", stream.name),
        )
        origin = "published file" if stream.key else "generated"
        lines += lines_of(comparison, "mu, regression", origin, "MSE x 100")
        error = 100 * comparison.mean[0]
        fields = _fields(stream, "regression", REGRESSION_GRID, error, int(error.argmin()), 3)
        rows.append(fields)
    return Section(
        "Choice of mu: regression",
        f"Mean squared error x 100, mean of {run.trials} trials, plain recursion, mu from "
        f"{REGRESSION_GRID[0]:g} to {REGRESSION_GRID[-1]:g}.",
        ["stream", "paper", "mu here", "error", "best mu", "error there"],
        rows,
        lines,
    )


def _fields(
    stream: PaperStream, table: str, grid: Any, scores: Any, best: int, digits: int
) -> list[str]:
    paper = printed.scores(table)[stream.name, "DFOP"]
    here = scores[list(grid).index(stream.mu)]
    return [
        stream.name,
        f"{paper.mean:.{digits}f}±{paper.std:.{digits}f}",
        f"{stream.mu:g}",
        f"{here:.{digits}f}",
        f"{grid[best]:g}",
        f"{scores[best]:.{digits}f}",
    ]
