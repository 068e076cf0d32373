"""A single filter with a monitor: intervals, probabilities and alarms as the default has them."""

import itertools

import numpy as np
import pandas as pd
import pytest

from dfop import DFOPClassifier, DFOPRegressor, from_bytes, half_life, river, to_bytes
from dfop.core import COVERAGES, Calibration, Intervals, Watch
from dfop.model.monitor import at_once

N = 3000


def numbers(seed=0, n=N, jump=None, noise="gaussian"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    w = np.tile([1.0, -2.0, 0.5], (n, 1))
    if jump is not None:
        w[jump:, 0] = -4.0
    e = rng.standard_t(3, size=n) if noise == "heavy" else rng.normal(size=n)
    return X, (X * w).sum(axis=1) + e


def labels(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * X[:, 0])), "up", "down")


def calibration_error(p, right):
    """Mean distance between what was said and what came true, in 15 bins of the probability."""
    at = np.minimum((p * 15).astype(int), 14)
    return sum(abs((p - right)[at == k].sum()) for k in range(15)) / len(p)


def cut(n, at):
    edges = [0, *at, n]
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


def test_a_monitor_changes_no_prediction():
    X, y = numbers()
    plain, watched = DFOPRegressor(0.01), DFOPRegressor(0.01, monitor=True)
    assert np.array_equal(plain.predict_then_learn(X, y), watched.predict_then_learn(X, y))
    assert np.array_equal(plain.coef_, watched.coef_)


def test_intervals_and_alarms_are_those_of_the_one_step_errors():
    X, y = numbers(jump=2000)
    predicted = DFOPRegressor(0.01).predict_then_learn(X, y)
    errors = y - predicted
    tracked = Intervals(1).track(np.ascontiguousarray(errors[:, np.newaxis]))
    order = at_once(np.ones(N, bool))
    found = Watch(3, 1).watch(X, predicted[:, np.newaxis], y[:, np.newaxis], order)
    rang = [~int(order[step]) for step, *_ in found]
    model = DFOPRegressor(0.01, monitor=True)
    ends = model.predict_interval_then_learn(X, y, coverage=0.9)
    half = tracked[:, 0, COVERAGES.index(0.9)]
    assert np.allclose((ends[:, 1] - ends[:, 0])[1:] / 2.0, half[1:], rtol=1e-12)
    assert [alarm.row for alarm in model.alarms_] == rang
    assert any(2000 <= row < 2050 for row in rang)


def test_probabilities_are_those_of_the_one_step_margins():
    X, y = labels()
    plain = DFOPClassifier(0.005, monitor=True)
    p = plain.predict_proba_then_learn(X, y, classes=["down", "up"])
    margins, first = np.empty(len(y)), y[0]
    model = DFOPClassifier(0.005)
    model.partial_fit(X[:1], y[:1], classes=["down", "up"])
    for t in range(1, 300):
        sign = 1.0 if first == "down" else -1.0  # the margin is +1 for the class learned second
        margins[t] = sign * model.decision_function(X[t : t + 1])[0]
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    margins[0] = 0.0
    second = (y[:300] != first).astype(np.int64)
    expected = Calibration(2).calibrate(np.ascontiguousarray(margins[:300, np.newaxis]), second)
    by_label = expected if first == "down" else expected[:, ::-1]
    assert np.allclose(p[1:300], by_label[1:], atol=1e-12)


@pytest.mark.parametrize("noise", ["gaussian", "heavy"])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95])
def test_intervals_hold_as_often_as_the_default_ones(noise, coverage):
    X, y = numbers(noise=noise)

    def held(model):
        low, high = model.predict_interval_then_learn(X, y, coverage=coverage).T
        return np.mean((low <= y) & (y <= high)), np.median(high - low)

    share, width = held(DFOPRegressor(0.005, monitor=True))
    default, default_width = held(DFOPRegressor())
    assert abs(share - coverage) <= max(0.01, abs(default - coverage) + 0.005)
    assert width < 1.1 * default_width


