"""Models that look before they predict are found, honest ones are not accused."""

import numpy as np
import pytest
from river import linear_model, neighbors, tree
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor

from dfop.evaluation import check_honest, evaluate
from dfop.evaluation.models import untrained

from .fakes import FastSGD, LeastSquares, PeeksAtBatch, Remembering, SignOf

HONEST = [
    Perceptron(),
    SGDClassifier(),
    FastSGD(),
    SignOf(mu=0.1),
    linear_model.LogisticRegression(),
    tree.HoeffdingTreeClassifier(grace_period=50),
    neighbors.KNNClassifier(n_neighbors=1),
]


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 10))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=1000) > 0, 1, -1)


@pytest.mark.parametrize("model", HONEST, ids=lambda m: type(m).__name__)
def test_honest_classifiers_pass(model, labelled):
    X, y = labelled
    check_honest(model, (X[:250], y[:250]), cuts=2)


@pytest.mark.parametrize("model", HONEST, ids=lambda m: type(m).__name__)
def test_shuffled_labels_are_at_chance(model, labelled):
    X, y = (part[:500] for part in labelled)
    shuffled = np.random.default_rng(1).permutation(y)
    assert evaluate(untrained(model, 0), (X, y)).score > 0.65
    # Four standard deviations of a fair coin over 500 rows.
    assert abs(evaluate(untrained(model, 0), (X, shuffled)).score - 0.5) < 4 * 0.5 / 500**0.5


@pytest.mark.parametrize("delay", [0, 10])
@pytest.mark.parametrize("model", [SGDRegressor(), LeastSquares(), Remembering()])
def test_honest_regressors_pass(model, delay):
    X = np.random.default_rng(0).normal(size=(150, 5))
    check_honest(model, (X, X @ np.arange(5.0)), delay=delay, cuts=3)


def test_the_printed_algorithm_leaks(labelled):
    """Predicting after the update scores 68 % on random labels at d = 10, mu = .01."""
    rng = np.random.default_rng(0)
    X, coins = rng.normal(size=(20000, 10)), rng.choice([-1, 1], size=20000)
    assert evaluate(SignOf(mu=0.01, leak=True), (X, coins)).score == pytest.approx(0.68, abs=0.02)
    assert evaluate(SignOf(mu=0.01), (X, coins)).score == pytest.approx(0.5, abs=0.015)
    with pytest.raises(AssertionError, match="SignOf: "):
        check_honest(SignOf(mu=0.01, leak=True), labelled)


def test_chance_alone_finds_a_leak_that_no_cut_hits(labelled):
    with pytest.raises(AssertionError, match="of random labels right, which an honest model"):
        check_honest(SignOf(mu=0.05, leak=True), labelled, cuts=0)


def test_a_regressor_that_leaks_is_found():
    X = np.random.default_rng(0).normal(size=(1000, 10))
    with pytest.raises(AssertionError, match="LeastSquares: the prediction of row"):
        check_honest(LeastSquares(leak=True), (X, X[:, 0]))
    with pytest.raises(AssertionError, match="go with random targets"):
        check_honest(LeastSquares(mu=0.05, leak=True), (X, X[:, 0]), cuts=0)


def test_a_model_that_peeks_at_its_batch_is_found(labelled):
    X, _ = labelled
    y = np.where(np.arange(1000) % 10, 1, -1)
    with pytest.raises(AssertionError, match="depends on its own label or a later one"):
        check_honest(PeeksAtBatch(), (X, y))
