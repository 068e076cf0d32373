"""`classes="open"`: labels that come later open their class, as River's face has it."""

import numpy as np
import pytest

from dfop import DFOPClassifier, from_bytes, river, to_bytes
from model_state import everything

FACES = {
    "auto": {},
    "linear": {"features": "linear"},
    "lags": {"features": "linear", "lags": 2},
    "fixed": {"forgetting": 0.01},
}


def rows(n=400, classes=5, seed=0):
    """Class k first comes after about 60 k rows."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 1 + np.minimum(np.arange(n) // 60, classes - 1))
    X = 2.0 * rng.normal(size=(classes, 3))[y] + rng.normal(size=(n, 3))
    return X, np.array(["e", "b", "d", "a", "c"])[y]


@pytest.mark.parametrize("settings", FACES.values(), ids=FACES)
def test_it_is_the_model_that_knew_its_classes_from_the_start(settings):
    X, y = rows()
    told, open_ = DFOPClassifier(**settings), DFOPClassifier(**settings)
    before = told.predict_then_learn(X, y, classes=sorted(set(y)))
    ahead = open_.predict_then_learn(X, y, classes="open")
    assert ahead[0] is None  # its label must not be known
    np.testing.assert_array_equal(ahead[1:], before[1:])
    np.testing.assert_array_equal(open_.classes_, told.classes_)
    if "forgetting" in settings:  # a row that opens a class teaches no calibration
        np.testing.assert_allclose(open_.predict_proba(X), told.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(open_.predict(X), told.predict(X))
    np.testing.assert_allclose(open_.decision_function(X), told.decision_function(X), atol=1e-9)
    assert open_.predict(X).dtype == told.predict(X).dtype


@pytest.mark.parametrize("settings", FACES.values(), ids=FACES)
def test_it_is_rivers_model(settings):
    X, y = rows(300)
    arrays, twin = DFOPClassifier(**settings), river.DFOPClassifier(**settings)
    ahead = arrays.predict_then_learn(X, y, classes="open")
    for row, label, expected in zip(X.tolist(), y.tolist(), ahead, strict=True):
        x = dict(zip("abc", row, strict=True))
        assert twin.predict_one(x) == expected
        twin.learn_one(x, label)
    p = twin.predict_proba_one(x)
    shown = arrays.predict_proba(X[-1:])[0]
    assert {label: p[label] for label in arrays.classes_} == pytest.approx(
        dict(zip(arrays.classes_, shown, strict=True)), abs=1e-12
    )


@pytest.mark.parametrize("settings", FACES.values(), ids=FACES)
def test_any_split_and_a_saved_model_give_the_same_bits(settings):
    X, y = rows()
    whole, parts = DFOPClassifier(**settings), DFOPClassifier(**settings)
    whole.partial_fit(X, y, classes="open")
    for start in (0, 1, 2, 3, 59, 130, 399):
        stop = {0: 1, 1: 2, 2: 3, 3: 59, 59: 130, 130: 399, 399: 400}[start]
        parts.partial_fit(X[start:stop], y[start:stop], classes="open" if start == 0 else None)
        parts = from_bytes(to_bytes(parts))
    assert everything(parts) == everything(whole)
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


def test_probabilities_have_a_column_for_every_class_of_the_call_and_add_up():
    X, y = rows()
    p = DFOPClassifier().predict_proba_then_learn(X, y, classes="open")
    assert p.shape == (400, 5)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    ahead = DFOPClassifier().ahead_then_learn(X, y, classes="open")
    assert ahead.prediction[0] is None
    met = 1 + max(np.flatnonzero(y == k)[0] for k in set(y))
    np.testing.assert_allclose(ahead.probability[met:], p.max(axis=1)[met:])
    # columns of classes that come later in the call hold a little, which nobody knew of then
    assert ahead.probability[0] == 0.0
    assert (ahead.probability[1:met] >= p.max(axis=1)[1:met]).all()
    np.testing.assert_allclose(ahead.probability[1:met], p.max(axis=1)[1:met], atol=0.01)


def test_numbers_stay_numbers_and_two_classes_have_one_margin():
    X, y = rows(100, classes=2)
    model = DFOPClassifier().partial_fit(X, (y == "b") * 7, classes="open")
    assert model.classes_.tolist() == [0, 7]
    assert model.predict(X).dtype == model.classes_.dtype == np.int64
    assert model.decision_function(X).shape == (100,)
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 7)


def test_rows_that_do_not_count_open_no_class():
    X, y = rows(50, classes=1)
    model = DFOPClassifier().partial_fit(X, y, classes="open")
    other = np.full(50, "new")
    model.partial_fit(X, other, sample_weight=np.zeros(50))
    assert model.classes_.tolist() == ["e"]
    model.partial_fit(X, other)
    assert model.classes_.tolist() == ["e", "new"]


@pytest.mark.parametrize("settings", FACES.values(), ids=FACES)
def test_late_labels_open_classes(settings):
    X, y = rows(200)
    model, keys = DFOPClassifier(**settings), list(range(200))
    for start in range(0, 200, 20):
        part = slice(start, start + 20)
        model.predict_pending(X[part], keys[part], classes="open")
        model.learn_pending(keys[part], y[part])
    assert set(model.classes_) == set(y)
    assert np.mean(model.predict(X) == y) > 0.5


@pytest.mark.parametrize(
    ("settings", "y", "given", "message"),
    [
        ({"max_classes": 2}, ["a", "b", "c"], None, "3 classes, more than max_classes=2"),
        ({}, [1, 2, 3], None, "another type"),
        ({}, ["a", "b", "c"], ["a", "b", "c"], "began with classes='open'"),
        ({}, ["a", None, "c"], None, "row 1"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(settings, y, given, message):
    model = DFOPClassifier(**settings).partial_fit([[1.0], [2.0]], ["a", "b"], classes="open")
    before = everything(model)
    with pytest.raises((ValueError, TypeError), match=message):
        model.partial_fit([[1.0], [2.0], [3.0]], y, classes=given)
    assert everything(model) == before


def test_other_words_and_several_targets_are_refused():
    with pytest.raises(ValueError, match="classes"):
        DFOPClassifier().partial_fit([[1.0]], ["a"], classes="opne")
    with pytest.raises(ValueError, match="one label a row"):
        DFOPClassifier().partial_fit([[1.0]], [["a", "b"]], classes="open")


@pytest.mark.parametrize("given", ["open", ["a", "b", "zzz"], None])
@pytest.mark.parametrize("first", ["fit", "partial_fit"])
def test_a_model_that_knows_its_classes_says_that_it_takes_no_other(first, given):
    X = [[1.0], [2.0]]
    model = getattr(DFOPClassifier(), first)(X, ["a", "b"])
    before = everything(model)
    with pytest.raises(ValueError, match="begun without takes no other: begin a new one"):
        model.partial_fit([[3.0]], ["zzz"], classes=given)
    assert everything(model) == before
    # what the message advises
    anew = DFOPClassifier().partial_fit(X, ["a", "b"], classes="open")
    assert anew.partial_fit([[3.0]], ["zzz"], classes="open").classes_.tolist() == ["a", "b", "zzz"]


def test_several_targets_that_know_their_classes_take_no_others():
    model = DFOPClassifier().partial_fit([[1.0], [2.0]], [["a", "b", "c", "d"]] * 2)
    with pytest.raises(ValueError, match="classes='open' differs from the classes"):
        model.partial_fit([[1.0]], [["a", "b", "c", "d"]], classes="open")
