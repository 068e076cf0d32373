"""The sum of one curve per column: against its formulas, and the promises every expert keeps."""

import numpy as np
import pytest
from additive_oracle import OracleAdditive
from expert_state import bits

from dfop.core import Bank

EXPERTS = [("additive", 0.0, 0.0)]
CASES = {
    "numbers": [("number", 1), ("number", 1)],
    "two classes": [("margin", 1)],
    "three classes": [("one_hot", 3)],
}


def bank_of(features, targets):
    return Bank(features, targets, [], EXPERTS, True, 30.0, True, np.inf)


def learn(bank, X, Y, elapsed=1.0, age=0.0):
    X, Y = np.ascontiguousarray(X), np.ascontiguousarray(Y)
    out = np.empty(Y.shape)
    bank.learn(X, Y, np.atleast_1d(elapsed), np.atleast_1d(age), out)
    return out


def said(bank, X):
    """What the expert says by itself."""
    out = np.empty((1, len(X), bank.outputs))
    bank.predict_each(np.ascontiguousarray(X), out)
    return out[0]


def stream(case, n=700, d=4):
    """Whole numbers, a wandering column, one that begins late, and one that never does."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d)) * 2
    X[:, 0] = rng.integers(0, 12, n)
    X[:, 1] += np.linspace(0, 9, n)
    X[: n // 4, 2] = 0.0
    X[:, 3] = 5.0
    score = np.where(X[:, 0] % 3 == 1, 2.0, -1.0) + np.abs(X[:, 2])
    if case == "numbers":
        Y = 300 + np.column_stack([score, -score * 1e-3]) + 0.1 * rng.normal(size=(n, 2))
    elif case == "two classes":
        Y = np.where(score > 1, 1.0, -1.0)[:, None]
    else:
        Y = np.eye(3)[np.digitize(score, [0, 1.5])]
    return X, Y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_it_is_what_its_formulas_say(case, weighted):
    X, Y = stream(case, 400)
    n, d = X.shape
    rng = np.random.default_rng(1)
    elapsed, age = np.ones(n), np.zeros(n)
    if weighted:
        elapsed = rng.choice([0.25, 1.0, 3.0], n)
        age = rng.choice([0.0, np.inf, -np.inf], n, p=[0.8, 0.1, 0.1])
    bank, oracle = bank_of(d, CASES[case]), OracleAdditive(d, Y.shape[1])
    for t in range(n):
        expected = oracle.predict(X[t])
        np.testing.assert_allclose(
            said(bank, X[t : t + 1])[0], expected, rtol=1e-9, atol=1e-9, err_msg=f"row {t}"
        )
        learn(bank, X[t : t + 1], Y[t : t + 1], elapsed[t], age[t])
        if np.isfinite(age[t]):
            oracle.learn(X[t], Y[t], elapsed[t])
        if age[t] != np.inf:
            oracle.see(X[t])
    assert max(oracle.counts()) > 24
    assert min(oracle.counts()) == 1


def test_it_learns_a_sum_of_curves():
    """To the noise: the mean squared error of the last rows is near the variance of the noise."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(20_000, 3))
    y = np.where(X[:, 0] > 0.25, 5.0, 0.0) + 3 * np.abs(X[:, 1]) + 0.5 * rng.normal(size=len(X))
    bank = bank_of(3, [("number", 1)])
    out = learn(bank, X, y[:, None])[:, 0]
    noise, curves = 0.25, np.var(y) - 0.25
    assert np.mean((out - y)[-5000:] ** 2) < noise + 0.05 * curves
    assert np.mean((out - y)[200:1000] ** 2) < noise + 0.25 * curves


@pytest.mark.parametrize("case", CASES)
def test_nothing_depends_on_how_rows_are_cut_into_calls(case):
    X, Y = stream(case, 900)
    rng = np.random.default_rng(3)
    elapsed = rng.integers(1, 4, len(X)).astype(float)
    age = np.where(rng.random(len(X)) < 0.1, np.inf, 0.0)
    whole, cut = (bank_of(4, CASES[case]) for _ in range(2))
    at_once = learn(whole, X, Y, elapsed, age)
    pieces, start = [], 0
    while start < len(X):
        part = slice(start, start := start + int(rng.integers(1, 60)))
        pieces.append(learn(cut, X[part], Y[part], elapsed[part], age[part]))
    assert np.vstack(pieces).tobytes() == at_once.tobytes()
    assert bits(cut) == bits(whole)


