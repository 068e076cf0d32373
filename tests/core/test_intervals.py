"""Half-widths cover what they promise, on every stream, in the long run and lately."""

import os

import interval_oracle as oracle
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
@settings(max_examples=20)
def test_the_widths_are_those_of_the_oracle(seed):
    errors = hostile_errors(seed, 800)
    widths, _ = oracle.track(errors)
    np.testing.assert_allclose(Intervals(1).track(errors[:, None])[:, 0], widths, rtol=1e-9)


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
    missed = ~covered(errors, widths)
    begun = [0, *np.flatnonzero((ratios[1:] == start).all(axis=1)) + 1]  # anew
    assert begun[1:] == oracle.track(errors)[1]
    for begin, end in zip(begun, [*begun[1:], len(errors)], strict=True):
        piece = slice(begin + 1, end)
        if end == begin + 1:
            continue
        expected = (end - begin - 1) * (1 - LEVELS) + np.log(ratios[end - 1] / start) / STEP
        free = ((ratios[piece] > 1e-4) & (ratios[piece] < 1e4)).all(axis=0)  # of its bounds
        np.testing.assert_allclose(missed[piece].sum(axis=0)[free], expected[free], atol=1e-6)
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


@pytest.mark.parametrize("wild", [1e9, 1e100])
@pytest.mark.parametrize("in_a_row", [1, 3])
def test_wild_errors_hardly_widen(wild, in_a_row):
    errors = np.random.default_rng(7).normal(size=(1500, 1))
    plain = Intervals(1).track(errors)[:, 0]
    errors[1000 : 1000 + in_a_row] = wild
    widths = Intervals(1).track(errors)[:, 0]
    r = plain[1000] / plain[1000, 4] * norm.ppf(0.95) / np.sqrt(2 / np.pi)  # about the ratios
    most = np.exp(STEP * in_a_row * LEVELS) * (1 + 0.03 * (10 * 1.2 * r[-1] - 1)) ** in_a_row
    assert (widths[1000 + in_a_row] < most * plain[1000]).all()
    np.testing.assert_allclose(widths[1300, 2:6], plain[1300, 2:6], rtol=0.15)


def test_errors_that_come_after_nothing_are_covered_at_once():
    blocks = []
    for seed in range(20):
        errors = np.zeros(1600)
        errors[:20] = np.random.default_rng(seed).normal(size=20)
        errors[1400:] = np.random.default_rng(seed + 100).normal(size=200)
        inside = covered(errors, Intervals(1).track(errors[:, None])[:, 0])
        blocks.append(inside[1400:].reshape(4, 50, -1).mean(axis=1))
    of_ninety = np.mean(blocks, axis=0)[:, 4]
    assert of_ninety[0] > 0.65  # four of them are wild
    assert (np.abs(of_ninety[1:] - 0.9) < 0.08).all()


def test_a_larger_unit_is_taken_up_within_a_few_rows():
    errors = np.random.default_rng(9).normal(size=1000) * np.repeat([1.0, 1e6], 500)
    widths = Intervals(1).track(errors[:, None])[:, 0]
    assert covered(errors, widths)[510:600, 4].mean() > 0.8


@pytest.mark.parametrize("in_a_row", [4, 6, 12])
@pytest.mark.parametrize("wild", [1e4, 1e30])
def test_a_run_of_wild_errors_is_soon_forgotten(wild, in_a_row):
    errors = np.random.default_rng(10).normal(size=1500)
    plain = Intervals(1).track(errors[:, None])[:, 0]
    errors[1000 : 1000 + in_a_row] = wild * np.linspace(1.0, 1.5, in_a_row)
    widths = Intervals(1).track(errors[:, None])[:, 0]
    assert (widths[1000 + in_a_row + 10 :, 4] < 3 * plain[1000 + in_a_row + 10 :, 4]).all()


@pytest.mark.parametrize("in_a_row", [2, 3])
def test_two_or_three_wild_errors_are_forgotten_within_a_hundred_rows(in_a_row):
    errors = np.random.default_rng(11).normal(size=1500)
    plain = Intervals(1).track(errors[:, None])[:, 0]
    errors[1000 : 1000 + in_a_row] = 1e9
    widths = Intervals(1).track(errors[:, None])[:, 0]
    assert (widths[1100:, 4] < 1.5 * plain[1100:, 4]).all()


