"""Averages over time, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfop.evaluation.curves import accumulated, faded, windowed

losses = st.lists(st.floats(0, 1e3), min_size=1, max_size=60).map(np.array)
windows = st.integers(1, 70)


@given(losses)
def test_accumulated_is_the_mean_so_far(loss):
    expected = [np.mean(loss[: t + 1]) for t in range(len(loss))]
    np.testing.assert_allclose(accumulated(loss), expected, atol=1e-12)


@given(losses, windows)
def test_windowed_is_the_mean_of_the_last_rows(loss, window):
    expected = [np.mean(loss[max(0, t + 1 - window) : t + 1]) for t in range(len(loss))]
    np.testing.assert_allclose(windowed(loss, window), expected, atol=1e-12)


@given(losses, windows)
def test_faded_is_gamas_recursion(loss, window):
    s = n = 0.0
    expected = []
    for value in loss:
        s, n = value + (1 - 1 / window) * s, 1 + (1 - 1 / window) * n
        expected.append(s / n)
    np.testing.assert_allclose(faded(loss, window), expected, rtol=1e-9, atol=1e-12)


def test_a_window_and_a_fading_factor_look_back_equally_far():
    loss = np.ones(5000)
    loss[-1] = 101.0  # one row weighs 1 in 100 in both
    assert windowed(loss, 100)[-1] == pytest.approx(2.0)
    assert faded(loss, 100)[-1] == pytest.approx(2.0)


def test_a_window_longer_than_the_stream_costs_nothing():
    np.testing.assert_allclose(windowed(np.array([1.0, 0.0]), 10**15), [1.0, 0.5])


def test_a_huge_loss_is_forgotten_by_the_window():
    loss = np.full(50, 0.1)
    loss[3] = 1e300
    loss[4] = np.inf
    curve = windowed(loss, 10)
    assert np.isinf(curve[4:14]).all()
    np.testing.assert_allclose(curve[14:], 0.1)
