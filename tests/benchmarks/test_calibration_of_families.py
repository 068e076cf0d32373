"""Probabilities of 2 to 100 classes come true, on a seed that no page shows."""

import sys
from pathlib import Path

import numpy as np
import pytest

from dfop import DFOPClassifier

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.append(str(BENCHMARKS))
from calibration import ROWS  # noqa: E402
from families import FAMILIES, make  # noqa: E402


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.labels])
def test_probabilities_of_any_number_of_classes_come_true(name):
    X, y = make(name, ROWS, 3)
    ahead = DFOPClassifier().ahead_then_learn(X, y, classes=np.unique(y))
    sure, right = ahead.probability, ahead.prediction == y
    bins = np.minimum((15 * sure).astype(int), 14)
    assert np.abs(np.bincount(bins, sure - right)).sum() / ROWS < 0.03
