"""The automatic learner for River: the one for arrays, fed with dicts."""

import numpy as np
import pandas as pd
import pytest
from river import checks, datasets, evaluate, metrics

import dfop
from dfop.files.saving import to_bytes
from dfop.model.by_name import RowsByName
from dfop.river import DFOPClassifier, DFOPRegressor

SETTINGS = [
    {"features": "linear"},
    {"features": "rff", "forgetting": 0.01},
    {"features": "poly"},
    {"lags": 2},
    {"prior_variance": 1.0, "cap": None, "fit_intercept": False},
]


def river_checks():
    for kind in (DFOPRegressor, DFOPClassifier):
        for number, setting in enumerate(SETTINGS):
            for check in checks.yield_checks(kind(**setting)):
                if "lags" not in setting and check.__name__ == "check_bounded_memory_growth":
                    continue  # as without parameters, where `test_river.py` has it
                yield pytest.param(
                    kind, setting, check, id=f"{kind.__name__}-{number}-{check.__name__}"
                )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "setting", "check"), list(river_checks()))
def test_river_check(kind, setting, check):
    check(kind(**setting))


@pytest.fixture
def data(rng):
    """More than 600 rows, with a change that rings the alarm."""
    X = rng.normal(size=(700, 3))
    w = np.where(np.arange(700)[:, np.newaxis] < 400, [1.0, -2.0, 0.5], [-2.0, 1.0, 3.0])
    return X, (X * w).sum(axis=1) + 0.1 * rng.normal(size=700)


def frame_of(X):
    return pd.DataFrame(X, columns=list("abc"))


@pytest.mark.parametrize(
    "setting",
    [{}, {"features": "linear"}, {"features": "poly"}, {"lags": 2}, {"lags": 12}, {"cap": 10.0}],
)
def test_the_regressor_is_its_array_twin(setting, data):
    X, y = data
    twin = dfop.DFOPRegressor(**setting)
    ahead = twin.predict_then_learn(X, y)
    one, many = DFOPRegressor(**setting), DFOPRegressor(**setting)
    for row, target, expected in zip(frame_of(X).to_dict("records"), y, ahead, strict=True):
        assert one.predict_one(row) == pytest.approx(expected, rel=1e-10, abs=1e-10)
        one.learn_one(row, target)
    for start in range(0, 700, 90):
        part = slice(start, start + 90)
        many.learn_many(frame_of(X[part]), pd.Series(y[part]))
    now = twin.predict(X[:50])
    rows = frame_of(X[:50])
    np.testing.assert_allclose(many.predict_many(rows), now, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        [one.predict_one(r) for r in rows.to_dict("records")], now, atol=1e-10
    )
    ends = twin.predict_interval(X[:1], 0.9)[0]
    np.testing.assert_allclose(
        one.predict_interval_one(rows.to_dict("records")[0]), ends, rtol=1e-9
    )
    assert [(a.row, a.began) for a in one.alarms_] == [(a.row, a.began) for a in twin.alarms_]
    assert one.alarms_ == many.alarms_
    assert one.forgetting_ == pytest.approx(twin.forgetting_)
    assert len(one.experts_) == len(twin.experts_)


@pytest.mark.parametrize("edges", [None, [0.0], [-1.0, 1.0]], ids=["numbers", "two", "three"])
@pytest.mark.parametrize("setting", [{}, {"forgetting": 0.01, "monitor": True}], ids=str)
def test_a_row_under_way_is_learned_as_any_other(setting, edges, data, monkeypatch):
    """What is compiled for most rows does, bit for bit, what the way of all others does."""
    X, y = data
    rows = frame_of(X).to_dict("records")
    targets = y.tolist() if edges is None else np.digitize(y, edges).tolist()
    rows[430]["b"] = None  # the first gap of a column
    for row in rows[500:]:
        row["d"] = 1.0
    kind = DFOPRegressor if edges is None else DFOPClassifier
    quick, other = kind(**setting), kind(**setting)
    for row, target in zip(rows, targets, strict=True):
        quick.learn_one(row, target)
    assert quick.alarms_
    monkeypatch.setattr(RowsByName, "_is_under_way", lambda self: False)
    for row, target in zip(rows, targets, strict=True):
        other.learn_one(row, target)
    assert to_bytes(quick) == to_bytes(other)


def test_it_says_what_it_knows(data):
    X, y = data
    model = DFOPRegressor(features="linear")
    for row, target in zip(frame_of(X).to_dict("records"), y, strict=True):
        model.learn_one(row, target)
    (alarm,) = [a for a in model.alarms_ if 400 <= a.row < 460]
    assert 395 <= alarm.began <= alarm.row
    assert set(alarm.moved) <= {"a", "b", "c", "constant"}
    assert model.drift_.mu > 0.0
    assert set(model.weights) == {"a", "b", "c"}
    assert np.sign(list(model.weights.values())).tolist() == [-1.0, 1.0, 1.0]


def test_before_the_first_row_it_knows_nothing():
    model = DFOPRegressor()
    assert model.predict_one({"a": 1.0}) == 0.0
    assert model.predict_interval_one({"a": 1.0}) == (-np.inf, np.inf)
    with pytest.raises(AttributeError, match="once a row was learned"):
        _ = model.experts_
    with pytest.raises(AttributeError, match="once a row was learned"):
        _ = model.weights
    model.learn_one({"a": 1.0}, 1.0)
    assert model.predict_interval_one({"a": 1.0})[0] < np.inf


def mixed(X):
    frame = frame_of(X)
    frame["kind"] = np.where(X[:, 0] > 0.5, "high", "low")
    frame.loc[np.arange(len(X)) % 7 == 3, "b"] = np.nan
    return frame


