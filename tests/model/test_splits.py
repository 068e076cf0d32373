"""However the rows are cut into calls, the predictions and the state are the same bits."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop import DFOPClassifier, DFOPRegressor, period
from dfop.core import Filter


def hostile_rows(rng, n, d):
    """Rows whose scale rises now and then, with zeros, jumps and silent stretches."""
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 3, d)
    X *= rng.random((n, d)) < 0.8
    for _ in range(4):
        X[rng.integers(n), rng.integers(d)] *= 10.0 ** rng.uniform(0, 14)
    X[: n // 3, 0] = 0.0
    return X


def cuts(rng, n, kind):
    if kind == "one at a time":
        return np.arange(1, n)
    if kind == "halves":
        return np.array([n // 2])
    return np.sort(rng.choice(np.arange(1, n), size=min(n - 1, 7), replace=False))


def bits(model):
    state = model._model.engine.state()
    return {name: np.asarray(value).tobytes() for name, value in state.items()}


KINDS = ["one at a time", "halves", "random"]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 20),
    m=st.integers(1, 6),
    kind=st.sampled_from(KINDS),
    mu=st.sampled_from([0.0, 0.001, 0.1, 0.5]),
    extra=st.sampled_from(["none", "weights", "discount", "both", "time"]),
)
def test_any_split_gives_the_same_bits(seed, d, m, kind, mu, extra):
    rng = np.random.default_rng(seed)
    n = 90
    X, Y = hostile_rows(rng, n, d), rng.normal(size=(n, m))
    more = {}
    if extra in ("weights", "both"):
        more["sample_weight"] = rng.integers(0, 3, n) * rng.uniform(0.5, 1.0, n)
    if extra in ("discount", "both"):
        more["discount"] = np.where(rng.random(n) < 0.1, 1e-5, rng.uniform(0.9, 1.0, n))
    if extra == "time":
        more["time"] = np.cumsum(rng.exponential(size=n))
        more["sample_weight"] = rng.integers(0, 3, n)
    rule = period("20 s") if extra == "time" else mu
    whole, split = DFOPRegressor(rule), DFOPRegressor(rule)
    at_once = whole.predict_then_learn(X, Y, **more)
    edges = [0, *cuts(rng, n, kind), n]
    parts = [
        split.predict_then_learn(X[a:b], Y[a:b], **{k: v[a:b] for k, v in more.items()})
        for a, b in itertools.pairwise(edges)
    ]
    assert np.concatenate(parts).tobytes() == at_once.tobytes()
    assert bits(split) == bits(whole)


@pytest.mark.parametrize("d", [40, 260, 300])
def test_any_split_gives_the_same_bits_where_the_triangle_exceeds_the_cache(d):
    rng = np.random.default_rng(d)
    n = 300
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, 5))
    X[150] *= 100.0
    whole, split = DFOPRegressor(0.01), DFOPRegressor(0.01)
    at_once = whole.predict_then_learn(X, Y)
    edges = [0, 1, 2, 7, 8, 9, 31, 150, 151, 152, n]
    parts = [split.predict_then_learn(X[a:b], Y[a:b]) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts).tobytes() == at_once.tobytes()
    assert bits(split) == bits(whole)


@pytest.mark.parametrize("border", [1, 255, 256, 257, 511, 512])
def test_a_row_that_raises_the_scale_may_stand_at_any_border_of_a_chunk(border):
    rng = np.random.default_rng(border)
    X, y = rng.normal(size=(600, 3)), rng.normal(size=600)
    X[border, 1] = 1e9
    whole, rows = DFOPRegressor(0.01), DFOPRegressor(0.01)
    at_once = whole.predict_then_learn(X, y)
    one_by_one = [rows.predict_then_learn(X[t : t + 1], y[t : t + 1])[0] for t in range(600)]
    assert np.array(one_by_one).tobytes() == at_once.tobytes()
    assert bits(rows) == bits(whole)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 12), m=st.integers(1, 6))
def test_predict_before_partial_fit_is_predict_then_learn(seed, d, m):
    rng = np.random.default_rng(seed)
    X, Y = hostile_rows(rng, 60, d), rng.normal(size=(60, m))
    asked, learned = DFOPRegressor(0.05), DFOPRegressor(0.05)
    for model in (asked, learned):
        model.partial_fit(X[:1], Y[:1])
    for t in range(1, 60):
        row = X[t : t + 1]
        before = asked.predict(row)
        asked.partial_fit(row, Y[t : t + 1])
        assert before.tobytes() == learned.predict_then_learn(row, Y[t : t + 1]).tobytes()
    assert bits(asked) == bits(learned)


def test_a_row_of_weight_zero_is_as_if_left_out():
    rng = np.random.default_rng(3)
    X, y = hostile_rows(rng, 200, 4), rng.normal(size=200)
    keep = rng.random(200) < 0.6
    keep[0] = True
    weighted = DFOPRegressor(0.01).partial_fit(X, y, sample_weight=keep.astype(float))
    without = DFOPRegressor(0.01).partial_fit(X[keep], y[keep], sample_weight=np.ones(keep.sum()))
    assert bits(weighted) == bits(without)


def test_a_classifier_predicts_the_same_labels_and_margins_for_any_split():
    rng = np.random.default_rng(4)
    X = hostile_rows(rng, 200, 5)
    y = rng.integers(0, 4, 200)
    whole, split = DFOPClassifier(0.02), DFOPClassifier(0.02)
    at_once = whole.predict_then_learn(X, y, classes=range(4))
    parts = [
        split.predict_then_learn(X[t : t + 1], y[t : t + 1], classes=range(4)) for t in range(200)
    ]
    assert (np.concatenate(parts) == at_once).all()
    assert bits(split) == bits(whole)
    assert whole.decision_function(X).tobytes() == split.decision_function(X).tobytes()


def test_the_one_row_call_of_the_filter_is_the_array_call():
    rng = np.random.default_rng(5)
    X, y = hostile_rows(rng, 300, 6), rng.normal(size=300)
    arrays, rows = (Filter(6, 1, True, 100.0, 1e6) for _ in range(2))
    out = np.empty((300, 1))
    arrays.learn(X, y[:, np.newaxis], np.array([0.99]), np.ones(1), out)
    stepped = [rows.step(X[t], y[t], 0.99) for t in range(300)]
    assert np.array(stepped).tobytes() == out.tobytes()


def test_a_restored_filter_goes_on_with_the_same_bits():
    rng = np.random.default_rng(6)
    X, Y = hostile_rows(rng, 400, 7), rng.normal(size=(400, 2))
    lam = np.where(rng.random(400) < 0.05, 1e-4, 0.95)
    first, going_on = (Filter(7, 2, True, 100.0, 1e6) for _ in range(2))
    out, again = np.empty((400, 2)), np.empty((200, 2))
    first.learn(X[:200], Y[:200], lam[:200], np.ones(1), out[:200])
    going_on.restore(first.state())
    first.learn(X[200:], Y[200:], lam[200:], np.ones(1), out[200:])
    going_on.learn(X[200:], Y[200:], lam[200:], np.ones(1), again)
    assert again.tobytes() == out[200:].tobytes()
