"""Half-widths cover what they promise, on every stream, in the long run and lately."""

import os

import numpy as np
import pytest
from dfop.uncertainty import half_widths_at
from expert_state import bits
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dfop import streams
from dfop.core import COVERAGES, Intervals
from dfop.evaluation.sources import in_memory
from dfop.paper.regression import unit_range
from expert_bank import mixture, moving_target

LEVELS = np.array(COVERAGES)
STEP = 0.05  # of the logarithm


def covered(errors, widths):
    return np.abs(errors)[:, None] <= widths


def worst_window(inside, rows=200):
    sums = np.cumsum(np.vstack([np.zeros(inside.shape[1]), inside]), axis=0)
    return (sums[rows:] - sums[:-rows]).min(axis=0) / rows


def hostile_errors(seed, n):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** np.cumsum(rng.normal(size=n) * rng.choice([0.0, 0.1, 1.0]))
    return np.clip(rng.standard_t(1.5, size=n) * scale * (rng.random(n) < 0.9), -1e150, 1e150)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_misses_are_what_the_movement_of_the_quantile_says_on_any_stream(seed):
    errors = hostile_errors(seed, 800)
    intervals = Intervals(1)
    start = intervals.state()["ratio"][0]
    widths, ratios = [], []
    for error in errors:
        widths.append(intervals.track(error.reshape(1, 1))[0, 0])
        ratios.append(intervals.state()["ratio"][0])
    widths, ratios = np.array(widths), np.array(ratios)
    misses = (~covered(errors, widths)[1:]).sum(axis=0)
    expected = (len(errors) - 1) * (1 - LEVELS) + np.log(ratios[-1] / start) / STEP
    free = ((ratios > 1e-4) & (ratios < 1e4)).all(axis=0)  # of its bounds
    np.testing.assert_allclose(misses[free], expected[free], atol=1e-6)
    assert np.isfinite(widths[1:]).all()
    assert (np.diff(widths[1:], axis=1) >= 0).all()


def test_widths_of_gaussian_errors_are_its_quantiles():
    errors = np.random.default_rng(0).normal(size=(200_000, 1))
    widths = Intervals(1).track(errors)[1000:, 0]
    np.testing.assert_allclose(np.median(widths, axis=0), norm.ppf((1 + LEVELS) / 2), rtol=0.05)


@pytest.mark.parametrize(
    "kind", ["walk", "jumps", "heavy tails", "noise comes and goes", "noise jumps"]
)
def test_coverage_holds_on_moving_targets(kind):
    X, y = moving_target(kind, 10_000, 5, seed=3)
    errors = y - mixture(X, y)
    check_coverage(errors)


def check_coverage(errors):
    widths = Intervals(1).track(errors[:, None])[:, 0]
    inside = covered(errors, widths)
    np.testing.assert_allclose(inside.mean(axis=0), LEVELS, atol=0.01)
    assert (worst_window(inside)[LEVELS >= 0.8] >= LEVELS[LEVELS >= 0.8] - 0.12).all()
    between = np.abs(errors) <= half_widths_at(widths, 0.85)
    assert between.mean() == pytest.approx(0.85, abs=0.01)


@pytest.mark.parametrize("seed", range(4))
def test_coverage_holds_on_the_regression_hyperplane(seed):
    X, y = streams.hyperplane_regression(seed=seed).arrays()
    check_coverage(y - mixture(X, y))


@pytest.mark.skipif(
    "DFOP_DATA" not in os.environ, reason="DFOP_DATA is not set: it names the folder of streams"
)
@pytest.mark.parametrize("name", ["sru-1", "sru-2", "debutanizer"])
def test_coverage_holds_on_the_published_regression_streams(name):
    rows = unit_range(in_memory(streams.load(name)))
    check_coverage(rows.y - mixture(rows.X, rows.y))


def test_nothing_is_promised_before_the_first_error():
    assert np.isinf(Intervals(2).half_widths()).all()
    assert np.isinf(half_widths_at(Intervals(2).half_widths(), 0.9)).all()


def test_exact_predictions_have_width_zero_and_are_covered():
    intervals = Intervals(1)
    intervals.track(np.zeros((5000, 1)))
    assert (intervals.half_widths() == 0).all()


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 300))
@settings(max_examples=20)
def test_any_split_and_a_saved_state_give_the_same_bits(seed, cut):
    errors = np.column_stack([hostile_errors(seed, 300), hostile_errors(seed + 1, 300)])
    whole, first, second = Intervals(2), Intervals(2), Intervals(2)
    widths = whole.track(errors)
    before = first.track(errors[:cut])
    second.restore(first.state())
    after = second.track(errors[cut:])
    np.testing.assert_array_equal(np.concatenate([before, after]), widths)
    assert bits(second) == bits(whole)
