"""Probabilities that come true as often as they say, and never contradict the prediction."""

import os
import pickle

import calibration_oracle as oracle
import numpy as np
import pytest
from expert_state import bits
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from dfop import DFOPClassifier, streams
from dfop.core import Calibration, Filter
from dfop.evaluation.sources import in_memory


def calibration_error(p, labels, bins=15):
    """Expected calibration error of the predicted class's probability."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == labels
    at = np.minimum((sure * bins).astype(int), bins - 1)
    return np.abs(np.bincount(at, sure - right)).sum() / len(p)


def calibrated(margins, labels):
    return Calibration(2).calibrate(np.ascontiguousarray(margins)[:, None], labels)


def test_it_learns_the_logistic_curve_that_made_the_labels():
    rng = np.random.default_rng(0)
    margins = rng.uniform(-1, 1, 50_000)
    truth = 1 / (1 + np.exp(-4 * margins))
    labels = (rng.random(50_000) < truth).astype(np.int64)
    p = calibrated(margins, labels)[5000:, 1]
    assert np.sqrt(np.mean((p - truth[5000:]) ** 2)) < 0.03


def test_it_follows_when_labels_become_noisier():
    rng = np.random.default_rng(1)
    margins = rng.uniform(-1, 1, 40_000)
    flip = np.where(np.arange(40_000) < 20_000, 0.02, 0.3)
    labels = ((margins > 0) ^ (rng.random(40_000) < flip)).astype(np.int64)
    p = calibrated(margins, labels)
    assert p[19_000:20_000].max(axis=1).mean() == pytest.approx(0.98, abs=0.02)
    assert p[22_000:].max(axis=1).mean() == pytest.approx(0.7, abs=0.03)


def test_classes_that_are_predicted_with_different_success_get_curves_of_their_own():
    rng = np.random.default_rng(2)
    margins = rng.uniform(-1, 1, 40_000)
    wrong = np.where(margins > 0, 0.4, 0.05)
    labels = ((margins > 0) ^ (rng.random(40_000) < wrong)).astype(np.int64)
    p = calibrated(margins, labels)[10_000:]
    up = margins[10_000:] > 0
    assert p[up, 1].mean() == pytest.approx(0.6, abs=0.02)
    assert p[~up, 0].mean() == pytest.approx(0.95, abs=0.02)


def test_many_classes():
    rng = np.random.default_rng(4)
    n, classes = 20_000, 5
    centres = rng.normal(size=(classes, 3)) * 1.2
    labels = rng.integers(0, classes, n)
    X = centres[labels] + rng.normal(size=(n, 3))
    scores = np.empty((n, classes))
    filter_ = Filter(3, classes, True, 100.0, 1e6)
    Y = np.eye(classes)[labels]
    filter_.learn(X, Y, np.array([0.999]), np.array([1.0]), scores)
    p = Calibration(classes).calibrate(scores, labels)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(p.argmax(axis=1), scores.argmax(axis=1))
    assert calibration_error(p, labels) < 0.02
    clipped = np.clip(scores, 0.01, None)
    raw = clipped / clipped.sum(axis=1, keepdims=True)
    row = np.arange(n)
    assert -np.log(p[row, labels]).mean() < -np.log(raw[row, labels]).mean()


def classes_apart(n, classes, seed):
    """Outputs of classes, the right one 0.5 above the others in noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    return rng.normal(size=(n, classes)) / 5 + np.eye(classes)[labels] / 2, labels


@pytest.mark.parametrize("curves", ["standard", "of leads"])
@pytest.mark.parametrize("classes", [3, 20, 100])
def test_the_curves_are_those_of_the_oracle(classes, curves):
    scores, labels = classes_apart(1500, classes, seed=classes)
    p = Calibration(classes, curves).calibrate(scores, labels)
    chosen = scores.argmax(axis=1)
    ordered = np.sort(scores, axis=1)
    told = oracle.CALIBRATIONS[curves](ordered[:, -1] - ordered[:, -2], chosen, labels)
    least = p.max(axis=1) > np.sort(p, axis=1)[:, -2] * (1 + 1e-5)  # else the decision is kept
    assert least.mean() > 0.9
    np.testing.assert_allclose(p.max(axis=1)[least], told[least], rtol=1e-9)


def ranked(p, labels):
    """How often a row of class 1 is told more likely than one of class 0."""
    ranks, ones = rankdata(p), labels.sum()
    return (ranks[labels == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(labels) - ones))


