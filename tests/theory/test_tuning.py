"""How much to forget, against brute force and against the exact recursion."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from dfop.theory import (
    Parts,
    balancing_mu,
    best_mu,
    certify,
    effective_sample_size,
    forgetting_time,
    start_forgotten,
    steady_state,
)

S = np.array([[1.0, 0.4, 0.0], [0.4, 2.0, 0.1], [0.0, 0.1, 0.5]])
KNOWN = {"noise": 0.2, "drift": 3e-3}


@pytest.mark.parametrize("mu", [0.01, 0.3, 0.9])
def test_the_steady_state_is_exact_in_one_dimension_with_rows_of_length_one(rng, mu):
    X = rng.choice([-1.0, 1.0], size=(int(30 / mu), 1))
    exact = certify(X, mu=mu, start_error=1.0, P0=1.0, at=[len(X)], **KNOWN).second_moment
    error = steady_state(mu, np.eye(1), **KNOWN)
    assert float(error.noise) == pytest.approx(exact.noise[0], rel=1e-10)
    assert float(error.drift) == pytest.approx(exact.drift[0], rel=1e-10)


def test_the_steady_state_is_near_the_exact_recursion_for_small_mu(rng):
    mu = 0.004
    X = rng.normal(size=(60, 2500, 3)) @ np.linalg.cholesky(S).T
    exact = certify(X, mu=mu, start_error=1.0, at=[2500], **KNOWN).second_moment
    error = steady_state(mu, S, **KNOWN)
    assert exact.noise.mean() == pytest.approx(float(error.noise), rel=0.05)
    assert exact.drift.mean() == pytest.approx(float(error.drift), rel=0.05)


@pytest.mark.parametrize("target", ["estimate", "prediction"])
def test_noise_and_drift_are_equal_at_the_balance(target):
    mu = balancing_mu(S, target=target, **KNOWN)
    error = steady_state(mu, S, target=target, **KNOWN)
    assert float(error.noise) == pytest.approx(float(error.drift))


@pytest.mark.parametrize("drift", [1e-4, 1e-2, 1.0, 50.0])
@pytest.mark.parametrize("target", ["estimate", "prediction"])
def test_the_best_mu_is_where_the_error_is_least(drift, target):
    mu = best_mu(S, noise=0.2, drift=drift, target=target)
    found = minimize_scalar(
        lambda z: math.log(
            steady_state(1 / (1 + math.exp(-z)), S, noise=0.2, drift=drift, target=target).total
        ),
        bounds=(-15, 15),
        options={"xatol": 1e-10},
    )
    assert 0 < mu < 1
    assert mu == pytest.approx(1 / (1 + math.exp(-found.x)), rel=1e-4)


def test_the_balance_has_its_known_forms():
    d, noise, drift = 3, 0.2, 3e-3
    assert balancing_mu(S, noise=noise, drift=drift) == pytest.approx(
        drift * math.sqrt(d) / (noise * math.sqrt(np.trace(np.linalg.inv(S))))
    )
    power = drift**2 * np.trace(S)  # of the drift, seen through the rows
    assert balancing_mu(S, noise=noise, drift=drift, target="prediction") == pytest.approx(
        math.sqrt(power / (d * noise**2))
    )
    mu = 0.001  # the small-mu form noise^2 mu d/2 + power/(2 mu)
    assert float(steady_state(mu, S, target="prediction", **KNOWN).total) == pytest.approx(
        noise**2 * mu * d / 2 + power / (2 * mu), rel=mu
    )


def test_only_the_directions_of_the_drift_count():
    along = np.diag([1.0, 0.0, 0.0])
    full = steady_state(0.1, np.eye(3), **KNOWN)
    one = steady_state(0.1, np.eye(3), drift_shape=along, **KNOWN)
    assert float(one.drift) == pytest.approx(float(full.drift) / 3)
    assert float(one.noise) == float(full.noise)


def test_an_unknown_target_is_refused():
    with pytest.raises(ValueError, match="'estimate' or 'prediction'"):
        balancing_mu(S, target="loss", **KNOWN)


def test_what_cannot_be_balanced_is_refused():
    with pytest.raises(ValueError, match=r"noise=0\.0 must be above 0"):
        balancing_mu(S, noise=0.0, drift=0.1)
    with pytest.raises(ValueError, match="finite and symmetric"):
        balancing_mu([[1.0, 2.0], [0.0, 1.0]], **KNOWN)
    with pytest.raises(ValueError, match="strictly between"):
        steady_state([0.1, 1.0], S, **KNOWN)


def test_a_direction_without_rows_counts_for_predictions_only():
    flat = np.diag([1.0, 0.0])
    with pytest.raises(ValueError, match="positive definite"):
        balancing_mu(flat, **KNOWN)
    # no row has the second feature: it is as if there were one
    found = balancing_mu(flat, target="prediction", **KNOWN)
    assert found == pytest.approx(balancing_mu([[1.0]], target="prediction", **KNOWN))


@given(mu=st.floats(1e-4, 0.99), t=st.integers(1, 300))
def test_effective_sample_size_by_its_definition(mu, t):
    weights = (1 - mu) ** np.arange(t)
    assert effective_sample_size(mu, t) == pytest.approx(
        weights.sum() ** 2 / (weights**2).sum(), rel=1e-9
    )


def test_effective_sample_size_in_its_limits():
    assert effective_sample_size(1e-9, 50) == pytest.approx(50)
    assert effective_sample_size(0.002) == pytest.approx(2 / 0.002 - 1)
    # the noise part of the error is that of an ordinary sample of this size
    error = steady_state(0.02, S, **KNOWN)
    n = effective_sample_size(0.02)
    assert float(error.noise) == pytest.approx(0.2**2 * np.trace(np.linalg.inv(S)) / n)


@given(mu=st.floats(0.01, 0.99), share=st.floats(1e-4, 1.0))
def test_forgetting_time_by_counting(mu, share):
    t = forgetting_time(mu, share)
    assert (1 - mu) ** t <= share * (1 + 1e-9)
    assert t == 0 or (1 - mu) ** (t - 1) > share * (1 - 1e-9)


def test_forgetting_time_at_whole_powers():
    assert forgetting_time(0.5, 0.25) == 2
    assert forgetting_time(0.1, 0.9**7) == 7
    assert forgetting_time(0.3, 1.0) == 0
    with pytest.raises(ValueError, match="share"):
        forgetting_time(0.1, 0.0)


def test_the_start_is_forgotten_for_good():
    rows = np.array([10, 20, 30, 40])
    again = Parts(np.array([9.0, 0.0, 9.0, 0.0]), np.ones(4), np.zeros(4))
    assert start_forgotten(rows, again, share=0.5) == 40
    never = Parts(np.array([0.0, 0.0, 0.0, 9.0]), np.ones(4), np.zeros(4))
    assert start_forgotten(rows, never, share=0.5) is None
    at_once = Parts(np.zeros(4), np.ones(4), np.zeros(4))
    assert start_forgotten(rows, at_once) == 10
    with pytest.raises(ValueError, match="one stream"):
        start_forgotten(rows, Parts(*np.zeros((3, 2, 4))))
