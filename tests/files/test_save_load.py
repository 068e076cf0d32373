"""A model that was saved and loaded goes on as if it had never stopped, to the last bit."""

import copy
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from made import CASES, SAVED, frame, stream, targets
from sklearn.base import clone
from sklearn.linear_model import SGDRegressor
from sklearn.preprocessing import FunctionTransformer

import dfop
from dfop import DFOPClassifier, DFOPRegressor, from_bytes, half_life, load, river, save, to_bytes
from model_state import everything


def through_file(model, tmp_path):
    save(model, tmp_path / "model.dfop")
    return load(tmp_path / "model.dfop")


def through_joblib(model, tmp_path):
    joblib.dump(model, tmp_path / "model.joblib")
    return joblib.load(tmp_path / "model.joblib")


WAYS = {
    "file": through_file,
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "joblib": through_joblib,
    "deepcopy": lambda model, _: copy.deepcopy(model),
}


@pytest.fixture(autouse=True)
def _unwarned():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="more than max_|.*rows were given up")
        yield


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_every_model_goes_on_as_if_never_stopped(case, tmp_path):
    model = case.made()
    other = through_file(model, tmp_path)
    assert everything(other) == everything(model)
    assert case.go_on(other) == case.go_on(model)
    assert everything(other) == everything(model)
    assert everything(from_bytes(to_bytes(other))) == everything(model)


@pytest.mark.parametrize("case", CASES[::5], ids=repr)
@pytest.mark.parametrize("way", ["pickle", "joblib", "deepcopy"])
def test_so_do_copies_by_other_ways(case, way, tmp_path):
    model = case.made()
    other = WAYS[way](model, tmp_path)
    assert everything(other) == everything(model)
    assert case.go_on(other) == case.go_on(model)


@pytest.mark.parametrize("forgetting", [0.05, "auto"])
@pytest.mark.parametrize(
    ("face", "kind", "lags"),
    [
        (DFOPRegressor, "number", 0),
        (DFOPRegressor, "number", 2),
        (DFOPRegressor, "numbers", 0),
        (DFOPClassifier, "three", 0),
        (DFOPClassifier, "three", 2),
    ],
)
def test_rows_that_wait_before_any_label_survive(face, kind, lags, forgetting, tmp_path):
    X, y = stream()
    y = targets(kind, y)
    model = face(forgetting, features="linear", lags=lags)
    known = {"classes": np.unique(y)} if kind == "three" else {}
    model.predict_pending(X[:3], keys=[0, 1, 2], **known)
    other = through_file(model, tmp_path)
    assert everything(other) == everything(model)
    for one in (model, other):
        one.learn_pending([1, 0], y[[1, 0]])
        one.partial_fit(X[3:50], y[3:50])
    assert everything(other) == everything(model)


def test_clock_names_and_keys_survive(tmp_path):
    X, y = stream()
    table = pd.DataFrame(X, columns=list("abc"))
    time = pd.date_range("2026-01-01", periods=len(X), freq="37min")
    model = DFOPRegressor(half_life("8h"), pending_expiry="90d")
    model.partial_fit(table[:50], y[:50], time=time[:50])
    model.predict_pending(table[50:53], keys=["p", 7, "\udcff\u2603"], time=time[50:53])
    other = through_file(model, tmp_path)
    assert other.pending_ == ["p", 7, "\udcff\u2603"]
    assert other.get_params() == model.get_params()
    with pytest.raises(ValueError, match="runs backwards"):
        other.partial_fit(table[:1], y[:1], time=time[:1])
    with pytest.raises(ValueError, match="feature names"):
        other.predict(table[["b", "a", "c"]])


def test_what_has_expired_stays_counted(tmp_path):
    X, _ = stream()
    model = DFOPRegressor(0.05, pending_limit=2)
    model.predict_pending(X[:5], keys=range(5))
    other = through_file(model, tmp_path)
    assert (other.pending_, other.expired_) == ([3, 4], 3)


def test_alarms_are_kept(tmp_path):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(700, 3))
    w = np.where(np.arange(700)[:, np.newaxis] < 500, [1.0, 2.0, -1.0], [-3.0, 1.0, 2.0])
    model = DFOPRegressor(features="linear").fit(X, (X * w).sum(axis=1))
    assert model.alarms_
    assert through_file(model, tmp_path).alarms_ == model.alarms_


@pytest.mark.parametrize("face", [river.DFOPRegressor, river.DFOPClassifier])
@pytest.mark.parametrize("forgetting", [0.05, "auto"])
def test_a_river_model_before_its_first_row_can_be_saved(face, forgetting, tmp_path):
    model = face(forgetting, lags=1)
    other = through_file(model, tmp_path)
    assert other.predict_one({"a": 1.0}) == model.predict_one({"a": 1.0})
    for one in (model, other):
        one.learn_one({"a": 1.0}, 1)
    assert everything(other) == everything(model)


@pytest.mark.parametrize("face", [river.DFOPRegressor, river.DFOPClassifier])
def test_a_first_row_that_was_refused_leaves_no_trace(face, tmp_path):
    model, fresh = face(0.05, lags=2), face(0.05, lags=2)
    for _ in range(2):
        with pytest.raises(ValueError, match="expected text or a finite number"):
            model.learn_one({"a": object()}, 1)
    other = through_file(model, tmp_path)
    for one in (model, other, fresh):
        one.learn_one({"a": 1.0}, 1)
    assert everything(other) == everything(model) == everything(fresh)


def test_names_beyond_the_bound_share_columns_after_loading_too(tmp_path):
    model = river.DFOPRegressor(0.05, max_features=2)
    for t in range(40):
        model.learn_one({f"name {t % 9}": 1.0}, float(t))
    other = through_file(model, tmp_path)
    for one in (model, other):
        one.learn_one({"name 20": 2.0, "name 1": 1.0}, 3.0)
    assert everything(other) == everything(model)
    assert other.predict_one({"name 20": 1.0}) == model.predict_one({"name 20": 1.0})


