"""No model of the package sees a label before it has predicted its row."""

import inspect

import numpy as np
import pytest
from sklearn.base import is_regressor

import dfop
from dfop import DFOPClassifier, DFOPRegressor, baselines, evaluate, river
from dfop.evaluation import check_honest

BASELINES = [
    pytest.param(kind, id=name)
    for name in baselines.__all__
    if inspect.isclass(kind := getattr(baselines, name))
]
LEARNERS = [
    pytest.param(lambda: DFOPClassifier(0.05), id="DFOPClassifier"),
    pytest.param(lambda: DFOPRegressor(0.05), id="DFOPRegressor"),
    pytest.param(DFOPClassifier, id="DFOPClassifier-auto"),
    pytest.param(DFOPRegressor, id="DFOPRegressor-auto"),
    pytest.param(lambda: DFOPRegressor("few"), id="DFOPRegressor-few"),
    pytest.param(lambda: DFOPRegressor(lags=2), id="DFOPRegressor-lags"),
    pytest.param(lambda: river.DFOPClassifier(0.05), id="river.DFOPClassifier"),
    pytest.param(lambda: river.DFOPRegressor(0.05), id="river.DFOPRegressor"),
    pytest.param(river.DFOPClassifier, id="river.DFOPClassifier-auto"),
    pytest.param(river.DFOPRegressor, id="river.DFOPRegressor-auto"),
    pytest.param(lambda: river.DFOPClassifier(lags=2), id="river.DFOPClassifier-lags"),
]


def predicts_numbers(model):
    return isinstance(model, river.DFOPRegressor) or (
        not isinstance(model, river.DFOPClassifier) and is_regressor(model)
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("delay", [0, 10])
@pytest.mark.parametrize("make", BASELINES + LEARNERS)
def test_labels_that_come_later_change_no_prediction(make, delay, rng):
    model = make()
    # Baselines get late labels from the loop, one by one: one cut shows what there is to see.
    few = delay > 0 and not hasattr(model, "predict_pending")
    X = rng.normal(size=(100, 3))
    y = X @ [1.0, -1.0, 0.5] + 0.2 * rng.normal(size=len(X))
    targets = y if predicts_numbers(model) else np.where(y > 0, "up", "down")
    check_honest(model, (X, targets), delay=delay, cuts=1 if few else 3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", BASELINES + LEARNERS)
def test_on_random_labels_every_model_is_at_chance(make, rng):
    X = rng.normal(size=(3000, 3))
    model = make()
    if predicts_numbers(model):
        y = rng.normal(size=3000)
        assert evaluate(model, (X, y)).metrics["R2"] < 0.01
    else:
        y = rng.integers(0, 2, 3000)
        # 0.05 is more than five standard deviations of the mean of 3000 coins
        assert abs(evaluate(model, (X, y)).metrics["accuracy"] - 0.5) < 0.05


def test_the_list_is_complete():
    assert {"DFOPClassifier", "DFOPRegressor"} <= set(dfop.__all__)
    assert len(BASELINES) == len(baselines.__all__) == 20
