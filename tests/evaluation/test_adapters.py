"""Every model gets the rows in the form it takes, whole."""

import numpy as np
import pandas as pd
import pytest
from river import compose, linear_model, preprocessing
from sklearn.linear_model import SGDRegressor

from dfop import DFOPClassifier, DFOPRegressor, compare, evaluate, holdout
from dfop.evaluation.sources import as_stream
from dfop.rows import Batch, Text

from .fakes import (
    LateLeastSquares,
    LeastSquares,
    Listener,
    Numbers,
    Remembering,
    WeighsRed,
)


def mixed(n=40):
    """Numbers with gaps, text with gaps, names and times."""
    rng = np.random.default_rng(3)
    numbers = np.column_stack([rng.normal(size=n), np.zeros(n)])
    numbers[5, 0] = np.nan
    codes = rng.integers(-1, 2, size=n)
    return Batch(
        numbers,
        True,
        {1: Text(codes, ["red", "blue"])},
        ("size", "colour"),
        np.datetime64("2020-01-01") + np.arange(n).astype("m8[h]"),
    )


class Stream(Numbers):
    """A stream that yields Batches."""

    def __init__(self, rows, y):
        self.rows, self.y, self.name = rows, np.asarray(y), "batches"
        self.feature_names, self.classes, self.has_time = rows.names, None, True

    def batches(self, size):
        for start in range(0, len(self.y), size):
            yield self.rows[start : start + size], self.y[start : start + size]

    def fresh(self, t, n, rng):
        return self.rows[:n], self.y[:n]


def heard_rows(model):
    return [row for X, _, _ in model.heard for row in X.rows()]


@pytest.mark.parametrize("delay", [0, 7])
def test_names_text_gaps_and_times_arrive_in_a_model_that_takes_batches(delay):
    rows, model = mixed(), Listener()
    evaluate(model, Stream(rows, np.arange(40.0)), delay=delay, batch=16)
    first, _, _ = model.heard[0]
    assert first.names == ("size", "colour")
    times = np.concatenate([time for _, y, time in model.heard if y is not None])
    np.testing.assert_array_equal(times, rows.time[: len(times)])
    if not delay:
        assert heard_rows(model) == rows.rows()
    learned = [row for X, y, _ in model.heard if y is not None for row in X.rows()]
    assert learned == rows.rows()[: 40 - delay]


def test_a_tuple_with_a_batch_or_a_frame_arrives_as_well():
    rows, y = mixed(), np.arange(40.0)
    frame = pd.DataFrame(rows.rows(), columns=["size", "colour"])
    for X in (rows, frame):
        model = Listener()
        evaluate(model, (X, y))
        assert heard_rows(model) == rows.rows()
        assert model.heard[0][0].names == rows.names


def test_holdout_and_compare_carry_batches_too():
    rows, y, model = mixed(), np.arange(40.0), Listener()
    holdout(model, Stream(rows, y), every=20, size=5)
    learned_then_asked = [rows[:20], rows[:5], rows[20:], rows[:5]]
    assert heard_rows(model) == [row for part in learned_then_asked for row in part.rows()]
    table = compare({"model": WeighsRed()}, {"mixed": Stream(rows, y)}, trials=2)
    assert np.isfinite(table.scores).all()


def test_a_scikit_learn_model_gets_a_matrix_where_all_are_numbers():
    seen = []

    class Spy(SGDRegressor):
        def partial_fit(self, X, y):
            seen.append(X)
            return super().partial_fit(X, y)

    evaluate(Spy(), (pd.DataFrame({"a": [1.0, 2.0]}), [1.5, 2.5]))
    assert all(type(X) is np.ndarray and X.shape == (1, 1) for X in seen)


@pytest.mark.parametrize("delay", [0, 3])
def test_a_scikit_learn_model_gets_a_frame_where_there_is_text(delay):
    rows = mixed()
    result = evaluate(model := WeighsRed(), (rows, np.arange(40.0)), delay=delay)
    assert result.predictions.tolist() == [float(c == "red") for c in rows.texts[1].cells()]
    assert model.kinds_ == [np.float64, object]


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("model", [SGDRegressor(), LeastSquares()])
def test_a_model_for_numbers_says_which_column_is_text(model, delay):
    with pytest.raises(ValueError, match="takes numbers only, and column 'colour' holds text"):
        evaluate(model, (mixed(), np.arange(40.0)), delay=delay)


