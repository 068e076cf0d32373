"""An expert whose weights walk, against the textbook recursion with the covariance itself."""

import numpy as np
import pytest
from bank_oracle import OracleWalk

from dfop.core import Bank


def walked(X, y, mu, q, prior):
    """Weights after all rows, the constant first."""
    expert = OracleWalk(X.shape[1], q, prior)
    for row, target in zip(X, y, strict=True):
        one = np.array([[target]])
        expert.learn(row[np.newaxis], one, np.array([1 - mu]), np.ones(1), np.empty((1, 1)))
    return expert.w


@pytest.mark.parametrize("mu", [0.0, 0.01])
@pytest.mark.parametrize("q", [1e-4, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("d", [1, 3, 4, 9])
def test_a_walking_expert_adds_its_walk_to_the_factors(d, q, mu):
    rng = np.random.default_rng(d)
    X = rng.uniform(-1, 1, size=(200, d))
    X[0] = 1.0  # so that no feature is ever scaled
    y = np.cumsum(rng.normal(size=200)) * 0.1 + X[:, 0]
    bank = Bank(d, [("number", 1)], [("linear", 0.0, 0)], [(0, mu, q)], True, 50.0, False, 1e12)
    bank.learn(X, y[:, np.newaxis], np.ones(1), np.zeros(1), np.empty((200, 1)))
    coef, constant = bank.coefficients(0)
    np.testing.assert_allclose(np.r_[constant, coef[0]], walked(X, y, mu, q, 50.0), atol=1e-8)