@pytest.mark.parametrize("first", [0.0, 1e-6, 1.0, 1e6])
def test_a_first_error_that_happens_to_be_small_does_not_narrow_those_after_it(first):
    errors = np.random.default_rng(8).normal(size=(200, 60))
    errors[:, 0] = first
    inside = [covered(e, Intervals(1).track(e[:, None])[:, 0])[2:10] for e in errors]
    assert np.mean(inside, axis=(0, 1))[4] > 0.75  # of .9: two errors tell little


def test_the_first_error_before_anything_was_learned_is_forgotten():
    errors = np.random.default_rng(8).normal(size=100)
    errors[0] = 1e6
    widths = Intervals(1).track(errors[:, None])[:, 0]
    assert (widths[2:, 4] < 10).all()


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


# -- targets that come late -----------------------------------------------------------------------


def late_order(n, delay, batch):
    """Rows, and the target of each `delay` rows later; or all targets of a batch together."""
    order = []
    for t in range(n):
        if batch and t and t % delay == 0:
            order += [~i for i in range(t - delay, t)]
        if not batch and t >= delay:
            order.append(~(t - delay))
        order.append(t)
    return np.array(order)


def said_in(intervals, errors, order):
    said = np.full((len(errors), intervals.said_size), np.nan)
    intervals.replay(errors, order, said)
    return said


def of_a_walking_level(rng, n, delay, batch):
    """Errors of the level that was known when each row came."""
    t = np.arange(n)
    known = t // delay * delay if batch else np.maximum(t - delay, 0)
    level = np.concatenate([[0.0], np.cumsum(rng.normal(size=n))])
    return (level[1:] - level[known] + rng.normal(size=n))[:, None]


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_targets_that_come_at_once_are_no_late_ones(seed):
    errors = hostile_errors(seed, 300)[:, None]
    both, at_once = Intervals(1), Intervals(1)
    order = np.column_stack([np.arange(300), ~np.arange(300)]).ravel()
    said = said_in(both, errors, order)
    np.testing.assert_array_equal(said[:, 1:], at_once.track(errors)[:, 0])
    np.testing.assert_array_equal(said[:, 0], np.arange(300))
    assert bits(both) == bits(at_once)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("delay", [1, 10, 50, 250])
def test_late_targets_of_a_walking_level_are_covered(delay, batch):
    inside = []
    for seed in range(100, 103):
        errors = of_a_walking_level(np.random.default_rng(seed), 20_000, delay, batch)
        said = said_in(Intervals(1), errors, late_order(len(errors), delay, batch))
        inside.append(covered(errors[:, 0], said[:, 1:])[1000:].mean(axis=0))
    np.testing.assert_allclose(np.mean(inside, axis=0), LEVELS, atol=0.02)


@pytest.mark.parametrize("delay", [3, 60])
def test_misses_of_late_targets_are_judged_as_the_rows_were_told(delay):
    """While the delay stays the same, the quantile moves as misses of the widths given say."""
    rng = np.random.default_rng(delay)
    errors = rng.standard_t(3, size=(4000, 1)) * (1 + np.arange(4000)[:, None] / 1000)
    order, intervals = late_order(4000, delay, batch=False), Intervals(1)
    start = 2 * (delay + 100)  # steps: now and later `delay` targets are under way
    said = np.full((4000, intervals.said_size), np.nan)
    intervals.replay(errors, order[:start], said)
    before = intervals.state()["ratio"][0]
    intervals.replay(errors, order[start:], said)
    judged = ~order[start:][order[start:] < 0]
    missed = (np.abs(errors[judged]) > said[judged, 1:]).sum(axis=0)
    between = delay - 1  # labels that come after a row and before its own
    moved = np.log(intervals.state()["ratio"][0] / before) / (STEP / (1 + between / 20))
    expected = missed - len(judged) * (1 - LEVELS)
    np.testing.assert_allclose(moved, expected, atol=1e-6)
