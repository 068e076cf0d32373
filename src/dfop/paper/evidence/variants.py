"""Other settings of methods whose settings the paper does not give, and what the cap does."""

import numpy as np
from numpy.typing import NDArray

from dfop.baselines import AdditiveExpert, FixedSVM, WindowSVM
from dfop.classifier import DFOPClassifier
from dfop.evaluation import compare
from dfop.paper import printed
from dfop.paper.regression import source
from dfop.paper.run import Run, unconverged_is_known
from dfop.paper.settings import REGRESSION, find
from dfop.paper.supply import supply

from .section import Section, lines_of

SVM_STREAMS = ("hyperplane", "UG-2C-5D", "Luxembourg", "Electricity")
"""Where SVM-win is farthest from the paper."""
SVM_ROWS = 8_000
WINDOWS = (50, 100)
CAPACITIES = (5, 10, 20)
THRESHOLDS = (0.05, 0.1)
FACTORS = (0.001, 0.01, 0.1)


def svm_windows(run: Run) -> Section:
    """Try two kernels and two windows of SVM-win.

    Parameters
    ----------
    run : Run
        Where finished trials are kept.

    Returns
    -------
    Section
    """
    # A linear machine refitted for every row is SVM-fix with batches of one row.
    models = {f"RBF {window}": WindowSVM(window) for window in WINDOWS} | {
        f"linear {window}": FixedSVM(batch_size=1, window=window) for window in WINDOWS
    }
    rows, lines = [], []
    for name in SVM_STREAMS:
        supplied = supply(run, find(name))
        if supplied is None:
            continue
        skip = max(0, (len(supplied.rows) - SVM_ROWS) // 2)
        with unconverged_is_known():
            comparison = compare(
                models,
                {name: supplied.rows[skip : skip + SVM_ROWS]},
                trials=1,
                share=1.0,
                jobs=run.jobs,
                resume=run.record("evidence", "svm", name),
            )
        lines += lines_of(comparison, "SVM-win", supplied.source, "accuracy, %")
        paper = printed.scores("classification")[name, "SVM-win"].mean
        rows.append([name, f"{paper:.2f}", *(f"{100 * mean:.2f}" for mean in comparison.mean[0])])
    return Section(
        "SVM-win: kernel and window",
        f"Accuracy in percent over the {SVM_ROWS:,} rows in the middle of the stream (all if there "
        "are fewer), read once. The classification table has the RBF kernel and 50 rows.",
        ["stream", "paper", *models],
        rows,
        lines,
    )


def additive_experts(run: Run) -> Section:
    """Try capacities, thresholds and both ways of pruning of AddExp.C on the hyperplane.

    Parameters
    ----------
    run : Run
        Where finished trials are kept.

    Returns
    -------
    Section

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> run = Run(Path(tempfile.mkdtemp()), quick=True, jobs=1)
    >>> [fields[:2] for fields in additive_experts(run).rows]
    [['the weakest', '0.05'], ['the weakest', '0.1'], ['the oldest', '0.05'], ['the oldest', '0.1']]
    """
    stream = REGRESSION[0]
    found = source(run, stream)
    assert found is not None  # the hyperplane is generated
    ways = [(prune, tau) for prune in ("weakest", "oldest") for tau in THRESHOLDS]
    models = {
        _expert_name(prune, tau, most): AdditiveExpert(
            tau=tau, max_experts=most, prune=prune, fit_intercept=False
        )
        for prune, tau in ways
        for most in CAPACITIES
    }
    comparison = compare(
        models,
        {stream.name: found[0]},
        trials=run.trials,
        share=found[1],
        jobs=run.jobs,
        resume=run.record("evidence", "addexp", stream.name),
    )
    mean = dict(zip(comparison.models, 100 * comparison.mean[0], strict=True))
    rows = [
        [f"the {prune}", f"{tau:g}"]
        + [f"{mean[_expert_name(prune, tau, most)]:.3f}" for most in CAPACITIES]
        for prune, tau in ways
    ]
    paper = printed.scores("regression")[stream.name, "AddExp.C"].mean
    return Section(
        "AddExp.C on the hyperplane",
        f"Mean squared error x 100, mean of {run.trials} trials (beta = .5, gamma = .1); printed: "
        f"{paper:.3f}. An expert is added after an error of at least tau; who is dropped when "
        "there are too many, and what is too many, matters. The regression table has at most 20, "
        "the weakest dropped, tau = .05.",
        ["dropped", "tau", *(f"at most {most}" for most in CAPACITIES)],
        rows,
        lines_of(comparison, "AddExp.C", "generated", "MSE x 100"),
    )


def _expert_name(prune: str, tau: float, most: int) -> str:
    return f"{prune} of {most} dropped, tau={tau:g}"


def _spread(values: NDArray[np.float64]) -> str:
    return f"{values.mean():.2f} ({values.min():.2f} to {values.max():.2f})"


def cap_on_electricity(run: Run) -> Section:
    """Compare plain and capped forgetting on a stream with features that stand still.

    Parameters
    ----------
    run : Run
        Where finished trials are kept.

    Returns
    -------
    Section
        Without rows if there is no file.
    """
    name = "Electricity"
    supplied = supply(run, find(name))
    rows, lines = [], []
    if supplied is not None:
        models = {
            f"{kind} mu={mu:g}": DFOPClassifier(mu, cap=cap)
            for mu in FACTORS
            for kind, cap in (("plain", None), ("capped", DFOPClassifier().cap))
        }
        comparison = compare(
            models,
            {name: supplied.rows},
            trials=run.trials,
            jobs=run.jobs,
            resume=run.record("evidence", "cap", name),
        )
        lines = lines_of(comparison, "cap", supplied.source, "accuracy, %")
        scores = dict(zip(comparison.models, 100 * comparison.scores[0], strict=True))
        for mu in FACTORS:
            plain, capped = (scores[f"{kind} mu={mu:g}"] for kind in ("plain", "capped"))
            rows.append([f"{mu:g}", *map(_spread, (plain, capped, capped - plain))])
    return Section(
        "The cap on Electricity",
        f"Accuracy in percent from {run.trials} starts (random 80 % of the stream): mean, least to "
        "largest. Three features stand still for 17,423 rows: plain forgetting then loses all "
        "certainty about their weights, and what becomes of it depends on the start. The gain is "
        "that of the same start.",
        ["mu", "plain", "capped", "gain"],
        rows,
        lines,
    )
