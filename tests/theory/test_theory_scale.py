"""The two scales of P: what the paper writes as one P0 is two."""

import numpy as np
import pytest

from dfop import DFOPRegressor
from dfop.theory import certify, to_dfop_scale, to_gdfop_scale


def algorithm1(X, y, mu, P0):
    """Algorithm 1 with the missing mu put back (DFOP scale), as the paper writes it."""
    P, w = P0 * np.eye(X.shape[1]), np.zeros(X.shape[1])
    for x, target in zip(X, y, strict=True):
        Px = P @ x
        P = (P - mu * np.outer(Px, Px) / (1 - mu + mu * x @ Px)) / (1 - mu)
        w = w + mu * P @ x * (target - w @ x)
    return w


def test_algorithm_1_is_the_learner_when_its_P0_is_divided_by_mu(rng):
    X, y, mu, p0 = rng.normal(size=(30, 3)), rng.normal(size=30), 0.1, 0.5
    learner = DFOPRegressor(forgetting=mu, fit_intercept=False, prior_variance=p0, cap=None)
    learner.partial_fit(X, y)
    np.testing.assert_allclose(
        algorithm1(X, y, mu, float(to_dfop_scale(p0, mu))), learner.coef_, atol=1e-12
    )
    assert np.abs(algorithm1(X, y, mu, p0) - learner.coef_).max() > 1e-3


def test_the_scales_are_inverse_to_each_other(rng):
    P = np.cov(rng.normal(size=(3, 10)))
    np.testing.assert_allclose(to_gdfop_scale(to_dfop_scale(P, 0.03), 0.03), P)


def test_certificates_do_not_depend_on_the_scale_in_which_P0_is_given(rng):
    X = rng.normal(size=(20, 2))
    known = {"mu": 0.1, "noise": 0.3, "drift": 0.01, "start_error": [1.0, -2.0]}
    P0 = np.array([[2.0, 0.3], [0.3, 1.0]])
    a = certify(X, P0=P0, scale="gdfop", **known)
    b = certify(X, P0=P0 / 0.1, scale="dfop", **known)
    wrong = certify(X, P0=P0, scale="dfop", **known)
    for name in ("C0", "C1", "C2", "C3"):
        np.testing.assert_allclose(getattr(a, name).total, getattr(b, name).total, rtol=1e-10)
        assert (getattr(a, name).total != getattr(wrong, name).total).all()


@pytest.mark.parametrize("mu", [0.0, 1.0, -0.1, float("nan")])
def test_mu_outside_the_theorem_is_refused(mu):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        to_dfop_scale(1.0, mu)
