"""Rows that say the same, asked about by all methods, and models stopped at any moment."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfop
from dfop.files.saving import from_bytes, to_bytes
from dfop.river import DFOPClassifier, DFOPRegressor
from model_state import everything

SETTINGS = [
    {},
    {"features": "linear"},
    {"features": "linear", "lags": 2},
    {"forgetting": 0.01, "monitor": True},
]
KINDS = ["number", "two", "four"]
RESUME = {
    "pickled": lambda model: pickle.loads(pickle.dumps(model)),
    "saved": lambda model: from_bytes(to_bytes(model)),
    "copied": copy.deepcopy,
}


def few_rows_and_targets(kind, n=210):
    """Runs of equal rows: three in all, each up to nine times in a row."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.integers(0, 3, n), rng.integers(1, 10, n))[:n, np.newaxis] * [1.0, -0.5]
    score = X[:, 0] - 1.0 + np.repeat(rng.normal(size=n // 10), 10)
    y = {
        "number": score,
        "two": np.where(score > 0, "up", "down"),
        "four": np.digitize(score, [-1.0, 0.0, 1.0]),
    }[kind]
    return X, y, [dict(zip("ab", row, strict=True)) for row in X.tolist()]


def model_of(kind, parameters, where=None):
    if where is None:
        return (DFOPRegressor if kind == "number" else DFOPClassifier)(**parameters)
    return (where.DFOPRegressor if kind == "number" else where.DFOPClassifier)(**parameters)


def more_of(model):
    """The method that says more of a row than `predict_one`."""
    number = isinstance(model, DFOPRegressor)
    return model.predict_interval_one if number else model.predict_proba_one


@pytest.mark.parametrize("words", ["plain", "plain, more", "more, plain"])
@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("together", [7, 42])
def test_equal_rows_are_a_late_batch_of_arrays(kind, parameters, words, together):
    X, y, rows = few_rows_and_targets(kind)
    model, twin = model_of(kind, parameters), model_of(kind, parameters, dfop)
    apart = together if "lags" in parameters and kind != "number" else 0
    for start in range(0, len(y), together):
        part = slice(start, start + together)
        told = []
        for x in rows[part] if start >= apart else []:
            for word in words.split(", "):
                if word == "plain":
                    told.append(model.predict_one(x))
                else:
                    more_of(model)(x)
        if start:
            assert told == twin.predict(X[part]).tolist()
        first = {} if kind == "number" or start else {"classes": "open"}
        twin.partial_fit(X[part], y[part], late=not start < apart, **first)
        for x, label in zip(rows[part], y[part].tolist(), strict=True):
            model.learn_one(x, label)
        assert not model._model.remembered


def jumping(seed):
    """A stream whose level may jump, so that learning begins anew, with gaps among the targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 2))
    y = X.sum(1) + np.cumsum(rng.normal(size=120)) * 0.3
    y += np.where(np.arange(120) > rng.integers(0, 120), rng.choice([0.0, 1e5]), 0.0)
    y[rng.random(120) < 0.3] = np.nan
    y[: int(rng.integers(0, 6))] = np.nan
    return X, y, [dict(zip("ab", row, strict=True)) for row in X.tolist()]


@pytest.mark.parametrize("together", [1, 7, 40])
@pytest.mark.parametrize("parameters", [{}, {"features": "linear"}, {"lags": 2}], ids=str)
def test_labels_that_never_come_are_those_of_a_late_batch_of_arrays(parameters, together):
    """Also where learning begins anew: what is predicted once more, and when, is the same."""
    for seed in range(40):
        X, y, rows = jumping(seed)
        model = DFOPRegressor(semi=True, **parameters)
        twin = dfop.DFOPRegressor(semi=True, **parameters)
        for start in range(0, len(y), together):
            part = slice(start, start + together)
            told = [model.predict_one(x) for x in rows[part]]
            if start:
                assert told == twin.predict(X[part]).tolist(), seed
            twin.partial_fit(X[part], y[part], late=True)
            for x, value in zip(rows[part], y[part].tolist(), strict=True):
                model.learn_one(x, value)
        assert model._model.learned == twin._model.learned


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("kind", ["number", "two"])
def test_one_row_asked_about_in_other_words_is_one_row(kind, begun):
    model = model_of(kind, {"features": "linear"})
    if begun:
        model.learn_one({"a": 0.0}, 1.0)
    remembered, a, b = model._model.remembered, {"a": 1.0}, {"a": 2.0}
    plain, more = model.predict_one, more_of(model)
    counts = []
    for ask, row in [(plain, a), (more, a), (plain, a), (more, a), (more, a), (more, b), (plain, b),
                     (plain, a)]:  # fmt: skip
        ask(row)
        counts.append(len(remembered.asked) if begun else len(remembered.first))
    assert counts == [1, 1, 2, 2, 3, 4, 4, 5]


def test_the_last_label_is_not_believed_though_rows_repeat():
    """A coarse sensor that says the same eight times, labels that stick and come 50 late."""
    rng = np.random.default_rng(0)
    y = np.cumsum(rng.random(3000) < 0.02) % 2
    right = rng.random(375) < 0.85
    sensor = np.repeat(np.where(right, y[::8], 1 - y[::8]), 8)
    model, hits = DFOPClassifier(features="linear"), 0
    rows = [{"shift": float(t // 8 % 3), "s": float(s)} for t, s in enumerate(sensor)]
    for start in range(0, 3000, 50):
        part = slice(start, start + 50)
        told = [model.predict_one(x) for x in rows[part]]
        hits += int(np.count_nonzero(np.array(told) == y[part]))
        for x, label in zip(rows[part], y[part].tolist(), strict=True):
            model.learn_one(x, label)
    assert hits / 3000 > 0.75  # as if known at once: .58


CELLS = st.sampled_from([None, " red", "nan", "blue "])
ROWS = st.one_of(
    st.fixed_dictionaries({"a": st.sampled_from([0.0, 1.0, 2.0])}),
    st.fixed_dictionaries({"a": st.floats(-3.0, 3.0)}, optional={"b": CELLS}),
)
EVENTS = st.lists(
    st.tuples(st.sampled_from("ppppmmllllldxs"), ROWS, st.integers(0, 3), st.integers(0, 6)),
    min_size=10,
    max_size=60,
)


def run(model, events, resume, bystander):
    """Let events happen: p and m ask, l learns a row that waits, d drops one, x learns any row.

    At s the model is stopped and goes on; or somebody only looks, and goes on with the old one.
    """
    waiting, told = [], []
    for what, row, label, which in events:
        if what == "p":
            told.append(model.predict_one(row))
            waiting.append(row)
        elif what == "m":
            told.append(more_of(model)(row))
            waiting.append(row)
        elif what == "x":
            model.learn_one(dict(row), label)
        elif what == "s":
            again = resume(model)
            model = model if bystander else again
        elif waiting:
            late = waiting.pop(which % len(waiting) if which < 4 else -1)
            if what == "l":
                model.learn_one(dict(reversed(late.items())), label)
    return told, model


@pytest.mark.parametrize("resume", RESUME.values(), ids=RESUME)
@pytest.mark.parametrize("kind", ["number", "four"])
@settings(max_examples=60, deadline=None)
@given(
    EVENTS,
    st.sampled_from([*SETTINGS, {"features": "linear", "semi": True}]),
    st.sampled_from([1, 3, 10, 2000]),
    st.booleans(),
)
def test_to_stop_at_any_moment_changes_nothing(kind, resume, events, parameters, limit, bystander):
    parameters = {**parameters, "pending_limit": limit}
    expected, last = run(model_of(kind, parameters), events, lambda model: model, bystander)
    found, other = run(model_of(kind, parameters), events, resume, bystander)
    assert found == expected
    assert everything(other) == everything(last)
    assert to_bytes(other) == to_bytes(last)


@pytest.mark.parametrize("resume", RESUME.values(), ids=RESUME)
def test_rows_of_any_cells_are_known_again_after_a_stop_before_the_first_label(resume):
    rows = [
        {"a": 1, "b": "x ", "c": None},
        {"a": np.float32(0.1), "b": " x", "d": float("nan"), 7: True},
        {"a": -0.0, "b": "\ud800", "c": "N/A", True: np.int64(3)},
    ]
    model, twin = DFOPClassifier(features="linear"), DFOPClassifier(features="linear")
    for each in (model, twin):
        for x in rows:
            each.predict_one(x)
            each.predict_proba_one(x)
    model = resume(model)
    for each in (model, twin):
        each.predict_proba_one(rows[-1])  # one more: it was asked so before
        for t, x in enumerate([*rows, rows[-1]]):
            each.learn_one(x, t % 2)
            assert len(each._model.remembered) == 3 - t
    assert everything(model) == everything(twin)


def test_a_name_that_no_file_can_hold_is_no_hindrance():
    model = DFOPRegressor()
    model.predict_one({"a": 1.0, ("odd", 1): 2.0})
    again = from_bytes(to_bytes(model))
    again.learn_one({"a": 2.0}, 1.0)
    again.learn_one({"a": 1.0, ("odd", 1): 2.0}, 1.0)
    assert not again._model.remembered


def test_a_row_whose_columns_turn_out_to_be_of_another_kind_is_forgotten():
    model = DFOPRegressor()
    for row in ({"a": "text"}, {"a": 2.0}, {"a": 3.0}):
        model.predict_one(row)
    model.learn_one({"a": 3.0}, 1.0)
    assert len(model._model.remembered) == 1


@pytest.mark.parametrize("bad", [{"a": float("inf")}, {"a": object()}, {"label 1 back": 1.0}])
def test_a_row_that_is_refused_is_not_forgotten(bad):
    """A cell that cannot be learned counts as missing: so it may say what a row said that waits."""
    model, twin = DFOPRegressor(lags=1), DFOPRegressor(lags=1)
    for each in (model, twin):
        each.learn_one({"a": 1.0}, 1.0)
        each.predict_one({"a": None})
        each.learn_one({"a": 2.0}, 2.0)
        each.predict_one({"a": 4.0})
    with pytest.raises(ValueError, match="feature"):
        model.learn_one(bad, 1.0)
    assert to_bytes(model) == to_bytes(twin)
