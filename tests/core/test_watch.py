"""Alarms of errors: soon after a change, and silent as long as nothing changes."""

import numpy as np
import pytest
from expert_state import bits
from hypothesis import given, settings
from hypothesis import strategies as st

from alarm_oracle import watched
from dfop import streams
from dfop.core import Watch
from dfop.model.monitor import at_once
from expert_bank import mixture


def watch_of(predicted, targets, watch):
    """Let a watch of no columns see rows; return (row, rows since the change, kind) of alarms."""
    n = len(targets)
    columns = (np.ascontiguousarray(np.reshape(some, (n, -1))) for some in (predicted, targets))
    found = watch.watch(np.zeros((n, 0)), *columns, at_once(np.ones(n, bool)))
    return [(step // 2, rows, kind) for step, rows, kind, _ in found]


def alarms(errors, numbers=1):
    errors = np.asarray(errors, float)
    return watch_of(np.zeros_like(errors), errors, Watch(0, numbers))


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
    numbers = 0 if "wrong" in noise else 1  # or labels
    draws = (NOISES[noise](np.random.default_rng(seed), 100_000) for seed in range(100, 112))
    assert sum(len(alarms(errors, numbers)) for errors in draws) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_no_alarm_of_a_classifier_on_a_stream_that_stands_still(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100_000, 4))
    y = np.where((X @ [1.0, 2.0, 0, 0] + 0.5 * rng.normal(size=len(X))) > 0, 1.0, -1.0)
    assert alarms(y - mixture(X, y), numbers=0) == []


@pytest.mark.parametrize("seed", range(40, 60))
def test_the_three_changes_of_the_hyperplane_are_found(seed):
    X, y = streams.hyperplane_regression(seed=seed).arrays()
    found = alarms(y - mixture(X, y))
    for change in (500, 1000, 1500):
        hits = [(row, rows) for row, rows, _ in found if change <= row < change + 60]
        assert hits
        row, rows = hits[0]
        assert abs(row + 1 - rows - change) <= 30  # where it says that the errors began to rise
    assert len(found) <= 4


def test_a_classifier_whose_classes_are_exchanged_is_noticed():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    y[2000:] *= -1
    found = alarms(y - mixture(X, y), numbers=0)
    assert [2000 <= row < 2030 for row, *_ in found] == [True]


@pytest.mark.parametrize("p", [0.3, 0.5])
def test_a_perfect_classifier_that_begins_to_err_is_noticed(p):
    rng = np.random.default_rng(6)
    errors = np.concatenate([np.zeros(5000), 2.0 * (rng.random(100) < p)])
    assert 5000 <= alarms(errors, numbers=0)[0][0] < 5060


def followed(y, share=0.3):
    """A model that goes part of the way to every target."""
    predicted = np.zeros(len(y))
    for t in range(1, len(y)):
        predicted[t] = predicted[t - 1] + share * (y[t - 1] - predicted[t - 1])
    return predicted


@pytest.mark.parametrize("numbers", [0, 1])
@pytest.mark.parametrize("seed", range(12))
def test_alarms_and_outliers_are_what_the_formulas_say(seed, numbers):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=4000) * rng.permutation([1, 1, 1, 3, 1, 0.3, 2, 1]).repeat(500)
    y[rng.integers(500, 4000, 8)] += rng.choice([-25, 25], 8)
    y[2000:] += 6
    predicted, watch = followed(y), Watch(0, numbers)
    found, outliers = watched(predicted, y, shocks=numbers == 1)
    assert watch_of(predicted, y, watch) == found
    assert watch.outliers == outliers
    assert not numbers or found or outliers


@pytest.mark.parametrize("quiet", [301, 400, 1000])
def test_errors_began_to_rise_where_they_did(quiet):
    """Errors of one size, then larger ones of one size: the sum is above 0 from the first on."""
    errors = np.r_[np.ones(quiet), np.full(50, 3.0)]
    row, rising, kind = alarms(errors, numbers=0)[0]
    assert (row - rising + 1, kind) == (quiet, "errors")


