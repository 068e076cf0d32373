"""`ahead_then_learn` says what the other calls say, all at once."""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor


@pytest.mark.parametrize("forgetting", ["auto", 0.01])
def test_of_numbers_it_is_the_prediction_and_the_interval(rng, forgetting):
    X = rng.normal(size=(600, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=600)
    ahead = DFOPRegressor(forgetting).ahead_then_learn(X, y, 0.8)
    predicted = DFOPRegressor(forgetting).predict_then_learn(X, y)
    np.testing.assert_array_equal(ahead.prediction, predicted)
    assert ahead.probability is None
    if forgetting == "auto":
        ends = DFOPRegressor().predict_interval_then_learn(X, y, 0.8)
        np.testing.assert_array_equal(ahead.interval, ends)
    else:
        assert ahead.interval is None


@pytest.mark.parametrize("forgetting", ["auto", 0.01])
@pytest.mark.parametrize("labels", [["up", "down"], [3, 1, 2]], ids=str)
def test_of_labels_it_is_the_prediction_and_its_probability(rng, forgetting, labels):
    X = rng.normal(size=(600, 3))
    y = np.array(labels)[np.argmax(X[:, : len(labels)], axis=1)]
    ahead = DFOPClassifier(forgetting).ahead_then_learn(X, y)
    model = DFOPClassifier(forgetting)
    np.testing.assert_array_equal(ahead.prediction, model.predict_then_learn(X, y))
    shown = DFOPClassifier(forgetting).predict_proba_then_learn(X, y)
    at = [model.classes_.tolist().index(label) for label in ahead.prediction.tolist()]
    np.testing.assert_array_equal(ahead.probability, shown[np.arange(600), at])
    assert ahead.interval is None


def test_it_is_the_same_for_any_split(rng):
    X = rng.normal(size=(700, 2))
    y = X[:, 1]
    whole = DFOPRegressor().ahead_then_learn(X, y)
    model = DFOPRegressor()
    parts = [model.ahead_then_learn(X[a:b], y[a:b]) for a, b in [(0, 1), (1, 300), (300, 700)]]
    for name in ("prediction", "interval"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(whole, name))


@pytest.mark.parametrize("face", [DFOPClassifier, DFOPRegressor])
def test_several_targets_are_refused(face):
    with pytest.raises(ValueError, match="ahead_then_learn takes one"):
        face().ahead_then_learn([[1.0], [2.0]], [[1, 2], [2, 1]])
