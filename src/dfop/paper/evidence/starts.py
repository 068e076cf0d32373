"""DFOP against RLS from a hundred starts, where ten starts do not give the paper's mark."""

import numpy as np

from dfop.baselines import RLSClassifier
from dfop.classifier import DFOPClassifier
from dfop.evaluation import compare
from dfop.paper.run import Run
from dfop.paper.scores import Floats, Scores
from dfop.paper.settings import find
from dfop.paper.supply import supply

from .section import Line, Section, lines_of

FACTORS = {
    "1CDT": (0.01,),
    "Luxembourg": (0.0002, 0.0005, 0.001, 0.002, 0.003),
    "G-2C-2D": (0.001,),
}
"""The streams on which DFOP does not win, each with the mu that are tried."""
SET = 10
"""Starts of one run of the classification table."""
SETS, QUICK_SETS = 10, 2


def starts(run: Run) -> Section:
    """Compare DFOP and RLS from many starts; the first ten are those of the main table.

    Parameters
    ----------
    run : Run
        Where finished trials are kept.

    Returns
    -------
    Section
    """
    sets = QUICK_SETS if run.quick else SETS
    lines: list[Line] = []
    rows, each = [], []
    for name, factors in FACTORS.items():
        supplied = supply(run, find(name))
        if supplied is None:
            continue
        comparison = compare(
            {"RLS": RLSClassifier()}
            | {f"DFOP mu={mu:g}": DFOPClassifier(mu, cap=None) for mu in factors},
            {name: supplied.rows},
            trials=sets * SET,
            jobs=run.jobs,
            resume=run.record("evidence", "starts", name),
        )
        lines += lines_of(comparison, "starts", supplied.source, "accuracy, %")
        accuracy = dict(zip(comparison.models, 100 * comparison.scores[0], strict=True))
        each += [
            [name, method, start, f"{value:.4f}"]
            for method, values in accuracy.items()
            for start, value in enumerate(values)
        ]
        rls = accuracy["RLS"]
        for mu in factors:
            dfop = accuracy[f"DFOP mu={mu:g}"]
            p, counts = sets_won(dfop, rls, sets)
            rows.append(
                [
                    name,
                    f"{mu:g}",
                    f"{rls.mean():.3f}",
                    f"{dfop.mean():.3f}",
                    f"{np.mean(dfop - rls > 1):.0%}",
                    "/".join(map(str, counts)),
                    f"{p:.2g}",
                ]
            )
    return Section(
        "DFOP against RLS",
        f"Accuracy in percent from {sets * SET} starts, which are {sets} sets of {SET}; the first "
        "set is that of the classification table. Win/tie/loss counts the sets in which DFOP is "
        "significantly better, neither, worse (paired t-test, 95 %); p is of all starts together.",
        ["stream", "mu", "RLS", "DFOP", "RLS over 1 point lower", "sets won/tied/lost", "p"],
        rows,
        lines,
        each,
    )


def sets_won(dfop: Floats, rls: Floats, sets: int) -> tuple[float, tuple[int, int, int]]:
    """Test two methods over all trials, and over each of several sets of them.

    Parameters
    ----------
    dfop, rls : array
        Accuracies, trial by trial.
    sets : int
        Into how many sets of consecutive trials to cut them.

    Returns
    -------
    p_value : float
        Of all trials.
    counts : tuple of int
        Sets that the first method wins, ties and loses.

    Examples
    --------
    >>> ahead = np.array([1.0, 1.1, 0.9])
    >>> sets_won(np.r_[90 + ahead, 90 - ahead], np.full(6, 90.0), sets=2)
    (1.0, (1, 0, 1))
    """
    result = Scores("DFOP")
    names = [f"set {number}" for number in range(sets)]
    for method, values in (("DFOP", dfop), ("RLS", rls)):
        result.trials["all", method] = values
        for name, part in zip(names, np.split(values, sets), strict=True):
            result.trials[name, method] = part
    return result.outcome("all", "RLS")[0], result.counts(names, "RLS")
