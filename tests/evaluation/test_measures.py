"""Measures against River, closed forms and plain loops."""

import numpy as np
import pytest
from river import metrics

from dfop.evaluation.measures import (
    classification_metrics,
    kappa_m,
    kappa_temporal,
    regression_metrics,
)

rng = np.random.default_rng(0)
CLASSES = np.array(["a", "b", "c"])
TRUTH = rng.choice(CLASSES, p=[0.6, 0.3, 0.1], size=400)
GUESS = np.where(rng.random(400) < 0.5, TRUTH, rng.choice(CLASSES, size=400))
PROBA = rng.dirichlet([1, 1, 1], size=400)


def test_classification_agrees_with_river():
    values = classification_metrics(TRUTH, GUESS, CLASSES, probabilities=PROBA)
    for name, metric in [
        ("accuracy", metrics.Accuracy()),
        ("balanced accuracy", metrics.BalancedAccuracy()),
        ("kappa", metrics.CohenKappa()),
    ]:
        for truth, guess in zip(TRUTH.tolist(), GUESS.tolist(), strict=True):
            metric.update(truth, guess)
        assert values[name] == pytest.approx(metric.get()), name
    cross_entropy = metrics.CrossEntropy()
    for truth, p in zip(TRUTH.tolist(), PROBA.tolist(), strict=True):
        cross_entropy.update(truth, dict(zip(CLASSES.tolist(), p, strict=True)))
    assert values["log loss"] == pytest.approx(cross_entropy.get())


def test_brier_is_the_squared_distance_to_the_truth():
    one_hot = (TRUTH[:, None] == CLASSES).astype(float)
    values = classification_metrics(TRUTH, GUESS, CLASSES, probabilities=PROBA)
    assert values["Brier score"] == pytest.approx(((PROBA - one_hot) ** 2).sum(axis=1).mean())
    # Two classes: half of it, which is the squared error of the second class's probability.
    p = np.array([0.2, 0.9])
    two = classification_metrics(
        np.array([0, 1]), np.array([0, 1]), np.array([0, 1]), None, np.column_stack([1 - p, p])
    )
    assert two["Brier score"] == pytest.approx((0.2**2 + 0.1**2) / 2)


def test_regression_agrees_with_river():
    truth, guess = rng.normal(size=100), rng.normal(size=100)
    values = regression_metrics(truth, guess)
    for name, metric in [("MSE", metrics.MSE()), ("MAE", metrics.MAE()), ("R2", metrics.R2())]:
        for t, g in zip(truth, guess, strict=True):
            metric.update(t, g)
        assert values[name] == pytest.approx(metric.get()), name


def test_kappa_m_is_zero_for_the_most_frequent_class_and_one_for_the_truth():
    assert kappa_m(TRUTH, np.repeat("a", 400)) == pytest.approx(0)
    assert kappa_m(TRUTH, TRUTH) == 1
    share = np.mean(TRUTH == "a")
    assert kappa_m(TRUTH, GUESS) == pytest.approx((np.mean(TRUTH == GUESS) - share) / (1 - share))


@pytest.mark.parametrize("delay", [0, 3])
def test_kappa_temporal_is_zero_for_a_predictor_that_repeats_the_last_label(delay):
    known = np.maximum(np.arange(400) - delay, 0)
    right = [TRUTH[t - delay - 1] == TRUTH[t] for t in range(delay + 1, 400)]
    p0, p = np.mean(right), np.mean(TRUTH == GUESS)
    assert kappa_temporal(TRUTH, GUESS, known) == pytest.approx((p - p0) / (1 - p0))
    repeats = np.concatenate([np.repeat("?", delay + 1), TRUTH[: 399 - delay]])
    nearly = kappa_temporal(TRUTH, repeats, known)
    assert nearly == pytest.approx(0, abs=2 * (delay + 1) / 400)


def test_runs_of_labels_make_a_high_accuracy_worthless():
    truth = np.repeat(np.arange(20) % 2, 50)
    guess = np.where(np.arange(1000) % 10 == 0, 1 - truth, truth)
    values = classification_metrics(truth, guess, np.array([0, 1]))
    assert values["accuracy"] == pytest.approx(0.9)
    assert values["kappa"] == pytest.approx(0.8)
    assert values["kappa-temporal"] < -4


def test_what_is_not_defined_is_nan():
    values = classification_metrics(np.array([1, 1]), np.array([1, 0]), np.array([0, 1]))
    assert values["accuracy"] == 0.5
    assert np.isnan(values["kappa-M"])
    assert np.isnan(values["kappa-temporal"])
    assert np.isnan(kappa_temporal(np.array([1]), np.array([1])))
    assert np.isnan(regression_metrics(np.array([1.0]), np.array([2.0]))["R2"])


def test_a_prediction_that_is_not_finite_is_infinitely_wrong():
    for bad in (np.nan, np.inf, -np.inf):
        values = regression_metrics(np.zeros(3), np.array([0, bad, 0]))
        assert values == {"MSE": np.inf, "MAE": np.inf, "R2": -np.inf}
