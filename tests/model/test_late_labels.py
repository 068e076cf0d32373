"""A label may come late, in any order or never: the model is the closed form all the same."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closed_form import closed_form, design, weights_of
from dfop import DFOPClassifier, DFOPRegressor, period

EXACT = 1e-10


def expect(model, X, exact):
    reach = np.abs(design(X, model.fit_intercept)).max(axis=0)[:, np.newaxis]
    error = np.abs(weights_of(model) - exact) * reach
    assert error.max() <= EXACT * max(1.0, np.abs(exact * reach).max())


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 5),
    m=st.integers(1, 3),
    how=st.sampled_from(["rows", "discount", "clock"]),
    mixed=st.booleans(),
)
def test_labels_in_any_order_and_some_never_give_the_closed_form(seed, d, m, how, mixed):
    rng = np.random.default_rng(seed)
    n = 40
    X = rng.normal(size=(n, d))
    Y = X @ rng.normal(size=(d, m)) + rng.normal(size=(n, m))
    mu = 0.2 / (d + 1)
    lam, extra = np.full(n, 1 - mu), {}
    rule = mu
    if how == "discount":
        lam = rng.uniform(1 - mu, 1.0, n)
        extra["discount"] = lam
    if how == "clock":
        time = np.cumsum(rng.exponential(size=n))
        lam = np.exp(-np.diff(time, prepend=time[0]) * mu)
        rule, extra["time"] = period(f"{1 / mu!r} s"), time
    labelled = rng.random(n) < 0.8
    labelled[0] = True
    at_once = rng.random(n) < 0.3 if mixed else np.zeros(n, bool)
    due = np.arange(n) + rng.integers(0, 15, n)  # the row after which the label is there
    model = DFOPRegressor(rule)
    waiting = []
    for t in range(n):
        now = {name: values[t : t + 1] for name, values in extra.items()}
        if at_once[t] and labelled[t]:
            model.partial_fit(X[t : t + 1], Y[t : t + 1], **now)
        else:
            model.predict_pending(X[t : t + 1], [t], **now)
            if labelled[t]:
                waiting.append(t)
        arrived = [i for i in waiting if due[i] <= t]
        if arrived:
            rng.shuffle(arrived)
            model.learn_pending(arrived, Y[arrived])
            waiting = [i for i in waiting if i not in arrived]
    if waiting:
        model.learn_pending(waiting[::-1], Y[waiting[::-1]])
    expect(model, X, closed_form(X, Y, lam, labelled.astype(float)))
    assert model.pending_ == list(np.flatnonzero(~labelled))
    before = weights_of(model)
    if model.pending_:
        model.forget_pending(model.pending_)
    assert model.pending_ == []
    assert (weights_of(model) == before).all()


def test_a_batch_of_rows_is_predicted_with_the_model_before_it():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    model = DFOPRegressor(0.05).partial_fit(X[:20], y[:20])
    before = model.predict(X[20:])
    assert (model.predict_pending(X[20:], range(10)) == before).all()
    model.learn_pending(range(10), y[20:])
    expect(model, X, closed_form(X, y, 0.95, 1.0))


def test_a_classifier_learns_late_labels_as_if_they_had_been_there():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = DFOPClassifier(0.02)
    first = model.predict_pending(X, range(60), classes=[0, 1, 2])
    assert (first == 0).all()
    order = rng.permutation(60)
    for key in order:
        model.learn_pending([int(key)], [y[key]])
    expect(model, X, closed_form(X, np.eye(3)[y], 0.98, 1.0))


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
@pytest.mark.parametrize("forgetting", ["auto", 0.01])
def test_rows_may_come_before_the_first_label_of_a_classifier(classes, forgetting):
    model = DFOPClassifier(forgetting)
    assert (
        model.predict_pending([[1.0], [2.0]], [0, 1], classes=classes).tolist() == classes[:1] * 2
    )
    assert model.predict_pending([[3.0]], [2]).tolist() == classes[:1]
    model.learn_pending([0, 2], classes[1:] * 2 if len(classes) == 2 else classes[1:])
    assert model.predict_pending([[1.0]], [3]).tolist() == classes[1:2]


@pytest.mark.parametrize(
    "classes", [[[0, 1], [0, 1], [0, 1]], [[0, 1], [0, 1, 2]], [["a", "b", "c"], ["d", "e", "f"]]]
)
def test_classes_of_several_targets_can_be_announced(classes):
    model = DFOPClassifier()
    ahead = model.predict_pending(np.ones((2, 2)), ["x", "y"], classes=classes)
    assert ahead.shape == (2, len(classes))
    labels = np.array([[some[0] for some in classes], [some[-1] for some in classes]])
    model.learn_pending(["x", "y"], labels)
    assert model.predict(np.ones((1, 2))).shape == (1, len(classes))


def test_rows_of_a_data_frame_wait_without_a_warning():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    model = DFOPRegressor()
    model.predict_pending(frame, ["one", "two"])
    model.learn_pending(["two"], [1.0])
    assert model.predict_pending(frame, ["three", "four"]).shape == (2,)


@pytest.mark.parametrize("heavy", [1e4, 1e9, 1e18])
def test_the_age_of_a_pending_row_does_not_drown_in_the_age_of_the_stream(heavy):
    """After so much forgetting that a further row no longer changes the sum of logarithms."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    late, prompt = DFOPRegressor(0.1), DFOPRegressor(0.1)
    for model in (late, prompt):
        model.partial_fit(X[:1], y[:1], sample_weight=[heavy])
        model.partial_fit(X[1:30], y[1:30])
    prompt.partial_fit(X[30:], y[30:])
    late.predict_pending(X[30:], range(10))
    late.learn_pending(range(10), y[30:])
    assert np.abs(weights_of(late) - weights_of(prompt)).max() <= 1e-10


def test_a_label_so_late_that_nothing_is_left_of_it_changes_nothing():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(3, 2)), rng.normal(size=3)
    model = DFOPRegressor(period("1 s"))
    model.predict_pending(X[:1], ["old"], time=[0.0])
    model.partial_fit(X[1:], y[1:], time=[1e6, 1e6])
    before = weights_of(model)
    model.learn_pending(["old"], [1e100])
    assert np.isfinite(weights_of(model)).all()
    assert (weights_of(model) == before).all()
