"""What a model tells is the same, to the bit, however the rows came.

Rows have gaps, some have no target, labels may come late; outliers, a jump, louder noise and a
column in another unit are in them. What is compared: intervals or probabilities of every row before
its target, alarms, outliers, and the drift spectrum.
"""

import itertools

import numpy as np
import pandas as pd
import pytest

from dfop import DFOPClassifier, DFOPRegressor, from_bytes, river, to_bytes

ROWS, LATE, OUTLIERS = 2400, 7, [500, 700, 900]
NAMES = ["a", "b", "c"]
LEARNERS = {
    "default": {},
    "linear": {"features": "linear", "lags": 1},
    "single": {"forgetting": 0.02, "monitor": True},
}
TARGETS = ("number", "two numbers", "two classes", "four classes")
CUTS = [1, 2, 3, 255, 256, 257, 900, 1203, 1205, 1260, 1607, 2399]
EVERY = list(itertools.product(LEARNERS, TARGETS))
# With lags rows need to know how many targets there are before the first label has come
COME_LATE = [case for case in EVERY if case != ("linear", "two numbers")]
RIVER = [case for case in EVERY if case[1] != "two numbers"]


def rows(target, unlabelled):
    rng = np.random.default_rng(5)
    X, at = rng.normal(size=(ROWS, 3)), np.arange(ROWS)
    y = X.sum(axis=1) + rng.normal(size=ROWS) * np.where(at < 2000, 1, 4)
    y[at >= 1200] += 15.0
    y[OUTLIERS] += 40.0
    X[rng.random(X.shape) < 0.05] = np.nan
    X[at >= 1600, 2] *= 10
    seen = rng.random(ROWS) < 0.8 if unlabelled else np.ones(ROWS, bool)
    seen[[0, 1, 2, 3, *OUTLIERS]] = True
    if target == "number":
        return X, np.where(seen, y, np.nan)
    if target == "two numbers":
        return X, np.where(seen[:, np.newaxis], np.c_[y, -2 * y + rng.normal(size=ROWS)], np.nan)
    edges = [0.0] if target == "two classes" else [-1.0, 0.0, 15.0]
    label = np.array(["w", "x", "y", "z"], dtype=object)[np.digitize(y, edges)]
    label[: len(edges) + 1] = ["w", "x", "y", "z"][: len(edges) + 1]
    label[~seen] = None
    return X, label


def learner(name, target, **more):
    face = DFOPRegressor if target.endswith(("number", "numbers")) else DFOPClassifier
    return face(**LEARNERS[name], **more)


def first_call(y):
    return {"classes": "open"} if y.dtype == object else {}


def surely(model, X, y, first):
    """What was known of each row before its target: both ends of intervals, or probabilities."""
    if y.dtype != object:
        return model.predict_interval_then_learn(X, y).reshape(len(X), -1)
    known = first_call(y) if first else {}
    return model.ahead_then_learn(X, y, **known).probability


def told(model):
    """All that a model says of the stream so far."""
    said = {"alarms": [vars(alarm) for alarm in model.alarms_]}
    if not isinstance(model, DFOPClassifier | river.DFOPClassifier):
        said["outliers"] = model.outliers_
    if hasattr(model, "drift_"):
        drift = model.drift_
        numbers = (drift.mu, drift.noise, drift.power, drift.misfit, drift.in_use, drift.alarms)
        said["drift"] = numbers, drift.verdict.words, drift.errors.tolist()
    return said


def pieces(cuts):
    return itertools.pairwise([0, *cuts, ROWS])


@pytest.mark.parametrize("unlabelled", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", LEARNERS)
def test_any_split_saved_and_loaded_on_the_way_tells_the_same(name, target, unlabelled):
    X, y = rows(target, unlabelled)
    whole = learner(name, target, semi=unlabelled)
    parts = learner(name, target, semi=unlabelled)
    sure, found = surely(whole, X, y, first=True), []
    for start, end in pieces(CUTS):
        found.append(surely(parts, X[start:end], y[start:end], first=start == 0))
        parts = from_bytes(to_bytes(parts))
    np.testing.assert_array_equal(np.concatenate(found), sure)
    assert told(parts) == told(whole)
    assert {alarm.kind for alarm in whole.alarms_} >= {"inputs"}
    if target == "number" and name != "linear":  # with lags an outlier is the next row's feature
        assert whole.outliers_ >= 1
        assert {alarm.kind for alarm in whole.alarms_} >= {"inputs", "errors"}
    assert hasattr(whole, "drift_") == (name != "single")


@pytest.mark.parametrize(("name", "target"), COME_LATE)
def test_with_late_labels_some_of_which_never_come_any_split_tells_the_same(name, target):
    X, y = rows(target, unlabelled=True)
    missing = pd.isna(y) if y.ndim == 1 else np.isnan(y[:, 0])

    def run(cuts):
        model, sure = learner(name, target), []
        for start, end in pieces(cuts):
            due = np.arange(max(start - LATE, 0), max(end - LATE, 0))
            due = due[~missing[due]]
            labels = (due, y[due], due + LATE - start) if len(due) else None
            known = first_call(y) if start == 0 else {}
            ahead = model.ahead_pending(X[start:end], range(start, end), labels=labels, **known)
            how_sure = ahead.interval if y.dtype != object else ahead.probability
            sure.append(how_sure.reshape(end - start, -1))
            model = from_bytes(to_bytes(model))
        return told(model), np.concatenate(sure)

    whole, sure = run([])
    said, found = run(CUTS)
    np.testing.assert_array_equal(found, sure)
    assert said == whole
    assert {alarm["kind"] for alarm in whole["alarms"]} >= {"inputs"}


@pytest.mark.parametrize("unlabelled", [False, True])
@pytest.mark.parametrize(("name", "target"), RIVER)
def test_river_tells_what_frames_tell(name, target, unlabelled):
    X, y = rows(target, unlabelled)
    frames = learner(name, target, semi=unlabelled)
    face = river.DFOPClassifier if y.dtype == object else river.DFOPRegressor
    twin = face(**LEARNERS[name], semi=unlabelled)
    frame = pd.DataFrame(X, columns=NAMES)
    frames.partial_fit(frame, y, **first_call(y))
    for x, value in zip(frame.to_dict("records"), y.tolist(), strict=True):
        twin.learn_one(x, value)
    assert told(twin) == told(frames)
    x = frame.to_dict("records")[-1]
    if y.dtype == object:
        p = twin.predict_proba_one(x)
        assert [p[k] for k in frames.classes_] == frames.predict_proba(frame[-1:])[0].tolist()
    else:
        assert twin.predict_interval_one(x) == tuple(frames.predict_interval(frame[-1:])[0])
