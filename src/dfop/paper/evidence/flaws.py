"""The algorithm as printed: it predicts a row after learning it, and its update diverges."""

from typing import Any

import numpy as np

from dfop.classifier import DFOPClassifier
from dfop.paper.run import Run

from .section import Line, Section, deviation

LEAK_FACTORS = (0.001, 0.01, 0.1, 0.3)
LEAK_FEATURES, LEAK_ROWS = 10, 2_000
UPDATE_FEATURES, UPDATE_ROWS, UPDATE_MU = 20, 1_000, 0.01
FAR = 50.0
"""An error of the weights at which the update has diverged; the true weights have length 1."""


def guess_coin(mu: float, seed: int) -> dict[str, float]:
    """Score DFOP on labels that nobody can predict, before and after it learns each of them.

    Parameters
    ----------
    mu : float
        Forgetting factor.
    seed : int
        Of rows and labels.

    Returns
    -------
    dict
        Shares of right answers.

    Examples
    --------
    >>> share = guess_coin(0.3, seed=0)
    >>> 0.45 < share["before"] < 0.55, share["after"] > 0.99
    (True, True)
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(LEAK_ROWS, LEAK_FEATURES))
    y = rng.choice([-1, 1], size=LEAK_ROWS)
    model = DFOPClassifier(mu, cap=None).partial_fit(X[:1], y[:1], classes=[-1, 1])
    before = after = 0
    for t in range(1, LEAK_ROWS):
        row, label = X[t : t + 1], y[t : t + 1]
        before += int(model.predict(row)[0] == label[0])
        model.partial_fit(row, label)
        after += int(model.predict(row)[0] == label[0])
    return {"before": before / (LEAK_ROWS - 1), "after": after / (LEAK_ROWS - 1)}


def follow_update(seed: int, printed: bool) -> dict[str, Any]:
    """Run Algorithm 1 on well excited data: as printed, or with the mu put back.

    Parameters
    ----------
    seed : int
        Of the data.
    printed : bool
        Whether the denominator is the printed ``1 - mu + x'Px``, else ``1 - mu + mu x'Px``.

    Returns
    -------
    dict
        The row after which the weights are far off (None: they never are), and the error after
        the last row unless they are.

    Examples
    --------
    >>> follow_update(seed=0, printed=True)["far_at"] < 500
    True
    >>> right = follow_update(seed=0, printed=False)
    >>> right["far_at"], right["error"] < 0.1
    (None, True)
    """
    mu, d = UPDATE_MU, UPDATE_FEATURES
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(UPDATE_ROWS, d))
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    y = X @ w + 0.1 * rng.normal(size=UPDATE_ROWS)
    P, learned = np.eye(d), np.zeros(d)
    error = 1.0
    for t, (x, target) in enumerate(zip(X, y, strict=True), 1):
        Px = P @ x
        denominator = 1 - mu + (x @ Px if printed else mu * (x @ Px))
        P = (P - mu * np.outer(Px, Px) / denominator) / (1 - mu)
        learned = learned + mu * P @ x * (target - learned @ x)
        error = float(np.linalg.norm(learned - w))
        if error > FAR:
            return {"far_at": t, "error": None}
    return {"far_at": None, "error": error}


def label_leak(run: Run) -> Section:
    """Score the printed order of learning and predicting on coin-toss labels.

    Parameters
    ----------
    run : Run
        Where finished work is kept.

    Returns
    -------
    Section

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> run = Run(Path(tempfile.mkdtemp()), quick=True, jobs=1)
    >>> label_leak(run).rows[-1][2]  # the largest mu, learning first
    '100.0'
    """
    cells = [{"mu": mu, "seed": seed} for mu in LEAK_FACTORS for seed in range(run.trials)]
    size = {"rows": LEAK_ROWS, "features": LEAK_FEATURES}
    done = run.each("evidence leak", guess_coin, cells, size)
    rows, lines = [], []
    for mu in LEAK_FACTORS:
        fields = [f"{mu:g}"]
        for when, method in (("before", "predict, then learn"), ("after", "learn, then predict")):
            shares = 100 * np.array(
                [r[when] for c, r in zip(cells, done, strict=True) if c["mu"] == mu]
            )
            fields.append(f"{shares.mean():.1f}")
            lines.append(
                Line(
                    "leak", "coin toss", "generated", f"{method}, mu={mu:g}", "accuracy, %",
                    len(shares), float(shares.mean()), deviation(shares),
                )
            )  # fmt: skip
        rows.append(fields)
    return Section(
        "Predicting a row after learning it",
        f"Accuracy in percent on coin-toss labels, {LEAK_ROWS:,} rows of {LEAK_FEATURES} Gaussian "
        f"features, mean of {run.trials} seeds. Nobody can do better than 50; the printed "
        "algorithm learns first.",
        ["mu", "predict, then learn (here)", "learn, then predict (printed)"],
        rows,
        lines,
    )


def divergence(run: Run) -> Section:
    """Run the printed update and the corrected one on the same data.

    Parameters
    ----------
    run : Run
        Where finished work is kept.

    Returns
    -------
    Section

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> run = Run(Path(tempfile.mkdtemp()), quick=True, jobs=1)
    >>> [fields[:2] for fields in divergence(run).rows]
    [["1 - mu + x'Px (printed)", '2 of 2'], ["1 - mu + mu x'Px", '0 of 2']]
    """
    cells = [{"seed": s, "printed": p} for p in (True, False) for s in range(run.trials)]
    size = {"rows": UPDATE_ROWS, "features": UPDATE_FEATURES, "mu": UPDATE_MU}
    done = run.each("evidence update", follow_update, cells, size)
    rows, lines = [], []
    for printed, name in ((True, "1 - mu + x'Px (printed)"), (False, "1 - mu + mu x'Px")):
        mine = [r for c, r in zip(cells, done, strict=True) if c["printed"] == printed]
        far = np.array([r["far_at"] for r in mine if r["far_at"] is not None], dtype=float)
        errors = np.array([r["error"] for r in mine if r["error"] is not None], dtype=float)
        rows.append(
            [
                name,
                f"{len(far)} of {len(mine)}",
                f"{far.min():.0f} to {far.max():.0f}" if len(far) else "-",
                f"{errors.mean():.3f}" if len(errors) else "-",
            ]
        )
        for measure, values in (("row of divergence", far), ("final error", errors)):
            if len(values):
                lines.append(
                    Line(
                        "update", "linear, no drift", "generated", name, measure, len(values),
                        float(values.mean()), deviation(values),
                    )
                )  # fmt: skip
    return Section(
        "The printed update",
        f"Algorithm 1 on {UPDATE_ROWS:,} rows of {UPDATE_FEATURES} Gaussian features, a fixed "
        f"concept of length 1, noise .1, mu = {UPDATE_MU:g}, P0 = I, {run.trials} seeds. Diverged: "
        f"weights more than {FAR:g} from the true ones.",
        ["denominator", "diverged", "at row", "error at the end"],
        rows,
        lines,
    )
