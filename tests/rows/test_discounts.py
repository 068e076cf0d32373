"""Discounts and gains of rows, from rules, times and weights."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dfop import DFOPRegressor, half_life, period
from dfop.forgetting import ByClock, ByRows
from dfop.rows.times import Clock
from dfop.rows.weights import row_weights


@pytest.mark.parametrize("mu", [0.0, 1e-300, 1e-17, 1e-15, 1e-9, 1e-3, 0.5, 1 - 2**-53])
@pytest.mark.parametrize("c", [1e-12, 0.5, 1.0, 3.0, 1e6, 1e20])
def test_the_gain_of_a_weight_is_the_sum_of_its_repeats(mu, c):
    """(1 - lam^c)/(1 - lam), between min(c, 1) and c, exactly c at mu = 0, and 1 at c = 1."""
    weights = row_weights(ByRows(mu), 1, Clock(), sample_weight=[c])
    gain = weights.gain[0]
    expected = c if mu == 0 else -np.expm1(c * np.log1p(-mu)) / mu
    assert gain == pytest.approx(expected, rel=1e-12)
    assert 0.0 < weights.discount[0] <= 1.0


@pytest.mark.parametrize("c", [0.5, 2.0])
@pytest.mark.parametrize("lam", [1.0, 1 - 2**-53, 1 - 1e-12, 0.5, 1e-300])
def test_the_gain_of_a_weight_under_a_given_discount(c, lam):
    weights = row_weights(ByRows(0.0), 1, Clock(), sample_weight=[c], discount=[lam])
    expected = c if lam == 1 else np.expm1(c * np.log(lam)) / (lam - 1.0)
    assert weights.gain[0] == pytest.approx(expected, rel=1e-12)
    assert weights.discount[0] == pytest.approx(max(lam**c, 1e-300), rel=1e-12)


def test_weight_zero_stops_the_clock_of_rows_and_of_time():
    by_rows = row_weights(ByRows(0.1), 3, Clock(), sample_weight=[1, 0, 1])
    assert by_rows.discount[1] == 1.0
    assert by_rows.gain[1] == 0.0
    by_time = row_weights(ByClock(1.0), 3, Clock(), time=[0.0, 5.0, 6.0], sample_weight=[1, 0, 1])
    assert by_time.discount == pytest.approx([1.0, 1.0, np.exp(-6.0)])


@pytest.mark.parametrize("tiny", [1e-250, 1e-201, 1e-150])
def test_a_row_of_hardly_any_weight_still_lets_the_time_pass(tiny):
    """The clock goes on with it, so the past must fade with it."""
    X, y = np.ones((3, 1)), np.array([1.0, 7.0, 3.0])
    model = DFOPRegressor(period("1 s"), fit_intercept=False)
    model.partial_fit(X, y, time=[0.0, 3.0, 3.0], sample_weight=[1.0, tiny, 1.0])
    old = np.exp(-3.0)
    assert model.coef_[0] == pytest.approx((old + 3.0) / (old + 1.0 + old / 100.0), rel=1e-10)


def test_the_clock_survives_the_border_of_batches():
    time = np.cumsum([0.0, 1.0, 0.0, 2.5, 0.1])
    whole = row_weights(ByClock(2.0), 5, Clock(), time=time)
    first = row_weights(ByClock(2.0), 2, Clock(), time=time[:2])
    second = row_weights(ByClock(2.0), 3, first.clock, time=time[2:])
    assert (np.concatenate([first.discount, second.discount]) == whole.discount).all()


NOON = datetime(2024, 3, 31, 12, tzinfo=UTC)
TIMES = [NOON, NOON + timedelta(minutes=1), NOON + timedelta(hours=30)]


@pytest.mark.parametrize(
    "time",
    [
        np.array([t.replace(tzinfo=None) for t in TIMES], "datetime64[s]"),
        np.array([t.replace(tzinfo=None) for t in TIMES], "datetime64[ns]"),
        [t.replace(tzinfo=None) for t in TIMES],
        TIMES,
        [t.astimezone(timezone(timedelta(hours=k))) for k, t in enumerate(TIMES)],
        pd.Series(TIMES),
        pd.DatetimeIndex(TIMES).tz_convert("Europe/Berlin"),
        pd.Series(TIMES).dt.tz_localize(None),
        pl.Series([t.replace(tzinfo=None) for t in TIMES]),
        [t.timestamp() for t in TIMES],
        [int(t.timestamp()) for t in TIMES],
    ],
    ids=lambda value: type(value).__name__,
)
def test_all_ways_to_write_a_time_mean_the_same(time):
    weights = row_weights(ByClock(3600.0), 3, Clock(), time=time)
    assert weights.discount == pytest.approx(np.exp([0.0, -60 / 3600, -(30 - 1 / 60)]), rel=1e-10)


@pytest.mark.parametrize("unit", ["D", "s", "us"])
@pytest.mark.parametrize("years", [("1500-01-01", "1500-01-02"), ("2261-12-31", "2999-01-01")])
def test_dates_beyond_what_nanoseconds_can_count_are_in_order_or_refused_as_such(unit, years):
    """They must not wrap around into a time that runs backwards."""
    time = np.array(years, f"datetime64[{unit}]")
    try:
        weights = row_weights(ByClock(1e12), 2, Clock(), time=time)
    except ValueError as refusal:
        message = str(refusal)
    else:
        gap = (time[1] - time[0]) / np.timedelta64(1, "s")
        assert weights.discount[1] == pytest.approx(np.exp(-gap / 1e12))
        return
    assert "row" in message
    assert "backwards" not in message


def test_a_gap_of_any_length_forgets_all_and_no_more():
    weights = row_weights(ByClock(1.0), 3, Clock(), time=[-1e308, 0.0, 1e308])
    assert (weights.discount[1:] > 0.0).all()
    assert (weights.discount[1:] <= 1e-299).all()


def test_a_half_life_is_a_period_times_log_2():
    assert half_life("1 h").period == pytest.approx(period("1 h").period / np.log(2.0))
    assert half_life(10).mu == pytest.approx(1 - 0.5**0.1)
