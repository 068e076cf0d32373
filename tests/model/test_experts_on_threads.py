"""Experts on threads: the same bits for any number, and only speed to lose."""

import itertools
import os
import pickle
import threading

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor, load, save
from dfop import river as dfop_river
from dfop.core import Bank
from model_state import model_state

THREADS = (1, 2, 3, 8, 256)


def stream(n=700, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[::50, 1] = np.nan
    score = np.sin(2 * X[:, 0]) + X[:, 2] + 0.2 * rng.normal(size=n)
    return X, score, np.digitize(score, [-1.0, 0.0, 1.0])


def known_by(model):
    """All that a model knows; its settings are no knowledge."""
    return {name: part for name, part in model_state(model._model).items() if name != "settings"}


def split_at(n, cuts):
    return [slice(a, b) for a, b in itertools.pairwise([0, *cuts, n])]


def played(model, X, y, cuts, **given):
    weights = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    parts = [
        model.predict_then_learn(X[part], y[part], sample_weight=weights[part], **given)
        for part in split_at(len(X), cuts)
    ]
    return np.concatenate([*parts, model.predict(X)])


@pytest.mark.parametrize("task", ["number", "two", "four"])
def test_no_bit_depends_on_the_number_of_threads_or_the_cuts(task):
    X, score, classes = stream()
    y = {"number": score, "two": score > 0, "four": classes}[task]
    kind = DFOPRegressor if task == "number" else DFOPClassifier
    given = {} if task == "number" else {"classes": np.unique(y)}
    model = kind()
    expected, state = played(model, X, y, [], **given), known_by(model)
    for threads in THREADS:
        for cuts in ([], [1, 17, 300], list(range(15, 700, 31))):
            model = kind(threads=threads)
            assert np.array_equal(played(model, X, y, cuts, **given), expected)
            assert known_by(model) == state


def test_threads_may_change_at_any_time():
    X, y, _ = stream()
    one, changing = DFOPRegressor(), DFOPRegressor(threads=4)
    for part, threads in zip(split_at(len(X), [200, 400]), (4, 1, 2), strict=True):
        changing.set_params(threads=threads)
        assert np.array_equal(
            changing.predict_then_learn(X[part], y[part]), one.predict_then_learn(X[part], y[part])
        )
        assert changing._model.engine.threads == threads
    assert known_by(changing) == known_by(one)
    with pytest.raises(ValueError, match="lags was changed"):
        changing.set_params(threads=3, lags=2).partial_fit(X, y)
    assert changing._model.engine.threads == 2


def test_a_copy_of_a_model_keeps_its_threads(tmp_path):
    X, y, _ = stream()
    model = DFOPRegressor(threads=3).fit(X, y)
    save(model, tmp_path / "model.dfop")
    for again in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.dfop")):
        assert again.threads == again._model.engine.threads == 3
        assert np.array_equal(again.predict(X), model.predict(X))


def test_river_has_them_too():
    pytest.importorskip("pandas")
    import pandas as pd

    X, y, _ = stream()
    frame, target = pd.DataFrame(X, columns=list("abcd")), pd.Series(y)
    one, many = dfop_river.DFOPRegressor(), dfop_river.DFOPRegressor(threads=4)
    for model in (one, many):
        model.learn_many(frame, target)
    assert many._model.engine.threads == 4
    assert one.predict_many(frame).tolist() == many.predict_many(frame).tolist()
    many.threads = 2
    many.learn_many(frame, target)
    assert many._model.engine.threads == 2


@pytest.mark.parametrize("threads", [0, -1, 257, 1.5, "2", None, True, np.nan])
def test_a_number_of_threads_that_makes_no_sense_is_refused(threads):
    X, y, _ = stream(50)
    with pytest.raises(ValueError, match=r"threads=.* must be a whole number from 1 to 256"):
        DFOPRegressor(threads=threads).fit(X, y)
    model = DFOPRegressor(threads=2).fit(X, y)
    before = known_by(model)
    with pytest.raises(ValueError, match="threads="):
        model.set_params(threads=threads).partial_fit(X, y)
    assert known_by(model) == before
    with pytest.raises(ValueError, match="threads="):
        dfop_river.DFOPRegressor(threads=threads)


@pytest.mark.parametrize("threads", [0, 257])
def test_a_bank_refuses_them_as_well(threads):
    bank = Bank(1, [("number", 1)], [("linear", 0.0, 0)], [(0, 0.0, 0.0)], True, 1.0, True, 1e6)
    with pytest.raises(ValueError, match="threads"):
        bank.threads = threads
    assert bank.threads == 1


def test_several_models_share_the_threads():
    X, y, _ = stream()
    expected = DFOPRegressor().predict_then_learn(X, y)
    found = {}

    def run(name):
        found[name] = DFOPRegressor(threads=3).predict_then_learn(X, y)

    runs = [threading.Thread(target=run, args=(name,)) for name in range(4)]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    assert all(np.array_equal(found[name], expected) for name in range(4))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_starts_threads_of_its_own():
    X, y, _ = stream()
    expected = DFOPRegressor(threads=2).predict_then_learn(X, y)  # the parent has its threads now
    child = os.fork()
    if child == 0:
        same = np.array_equal(DFOPRegressor(threads=2).predict_then_learn(X, y), expected)
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
