"""How sure a prediction was whose label comes late: what was known when its row came."""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor

LAG = 7


def rows_of(kind, n=160):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    number = X @ [1.0, -2.0] + 0.3 * rng.normal(size=n)
    if kind == "numbers":
        return X, number
    edges = [0.0] if kind == "two classes" else [-1.0, 1.0]
    return X, np.array(["low", "middle", "high"])[np.digitize(number, edges)]


def learner(kind, forgetting):
    if kind == "numbers":
        return DFOPRegressor(forgetting, features="linear" if forgetting == "auto" else "auto")
    return DFOPClassifier(forgetting, features="linear" if forgetting == "auto" else "auto")


def classes_of(y):
    return {} if y.dtype.kind == "f" else {"classes": np.unique(y)}


def one_by_one(model, X, y):
    """Learn what is due, then ask the model as it is, with its own methods, before a row comes."""
    predicted, sure = [], []
    for t in range(len(X)):
        if t > LAG:
            model.learn_pending([t - LAG - 1], y[t - LAG - 1 : t - LAG])
        row, known = X[t : t + 1], t > LAG
        if not known:
            sure.append(None)
        elif y.dtype.kind == "f":
            has = isinstance(model.forgetting, str)
            sure.append(model.predict_interval(row)[0] if has else None)
        else:
            sure.append(model.predict_proba(row).max())
        predicted.append(model.predict_pending(row, [t], **classes_of(y))[0])
    return np.array(predicted), sure


@pytest.mark.parametrize("forgetting", ["auto", 0.01])
@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
@pytest.mark.parametrize("size", [160, 13])
def test_it_is_what_the_model_says_before_the_row_comes(kind, forgetting, size):
    X, y = rows_of(kind)
    predicted, sure = one_by_one(learner(kind, forgetting), X, y)
    model, parts, seen = learner(kind, forgetting), [], 0
    for start in range(0, len(X), size):
        stop = min(start + size, len(X))
        due = np.arange(seen, max(stop - LAG - 1, 0))
        labels = (due, y[due], due + LAG + 1 - start) if len(due) else None
        parts.append(
            model.ahead_pending(X[start:stop], range(start, stop), labels=labels, **classes_of(y))
        )
        seen += len(due)
    prediction, probability, interval = (
        None if part[0] is None else np.concatenate(part) for part in zip(*parts, strict=True)
    )
    if kind == "numbers":
        np.testing.assert_allclose(prediction, predicted, rtol=1e-9, atol=1e-12)
        assert probability is None
        assert (interval is None) == (forgetting != "auto")
        found = interval
    else:
        np.testing.assert_array_equal(prediction, predicted)
        assert interval is None
        found = probability
    for t, expected in enumerate(sure):
        if expected is not None:
            np.testing.assert_allclose(found[t], expected, rtol=1e-9, atol=1e-12)


def test_intervals_hold_their_share_of_targets_that_come_late():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=3000)
    due = np.arange(len(X) - 50)
    ahead = DFOPRegressor(features="linear").ahead_pending(
        X, range(len(X)), labels=(due, y[due], due + 50)
    )
    low, high = ahead.interval[500:].T
    inside = np.mean((low <= y[500:]) & (y[500:] <= high))
    assert 0.88 < inside < 0.92  # three standard errors of 2,500 rows are .018
    assert np.isinf(ahead.interval[:50]).all()