def test_what_a_model_that_takes_frames_says_later_is_not_blamed_on_text():
    class Fails(WeighsRed):
        def partial_fit(self, X, y):
            if y[0] > 10:
                raise ValueError("the label is above 10")
            return super().partial_fit(X, y)

    with pytest.raises(ValueError, match="above 10"):
        evaluate(Fails(), (mixed(), np.arange(40.0)))


class RiverListener:
    """It keeps the dicts that it learns."""

    def __init__(self):
        self.heard = []

    def predict_one(self, x):
        return 0.0

    def learn_one(self, x, y):
        self.heard.append(x)


def test_a_river_model_gets_dicts_without_what_is_missing():
    rows, model = mixed(), RiverListener()
    evaluate(model, (rows, np.arange(40.0)))
    whole = rows.dicts()
    assert model.heard == [{k: v for k, v in x.items() if v is not None} for x in whole]
    assert any(len(x) < 2 for x in model.heard)


def test_a_river_model_that_takes_none_gets_it():
    class Takes(RiverListener):
        takes_batches = True

    rows, model = mixed(), Takes()
    evaluate(model, (rows, np.arange(40.0)))
    assert model.heard == rows.dicts()


def test_a_river_pipeline_with_an_imputer_gets_none():
    from river import stats

    model = (
        preprocessing.StatImputer(("size", stats.Mean()))
        | compose.SelectType(float)
        | linear_model.LinearRegression()
    )
    assert np.isfinite(evaluate(model, (mixed(), np.arange(40.0))).score)


@pytest.mark.parametrize("forgetting", [0.01, "auto"])
def test_text_and_gaps_reach_the_learners(forgetting):
    """The same rows as a frame in one call give the same predictions."""
    rows = mixed(120)
    frame = pd.DataFrame(rows.rows(), columns=["size", "colour"])
    y = np.where(frame["colour"] == "red", 1.0, -1.0) + 0.1 * np.sin(np.arange(120))
    result = evaluate(DFOPRegressor(forgetting), (rows, y), batch=50)
    expected = DFOPRegressor(forgetting).predict_then_learn(frame, y)
    np.testing.assert_array_equal(result.predictions, expected)
    labels = np.where(y > 0, "up", "down")
    assert evaluate(DFOPClassifier(forgetting), (frame, labels), delay=5).score > 0.8


# -- labels that come late ---------------------------------------------------------------------


@pytest.mark.parametrize("clock", [False, True])
@pytest.mark.parametrize("delay", [1, 3, 50, 500])
@pytest.mark.parametrize("batch", [1, 7, 100, 1000])
@pytest.mark.filterwarnings("ignore:no label had come")
def test_a_model_that_waits_by_itself_is_asked_once_a_batch(delay, batch, clock):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    rows = Numbers(X, X @ [1.0, 2.0, 3.0], time=np.cumsum(rng.integers(0, 3, size=300)))
    late = float(delay) if clock else delay
    model = LateLeastSquares()
    result = evaluate(model, rows, delay=late, batch=batch)
    for other in (LeastSquares(), Remembering()):
        by_groups = evaluate(other, rows, delay=late, batch=batch)
        # These predict rows together, which rounds otherwise.
        np.testing.assert_allclose(result.predictions, by_groups.predictions, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(result.known, by_groups.known)
        # Afterwards they know the same, and what is still under way is not learned.
        np.testing.assert_array_equal(getattr(model, "w_", 0), getattr(other, "w_", 0))
    assert model.calls_ == [(start, min(batch, 300 - start)) for start in range(0, 300, batch)]
    learned = result.known[-1] if batch == 1 else 300 - len(model.rows_)
    assert result.known[-1] <= learned <= 300


def test_without_delay_nothing_is_said_of_late_labels():
    X = np.ones((20, 1))
    evaluate(model := LateLeastSquares(), (X, np.ones(20) / 2))
    assert not hasattr(model, "calls_")


def test_only_rows_that_wait_are_kept():
    from dfop.evaluation.adapters import adapt

    stream = as_stream((np.ones((100, 1)), np.ones(100) / 2))
    learner = adapt(LeastSquares(), stream)
    for start in range(0, 100, 10):
        known = np.maximum(np.arange(start, start + 11) - 15, 0)
        learner.walk_late(
            stream.rows[start : start + 10], stream.y[start : start + 10], known, start
        )
        assert sum(len(rows.y) for rows in learner._waiting) == min(start + 10, 15)
