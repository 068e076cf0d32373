"""Online Bagging against River's, given the same Poisson draws."""

import numpy as np
import pytest
from river import base, ensemble, linear_model, utils
from sklearn.utils import check_random_state

from dfop.baselines import OnlineBaggingClassifier, OnlineBaggingRegressor


class LeastSquaresSign(base.Classifier):
    """River's recursive least squares on -1 and +1."""

    def __init__(self):
        self.model = linear_model.BayesianLinearRegression(alpha=0.01, beta=1.0)

    def learn_one(self, x, y):
        self.model.learn_one(x, 1.0 if y else -1.0)

    def predict_proba_one(self, x):
        positive = self.model.predict_one(x) > 0.0
        return {False: float(not positive), True: float(positive)}


def rows_of(X):
    """River's rows, the intercept a feature of their own."""
    return [dict(enumerate([*x, 1.0])) for x in X.tolist()]


@pytest.fixture
def same_draws(monkeypatch):
    """Makes River draw the numbers that our `random_state` gives, row by row."""

    def use(seed, rows, members):
        own = np.random.RandomState(check_random_state(seed).randint(2**31 - 1))
        draws = iter(own.poisson(1.0, (rows, members)).ravel().tolist())
        monkeypatch.setattr(utils.random, "poisson", lambda rate, rng: next(draws))

    return use


@pytest.mark.parametrize(("name", "target"), [("debutanizer", None), ("sru", 5)])
def test_regression_equals_rivers_bagging(published, same_draws, name, target):
    X, y = published(name)
    if target is not None:  # two targets: the last column of X is the first of them
        X, y = X[:, :target], X[:, target]
    X, y = X[:1000], y[:1000].astype(float)
    same_draws(3, len(X), 10)
    least_squares = linear_model.BayesianLinearRegression(alpha=0.01, beta=1.0)
    peer = ensemble.BaggingRegressor(least_squares, n_models=10)
    theirs = []
    for row, value in zip(rows_of(X), y.tolist(), strict=True):
        theirs.append(peer.predict_one(row))
        peer.learn_one(row, value)
    ours = OnlineBaggingRegressor(random_state=3).predict_then_learn(X, y)
    np.testing.assert_allclose(ours, theirs, atol=1e-8)


@pytest.mark.parametrize("name", ["2cdt", "1csurr"])
def test_classification_equals_rivers_bagging(published, same_draws, name):
    X, y = published(name)
    X, y = X[:1000], y[:1000] == "2"
    same_draws(4, len(X), 7)
    peer = ensemble.BaggingClassifier(LeastSquaresSign(), n_models=7)
    theirs = []
    for row, label in zip(rows_of(X), y.tolist(), strict=True):
        theirs.append(bool(peer.predict_one(row)))
        peer.learn_one(row, label)
    ours = OnlineBaggingClassifier(n_members=7, random_state=4).predict_then_learn(X, y)
    assert np.mean(ours == np.array(theirs)) > 0.998


def test_the_same_seed_gives_the_same_predictions_and_another_does_not(turning):
    X, y = turning
    first, again, other = (
        OnlineBaggingRegressor(random_state=seed).predict_then_learn(X, y) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_many_members_approach_least_squares_on_all_rows(turning):
    """The Poisson weights have mean 1: the average member is the unweighted learner."""
    X, y = turning
    A = np.c_[X, np.ones(len(X))]
    weights = np.linalg.solve(A.T @ A + np.eye(5) / 100, A.T @ y)
    model = OnlineBaggingRegressor(n_members=400, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), A @ weights, atol=0.005)