def test_labels_as_wide_as_they_like_do_not_fill_the_file(tmp_path):
    X, y = stream()
    labels = np.where(y > 0, "yes", "no").astype("<U5000")
    model = DFOPClassifier(0.05).fit(X, labels)
    other = through_file(model, tmp_path)
    assert other.predict(X).tolist() == model.predict(X).tolist()


def test_a_clone_knows_nothing_and_has_the_same_parameters():
    X, y = stream()
    model = DFOPRegressor(lags=2, features="linear").fit(X, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(ValueError, match="has not seen a row"):
        to_bytes(fresh)


# -- what is not saved ------------------------------------------------------------------------


@pytest.mark.parametrize("model", [object(), DFOPRegressor])
def test_what_is_no_model_is_refused(model, tmp_path):
    with pytest.raises(TypeError, match="save knows dfop's learners"):
        save(model, tmp_path / "x")


@pytest.mark.parametrize("name", ["none/model.dfop", "none/../model.dfop", "file/model.dfop"])
def test_a_folder_that_is_not_there_is_refused_by_its_name(name, tmp_path):
    X, y = stream()
    (tmp_path / "file").touch()
    path = f"{tmp_path}/{name}"
    with pytest.raises(OSError, match="no such folder, make it first") as refused:
        save(DFOPRegressor(0.05).fit(X, y), path)
    assert refused.value.filename == path.removesuffix("/model.dfop")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    with pytest.raises(FileNotFoundError):
        load(path)


def test_a_link_into_a_folder_that_is_not_there_is_refused_by_that_name(tmp_path):
    X, y = stream()
    (tmp_path / "link").symlink_to("none/model.dfop")
    with pytest.raises(FileNotFoundError) as refused:
        save(DFOPRegressor(0.05).fit(X, y), tmp_path / "link")
    assert refused.value.filename == str(tmp_path.resolve() / "none")


@pytest.mark.parametrize("forgetting", [0.05, "auto"])
@pytest.mark.parametrize("face", [DFOPRegressor, river.DFOPRegressor])
def test_a_shallow_copy_learns_for_itself(face, forgetting):
    X, y = stream()
    rows = pd.DataFrame(X)
    model = face(forgetting)
    learn = getattr(model, "learn_many", None) or model.partial_fit
    learn(rows, pd.Series(y))
    before, other = everything(model), copy.copy(model)
    assert everything(other) == before
    learn = getattr(other, "learn_many", None) or other.partial_fit
    learn(rows, pd.Series(-y))
    assert everything(model) == before


def test_an_unfitted_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has not seen a row"):
        save(DFOPRegressor(), tmp_path / "x")


def test_experts_of_ones_own_are_refused_with_the_remedy(tmp_path):
    own = [SGDRegressor()]
    model = DFOPRegressor(experts=own).fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(TypeError, match=r"cannot be saved.*pickle the model, or leave out"):
        to_bytes(model)
    with pytest.raises(TypeError, match="cannot be saved"):
        save(model, tmp_path / "model.dfop")
    dicts = river.DFOPRegressor(experts=own)
    dicts.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(TypeError, match="cannot be saved"):
        to_bytes(dicts)
    assert not list(tmp_path.iterdir())


def test_a_transformer_is_refused_with_the_remedy(tmp_path):
    X, y = stream()
    model = DFOPRegressor(features=FunctionTransformer(np.tanh)).fit(X, y)
    with pytest.raises(TypeError, match=r"holds no code: transform X before the model"):
        save(model, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    "change",
    [
        {"features": "linear"},
        {"forgetting": 0.1},
        {"lags": 2},
        {"prior_variance": 1.0},
        {"cap": None},
        {"fit_intercept": False},
    ],
)
@pytest.mark.parametrize("forgetting", ["auto", 0.05])
def test_parameters_changed_on_the_way_are_refused(change, forgetting, tmp_path):
    X, y = stream()
    model = DFOPRegressor(forgetting).fit(X, y).set_params(**change)
    with pytest.raises(ValueError, match=f"{next(iter(change))} was changed"):
        save(model, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_names_that_json_cannot_hold_are_refused_by_name(tmp_path):
    model = river.DFOPRegressor(0.05)
    model.learn_one({("a", 1): 1.0}, 2.0)
    with pytest.raises(TypeError, match=r"the feature name \('a', 1\) cannot be saved"):
        save(model, tmp_path / "x")


def test_a_state_that_load_would_refuse_does_not_replace_a_good_file(tmp_path):
    X, y = stream()
    path = tmp_path / "model.dfop"
    save(DFOPRegressor(0.05).fit(X, y), path)
    before = path.read_bytes()
    broken = DFOPRegressor(0.05).fit(X, y)
    broken._model.now = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        save(broken, path)
    broken._model.now, broken._model.names = 0.0, ("too", "few")
    with pytest.raises(dfop.ModelFileError, match="nothing was saved"):
        save(broken, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_is_one_that_safetensors_reads(tmp_path):
    from safetensors.numpy import load_file

    X, y = stream()
    model = DFOPRegressor(0.05).fit(frame(X)[:SAVED], y[:SAVED])
    model.predict_pending(frame(X)[:3], keys=[0, 1, 2])
    save(model, tmp_path / "model.dfop")
    tensors = load_file(tmp_path / "model.dfop")
    assert {"engine/weights", "coder/sums", "waiting/columns"} <= set(tensors)
    np.testing.assert_array_equal(tensors["engine/weights"][0, 1:], model.coef_)
