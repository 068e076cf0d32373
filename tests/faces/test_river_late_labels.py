"""Labels that come late by River: rows are known again by what they say, and nobody gives a key."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import compose, evaluate, metrics, preprocessing, stream

import dfop
from dfop.core import digest_of_row
from dfop.files.saving import from_bytes, to_bytes
from dfop.river import DFOPClassifier, DFOPRegressor
from model_state import everything

SETTINGS = [
    {},
    {"features": "linear"},
    {"features": "linear", "lags": 2},
    {"forgetting": 0.01, "monitor": True},
    {"forgetting": 0.01, "lags": 2},
    {"forgetting": 0.01},
]
KINDS = ["number", "two", "four"]


def rows_and_targets(kind, n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X @ [1.0, -1.0, 0.5] + np.repeat(rng.normal(size=n // 10), 10)
    y = {
        "number": score,
        "two": np.where(score > 0, "up", "down"),
        "four": np.digitize(score, [-1.0, 0.0, 1.0]),
    }[kind]
    return X, y, [dict(zip("abc", row, strict=True)) for row in X.tolist()]


def model_of(kind, parameters, where=None):
    if where is None:
        return (DFOPRegressor if kind == "number" else DFOPClassifier)(**parameters)
    return (where.DFOPRegressor if kind == "number" else where.DFOPClassifier)(**parameters)


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("together", [1, 7, 40])
def test_rows_predicted_and_then_learned_are_a_late_batch_of_arrays(kind, parameters, together):
    X, y, rows = rows_and_targets(kind)
    model, twin = model_of(kind, parameters), model_of(kind, parameters, dfop)
    apart = together if "lags" in parameters and kind != "number" else 0
    for start in range(0, len(y), together):
        part = slice(start, start + together)
        told = [] if start < apart else [model.predict_one(x) for x in rows[part]]
        if start:
            assert told == twin.predict(X[part]).tolist()
        first = {} if kind == "number" or start else {"classes": "open"}
        # with lags a batch of arrays is cut where a class is met, and waits by its parts
        twin.partial_fit(X[part], y[part], late=not start < apart, **first)
        for x, label in zip(rows[part], y[part].tolist(), strict=True):
            model.learn_one(copy.deepcopy(x), label)


def late(model, rows, y, delay, resume=lambda model: model, at=()):
    """Predict every row, and learn each so many rows later, with its names in another order."""
    told = []
    for t, x in enumerate(rows):
        told.append(model.predict_one(x))
        if t in at:
            model = resume(model)
        if t >= delay:
            model.learn_one(dict(reversed(rows[t - delay].items())), y[t - delay])
    return told, model


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "resume",
    [
        lambda model: pickle.loads(pickle.dumps(model)),
        lambda model: from_bytes(to_bytes(model)),
        copy.deepcopy,
    ],
    ids=["pickled", "saved", "copied"],
)
def test_it_goes_on_as_if_never_stopped(kind, parameters, resume):
    _, y, rows = rows_and_targets(kind)
    expected, _ = late(model_of(kind, parameters), rows, y.tolist(), 15)
    found, _ = late(model_of(kind, parameters), rows, y.tolist(), 15, resume, at=(16, 97))
    assert found == expected


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_to_predict_changes_nothing(kind, parameters):
    """Whether and how often rows are asked about, also others that get no label."""
    _, y, rows = rows_and_targets(kind)
    asked, quiet = model_of(kind, parameters), model_of(kind, parameters)
    rng = np.random.default_rng(1)
    for x, label in zip(rows, y.tolist(), strict=True):
        for _ in range(rng.integers(3)):
            asked.predict_one({name: value + 100.0 for name, value in x.items()})
            asked.predict_one(x)
            if kind != "number":
                asked.predict_proba_one(dict(x))
        asked.learn_one(x, label)
        quiet.learn_one(x, label)
    assert asked._model.learned == quiet._model.learned
    assert everything(asked) == everything(quiet)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_remembered_has_a_bound(kind):
    _, y, rows = rows_and_targets(kind)
    model = model_of(kind, {"features": "linear", "pending_limit": 5})
    for t, (x, label) in enumerate(zip(rows, y.tolist(), strict=True)):
        for more in range(9):
            model.predict_one({**x, "b": 1000.0 * t + more})
        model.learn_one(x, label)
        assert len(model._model.remembered) <= 5


def test_a_label_that_was_forgotten_counts_as_known_at_once():
    _, y, rows = rows_and_targets("two")
    forgetful = DFOPClassifier(features="linear", pending_limit=1)
    quiet = DFOPClassifier(features="linear")
    for start in range(0, 200, 2):  # the second row is never learned
        for x in rows[start : start + 2]:
            forgetful.predict_one(x)
        for model in (forgetful, quiet):
            model.learn_one(rows[start], y[start])
    assert everything(forgetful)[1]["engine"] == everything(quiet)[1]["engine"]


def test_the_last_label_is_not_believed_when_it_is_not_known():
    rng = np.random.default_rng(2)
    y = np.cumsum(rng.random(4000) < 0.02) % 2
    X = y[:, np.newaxis] + rng.normal(scale=1.2, size=(4000, 4))
    rows = [dict(zip("abcd", x, strict=True)) for x in X.tolist()]
    data = list(zip(rows, y.tolist(), strict=True))
    seen = evaluate.progressive_val_score(
        data, DFOPClassifier(features="linear"), metrics.Accuracy(), delay=50
    )
    # a pipeline that says every row otherwise when its label comes: it is not known again
    counter = iter(range(10**6))
    blurred = compose.FuncTransformer(lambda x: {**x, "n": 1e-9 * next(counter)})
    blind = evaluate.progressive_val_score(
        data, blurred | DFOPClassifier(features="linear"), metrics.Accuracy(), delay=50
    )
    assert seen.get() > blind.get() + 0.02


def test_a_pipeline_that_changes_no_past_row_is_no_hindrance():
    _, y, rows = rows_and_targets("two")
    data = list(zip(rows, y.tolist(), strict=True))
    twice = compose.FuncTransformer(lambda x: {name: 2.0 * value for name, value in x.items()})
    scores = [
        evaluate.progressive_val_score(data, model, metrics.Accuracy(), delay=20).get()
        for model in (twice | DFOPClassifier(), DFOPClassifier())
    ]
    direct = [({name: 2.0 * v for name, v in x.items()}, label) for x, label in data]
    alone = evaluate.progressive_val_score(direct, DFOPClassifier(), metrics.Accuracy(), delay=20)
    assert scores[0] == alone.get()


@pytest.mark.parametrize("kind", KINDS)
def test_scaled_rows_are_learned_as_ever(kind):
    """Behind a scaler that goes on a row is another one when its label comes: at once, then."""
    _, y, rows = rows_and_targets(kind)
    model = preprocessing.StandardScaler() | model_of(kind, {"features": "linear"})
    for i, x, label in stream.simulate_qa(zip(rows, y.tolist(), strict=True), None, 5):
        if label is None:
            model.predict_one(x)
        else:
            model.learn_one(x, label)
        assert i < len(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_that_cannot_be_learned_changes_nothing(kind):
    _, y, rows = rows_and_targets(kind)
    _, model = late(model_of(kind, {"features": "linear"}), rows, y.tolist(), 9)
    _, twin = late(model_of(kind, {"features": "linear"}), rows, y.tolist(), 9)
    bad = [float("nan"), "word"] if kind == "number" else [None, 0.5]
    for label in bad:
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(rows[-9], label)
    for each in (model, twin):
        each.learn_one(rows[-9], y[-9])
    assert everything(model) == everything(twin)


NAMES = st.one_of(st.text(max_size=3), st.integers(), st.tuples(st.integers()))
VALUES = st.one_of(
    st.none(), st.text(max_size=3), st.floats(), st.integers(-(2**60), 2**60), st.booleans()
)


@given(st.dictionaries(NAMES, VALUES, max_size=6), st.randoms())
def test_a_copy_in_any_order_is_known_again(row, random):
    items = list(row.items())
    random.shuffle(items)
    again = {name: float(repr(v)) if type(v) is float else v for name, v in items}
    assert digest_of_row(again) == digest_of_row(row)


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.floats(-1e6, 1e6), min_size=1))
def test_another_row_is_another(row):
    name = next(iter(row))
    seen = {digest_of_row(row)}
    for value in (row[name] + 1.0, None, "text", str(row[name]) + "x"):
        seen.add(digest_of_row({**row, name: value}))
    seen.add(digest_of_row({key: value for key, value in row.items() if key != name}))
    assert len(seen) == 6
