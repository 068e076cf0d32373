"""Bins, trees and forests against their formulas in plain Python."""

import numpy as np
import pytest
from forest_oracle import OracleForest

from dfop.core import Bank

KINDS = ("quick_forest", "careful_forest", "residual_forest")
LINEAR = [("linear", 0.0, 0)]
MU = 3e-4
CUT = [("quick_forest", "plain", "number"), ("quick_forest", "wide", "margin")]
"""Where some tree cuts off what it has learned before the world turns."""


def forest_bank(kind, features, target):
    experts = [(0, MU, 0.0), (kind, MU if kind == "residual_forest" else 0.0, 0.0)]
    return Bank(features, [target], LINEAR, experts, True, 30.0, True, 1e6)


def features_of(rng, case, n):
    if case == "integer categories":
        return rng.integers(0, 7, size=(n, 4)).astype(float)
    if case == "wide":
        return rng.normal(size=(n, 30))
    X = rng.normal(size=(n, 5)) * 10.0 ** rng.uniform(-3, 3, 5)
    X[:, 3] = np.round(X[:, 3] / np.abs(X[:, 3]).max() * 2)  # a column of few values
    X[: n // 2, 4] = 0.0  # and one that says nothing at first
    return X


def stream(seed, case, n=700):
    rng = np.random.default_rng(seed)
    X = features_of(rng, case, n)
    ranks = X.argsort(axis=0).argsort(axis=0) / n
    score = 1.0 * (ranks[:, 0] > 0.5) * (ranks[:, 1] > 0.3) + (ranks[:, 2] > 0.7)
    if case == "integer categories":
        score = 1.0 * (X[:, 0] == 3) + (X[:, 1] == 5)
    score[n // 2 :] = score.max() - score[n // 2 :]  # the world turns: what was learned is cut
    score = score + 0.2 * rng.normal(size=n)
    return X, score


def labels_of(score, coding, classes):
    if coding == "number":
        return 1000.0 + 3.0 * score[:, np.newaxis]
    if coding == "margin":
        return np.where(score > np.median(score), 1.0, -1.0)[:, np.newaxis]
    cuts = np.quantile(score, np.arange(1, classes) / classes)
    return np.eye(classes)[np.searchsorted(cuts, score)]


def ahead(bank, X, Y):
    """Predict each row by each expert, one step ahead."""
    each = np.empty((2, *Y.shape))
    for t in range(len(X)):
        one = np.empty((2, 1, Y.shape[1]))
        bank.predict_each(X[t : t + 1], one)
        each[:, t] = one[:, 0]
        bank.learn(X[t : t + 1], Y[t : t + 1], np.ones(1), np.zeros(1), np.empty((1, Y.shape[1])))
    return each


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("case", "coding", "outputs"),
    [
        ("plain", "number", 1),
        ("plain", "margin", 1),
        ("plain", "one_hot", 3),
        ("plain", "one_hot", 7),
        ("integer categories", "number", 1),
        ("integer categories", "one_hot", 3),
        ("wide", "margin", 1),
        ("wide", "number", 1),
    ],
)
def test_a_forest_is_what_its_formulas_say(kind, case, coding, outputs):
    X, score = stream(7, case)
    Y = labels_of(score, coding, outputs)
    linear, forest = ahead(forest_bank(kind, X.shape[1], (coding, outputs)), X, Y)
    oracle = OracleForest(kind, coding, X.shape[1])
    expected = np.empty_like(Y)
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        expected[t] = oracle.predict(x, linear[t])
        oracle.learn(x, y, linear[t])
    # a last digit may be the one that single precision rounds up
    np.testing.assert_allclose(forest, expected, rtol=0.0, atol=1e-6 * np.ptp(Y))
    if oracle.active():
        assert sum(tree.opened for tree in oracle.trees) > len(oracle.trees)  # some were split
    if (kind, case, coding) in CUT:
        assert any(tree.cuts for tree in oracle.trees)
