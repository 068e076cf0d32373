"""One pass: every prediction comes before its label."""

import weakref
from dataclasses import replace
from datetime import timedelta
from itertools import product

import numpy as np
import pytest
from river import evaluate as river_evaluate
from river import linear_model, metrics, naive_bayes, preprocessing, stream
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor

from dfop.evaluation import evaluate

from .fakes import (
    FastProba,
    FastSGD,
    Hoarder,
    LeastSquares,
    Numbers,
    PendingSpy,
    Remembering,
    RiverSpy,
    Rows,
    SklearnSpy,
)


@pytest.fixture
def drifting():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] * np.repeat([1, -1], 150) + 0.3 * rng.normal(size=300) > 0, "up", "down")
    return Rows(X, y)


@pytest.fixture
def plane():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    return Numbers(X, X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=200))


def spied(n=60):
    labels = np.arange(n) % 3
    return Rows(np.column_stack([np.arange(n), labels]), labels)


def arrivals(n, late):
    """What may happen, in order; ``late(i, t)`` says that label i is not there before row t."""
    log, learned = [], 0
    for t in range(n + 1):
        while learned < t and not late(learned, t):
            log.append(("learn", learned))
            learned += 1
        if t < n:
            log.append(("predict", t))
    return log


@pytest.mark.parametrize(
    ("spy", "delay"),
    # Without delay the model that remembers rows would walk by itself.
    [(SklearnSpy, 0), (RiverSpy, 0), *product([SklearnSpy, RiverSpy, PendingSpy], [1, 7, 100])],
)
@pytest.mark.parametrize("batch", [1, 16, 1000])
def test_no_label_is_learned_before_its_prediction_nor_before_it_arrives(spy, delay, batch):
    model = spy()
    evaluate(model, spied(), delay=delay, batch=batch)
    assert model.log == arrivals(60, lambda i, t: t <= i + delay)


@pytest.mark.parametrize("spy", [SklearnSpy, RiverSpy, PendingSpy])
@pytest.mark.parametrize("batch", [1, 16, 1000])
@pytest.mark.parametrize("dated", [False, True])
def test_labels_arrive_by_the_clock(spy, batch, dated):
    rng = np.random.default_rng(0)
    seconds = np.cumsum(rng.integers(0, 4, size=60))
    rows = spied()
    if dated:
        rows.time, delay = (
            np.datetime64("2020-01-01") + seconds.astype("m8[s]"),
            timedelta(seconds=9),
        )
    else:
        rows.time, delay = seconds, 9.0
    model = spy()
    result = evaluate(model, rows, delay=delay, batch=batch)
    after = np.append(seconds, seconds[-1])  # at the end the clock stands still
    assert model.log == arrivals(60, lambda i, t: seconds[i] + 9 > after[t])
    assert (result.known <= np.arange(60)).all()


@pytest.mark.parametrize("delay", [0, 5])
def test_river_agrees_row_by_row(drifting, delay):
    X, y = drifting.arrays()
    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    result = evaluate(model.clone(), drifting, delay=delay, proba=True)

    # River counts a delay of one row as none.
    expected = metrics.Accuracy() + metrics.LogLoss() + metrics.CohenKappa()
    data = stream.iter_array(X, y == "up", feature_names=drifting.feature_names)
    river_evaluate.progressive_val_score(data, model.clone(), expected, delay=delay + 1)
    accuracy, log_loss, kappa = expected
    assert result.metrics["log loss"] == pytest.approx(log_loss.get(), rel=1e-9)
    assert result.metrics["kappa"] == pytest.approx(kappa.get(), rel=1e-9)
    assert result.metrics["accuracy"] == pytest.approx(accuracy.get(), rel=1e-12)


def test_river_agrees_by_the_clock(plane):
    clock = np.cumsum(np.random.default_rng(0).exponential(size=len(plane.y)))
    plane.time = clock
    model = linear_model.LinearRegression()
    result = evaluate(model.clone(), plane, delay=4.0)
    expected = metrics.MSE()
    data = stream.iter_array(plane.X, plane.y, feature_names=plane.feature_names)
    moments = iter(clock)
    river_evaluate.progressive_val_score(
        data, model.clone(), expected, moment=lambda x: next(moments), delay=4.0
    )
    assert result.metrics["MSE"] == pytest.approx(expected.get(), rel=1e-9)


