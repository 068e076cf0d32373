"""The learners as a user meets them: targets, labels, names, ties, copies of other learners."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

import dfop
from dfop import DFOPClassifier, DFOPRegressor


def test_without_forgetting_it_is_ridge_regression(rng):
    X, y = rng.normal(size=(200, 4)), rng.normal(size=200)
    ours = DFOPRegressor(forgetting=0, fit_intercept=False, prior_variance=0.5).fit(X, y)
    ridge = Ridge(alpha=1 / 0.5, fit_intercept=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, ridge.coef_, rtol=1e-10)


def test_a_random_label_cannot_be_guessed(rng):
    """The printed algorithm predicts after the update and scores 68 % here: a label leak."""
    X = rng.normal(size=(20_000, 10))
    y = rng.integers(0, 2, 20_000)
    right = DFOPClassifier(0.01).predict_then_learn(X, y) == y
    assert abs(right.mean() - 0.5) < 0.02


def test_the_first_prediction_is_the_tie_rule(rng):
    X = rng.normal(size=(3, 2))
    assert DFOPClassifier().predict_then_learn(X, ["b", "a", "b"])[0] == "a"
    assert DFOPClassifier().predict_then_learn(X, [3, 1, 2])[0] == 1
    assert DFOPRegressor().predict_then_learn(X, [5.0, 6.0, 7.0])[0] == 0.0


def test_a_margin_of_exactly_zero_means_the_class_that_was_learned_first():
    model = DFOPClassifier(0.001, fit_intercept=False).fit([[1.0], [-1.0]], ["up", "down"])
    assert model.decision_function([[0.0]]) == 0.0
    assert model.predict([[0.0]]) == "up"


@pytest.mark.parametrize(
    "labels",
    [["x", "y"], [0, 1], [-1, 1], [True, False], [10, 20, 30], ["r", "g", "b", "k"], [0.5, 1.5]],
)
def test_any_kind_of_label(labels, rng):
    k = len(labels)
    at = rng.integers(0, k, 600)
    X = np.eye(k)[at] + 0.05 * rng.normal(size=(600, k))
    y = np.array(labels)[at]
    model = DFOPClassifier(0.01)
    ahead = model.predict_then_learn(X, y, classes=labels)
    assert ahead.dtype == y.dtype
    assert np.mean(ahead[50:] == y[50:]) > 0.99
    assert model.score(X, y) > 0.99
    assert model.classes_.tolist() == sorted(labels)
    p = model.predict_proba(X)
    assert p.shape == (600, k)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p > 0).all()
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


def test_two_classes_among_many_give_the_same_labels_as_the_signed_code(rng):
    """0/1 columns for three classes, one of which never comes, against -1/+1 for two."""
    X = rng.normal(size=(500, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] > 0, "a", "b")
    two = DFOPClassifier(0.02).predict_then_learn(X, y, classes=["a", "b"])
    three = DFOPClassifier(0.02).predict_then_learn(X, y, classes=["a", "b", "c"])
    assert np.mean(two[20:] == three[20:]) == 1.0


def test_probabilities_of_a_linear_probability_model(rng):
    """x is +-1 and the label follows it nine times out of ten: p is known."""
    X = rng.choice([-1.0, 1.0], size=(50_000, 1))
    y = np.where(rng.random(50_000) < 0.9, X[:, 0], -X[:, 0])
    model = DFOPClassifier(0.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[1.0]])[0], [0.1, 0.9], atol=0.02)


@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"]])
def test_probabilities_one_step_ahead_are_those_before_the_label(classes, rng):
    X = rng.normal(size=(100, 2))
    y = rng.choice(classes, 100)
    model, other = DFOPClassifier(0.05), DFOPClassifier(0.05)
    ahead = model.predict_proba_then_learn(X, y, classes=classes)
    other.partial_fit(X[:60], y[:60], classes=classes)
    np.testing.assert_array_equal(ahead[60], other.predict_proba(X[60:61])[0])
    np.testing.assert_array_equal(ahead[0], np.full(len(classes), 1 / len(classes)))


def test_several_outputs_equal_several_models(rng):
    X, Y = rng.normal(size=(300, 3)), rng.normal(size=(300, 5))
    joint = DFOPRegressor(0.05).predict_then_learn(X, Y)
    assert joint.shape == (300, 5)
    for k in range(5):
        alone = DFOPRegressor(0.05).predict_then_learn(X, Y[:, k])
        np.testing.assert_allclose(joint[:, k], alone, rtol=1e-12, atol=1e-14)


def test_several_label_columns_equal_several_classifiers(rng):
    X = rng.normal(size=(300, 3))
    Y = np.c_[X[:, 0] > 0, np.digitize(X[:, 1], [-0.5, 0.5])].astype(int)
    model = DFOPClassifier(0.05)
    joint = model.predict_then_learn(X, Y)
    for k in range(2):
        alone = DFOPClassifier(0.05)
        np.testing.assert_array_equal(joint[:, k], alone.predict_then_learn(X, Y[:, k]))
        np.testing.assert_allclose(model.predict_proba(X)[k], alone.predict_proba(X), atol=1e-12)
    assert [c.tolist() for c in model.classes_] == [[0, 1], [0, 1, 2]]
    assert model.score(X, Y) == np.mean((model.predict(X) == Y).all(axis=1))


def test_fit_forgets_and_partial_fit_goes_on(rng):
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    once = DFOPRegressor(0.1).fit(X, y)
    np.testing.assert_array_equal(DFOPRegressor(0.1).fit(X, -y).fit(X, y).coef_, once.coef_)
    half = DFOPRegressor(0.1).fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    np.testing.assert_array_equal(half.coef_, once.coef_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_and_check_their_names(frame, rng):
    X = frame({"a": rng.normal(size=50), "b": rng.normal(size=50)})
    y = rng.normal(size=50)
    model = DFOPRegressor(0.1).fit(X, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(
        model.predict(X), DFOPRegressor(0.1).fit(X.to_numpy(), y).predict(X.to_numpy())
    )
    before = model.coef_.tobytes()
    with pytest.raises(ValueError, match="unseen at fit time:\n- c"):
        model.partial_fit(frame({"a": [1.0], "c": [2.0]}), [1.0])
    with pytest.raises(ValueError, match="same order"):
        model.partial_fit(frame({"b": [1.0], "a": [2.0]}), [1.0])
    assert model.coef_.tobytes() == before


def test_a_refit_without_names_drops_them(rng):
    X = pd.DataFrame({"a": [1.0, 2.0]})
    model = DFOPRegressor().fit(X, [1.0, 2.0]).fit(X.to_numpy(), [1.0, 2.0])
    assert not hasattr(model, "feature_names_in_")


def test_unfitted_models_say_so():
    with pytest.raises(NotFittedError):
        DFOPRegressor().predict([[1.0]])
    with pytest.raises(AttributeError, match="weights are known once"):
        _ = DFOPRegressor().coef_
    with pytest.raises(AttributeError, match="classes_ is known once"):
        _ = DFOPClassifier().classes_


def test_too_fast_forgetting_for_the_number_of_features_warns(rng):
    X = rng.normal(size=(5, 100))
    with pytest.warns(UserWarning, match=r"d mu = 20.*smaller mu"):
        DFOPRegressor(0.2, fit_intercept=False).fit(X, np.ones(5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DFOPRegressor(0.17, fit_intercept=False).fit(X, np.ones(5))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"forgetting": 1.0}, r"must be in \[0, 1\)"),
        ({"forgetting": -0.1}, r"must be in \[0, 1\)"),
        ({"forgetting": "auto?"}, "is not a rule"),
        ({"forgetting": True}, "is not a rule"),
        ({"prior_variance": 0.0}, "must be a positive number"),
        ({"prior_variance": float("nan")}, "must be a positive number"),
        ({"cap": 0.5}, "at least 1"),
        ({"cap": "high"}, "at least 1"),
    ],
)
def test_impossible_parameters_are_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        DFOPRegressor(**setting).fit([[1.0]], [1.0])


def test_threads_may_share_a_model(rng):
    """Calls on one model wait for each other; the GIL is released while learning."""
    from concurrent.futures import ThreadPoolExecutor

    X, y = rng.normal(size=(2000, 20)), rng.normal(size=2000)
    model = DFOPRegressor(0.0).fit(X, y)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: model.partial_fit(X, y), range(8)))
    serial = DFOPRegressor(0.0).fit(np.tile(X, (9, 1)), np.tile(y, 9))
    np.testing.assert_array_equal(model.coef_, serial.coef_)


def test_other_threads_run_while_a_model_learns(rng):
    """With the GIL held through the call, this thread could not count at all."""
    import threading

    X, y = rng.normal(size=(4000, 300)), rng.normal(size=4000)
    model = DFOPRegressor(0.001)
    thread = threading.Thread(target=model.fit, args=(X, y))
    counted = 0
    thread.start()
    while thread.is_alive():
        counted += 1
    assert counted > 1000


@pytest.mark.parametrize("delay", [0, 3, 2.5])
@pytest.mark.parametrize("forgetting", [0.05, dfop.period("20s")])
def test_a_stream_with_times_is_evaluated_whatever_the_rule(forgetting, delay, rng):
    X = rng.normal(size=(300, 2))
    stream = dfop.streams.Stream.from_arrays(X, X[:, 0], time=np.arange(300.0))
    result = dfop.evaluate(DFOPRegressor(forgetting), stream, delay=delay, batch=50)
    assert result.metrics["R2"] > 0.9


def test_an_error_inside_a_stream_says_which_batch(rng):
    X = rng.normal(size=(300, 2))
    X[250, 1] = np.inf
    with pytest.raises(ValueError, match="infinity at row 50, column 1") as caught:
        dfop.evaluate(DFOPRegressor(), (X, X[:, 0]), batch=100)
    assert caught.value.__notes__ == ["in the batch that begins at row 200 of stream 'data'"]