def test_probabilities_come_true_as_often_as_the_default_ones():
    X, y = labels(n=6000)

    def off(model):
        p = model.predict_proba_then_learn(X, y)[500:]
        chosen = model.classes_[p.argmax(axis=1)]
        return calibration_error(p.max(axis=1), chosen == y[500:])

    watched = off(DFOPClassifier(0.002, monitor=True))
    assert watched < 0.03
    assert watched < off(DFOPClassifier()) + 0.01
    assert watched < off(DFOPClassifier(0.002))


def test_any_split_gives_the_same_bits_also_saved_and_loaded_midway():
    X, y = numbers(jump=1500)
    whole = DFOPRegressor(0.01, monitor=True)
    ends = whole.predict_interval_then_learn(X, y)
    pieces, model = [], DFOPRegressor(0.01, monitor=True)
    for part in cut(N, [1, 2, 255, 256, 257, 1100, 1503, 1507, 1520, 2900]):
        pieces.append(model.predict_interval_then_learn(X[part], y[part]))
        model = from_bytes(to_bytes(model))
    assert np.array_equal(np.concatenate(pieces), ends)
    assert model.alarms_ == whole.alarms_ != []
    assert to_bytes(model) == to_bytes(whole)


@pytest.mark.parametrize("classes", [2, 4])
def test_labels_split_and_saved_midway(classes):
    X, y = numbers()
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    whole = DFOPClassifier(0.01, monitor=True)
    p = whole.predict_proba_then_learn(X, labels, classes=range(classes))
    pieces, model = [], DFOPClassifier(0.01, monitor=True)
    for part in cut(N, [1, 3, 255, 300, 1024, 2000]):
        pieces.append(model.predict_proba_then_learn(X[part], labels[part], classes=range(classes)))
        model = from_bytes(to_bytes(model))
    assert np.array_equal(np.concatenate(pieces), p)
    assert to_bytes(model) == to_bytes(whole)


def test_river_has_the_same_intervals_and_alarms():
    X, y = numbers(n=1200, jump=700)
    model = DFOPRegressor(0.02, monitor=True)
    by_name, in_frames = (river.DFOPRegressor(0.02, monitor=True) for _ in "ab")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    rows = frame.to_dict("records")
    for t in range(1200):
        if t in (1, 600, 1100):
            low, high = model.predict_interval(X[t : t + 1])[0]
            assert by_name.predict_interval_one(rows[t]) == pytest.approx((low, high), rel=1e-12)
            by_name = from_bytes(to_bytes(by_name))
        by_name.learn_one(rows[t], y[t])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    in_frames.learn_many(frame, y)
    assert by_name.alarms_ == in_frames.alarms_
    assert [a.row for a in by_name.alarms_] == [a.row for a in model.alarms_] != []


def test_river_calibrates_labels():
    """As the array face does that is not told its classes beforehand, either."""
    X, y = labels(n=800)
    model = DFOPClassifier(0.01, monitor=True)
    by_name = river.DFOPClassifier(0.01, monitor=True)
    for t in range(800):
        by_name.learn_one({"a": X[t, 0], "b": X[t, 1]}, y[t])
    model.partial_fit(X, y, classes="open")
    p = by_name.predict_proba_one({"a": 1.0, "b": 0.0})
    expected = model.predict_proba([[1.0, 0.0]])[0]
    assert [p["down"], p["up"]] == pytest.approx(expected.tolist(), rel=1e-12)


def test_late_labels_are_judged_by_what_was_predicted():
    X, y = numbers(n=600)
    delay = 5

    def run(cuts):
        model = DFOPRegressor(0.02, monitor=True)
        predicted = []
        for part in cut(600, cuts):
            before = np.arange(part.start, part.stop)
            told = before - delay
            due = told[told >= 0]
            labels = (due.tolist(), y[due], (due + delay - part.start)) if len(due) else None
            predicted.append(model.predict_pending(X[part], keys=before.tolist(), labels=labels))
        return model, np.concatenate(predicted)

    whole, predicted = run([])
    pieces, again = run([7, 100, 256, 400])
    assert np.array_equal(predicted, again)
    steps = [step for t in range(600) for step in ([~(t - delay)] if t >= delay else []) + [t]]
    tracker = Intervals(1)
    said = np.full((600, tracker.said_size), np.nan)
    tracker.replay((y - predicted)[:, np.newaxis], np.array(steps), said)
    half = tracker.half_widths()[0, COVERAGES.index(0.9)]
    for model in (whole, pieces):
        low, high = model.predict_interval([[0.0, 0.0, 0.0]])[0]
        assert (high - low) / 2.0 == pytest.approx(half, rel=1e-12)


