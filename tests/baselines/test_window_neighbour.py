"""1NN-win against a literal loop and against River."""

import numpy as np
import pytest
from river import neighbors

from dfop.baselines import WindowNeighbour


def literal(X, y, window):
    """For each row look back from the most recent; only a nearer one replaces the answer."""
    predicted = []
    for i in range(len(X)):
        best, answer = np.inf, y.min()
        for k in range(i - 1, max(i - window, 0) - 1, -1):
            distance = sum((a - b) ** 2 for a, b in zip(X[i], X[k], strict=True))
            if distance < best:
                best, answer = distance, y[k]
        predicted.append(answer)
    return np.array(predicted)


@pytest.mark.parametrize("window", [1, 2, 20, 1000])
def test_equals_the_definition_with_many_ties(window):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(400, 2)).astype(float)  # a grid: equal distances everywhere
    y = rng.integers(0, 3, 400)
    np.testing.assert_array_equal(
        WindowNeighbour(window).predict_then_learn(X, y), literal(X, y, window)
    )


def test_equal_rows_are_nearest_even_far_from_the_origin():
    """The expansion |a|^2 - 2ab + |b|^2 would lose the difference here."""
    X = 1e9 + np.array([[0.0, 0.0], [0.0, 1e-3], [0.0, 0.0]])
    assert WindowNeighbour().predict_then_learn(X, [1, 2, 1], classes=[1, 2])[2] == 1


@pytest.mark.parametrize("name", ["2cdt", "1csurr"])
def test_agrees_with_river(published, name):
    """Same neighbour on every row, save where River takes the older of two at equal distance."""
    X, y = published(name)
    X, y = X[:4000], y[:4000]
    peer = neighbors.KNNClassifier(n_neighbors=1, engine=neighbors.LazySearch(window_size=100))
    theirs = []
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        row = dict(enumerate(x))
        theirs.append(peer.predict_one(row) or "1")
        peer.learn_one(row, label)
    same = WindowNeighbour(100).predict_then_learn(X, y) == np.array(theirs)
    assert same.mean() > 0.999


@pytest.mark.parametrize(
    ("name", "percent"), [("1cdt", 99.731), ("2cdt", 94.506), ("1csurr", 98.023)]
)
def test_scores_what_moa_scores(published, name, percent):
    """MOA's kNN (CapyMOA 0.15, k=1, window 100) scales distances by each feature's range."""
    X, y = published(name)
    right = WindowNeighbour(100).predict_then_learn(X, y) == y
    assert 100 * right.mean() == pytest.approx(percent, abs=0.1)
