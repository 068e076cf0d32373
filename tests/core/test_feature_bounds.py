"""A bank may draw in features that are far from all that was seen of them."""

import pickle

import numpy as np
import pytest
from bounds_oracle import OracleBounds
from hypothesis import given
from hypothesis import strategies as st

from dfop.core import Bank, restore_bank

LINEAR = [("linear", 0.0, 0)]
EXPERTS = [(0, 0.0, 0.0), (0, 0.1, 0.0), ("quick_forest", 0.0, 0.0), ("additive", 0.0, 0.0)]
NOW, NO_LABEL, PREDICTED_ONLY = 0.0, -np.inf, np.inf


def bank(features, *, bounded):
    return Bank(
        features, [("number", 1)], LINEAR, EXPERTS, True, 30.0, True, np.inf, bounded=bounded
    )


def stream(seed, n=400, d=3):
    """Columns of every size, with values that are wild for once, often, and from a row on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d) + rng.normal(size=d)
    y = X @ (rng.normal(size=d) / np.abs(X).max(axis=0)) + 0.1 * rng.normal(size=n)
    wild = rng.random((n, d)) < rng.choice([0.0, 0.003, 0.1], d)
    X[wild] *= 10.0 ** rng.uniform(1, 12, wild.sum())
    X[n // 2 :, 0] += rng.choice([0.0, 1e5])
    X[: n // 4, -1] = rng.choice([0.0, 1.0])
    return X, y[:, np.newaxis]


def drawn_in(X, ages):
    oracle, rows = OracleBounds(X.shape[1]), []
    for row, age in zip(X.tolist(), ages, strict=True):
        rows.append(oracle.draw_in(row))
        if age != PREDICTED_ONLY:
            oracle.learn(row)
    return np.array(rows), oracle


def learned(model, X, Y, ages, ends=()):
    out = np.empty(Y.shape)
    for start, end in zip([0, *ends], [*ends, len(X)], strict=True):
        model.learn(X[start:end], Y[start:end], np.ones(1), ages[start:end], out[start:end])
    return out


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 400))
def test_experts_see_what_the_oracle_drew_in(seed, cut):
    X, Y = stream(seed)
    rng = np.random.default_rng(seed)
    ages = rng.choice([NOW, NO_LABEL, PREDICTED_ONLY], len(X), p=[0.8, 0.1, 0.1])
    rows, oracle = drawn_in(X, ages)
    bounded, plain = bank(3, bounded=True), bank(3, bounded=False)
    expected = learned(plain, rows, Y, ages)
    np.testing.assert_array_equal(learned(bounded, X, Y, ages, [cut]), expected)
    state = bounded.state()
    for field in ("low", "high", "room"):
        np.testing.assert_array_equal(state[f"bounds/{field}"], getattr(oracle, field))
    for name, values in plain.state().items():
        np.testing.assert_array_equal(state[name], values, err_msg=name)

    wild = 1e3 * X[:50]
    ahead, said = np.empty((50, 1)), np.empty((50, 1))
    bounded.predict(wild, ahead)
    plain.predict(np.array([oracle.draw_in(row) for row in wild.tolist()]), said)
    np.testing.assert_array_equal(ahead, said)


def test_a_column_that_has_moved_for_good_is_believed_after_some_doublings_of_the_room():
    X, Y = np.random.default_rng(1).uniform(size=(300, 1)), np.zeros((300, 1))
    X[0], X[1], X[200:] = 0.0, 1.0, 2.0**20
    model = bank(1, bounded=True)
    learned(model, X[:219], Y[:219], np.zeros(219))
    assert model.state()["bounds/high"] == 1.0
    # 2**20 - 1 ranges away: 3 * 2**18 of them are too few, 3 * 2**19 are enough
    learned(model, X[219:220], Y[219:220], np.zeros(1))
    assert model.state()["bounds/high"] == 2.0**20


def test_the_bounds_are_kept():
    X, Y = stream(3)
    whole, half = bank(3, bounded=True), bank(3, bounded=True)
    expected = learned(whole, X, Y, np.zeros(400))
    learned(half, X[:150], Y[:150], np.zeros(150))
    for copy in (pickle.loads(pickle.dumps(half)), restored(half, half.state())):
        assert copy.bounded
        after = learned(copy, X[150:], Y[150:], np.zeros(250))
        np.testing.assert_array_equal(after, expected[150:])


def restored(model, state):
    return restore_bank(
        3, [("number", 1)], LINEAR, EXPERTS, True, 30.0, True, np.inf, state, bounded=True
    )


@pytest.mark.parametrize(
    ("field", "value"), [("low", 1e3), ("room", 1.0), ("rows", 11.0), ("high", np.nan)]
)
def test_bounds_that_cannot_be_are_refused(field, value):
    X, Y = stream(4)
    model = bank(3, bounded=True)
    learned(model, X[:, :], Y, np.zeros(400))
    state = model.state()
    state[f"bounds/{field}"] = np.full_like(state[f"bounds/{field}"], value)
    if field == "low":
        state["bounds/high"] = np.full(3, 1.0)
    with pytest.raises(ValueError, match=f"bounds/{field}"):
        restored(model, state)


def test_columns_that_come_later_were_always_0():
    X, Y = stream(5)
    X[:200, 2] = 0.0
    always, grown = bank(3, bounded=True), bank(2, bounded=True)
    learned(always, X, Y, np.zeros(400))
    learned(grown, np.ascontiguousarray(X[:200, :2]), Y[:200], np.zeros(200))
    grown.add_features(1)
    after = learned(grown, X[200:], Y[200:], np.zeros(200))
    for name in ("low", "high", "room"):
        np.testing.assert_array_equal(
            grown.state()[f"bounds/{name}"], always.state()[f"bounds/{name}"]
        )
    assert np.isfinite(after).all()
