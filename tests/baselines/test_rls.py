"""RLS against batch least squares."""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor
from dfop.baselines import RLSClassifier, RLSRegressor


def test_predicts_as_least_squares_on_all_rows_before(turning):
    X, y = turning
    A = np.c_[X, np.ones(len(X))]
    expected = [
        np.linalg.solve(A[:i].T @ A[:i] + np.eye(5) / 100, A[:i].T @ y[:i]) @ A[i]
        for i in range(len(X))
    ]
    np.testing.assert_allclose(RLSRegressor().predict_then_learn(X, y), expected, atol=1e-9)


def test_is_dfop_that_never_forgets(flipping, turning):
    X, y = flipping
    np.testing.assert_array_equal(
        RLSClassifier().predict_then_learn(X, y), DFOPClassifier(0.0).predict_then_learn(X, y)
    )
    X, y = turning
    np.testing.assert_array_equal(
        RLSRegressor(fit_intercept=False, prior_variance=1.0).predict_then_learn(X, y),
        DFOPRegressor(0.0, fit_intercept=False, prior_variance=1.0).predict_then_learn(X, y),
    )


def test_its_only_parameters_are_its_own():
    assert set(RLSClassifier().get_params()) == {"fit_intercept", "prior_variance"}
    with pytest.raises(TypeError):
        RLSClassifier(forgetting=0.1)
