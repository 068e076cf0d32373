"""Columns that say nothing take away a little each; no number of columns takes the curves away."""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor

ROWS, SEEDS = 3_000, (1, 2)
COLUMNS = (18, 20, 21, 24)
"""On both sides of 20, above which trees look at some of the columns only."""


def score(face, features, columns, seed):
    """Share of right labels, or of the variance that is explained, in the second half.

    The target is a curve of two columns that no line follows; all further columns are noise.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, max(COLUMNS)))[:, :columns]
    y = (X[:, :2] ** 2).sum(axis=1) + 0.1 * rng.normal(size=ROWS)
    half = ROWS // 2
    if face is DFOPClassifier:
        y = (y < 2 * np.log(2)).astype(int)  # the median of a chi-square of two
        told = face(features=features).predict_then_learn(X, y, classes=[0, 1])
        return np.mean(told[half:] == y[half:])
    told = face(features=features).predict_then_learn(X, y)
    return 1 - np.mean((told - y)[half:] ** 2) / y[half:].var()


@pytest.mark.parametrize("face", [DFOPClassifier, DFOPRegressor])
def test_there_is_no_cliff_at_twenty_columns(face):
    """What curves are worth beside lines; a cliff would leave little or nothing of it."""
    worth = {
        columns: np.mean(
            [score(face, "auto", columns, seed) - score(face, "linear", columns, seed)
             for seed in SEEDS]
        )
        for columns in COLUMNS
    }  # fmt: skip
    assert worth[18] > 0.2
    for narrow, wide in ((18, 20), (20, 21), (21, 24)):
        assert worth[wide] > 0.85 * worth[narrow], worth
