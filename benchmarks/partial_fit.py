"""Does partial_fit forget? scikit-learn's learners and ours after an abrupt change.

make partial-fit                       the table, as in docs/does-partial-fit-forget.md
python benchmarks/partial_fit.py 20    with 20 seeds instead of one

Rows come ten by ten, predicted before they are learned by `partial_fit`. Ten standard normal
columns, labels by the side of a plane (a tenth of them wrong), numbers by a line with noise of
variance .25. After 5,000 rows the plane and the line are turned over: every weight changes its
sign, so that what was learned is exactly wrong. A learner that forgets is as good again after some
rows; one that counts all rows alike needs 5,000 more to be at zero.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor

from dfop import DFOPClassifier, DFOPRegressor

SEEDS, ROWS, COLUMNS, WRONG, NOISE = 1, 5_000, 10, 0.1, 0.5
BATCH = 10
BEFORE, WINDOWS = 500, ((0, 100), (100, 500), (500, 1_000), (4_000, 5_000))
"""The rows before the change whose score is shown, and those after it."""

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "SGDClassifier()": lambda seed: SGDClassifier(random_state=seed),
    'SGDClassifier(learning_rate="constant", eta0=.01)': lambda seed: SGDClassifier(
        learning_rate="constant", eta0=0.01, random_state=seed
    ),
    "Perceptron()": lambda seed: Perceptron(random_state=seed),
    "PassiveAggressiveClassifier()": lambda seed: PassiveAggressiveClassifier(random_state=seed),
    "MLPClassifier()": lambda seed: MLPClassifier(random_state=seed),
    "GaussianNB()": lambda seed: GaussianNB(),
    "DFOPClassifier(forgetting=0)": lambda seed: DFOPClassifier(forgetting=0),
    "DFOPClassifier(forgetting=.01)": lambda seed: DFOPClassifier(forgetting=0.01),
    "DFOPClassifier()": lambda seed: DFOPClassifier(),
}
REGRESSORS: dict[str, Callable[[int], Any]] = {
    "SGDRegressor()": lambda seed: SGDRegressor(random_state=seed),
    'SGDRegressor(learning_rate="constant", eta0=.01)': lambda seed: SGDRegressor(
        learning_rate="constant", eta0=0.01, random_state=seed
    ),
    "PassiveAggressiveRegressor()": lambda seed: PassiveAggressiveRegressor(random_state=seed),
    "MLPRegressor()": lambda seed: MLPRegressor(random_state=seed),
    "DFOPRegressor(forgetting=0)": lambda seed: DFOPRegressor(forgetting=0),
    "DFOPRegressor(forgetting=.01)": lambda seed: DFOPRegressor(forgetting=0.01),
    "DFOPRegressor()": lambda seed: DFOPRegressor(),
}


def rows(seed: int, *, labels: bool) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows whose plane or line turns over half-way.

    Examples
    --------
    >>> X, y = rows(0, labels=True)
    >>> X.shape, sorted(set(y.tolist()))
    ((10000, 10), [0, 1])
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * ROWS, COLUMNS))
    w = rng.normal(size=COLUMNS)
    signal = X @ (w / np.linalg.norm(w)) * np.where(np.arange(2 * ROWS) < ROWS, 1.0, -1.0)
    if labels:
        return X, ((signal > 0) ^ (rng.random(2 * ROWS) < WRONG)).astype(int)
    return X, signal + NOISE * rng.normal(size=2 * ROWS)


def losses(model: Any, X: np.ndarray, y: np.ndarray, *, labels: bool) -> np.ndarray:
    """Predict and learn in small batches; return what each row cost."""
    given = {"classes": [0, 1]} if labels else {}
    told = np.zeros(len(y))
    for start in range(0, len(y), BATCH):
        part = slice(start, start + BATCH)
        if start:
            told[part] = model.predict(X[part])
        model.partial_fit(X[part], y[part], **given)
    return (told != y).astype(float) if labels else (told - y) ** 2


def line(name: str, make: Callable[[int], Any], seeds: int, *, labels: bool) -> str:
    """Run a learner; return its row of the table: before, then after the change."""
    cost = np.mean(
        [losses(make(seed), *rows(seed, labels=labels), labels=labels) for seed in range(seeds)],
        axis=0,
    )
    parts = [slice(ROWS - BEFORE, ROWS), *(slice(ROWS + a, ROWS + b) for a, b in WINDOWS)]
    means = [float(cost[part].mean()) for part in parts]
    shown = [f"{100 * (1 - m):.1f}" if labels else f"{m:.3f}" for m in means]
    return f"| `{name}` | " + " | ".join(shown) + " |"


def main(seeds: int) -> None:
    """Print both tables."""
    warnings.simplefilter("ignore", FutureWarning)  # of names that scikit-learn will drop
    heads = " | ".join(f"rows {a:,} to {b:,}" for a, b in WINDOWS)
    for labels, learners, what in (
        (True, CLASSIFIERS, "right, %"),
        (False, REGRESSORS, "mean squared error"),
    ):
        mean = "one seed" if seeds == 1 else f"mean of {seeds} seeds"
        print(f"| {what}, {mean} | before the change | {heads} |")
        print("|---|" + "---:|" * (1 + len(WINDOWS)))
        for name, make in learners.items():
            print(line(name, make, seeds, labels=labels), flush=True)
        print()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS)