def test_no_alarm_in_the_first_rows():
    rng = np.random.default_rng(3)
    errors = rng.normal(size=300) * np.repeat([1.0, 10.0, 1.0], 100)
    assert alarms(errors) == []
    assert alarms(errors, numbers=0) == []


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e290])
def test_louder_noise_is_found_in_any_unit(size):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        errors = size * rng.normal(size=2600) * np.where(np.arange(2600) < 2500, 1, 3)
        assert any(2500 <= row < 2550 for row, *_ in alarms(errors))


@pytest.mark.parametrize("size", [20.0, 1e100])
def test_one_outlier_is_counted_and_does_not_ring(size):
    errors, watch = np.random.default_rng(7).normal(size=10_000), Watch(0, 1)
    errors[5000] = size
    assert watch_of(np.zeros(10_000), errors, watch) == []
    assert watch.outliers == 1


@pytest.mark.parametrize("seed", range(5))
def test_a_jump_that_the_model_follows_at_once_rings(seed):
    """A level that walks by sd 1 and jumps by 10 one day; the last value is predicted."""
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.normal(size=3000)) + 10.0 * (np.arange(3000) >= 2000)
    predicted = np.r_[0.0, y[:-1]]
    found = watch_of(predicted, y, Watch(0, 1))
    assert [(2000 <= row < 2020, kind) for row, _, kind in found] == [(True, "jump")]


def test_a_jump_of_several_numbers_at_once_is_that_of_their_norm():
    """Rotated targets have the same alarms; one more that is always right changes none."""
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(3000, 2)) + 4.0 * (np.arange(3000) >= 2000)[:, np.newaxis]
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    plain = watch_of(np.zeros_like(Y), Y, Watch(0, 2))
    turned = watch_of(np.zeros_like(Y), Y @ turn, Watch(0, 2))
    more = np.column_stack([Y, np.zeros(3000)])
    assert plain == turned == watch_of(np.zeros_like(more), more, Watch(0, 3))
    assert [2000 <= row < 2020 for row, *_ in plain] == [True]


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 2000))
@settings(max_examples=30)
def test_any_split_and_a_saved_state_give_the_same_alarms(seed, cut):
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-150, 150, 4).repeat(500)
    X, y = rng.normal(size=(2000, 2)), rng.standard_t(2, size=2000) * size
    made = 0.1 * size * X[:, 0]

    def see(watch, part):
        order = at_once(np.ones(len(y[part]), bool))
        some = (np.ascontiguousarray(a[part]) for a in (X, made[:, np.newaxis], y[:, np.newaxis]))
        return [(step // 2 + part.start, *rest) for step, *rest in watch.watch(*some, order)]

    whole, first, second = Watch(2, 1), Watch(2, 1), Watch(2, 1)
    found = see(whole, slice(0, 2000))
    before = see(first, slice(0, cut))
    second.restore(first.state())
    assert before + see(second, slice(cut, 2000)) == found
    assert bits(second) == bits(whole)
    assert all(np.isfinite(value).all() for value in whole.state().values())


def test_a_column_that_comes_later_is_one_that_was_0():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(3000, 2)), rng.normal(size=3000)
    X[:1500, 1] = 0.0
    y[2000:] += 8
    made = X.sum(axis=1)
    rows = (made[:, np.newaxis], (y + made)[:, np.newaxis])
    both, later = Watch(2, 1), Watch(1, 1)
    order = at_once(np.ones(1500, bool))
    for watch, columns in ((both, 2), (later, 1)):
        watch.watch(np.ascontiguousarray(X[:1500, :columns]), *(a[:1500] for a in rows), order)
    later.add_features(1)
    ends = [w.watch(X[1500:], *(a[1500:] for a in rows), order) for w in (both, later)]
    assert ends[0] == ends[1] != []


def test_rows_without_a_target_and_rows_that_do_not_fit():
    watch, ones = Watch(1, 1), np.ones((3, 1))
    assert watch.watch(ones, ones, ones, at_once(np.array([True, False, True]))) == []
    assert watch.state()["alarm/rows"] == 2
    for X, predicted in ((np.ones((3, 2)), ones), (ones, np.ones((3, 2))), (ones, ones[:2])):
        with pytest.raises(ValueError, match=r"wrong|output"):
            watch.watch(X, predicted, ones, at_once(np.ones(3, bool)))
    with pytest.raises(ValueError, match="step"):
        watch.watch(ones, ones, ones, np.array([3]))
