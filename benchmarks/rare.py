"""How well rare events are ranked: labels drawn from a known chance, a few in a hundred to one.

make rare        all of it, to results-rare.md

Measured is the area under the ROC curve of what was told before each label, over all rows but the
first tenth. The optimum is that of the chances with which the labels were drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from dfop import DFOPClassifier

ROWS, SEEDS = 20_000, (1, 2, 3)
CONSTANTS = (-4.0, -5.0, -6.0)
MODELS = {
    "mu=0": lambda: DFOPClassifier(0.0),
    "mu=0, monitor=True": lambda: DFOPClassifier(0.0, monitor=True),
    "default": lambda: DFOPClassifier(),
    '"few"': lambda: DFOPClassifier("few"),
}


def area(p: NDArray[np.float64], y: NDArray[np.bool_]) -> float:
    """Return how often an event was told more likely than a row that is none.

    Examples
    --------
    >>> area(np.array([0.1, 0.4, 0.3]), np.array([False, True, False]))
    1.0
    """
    events = int(y.sum())
    over = rankdata(p)[y].sum() - events * (events + 1) / 2
    return float(over / (events * (len(y) - events)))


def drawn(constant: float, seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return features, log odds and labels."""
    rng = np.random.default_rng([seed, int(-constant)])
    X = rng.normal(size=(ROWS, 4))
    log_odds = constant + 1.5 * X[:, 0] - X[:, 1]
    return X, log_odds, rng.random(ROWS) < 1 / (1 + np.exp(-log_odds))


def lines() -> Iterator[str]:
    """Measure; yield the page."""
    late = slice(ROWS // 10, None)
    yield "# Rare events: how well are they ranked?\n"
    about = f"{ROWS:,} rows of a linear chance, {len(SEEDS)} seeds"
    yield f"`make rare`: {about}, area under the ROC curve.\n"
    yield f"| rate, % | optimum | {' | '.join(MODELS)} |"
    yield "|---" * (2 + len(MODELS)) + "|"
    for constant in CONSTANTS:
        found = []
        for seed in SEEDS:
            X, log_odds, y = drawn(constant, seed)
            told = [make().predict_proba_then_learn(X, y)[:, 1] for make in MODELS.values()]
            areas = [area(p[late], y[late]) for p in (log_odds, *told)]
            found.append([100 * y.mean(), *areas])
        rate, *areas = np.mean(found, axis=0)
        yield f"| {rate:.1f} | " + " | ".join(f"{value:.3f}" for value in areas) + " |"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
