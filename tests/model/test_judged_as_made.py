"""With late labels the default is judged by what it said when a row came, not by what it would say.

The compiled calibration and watch are tested by themselves in `tests/core`; here they are fed by
hand, with what the model's own methods said before each row came.
"""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor
from dfop.core import Calibration, Watch

ROWS, LAG, CHANGE = 900, 60, 500


def rows_of(labels):
    """A world that turns round, so that what was said of a row soon is no longer what is."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(ROWS, 3))
    number = np.where(np.arange(ROWS) < CHANGE, 1.0, -1.0) * (X @ [2.0, -1.0, 0.5])
    number += 0.3 * rng.normal(size=ROWS)
    return X, (number > 0).astype(int) if labels else number


def said(model, X):
    return model.decision_function(X) if isinstance(model, DFOPClassifier) else model.predict(X)


def with_late_labels(labels):
    """Return the learned model, and what it said of each row as it came and as its label came."""
    X, y = rows_of(labels)
    model = DFOPClassifier() if labels else DFOPRegressor()
    first = {"classes": [0, 1]} if labels else {}
    made, later = np.zeros(ROWS), np.zeros(ROWS)
    for t in range(ROWS):
        if t > LAG:
            due = t - LAG - 1
            later[due] = said(model, X[due : due + 1])[0]
            model.learn_pending([due], y[due : due + 1])
            made[t] = said(model, X[t : t + 1])[0]
        model.predict_pending(X[t : t + 1], [t], **first)
    return model, X, y, made, later


def steps():
    """Return the order in which rows come, and (as ~row) their labels."""
    order = []
    for t in range(ROWS):
        order += [~(t - LAG - 1), t] if t > LAG else [t]
    return np.array(order)


def watched(X, outputs, y, labels):
    """Return the alarms of a watch that is told these outputs, and its state."""
    targets = 2.0 * y - 1.0 if labels else y
    order = steps()
    watch = Watch(X.shape[1], 0 if labels else 1)
    found = watch.watch(X, outputs[:, np.newaxis], targets[:, np.newaxis], order)
    rows = [int(order[step]) for step, *_ in found]
    alarms = [(kind, max(row, ~row)) for row, (_, _, kind, _) in zip(rows, found, strict=True)]
    return alarms, watch.state()


@pytest.mark.parametrize("labels", [False, True])
def test_alarms_are_of_the_errors_that_were_made(labels):
    model, X, y, made, later = with_late_labels(labels)
    rang = [(alarm.kind, alarm.row) for alarm in model.alarms_]
    assert any(kind != "inputs" and CHANGE <= row < CHANGE + 100 for kind, row in rang)
    alarms, state = watched(X, made, y, labels)
    assert rang == alarms
    known = model._model.monitor.watch.state()
    for name, value in state.items():
        np.testing.assert_allclose(known[name], value, rtol=1e-9, atol=1e-12, err_msg=name)
    _, other = watched(X, later, y, labels)
    assert any(not np.allclose(known[name], other[name], rtol=1e-3) for name in state)


def test_probabilities_are_calibrated_by_the_margins_that_were_told():
    model, _, y, made, later = with_late_labels(labels=True)
    labelled = ROWS - LAG - 1
    rows = np.random.default_rng(12).normal(size=(50, 3))
    margins = np.ascontiguousarray(model.decision_function(rows)[:, np.newaxis])
    told = model.predict_proba(rows)
    expected = {}
    for name, outputs in (("made", made), ("later", later)):
        by_hand = Calibration(2)
        by_hand.calibrate(np.ascontiguousarray(outputs[:labelled, np.newaxis]), y[:labelled])
        expected[name] = by_hand.probabilities(margins)
    np.testing.assert_allclose(told, expected["made"], rtol=1e-9, atol=1e-12)
    assert np.abs(told - expected["later"]).max() > 1e-3