@pytest.mark.parametrize("case", CASES)
def test_it_goes_on_from_its_state(case):
    X, Y = stream(case)
    bank, restored = (bank_of(4, CASES[case]) for _ in range(2))
    learn(bank, X[:500], Y[:500])
    restored.restore(bank.state())
    assert learn(restored, X[500:], Y[500:]).tobytes() == learn(bank, X[500:], Y[500:]).tobytes()
    assert bits(restored) == bits(bank)


@pytest.mark.parametrize("values", range(2, 33))
def test_bins_that_are_drawn_as_they_were_change_nothing(values):
    rng = np.random.default_rng(values)
    x = rng.integers(0, values, 1024)
    X, Y = x[:, np.newaxis] + 0.0, rng.normal(size=(values, 1))[x]
    bank, every = bank_of(1, [("number", 1)]), np.arange(values)[:, np.newaxis] + 0.0
    learn(bank, X[:-1], Y[:-1])
    before = said(bank, every)
    learn(bank, X[-1:], Y[-1:], age=-np.inf)  # no label: nothing is learned but bins
    np.testing.assert_array_equal(said(bank, every), before)


@pytest.mark.parametrize("begin", [0, 3])
def test_a_column_that_comes_later_is_one_that_was_always_0(begin):
    X, Y = stream("numbers")
    X[:300, begin:] = 0.0
    always, late = bank_of(4, CASES["numbers"]), bank_of(begin, CASES["numbers"])
    learn(always, X[:300], Y[:300])
    learn(late, X[:300, :begin], Y[:300])
    late.add_features(4 - begin)
    assert learn(late, X[300:], Y[300:]).tobytes() == learn(always, X[300:], Y[300:]).tobytes()
    assert bits(late) == bits(always)


def test_outputs_come_and_go_as_if_they_had_been_0():
    X, Y = stream("three classes")
    Y[:300, 2] = 0.0
    always, grown = bank_of(4, [("one_hot", 3)]), bank_of(4, [("number", 1), ("one_hot", 2)])
    learn(always, X[:300], Y[:300])
    learn(grown, X[:300], np.column_stack([X[:300, 0], Y[:300, :2]]))
    grown.add_outputs(1)
    grown.drop_first_target()
    learn(always, X[300:], Y[300:])
    learn(grown, X[300:], Y[300:])
    assert said(grown, X).tobytes() == said(always, X).tobytes()


def test_it_has_room_for_so_many_outputs():
    """Those beyond are 0, whether they were announced or the room went to columns that came."""
    d, outputs = 100, 40  # 2^17 weights, 40 for each column and one for the constant
    room = 2**17 // (1 + 40 * d)
    assert 2 < room < outputs
    rng = np.random.default_rng(4)
    X, labels = rng.normal(size=(400, d)), np.arange(400) % outputs
    always, wider = bank_of(d, [("one_hot", outputs)]), bank_of(60, [("one_hot", outputs)])
    for bank in (always, wider):
        learn(bank, X[:, : 60 if bank is wider else d], np.eye(outputs)[labels])
    wider.add_features(40)
    for bank in (always, wider):
        predicted = said(bank, X)
        assert predicted[:, :room].any(axis=0).all()
        assert not predicted[:, room:].any()


def test_wild_labels_leave_finite_weights():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(2000, 3)), rng.choice([-1e150, 1.0, 1e150], (2000, 1))
    bank = bank_of(3, [("number", 1)])
    assert np.isfinite(learn(bank, X, y)).all()
    assert np.isfinite(bank.state()["expert 0/weights"]).all()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("bins", 2.5, "no whole number"),
        ("bins", 33.0, "bins"),
        ("variances", 0.0, "variances"),
        ("weights", np.nan, "weights"),
    ],
)
def test_a_state_it_cannot_have_is_refused(field, value, message):
    X, Y = stream("numbers", 100)
    bank = bank_of(4, CASES["numbers"])
    learn(bank, X, Y)
    state, before = bank.state(), bits(bank)
    state[f"expert 0/{field}"] = np.array(state[f"expert 0/{field}"])
    state[f"expert 0/{field}"].flat[0] = value
    with pytest.raises(ValueError, match=message):
        bank.restore(state)
    assert bits(bank) == before


def test_it_does_not_forget():
    with pytest.raises(ValueError, match="an additive model does not forget"):
        Bank(2, [("number", 1)], [], [("additive", 0.1, 0.0)], True, 30.0, True, np.inf)
