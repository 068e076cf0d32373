"""Model files: continue to the last bit, refuse everything else, never run code."""

import copy
import json
import pickle
import struct
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from dfop.persistence import _checksum
from safetensors.numpy import save as to_safetensors

import dfop
from dfop import DFOPClassifier, DFOPRegressor, ModelFileError, half_life, load, river, save
from mixed_rows import coded_by_hand

FORMATS = Path(__file__).parent / "formats"


def stream(n=300, d=4):
    """A stream without random numbers, so that files made from it can be checked for ever."""
    t = np.arange(n)[:, np.newaxis]
    X = np.sin((t + 1.0) * np.sqrt(np.arange(2.0, d + 2.0)))
    return X, X @ np.arange(1.0, d + 1.0) + np.cos(3.0 * t[:, 0])


def targets(kind, y):
    return {
        "number": y,
        "numbers": np.c_[y, -y, y**2],
        "two texts": np.where(y > 0, "yes", "no"),
        "objects": np.where(y > 0, "yes", "no").astype(object),
        "three numbers": np.digitize(y, [-1.0, 1.0]) * 10,
        "booleans": y > 0,
        "several": np.c_[np.digitize(y, [-1.0, 1.0]), y > 0],
    }[kind]


CASES = [
    (DFOPRegressor, "number"),
    (DFOPRegressor, "numbers"),
    (DFOPClassifier, "two texts"),
    (DFOPClassifier, "objects"),
    (DFOPClassifier, "three numbers"),
    (DFOPClassifier, "booleans"),
    (DFOPClassifier, "several"),
]


def through_file(model, tmp_path):
    save(model, tmp_path / "model.dfop")
    return load(tmp_path / "model.dfop")


def through_pickle(model, tmp_path):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model, tmp_path):
    joblib.dump(model, tmp_path / "model.joblib")
    return joblib.load(tmp_path / "model.joblib")


def through_deepcopy(model, tmp_path):
    return copy.deepcopy(model)


WAYS = [through_file, through_pickle, through_joblib, through_deepcopy]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "target"), CASES)
def test_continues_to_the_last_bit(kind, target, way, tmp_path):
    X, y = stream()
    y = targets(target, y)
    model = kind(forgetting=0.05)
    model.partial_fit(X[:150], y[:150])
    other = way(model, tmp_path)
    assert other.get_params() == model.get_params()
    np.testing.assert_array_equal(
        other.predict_then_learn(X[150:], y[150:]), model.predict_then_learn(X[150:], y[150:])
    )
    assert_same_state(other, model)


def assert_same_state(a, b):
    left, right = a._filter.state(), b._filter.state()
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name])


@pytest.mark.parametrize("way", WAYS)
def test_waiting_rows_clock_and_names_survive(way, tmp_path):
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abcd"))
    time = pd.date_range("2026-01-01", periods=len(X), freq="37min")
    model = DFOPRegressor(half_life("8h"))
    model.partial_fit(frame[:100], y[:100], time=time[:100])
    model.predict_pending(frame[100:103], keys=["p", 7, "q"], time=time[100:103])
    other = way(model, tmp_path)
    assert other.pending_ == ["p", 7, "q"]
    for one in (model, other):
        one.learn_pending(["q", "p"], y[[102, 100]])
        one.partial_fit(frame[103:], y[103:], time=time[103:])
    assert_same_state(other, model)
    with pytest.raises(ValueError, match="runs backwards"):
        other.partial_fit(frame[:1], y[:1], time=time[:1])
    with pytest.raises(ValueError, match="feature names"):
        other.predict(frame[["b", "a", "c", "d"]])


@pytest.mark.parametrize("way", WAYS)
def test_rows_that_wait_before_any_label_survive(way, tmp_path):
    X, y = stream()
    model = DFOPRegressor(0.05)
    model.predict_pending(X[:3], keys=[0, 1, 2])
    other = way(model, tmp_path)
    for one in (model, other):
        one.learn_pending([1, 0], y[[1, 0]])
    assert_same_state(other, model)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [river.DFOPRegressor, river.DFOPClassifier])
def test_river_learners_continue_to_the_last_bit(kind, way, tmp_path):
    X, y = stream()
    labels = y if kind is river.DFOPRegressor else np.digitize(y, [-1.0, 1.0])
    rows = [dict(zip(["a", "b", 3, "d"], map(float, x), strict=True)) for x in X]
    model = kind(0.05)
    assert way(model, tmp_path).predict_one(rows[0]) == model.predict_one(rows[0])
    for row, label in zip(rows[:150], labels[:150].tolist(), strict=True):
        model.learn_one(row, label)
    other = way(model, tmp_path)
    for row, label in zip(rows[150:], labels[150:].tolist(), strict=True):
        assert other.predict_one(row) == model.predict_one(row)
        other.learn_one(row, label)
        model.learn_one(row, label)
    assert other.predict_one(rows[0]) == model.predict_one(rows[0])