def test_more_than_two_classes_of_any_kind_reach_river():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "bb", "ccc"], size=300)
    X = np.searchsorted(["a", "bb", "ccc"], y)[:, None] + 0.1 * rng.normal(size=(300, 2))
    result = evaluate(naive_bayes.GaussianNB(), (X, y), proba=True)
    assert result.score > 0.95
    assert set(result.predictions) == {"a", "bb", "ccc"}
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1)


def test_scikit_learn_agrees_with_a_plain_loop(drifting):
    X, y = drifting.arrays()
    model = SGDClassifier(loss="log_loss", random_state=0)
    result = evaluate(model, drifting, proba=True)
    check = SGDClassifier(loss="log_loss", random_state=0)
    check.partial_fit(X[:1], y[:1], classes=["down", "up"])
    for i in range(1, len(y)):
        assert result.predictions[i] == check.predict(X[i : i + 1])[0]
        assert result.probabilities[i].tolist() == check.predict_proba(X[i : i + 1])[0].tolist()
        check.partial_fit(X[i : i + 1], y[i : i + 1])
    # It learned the last row as well: it can go on from here.
    np.testing.assert_array_equal(model.coef_, check.coef_)


def test_the_fast_path_gives_what_the_rows_give(drifting):
    slow = evaluate(SGDClassifier(random_state=0), drifting)
    for batch in (1, 7, 1000):
        fast = evaluate(FastSGD(random_state=0), drifting, batch=batch)
        np.testing.assert_array_equal(fast.predictions, slow.predictions)


def test_probabilities_in_blocks_give_what_the_rows_give(drifting):
    slow = evaluate(SGDClassifier(loss="log_loss", random_state=0), drifting, proba=True)
    fast = evaluate(FastProba(loss="log_loss", random_state=0), drifting, proba=True)
    np.testing.assert_array_equal(fast.probabilities, slow.probabilities)
    middle = evaluate(FastSGD(loss="log_loss", random_state=0), drifting, proba=True)
    np.testing.assert_array_equal(middle.probabilities, slow.probabilities)


@pytest.mark.parametrize("delay", [0, 3, 50])
@pytest.mark.parametrize(
    "model",
    [
        SGDRegressor(random_state=0),
        LeastSquares(),
        Remembering(),
        linear_model.BayesianLinearRegression(),
    ],
)
def test_batches_do_not_matter(plane, model, delay):
    from dfop.evaluation.models import untrained

    one, seven, all_ = (
        evaluate(untrained(model, 0), plane, delay=delay, batch=b).predictions for b in (1, 7, 1000)
    )
    np.testing.assert_array_equal(one, all_)
    np.testing.assert_array_equal(seven, all_)


def test_a_model_that_remembers_rows_equals_one_that_learns_late(plane):
    late = evaluate(LeastSquares(), plane, delay=20)
    model = Remembering()
    remembered = evaluate(model, plane, delay=20)
    np.testing.assert_array_equal(late.predictions, remembered.predictions)
    assert model.most_ == 21  # no more than the delay, and the row at hand
    assert len(model.waiting_) == 20  # labels that never came


def test_before_the_first_label_the_first_class_or_zero_counts():
    X, y = np.zeros((3, 1)), ["b", "a", "b"]
    result = evaluate(Perceptron(), (X, y), delay=5)
    assert result.predictions.tolist() == ["a", "a", "a"]
    assert evaluate(SGDRegressor(), (X, [1.5, 2.0, 3.0]), delay=5).predictions.tolist() == [0] * 3
    sure = evaluate(SGDClassifier(loss="log_loss"), (X, y), delay=5, proba=True)
    assert sure.probabilities.tolist() == [[0.5, 0.5]] * 3
    assert evaluate(naive_bayes.GaussianNB(), (X, y), delay=5).predictions.tolist() == ["a"] * 3


def test_a_trained_model_is_asked_at_once():
    X, y = np.array([[-1.0], [1.0]] * 50), np.array(["a", "b"] * 50)
    model = SGDClassifier(random_state=0).fit(X, y)
    assert evaluate(model, (X, y)).score == 1.0


def test_probabilities_stand_under_their_classes():
    class Partial(SGDClassifier):
        """It was trained before, on two of the three classes, and keeps to them."""

        def partial_fit(self, X, y):
            return self

    X, y = np.array([[-1.0], [1.0]] * 50), np.array([3, 1] * 50)
    model = Partial(loss="log_loss", random_state=0).fit(X, y)
    result = evaluate(model, ([[-1.0], [1.0], [1.0]], [3, 1, 2]), proba=True)
    assert result.probabilities[:, 1].tolist() == [0, 0, 0]
    assert result.probabilities.argmax(axis=1).tolist() == [2, 0, 0]


