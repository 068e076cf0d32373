"""A copy of a model, made between any two rows, goes on as the model does: text, gaps, alarms."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest

from dfop import DFOPClassifier, DFOPRegressor, load, save
from dfop import river as named
from mixed_rows import records_of, table
from model_state import everything, model_state

COPIES = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
}


def through_a_file(model, folder):
    save(model, folder / "model.dfop")
    return load(folder / "model.dfop")


def text_that_stops_changing(rng, n=1500, at=800):
    """One column of text says the same from a row on: no number has moved."""
    frame = pd.DataFrame({"a": rng.normal(size=n), "t": rng.choice(["r", "g", "k"], n)})
    frame.loc[at:, "t"] = "r"
    return frame, (frame.a > 0).astype(int).to_numpy()


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("seed", [3, 5, 27])
def test_alarms_of_text_are_those_of_a_model_that_was_never_copied(way, seed):
    frame, y = text_that_stops_changing(np.random.default_rng(seed))
    model = DFOPClassifier().partial_fit(frame[:400], y[:400], classes=[0, 1])
    copied = COPIES[way](model)
    for each in (model, copied):
        each.partial_fit(frame[400:], y[400:])
    assert copied.alarms_ == model.alarms_
    assert everything(copied) == everything(model)


@pytest.mark.parametrize("way", [*COPIES, "file"])
@pytest.mark.parametrize("face", [DFOPRegressor, DFOPClassifier])
def test_any_split_with_a_copy_in_the_middle_gives_the_same_bits(way, face, tmp_path):
    rng = np.random.default_rng(1)
    n = 900
    frame = table(rng, n)
    frame.loc[500:, "weight"] += 8.0
    frame.loc[600:, "color"] = "w0"
    frame.loc[650:, "city"] = None
    y = frame.weight.to_numpy() + rng.normal(size=n)
    y = y if face is DFOPRegressor else (y > 0).astype(int)
    first = {} if face is DFOPRegressor else {"classes": [0, 1]}
    whole, split = face(), face()
    at_once = whole.predict_then_learn(frame, y, **first)
    edges = [0, *sorted(rng.choice(np.arange(1, n), 6, replace=False)), n]
    parts = []
    for a, b in itertools.pairwise(edges):
        parts.append(split.predict_then_learn(frame[a:b].reset_index(drop=True), y[a:b], **first))
        split = through_a_file(split, tmp_path) if way == "file" else COPIES[way](split)
    assert np.concatenate(parts).tobytes() == at_once.tobytes()
    assert split.alarms_ == whole.alarms_
    assert everything(split) == everything(whole)


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_of_rivers_learner_goes_on_with_the_same_bits(way):
    frame, y = text_that_stops_changing(np.random.default_rng(27), 1000, 600)
    frame.loc[::7, "a"] = np.nan
    model = named.DFOPClassifier()
    copied = None
    for t, (x, label) in enumerate(zip(records_of(frame), y.tolist(), strict=True)):
        if t == 300:
            copied = COPIES[way](model)
        for each in (model, copied):
            if each is not None:
                each.learn_one(x, label)
    assert model_state(copied._model) == model_state(model._model)
