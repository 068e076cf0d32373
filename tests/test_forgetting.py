"""Forgetting rules: rows and clock, periods and half-lives."""

import math
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfop import DFOPRegressor, half_life, period
from dfop.forgetting import ByClock, ByRows, as_rule


def test_the_period_is_one_over_mu():
    assert period(1000) == ByRows(0.001)


@pytest.mark.parametrize("rows", [0.5, 1, 10, 1e6])
def test_a_row_one_half_life_old_counts_half(rows):
    assert (1.0 - half_life(rows).mu) ** rows == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3d", 3 * 86400), ("90min", 5400), ("1.5 h", 5400), ("2w", 14 * 86400), ("10s", 10),
        ("250ms", 0.25), ("5us", 5e-6), ("7ns", 7e-9), ("1e3s", 1000),
        (timedelta(hours=2), 7200), (np.timedelta64(3, "m"), 180), (pd.Timedelta("1D"), 86400),
    ],
)  # fmt: skip
def test_durations(text, seconds):
    assert period(text).period == pytest.approx(seconds, rel=1e-12)
    assert half_life(text).period == pytest.approx(seconds / math.log(2), rel=1e-12)


@pytest.mark.parametrize(
    "bad", ["3 days", "d", "", "-3d", "0s", "1e999s", timedelta(0), timedelta(-1)]
)
def test_unreadable_durations_are_refused(bad):
    with pytest.raises(ValueError, match="duration"):
        period(bad)


@pytest.mark.parametrize("bad", [1, 0, -5, math.inf, math.nan])
def test_impossible_periods_are_refused(bad):
    with pytest.raises(ValueError, match="period of"):
        period(bad)


@pytest.mark.parametrize("bad", [0, -5, math.inf, math.nan])
def test_impossible_half_lives_are_refused(bad):
    with pytest.raises(ValueError, match="half-life of"):
        half_life(bad)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
def test_impossible_clock_periods_are_refused(bad):
    with pytest.raises(ValueError, match="period must be positive"):
        ByClock(bad)


def test_numbers_and_rules_are_rules():
    assert as_rule(0.25) == ByRows(0.25)
    assert as_rule(np.float32(0.25)) == ByRows(0.25)
    assert as_rule(0) == ByRows(0.0)
    assert as_rule(half_life("1h")) is not None
    with pytest.raises(ValueError, match="is not a rule"):
        as_rule(None)


def test_a_steady_clock_is_forgetting_by_rows(rng):
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    by_rows = DFOPRegressor(half_life(20)).predict_then_learn(X, y)
    by_clock = DFOPRegressor(half_life("20min")).predict_then_learn(
        X, y, time=pd.date_range("2026-03-01", periods=200, freq="min")
    )
    # by the clock the first row has no row before it, so its prior has not faded yet
    np.testing.assert_allclose(by_clock[20:], by_rows[20:], atol=2e-3)


@pytest.mark.parametrize("rule", [period, half_life])
@pytest.mark.parametrize("length", [None, [3], (1, "d")])
def test_what_is_no_length_is_refused_with_the_remedy(rule, length):
    with pytest.raises(TypeError, match=f"{rule.__name__}.* is no length: give a number of rows"):
        rule(length)


def test_an_expiry_by_the_clock_is_refused_by_what_it_is():
    model = DFOPRegressor(0.01, pending_expiry="3d")
    with pytest.raises(ValueError, match=r"a duration \(259200 seconds\).*whole number of rows"):
        model.fit([[1.0]], [1.0])


@pytest.mark.parametrize(
    "written",
    ["half_life('3d')", "period('90min')", "half_life('1w')", "period('1s')", "half_life('7h')"],
)
def test_a_rule_by_the_clock_is_shown_as_it_was_written(written):
    assert repr(eval(written)) == written
    assert repr(DFOPRegressor(eval(written))) == f"DFOPRegressor(forgetting={written})"


@given(st.floats(1e-3, 1e9))
def test_every_rule_by_the_clock_is_shown_as_what_makes_it_again(seconds):
    assert eval(repr(ByClock(seconds))) == ByClock(seconds)
