"""River's own evaluation works with every setting of our River models."""

import datetime as dt
import math

import numpy as np
import pytest
from river import compose, ensemble, evaluate, metrics, preprocessing, stream, utils

from dfop import half_life, period
from dfop.river import DFOPClassifier, DFOPRegressor

SETTINGS = [
    pytest.param(setting, id="-".join(str(value) for value in setting.values()) or "default")
    for setting in [
        {},
        {"features": "linear"},
        {"features": "rff"},
        {"features": "poly"},
        {"lags": 2},
        {"features": "rff", "lags": 1},
        {"fit_intercept": False},
        {"forgetting": 0.0},
        {"forgetting": 0.02},
        {"forgetting": period(50)},
        {"forgetting": half_life(30)},
        {"forgetting": 0.02, "lags": 2},
        {"forgetting": 0.02, "fit_intercept": False},
        {"forgetting": 0.02, "prior_variance": 1.0, "cap": None},
    ]
]
TASKS = ["regression", "two classes", "five classes"]
START = dt.datetime(2026, 1, 1)


def rows(task, n=120):
    """Dicts with text, gaps and features that come and go, and their labels."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n, 3))
    colours = rng.choice(["red", "blue"], size=n)
    signal = numbers @ [1.0, -1.0, 0.0] + (colours == "red")
    if task == "regression":
        labels = signal.tolist()
    elif task == "two classes":
        labels = (signal > 0.5).tolist()
    else:
        labels = [f"class {k}" for k in np.digitize(signal, [-1.0, 0.0, 1.0, 2.0])]
    dicts = [
        {"a": a, "b": None if t % 17 == 3 else b, "colour": colour}
        | ({"late": c} if t > 60 else {})
        for t, ((a, b, c), colour) in enumerate(zip(numbers.tolist(), colours, strict=True))
    ]
    return list(zip(dicts, labels, strict=True))


def make(task, setting):
    return (DFOPRegressor if task == "regression" else DFOPClassifier)(**setting)


def metrics_of(task):
    if task == "regression":
        return metrics.MAE() + metrics.R2()
    return metrics.Accuracy() + metrics.MacroF1()


def by_hand(model, data, metric):
    """Predict, then learn, row after row."""
    for x, y in data:
        ahead = model.predict_one(x)
        if ahead is not None:
            metric.update(y, ahead)
        model.learn_one(x, y)
    return metric


def numbers(metric):
    return [one.get() for one in metric]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("task", TASKS)
def test_progressive_validation_is_predict_then_learn(task, setting):
    found = evaluate.progressive_val_score(rows(task), make(task, setting), metrics_of(task))
    expected = by_hand(make(task, setting), rows(task), metrics_of(task))
    assert numbers(found) == numbers(expected)
    assert all(math.isfinite(value) for value in numbers(found))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("task", TASKS)
def test_steps_come_with_time_memory_and_predictions(task, setting):
    steps = list(
        evaluate.iter_progressive_val_score(
            rows(task),
            make(task, setting),
            metrics_of(task),
            step=25,
            measure_time=True,
            measure_memory=True,
            yield_predictions=True,
        )
    )
    assert [step["Step"] for step in steps] == [25, 50, 75, 100, 120]
    assert all(step["Memory"] > 0 and step["Time"] >= dt.timedelta(0) for step in steps)
    assert all(step["Prediction"] is not None for step in steps[:-1])


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("clock", [False, True])
def test_labels_may_come_late(task, setting, clock):
    data = rows(task)
    moments = {id(x): START + dt.timedelta(hours=t) for t, (x, _) in enumerate(data)}
    late = (
        {"moment": lambda x: moments[id(x)], "delay": dt.timedelta(hours=7)}
        if clock
        else {"delay": 7}
    )
    found = evaluate.progressive_val_score(data, make(task, setting), metrics_of(task), **late)
    model, expected, waiting = make(task, setting), metrics_of(task), {}
    for i, x, y in stream.simulate_qa(data, late.get("moment"), late["delay"], copy=True):
        if y is None:
            waiting[i] = model.predict_one(x)
            continue
        ahead = waiting.pop(i)
        if ahead is not None:
            expected.update(y, ahead)
        model.learn_one(x, y)
    assert numbers(found) == numbers(expected)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("task", TASKS)
def test_metrics_may_roll(task, setting):
    kind = metrics.MAE if task == "regression" else metrics.Accuracy
    rolling = utils.Rolling(kind, window_size=30)
    found = evaluate.progressive_val_score(rows(task), make(task, setting), rolling)
    model, ahead = make(task, setting), []
    for x, y in rows(task):
        ahead.append((y, model.predict_one(x)))
        model.learn_one(x, y)
    expected = kind()
    for y, guess in ahead[-30:]:
        expected.update(y, guess)
    assert found.get() == pytest.approx(expected.get(), rel=1e-9)


@pytest.mark.parametrize("setting", SETTINGS)
def test_probabilities_are_asked_where_a_metric_wants_them(setting):
    found = evaluate.progressive_val_score(
        rows("two classes"), DFOPClassifier(**setting), metrics.LogLoss() + metrics.ROCAUC()
    )
    assert all(math.isfinite(value) for value in numbers(found))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("task", TASKS)
def test_a_model_may_stand_in_a_pipeline(task, setting):
    plain = [({k: v for k, v in x.items() if k in ("a", "late")}, y) for x, y in rows(task)]
    model = compose.Discard("late") | preprocessing.StandardScaler() | make(task, setting)
    found = evaluate.progressive_val_score(plain, model, metrics_of(task), delay=3)
    assert all(math.isfinite(value) for value in numbers(found))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("task", TASKS)
def test_a_model_may_stand_in_an_ensemble(task, setting):
    bag = ensemble.BaggingRegressor if task == "regression" else ensemble.BaggingClassifier
    model = bag(make(task, setting), n_models=2, seed=0)
    found = evaluate.progressive_val_score(rows(task), model, metrics_of(task))
    assert all(math.isfinite(value) for value in numbers(found))


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_row_with_a_weight_is_learned_once_where_weights_are_not_taken(setting):
    data = [(x, y, {"w": 2.0}) for x, y in rows("regression")]
    found = evaluate.progressive_val_score(data, DFOPRegressor(**setting), metrics.MAE())
    expected = by_hand(DFOPRegressor(**setting), rows("regression"), metrics.MAE())
    assert found.get() == expected.get()
