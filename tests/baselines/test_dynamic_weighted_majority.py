"""DWM against a literal transcription, against River's naive Bayes, and against MOA's scores."""

import itertools

import numpy as np
import pytest
from river import naive_bayes

from dfop.baselines import DynamicWeightedMajority


class StoredNaiveBayes:
    """Gaussian naive Bayes that keeps its rows and computes everything anew from them."""

    def __init__(self):
        self.rows = {}

    def learn(self, x, label):
        self.rows.setdefault(label, []).append(x)

    def predict(self, x, floor):
        total = sum(len(rows) for rows in self.rows.values())
        best, answer = -np.inf, 0
        for label in sorted(self.rows):
            rows = np.array(self.rows[label])
            variance = np.var(rows, axis=0, ddof=1) if len(rows) > 1 else np.zeros(len(x))
            variance = variance + floor
            density = -0.5 * np.log(2 * np.pi * variance) - (x - rows.mean(0)) ** 2 / variance / 2
            score = np.log(len(rows) / total) + density.sum()
            if score > best:
                best, answer = score, label
        return answer


class RiverNaiveBayes:
    def __init__(self):
        self.model = naive_bayes.GaussianNB()

    def learn(self, x, label):
        self.model.learn_one(dict(enumerate(x.tolist())), int(label))

    def predict(self, x, floor):
        return self.model.predict_one(dict(enumerate(x.tolist()))) or 0


def literal(X, y, period, beta, theta, new_expert):
    """The algorithm as Kolter and Maloof print it, one row and one expert at a time."""
    experts, weights, predictions, counts = [new_expert()], [1.0], [], []
    for i, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        spread = np.var(X[: i - 1], axis=0, ddof=1).max() if i > 2 else 0.0
        sums = np.zeros(y.max() + 1)
        for j, expert in enumerate(experts):
            opinion = expert.predict(x, max(1e-9 * spread, 1e-30))
            sums[opinion] += weights[j]
            if i % period == 0 and opinion != label:
                weights[j] *= beta
        vote = int(sums.argmax())
        predictions.append(vote)
        if i % period == 0:
            weights = [w / max(weights) for w in weights]
            kept = [j for j, w in enumerate(weights) if w >= theta]
            experts, weights = [experts[j] for j in kept], [weights[j] for j in kept]
            if vote != label:
                experts.append(new_expert())
                weights.append(1.0)
        for expert in experts:
            expert.learn(x, label)
        counts.append(len(experts))
    return np.array(predictions), np.array(weights), counts


@pytest.mark.parametrize(
    ("period", "beta", "theta"),
    [
        (1, 0.5, 0.01),
        (7, 0.5, 0.01),
        (50, 0.5, 0.01),
        (3, 0.7, 0.2),
        (1, 0.5, 0.125),  # a weight of exactly theta stays
    ],
)
def test_equals_the_algorithm_as_published(three_classes, period, beta, theta):
    X, y = three_classes
    codes = np.searchsorted([10, 20, 30], y)
    model = DynamicWeightedMajority(period, beta, theta)
    ours = model.predict_then_learn(X, codes)
    theirs, weights, counts = literal(X, codes, period, beta, theta, StoredNaiveBayes)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-12)
    assert max(counts) > 2  # experts came
    if period < 5:
        assert any(b < a for a, b in itertools.pairwise(counts))  # and went


@pytest.mark.parametrize("name", ["2cdt", "1csurr"])
def test_agrees_with_rivers_naive_bayes_in_the_published_algorithm(published, name):
    """River floors a density, we a variance: rows where a class is young may differ."""
    X, y = published(name)
    X, codes = X[:2500], np.searchsorted(np.unique(y), y[:2500])
    ours = DynamicWeightedMajority(period=50).predict_then_learn(X, codes)
    theirs, _, _ = literal(X, codes, 50, 0.5, 0.01, RiverNaiveBayes)
    assert np.mean(ours == theirs) > 0.995


@pytest.mark.parametrize(
    ("name", "period", "percent"),
    [
        ("1cdt", 50, 99.631),
        ("2cdt", 50, 89.931),
        ("1csurr", 50, 96.451),
        ("ug-2c-2d", 50, 95.973),
        ("1cdt", 1, 99.750),
    ],
)
def test_scores_what_moa_scores(published, name, period, percent):
    """Full streams, MOA's DynamicWeightedMajority through CapyMOA 0.15, same parameters."""
    X, y = published(name)
    right = DynamicWeightedMajority(period).predict_then_learn(X, y) == y
    assert 100 * right.mean() == pytest.approx(percent, abs=0.2)


def test_naive_bayes_statistics_survive_a_large_offset():
    """Sums of squares would cancel here: mean 1e8, standard deviation 1."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 2, 4000)
    X = rng.normal(size=(4000, 2)) + 3.0 * code[:, None]
    plain = DynamicWeightedMajority().predict_then_learn(X, code)
    offset = DynamicWeightedMajority().predict_then_learn(X + 1e8, code)
    assert np.mean(plain == offset) > 0.999


def test_constant_features_and_single_rows_do_no_harm():
    X = np.zeros((200, 3))
    X[:, 0] = np.tile([0.0, 1.0], 100)
    y = np.tile([0, 1], 100)
    right = DynamicWeightedMajority(period=5).predict_then_learn(X, y) == y
    assert right[10:].all()
