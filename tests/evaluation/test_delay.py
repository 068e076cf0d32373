"""How many labels are known does not depend on how the stream is cut."""

import warnings
from datetime import timedelta

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor
from dfop.evaluation import evaluate
from dfop.evaluation.delay import Arrivals, check_delay
from dfop.rows import Batch


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("delay", [0, 1, 30, 2.5, 1000.0])
def test_counts_are_those_of_the_definition(delay, size):
    rng = np.random.default_rng(0)
    time = np.cumsum(rng.integers(0, 3, size=100)).astype(float)
    arrivals, counted = Arrivals(delay), []
    for start in range(0, 100, size):
        part = time[start : start + size]
        counts = arrivals.count(len(part), part)
        assert counts[-1] <= start + len(part)
        counted += counts[:-1].tolist()
    if isinstance(delay, int):
        expected = [max(0, t - delay) for t in range(100)]
    else:
        expected = [sum(time[i] + delay <= time[t] for i in range(t)) for t in range(100)]
    assert counted == expected


def test_the_last_count_is_for_a_row_at_the_same_moment():
    assert Arrivals(2).count(5, None).tolist() == [0, 0, 0, 1, 2, 3]
    clock = np.array([0.0, 1.0, 2.0])
    assert Arrivals(1.0).count(3, clock).tolist() == [0, 1, 2, 2]
    assert Arrivals(0.0).count(3, clock).tolist() == [0, 1, 2, 3]
    days = np.arange(3).astype("M8[D]")
    assert Arrivals(timedelta(days=1)).count(3, days).tolist() == [0, 1, 2, 2]


def test_a_clock_that_runs_backwards_between_batches_is_refused():
    arrivals = Arrivals(5.0)
    arrivals.count(2, np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="does at row 2"):
        arrivals.count(1, np.array([1.5]))


@pytest.mark.parametrize(
    "delay", [np.timedelta64(10, "h"), np.timedelta64(600, "m"), timedelta(hours=10), "10h"]
)
def test_a_duration_may_have_any_unit(delay):
    clock = np.datetime64("2024-01-01", "ns") + np.arange(40) * np.timedelta64(1, "h")
    rows = Batch(np.arange(40.0)[:, None], False, {}, ("x",), clock)
    result = evaluate(DFOPClassifier(), (rows, np.arange(40) % 2), delay=delay)
    assert result.known.tolist() == [max(0, t - 9) for t in range(40)]


@pytest.mark.parametrize("delay", [np.timedelta64(1, "M"), np.timedelta64(3)])
def test_a_duration_without_a_fixed_length_is_refused(delay):
    with pytest.raises(ValueError, match="no fixed length"):
        check_delay(delay, clocked=True)


@pytest.mark.parametrize("late", [{"delay": 40}, {"label_batch": 41}])
def test_a_model_that_never_learned_is_said_to_have_not(late):
    rows = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0)
    with pytest.warns(UserWarning, match=r"of 40 rows was.*never learned; give more rows"):
        result = evaluate(DFOPRegressor(), rows, **late)
    assert not result.predictions.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(DFOPRegressor(), rows, delay=38)
