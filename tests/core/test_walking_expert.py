"""An expert whose weights walk, against the textbook recursion with the covariance itself."""

import numpy as np
import pytest

from dfop.core import Bank


def factors(P):
    """P = U diag(D) U' with U unit upper triangular."""
    P, d = P.copy(), len(P)
    U, D = np.eye(d), np.empty(d)
    for j in reversed(range(d)):
        D[j] = P[j, j]
        U[:j, j] = P[:j, j] / D[j]
        P[:j, :j] -= D[j] * np.outer(U[:j, j], U[:j, j])
    return U, D


def walked(X, y, mu, q, prior):
    """Weights after all rows, the constant first: D <- D/(1 - mu) + q, then the row."""
    d = X.shape[1] + 1
    P, w = prior * np.eye(d), np.zeros(d)
    for row, target in zip(X, y, strict=True):
        x = np.r_[1.0, row]
        U, D = factors(P)
        P = U @ np.diag(D / (1 - mu) + q) @ U.T
        gain = P @ x / (1 + x @ P @ x)
        w += gain * (target - w @ x)
        P -= np.outer(gain, P @ x)
    return w


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
