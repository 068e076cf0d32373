"""The compiled bank against its formulas in NumPy."""

import numpy as np
import pytest
from bank_oracle import OracleBank

from dfop.core import Bank

FORGETTING = (0.0, 0.01, 0.1, 0.3)


def stream(rng, coding, outputs, n, d):
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2, d)
    X[: n // 4, 0] = 0.0
    score = (X / np.abs(X).max(axis=0)) @ rng.normal(size=(d, max(outputs, 2)))
    score[n // 2 :] = -score[n // 2 :]  # the world turns
    score += 0.1 * rng.normal(size=score.shape)
    if coding == "number":
        score[rng.integers(n)] *= 50.0  # and once the range of labels leaps
        return X, score[:, :1].copy()
    if coding == "margin":
        return X, np.where(score[:, :1] > 0, 1.0, -1.0)
    return X, np.eye(outputs)[score.argmax(axis=1)]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("coding", "outputs"), [("number", 1), ("margin", 1), ("one_hot", 3), ("one_hot", 5)]
)
def test_the_bank_is_what_its_formulas_say(coding, outputs, seed, intercept):
    rng = np.random.default_rng(seed)
    n, d = 250, int(rng.integers(1, 5))
    X, Y = stream(rng, coding, outputs, n, d)
    experts = [(0, mu, 0.0) for mu in FORGETTING]
    bank = Bank(d, [(coding, outputs)], [("linear", 0.0, 0)], experts, intercept, 100.0, False, 1e6)
    oracle = OracleBank(d, coding, outputs, FORGETTING, intercept, 100.0, 1e6)
    out = np.empty((n, outputs))
    bank.learn(X, Y, np.ones(1), np.zeros(1), out)
    expected = np.array([oracle.step(x, y) for x, y in zip(X, Y, strict=True)])
    np.testing.assert_allclose(out, expected, atol=1e-9 * max(1.0, np.abs(Y).max()))
    assert bank.errors()["rows"] == n


@pytest.mark.parametrize("seed", range(3))
def test_several_targets_are_combined_each_for_itself(seed):
    """Experts share their covariance; their combination knows its own target only."""
    rng = np.random.default_rng(seed)
    X, y = stream(rng, "number", 1, 300, 3)
    _, labels = stream(rng, "margin", 1, 300, 3)
    experts = [(0, mu, 0.0) for mu in FORGETTING]
    design = ([("linear", 0.0, 0)], experts, True, 100.0, False, 1e6)
    both = Bank(3, [("number", 1), ("margin", 1)], *design)
    out = np.empty((300, 2))
    both.learn(X, np.hstack([y, labels]), np.ones(1), np.zeros(1), out)
    for column, (coding, target) in enumerate([("number", y), ("margin", labels)]):
        alone, expected = Bank(3, [(coding, 1)], *design), np.empty((300, 1))
        alone.learn(X, np.ascontiguousarray(target), np.ones(1), np.zeros(1), expected)
        np.testing.assert_allclose(out[:, column], expected[:, 0], rtol=1e-9, atol=1e-9)
