"""What may grow for ever has a bound: feature names, classes, texts."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dfop.river
from dfop import DFOPClassifier, DFOPRegressor
from model_state import everything, refused

MOST = 50
SETTINGS = {"fixed mu": {"forgetting": 0.001}, "linear": {"features": "linear"}}


def ever_new_names(n):
    """Rows with two features that stay and one that has never been there before."""
    rng = np.random.default_rng(0)
    for t in range(n):
        a = float(rng.normal())
        yield {"a": a, "b": 1.0, f"name {t}": float(rng.normal())}, 2.0 * a + 1.0


@pytest.mark.filterwarnings("ignore:more than max_features")
@pytest.mark.parametrize("setting", SETTINGS)
def test_names_beyond_the_bound_share_columns(setting):
    n = 10_000 if setting == "fixed mu" else 500
    model = dfop.river.DFOPRegressor(**SETTINGS[setting], max_features=MOST)
    for x, y in ever_new_names(n):
        assert np.isfinite(model.predict_one(x))
        model.learn_one(x, y)
    assert len(model._model.ids) == MOST
    assert model._model.coder.width <= MOST + 32
    assert len(model.weights) <= MOST + 32
    assert model.predict_one({"a": 1.0, "b": 1.0}) == pytest.approx(3.0, abs=0.2)


@pytest.mark.parametrize("setting", [{"features": "linear"}, {"forgetting": 0.01}], ids=str)
@pytest.mark.parametrize("kind", [dfop.river.DFOPRegressor, dfop.river.DFOPClassifier])
def test_names_beyond_the_bound_are_warned_of_once(kind, setting):
    model = kind(**setting, max_features=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t, (x, y) in enumerate(ever_new_names(20)):
            model.learn_one(x, y > 0)
            assert bool(caught) == (t > 0), t
    assert len(caught) == 1
    assert "max_features=3" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:more than max_features")
@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_frames_beyond_the_bound_are_as_row_after_row(setting, library):
    rng = np.random.default_rng(1)
    one, many = (dfop.river.DFOPRegressor(**SETTINGS[setting], max_features=5) for _ in range(2))
    for t in range(12):
        frame = pd.DataFrame(rng.normal(size=(7, 3)), columns=["a", "b", f"c{t // 2}"])
        frame[f"text {t}"] = rng.choice(["red", "blue"], 7)
        y = rng.normal(size=7)
        given = frame if library == "pandas" else pl.from_pandas(frame)
        for x, label in zip(frame.to_dict("records"), y, strict=True):
            one.learn_one(x, label)
        many.learn_many(given, y)
        assert everything(one) == everything(many)
        expected = [one.predict_one(x) for x in frame.to_dict("records")]
        assert list(many.predict_many(given)) == expected


@pytest.mark.filterwarnings("ignore:more than max_features")
def test_a_bad_row_in_a_frame_beyond_the_bound_changes_nothing():
    model = dfop.river.DFOPRegressor(0.01, max_features=2)
    model.learn_many(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 0.0], "c": [2.0, 1.0]}), [1.0, 2.0])
    bad = pd.DataFrame({"a": ["x", "y"], "b": [1.0, 1.0], "d": [1.0, 1.0]})
    refused(model, lambda m: m.learn_many(bad, [1.0, 2.0]), "row 0", "'a'")
    late = pd.DataFrame({"a": [None, "y"], "b": [1.0, 1.0], "d": [1.0, 1.0]})
    refused(model, lambda m: m.learn_many(late, [1.0, 2.0]), "row 1", "'a'")
    twice = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "d", "d"])
    refused(model, lambda m: m.learn_many(twice, [1.0]), "several columns named")


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("setting", [*SETTINGS, "default"])
@pytest.mark.parametrize("most", [2, 5])
def test_classes_beyond_the_bound_are_warned_of_once_and_never_predicted(setting, most, many):
    rng = np.random.default_rng(2)
    model = dfop.river.DFOPClassifier(**SETTINGS.get(setting, {}), max_classes=most)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(120):
            x, label = {"a": float(t % 40), "b": float(rng.normal())}, f"class {t % 40}"
            if many:
                model.learn_many(pd.DataFrame([x]), [label])
            else:
                model.learn_one(x, label)
            known = {f"class {k}" for k in range(min(t + 1, most))}
            assert model.predict_one(x) in known
            shares = model.predict_proba_one(x)
            assert set(shares) == known
            assert sum(shares.values()) == pytest.approx(1.0)
            assert np.isfinite(list(shares.values())).all()
    assert len(caught) == 1
    assert f"max_classes={most}" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert model._model.engine.outputs <= most + 1


@pytest.mark.filterwarnings("ignore:more than max_classes")
@pytest.mark.parametrize("lags", [0, 2])
@pytest.mark.parametrize("setting", SETTINGS)
def test_frames_with_classes_beyond_the_bound_are_as_row_after_row(setting, lags):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    labels = [f"class {k}" for k in rng.integers(0, 9, 60)]
    more = {**SETTINGS[setting], "max_classes": 4, "lags": lags}
    one, many = (dfop.river.DFOPClassifier(**more) for _ in range(2))
    for x, label in zip(frame.to_dict("records"), labels, strict=True):
        one.learn_one(x, label)
    many.learn_many(frame, labels)
    assert everything(one) == everything(many)


@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict_then_learn"])
def test_an_array_with_too_many_classes_is_refused_at_once(call):
    X, y = np.ones((8, 2)), np.arange(8)
    model = DFOPClassifier(max_classes=5)
    refused(model, lambda m: getattr(m, call)(X, y), "8 classes", "max_classes=5", "raise")
    many = np.column_stack([y, y])
    refused(model, lambda m: getattr(m, call)(X, many), "8 classes", "max_classes=5", "raise")
    refused(model, lambda m: m.predict_pending(X, y, classes=y), "8 classes", "max_classes=5")


@pytest.mark.parametrize("forgetting", ["auto", 0.01])
def test_ever_new_texts_share_columns(forgetting):
    model = DFOPRegressor(forgetting, features="linear")
    for start in range(0, 2000, 100):
        frame = pd.DataFrame({"id": [f"id {start + t}" for t in range(100)]})
        model.partial_fit(frame, np.arange(100.0))
    assert len(model.coded_names_) <= 100 + 32
    assert np.isfinite(model.predict(pd.DataFrame({"id": ["never seen"]}))).all()


def test_new_columns_of_a_frame_are_as_if_they_had_been_0_all_the_time():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    X[:30, 2] = 0.0
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    whole = DFOPRegressor(0.0).partial_fit(frame, y)
    grown = DFOPRegressor(0.0).partial_fit(frame[["a", "b"]][:30], y[:30])
    grown.partial_fit(frame[30:], y[30:])
    assert np.abs(whole.coef_ - grown.coef_).max() < 1e-10
    assert grown.n_features_in_ == 3