def labels_of(y, classes):
    """Labels of which some come late."""
    labels = np.digitize(y, [-1.5, 0.0, 1.5])[: len(y)] if classes > 2 else (y > 0).astype(int)
    labels[:40] = np.minimum(labels[:40], 1)
    return np.array(["w", "x", "y", "z"])[labels]


@pytest.mark.parametrize("lags", [0, 2])
@pytest.mark.parametrize("classes", [2, 4])
def test_learn_many_is_learn_one_bit_for_bit(classes, lags, data):
    X, y = data
    frame, labels = mixed(X), labels_of(y, classes)
    one, many = DFOPClassifier(lags=lags), DFOPClassifier(lags=lags)
    for row, label in zip(frame.to_dict("records"), labels, strict=True):
        one.learn_one(row, label)
    for start, stop in [(0, 1), (1, 30), (30, 300), (300, 700)]:
        many.learn_many(frame[start:stop], pd.Series(labels[start:stop]))
    rows = frame[:60]
    p = many.predict_proba_many(rows)
    assert p.to_dict("records") == [one.predict_proba_one(r) for r in rows.to_dict("records")]
    assert many.predict_many(rows).tolist() == [one.predict_one(r) for r in rows.to_dict("records")]
    assert one.alarms_ == many.alarms_
    assert one.experts_ == many.experts_


def test_the_order_of_a_dict_is_chance_and_does_not_matter(data, rng):
    X, y = data
    one, other = DFOPRegressor(), DFOPRegressor()
    for row, target in zip(mixed(X).to_dict("records"), y, strict=True):
        shuffled = {name: row[name] for name in rng.permutation(list(row))}
        assert one.predict_one(row) == other.predict_one(shuffled)
        one.learn_one(row, target)
        other.learn_one(shuffled, target)


def test_probabilities_are_calibrated():
    """Of rows told to be right with probability p, a share of p is right."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6000, 2))
    p = 1 / (1 + np.exp(-2.0 * X[:, 0]))
    labels = rng.random(6000) < p
    model = DFOPClassifier(features="linear")
    told, right = [], []
    for row, label in zip(
        frame_of(np.c_[X, X[:, 0]])[["a", "b"]].to_dict("records"), labels, strict=True
    ):
        probabilities = model.predict_proba_one(row)
        if probabilities:
            best = max(probabilities, key=probabilities.get)
            assert best == model.predict_one(row)
            told.append(probabilities[best])
            right.append(best == label)
        model.learn_one(row, bool(label))
    told, right = np.array(told)[500:], np.array(right)[500:]
    edges = np.quantile(told, np.linspace(0, 1, 11)[1:-1])
    place = np.digitize(told, edges)
    gaps = [abs(told[place == i].mean() - right[place == i].mean()) for i in range(10)]
    assert np.mean(gaps) < 0.03


def test_lags_follow_a_stream_that_repeats():
    """The label is the one of two rows before: features tell nothing."""
    rng = np.random.default_rng(4)
    labels = ["a", "b"]
    for t in range(2, 800):
        labels.append(labels[t - 2] if rng.random() < 0.95 else "ab"[int(rng.integers(2))])
    right = {}
    for lags in (0, 2):
        model = DFOPClassifier(lags=lags)
        hits = 0
        for label in labels:
            row = {"noise": float(rng.normal())}
            hits += model.predict_one(row) == label
            model.learn_one(row, label)
        right[lags] = hits / len(labels)
    assert right[2] > 0.85
    assert right[2] > right[0]


@pytest.mark.parametrize("kind", [DFOPRegressor, DFOPClassifier])
def test_a_feature_named_like_a_lag_is_refused(kind):
    model = kind(lags=1)
    with pytest.raises(ValueError, match="'label 1 back' has the name of a lag"):
        model.learn_one({"label 1 back": 1.0}, 1.0)
    with pytest.raises(ValueError, match="'label 1 back' has the name of a lag"):
        model.learn_many(pd.DataFrame({"label 1 back": [1.0]}), pd.Series([1.0]))
    with pytest.raises(TypeError, match="a row must be a dict"):
        model.learn_one([1.0], 1.0)
    model.learn_one({"label 2 back": 1.0}, 1.0)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"features": "curves"}, "features='curves' is not known"),
        ({"features": dfop.DFOPRegressor()}, "is not known"),
        ({"lags": -1}, "lags=-1 must be"),
        ({"forgetting": dfop.half_life("1h")}, "has no time"),
    ],
)
@pytest.mark.parametrize("kind", [DFOPRegressor, DFOPClassifier])
def test_bad_parameters_are_refused(kind, setting, message):
    with pytest.raises(ValueError, match=message):
        kind(**setting)


@pytest.mark.parametrize("bad", [{"a": np.inf}, {"a": [1.0]}, {"a": "1.5"}])
@pytest.mark.parametrize("kind", [DFOPRegressor, DFOPClassifier])
def test_a_bad_first_row_leaves_the_model_as_it_was(kind, bad):
    model = kind()
    with pytest.raises(ValueError, match="feature 'a'"):
        model.learn_one(bad, 1.0)
    if kind is DFOPRegressor:
        with pytest.raises(ValueError, match="y must be finite"):
            model.learn_one({"b": 1.0}, np.nan)
    model.learn_one({"c": 1.0}, 1.0)
    assert model._model.engine.features == 1


def test_it_runs_on_rivers_own_streams():
    metric = evaluate.progressive_val_score(
        datasets.Phishing(), DFOPClassifier(), metrics.Accuracy()
    )
    assert metric.get() > 0.88  # river's logistic regression with scaling: 0.8928
