"""The River learners: River's own checks, and equality with the array learners."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from river import checks, compose, evaluate, metrics, preprocessing, stream

import dfop
from dfop import half_life, river
from dfop.river import DFOPClassifier, DFOPRegressor
from model_state import everything

SETTINGS = [
    {},
    {"forgetting": 0.0},
    {"forgetting": 0.01, "fit_intercept": False},
    {"forgetting": half_life(50), "prior_variance": 1.0},
    {"forgetting": 0.01, "cap": None},
    {"forgetting": "few"},
]


def river_checks():
    for kind in (DFOPRegressor, DFOPClassifier):
        for number, setting in enumerate(SETTINGS):
            for check in checks.yield_checks(kind(**setting)):
                if number > 1 and check.__name__ == "check_bounded_memory_growth":
                    continue  # half a second each; what a model keeps is the same from here on
                yield pytest.param(
                    kind, setting, check, id=f"{kind.__name__}-{number}-{check.__name__}"
                )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "setting", "check"), list(river_checks()))
def test_river_check(kind, setting, check):
    check(kind(**setting))


@pytest.fixture
def data(rng):
    X = rng.normal(size=(400, 5))
    X[:150, 3] = 0.0  # a feature that appears late
    X[300:, 1] = 0.0  # and one that disappears
    return X, X @ [1.0, -2.0, 0.5, 3.0, 0.0] + 0.1 * rng.normal(size=400)


def as_dict(x, rng):
    """The row as a dict: zeros left out, in any order."""
    names = np.flatnonzero(x)
    return {f"x{j}": float(x[j]) for j in rng.permutation(names)}


def test_features_that_come_and_go_are_features_that_are_zero(data, rng):
    X, y = data
    ahead = dfop.DFOPRegressor(0.02).predict_then_learn(X, y)
    model = DFOPRegressor(0.02)
    for x, target, expected in zip(X, y, ahead, strict=True):
        row = as_dict(x, rng)
        assert model.predict_one(row) == pytest.approx(expected, rel=1e-10, abs=1e-10)
        model.learn_one(row, target)
    assert set(model.weights) == {f"x{j}" for j in range(5)}


def test_classes_that_appear_late_are_classes_that_were_never_seen(data, rng):
    X, y = data
    labels = np.array(["low", "mid", "high"])[np.digitize(y, [-1.0, 1.0])]
    labels[:100] = np.where(labels[:100] == "mid", "low", labels[:100])
    ahead = dfop.DFOPClassifier(0.02)
    ahead.partial_fit(X[:1], labels[:1], classes=["low", "mid", "high"])
    model = DFOPClassifier(0.02)
    model.learn_one(as_dict(X[0], rng), labels[0])
    for x, label in zip(X[1:], labels[1:], strict=True):
        row = as_dict(x, rng)
        assert model.predict_one(row) == ahead.predict([x])[0]
        ahead.partial_fit([x], [label])
        model.learn_one(row, label)


def test_two_classes_agree_with_the_array_classifier(data):
    X, y = data
    labels = y > 0
    array = dfop.DFOPClassifier(0.02)
    ahead = array.predict_then_learn(X, labels, classes=[False, True])
    model = DFOPClassifier(0.02)
    dicts = [{j: float(v) for j, v in enumerate(x)} for x in X]
    model.learn_one(dicts[0], labels[0])
    agree = []
    for x, label, expected in zip(dicts[1:], labels[1:], ahead[1:], strict=True):
        agree.append(model.predict_one(x) == expected)
        model.learn_one(x, label)
    assert all(agree[5:])  # at the very start both are close to a tie
    p = model.predict_proba_one(dicts[0])
    expected = dict(zip(array.classes_, array.predict_proba(X[:1])[0], strict=True))
    assert p == pytest.approx(expected, abs=1e-6)


def test_before_any_label_there_is_no_prediction():
    assert DFOPRegressor().predict_one({"a": 1.0}) == 0.0
    assert DFOPClassifier().predict_one({"a": 1.0}) is None
    assert DFOPClassifier().predict_proba_one({"a": 1.0}) == {}


def test_learn_many_equals_learn_one_bit_for_bit(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    one, many = DFOPRegressor(0.02), DFOPRegressor(0.02)
    for row, target in zip(frame.to_dict("records"), y, strict=True):
        one.learn_one(row, target)
    many.learn_many(frame[:7], pd.Series(y[:7]))
    many.learn_many(frame[7:], pd.Series(y[7:]))
    np.testing.assert_array_equal(
        many.predict_many(frame), [one.predict_one(row) for row in frame.to_dict("records")]
    )


def test_runs_in_river_pipelines(data):
    X, y = data
    model = compose.Pipeline(preprocessing.StandardScaler(), DFOPRegressor(0.02))
    score = evaluate.progressive_val_score(stream.iter_array(X, y), model, metrics.MAE())
    assert score.get() < np.abs(y).mean() / 3


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@pytest.mark.parametrize("kind", [DFOPRegressor, DFOPClassifier])
def test_a_copy_goes_on_alone(kind, twin, data):
    X, y = data
    model = kind(0.02)
    rows = [{j: float(v) for j, v in enumerate(x)} for x in X]
    targets = y if kind is DFOPRegressor else y > 0
    for row, target in zip(rows[:200], targets[:200], strict=True):
        model.learn_one(row, target)
    other = twin(model)
    before = model.predict_one(rows[0])
    for row, target in zip(rows[200:], targets[200:], strict=True):
        other.learn_one(row, target)
    assert model.predict_one(rows[0]) == before
    for row, target in zip(rows[200:], targets[200:], strict=True):
        model.learn_one(row, target)
    assert [model.predict_one(row) for row in rows] == [other.predict_one(row) for row in rows]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 1.0, "b": float("inf")}, "feature 'b' is inf"),
        ({"a": "red"}, "feature 'a' is 'red', but it was a number before"),
        ({"c": 3}, "feature 'c' is 3, but it was text before"),
        ({"c": "3"}, "feature 'c' is '3', a number given as text"),
        ({"new": "1e5"}, "feature 'new' is '1e5', a number given as text"),
        ({"a": b"red"}, "feature 'a' is b'red'"),
        ({"a": [1.0]}, "feature 'a' is .1.0."),
        ({"a": 1e200}, "feature 'a' is 1e[+]200"),
        ({"a": 10**400}, "feature 'a' is 1000"),
        ({"new": 1.0, "a": float("-inf")}, "feature 'a' is -inf"),
        ({"a": None, "c": "new", "new": "new", "b": float("inf")}, "feature 'b' is inf"),
    ],
)
@pytest.mark.parametrize("kind", [DFOPRegressor, DFOPClassifier])
def test_a_bad_row_is_named_and_changes_nothing(kind, row, message):
    model = kind(0.02)
    for t in range(20):
        model.learn_one({"a": float(t % 3), "b": 1.0 + t, "c": "red"}, t % 2)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.learn_one(row, 7)  # 7 is a new class for the classifier
    with pytest.raises(ValueError, match=message):
        model.predict_one(row)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("y", [float("nan"), float("inf"), 1e200, "1.5", None, [1.0]])
def test_a_bad_target_changes_nothing(y):
    model = DFOPRegressor(0.02)
    model.learn_one({"a": 1.0}, 1.0)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="y must be finite"):
        model.learn_one({"a": 1.0, "b": 1.0}, y)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("y", [float("nan"), None, np.nan])
def test_a_missing_label_changes_nothing(y):
    model = DFOPClassifier(0.02)
    model.learn_one({"a": 1.0}, "x")
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="drop rows without a label"):
        model.learn_one({"a": 1.0}, y)
    with pytest.raises(ValueError, match="at row 1, which is no label: drop rows without a label"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), pd.Series(["x", y], dtype=object))
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("frame", "y", "message"),
    [
        (pd.DataFrame({"a": [1.0, 2.0]}), [1.0], "X has 2 rows but y has 1"),
        (pd.DataFrame({"a": [1.0]}), [1.0, 2.0], "X has 1 rows but y has 2"),
        (pd.DataFrame({"a": []}), [], "the batch is empty"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), [1.0], "several columns"),
        (pd.DataFrame({"a": ["red"], "b": [1.0]}), [1.0], "'red' at row 0, column 'a'"),
        (pd.DataFrame({"b": ["red"], "c": ["1"]}), [1.0], "'1' at row 0, column 'c'"),
    ],
)
@pytest.mark.parametrize("kind", [DFOPRegressor, DFOPClassifier])
def test_a_bad_batch_changes_nothing(kind, frame, y, message):
    model = kind(0.02)
    model.learn_one({"a": 1.0}, 1.0)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.learn_many(frame, pd.Series(y, dtype=float))
    assert pickle.dumps(model) == before


def test_without_river_the_import_says_what_to_install():
    code = "import sys; sys.modules['river'] = None; import dfop.river"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'dfop[river]'" in outcome.stderr


def test_a_bad_frame_is_named_and_changes_nothing():
    model = DFOPRegressor(0.02)
    model.learn_one({"a": 1.0}, 1.0)
    before = pickle.dumps(model)
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, np.inf]})
    with pytest.raises(ValueError, match="X contains infinity at row 1, column 'b'"):
        model.learn_many(frame, pd.Series([1.0, 2.0]))
    with pytest.raises(ValueError, match="y contains infinity at row 1"):
        model.learn_many(frame[["a"]], pd.Series([1.0, np.inf]))
    assert pickle.dumps(model) == before


def test_something_else_than_a_dict_is_refused():
    with pytest.raises(TypeError, match="a row must be a dict"):
        DFOPRegressor().learn_one([1.0, 2.0], 1.0)


def test_forgetting_by_the_clock_is_refused():
    with pytest.raises(ValueError, match="River's learn_one has no time"):
        river.DFOPRegressor(half_life("1h"))


@pytest.mark.parametrize("face", [DFOPRegressor, DFOPClassifier])
@pytest.mark.parametrize(
    "X",
    [np.ones((2, 1)), pa.table({"a": [1.0, 2.0]}), [{"a": 1.0}, {"a": 2.0}], pd.Series([1.0, 2.0])],
    ids=lambda X: type(X).__name__,
)
def test_many_rows_come_in_frames_and_others_are_told_so(face, X):
    model = face()
    model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), pd.Series([1, 2]))
    calls = [lambda: model.learn_many(X, [1, 2]), lambda: model.predict_many(X)]
    if face is DFOPClassifier:
        calls.append(lambda: model.predict_proba_many(X))
    before = everything(model)
    for call in calls:
        with pytest.raises(
            TypeError, match=f"of pandas or polars, not {type(X).__name__}: .*DataF"
        ):
            call()
    assert everything(model) == before
