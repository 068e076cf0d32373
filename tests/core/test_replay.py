"""Labels that come late: `replay` does in one call what its parts do one after the other."""

import math

import numpy as np
import pytest
from expert_state import bits

from dfop.core import Bank, Filter

MAPS = [("linear", 0.0, 0), ("fourier", 0.6, 12), ("products", 0.0, 0)]
EXPERTS = [(0, 0.0, 0.0), (0, 0.3, 0.0), (0, 0.0, 0.01), (1, 0.003, 0.0), (2, 0.01, 0.0)]
CODINGS = [("number", 1), ("margin", 1), ("one_hot", 4)]


def rows(rng, n):
    X = rng.normal(size=(n, 3)) * 10.0 ** np.cumsum(0.2 * rng.normal(size=(n, 3)), axis=0)
    X[: n // 3, 1] = 0.0
    X[n // 2 :, 2] *= 1e10
    return X


def targets(rng, n, coding, outputs):
    if coding == "number":
        y = rng.standard_t(2, size=(n, 1))
        y[n // 2 :] *= 1e6  # the range leaps
        return y
    at = rng.integers(0, max(outputs, 2), n)
    return 2.0 * at[:, None] - 1.0 if coding == "margin" else np.eye(outputs)[at]


def late_steps(rng, n, longest):
    """Rows in order, labels `longest` rows late at most and in any order, some of them never."""
    waiting, steps = [], []
    for s in range(n):
        steps.append(s)
        waiting.append(s)
        while waiting and (rng.random() < 0.5 or len(waiting) > longest):
            row = waiting.pop(rng.integers(len(waiting)))
            if rng.random() < 0.9:
                steps.append(~row)
    return np.array(steps)


def at_once(n):
    return np.column_stack([np.arange(n), ~np.arange(n)]).ravel()


def bank_of(coding, outputs):
    return Bank(3, [(coding, outputs)], MAPS, EXPERTS, True, 100.0, True, 1e6)


def room_for(bank, n):
    """Where a bank puts down what its experts made of rows."""
    return np.full((n, bank.made_size), np.nan)


@pytest.mark.parametrize("kernel", ["baseline", ""])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("each", [True, False])
def test_a_filter_whose_labels_come_at_once_learns_as_ever(kernel, outputs, each):
    rng = np.random.default_rng(outputs)
    n = 400
    X, Y = rows(rng, n), rng.normal(size=(n, outputs))
    lam = rng.uniform(0.7, 1.0, n if each else 1)
    one, other = (Filter(3, outputs, True, 100.0, 1e6, kernel) for _ in range(2))
    one.learn(X, Y, lam, np.ones(1), expected := np.empty((n, outputs)))
    stamps, out = np.empty(n), np.empty((n, outputs))
    now = other.replay(X, Y, at_once(n), (lam, np.log(lam)), stamps, -3.0, out)
    assert out.tobytes() == expected.tobytes()
    assert bits(one) == bits(other)
    np.testing.assert_allclose(stamps, -3.0 + np.cumsum(np.broadcast_to(np.log(lam), n)))
    assert now == stamps[-1]


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_a_bank_whose_labels_come_at_once_learns_as_ever(coding, outputs):
    rng = np.random.default_rng(outputs)
    n = 400
    X, Y = rows(rng, n), targets(rng, n, coding, outputs)
    seen = rng.random(n) < 0.9  # rows of weight 0 are predicted, and no time passes with them
    one, other = bank_of(coding, outputs), bank_of(coding, outputs)
    age = np.where(seen, 0.0, np.inf)
    one.learn(X, Y, seen.astype(float), age, expected := np.empty((n, outputs)))
    steps = np.array([s for t in range(n) for s in ([t, ~t] if seen[t] else [t])])
    stamps, out = np.empty(n), np.empty((n, outputs))
    now = other.replay(X, Y, steps, seen.astype(float), stamps, 5.0, out, room_for(other, n))
    assert out.tobytes() == expected.tobytes()
    assert bits(one) == bits(other)
    assert now == 5.0 + seen.sum()
    np.testing.assert_array_equal(stamps, 5.0 + np.cumsum(seen))


@pytest.mark.parametrize("longest", [0, 3, 50])
@pytest.mark.parametrize("kernel", ["baseline", ""])
def test_a_filter_replays_what_predicting_forgetting_and_learning_do(longest, kernel):
    rng = np.random.default_rng(longest)
    n = 300
    X, Y, lam = rows(rng, n), rng.normal(size=(n, 2)), rng.uniform(0.9, 1.0, n)
    one, other = (Filter(3, 2, True, 100.0, 1e6, kernel) for _ in range(2))
    steps = late_steps(rng, n, longest)
    stamps, out = np.empty(n), np.empty((n, 2))
    other.replay(X, Y, steps, (lam, np.log(lam)), stamps, 0.0, out)
    expected, came, now = np.empty((n, 2)), np.empty(n), 0.0
    for s in steps:
        row = slice(s, s + 1) if s >= 0 else slice(~s, ~s + 1)
        if s >= 0:
            one.predict(X[row], expected[row])
            one.forget(lam[s])
            now += np.log(lam[s])
            came[s] = now
        else:
            gain = np.array([math.exp(now - came[~s])])
            one.learn(X[row], Y[row], np.ones(1), gain, np.empty((1, 2)))
    assert out.tobytes() == expected.tobytes()
    np.testing.assert_array_equal(stamps, came)
    assert bits(one) == bits(other)


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
@pytest.mark.parametrize("longest", [0, 3, 50])
def test_a_bank_replays_what_predicting_forgetting_and_learning_do(coding, outputs, longest):
    rng = np.random.default_rng(longest)
    n = 200
    X, Y = rows(rng, n), targets(rng, n, coding, outputs)
    elapsed = rng.choice([0.0, 1.0, 1.0, 2.5], n)
    one, other = bank_of(coding, outputs), bank_of(coding, outputs)
    steps = late_steps(rng, n, longest)
    stamps, out = np.empty(n), np.empty((n, outputs))
    other.replay(X, Y, steps, elapsed, stamps, 0.0, out, room_for(other, n))
    expected, came, now, made = np.empty((n, outputs)), np.empty(n), 0.0, room_for(one, n)
    for s in steps:
        row = slice(s, s + 1) if s >= 0 else slice(~s, ~s + 1)
        if s >= 0:
            one.predict_made(X[row], expected[row], made[row])
            one.forget(elapsed[s])
            now += elapsed[s]
            came[s] = now
        else:
            age = now - came[row]
            one.learn_made(X[row], Y[row], np.zeros(1), age, np.empty((1, outputs)), made[row])
    assert out.tobytes() == expected.tobytes()
    assert bits(one) == bits(other)


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_it_does_not_matter_how_a_replay_is_cut(coding, outputs):
    rng = np.random.default_rng(9)
    n = 200
    X, Y = rows(rng, n), targets(rng, n, coding, outputs)
    steps = late_steps(rng, n, 20)
    whole, cut = bank_of(coding, outputs), bank_of(coding, outputs)
    expected, out = np.empty((n, outputs)), np.empty((n, outputs))
    whole.replay(X, Y, steps, np.ones(1), np.empty(n), 0.0, expected, room_for(whole, n))
    now, stamps, made = 0.0, np.empty(n), room_for(cut, n)
    for part in np.split(steps, np.sort(rng.integers(0, len(steps), 40))):
        now = cut.replay(X, Y, part, np.ones(1), stamps, now, out, made)
    assert out.tobytes() == expected.tobytes()
    assert bits(whole) == bits(cut)


def test_a_label_late_is_the_closed_form_of_the_labels_that_came():
    """Each row weighs what has not faded since it arrived, whenever its label came."""
    rng = np.random.default_rng(11)
    n, mu = 150, 0.02
    X, y = rng.normal(size=(n, 3)), rng.normal(size=(n, 1))
    lam = np.array([1 - mu])
    steps = late_steps(rng, n, 12)
    filter_ = Filter(3, 1, False, 100.0, np.inf)
    filter_.replay(X, y, steps, (lam, np.log(lam)), np.empty(n), 0.0, np.empty((n, 1)))
    came = np.sort([~s for s in steps if s < 0])
    weight = (1 - mu) ** (n - 1 - came)
    R = (X[came] * weight[:, None]).T @ X[came] + (1 - mu) ** n * np.eye(3) / 100.0
    expected = np.linalg.solve(R, (X[came] * weight[:, None]).T @ y[came])
    np.testing.assert_allclose(filter_.coefficients()[0][0], expected[:, 0], rtol=1e-9)


@pytest.mark.parametrize("step", [3, -4])
def test_a_step_of_no_row_is_refused(step):
    filter_ = Filter(1, 1, True, 100.0, 1e6)
    before = bits(filter_)
    ones = np.ones((3, 1))
    with pytest.raises(ValueError, match="no row"):
        filter_.replay(
            ones,
            ones,
            np.array([0, step]),
            (np.ones(1), np.zeros(1)),
            np.zeros(3),
            0.0,
            ones.copy(),
        )
    assert bits(filter_) == before
