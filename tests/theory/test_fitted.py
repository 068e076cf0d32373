"""Noise and drift from a learner's own errors, and its certificates, on streams that are known."""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor, half_life
from dfop.theory import certify, certify_learner, noise_and_drift

MU = 0.02


def stream(seed, n=4000, d=3, noise=0.3, drift=0.006):
    """Rows, targets, and the weights after each row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ np.diag(np.arange(1.0, d + 1.0))
    w = 1.0 + np.cumsum(drift * rng.normal(size=(n, d)), axis=0)
    before = np.vstack([np.ones((1, d)), w[:-1]])  # y(t) = x(t)'w(t-1) + eps(t)
    return X, (X * before).sum(axis=1) + noise * rng.normal(size=n), w


@pytest.mark.parametrize(("noise", "drift"), [(0.3, 0.006), (1.0, 0.01), (0.1, 0.01), (0.3, 0.0)])
def test_noise_and_drift_are_told_apart(noise, drift):
    streams = (stream(k, 20_000, 3, noise, drift) for k in range(4))
    found = np.array([noise_and_drift(X, y, mu=MU) for X, y, _ in streams])
    assert found[:, 0].mean() == pytest.approx(noise, rel=0.15)  # d mu is not that small
    if drift:
        assert found[:, 1].mean() == pytest.approx(drift, rel=0.1)
    else:
        assert found[:, 1].max() < 0.002


def test_units_of_measurement_cancel_out():
    X, y, _ = stream(0)
    one = noise_and_drift(X, y, mu=MU)
    other = noise_and_drift(1000.0 * X, 10.0 * y, mu=MU, prior_variance=100.0 / 1e4)
    assert other.noise == pytest.approx(10.0 * one.noise, rel=1e-3)
    assert other.drift == pytest.approx(one.drift / 100.0, rel=1e-2)


def test_the_certificate_holds_and_is_near_the_one_of_true_noise_and_drift():
    held, rows = [], [500, 1000, 2000]
    for seed in range(10):
        X, y, w = stream(seed, n=2000)
        model = DFOPRegressor(MU, fit_intercept=False)
        errors = []
        for start, stop in ((0, 500), (500, 1000), (1000, 2000)):
            model.partial_fit(X[start:stop], y[start:stop])
            errors.append(np.linalg.norm(model.coef_ - w[stop - 1]))
        found = certify_learner(model, X, y, at=rows)
        held += list(np.array(errors) <= found.C3.total)
        true = certify(X, mu=MU, noise=0.3, drift=0.006, start_error=np.sqrt(3.0), at=rows)
        assert np.allclose(found.rms, true.rms, rtol=0.2)
    assert np.mean(held) >= 0.9


def test_a_prior_and_a_constant_are_taken_from_the_learner():
    X, y, _ = stream(0)
    mean, P = np.array([1.0, 1.0, 1.0, 0.0]), np.diag([1.0, 2.0, 3.0, 4.0])
    model = DFOPRegressor(MU, prior_mean=mean, prior_covariance=P).fit(X, y)
    found = certify_learner(model, X, y, at=[10, 4000])
    A = np.c_[X, np.ones(len(X))]
    estimate = noise_and_drift(A, y, mu=MU, prior_variance=4.0)
    start = np.linalg.norm(np.r_[model.coef_, model.intercept_] - mean)
    known = {"noise": estimate.noise, "drift": estimate.drift}
    same = certify(A, mu=MU, **known, start_error=start, P0=P, at=[10, 4000])
    assert np.allclose(found.C3.total, same.C3.total)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DFOPRegressor(), "one filter"),
        (DFOPRegressor(0.0), "one filter"),
        (DFOPRegressor(MU, lags=1), "without lags"),
    ],
)
def test_learners_that_the_theory_is_not_about(model, message):
    X, y, _ = stream(0, n=100)
    with pytest.raises(ValueError, match=message):
        certify_learner(model.fit(X, y), X, y)


def test_bad_input():
    X, y, _ = stream(0, n=2000)
    model = DFOPRegressor(MU).fit(X, y)
    with pytest.raises(ValueError, match="has learned rows"):
        certify_learner(DFOPRegressor(MU), X, y)
    with pytest.raises(ValueError, match="has learned rows"):
        certify_learner("model", X, y)
    with pytest.raises(ValueError, match="3 columns"):
        certify_learner(model, X[:, :2], y)
    with pytest.raises(ValueError, match=r"too few at mu=0\.02.*1000 rows"):
        certify_learner(model, X[:100], y[:100])
    with pytest.raises(ValueError, match="finite"):
        noise_and_drift(X, np.where(np.arange(2000) == 7, np.nan, y), mu=MU)
    with pytest.raises(ValueError, match="finite"):
        noise_and_drift(X, y[:-1], mu=MU)
    clock = DFOPRegressor(half_life("10s")).fit(X, y, time=np.arange(2000.0))
    with pytest.raises(ValueError, match="one filter"):
        certify_learner(clock, X, y)
    with pytest.raises(ValueError, match="one number"):
        certify_learner(DFOPClassifier(MU).fit(X, y > 0), X, y)
