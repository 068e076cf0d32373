"""Alarms of inputs: columns that change places, fall silent or come in another unit."""

import numpy as np
import pytest
from expert_state import bits
from hypothesis import given, settings
from hypothesis import strategies as st
from input_oracle import watched
from scipy.signal import lfilter

from dfop.core import Watch
from dfop.model.monitor import at_once

CHANGED = 2500


def see(watch, X):
    """Let a watch see rows of a model that is never wrong; return (row, columns) of alarms."""
    zeros = np.zeros((len(X), 1))
    order = at_once(np.ones(len(X), bool))
    found = watch.watch(np.ascontiguousarray(X), zeros, zeros, order)
    assert all(kind == "inputs" and rows == 32 for _, rows, kind, _ in found)
    return [(step // 2, columns) for step, _, _, columns in found]


def columns(rng, n=2700):
    """Columns unlike each other: of other levels, scales and laws."""
    return np.column_stack(
        [
            rng.normal(5, 1, n),
            rng.exponential(2, n),
            rng.uniform(-10, 10, n),
            100 + rng.standard_t(3, n),
            (rng.random(n) < 0.5).astype(float),
        ]
    )


CHANGES = {
    "swapped": lambda X: X[:, [1, 0, 2, 3, 4]],
    "silent": lambda X: np.column_stack([np.full(len(X), 5.0), X[:, 1:]]),
    "ten times as large": lambda X: X * [10, 1, 1, 1, 1],
    "moved": lambda X: X + np.array([4, 0, 0, 0, 0]),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", range(5))
def test_a_column_that_changes_is_named_within_50_rows(seed, change):
    X = columns(np.random.default_rng(seed))
    X[CHANGED:] = CHANGES[change](X[CHANGED:])
    found = see(Watch(5, 0), X)
    assert [CHANGED <= row < CHANGED + 50 for row, _ in found] == [True]
    assert 0 in found[0][1]
    assert set(found[0][1]) <= {0, 1}


@pytest.mark.parametrize("change", CHANGES)
def test_alarms_are_what_the_formulas_say(change):
    """Columns that depend on each other; the first row, before any target, is not watched."""
    count = 0
    for seed in range(10, 14):
        rng = np.random.default_rng(seed)
        X = columns(rng, 3000)
        X[:, 2] += 8 * X[:, 0] + X[:, 1]
        X[rng.integers(500, 3000, 4), rng.integers(5, size=4)] += 300.0
        X[1700:, 3] = 100 + np.cumsum(rng.normal(size=1300))
        X[CHANGED:] = CHANGES[change](X[CHANGED:])
        found = see(Watch(5, 0), X)
        assert found == [(row + 1, which) for row, which in watched(X[1:])]
        count += len(found)
    assert count >= 4


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_change_places_are_told_by_the_others(seed):
    """Each stays about within its own range; what two others say of one no longer holds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2700, 4))
    X[:, 3] = 0.7 * (X[:, 0] + X[:, 1]) + 0.1 * rng.normal(size=2700) + 1.0
    X[CHANGED:, [2, 3]] = X[CHANGED:, [3, 2]]
    found = see(Watch(4, 0), X)
    assert [CHANGED <= row < CHANGED + 50 for row, _ in found] == [True]
    assert {2, 3} & set(found[0][1])


def walks(rng, n):
    return np.cumsum(rng.normal(size=(n, 5)), axis=0)


LAWS = {
    "unlike columns": (columns, 0),
    "seasons": (lambda rng, n: np.sin(np.outer(np.arange(n), [0.3, 0.1, 0.01]))
                + 0.3 * rng.normal(size=(n, 3)), 0),
    "clocks": (lambda rng, n: np.column_stack([np.arange(n), np.arange(n) % 24.0]), 0),
    "always the same": (lambda rng, n: np.ones((n, 2)), 0),
    "walks": (walks, 2),
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_columns_that_go_on_as_they_were_are_silent(law):
    draw, most = LAWS[law]
    X = [draw(np.random.default_rng(seed), 20_000) for seed in range(3)]
    assert sum(len(see(Watch(rows.shape[1], 0), rows)) for rows in X) <= most


def bursts(rng, n):
    """GARCH(1, 1) of variance 1."""
    e, rows, variance = rng.normal(size=(n, 5)), np.empty((n, 5)), np.ones(5)
    for t in range(n):
        rows[t] = np.sqrt(variance) * e[t]
        variance = 0.05 + 0.15 * rows[t] ** 2 + 0.8 * variance
    return rows


PERIODS, STEPS = np.array([24, 48, 96, 336, 1000]), np.array([2, 2, 3, 5, 10])
IN_A_MILLION = {  # what may ring of five columns, of which nothing changes
    "independent": (lambda rng, n: rng.normal(size=(n, 5)), 5),
    "AR(.8)": (lambda rng, n: lfilter([1], [1, -0.8], rng.normal(size=(n, 5)), axis=0), 5),
    "seasonal": (lambda rng, n: 5 * np.sin(2 * np.pi * np.arange(n)[:, np.newaxis] / PERIODS)
                 + rng.normal(size=(n, 5)), 5),
    "discrete": (lambda rng, n: rng.integers(0, STEPS, size=(n, 5)).astype(float), 5),
    "Student-3": (lambda rng, n: rng.standard_t(3, size=(n, 5)), 5),
    "walks": (walks, 50),
    "bursts": (bursts, 50),
    "Cauchy": (lambda rng, n: rng.standard_cauchy(size=(n, 5)), 50),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("law", IN_A_MILLION)
def test_few_ring_in_a_million_rows_in_which_nothing_changes(law):
    draw, most = IN_A_MILLION[law]
    runs = (draw(np.random.default_rng([700, seed]), 200_000) for seed in range(5))
    assert sum(len(see(Watch(5, 0), X)) for X in runs) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("d", "least"), [(5, 0.95), (50, 0.9)])
def test_another_unit_is_found_wherever_in_a_block_it_begins(d, least):
    """Columns around 0, so that nothing but their size changes: the hardest of such changes."""
    found = []
    for seed in range(12):
        for at in range(2992, 3008):
            X = np.random.default_rng([800, seed, at, d]).normal(size=(at + 50, d))
            X[at:, 0] *= 10
            found.append(any(row >= at and 0 in which for row, which in see(Watch(d, 0), X)))
    assert np.mean(found) >= least


def test_missing_numbers_do_not_move_what_is_normal():
    """A gap is coded as 0 here, with an indicator: only the change later on rings."""
    rng = np.random.default_rng(0)
    x = rng.normal(50, 1, 4000)
    missing = rng.random(4000) < 0.3
    plain, gaps = Watch(1, 0), Watch(2, 0)
    gaps.set_gaps([1, -2])
    X = np.column_stack([np.where(missing, 0.0, x), missing])
    X[3000:, 0] *= 3
    assert see(plain, x[:3000, np.newaxis]) == []
    found = see(gaps, X)
    assert [(3000 <= row < 3050, which) for row, which in found] == [(True, [0])]


def test_columns_that_are_no_numbers_are_not_watched():
    X = columns(np.random.default_rng(1))
    X[CHANGED:, 0] *= 10
    watch = Watch(5, 0)
    watch.set_gaps([-2, -1, -1, -1, -1])
    assert see(watch, X) == []
    with pytest.raises(ValueError, match="one number per feature"):
        watch.set_gaps([-1])


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 1500))
@settings(max_examples=20, deadline=None)
def test_any_split_and_a_saved_state_give_the_same_alarms(seed, cut):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(1500, 3)) * 10.0 ** rng.uniform(-140, 140, 3)
    X[1000:, rng.integers(3)] *= rng.choice([0.0, 10.0, -5.0])
    whole, first, second = Watch(3, 0), Watch(3, 0), Watch(3, 0)
    found, before = see(whole, X), see(first, X[:cut])
    second.restore(first.state())
    assert before + [(row + cut, which) for row, which in see(second, X[cut:])] == found
    assert bits(second) == bits(whole)
    assert all(np.isfinite(value).all() for value in whole.state().values())
