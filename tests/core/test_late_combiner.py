"""The two combinations for labels that come late, against their formulas in NumPy."""

import pickle

import numpy as np
import pytest
from expert_state import bits
from late_oracle import OracleLateBank

from dfop.core import Bank

FORGETTING = (0.0, 0.01, 0.1)
CODINGS = [("number", 1), ("margin", 1), ("one_hot", 3)]


def stream(rng, coding, outputs, n):
    """Sticky labels beside what the features tell; numbers have a trend."""
    X = np.c_[rng.normal(size=(n, 2)), np.arange(n) / n]
    score = X[:, :2] @ rng.normal(size=(2, max(outputs, 2)))
    score += 2.0 * np.repeat(rng.normal(size=(n // 20 + 1, score.shape[1])), 20, axis=0)[:n]
    if coding == "number":
        return X, score[:, :1] + 0.1 * np.arange(n)[:, None]
    if coding == "margin":
        return X, np.where(score[:, :1] > 0, 1.0, -1.0)
    return X, np.eye(outputs)[score.argmax(axis=1)]


def bank_of(coding, outputs):
    experts = [(0, mu, 0.0) for mu in FORGETTING]
    return Bank(3, [(coding, outputs)], [("linear", 0.0, 0)], experts, True, 100.0, False, 1e6)


def learn_in_batches(bank, X, Y, ends):
    """Predict all rows of a batch, then learn their labels; return the predictions."""
    out, start = np.empty(Y.shape), 0
    for end in ends:
        part = slice(start, end)
        made = np.empty((end - start, bank.made_size))
        bank.predict_made(X[part], out[part], made)
        bank.learn_made(
            X[part], Y[part], np.ones(1), np.zeros(1), np.empty((end - start, Y.shape[1])), made
        )
        start = end
    return out


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_the_late_combination_is_what_its_formulas_say(coding, outputs, seed):
    rng = np.random.default_rng(seed)
    n = 240
    X, Y = stream(rng, coding, outputs, n)
    ends = [7, 8, 40, 90, 91, 150, 200, 240]
    oracle = OracleLateBank(3, coding, outputs, FORGETTING, 100.0, 1e6)
    expected, start = [], 0
    for end in ends:
        made = [oracle.make(X[t]) for t in range(start, end)]
        expected += [row["both"] for row in made]
        for t in range(start, end):
            oracle.learn(X[t], Y[t], made[t - start])
        start = end
    out = learn_in_batches(bank_of(coding, outputs), X, Y, ends)
    # a class is kept in single precision, and what rounds up in one may round down in the other
    atol = 1e-8 * np.abs(Y).max() if coding == "number" else 1e-5
    np.testing.assert_allclose(out, np.array(expected), atol=atol)


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_a_label_that_comes_before_the_next_row_is_not_late(coding, outputs):
    rng = np.random.default_rng(5)
    X, Y = stream(rng, coding, outputs, 200)
    one, other, out = bank_of(coding, outputs), bank_of(coding, outputs), np.empty(Y.shape)
    one.learn(X, Y, np.ones(1), np.zeros(1), out)
    assert learn_in_batches(other, X, Y, range(1, 201)).tobytes() == out.tobytes()
    assert bits(one) == bits(other)
    assert one.targets == other.targets == [(coding, outputs)]


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_late_labels_do_not_change_what_experts_learn(coding, outputs):
    rng = np.random.default_rng(6)
    X, Y = stream(rng, coding, outputs, 200)
    one, other = bank_of(coding, outputs), bank_of(coding, outputs)
    one.learn(X, Y, np.ones(1), np.zeros(1), np.empty(Y.shape))
    learn_in_batches(other, X, Y, [50, 100, 150, 200])
    first = {name: part for name, part in bits(one).items() if name.startswith("expert")}
    assert first == {name: part for name, part in bits(other).items() if name in first}
    assert other.targets == [(coding, outputs, False, True)]


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_threads_change_nothing(coding, outputs):
    rng = np.random.default_rng(8)
    X, Y = stream(rng, coding, outputs, 1500)
    ends = [400, 401, 900, 1500]
    one, other = bank_of(coding, outputs), bank_of(coding, outputs)
    other.threads = 3
    expected = learn_in_batches(one, X, Y, ends)
    assert learn_in_batches(other, X, Y, ends).tobytes() == expected.tobytes()
    assert bits(one) == bits(other)


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_a_restored_bank_goes_on_with_both(coding, outputs):
    rng = np.random.default_rng(7)
    X, Y = stream(rng, coding, outputs, 300)
    bank = bank_of(coding, outputs)
    learn_in_batches(bank, X[:150], Y[:150], [60, 150])
    again = pickle.loads(pickle.dumps(bank))
    assert bits(again) == bits(bank)
    one, other = (learn_in_batches(some, X[150:], Y[150:], [50, 51, 150]) for some in (bank, again))
    assert one.tobytes() == other.tobytes()
    assert bits(again) == bits(bank)
