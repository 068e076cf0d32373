"""The same rows, however they come, make the same predictions, bit for bit."""

import io
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dfop.river
from dfop import DFOPClassifier, DFOPRegressor, streams
from dfop.rows.tables import as_batch

ROWS = 160
TASKS = ["number", "two", "five"]
SETTINGS = {
    "fixed mu": {"forgetting": 0.01},
    "default": {},
    "linear with lags": {"features": "linear", "lags": 2},
    "fixed mu with lags": {"forgetting": 0.003, "lags": 1},
}


def table(task, mixed):
    """Rows by name in sorted order, numbers of several scales, text and gaps; and their target."""
    rng = np.random.default_rng(["number", "two", "five"].index(task) + 10 * mixed)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=ROWS),
            "b": 1000.0 + rng.normal(size=ROWS) * np.linspace(1.0, 50.0, ROWS),
            "c": rng.integers(0, 5, ROWS).astype(float),
        }
    )
    signal = frame["a"] + 0.01 * (frame["b"] - 1000.0) - 0.3 * frame["c"]
    if mixed:
        frame["d"] = rng.choice(["red", "green", "blue sky", "x,y"], ROWS).astype(object)
        signal += (frame["d"] == "red") * 2.0
        frame["e"] = np.where(np.arange(ROWS) > 120, rng.normal(size=ROWS), 0.5)
        frame.loc[rng.random(ROWS) < 0.1, "a"] = np.nan
        frame.loc[rng.random(ROWS) < 0.1, "d"] = None
    signal[ROWS // 2 :] *= -1.0
    signal = (signal + 0.2 * rng.normal(size=ROWS)).fillna(0.0).to_numpy()
    if task == "number":
        return frame, signal
    edges = [0.0] if task == "two" else [-1.5, -0.5, 0.5, 1.5]
    names = np.array(["w", "q", "z", "k", "m"][: len(edges) + 1])
    return frame, names[np.digitize(signal, edges)]


def model_for(task, setting):
    return DFOPRegressor(**setting) if task == "number" else DFOPClassifier(**setting)


def known_classes(task, y):
    return {} if task == "number" else {"classes": np.unique(y)}


def in_calls(model, X, y, task, cuts):
    more = known_classes(task, y)
    parts = [
        model.predict_then_learn(X[a:b], y[a:b], **more)
        for a, b in itertools.pairwise([0, *cuts, ROWS])
    ]
    return np.concatenate(parts)


def as_objects(frame):
    cells = frame.astype(object).to_numpy().copy()
    cells[frame.isna().to_numpy()] = None
    return cells


def through_csv(frame, y, model, task):
    """Write the table as CSV and read it as a stream."""
    text = frame.assign(target=y).to_csv(index=False)
    stream = streams.read(
        io.BytesIO(text.encode()),
        target="target",
        format="csv",
        task="regression" if task == "number" else "classification",
        classes=None if task == "number" else sorted(set(y)),
    )
    more = known_classes(task, y)
    return np.concatenate([model.predict_then_learn(X, y, **more) for X, y in stream.batches(37)])


def at_once_but_late(frame, y, model, task):
    """Announce each row, then bring its label at once."""
    predicted = []
    for t in range(ROWS):
        more = known_classes(task, y) if t == 0 else {}
        predicted.append(model.predict_pending(frame[t : t + 1], [t], **more))
        model.learn_pending([t], y[t : t + 1])
    return np.concatenate(predicted)


def late_in_one_call(frame, y, model, task):
    keys = list(range(ROWS))
    before = np.arange(1, ROWS + 1)
    return model.predict_pending(frame, keys, labels=(keys, y, before), **known_classes(task, y))


def as_river(frame, y, task, setting):
    model = dfop.river.DFOPRegressor(**setting) if task == "number" else (
        dfop.river.DFOPClassifier(**setting)
    )  # fmt: skip
    out = []
    for x, label in zip(as_batch(frame).dicts(), y.tolist(), strict=True):
        out.append(model.predict_one(x))
        model.learn_one(x, label)
    return np.array(out, dtype=object if task != "number" else float)


WAYS = {
    "one by one": lambda X, y, task, s: in_calls(model_for(task, s), X, y, task, range(1, ROWS)),
    "in batches": lambda X, y, task, s: in_calls(model_for(task, s), X, y, task, [1, 2, 9, 120]),
    "objects": lambda X, y, task, s: model_for(task, s).predict_then_learn(
        as_objects(X), y, **known_classes(task, y)
    ),
    "polars": lambda X, y, task, s: model_for(task, s).predict_then_learn(
        pl.from_pandas(X), y, **known_classes(task, y)
    ),
    "Arrow": lambda X, y, task, s: model_for(task, s).predict_then_learn(
        pa.Table.from_pandas(X, preserve_index=False), y, **known_classes(task, y)
    ),
    "dicts": lambda X, y, task, s: model_for(task, s).predict_then_learn(
        as_batch(X).dicts(), y, **known_classes(task, y)
    ),
    "a Batch": lambda X, y, task, s: model_for(task, s).predict_then_learn(
        as_batch(X), y, **known_classes(task, y)
    ),
    "CSV": lambda X, y, task, s: through_csv(X, y, model_for(task, s), task),
    "late, at once": lambda X, y, task, s: at_once_but_late(X, y, model_for(task, s), task),
    "late, in one call": lambda X, y, task, s: late_in_one_call(X, y, model_for(task, s), task),
}


@pytest.mark.parametrize("mixed", [False, True], ids=["numbers", "text and gaps"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_way_makes_the_same_predictions(setting, task, mixed):
    frame, y = table(task, mixed)
    parameters = SETTINGS[setting]
    expected = model_for(task, parameters).predict_then_learn(frame, y, **known_classes(task, y))
    for way, predict in WAYS.items():
        got = predict(frame, y, task, parameters)
        assert (got == expected).all(), f"{way}: first at {np.flatnonzero(got != expected)[:3]}"


@pytest.mark.parametrize("mixed", [False, True], ids=["numbers", "text and gaps"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_river_makes_the_same_predictions(setting, task, mixed):
    """Names come in sorted order here; before the first label River predicts no class."""
    frame, y = table(task, mixed)
    expected = model_for(task, SETTINGS[setting]).predict_then_learn(
        frame, y, **known_classes(task, y)
    )
    got = as_river(frame, y, task, SETTINGS[setting])
    assert (got[1:] == expected[1:]).all(), f"first at {np.flatnonzero(got != expected)[:5]}"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_river_learns_frames_as_it_learns_rows(task, library):
    frame, y = table(task, True)
    kind = dfop.river.DFOPRegressor if task == "number" else dfop.river.DFOPClassifier
    rows, frames = kind(), kind()
    for x, label in zip(as_batch(frame).dicts(), y.tolist(), strict=True):
        rows.learn_one(x, label)
    for a in range(0, ROWS, 50):
        part = frame[a : a + 50]
        frames.learn_many(part if library == "pandas" else pl.from_pandas(part), y[a : a + 50])
    last = as_batch(frame[-1:]).dicts()[0]
    assert rows.predict_one(last) == frames.predict_one(last)
