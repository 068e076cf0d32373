"""Rows that came before the first label are predicted once more, as many as there are labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor
from dfop.model import made
from dfop.model.waiting import WaitingRows
from model_state import everything

FACES = {"numbers": DFOPRegressor, "classes": DFOPClassifier}


def stream(face, n):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 2)) + np.linspace(0.0, 3.0, n)[:, np.newaxis]
    y = X @ [1.0, -2.0] + np.linspace(0.0, 5.0, n)
    return X, y if face is DFOPRegressor else (y > 1.0).astype(int)


def waiting(face, X):
    model = face()
    given = {} if face is DFOPRegressor else {"classes": [0, 1]}
    model.predict_pending(X, range(len(X)), **given)
    return model


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_labels_in_the_order_of_rows_learn_the_same_to_the_bit(face, monkeypatch):
    """All that get their label before the next doubling are among the rows predicted anew."""
    X, y = stream(face, 300)
    states = []
    for least in (1, 10**9):  # as few as can be, and all that wait
        monkeypatch.setattr(made, "LEAST_REMADE", least)
        model = waiting(face, X)
        for start in range(0, 300, 50):
            part = slice(start, start + 50)
            model.learn_pending(range(300)[part], y[part])
        late = face().partial_fit(X[:7], y[:7])
        late.partial_fit(X, y, late=True, sample_weight=np.arange(300) % 3)
        states.append((everything(model), everything(late)))
    assert states[0] == states[1]


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_labels_in_any_order_learn_the_same_for_any_split(face, monkeypatch):
    monkeypatch.setattr(made, "LEAST_REMADE", 5)
    X, y = stream(face, 120)
    order = np.random.default_rng(7).permutation(80)
    models = []
    for cuts in ([0, 80], [0, 1, 3, 33, 34, 79, 80], list(range(81))):
        model = waiting(face, X[:80])
        for start, stop in itertools.pairwise(cuts):
            model.learn_pending(order[start:stop], y[order[start:stop]])
        models.append(model)
    assert everything(models[0]) == everything(models[1]) == everything(models[2])
    # labels between rows that arrive, and each in a call of its own
    whole, parts = waiting(face, X[:80]), waiting(face, X[:80])
    before = np.minimum(np.arange(80) // 2, 40)
    whole.predict_pending(X[80:], range(80, 120), labels=(order, y[order], before))
    for t in range(40):
        parts.learn_pending(order[2 * t : 2 * t + 2], y[order[2 * t : 2 * t + 2]])
        parts.predict_pending(X[80 + t : 81 + t], [80 + t])
    assert everything(whole) == everything(parts)


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_what_the_first_labels_cost_does_not_grow_with_the_rows_that_wait(face, monkeypatch):
    taken = []
    kept = WaitingRows.kept

    def counted(self, places):
        taken.append(len(places))
        return kept(self, places)

    monkeypatch.setattr(WaitingRows, "kept", counted)
    X, y = stream(face, 5000)
    model = waiting(face, X)
    model.learn_pending(range(500), y[:500])
    doublings = 9  # 1, 2, 4, ... 256
    assert sum(taken) <= 500 + doublings * made.most_remade(500)
