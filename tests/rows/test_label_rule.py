"""One rule for labels and for classes=, on every face."""

import numpy as np
import pandas as pd
import pytest

import dfop.river
from dfop import DFOPClassifier, Information, Keyed, from_bytes, to_bytes
from dfop.baselines import MajorityClass
from dfop.evaluation import evaluate
from dfop.streams import Stream, read
from model_state import everything, refused

N = 6
X = np.random.default_rng(0).normal(size=(N, 2))
FRAME = pd.DataFrame(X, columns=["a", "b"])


def rows_of(y):
    return [{"a": a, "b": b, "y": label} for (a, b), label in zip(X.tolist(), y, strict=True)]


def river_one_by_one(y):
    model = dfop.river.DFOPClassifier(0.01)
    for row in rows_of(y):
        label = row.pop("y")
        model.learn_one(row, label)
    return model


# every way by which labels that nobody has named come in
FACES = {
    "arrays": lambda y: DFOPClassifier(0.01).partial_fit(X, y),
    "open classes": lambda y: DFOPClassifier(0.01).partial_fit(X, y, classes="open"),
    "two targets": lambda y: DFOPClassifier(0.01).partial_fit(X, [[label, label] for label in y]),
    "River, one by one": river_one_by_one,
    "River, many": lambda y: dfop.river.DFOPClassifier(0.01).learn_many(FRAME, y),
    "by key": lambda y: Keyed(DFOPClassifier(0.01)).partial_fit([1] * N, X, y),
    "merged": lambda y: Information.from_data(X, y, 0.01, labels=True),
    "evaluate": lambda y: evaluate(DFOPClassifier(0.01), (X, y)),
    "evaluate River": lambda y: evaluate(dfop.river.DFOPClassifier(0.01), (X, y)),
    "a stream": lambda y: Stream.from_arrays(X, y, task="classification"),
    "a baseline": lambda y: MajorityClass().partial_fit(X, y),
}

NO_LABELS = {
    "fractions": [0.5, 1.5, 0.5, 2.5, 1.5, 0.25],
    "text beside numbers": ["x", 1, 1, "x", 1, "x"],
    "a word for a missing one": ["x", "nan", "x", "y", "x", "y"],
    "whole numbers beyond 64 bits": [2**70, 1, 2, 2**70, 1, 2],
    "whole numbers that floats cannot hold": [2.0**60, 1.0, 2.0, 2.0**60, 1.0, 2.0],
    "infinity": [np.inf, 1.0, 2.0, 1.0, 1.0, 2.0],
}


@pytest.mark.parametrize("name", NO_LABELS)
@pytest.mark.parametrize("face", FACES)
def test_what_is_no_label_is_refused_by_every_face(face, name):
    with pytest.raises(ValueError, match=r"label|infinity|infinite"):
        FACES[face](NO_LABELS[name])


@pytest.mark.parametrize("face", FACES)
def test_labels_are_taken_by_every_face(face):
    for y in (
        list("xyxyxx"),
        [1, 2, 1, 2, 1, 1],
        [1.0, 2.0, 1.0, 2.0, 1.0, 1.0],
        [True, False] * 3,
    ):
        FACES[face](y)


@pytest.mark.parametrize(("first", "then"), [(1, "1"), ("1", 1), (True, "True")])
def test_text_and_numbers_never_meet_in_a_model(first, then):
    message = "of (another|one) type"
    river = dfop.river.DFOPClassifier(0.01)
    river.learn_one({"a": 1.0}, first)
    refused(river, lambda m: m.learn_one({"a": 1.0}, then), "another type")
    refused(river, lambda m: m.learn_many(FRAME[["a"]], [first, then] * 3), "another type", "row 1")
    for classes in (None, "open"):
        model = DFOPClassifier(0.01).partial_fit(X[:1], [first], classes=classes)
        refused(model, lambda m: m.partial_fit(X[:1], [then]), "type")
    keyed = Keyed(DFOPClassifier(0.01)).partial_fit([1], X[:1], [first], classes="open")
    with pytest.raises(ValueError, match=message):
        keyed.partial_fit([1], X[:1], [then])
    parts = [Information.from_data(X[:1], [y], 0.01, labels=True) for y in (first, then)]
    with pytest.raises(ValueError, match=message):
        parts[0].then(parts[1])


