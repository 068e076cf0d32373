"""Labels that come in batches: `partial_fit(..., late=True)`."""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor, evaluate
from model_state import everything

SETTINGS = [{}, {"features": "linear"}, {"features": "linear", "lags": 2}, {"forgetting": 0.01}]


def rows_and_targets(kind, n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X @ [1.0, -1.0, 0.5] + np.repeat(rng.normal(size=n // 10), 10)
    y = {
        "number": score,
        "numbers": np.c_[score, -score],
        "two": np.where(score > 0, "up", "down"),
        "four": np.digitize(score, [-1.0, 0.0, 1.0]),
    }[kind]
    return X, y


def model_of(kind, parameters):
    return (DFOPRegressor if kind.startswith("number") else DFOPClassifier)(**parameters)


def first(kind, y):
    return {} if kind.startswith("number") else {"classes": np.unique(y)}


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", ["number", "numbers", "two", "four"])
def test_a_row_whose_label_is_the_next_to_come_is_not_late(kind, parameters):
    X, y = rows_and_targets(kind, 120)
    one, other = model_of(kind, parameters), model_of(kind, parameters)
    for t in range(len(X)):
        one.partial_fit(X[t : t + 1], y[t : t + 1], **first(kind, y))
        other.partial_fit(X[t : t + 1], y[t : t + 1], late=True, **first(kind, y))
    assert everything(one) == everything(other)


@pytest.mark.parametrize("kind", ["number", "two", "four"])
def test_a_single_filter_without_lags_knows_no_late(kind):
    X, y = rows_and_targets(kind)
    one, other = model_of(kind, {"forgetting": 0.01}), model_of(kind, {"forgetting": 0.01})
    one.partial_fit(X, y)
    other.partial_fit(X, y, late=True)
    assert everything(one) == everything(other)


@pytest.mark.parametrize("kind", ["number", "two", "four"])
def test_lags_are_the_labels_known_before_the_batch(kind):
    """A lag that is the same for all rows of a batch teaches as a column of the same numbers."""
    X, y = rows_and_targets("two" if kind == "two" else "number")
    numbers = np.where(y == "up", 1.0, -1.0) if kind == "two" else y
    one, other = (DFOPRegressor(0.01, lags=lags) for lags in (1, 0))
    last = 0.0
    for start in range(0, 300, 50):
        part = slice(start, start + 50)
        one.partial_fit(X[part], numbers[part], late=True)
        other.partial_fit(np.c_[np.full(50, last), X[part]], numbers[part])
        last = numbers[part][-1]
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-9)


def test_weights_of_rows_count_as_ever():
    X, y = rows_and_targets("number")
    weight = np.random.default_rng(1).integers(0, 3, 300)
    one, other = DFOPRegressor(features="linear"), DFOPRegressor(features="linear")
    for start in range(0, 300, 60):
        part = slice(start, start + 60)
        one.partial_fit(X[part], y[part], sample_weight=weight[part])
        other.partial_fit(X[part], y[part], sample_weight=weight[part], late=True)
    mine, theirs = one._model.engine, other._model.engine
    for k in range(len(mine.experts)):
        for a, b in zip(mine.coefficients(k), theirs.coefficients(k), strict=True):
            assert a.tobytes() == b.tobytes()


def test_the_monitor_sees_what_was_predicted_before_the_batch():
    """All of the first batch were predicted as 0: errors are the labels themselves."""
    X, y = rows_and_targets("number")
    model = DFOPRegressor(features="linear").partial_fit(X, y, late=True)
    interval = np.ravel(model.predict_interval(X[:1], 0.9))
    assert (interval.max() - interval.min()) / 2 >= np.quantile(np.abs(y), 0.85)


def sticky(rng, n):
    """The last label tells most of the next one; the features tell something of each."""
    y = np.cumsum(rng.random(n) < 0.02) % 2
    return y[:, None] + rng.normal(scale=1.2, size=(n, 4)), y


def test_the_last_label_is_not_believed_when_it_is_not_known():
    X, y = sticky(np.random.default_rng(2), 6000)
    right = {}
    for late in (False, True):
        model, hits = DFOPClassifier(features="linear"), []
        for start in range(0, len(y), 250):
            part = slice(start, start + 250)
            if start:
                hits.append(model.predict(X[part]) == y[part])
            model.partial_fit(X[part], y[part], classes=[0, 1], late=late)
        right[late] = np.mean(hits)
    assert right[True] > right[False] + 0.02


@pytest.mark.parametrize("slope", [0.01, 0.1, 1.0, -0.1])
def test_a_trend_goes_on_while_labels_are_under_way(slope):
    rng = np.random.default_rng(3)
    n, t = 8000, np.arange(8000)
    X = np.c_[t / 1000, rng.normal(size=(n, 2))]
    noise = 0.7 * rng.normal(size=n)
    y = slope * t + X[:, 1] + noise
    result = evaluate(DFOPRegressor(), (X, y), label_batch=1000)
    for start in range(1000, n, 1000):  # in every batch but the first, which nobody can predict
        error = (result.predictions - y)[start : start + 1000]
        assert np.sqrt(np.mean(error**2)) <= 2.0 * 0.7


def test_in_the_first_batch_it_does_not_matter_how_labels_are_cut():
    """Rows that came before the first label are predicted once more while labels come."""
    rng = np.random.default_rng(4)
    X, keys = rng.normal(size=(90, 2)), range(90)
    y = X[:, 0] + 0.1 * np.arange(90)
    whole, single = DFOPRegressor(), DFOPRegressor()
    for model in (whole, single):
        model.predict_pending(X[:70], keys[:70])
    whole.learn_pending(keys[:50], y[:50])
    for key in keys[:50]:
        single.learn_pending([key], y[key : key + 1])
    np.testing.assert_array_equal(whole.predict(X[70:]), single.predict(X[70:]))
    for model in (whole, single):  # rows that still wait were predicted again, too
        model.learn_pending(keys[50:70], y[50:70])
    np.testing.assert_array_equal(whole.predict(X[70:]), single.predict(X[70:]))


def test_labels_in_batches_are_those_of_calls():
    """`evaluate` gives rows and labels as one would who predicts 40 and then learns them."""
    X, y = rows_and_targets("two")
    result = evaluate(DFOPClassifier(features="linear"), (X, y), label_batch=40, batch=70)
    model, told = DFOPClassifier(features="linear"), []
    for start in range(0, 300, 40):
        keys = range(start, min(start + 40, 300))
        told.append(model.predict_pending(X[start : start + 40], keys, classes=["down", "up"]))
        model.learn_pending(keys, y[start : start + 40])
    assert (result.predictions == np.concatenate(told)).all()
    assert result.known.tolist() == [t // 40 * 40 for t in range(300)]


@pytest.mark.parametrize("lags", [0, 2])
def test_a_late_batch_may_bring_a_class(lags):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(90, 2)), rng.integers(0, 3, 90)
    y[[40, 75, 76]] = 5, 4, 7
    model = DFOPClassifier(features="linear", lags=lags)
    for start in range(0, 90, 30):
        part, first = slice(start, start + 30), {"classes": "open"} if not start else {}
        model.partial_fit(X[part], y[part], late=True, **first)
    assert model.classes_.tolist() == [0, 1, 2, 4, 5, 7]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