# -- every format ever written ----------------------------------------------------------------


def closed_form(X, y, mu, prior_variance=100.0):
    """Discounted ridge regression with intercept, straight from its normal equations."""
    Z = np.c_[np.ones(len(X)), X]
    decay = (1.0 - mu) ** np.arange(len(X) - 1, -1, -1)[:, np.newaxis]
    R = (Z * decay).T @ Z + (1.0 - mu) ** len(X) / prior_variance * np.eye(Z.shape[1])
    return np.linalg.solve(R, (Z * decay).T @ y)


@pytest.mark.parametrize("number", [1, 2])
def test_files_of_every_format_stay_readable(number):
    """Each file was saved after 200 rows of `stream()` with mu = 0.05."""
    X, y = stream()
    regressor = load(FORMATS / f"format-{number}-regressor.dfop")
    regressor.partial_fit(X[200:], y[200:])
    w = closed_form(X, y, 0.05)
    np.testing.assert_allclose(np.r_[regressor.intercept_, regressor.coef_], w, atol=1e-10)

    classifier = load(FORMATS / f"format-{number}-classifier.dfop")
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert classifier.feature_names_in_.tolist() == list("abcd")
    classifier.partial_fit(
        pd.DataFrame(X[200:], columns=list("abcd")), targets("two texts", y)[200:]
    )
    w = closed_form(X, np.where(y > 0, 1.0, -1.0), 0.05)
    np.testing.assert_allclose(np.r_[classifier.intercept_, classifier.coef_[0]], w, atol=1e-10)

    twin = load(FORMATS / f"format-{number}-river.dfop")
    for row, target in zip(X[200:], y[200:], strict=True):
        twin.learn_one(dict(zip("abcd", map(float, row), strict=True)), float(target))
    w = closed_form(X, y, 0.05)
    np.testing.assert_allclose([twin.intercept, *twin.weights.values()], w, atol=1e-10)


# -- refusals ---------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    X, y = stream()
    model = DFOPClassifier(0.05).fit(X, targets("two texts", y))
    model.predict_pending(X[:2], keys=["p", "q"])
    save(model, tmp_path / "model.dfop")
    return tmp_path / "model.dfop"


def test_every_flipped_byte_is_noticed(path, rng):
    content = path.read_bytes()
    for at in [*range(40), *rng.integers(0, len(content), 300)]:
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match="cannot load"):
            load(path)


def test_every_truncated_file_is_noticed(path, rng):
    content = path.read_bytes()
    for length in [0, 1, 7, 8, 9, len(content) - 1, *rng.integers(0, len(content), 50)]:
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match="cannot load"):
            load(path)