def test_an_interval_is_known_before_its_target():
    X, y = numbers(n=400)
    ends = DFOPRegressor(0.01, monitor=True).predict_interval_then_learn(X, y)
    other = y.copy()
    other[300:] += 1000.0
    changed = DFOPRegressor(0.01, monitor=True).predict_interval_then_learn(X, other)
    assert np.array_equal(ends[:301], changed[:301])
    assert not np.array_equal(ends[301], changed[301])


def test_by_the_clock_and_with_weights():
    X, y = numbers(n=500)
    time = np.cumsum(np.random.default_rng(0).exponential(size=500))
    model = DFOPRegressor(half_life("100s"), monitor=True)
    ends = model.predict_interval_then_learn(X, y, time=time)
    assert 0.85 < np.mean((ends[50:, 0] <= y[50:]) & (y[50:] <= ends[50:, 1])) < 0.95
    weight = np.tile([1.0, 0.0], 250)  # rows that are not seen leave no trace
    some = DFOPRegressor(0.01, monitor=True)
    some.fit(X, y, sample_weight=weight)
    half = DFOPRegressor(0.01, monitor=True).fit(X[::2], y[::2])
    row = [[1.0, 1.0, 1.0]]
    assert np.array_equal(some.predict_interval(row), half.predict_interval(row))


def test_several_targets_have_each_their_own_widths():
    X, y = numbers(n=1000)
    Y = np.c_[y, 100.0 * y]
    ends = DFOPRegressor(0.01, monitor=True).fit(X, Y).predict_interval(X[:1])
    width = np.diff(ends[0], axis=1)[:, 0]
    assert width[1] / width[0] == pytest.approx(100.0, rel=1e-6)


def test_without_a_monitor_the_error_says_what_to_do():
    X, y = numbers(n=50)
    model = DFOPRegressor(0.01).fit(X, y)
    for ask in (
        lambda: model.predict_interval(X),
        lambda: model.predict_interval_then_learn(X, y),
        lambda: model.alarms_,
        lambda: model.outliers_,
        lambda: model.plot_alarms(),
    ):
        with pytest.raises(AttributeError, match="monitor=True"):
            ask()
    assert not hasattr(model, "alarms_")
    by_name = river.DFOPRegressor(0.01)
    by_name.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(AttributeError, match="monitor=True"):
        by_name.predict_interval_one({"a": 1.0})


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.5, 1.5, float("nan"), "half", None])
def test_a_coverage_that_cannot_be_is_refused(coverage):
    X, y = numbers(n=50)
    model = DFOPRegressor(0.01, monitor=True).fit(X, y)
    before = to_bytes(model)
    with pytest.raises(ValueError, match="coverage="):
        model.predict_interval(X, coverage=coverage)
    with pytest.raises(ValueError, match="coverage="):
        model.predict_interval_then_learn(X, y, coverage=coverage)
    assert to_bytes(model) == before
    with pytest.raises(ValueError, match="coverage="):
        river.DFOPRegressor(0.01, monitor=True).predict_interval_one({"a": 1.0}, coverage=coverage)


@pytest.mark.parametrize("monitor", [1, None, "yes"])
def test_a_monitor_is_asked_for_or_not(monitor):
    with pytest.raises(ValueError, match="monitor="):
        DFOPRegressor(0.01, monitor=monitor).fit([[1.0]], [1.0])


def test_a_monitor_asked_for_later_is_refused():
    X, y = numbers(n=50)
    model = DFOPRegressor(0.01).fit(X, y)
    model.set_params(monitor=True)
    with pytest.raises(ValueError, match="monitor was changed"):
        model.predict(X)
