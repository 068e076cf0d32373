"""Whether the default's probabilities come true: generated families of many classes, real streams.

make calibration                                    all of it, to results-calibration.md
python benchmarks/calibration.py letters weather    some families and streams

`DFOP_DATA` names the folder of the paper's streams; without it the families alone are measured.
Every probability is that of the predicted class, told before the row's label. The calibration error
is the mean distance between how sure the model was and how often it was right, over 15 bins. Chance
alone gives the value in the last column: labels drawn with the very probabilities that were told.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from dfop import DFOPClassifier, streams
from dfop.evaluation.sources import in_memory
from dfop.paper.automatic.work import calibration_error
from families import FAMILIES, make

ROWS, SEEDS, MANY = 5_000, (1, 2), 4
STREAMS = (
    "sea", "hyperplane", "1cdt", "2cdt", "1cht", "2cht", "1csurr", "ug-2c-2d", "ug-2c-5d",
    "mg-2c-2d", "g-2c-2d", "chess", "usenet-1", "usenet-2", "luxembourg", "spam", "weather",
    "powersupply", "electricity",
)  # fmt: skip
DRAWS = 20


def measured(X: np.ndarray, y: np.ndarray) -> tuple[int, float, float, float]:
    """Return how many classes there are, accuracy, calibration error, and that of chance alone."""
    classes, places = np.unique(y, return_inverse=True)
    p = DFOPClassifier().predict_proba_then_learn(X, y, classes=classes)
    right = float(np.mean(p.argmax(axis=1) == places))
    return len(classes), right, calibration_error(p, places), by_chance(p.max(axis=1))


def by_chance(sure: np.ndarray) -> float:
    """Return the mean calibration error of predictions that are right exactly as often as told.

    Examples
    --------
    >>> by_chance(np.ones(100))
    0.0
    """
    rng = np.random.default_rng(0)
    told = np.column_stack([sure, np.zeros_like(sure)])
    drawn = [(rng.random(len(sure)) >= sure).astype(np.int64) for _ in range(DRAWS)]
    return float(np.mean([calibration_error(told, label) for label in drawn]))


def line(name: str, X: np.ndarray, y: np.ndarray) -> str:
    """Measure a stream; return its row of the table."""
    count, right, error, chance = measured(X, y)
    return f"| {name} | {len(y):,} | {count} | {100 * right:.1f} | {error:.4f} | {chance:.4f} |"


def many_classes() -> list[str]:
    """Return the families of four classes or more."""
    labelled = [name for name, family in FAMILIES.items() if family.labels]
    return [name for name in labelled if make(name, ROWS, 1)[1].max() + 1 >= MANY]


def main(names: list[str]) -> None:
    """Print the table."""
    print("# Calibration: do probabilities come true?\n")
    print(f"`make calibration`: the default, predict-then-learn, families at {ROWS:,} rows.\n")
    print("| stream | rows | classes | right, % | calibration error | by chance alone |")
    print("|---|---|---|---|---|---|")
    for name in many_classes():
        for seed in SEEDS if not names or name in names else ():
            print(line(f"{name}, seed {seed}", *make(name, ROWS, seed)), flush=True)
    for name in STREAMS if "DFOP_DATA" in os.environ else ():
        if not names or name in names:
            rows = in_memory(streams.load(name))
            print(line(name, np.ascontiguousarray(rows.X), np.asarray(rows.y)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