def rare(n, constant, seed):
    """Margins of a filter that never forgets, and labels; a tenth or less are 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    chance = 1 / (1 + np.exp(-(constant + 1.5 * X[:, 0] - X[:, 1])))
    labels = (rng.random(n) < chance).astype(np.int64)
    margins, filter_ = np.empty((n, 1)), Filter(3, 1, True, 100.0, 1e6)
    filter_.learn(X, 2.0 * labels[:, None] - 1, np.array([1.0]), np.array([1.0]), margins)
    return margins, labels, chance


@pytest.mark.parametrize("constant", [-4, -5, -6])  # 6, 3 and 1 %
def test_rare_events_rank_nearly_as_the_score_they_come_from(constant):
    margins, labels, chance = rare(20_000, constant, seed=-constant)
    told = Calibration(2).calibrate(margins, labels)
    p, known, chance = told[4000:, 1], labels[4000:], chance[4000:]
    assert ranked(p, known) > ranked(margins[4000:, 0], known) - 0.02
    # What is lost, over what the chances that made the labels would have had.
    lost = -np.where(known == 1, np.log(p / chance), np.log((1 - p) / (1 - chance))).mean()
    constant_too = np.log(chance.mean() / chance) * chance
    constant_too += np.log((1 - chance.mean()) / (1 - chance)) * (1 - chance)
    assert lost < -constant_too.mean() / 4


def test_a_rare_class_that_becomes_common_is_followed():
    margins, labels, _ = rare(6000, -6, seed=1)
    rng = np.random.default_rng(2)
    common = (rng.random(3000) < 0.6).astype(np.int64)
    told = Calibration(2).calibrate(
        np.concatenate([margins, np.full((3000, 1), 0.2)]), np.concatenate([labels, common])
    )
    assert told[6500:, 1].mean() == pytest.approx(0.6, abs=0.05)


@pytest.mark.parametrize("curves", ["apart", "of leads", "standard"])
def test_a_copy_has_the_same_curves(curves):
    scores, labels = classes_apart(100, 3, seed=1)
    calibration = Calibration(3, curves)
    calibration.calibrate(scores, labels)
    twin = pickle.loads(pickle.dumps(calibration))
    assert twin.curves == curves
    np.testing.assert_array_equal(twin.probabilities(scores), calibration.probabilities(scores))


def test_curves_of_another_name_are_refused():
    with pytest.raises(ValueError, match="'of leads' or 'standard'"):
        Calibration(2, "shared")


@pytest.mark.parametrize("classes", [4, 30, 100])
def test_classes_with_few_rows_learn_from_the_others(classes):
    scores, labels = classes_apart(5000, classes, seed=7)
    p = Calibration(classes).calibrate(scores, labels)
    apart = Calibration(classes, curves="apart").calibrate(scores, labels)
    assert calibration_error(p, labels) < 0.025
    assert calibration_error(apart, labels) > 1.5 * calibration_error(p, labels)


@given(
    scores=st.lists(
        st.lists(st.floats(-1e150, 1e150) | st.sampled_from([0.0, 1.0]), min_size=4, max_size=4),
        min_size=1,
        max_size=60,
    ),
    classes=st.integers(2, 4),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60)
def test_the_decision_stays_whatever_the_scores(scores, classes, seed):
    scores = np.ascontiguousarray(np.array(scores)[:, : classes if classes > 2 else 1])
    labels = np.random.default_rng(seed).integers(0, classes, len(scores))
    p = Calibration(classes).calibrate(scores, labels)
    near_largest = scores >= scores.max(axis=1, keepdims=True) - 1e-9
    decision = near_largest.argmax(axis=1) if classes > 2 else (scores[:, 0] > 1e-9).astype(int)
    np.testing.assert_array_equal(p.argmax(axis=1), decision)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert (p >= 0).all()


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 200))
@settings(max_examples=20)
def test_any_split_and_a_saved_state_give_the_same_bits(seed, cut):
    rng = np.random.default_rng(seed)
    scores, labels = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    whole, first, second = Calibration(3), Calibration(3), Calibration(3)
    p = whole.calibrate(scores, labels)
    before = first.calibrate(scores[:cut], labels[:cut])
    second.restore(first.state())
    after = second.calibrate(scores[cut:], labels[cut:])
    np.testing.assert_array_equal(np.concatenate([before, after]), p)
    assert bits(second) == bits(whole)
    np.testing.assert_array_equal(second.probabilities(scores), whole.probabilities(scores))


def test_a_class_that_comes_late_leaves_the_others_as_they_are():
    rng = np.random.default_rng(8)
    margins = rng.uniform(-1, 1, 5000)
    labels = (margins + 0.5 * rng.normal(size=5000) > 0).astype(np.int64)
    calibration = Calibration(2)
    calibration.calibrate(margins[:, None], labels)
    sure = calibration.probabilities(np.array([[-0.4], [0.7]])).max(axis=1)
    calibration.add_classes(1)
    later = calibration.probabilities(np.array([[0.4, 0.0, 0.0], [0.0, 0.7, 0.0]])).max(axis=1)
    np.testing.assert_allclose(later, sure, rtol=1e-12)


def test_a_label_that_is_no_class_changes_nothing():
    calibration = Calibration(2)
    before = bits(calibration)
    with pytest.raises(ValueError, match="none of the classes"):
        calibration.calibrate(np.ones((2, 1)), np.array([0, 2]))
    assert bits(calibration) == before


STREAMS = ["1cdt", "2cht", "usenet-1", "usenet-2", "luxembourg", "weather", "powersupply"]
LONG = [
    "sea",
    "2cdt",
    "1cht",
    "1csurr",
    "electricity",
    "spam",
    "hyperplane",
    "ug-2c-2d",
    "ug-2c-5d",
    "mg-2c-2d",
    "g-2c-2d",
]


@pytest.mark.skipif(
    "DFOP_DATA" not in os.environ, reason="DFOP_DATA is not set: it names the folder of streams"
)
@pytest.mark.parametrize(
    "name", [*STREAMS, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)]
)
def test_the_published_streams_are_calibrated(name):
    rows = in_memory(streams.load(name))
    labels = (rows.y == np.unique(rows.y)[-1]).astype(np.int64)
    p = DFOPClassifier().predict_proba_then_learn(rows.X, labels, classes=[0, 1])
    assert calibration_error(p, labels) < 0.03
