"""Columns that count together: against their formulas, and the promises every expert keeps."""

import numpy as np
import pytest
from expert_state import bits
from interactions_oracle import GATED, SLOTS, OracleInteractions, OracleScale, candidates

from dfop.core import Bank

MU = 0.003
CASES = {
    "numbers": [("number", 1)],
    "two classes": [("margin", 1)],
    "three classes": [("one_hot", 3)],
    "six classes": [("one_hot", 6)],
}


def bank_of(features, targets, mu=MU):
    return Bank(features, targets, [], [("interactions", mu, 0.0)], True, 30.0, True, np.inf)


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
    """Products that change in the middle, a column of two values, one that begins late."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d)) * 2
    X[:, 1] = rng.integers(0, 2, n)
    X[: n // 4, 2] = 0.0
    score = X[:, 0] * (X[:, 1] - 0.3) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n)
    score[n // 2 :] += 2 * X[n // 2 :, 0] * X[n // 2 :, 3]
    if case == "numbers":
        return X, 300 + score[:, np.newaxis]
    if case == "two classes":
        return X, np.where(score > 0.5, 1.0, -1.0)[:, np.newaxis]
    if case == "three classes":
        return X, np.eye(3)[np.digitize(score, [-1, 1])]
    return X, np.eye(6)[np.digitize(score, [-3, -1, 0, 1, 3])]


def chosen(bank, target=0):
    slots = bank.state()[f"expert 0/target {target}/chosen"]
    return [candidates(bank.features)[int(c)] for c in slots if c >= 0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_it_is_what_its_formulas_say(case, weighted):
    X, Y = stream(case, 600)
    n, d = X.shape
    rng = np.random.default_rng(1)
    elapsed, age = np.ones(n), np.zeros(n)
    if weighted:
        elapsed = rng.choice([0.25, 1.0, 3.0], n)
        age = rng.choice([0.0, np.inf, -np.inf], n, p=[0.8, 0.1, 0.1])
    bank, scale = bank_of(d, CASES[case]), OracleScale(d)
    oracle = OracleInteractions(d, Y.shape[1], MU, number=case == "numbers")
    for t in range(n):
        z = scale.standardise(X[t])
        np.testing.assert_allclose(
            said(bank, X[t : t + 1])[0], oracle.predict(z), rtol=1e-6, atol=1e-6, err_msg=f"{t}"
        )
        learn(bank, X[t : t + 1], Y[t : t + 1], elapsed[t], age[t])
        if np.isfinite(age[t]):
            oracle.learn(z, Y[t], elapsed[t])
        elif age[t] < 0:
            oracle.pass_time(elapsed[t])
        if age[t] != np.inf:
            scale.rows.append(X[t])
    state = bank.state()
    expected = [-1 if c is None else c for c in oracle.chosen]
    np.testing.assert_array_equal(state["expert 0/target 0/chosen"], expected)
    np.testing.assert_allclose(state["expert 0/target 0/sums"], oracle.S, rtol=1e-5, atol=1e-5)
    assert sum(c is not None for c in oracle.chosen) > 4


def test_slots_are_taken_from_products_that_count_less():
    """More products than slots one after the other: against the formulas, and the last are held."""
    rng = np.random.default_rng(2)
    d, n = 8, 3000
    X = rng.normal(size=(n, d))
    pairs = [(i, j) for j in range(d) for i in range(j)]
    turns = rng.permutation(len(pairs)).reshape(4, 7)
    y = np.concatenate(
        [
            sum(part[:, pairs[p][0]] * part[:, pairs[p][1]] for p in turn)
            for part, turn in zip(np.array_split(X, 4), turns, strict=True)
        ]
    )
    Y = (y + 0.1 * rng.normal(size=n))[:, np.newaxis]
    bank, oracle = bank_of(d, [("number", 1)]), OracleInteractions(d, 1, MU, number=True)
    scale = OracleScale(d)
    for t in range(n):
        oracle.learn(scale.standardise(X[t]), Y[t])
        scale.rows.append(X[t])
    learn(bank, X, Y)
    expected = [oracle.candidates[c] for c in oracle.chosen if c is not None]
    assert chosen(bank) == expected
    assert len(expected) == SLOTS
    assert oracle.renewed > 0
    now = {(("z", pairs[p][0]), ("z", pairs[p][1])) for p in turns[-1]}
    assert now <= set(expected)


@pytest.mark.parametrize("d", [12, 40])
def test_it_finds_what_counts_together(d):
    """One product among hundreds: the mean squared error comes near the variance of the noise."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(4000, d))
    y = 2 * X[:, d - 1] * X[:, 3] + np.where(X[:, 0] > 0, X[:, 1], -X[:, 1])
    Y = (y + 0.5 * rng.normal(size=len(X)))[:, np.newaxis]
    out = learn(bank_of(d, [("number", 1)], 1e-3), X, Y)
    assert np.mean((out - Y)[-1500:] ** 2) < 0.25 + 0.1 * np.var(y)
    assert np.var(y) > 4


