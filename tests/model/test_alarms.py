"""Alarms of whole models: what rang, of which kind, and which columns, on every face."""

import sys
from pathlib import Path

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor, from_bytes, river, to_bytes

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))
from changes import CHANGED_AT, INPUTS, NOISES, series  # noqa: E402


def rang(alarms):
    """The first alarm within 50 rows of the change."""
    soon = [a for a in alarms if CHANGED_AT <= a.row < CHANGED_AT + 50]
    return soon[0] if soon else None


def found(family, change, seeds):
    runs = (DFOPRegressor().fit(*series(family, change, seed)).alarms_ for seed in seeds)
    return [rang(alarms) for alarms in runs]


@pytest.mark.parametrize("family", NOISES)
def test_a_jump_rings_and_one_outlier_does_not(family):
    jumps = found(family, "jump 10", range(200, 203))
    assert sum(alarm is not None for alarm in jumps) >= 2
    outliers = found(family, "outlier 20", range(200, 212))  # a few may: test_alarm_cells.py
    assert sum(alarm is not None for alarm in outliers) <= 4


@pytest.mark.parametrize("change", INPUTS)
@pytest.mark.parametrize("family", ["white", "wide"])
def test_changed_inputs_are_told_from_errors_and_named(family, change):
    X, y = series(family, change, seed=200)
    alarms = [a for a in DFOPRegressor().fit(X, y).alarms_ if a.kind == "inputs"]
    assert [CHANGED_AT <= a.row < CHANGED_AT + 50 for a in alarms] == [True]
    assert alarms[0].began >= CHANGED_AT - 16
    assert set(alarms[0].columns) <= {"x0", "x1"}
    assert "x0" in alarms[0].columns


def test_outliers_are_counted():
    X, y = series("white", "outlier 20", seed=3)
    model = DFOPRegressor().fit(X, y)
    assert (model.outliers_, model.alarms_) == (1, [])
    with pytest.raises(AttributeError, match="numbers"):
        DFOPClassifier().fit(X, y > 0).outliers_  # noqa: B018


def test_the_same_alarms_row_by_row_saved_on_the_way_and_by_river():
    X, y = series("walk", "jump 10", seed=1)
    X[1500:, 2] *= 10
    whole = DFOPRegressor().fit(X, y)
    assert len({a.kind for a in whole.alarms_}) > 1
    parts, dicts = DFOPRegressor(), river.DFOPRegressor()
    for start in range(0, len(y), 97):
        parts.partial_fit(X[start : start + 97], y[start : start + 97])
        parts = from_bytes(to_bytes(parts))
    assert parts.alarms_ == whole.alarms_
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        dicts.learn_one({f"x{j}": value for j, value in enumerate(x)}, target)
    assert dicts.alarms_ == whole.alarms_


def test_gaps_and_texts_do_not_ring():
    rng = np.random.default_rng(0)
    X = rng.normal(100, 1, size=(3000, 2)).astype(object)
    X[rng.random(3000) < np.where(np.arange(3000) < 2000, 0.01, 0.6), 0] = None
    X[:, 1] = np.where(np.arange(3000) < 2000, "a", "b")
    model = DFOPRegressor().fit(X, rng.normal(size=3000))
    assert [a for a in model.alarms_ if a.kind == "inputs"] == []