class Bomb:
    def __reduce__(self):
        return (open, ("exploded", "w"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        pickle.dumps(Bomb()),
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        to_safetensors({"a": np.ones(3)}),
        to_safetensors({"a": np.ones(3)}, {"other": "x"}),
        to_safetensors({"a": np.ones(3)}, {"dfop": "no json"}),
        to_safetensors({"a": np.ones(3)}, {"dfop": "[" * 100_000}),
        to_safetensors({"a": np.ones(3)}, {"dfop": "{}"}),
        to_safetensors({"a": np.ones(3)}, {"dfop": '{"format": "1"}'}),
        to_safetensors({"a": np.ones(3)}, {"dfop": '{"format": 1}'}),
    ],
)
def test_foreign_files_are_refused(content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").write_bytes(content)
    with pytest.raises(ModelFileError, match="cannot load 'file'"):
        load("file")
    assert not Path("exploded").exists()


def rewrite(path, change):
    """Change a file as an attacker would, with a checksum that fits."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["dfop"])
        tensors = {name: file.get_tensor(name).copy() for name in file.keys()}
    change(document, tensors)
    document["checksum"] = _checksum(document, tensors)
    path.write_bytes(to_safetensors(tensors, {"dfop": json.dumps(document)}))


def set_state(name, value):
    return lambda document, tensors: document["state"].__setitem__(name, value)


def set_tensor(name, make):
    return lambda document, tensors: tensors.__setitem__(name, make(tensors[name]))


@pytest.mark.parametrize(
    "change",
    [
        lambda document, tensors: document.update(kind="os.system"),
        lambda document, tensors: document.update(kind="river.base"),
        lambda document, tensors: document.update(parameters={}),
        lambda document, tensors: document["parameters"].update(forgetting=2.0),
        lambda document, tensors: document["parameters"].update(forgetting={"by_rows": 7}),
        lambda document, tensors: document["parameters"].update(forgetting={"os": 7}),
        lambda document, tensors: document["parameters"].update(prior_variance=-1),
        lambda document, tensors: document["parameters"].update(cap="x"),
        set_state("n_features", 10**9),
        set_state("n_features", -1),
        set_state("n_features", "4"),
        set_state("outputs", 10**9),
        set_state("flat", []),
        set_state("classes", []),
        set_state("classes", [{"dtype": "<U3", "values": ["yes", "no"]}]),
        set_state("classes", [{"dtype": "O", "values": [{"a": 1}]}]),
        set_state("classes", [{"dtype": "V8", "values": [1]}]),
        set_state("waiting", ["p"]),
        set_state("waiting", ["p", "p"]),
        set_state("waiting", [None, "q"]),
        set_state("clock", ["x", True]),
        set_state("log_discount", "x"),
        set_state("filter", {"unseen_variance": -1.0}),
        set_state("feature_names", ["a"]),
        set_tensor("D", lambda D: -D),
        set_tensor("D", lambda D: D * np.nan),
        set_tensor("D", lambda D: D[:-1]),
        set_tensor("D", lambda D: D.astype(np.float32)),
        set_tensor("scale", lambda s: s * 1.5),
        set_tensor("scale", lambda s: s * 0.0),
        set_tensor("scale", lambda s: s * 2.0**600),
        set_tensor("upper", lambda u: u * np.inf),
        set_tensor("upper", lambda u: u[1:]),
        set_tensor("weights", lambda w: w[:, 1:].copy()),
        set_tensor("weights", lambda w: np.r_[w, w]),
        set_tensor("waiting_rows", lambda rows: rows[:, 1:].copy()),
        lambda document, tensors: tensors.pop("upper"),
        lambda document, tensors: tensors.update(more=np.ones(1)),
        lambda document, tensors: document["parameters"].update(fit_intercept="no"),
        set_tensor("weights", lambda w: w * 0 + 1e308),
        set_tensor("upper", lambda u: u * 0 + 1e300),
        set_tensor("D", lambda D: D * 0 + 1e200),
        set_tensor("limit", lambda limit: limit * 0 + 1e200),
    ],
)
def test_a_forged_file_is_refused(path, change):
    rewrite(path, change)
    with pytest.raises(ModelFileError, match="makes no sense"):
        load(path)


@pytest.fixture
def mixed_path(tmp_path):
    """100 texts and buckets in the first column, numbers with a gap in the second."""
    rows = [[f"t{k}", None if k % 7 == 3 else float(k)] for k in range(140)]
    model = DFOPRegressor(0.05).fit(rows, np.arange(140.0))
    save(model, tmp_path / "mixed.dfop")
    return tmp_path / "mixed.dfop"


def set_column(number, **parts):
    return lambda document, tensors: document["state"]["columns"][number].update(parts)


def change_texts(change):
    return lambda document, tensors: change(document["state"]["columns"][0]["texts"])


@pytest.mark.parametrize(
    "change",
    [
        set_state("columns", None),
        set_state("columns", []),
        set_state("columns", [{}, {}]),
        set_state("columns", 7),
        lambda document, tensors: document["state"]["columns"].append({}),
        lambda document, tensors: document["state"].pop("columns"),
        set_column(0, kind="number"),
        set_column(0, kind=None),
        set_column(0, kind="os"),
        set_column(0, place=1),
        set_column(0, texts=[]),
        set_column(0, texts=[["a", 0], ["b", 0]]),
        set_column(0, texts="abc"),
        set_column(0, buckets=[[32, 5]]),
        set_column(0, buckets=[["1", 5]]),
        set_column(0, buckets=[]),
        set_column(1, place=-1),
        set_column(1, place=10**9),
        set_column(1, place=1.0),
        set_column(1, place=True),
        set_column(1, gap=0),
        set_column(1, gap=None),
        set_column(1, gap="x"),
        set_column(1, kind="text"),
        set_column(1, texts=[["a", 1]]),
        set_column(1, kind=["number"]),
        change_texts(lambda texts: texts.append(["more", 200])),
        change_texts(lambda texts: texts.__setitem__(5, [5, 5])),
        change_texts(lambda texts: texts.__setitem__(5, ["t4", 5])),
        set_tensor("sums", lambda sums: sums[1:].copy()),
        set_tensor("sums", lambda sums: sums * np.nan),
        set_tensor("counts", lambda counts: -1.0 - counts),
        set_tensor("counts", lambda counts: counts[:, np.newaxis].copy()),
        lambda document, tensors: tensors.pop("sums"),
        lambda document, tensors: tensors.pop("counts"),
    ],
)
def test_a_forged_coding_is_refused(mixed_path, change):
    rewrite(mixed_path, change)
    with pytest.raises(ModelFileError, match="makes no sense"):
        load(mixed_path)


def test_the_forger_can_write_a_good_coding(mixed_path):
    rewrite(mixed_path, lambda document, tensors: None)
    assert load(mixed_path).coded_names_[:2].tolist() == ["x0=t0", "x1"]


def test_a_file_from_before_text_and_gaps_holds_numbers():
    model = load(FORMATS / "format-1-regressor.dfop")
    assert np.isfinite(model.predict([[1.0, None, 2.0, 3.0]])).all()
    with pytest.raises(ValueError, match="'red' at row 0, column 1, a column that held numbers"):
        model.partial_fit([[1.0, "red", 2.0, 3.0]], [1.0])
    twin = load(FORMATS / "format-1-river.dfop")
    twin.learn_one({"a": None, "new": "red"}, 1.0)
    assert {"a", "a is missing", "new=red"} <= set(twin.weights)


def mixed_stream(n=300):
    """Rows of text, numbers and gaps, without random numbers."""
    t = np.arange(n)
    X, y = stream(n)
    return [
        {
            "size": None if k % 11 == 5 else float(X[k, 0]),
            "color": None if k % 13 == 7 else f"c{k * k % 5}",
            "weight": float(X[k, 1]),
        }
        for k in t
    ], y


def test_files_of_mixed_rows_stay_readable():
    """Saved after 200 rows of `mixed_stream()` with mu = 0.05."""
    records, y = mixed_stream()
    names, rows = coded_by_hand(records)
    w = closed_form(rows, y, 0.05)
    model = load(FORMATS / "format-1-mixed.dfop")
    model.partial_fit(pd.DataFrame(records[200:]), y[200:])
    assert model.coded_names_.tolist() == names
    np.testing.assert_allclose(
        model.predict(pd.DataFrame(records)),
        np.c_[np.ones(300), rows_now(records, rows)] @ w,
        atol=1e-8,
    )
    twin = load(FORMATS / "format-1-mixed-river.dfop")
    for record, target in zip(records[200:], y[200:], strict=True):
        twin.learn_one(record, float(target))
    assert list(twin.weights) == names
    np.testing.assert_allclose(
        [twin.predict_one(record) for record in records],
        model.predict(pd.DataFrame(records)),
        atol=1e-10,
    )


def rows_now(records, rows):
    """The rows as they would be coded after all of them: gaps hold the mean of all values."""
    sizes = [record["size"] for record in records if record["size"] is not None]
    rows = rows.copy()
    rows[[record["size"] is None for record in records], 0] = np.mean(sizes)
    return rows


def test_the_forger_can_write_a_good_file(path):
    rewrite(path, lambda document, tensors: None)
    assert load(path).pending_ == ["p", "q"]


def test_a_newer_format_says_upgrade(path):
    rewrite(path, lambda document, tensors: document.update(format=99, written_by="9.0"))
    with pytest.raises(ModelFileError, match=r"format 99, written by dfop '9.0'.*upgrade dfop"):
        load(path)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model file"):
        load(tmp_path / "nothing.dfop")


def test_the_file_tells_its_version(path):
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["dfop"])
    assert document["format"] == 2
    assert document["written_by"] == dfop.__version__


@pytest.mark.parametrize("model", [object(), DFOPRegressor])
def test_what_is_no_model_is_refused(model, tmp_path):
    with pytest.raises(TypeError, match="save knows dfop's learners"):
        save(model, tmp_path / "x")


@pytest.mark.parametrize(
    "change", [{"fit_intercept": False}, {"prior_variance": 1.0}, {"cap": 10.0}, {"cap": None}]
)
def test_parameters_changed_on_the_way_are_refused(change, tmp_path):
    """They have no effect on a running model; a file with them would not go on as it does."""
    model = DFOPRegressor().fit([[1.0]], [1.0]).set_params(**change)
    with pytest.raises(ValueError, match=f"{next(iter(change))} was changed"):
        save(model, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_an_unfitted_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has not seen a row"):
        save(DFOPRegressor(), tmp_path / "x")


def test_a_failed_save_leaves_the_old_file_and_no_litter(path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save(DFOPRegressor().fit([[1.0]], [1.0]), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_labels_that_json_cannot_hold_are_refused_before_writing(tmp_path):
    model = river.DFOPClassifier()
    model.learn_one({"a": 1.0}, ("tuple", 1))
    with pytest.raises(TypeError, match=r"class .* cannot be saved"):
        save(model, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
