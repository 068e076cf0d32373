"""Alarms: soon after a change, and silent as long as nothing changes, whatever the noise."""

import numpy as np
import pytest
from expert_state import bits
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop import streams
from dfop.core import ErrorAlarm
from expert_bank import mixture


def alarms(errors):
    return ErrorAlarm().watch(np.square(errors))


def watched(squares):
    """The alarm from its formulas: (row, rows since its sum was last 0) of each alarm."""
    found, t = [], 0
    while t < len(squares):
        start, total, rising = t, 0.0, 0
        latest = trusted = (0.0, 3.0)  # mean, and mean square in units of its square
        for t in range(start, len(squares)):
            v, rows = min(squares[t], 1e300), t - start
            if rows >= 100:
                mean, square = trusted
                z = min((v / max(mean, 1e-290) - 1) / np.sqrt(max(square - 1, 0.25)), 10.0)
                total = max(0.0, total + z - 0.7)
                rising = rising + 1 if total > 0 else 0
                if total > 35:
                    found.append((t, rising))
                    break
            mean, square = latest
            share = max(1 / 500, 3 / (rows + 3))
            if mean <= 1e-290:
                latest = max(1e-290, mean + share * (v - mean)), 3.0
            else:
                ratio = min(v / mean, 100.0)
                after = mean + share * ((ratio * mean if rows >= 100 else v) - mean)
                square = ((1 - share) * square + share * ratio**2) * (mean / after) ** 2
                latest = after, square
            if total == 0:
                trusted = latest
        t += 1
    return found


def bernoulli(p):
    return lambda rng, n: 2.0 * (rng.random(n) < p)


NOISES = {
    "Gaussian": lambda rng, n: rng.normal(size=n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "uniform": lambda rng, n: rng.uniform(-1, 1, n),
    "Student with 3 degrees": lambda rng, n: rng.standard_t(3, size=n),
    "1 % of rows wrong": bernoulli(0.01),
    "10 % of rows wrong": bernoulli(0.1),
    "40 % of rows wrong": bernoulli(0.4),
    "noise that doubles in 5,000 rows": lambda rng, n: (
        rng.normal(size=n) * np.exp(0.35 * np.sin(2 * np.pi * np.arange(n) / 20_000))
    ),
    "always the same": lambda rng, n: np.ones(n),
    "never wrong": lambda rng, n: np.zeros(n),
}


@pytest.mark.parametrize("noise", NOISES)
def test_no_alarm_in_a_hundred_thousand_rows_without_change(noise):
    # About one in 10^7 rows: over all noises here one or two, seldom two of one noise.
    runs = [alarms(NOISES[noise](np.random.default_rng(seed), 100_000)) for seed in range(100, 112)]
    assert sum(map(len, runs)) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_no_alarm_of_a_classifier_on_a_stream_that_stands_still(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100_000, 4))
    y = np.where((X @ [1.0, 2.0, 0, 0] + 0.5 * rng.normal(size=len(X))) > 0, 1.0, -1.0)
    assert alarms(y - mixture(X, y)) == []


@pytest.mark.parametrize("seed", range(40, 60))
def test_the_three_changes_of_the_hyperplane_are_found(seed):
    X, y = streams.hyperplane_regression(seed=seed).arrays()
    found = alarms(y - mixture(X, y))
    for change in (500, 1000, 1500):
        hits = [(row, rows) for row, rows in found if change <= row < change + 60]
        assert hits
        row, rows = hits[0]
        assert abs(row + 1 - rows - change) <= 30  # where it says that the errors began to rise
    assert len(found) <= 4


def test_a_classifier_whose_classes_are_exchanged_is_noticed():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    y[2000:] *= -1
    found = alarms(y - mixture(X, y))
    assert [2000 <= row < 2030 for row, _ in found] == [True]


@pytest.mark.parametrize("p", [0.3, 0.5])
def test_a_perfect_classifier_that_begins_to_err_is_noticed(p):
    rng = np.random.default_rng(6)
    errors = np.concatenate([np.zeros(5000), 2.0 * (rng.random(100) < p)])
    assert 5000 <= alarms(errors)[0][0] < 5060


@pytest.mark.parametrize("seed", range(8))
def test_alarms_and_when_errors_began_to_rise_are_what_the_formulas_say(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.permutation([0.3, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 50.0]).repeat(300)
    squares = np.square(rng.normal(size=2400) * sizes)
    found = ErrorAlarm().watch(squares)
    assert found == watched(squares)
    assert len(found) > 0


@pytest.mark.parametrize("quiet", [150, 400, 1000])
def test_errors_began_to_rise_where_they_did(quiet):
    """Errors of one size, then larger ones of one size: the sum is above 0 from the first on."""
    errors = np.r_[np.ones(quiet), np.full(50, 3.0)]
    row, rising = alarms(errors)[0]
    assert row - rising + 1 == quiet


def test_one_outlier_is_no_change():
    errors = np.random.default_rng(7).normal(size=10_000)
    errors[5000] = 1e100
    assert alarms(errors) == []


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 2000))
@settings(max_examples=30)
def test_any_split_and_a_saved_state_give_the_same_alarms(seed, cut):
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-150, 150, 4).repeat(500)
    squares = np.square(rng.normal(size=2000) * size)
    whole, first, second = ErrorAlarm(), ErrorAlarm(), ErrorAlarm()
    found = whole.watch(squares)
    before = first.watch(squares[:cut])
    second.restore(first.state())
    after = [(row + cut, rows) for row, rows in second.watch(squares[cut:])]
    assert before + after == found
    assert bits(second) == bits(whole)
    assert all(np.isfinite(value).all() for value in whole.state().values())
