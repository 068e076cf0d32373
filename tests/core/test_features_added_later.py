"""The prior of a feature that comes later: as if it had been there, always 0."""

import numpy as np
import pytest
from expert_state import bits

from dfop.core import Bank, Filter

MU, N, SINCE = 0.02, 120, 50


def stream(d):
    """Rows within -1 and 1, and 1 where a feature first is there: so no scale changes."""
    rng = np.random.default_rng(d)
    X = rng.uniform(-1, 1, size=(N, d))
    X[0] = 1.0
    X[:SINCE, -1] = 0.0
    X[SINCE, -1] = 1.0
    return X, X @ rng.normal(size=(d, 1)) + 0.5 + 0.3 * rng.normal(size=(N, 1))


def closed_form(X, y, variances):
    """The minimiser with a prior variance for each weight, the constant first."""
    A = np.column_stack([np.ones(len(X)), X])
    weight = (1 - MU) ** np.arange(len(X) - 1, -1, -1)[:, np.newaxis]
    R = (A * weight).T @ A + (1 - MU) ** len(X) * np.diag(1 / np.asarray(variances))
    return np.linalg.solve(R, (A * weight).T @ y)[:, 0], np.diag(np.linalg.inv(R))


def bank_of(d, prior, relative):
    design = ([("linear", 0.0, 0)], [(0, MU, 0.0)], True, prior, relative, np.inf)
    return Bank(d, [("number", 1)], *design)


def learn(bank, X, y):
    bank.learn(
        np.ascontiguousarray(X), np.ascontiguousarray(y), np.ones(1), np.zeros(1), np.empty(y.shape)
    )


@pytest.mark.parametrize("prior", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_a_relative_prior_is_shared_by_the_weights_there_are(d, prior):
    """A weight gets an equal share of the prior, by how many there are when it is first needed."""
    X, y = stream(d)
    late, always = bank_of(d - 1, prior, True), bank_of(d, prior, True)
    learn(late, X[:SINCE, :-1], y[:SINCE])
    late.add_features(1)
    learn(late, X[SINCE:], y[SINCE:])
    learn(always, X, y)
    for bank, variances in (
        (late, [prior / d] * d + [prior / (d + 1)]),
        (always, [prior / (d + 1)] * (d + 1)),
    ):
        weights, P = closed_form(X, y, variances)
        coef, constant = bank.coefficients(0)
        np.testing.assert_allclose(np.r_[constant, coef[0]], weights, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(bank.variances(0), P, rtol=1e-9)


@pytest.mark.parametrize("prior", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("d", [2, 3, 4, 5, 9])
def test_a_prior_of_its_own_is_the_same_whenever_the_feature_came(d, prior):
    X, y = stream(d)
    late, always = Filter(d - 1, 1, True, prior, 1e6), Filter(d, 1, True, prior, 1e6)
    lam, gain, out = np.array([1 - MU]), np.ones(1), np.empty((N, 1))
    late.learn(np.ascontiguousarray(X[:SINCE, :-1]), y[:SINCE], lam, gain, out[:SINCE])
    late.add_features(1)
    late.learn(X[SINCE:], y[SINCE:], lam, gain, out[SINCE:])
    always.learn(X, y, lam, gain, expected := np.empty((N, 1)))
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    if d != 4:  # a kernel for few weights adds up in another order than the one for many
        assert bits(late) == bits(always)
    weights, P = closed_form(X, y, [prior] * (d + 1))
    coef, constant = late.coefficients()
    np.testing.assert_allclose(np.r_[constant, coef[0]], weights, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(late.variances(), P, rtol=1e-9)


def test_a_feature_that_no_row_has_had_yet_waits_with_its_whole_prior():
    """Its variance grows with every row that is forgotten, as everything that nothing teaches."""
    X, y = stream(2)
    bank = bank_of(1, 8.0, True)
    learn(bank, X[:SINCE, :-1], y[:SINCE])
    bank.add_features(1)
    row = np.array([[0.0, 1.0]])
    learn(bank, row, np.zeros((1, 1)))
    _, P = closed_form(np.vstack([X[:SINCE], row]), np.vstack([y[:SINCE], [[0.0]]]), [4, 4, 8 / 3])
    np.testing.assert_allclose(bank.variances(0), P, rtol=1e-9)


@pytest.mark.parametrize("added", [1, 2, 7])
def test_forgetting_winds_a_relative_prior_up_to_a_thousand_times_the_share_of_now(added):
    prior = 6.0
    design = ([("linear", 0.0, 0)], [(0, 0.5, 0.0)], True, prior, True, 1e-9)
    bank = Bank(0, [("number", 1)], *design)
    bank.add_features(added)
    for _ in range(5):
        bank.forget(20.0)
    assert bank.variances(0)[0] == pytest.approx(1e3 * prior / (added + 1), rel=1e-12)