def test_noise_is_given_few_slots():
    """By the bar of a test at about one chance false product in some choices, not all of them."""
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(3000, 10)), rng.normal(size=(3000, 1))
    out = learn(bank_of(10, [("number", 1)], 1e-3), X, Y)
    parameters = 1 + SLOTS + 10  # at most; each costs about mu/2 of the noise
    assert np.mean(out[1500:] ** 2) < 3 * parameters * 1e-3


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


@pytest.mark.parametrize("begin", [0, 3])
def test_a_column_that_comes_later_is_one_that_was_always_0(begin):
    X, Y = stream("numbers")
    X[:300, begin:] = 0.0
    always, late = bank_of(4, CASES["numbers"]), bank_of(begin, CASES["numbers"])
    learn(always, X[:300], Y[:300])
    learn(late, X[:300, :begin], Y[:300])
    late.add_features(4 - begin)
    assert learn(late, X[300:], Y[300:]).tobytes() == learn(always, X[300:], Y[300:]).tobytes()
    assert chosen(late) == chosen(always)


@pytest.mark.parametrize("case", ["three classes", "six classes"])
def test_outputs_come_and_go_as_if_they_had_been_0(case):
    X, Y = stream(case)
    last = Y.shape[1] - 1
    Y[:300, last] = 0.0
    always = bank_of(4, [("one_hot", last + 1)])
    grown = bank_of(4, [("number", 1), ("one_hot", last)])
    learn(always, X[:300], Y[:300])
    learn(grown, X[:300], np.column_stack([X[:300, 0], Y[:300, :last]]))
    grown.add_outputs(1)
    grown.drop_first_target()
    learn(always, X[300:], Y[300:])
    learn(grown, X[300:], Y[300:])
    assert said(grown, X).tobytes() == said(always, X).tobytes()


def test_each_target_has_products_of_its_own_up_to_the_fourth():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(800, 3))
    Y = np.column_stack([X[:, i] * X[:, j] for i, j in [(0, 1), (1, 2), (0, 2), (0, 1), (1, 2)]])
    together = bank_of(3, [("number", 1)] * 5)
    learn(together, X, Y)
    for c in range(4):
        alone = bank_of(3, [("number", 1)])
        learn(alone, X, Y[:, [c]])
        assert said(alone, X).tobytes() == said(together, X)[:, [c]].tobytes()
    assert not said(together, X)[:, 4].any()


def test_gates_of_the_first_columns_are_multiplied():
    d = GATED + 4
    names = candidates(d)
    assert len(names) == bank_of(d, CASES["numbers"]).state()["expert 0/target 0/sums"].shape[1]
    gated = {j for left, (_, j) in names if left is not None and left[0] == "gate"}
    assert gated == set(range(1, GATED))


def test_wild_labels_leave_finite_weights():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(2000, 3)), rng.choice([-1e150, 1.0, 1e150], (2000, 1))
    bank = bank_of(3, [("number", 1)])
    assert np.isfinite(learn(bank, X, y)).all()
    assert all(np.isfinite(values).all() for values in bank.state().values())


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("chosen", 2.5, "no candidate"),
        ("chosen", 1e9, "chosen"),
        ("chosen", 1.0, "one twice"),
        ("squares", -1.0, "squares"),
        ("sums", np.nan, "sums"),
        ("filter/D", 0.0, "filter/D"),
    ],
)
def test_a_state_it_cannot_have_is_refused(field, value, message):
    X, Y = stream("numbers", 100)
    bank = bank_of(4, CASES["numbers"])
    learn(bank, X, Y)
    state, before = bank.state(), bits(bank)
    state[f"expert 0/target 0/{field}"] = np.full_like(state[f"expert 0/target 0/{field}"], value)
    with pytest.raises(ValueError, match=message):
        bank.restore(state)
    assert bits(bank) == before
