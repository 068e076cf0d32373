"""Alarms carry the time of the row at which they rang, however rows and labels come."""

import numpy as np
import pytest
from test_alarms import series

from dfop import DFOPClassifier, DFOPRegressor, from_bytes, half_life, to_bytes


def changed(seed=1):
    """Rows whose target jumps at row 2,500 and one column of which is louder from row 1,500 on."""
    X, y = series("walk", "jump 10", seed)
    X[1500:, 2] *= 10
    return X, y


DATES = np.datetime64("2024-03-01T00:00", "ns") + np.arange(2700) * np.timedelta64(90, "s")
SECONDS = 0.5 * np.arange(2700.0)


@pytest.mark.parametrize("when", [DATES, SECONDS])
@pytest.mark.parametrize(
    "settings",
    [{}, {"forgetting": 0.01, "monitor": True}, {"forgetting": half_life("2h"), "monitor": True}],
)
def test_the_time_is_that_of_the_row_for_any_split_and_saved_on_the_way(when, settings):
    X, y = changed()
    whole, parts = DFOPRegressor(**settings).fit(X, y, time=when), DFOPRegressor(**settings)
    assert whole.alarms_
    assert all(alarm.time == when[alarm.row] for alarm in whole.alarms_)
    for start in range(0, len(y), 301):
        part = slice(start, start + 301)
        parts = from_bytes(to_bytes(parts.partial_fit(X[part], y[part], time=when[part])))
    assert parts.alarms_ == whole.alarms_
    assert type(parts.alarms_[0].time) is type(whole.alarms_[0].time)


def test_times_change_nothing_else_and_may_be_missing():
    X, y = changed()
    plain = DFOPRegressor().fit(X, y)
    told = DFOPRegressor().fit(
        X, y, time=np.where(np.arange(2700) < 2000, DATES, np.datetime64("NaT"))
    )
    assert [(a.row, a.kind, a.moved) for a in told.alarms_] == [
        (a.row, a.kind, a.moved) for a in plain.alarms_
    ]
    assert {a.time is None for a in told.alarms_ if a.row >= 2000} == {True}
    assert {a.time is None for a in told.alarms_ if a.row < 2000} == {False}
    assert all(a.time is None for a in plain.alarms_)


@pytest.mark.parametrize("face", [DFOPRegressor, DFOPClassifier])
def test_with_late_labels_inputs_are_numbered_by_the_row_that_came(face):
    X, y = changed()
    y = y if face is DFOPRegressor else np.where(y > np.median(y), "up", "down")
    classes = {} if face is DFOPRegressor else {"classes": ["down", "up"]}
    late, at_once = face(), face().fit(X, y)
    first = next(a for a in at_once.alarms_ if a.kind == "inputs")
    for start in range(0, 2700, 100):
        rows = np.arange(start, start + 100)
        late.predict_pending(X[rows], keys=rows, time=DATES[rows], **classes)
        if start:
            late.learn_pending(rows - 100, y[rows - 100])
    alarm = next(a for a in late.alarms_ if a.kind == "inputs")
    # inputs are watched from the first label on
    assert 1500 <= alarm.row < 1550
    assert abs(alarm.row - first.row) <= 16
    assert alarm.time == DATES[alarm.row]
    assert from_bytes(to_bytes(late)).alarms_ == late.alarms_


@pytest.mark.parametrize(
    "settings", [{"features": "linear"}, {"forgetting": 0.02, "monitor": True}]
)
def test_with_late_labels_alarms_are_the_same_for_any_split_and_saved_on_the_way(settings):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1600, 3))
    y = X.sum(axis=1) + rng.normal(size=1600)
    y[1000:] += 10.0
    X[1300:, 2] *= 10

    def run(edges):
        model = DFOPRegressor(**settings)
        for start, end in zip([0, *edges], [*edges, 1600], strict=True):
            rows = np.arange(start, end)
            due = rows[rows >= 7] - 7  # each label comes just before the seventh row after its own
            labels = (due, y[due], due + 7 - start) if len(due) else None
            model.predict_pending(X[rows], keys=rows, time=SECONDS[rows], labels=labels)
            model = from_bytes(to_bytes(model))
        return model

    whole = run([])
    assert {alarm.kind for alarm in whole.alarms_} > {"inputs"}
    for edges in ([1, 8, 256, 257, 1003, 1009, 1311], list(range(100, 1600, 100))):
        assert run(edges).alarms_ == whole.alarms_


def test_a_filter_without_alarms_takes_no_time():
    with pytest.raises(ValueError, match="monitor=True"):
        DFOPRegressor(forgetting=0.01).fit(np.ones((2, 1)), np.ones(2), time=[0, 1])
