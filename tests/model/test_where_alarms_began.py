"""The row at which a model says that a change began, worked out again from its own errors."""

import numpy as np
import pytest

from alarm_oracle import Alarm, watched
from dfop import DFOPClassifier, DFOPRegressor

BLOCK = 16


def rising_and_jumping(n, seed):
    """Errors that become larger for good, and later a level that jumps."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n) * np.where(np.arange(n) < n // 3, 1.0, 3.0)
    y[2 * n // 3 :] += 60.0
    return y


def shown(model):
    return [(alarm.row, alarm.began, alarm.kind) for alarm in model.alarms_]


def expected(found):
    """Of the rows since a change, the last is the one that rang."""
    return [(row, row - (rows - 1), kind) for row, rows, kind in found]


@pytest.mark.parametrize("seed", range(3))
def test_numbers_began_where_the_formulas_say(seed):
    y, nothing = rising_and_jumping(1500, seed), np.zeros((1500, 1))
    model = DFOPRegressor(features="linear")
    predicted = model.predict_then_learn(nothing, y)
    found, _ = watched(predicted, y)
    assert {kind for _, _, kind in found} == {"errors", "jump"}
    assert shown(model) == expected(found)


@pytest.mark.parametrize("seed", range(3))
def test_late_labels_in_another_order_count_as_they_come(seed):
    """Half of a block's labels come right behind it, half between the rows of the next one."""
    y, nothing = rising_and_jumping(1504, seed), np.zeros((1504, 1))
    rng, model = np.random.default_rng(seed + 10), DFOPRegressor(features="linear")
    predicted, order, late = np.empty(1504), [], np.empty(0, int)
    for start in range(0, 1504, BLOCK):
        rows = np.arange(start, start + BLOCK)
        soon, later = np.split(rng.permutation(rows), 2)
        told = np.r_[late, soon]
        before = np.r_[np.sort(rng.integers(0, BLOCK, len(late))), np.full(len(soon), BLOCK)]
        labels = (told.tolist(), y[told], before)
        predicted[rows] = model.predict_pending(nothing[rows], rows.tolist(), labels=labels)
        order += np.insert(rows, before, ~told).tolist()
        late = later
    found, _ = watched(predicted, y, order=order)
    assert found
    assert shown(model) == expected(found)


def test_labels_began_where_the_sum_was_last_zero():
    """Two classes that are exchanged: by the margins as they were before each label."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(800, 2))
    y = np.where((X[:, 0] > 0) != (np.arange(800) >= 600), 1, -1)
    model, alarm, zero, found = DFOPClassifier(features="linear"), Alarm(shocks=False), 0, []
    model.partial_fit(X[:1], y[:1], classes=[-1, 1])
    alarm.update(1.0, 0.0)  # nothing was known: a margin of 0
    for t in range(1, 800):
        margin = float(model.decision_function(X[t : t + 1])[0])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        rang, _ = alarm.update(abs(y[t] - margin), 0.0)
        if rang:
            found.append((t, zero, "errors"))
        if alarm.sizes.sum == 0 and alarm.squares.sum == 0:
            zero = t + 1
    assert len(found) == 1
    assert shown(model) == found