def test_a_model_that_knows_the_clock_is_told_the_time(plane):
    class Clocked(LeastSquares):
        def predict_then_learn(self, X, y, time=None):
            self.times_ = [*getattr(self, "times_", []), *time]
            return super().predict_then_learn(X, y)

    plane.time = np.arange(200.0)
    model = Clocked()
    evaluate(model, plane, batch=64)
    assert model.times_ == list(range(200))


@pytest.mark.parametrize("delay", [0, 5])
def test_the_stream_is_read_once_and_not_kept(delay):
    handed_out, most = [], 0

    class Watched(Numbers):
        def batches(self, size):
            nonlocal most
            for X, y in super().batches(size):
                handed_out.append(weakref.ref(X))
                most = max(most, sum(block() is not None for block in handed_out))
                yield X, y
                del X

    rows = Watched(np.ones((200, 2)), np.ones(200))
    evaluate(LeastSquares(), rows, batch=10, delay=delay)
    assert rows.reads == 1
    assert len(handed_out) == 20
    assert most <= 3


def test_memory_is_measured(plane):
    constant = evaluate(SGDRegressor(), plane, batch=50)
    assert constant.bytes_per_row == 0
    assert 300 < constant.bytes < 3000
    X = np.ones((1000, 100))
    growing = evaluate(Hoarder(), Numbers(X, np.ones(1000)), batch=50)
    assert growing.bytes_per_row == pytest.approx(800, rel=0.05)  # 100 doubles
    assert "growing by 8" in growing.summary()
    assert "not growing" in constant.summary()
    later = replace(constant, sizes=[(0, 1), (50, 100), (100, 170), (120, 170)])
    assert later.bytes_per_row == pytest.approx(1.0)  # from row 50 to row 120
    short = replace(constant, sizes=[(0, 1), (120, 170)])
    assert np.isnan(short.bytes_per_row)
    assert "growing" not in short.summary()


def test_a_model_that_cannot_be_pickled_has_no_size(plane):
    model = LeastSquares()
    model.handle = (i for i in range(3))
    assert np.isnan(evaluate(model, plane).bytes)


def test_time_is_measured(plane):
    import time

    class Slow(LeastSquares):
        def predict_then_learn(self, X, y):
            time.sleep(0.05)
            return super().predict_then_learn(X, y)

    assert 0.05 / 200 < evaluate(Slow(), plane).seconds_per_row < 1.0 / 200


def test_progress_counts_the_rows(drifting):
    seen = []
    evaluate(FastSGD(), drifting, batch=125, progress=lambda *now: seen.append(now))
    assert seen == [(125, None), (250, None), (300, None)]
    evaluate(FastSGD(), drifting.arrays(), progress=lambda *now: seen.append(now))
    assert seen[-1] == (300, 300)


def test_a_bar_can_be_drawn(drifting, capsys):
    evaluate(FastSGD(), drifting, progress=True)


def test_a_tuple_means_what_the_model_does():
    X = np.ones((20, 1))
    counts = np.arange(20)
    assert evaluate(SGDRegressor(), (X, counts)).task == "regression"
    assert evaluate(SGDClassifier(), (X, counts)).task == "classification"
    assert evaluate(linear_model.LinearRegression(), (X, counts)).task == "regression"
    assert evaluate(naive_bayes.GaussianNB(), (X, counts)).task == "classification"
    assert evaluate(RiverSpyFree(), (X, counts + 0.5)).task == "regression"


class RiverSpyFree:
    """A model that does not say what it does."""

    def predict_one(self, x):
        return None

    def learn_one(self, x, y):
        pass


def test_columns_of_a_frame_name_the_features():
    pandas = pytest.importorskip("pandas")
    seen = []

    class Names(RiverSpyFree):
        def learn_one(self, x, y):
            seen.append(list(x))

    evaluate(Names(), (pandas.DataFrame({"a": [1.0], "b": [2.0]}), pandas.Series([1.5])))
    assert seen == [["a", "b"]]


