"""The paper's classification table, under the trials it was recovered with.

Ten trials; each is a random contiguous 80 % of the stream, its start uniform in the first 20 %,
read once, accuracy over every row. The paper does not state this; it was recovered by matching
its numbers. Here: the columns of the baselines, accuracies in percent as the paper prints them.
"""

import numpy as np
import pytest
from sklearn.base import clone

from dfop.baselines import (
    AdaptiveSVM,
    DynamicWeightedMajority,
    FixedSVM,
    WindowNeighbour,
    WindowSVM,
)

PAPER = {
    "1cdt": {"1NN-win": 99.96, "DWM": 99.90, "SVM-win": 98.71, "SVM-fix": 99.77, "SVM-ada": 99.77},
    "2cdt": {"1NN-win": 94.62, "DWM": 90.21, "SVM-win": 94.86, "SVM-fix": 95.19, "SVM-ada": 95.18},
    "1cht": {"1NN-win": 99.81, "DWM": 99.69, "SVM-win": 98.75, "SVM-fix": 99.63, "SVM-ada": 99.63},
    "2cht": {"1NN-win": 85.69, "DWM": 85.92, "SVM-win": 87.70, "SVM-fix": 89.48, "SVM-ada": 88.89},
    "1csurr": {"1NN-win": 98.12, "DWM": 96.31},
    "ug-2c-2d": {"1NN-win": 93.55, "DWM": 95.59},
    "mg-2c-2d": {"1NN-win": 87.84, "DWM": 90.15},
    "g-2c-2d": {"1NN-win": 99.61, "DWM": 95.82},
}
SIX = ["1cdt", "2cdt", "1csurr", "ug-2c-2d", "mg-2c-2d", "g-2c-2d"]


def accuracy(model, X, y, trials):
    """Mean accuracy in percent over random contiguous 80 % of the stream."""
    rows = int(0.8 * len(X))
    starts = np.random.default_rng(0).integers(0, len(X) - rows + 1, trials)
    shares = []
    for start in starts:
        part = slice(start, start + rows)
        shares.append(np.mean(clone(model).predict_then_learn(X[part], y[part]) == y[part]))
    return 100 * np.mean(shares)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * (n in ("mg-2c-2d", "g-2c-2d"))) for n in SIX],
)
def test_window_neighbour_within_three_tenths_of_the_paper(published, name):
    X, y = published(name)
    ours = accuracy(WindowNeighbour(100), X, y, trials=10 if len(X) < 50_000 else 3)
    assert ours == pytest.approx(PAPER[name]["1NN-win"], abs=0.3)


@pytest.mark.parametrize("name", ["1cdt", "2cdt", "1csurr", "1cht", "2cht"])
def test_dwm_within_one_point_of_the_paper_on_small_streams(published, name):
    ours = accuracy(DynamicWeightedMajority(50), *published(name), trials=10)
    assert ours == pytest.approx(PAPER[name]["DWM"], abs=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIX)
def test_dwm_within_one_point_of_the_paper(published, name):
    ours = accuracy(DynamicWeightedMajority(50), *published(name), trials=10)
    assert ours == pytest.approx(PAPER[name]["DWM"], abs=1.0)


def test_dwm_follows_change_faster_with_period_one(published):
    """87 against 78 on Electricity: the paper's 50 is far from the best setting."""
    X, y = published("electricity")
    slow, fast = (
        np.mean(DynamicWeightedMajority(p).predict_then_learn(X[:8_000], y[:8_000]) == y[:8_000])
        for p in (50, 1)
    )
    assert fast > slow + 0.05


@pytest.mark.parametrize("name", ["1cdt", "2cdt", "1cht", "2cht"])
@pytest.mark.parametrize(
    ("method", "model", "trials", "points"),
    [
        pytest.param("SVM-fix", FixedSVM(), 2, 0.7, id="SVM-fix"),
        pytest.param("SVM-ada", AdaptiveSVM(), 1, 1.2, id="SVM-ada"),
        pytest.param("SVM-win", WindowSVM(), 10, 0.5, id="SVM-win", marks=pytest.mark.slow),
        pytest.param("SVM-fix", FixedSVM(), 10, 0.7, id="SVM-fix-10", marks=pytest.mark.slow),
        pytest.param("SVM-ada", AdaptiveSVM(), 10, 1.2, id="SVM-ada-10", marks=pytest.mark.slow),
    ],
)
def test_svms_near_the_paper(published, name, method, model, trials, points):
    """The batch methods lose about half a point on the first batch, which they have to guess."""
    ours = accuracy(model, *published(name), trials=trials)
    assert ours == pytest.approx(PAPER[name][method], abs=points)