def test_equal_numbers_are_one_class_on_every_face():
    """1, 1.0 and True are equal in Python, and so they are here."""
    arrays, told = DFOPClassifier(0.01), DFOPClassifier(0.01)
    opened, river = DFOPClassifier(0.01), dfop.river.DFOPClassifier(0.01)
    for t, y in enumerate([1, 0, 1.0, True, 0.0, False]):
        row = X[t : t + 1]
        arrays.partial_fit(row, [y], classes=[0, 1])
        told.partial_fit(row, [int(y)], classes=[False, True])
        opened.partial_fit(row, [y], classes="open")
        river.learn_one(dict(zip("ab", row[0].tolist(), strict=True)), y)
    assert arrays.classes_.tolist() == told.classes_.tolist() == opened.classes_.tolist() == [0, 1]
    assert list(river.predict_proba_one({"a": 1.0})) == [1, 0]
    np.testing.assert_array_equal(arrays.coef_, told.coef_)
    np.testing.assert_array_equal(arrays.predict(X), opened.predict(X))
    again = from_bytes(to_bytes(river))
    again.learn_one({"a": 1.0}, True)
    assert list(again.predict_proba_one({"a": 1.0})) == [1, 0]


BAD_CLASSES = {
    "text beside numbers": (["p", "q", 1], "at place 2"),
    "NaN": ([0, 1, float("nan")], "NaN at place 2"),
    "infinity": ([0, 1, np.inf], "infinity at place 2"),
    "None": (["p", "q", None], "None at place 2"),
    "masked": (np.ma.array([0, 1], mask=[False, True]), "masked"),
    "too large": ([0, 2**70], "too large"),
}


@pytest.mark.parametrize("name", BAD_CLASSES)
def test_classes_follow_the_rule_of_labels(name):
    classes, message = BAD_CLASSES[name]
    text = name in ("text beside numbers", "None")
    y = ["p", "q"] * 3 if text else [0, 1] * 3
    later = DFOPClassifier(0.01).partial_fit(X, y)
    refused(later, lambda m: m.partial_fit(X, y, classes=classes), message)
    for call in (
        lambda: DFOPClassifier(0.01).partial_fit(X, y, classes=classes),
        lambda: DFOPClassifier(0.01).predict_pending(X, range(N), classes=classes),
        lambda: DFOPClassifier(0.01).partial_fit(
            X, [[label] * 2 for label in y], classes=[classes] * 2
        ),
        lambda: Keyed(DFOPClassifier(0.01)).partial_fit([1] * N, X, y, classes=classes),
        lambda: Information.from_data(X, y, 0.01, labels=True, classes=classes),
        lambda: MajorityClass().partial_fit(X, y, classes=classes),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    if name != "masked":  # a stream's classes are a sequence
        with pytest.raises(ValueError, match=message):
            Stream.from_arrays(X, y, classes=classes)
        with pytest.raises(ValueError, match=message):
            read(rows_of(y), target="y", classes=classes)


def test_a_word_for_a_missing_label_is_a_class_where_it_is_named():
    y = ["a", "nan", "a", "nan", "a", "a"]
    stream = Stream.from_arrays(X, y, classes=["a", "nan"])
    model = DFOPClassifier(0.01)
    evaluate(model, stream)
    assert model.classes_.tolist() == ["a", "nan"]


def test_texts_of_any_length_are_labels():
    y = np.array(["short", "rather long"] * 3, dtype=np.dtypes.StringDType())
    plain = DFOPClassifier(0.01).partial_fit(X, y.tolist())
    assert everything(DFOPClassifier(0.01).partial_fit(X, y)) == everything(plain)


def test_a_label_known_already_is_looked_up_and_nothing_else(monkeypatch):
    """River's rows come one by one: the rule is for labels not met before."""
    model = river_one_by_one(["x", "y"] * 3)
    seen = []
    monkeypatch.setattr("dfop.model.label_targets.check_new_label", lambda *a: seen.append(a[0]))
    for label in ("x", "y", "x"):
        model.learn_one({"a": 1.0, "b": 0.0}, label)
    assert seen == []
    model.learn_one({"a": 1.0, "b": 0.0}, "z")
    assert seen == ["z"]
