"""Experts outside of the bank, whose answers come with the rows."""

import numpy as np
import pytest
from bank_oracle import OracleBank, OracleOutput
from expert_state import bits
from test_late_combiner import CODINGS, stream

from dfop.core import Bank, Filter

FORGETTING = (0.0, 0.01)
OUTSIDE = 0.1
GIVEN = ("given", 0.0, 0.0)


def bank_of(coding, outputs, *last):
    experts = [(0, mu, 0.0) for mu in FORGETTING] + list(last)
    return Bank(3, [(coding, outputs)], [("linear", 0.0, 0)], experts, True, 100.0, False, 1e6)


class Outside:
    """The filter that another bank has inside, run by hand."""

    def __init__(self, outputs):
        self.filter = Filter(3, outputs, True, 100.0, 1e6)

    def predict(self, X):
        out = np.empty((len(X), self.filter.outputs))
        self.filter.predict(X, out)
        return out[:, np.newaxis].copy()

    def learn(self, X, Y):
        out = np.empty(Y.shape)
        self.filter.learn(X, np.ascontiguousarray(Y), np.array([1 - OUTSIDE]), np.ones(1), out)
        return out[:, np.newaxis].copy()


def calm(Y, coding):
    """Return numbers within three ranges of those before: far-out ones count as nearer."""
    return Y - 0.1 * np.arange(len(Y))[:, None] if coding == "number" else Y


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_an_expert_outside_counts_as_the_same_one_inside(coding, outputs):
    X, Y = stream(np.random.default_rng(1), coding, outputs, 300)
    Y = np.ascontiguousarray(calm(Y, coding))
    inside, outside = bank_of(coding, outputs, (0, OUTSIDE, 0.0)), bank_of(coding, outputs, GIVEN)
    expected, out = np.empty(Y.shape), np.empty(Y.shape)
    inside.learn(X, Y, np.ones(1), np.zeros(1), expected)
    expert = Outside(outputs)
    outside.learn(X, Y, np.ones(1), np.zeros(1), out, expert.learn(X, Y))
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(outside.weights(), inside.weights())
    inside.predict(X, expected)
    outside.predict(X, out, expert.predict(X))
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_so_it_does_if_labels_come_late(coding, outputs):
    X, Y = stream(np.random.default_rng(2), coding, outputs, 240)
    Y = np.ascontiguousarray(calm(Y, coding))
    banks = bank_of(coding, outputs, (0, OUTSIDE, 0.0)), bank_of(coding, outputs, GIVEN)
    expert, start = Outside(outputs), 0
    for end in (7, 8, 40, 90, 91, 150, 240):
        x, y = X[start:end], Y[start:end]
        told = []
        for bank in banks:
            own = bank.own > 0
            out, made = np.empty(y.shape), np.empty((len(x), bank.made_size))
            bank.predict_made(x, out, made, expert.predict(x) if own else None)
            told.append(out.copy())
            said = (expert.learn(x, y),) if own else ()
            bank.learn_made(x, y, np.ones(1), np.zeros(1), out, made, *said)
        np.testing.assert_array_equal(*told)
        start = end
    np.testing.assert_array_equal(banks[0].weights(), banks[1].weights())


def test_rows_and_labels_in_any_order_have_two_answers():
    """Two rows come, then their labels: what is said of the second changes with the first."""
    X, Y = stream(np.random.default_rng(3), "margin", 1, 60)
    banks = bank_of("margin", 1, (0, OUTSIDE, 0.0)), bank_of("margin", 1, GIVEN)
    expert = Outside(1)
    for t in range(0, 60, 2):
        x, y, told = X[t : t + 2], Y[t : t + 2], []
        steps = np.array([0, 1, ~0, ~1])
        first = expert.predict(x)
        expert.filter.forget(np.array([1 - OUTSIDE] * 2))  # both came before their labels
        late = np.empty((2, 1, 1))
        for row in range(2):
            late[row] = expert.predict(x[row : row + 1])
            gain = np.array([(1 - OUTSIDE) ** (1 - row)])
            expert.filter.learn(
                x[row : row + 1], y[row : row + 1], np.ones(1), gain, np.empty((1, 1))
            )
        for bank in banks:
            own = (first, late) if bank.own else ()
            out, made = np.zeros((2, 1)), np.full((2, bank.made_size), np.nan)
            bank.replay(x, y, steps, np.ones(1), np.zeros(2), 0.0, out, made, *own)
            told.append(out)
        np.testing.assert_allclose(*told, rtol=1e-9, atol=1e-9)


class WithoutAnswer(OracleOutput):
    """Who has no answer says what the mixture of the others says."""

    def clip(self, values, low, high):
        out = np.array(super().clip(values, low, high))
        asleep = np.isnan(out)
        if asleep.any():
            weights = self.mixture.weights()[~asleep]
            mean = weights @ out[~asleep] / weights.sum() if weights.any() else out[~asleep].mean()
            out[asleep] = mean
        return out


class Said:
    """An expert of the oracle that reads from a list."""

    def __init__(self, answers):
        self.answers = iter(answers)

    def learn(self, x, y, lam, gain, out):
        out[:] = next(self.answers)


@pytest.mark.parametrize(("coding", "outputs"), CODINGS)
def test_who_has_no_answer_says_what_the_others_say(coding, outputs):
    rng = np.random.default_rng(4)
    X, Y = stream(rng, coding, outputs, 200)
    Y = np.ascontiguousarray(calm(Y, coding))
    given = (Y + 0.3 * rng.normal(size=Y.shape))[:, np.newaxis].copy()
    given[rng.random(len(Y)) < 0.4] = np.nan
    oracle = OracleBank(3, coding, outputs, (*FORGETTING, 0.0), True, 100.0, 1e6)
    oracle.experts[-1] = Said(given[:, 0])
    oracle.outputs = [WithoutAnswer(coding, len(FORGETTING) + 1) for _ in range(outputs)]
    expected = np.array([oracle.step(x, y) for x, y in zip(X, Y, strict=True)])
    bank, out = bank_of(coding, outputs, GIVEN), np.empty(Y.shape)
    bank.learn(X, Y, np.ones(1), np.zeros(1), out, given)
    np.testing.assert_allclose(out, expected, atol=1e-9 * np.abs(Y).max())
    assert np.isfinite(bank.errors()["mean"]).all()


def test_without_answers_nobody_has_one():
    X, Y = stream(np.random.default_rng(5), "number", 1, 50)
    banks, out = [bank_of("number", 1, GIVEN) for _ in range(2)], np.empty((2, *Y.shape))
    banks[0].learn(X, Y, np.ones(1), np.zeros(1), out[0])
    banks[1].learn(X, Y, np.ones(1), np.zeros(1), out[1], np.full((50, 1, 1), np.nan))
    np.testing.assert_array_equal(*out)
    assert np.isfinite(out).all()
    assert bits(banks[0]) == bits(banks[1])


def test_answers_of_the_wrong_shape_are_refused():
    X, Y = stream(np.random.default_rng(6), "number", 1, 5)
    bank = bank_of("number", 1, GIVEN)
    before = bits(bank)
    for shape in ((5, 2, 1), (4, 1, 1), (5, 1, 2)):
        with pytest.raises(ValueError, match="given has the wrong shape"):
            bank.learn(X, Y, np.ones(1), np.zeros(1), np.empty((5, 1)), np.zeros(shape))
    assert bits(bank) == before