X, Y = np.ones((4, 1)), np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((SGDClassifier, (X, Y)), TypeError, r"pass an instance, SGDClassifier\(\)"),
        ((object(), (X, Y)), TypeError, "object is no stream learner"),
        ((SGDClassifier(), (X[:, 0], Y)), ValueError, "Expected 2D array"),
        ((SGDClassifier(), (X, Y[:3])), ValueError, r"shapes \(4, 1\) and \(3,\)"),
        ((SGDClassifier(), (X, Y, Y)), ValueError, "got 3 parts"),
        ((SGDClassifier(), X), TypeError, "or a tuple"),
        ((SGDClassifier(), (X[:0], Y[:0])), ValueError, "0 sample"),
        ((SGDRegressor(), Numbers(X[:0], Y[:0])), ValueError, "'rows' has no rows"),
        ((SGDRegressor(), (X, [1.0, 2.0, np.nan, 1.0])), ValueError, "row 2 has the target nan"),
        ((SGDRegressor(), Numbers(X, [1.0, np.inf, 1.0, 1.0])), ValueError, "row 1 .* inf"),
        ((SGDRegressor(), Rows(X, Y)), ValueError, "is classification, the model regression"),
    ],
)
def test_clear_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        evaluate(*arguments)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"delay": -1}, ValueError, "must not be negative"),
        ({"delay": 1.5}, ValueError, "the stream has no time"),
        ({"delay": timedelta(1)}, ValueError, "the stream has no time"),
        ({"delay": [3]}, TypeError, "rows or a duration"),
        ({"delay": True}, TypeError, "rows or a duration"),
        ({"window": 0}, ValueError, "window must be at least 1"),
        ({"batch": 0}, ValueError, "batch must be at least 1"),
        ({"batch": 2.5}, ValueError, "batch must be at least 1 and a whole number, got 2.5"),
        ({"window": "7"}, ValueError, "window must be at least 1 and a whole number, got '7'"),
        ({"label_batch": 2.5}, ValueError, "label_batch must be at least 1 and a whole number"),
        ({"label_batch": True}, ValueError, "label_batch must be at least 1 and a whole number"),
        ({"proba": True}, TypeError, "gives no probabilities"),
    ],
)
def test_clear_errors_of_options(options, error, message):
    with pytest.raises(error, match=message):
        evaluate(Perceptron(), (X, Y), **options)


@pytest.mark.parametrize(
    ("time", "delay", "message"),
    [
        ([0, 1, 1, 0], 1.0, "decreases?, but does at row 3"),
        ([0, np.nan, 1, 2], 1.0, "but does at row 1"),
        ([0, 1, 2, 3], -1.0, "must not be negative"),
        ([0, 1, 2, 3], float("nan"), "must not be negative"),
        ([0, 1, 2, 3], timedelta(1), "a float in the unit"),
        (np.arange(4).astype("M8[D]"), 1.0, "needs a timedelta"),
    ],
)
def test_clear_errors_of_the_clock(time, delay, message):
    with pytest.raises((TypeError, ValueError), match=message):
        evaluate(Perceptron(), Rows(X, Y, time=time), delay=delay)


def test_more_than_one_target_is_refused():
    rows = Numbers(X, np.ones((4, 2)))
    with pytest.raises(ValueError, match="one target per row"):
        evaluate(LeastSquares(), rows)


class TimedOnly(Numbers):
    """A long file: the times come with the rows, and counting the rows would be a pass."""

    has_time = True

    @property
    def time(self):
        raise AssertionError("this would read the whole file")

    def __len__(self):
        raise AssertionError("this would read the whole file")

    def timed_batches(self, size):
        seen = 0
        for X, y in self.batches(size):
            yield X, y, np.arange(seen, seen + len(y)) / 2
            seen += len(y)


def test_times_are_read_with_their_rows(plane):
    by_clock = evaluate(LeastSquares(), TimedOnly(plane.X, plane.y), delay=2.0, batch=32)
    by_rows = evaluate(LeastSquares(), plane, delay=3)  # the label of t - 4 comes with row t
    np.testing.assert_array_equal(by_clock.predictions, by_rows.predictions)
    np.testing.assert_array_equal(by_clock.known, by_rows.known)


def test_a_stream_without_classes_is_refused():
    rows = Rows(X, Y)
    rows.classes = None
    with pytest.raises(ValueError, match="does not say which classes"):
        evaluate(Perceptron(), rows)


def test_probabilities_of_numbers_are_refused(plane):
    with pytest.raises(ValueError, match="needs a classification stream"):
        evaluate(LeastSquares(), plane, proba=True)
