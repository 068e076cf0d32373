"""Files of the automatic learner: continue to the last bit, refuse whatever makes no sense."""

import contextlib
import copy
import json
import pickle
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from dfop.persistence import _checksum
from safetensors import safe_open
from safetensors.numpy import save as to_safetensors
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from dfop import DFOPClassifier, DFOPRegressor, ModelFileError, load, river, save

FORMATS = Path(__file__).parent / "formats"


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

BENT = 700


def stream(n=1200, d=3):
    """Linear, with a change that rings the alarm before the files are written."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, d))
    w = np.where(np.arange(n)[:, np.newaxis] < BENT - 200, [1.0, 2.0, -1.0], [-3.0, 1.0, 2.0])
    return X, (X * w).sum(axis=1) + 0.1 * rng.normal(size=n)


def mixed(X):
    """A frame with text, gaps, and one column that comes late."""
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["kind"] = np.where(X[:, 0] > 1.0, "high", np.where(X[:, 0] < -1.0, "low", "mid"))
    frame.loc[np.arange(len(X)) % 11 == 5, "b"] = np.nan
    return frame


LABELS = {
    "number": lambda y: y,
    "numbers": lambda y: np.c_[y, -y],
    "two": lambda y: np.where(y > 0, "yes", "no"),
    "three": lambda y: np.digitize(y, [-1.0, 1.0]) * 10,
    "several": lambda y: np.c_[np.digitize(y, [-1.0, 1.0]), y > 0],
}

CASES = [
    (DFOPRegressor, "number", {}),
    (DFOPRegressor, "number", {"lags": 2}),
    (DFOPRegressor, "numbers", {"lags": 1, "features": "linear"}),
    (DFOPRegressor, "number", {"features": "poly", "fit_intercept": False}),
    (DFOPRegressor, "number", {"features": "rff", "forgetting": 0.01}),
    (DFOPRegressor, "number", {"prior_variance": 10.0, "cap": None}),
    (DFOPRegressor, "number", {"cap": 10.0}),
    (DFOPClassifier, "two", {}),
    (DFOPClassifier, "two", {"lags": 3}),
    (DFOPClassifier, "three", {}),
    (DFOPClassifier, "several", {"features": "linear"}),
]


def assert_same_state(a, b):
    left, right = a._filter.state(), b._filter.state()
    assert left.keys() == right.keys()
    for name in left:
        parts = left[name].items() if isinstance(left[name], dict) else [("", left[name])]
        for part, value in parts:
            other = right[name][part] if part else right[name]
            assert np.asarray(value).tobytes() == np.asarray(other).tobytes(), (name, part)
    for name, state in a._watch.state().items():
        for field, value in state.items():
            assert value.tobytes() == b._watch.state()[name][field].tobytes(), (name, field)


def assert_same_knowledge(a, b, X):
    assert a.alarms_ == b.alarms_
    assert a.experts_ == b.experts_
    assert a.forgetting_ == b.forgetting_
    if any(expert.features == "linear" for expert in a.experts_):
        assert str(a.drift_) == str(b.drift_)
        assert a.drift_.errors.tobytes() == b.drift_.errors.tobytes()
    if isinstance(a, DFOPRegressor):
        ends = [one.predict_interval(X, 0.8).tobytes() for one in (a, b)]
    else:
        ends = [[np.asarray(p).tobytes() for p in one.predict_proba(X)] for one in (a, b)]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "label", "setting"), CASES)
def test_continues_to_the_last_bit(kind, label, setting, way, tmp_path):
    X, y = stream()
    frame, y = mixed(X), LABELS[label](y)
    frame = frame[["a", "b", "kind", "c"]]
    early = frame[["a", "b", "kind"]]  # "c" is new in the second half
    model = kind(**setting).partial_fit(early[:BENT], y[:BENT])
    model.predict_pending(early[BENT : BENT + 3], keys=["p", 7, "q"])
    other = WAYS[way](model, tmp_path)
    assert other.get_params() == model.get_params()
    assert other.pending_ == ["p", 7, "q"]
    assert_same_state(other, model)
    ahead = []
    for one in (model, other):
        one.learn_pending([7, "p"], y[[BENT + 1, BENT]])
        ahead.append(one.predict_then_learn(frame[BENT + 3 :], y[BENT + 3 :]))
    assert (ahead[0] == ahead[1]).all()
    assert_same_state(other, model)
    assert_same_knowledge(other, model, frame[:20])


def test_the_alarms_are_kept(tmp_path):
    X, y = stream()
    model = DFOPRegressor().fit(X[:BENT], y[:BENT])
    assert model.alarms_
    assert through_file(model, tmp_path).alarms_ == model.alarms_


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lags", [0, 2])
def test_rows_that_wait_before_any_label_survive(lags, way, tmp_path):
    X, y = stream()
    model = DFOPRegressor(lags=lags)
    model.predict_pending(X[:3], keys=[0, 1, 2])
    other = WAYS[way](model, tmp_path)
    for one in (model, other):
        one.learn_pending([1, 0], y[[1, 0]])
        one.partial_fit(X[3:50], y[3:50])
    assert_same_state(other, model)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lags", [0, 2])
@pytest.mark.parametrize("kind", [river.DFOPRegressor, river.DFOPClassifier])
def test_river_learners_continue_to_the_last_bit(kind, lags, way, tmp_path):
    X, y = stream(900)
    labels = y if kind is river.DFOPRegressor else LABELS["three"](y)
    labels = labels.tolist()
    rows = mixed(X)[["a", "b", "kind"]].to_dict("records")
    model = kind(lags=lags)
    assert WAYS[way](model, tmp_path).predict_one(rows[0]) == model.predict_one(rows[0])
    for row, label in zip(rows[:BENT], labels[:BENT], strict=True):
        model.learn_one(row, label)
    other = WAYS[way](model, tmp_path)
    for row, label, late in zip(rows[BENT:], labels[BENT:], X[BENT:, 2].tolist(), strict=True):
        row["c"] = late
        assert other.predict_one(row) == model.predict_one(row)
        if kind is river.DFOPClassifier:
            assert other.predict_proba_one(row) == model.predict_proba_one(row)
        for one in (model, other):
            one.learn_one(row, label)
    assert_same_state(other, model)
    assert other.alarms_ == model.alarms_
    assert other.experts_ == model.experts_


def test_a_clone_knows_nothing_and_has_the_same_parameters():
    X, y = stream(100)
    model = DFOPRegressor(lags=2, features="linear").fit(X, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "_filter")


def test_a_transformer_cannot_be_saved_and_the_error_says_what_to_do(tmp_path):
    X, y = stream(100)
    model = DFOPRegressor(features=FunctionTransformer(np.tanh)).fit(X, y)
    with pytest.raises(TypeError, match=r"holds no code: transform X before the model"):
        save(model, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
    other = pickle.loads(pickle.dumps(model))
    assert (other.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    "change",
    [
        {"features": "linear"},
        {"features": "rff"},
        {"forgetting": 0.1},
        {"lags": 2},
        {"prior_variance": 1.0},
        {"cap": 2.0},
        {"fit_intercept": False},
    ],
)
def test_parameters_changed_on_the_way_are_refused(change, tmp_path):
    X, y = stream(50)
    model = DFOPRegressor().fit(X, y).set_params(**change)
    with pytest.raises(ValueError, match=r"set (it|them) back before saving"):
        save(model, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["automatic", "curves"])
def test_a_file_of_format_2_stays_readable(what):
    """Saved after 200 rows of a stream whose law is known."""
    t = np.arange(300)[:, np.newaxis]
    X = np.sin((t + 1.0) * np.sqrt(np.arange(2.0, 6.0)))
    y = X @ [1.0, 2.0, 3.0, 4.0]
    model = load(FORMATS / f"format-2-{what}.dfop")
    assert model.get_params()["forgetting"] == {"automatic": "auto", "curves": 0.01}[what]
    ahead = model.predict_then_learn(X[200:], y[200:])
    assert np.median(np.abs(ahead - y[200:])) < {"automatic": 0.01, "curves": 0.5}[what]
    assert model.pending_ == ["waiting"]


def test_a_river_file_of_format_2_stays_readable():
    t = np.arange(300)[:, np.newaxis]
    X = np.sin((t + 1.0) * np.sqrt(np.arange(2.0, 6.0)))
    y = X @ [1.0, 2.0, 3.0, 4.0]
    twin = load(FORMATS / "format-2-automatic-river.dfop")
    right = 0
    for row, target in zip(X[200:].tolist(), y[200:].tolist(), strict=True):
        x = dict(zip("abcd", row, strict=True))
        label = "up" if target > 0 else "down"
        right += twin.predict_one(x) == label
        twin.learn_one(x, label)
    assert right >= 95


# -- forged files -----------------------------------------------------------------------------


def make_regressor():
    X, y = stream()
    model = DFOPRegressor(lags=1).fit(mixed(X)[:BENT], y[:BENT])
    model.predict_pending(mixed(X)[BENT : BENT + 2], keys=["p", "q"])
    return model


def make_classifier():
    X, y = stream()
    return DFOPClassifier().fit(mixed(X)[:BENT], LABELS["three"](y)[:BENT])


def make_poly():
    X, y = stream()
    return DFOPRegressor(features="poly").fit(X[:BENT], y[:BENT])


def make_river():
    X, y = stream(400)
    model = river.DFOPClassifier(lags=1)
    for row, label in zip(mixed(X).to_dict("records"), y > 0, strict=True):
        model.learn_one(row, bool(label))
    return model


MAKERS = [make_regressor, make_classifier, make_poly, make_river]


@pytest.fixture(scope="module", params=MAKERS)
def parts(request, tmp_path_factory):
    """Document and tensors of a good file, and a place for bad ones."""
    path = tmp_path_factory.mktemp("files") / "model.dfop"
    save(request.param(), path)
    with safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["dfop"])
        tensors = {name: file.get_tensor(name).copy() for name in file.keys()}
    return document, tensors, path


def write(document, tensors, path):
    """Write a file as an attacker would, with a checksum that fits."""
    document["checksum"] = _checksum(document, tensors)
    path.write_bytes(to_safetensors(tensors, {"dfop": json.dumps(document)}))


def assert_harmless(path):
    """A file is refused, or gives a model that predicts and learns finite numbers."""
    try:
        model = load(path)
    except ModelFileError:
        return False
    # names or kinds of columns or classes that these rows do not have
    with contextlib.suppress(ValueError):
        use(model)
    return True


def use(model):
    X, y = stream(30)
    if isinstance(model, river.DFOPClassifier):
        rows = mixed(X).to_dict("records")
        for row in rows:
            p = model.predict_proba_one(row)
            assert all(0.0 <= value <= 1.0 for value in p.values())
            model.learn_one(row, True)
        return
    X = mixed(X) if model.n_features_in_ > 3 else X
    if isinstance(model, DFOPRegressor):
        for outputs in (model.predict_then_learn(X, y), model.predict_interval(X)):
            assert np.isfinite(outputs).all()
    else:
        p = model.predict_proba_then_learn(X, np.resize(model.classes_, 30))
        assert ((p >= 0.0) & (p <= 1.0)).all()


def test_the_forger_can_write_a_good_file(parts):
    document, tensors, path = parts
    write(copy.deepcopy(document), tensors, path)
    assert assert_harmless(path)


def leaves(value, at=()):
    """All places in a JSON value."""
    yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*at, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value[:4]):
            yield from leaves(inner, (*at, key))


JUNK = [None, -1, 0, 7, 10**9, 1e308, -0.5, "x", "", [], {}, [[]], True, float("inf"), 2**70]


def test_no_value_of_the_description_can_do_harm(parts, rng):
    document, tensors, path = parts
    places = [at for at in leaves(document) if at and at[0] not in ("checksum", "format")]
    filters = [at for at in places if "filters" in at]
    others = [at for at in places if "filters" not in at]
    chosen = others + [filters[i] for i in rng.choice(len(filters), 8, replace=False)]
    for at in chosen:
        for value in [JUNK[i] for i in rng.choice(len(JUNK), 4, replace=False)]:
            forged = copy.deepcopy(document)
            inner = forged
            for key in at[:-1]:
                inner = inner[key]
            inner[at[-1]] = value
            write(forged, tensors, path)
            assert_harmless(path)


CHANGES = {
    "negative": lambda a, i: np.where(np.arange(a.size).reshape(a.shape) == i, -1.0 - a, a),
    "huge": lambda a, i: np.where(np.arange(a.size).reshape(a.shape) == i, 1e307, a),
    "tiny": lambda a, i: np.where(np.arange(a.size).reshape(a.shape) == i, 5e-324, a),
    "zero": lambda a, i: np.where(np.arange(a.size).reshape(a.shape) == i, 0.0, a),
    "nan": lambda a, i: np.where(np.arange(a.size).reshape(a.shape) == i, np.nan, a),
    "half": lambda a, i: np.where(np.arange(a.size).reshape(a.shape) == i, a + 0.5, a),
    "all huge": lambda a, i: np.full_like(a, 1e300),
    "all zero": lambda a, i: np.zeros_like(a),
    "shorter": lambda a, i: a[:-1].copy(),
    "longer": lambda a, i: np.concatenate([a, a]),
    "flat": lambda a, i: a.reshape(1, -1).copy(),
    "narrow": lambda a, i: a.astype(np.float32),
}
REFUSED = {"nan", "shorter", "longer", "narrow"}


def test_no_number_of_a_tensor_can_do_harm(parts, rng):
    document, tensors, path = parts
    heavy = [
        name for name in tensors if "/" in name and not name.startswith(("expert 0/", "stack 0 0/"))
    ]
    light = [name for name in tensors if name not in heavy]
    chosen = light + [heavy[i] for i in rng.choice(len(heavy), 10, replace=False)]
    for name in chosen:
        for change in rng.choice(list(CHANGES), 6, replace=False):
            tensor = tensors[name]
            # the first numbers of a state are its counts: look at them more often
            i = int(rng.integers(min(tensor.size, 5) if rng.random() < 0.5 else tensor.size))
            forged = {**tensors, name: CHANGES[change](tensor, i)}
            write(copy.deepcopy(document), forged, path)
            assert not (assert_harmless(path) and change in REFUSED), (name, change)


def test_a_tensor_more_or_less_is_refused(parts):
    document, tensors, path = parts
    for name in ("errors", "standardiser", "combiner 0", "watch alarm", "expert 1/D"):
        forged = {other: tensor for other, tensor in tensors.items() if other != name}
        write(copy.deepcopy(document), forged, path)
        assert not assert_harmless(path)
    write(copy.deepcopy(document), {**tensors, "more": np.ones(1)}, path)
    assert not assert_harmless(path)


def set_to(*at, value):
    def change(document):
        for key in at[:-1]:
            document = document[key]
        document[at[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_to("parameters", "features", value="rff"),
        set_to("parameters", "features", value="linear"),
        set_to("parameters", "features", value="poly"),
        set_to("parameters", "forgetting", value=0.5),
        set_to("parameters", "lags", value=5),
        set_to("parameters", "lags", value=10**6),
        set_to("state", "bank", "maps", value=[["linear", 0.0, 0]]),
        set_to("state", "bank", "maps", 1, value=["fourier", 0.6, 10**9]),
        set_to("state", "bank", "experts", value=[]),
        set_to("state", "bank", "experts", 0, value=[0, 1.0, 0.0]),
        set_to("state", "bank", "experts", 0, value=[99, 0.0, 0.0]),
        set_to("state", "bank", "experts", 0, value=[0, 0.0, -1.0]),
        set_to("state", "watch", value=None),
        set_to("state", "watch", "rows", value=-1),
        set_to("state", "watch", "open", value=[[10**9, 0]]),
        set_to("state", "watch", "alarms", value=[[5, 9, []]]),
        set_to("state", "watch", "alarms", value=[[5, 2, [["a", "b"]]]]),
        set_to("state", "watch", "alarms", value=[[5, 2, []]] * 1001),
        set_to("state", "outputs", value=2),
        set_to("state", "outputs", value=10**9),
    ],
)
def test_a_design_that_the_parameters_do_not_give_is_refused(change, tmp_path):
    path = tmp_path / "model.dfop"
    save(make_regressor(), path)
    with safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["dfop"])
        tensors = {name: file.get_tensor(name).copy() for name in file.keys()}
    change(document)
    write(document, tensors, path)
    with pytest.raises(ModelFileError, match="makes no sense"):
        load(path)
