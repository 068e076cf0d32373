"""No-change, majority and running mean, by hand, and their known scores."""

import numpy as np
import pytest

from dfop.baselines import MajorityClass, NoChangeClassifier, NoChangeRegressor, RunningMean

ROWS = np.zeros((6, 1))


def test_no_change_repeats_the_previous_label():
    y = np.array([3, 3, 1, 2, 2, 1])
    predicted = NoChangeClassifier().predict_then_learn(ROWS, y)
    assert predicted.tolist() == [1, 3, 3, 1, 2, 2]


def test_no_change_repeats_the_previous_target():
    y = np.array([0.5, -1.0, 2.0, 2.5, 0.0, 9.0])
    assert NoChangeRegressor().predict_then_learn(ROWS, y).tolist() == [0, 0.5, -1, 2, 2.5, 0]


def test_majority_counts_and_prefers_the_first_class_among_equals():
    y = np.array(["b", "b", "c", "c", "c", "a"])
    model = MajorityClass()
    assert model.predict_then_learn(ROWS, y).tolist() == ["a", "b", "b", "b", "b", "c"]
    assert model.counts_.tolist() == [1, 2, 3]


def test_running_mean_is_the_mean_so_far():
    y = np.array([1.0, 2.0, 6.0, 3.0, 8.0, 4.0])
    assert RunningMean().predict_then_learn(ROWS, y).tolist() == [0, 1, 1.5, 3, 3, 4]


@pytest.mark.parametrize(
    ("name", "percent"),
    [("electricity", 85.33), ("weather", 68.03), ("spam", 91.60), ("usenet-1", 33.07)],
)
def test_no_change_scores_what_is_known_of_the_published_streams(published, name, percent):
    X, y = published(name)
    right = NoChangeClassifier().predict_then_learn(X, y) == y
    assert 100 * right.mean() == pytest.approx(percent, abs=0.02)


def test_no_change_scores_what_is_known_of_debutanizer(published):
    X, y = published("debutanizer")
    y = y.astype(float)
    error = np.square(NoChangeRegressor().predict_then_learn(X, y) - y)
    assert 100 * error[1:].mean() == pytest.approx(0.018, abs=0.001)
