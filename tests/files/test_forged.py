"""A file that was damaged or forged is refused, or gives a model that works: it can do no harm."""

import contextlib
import copy
import hashlib
import json
import pickle
import re
import struct
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from made import AUTOMATIC, CASES, LATE, RIVER, SINGLE, frame, stream
from old_models import mixed, path_of
from safetensors.numpy import save as to_safetensors

import dfop
from dfop import ModelFileError, from_bytes, load, river, to_bytes
from dfop.files.container import pack, unpack

FORMATS = Path(__file__).parents[1] / "formats"


def repack(document, tensors):
    """Write bytes as an attacker would, with a checksum that fits."""
    if document.get("format") == 3:
        with contextlib.suppress(ValueError):
            return pack(document, tensors)
        text = json.dumps(document).encode()  # with infinities
        whole = pack({}, tensors)
        length = int.from_bytes(whole[:8], "little")
        header = json.loads(whole[8 : 8 + length])
        header["__metadata__"] = {"checksum": "0" * 64, "dfop": text.decode()}
        encoded = json.dumps(header, separators=(",", ":")).encode()
        encoded += b" " * (-len(encoded) % 8)
        whole = len(encoded).to_bytes(8, "little") + encoded + whole[8 + length :]
        return whole.replace(b"0" * 64, hashlib.sha256(whole).hexdigest().encode(), 1)
    document = {key: value for key, value in document.items() if key != "checksum"}
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).tobytes())
    document["checksum"] = digest.hexdigest()
    return to_safetensors(tensors, {"dfop": json.dumps(document)})


def use(model):
    """Let a model predict and learn; everything must stay finite."""
    X, y = stream(12)
    if isinstance(model, river.DFOPClassifier | river.DFOPRegressor):
        known = getattr(model._model.target, "order", ())
        for row, value in zip(frame(X).to_dict("records"), y.tolist(), strict=True):
            if isinstance(model, river.DFOPRegressor):
                assert np.isfinite(model.predict_one(row))
                model.learn_one(row, value)
            else:
                model.predict_one(row)
                p = model.predict_proba_one(row)
                assert all(0.0 <= value <= 1.0 for value in p.values())
                model.learn_one(row, known[0] if known and value > 0 else "new")
        return
    for key in model.pending_:
        model.learn_pending([key], label_of(model, y)[:1])
    rows = frame(X) if model._model.names else X
    if "text" in model._model.coder.kinds() and not model._model.names:
        rows = mixed(X)
    time = {"time": 1e6 + np.arange(12.0)} if model.needs_time else {}
    if isinstance(model, dfop.DFOPRegressor):
        outputs = [model.predict(rows), model.predict_then_learn(rows, label_of(model, y), **time)]
        if hasattr(model, "experts_"):
            outputs.append(model.predict_interval(rows))
    else:
        outputs = model.predict_proba_then_learn(rows, label_of(model, y), **time)
    for part in outputs:
        assert np.isfinite(part).all()


def label_of(model, y):
    target = model._model.target
    if isinstance(model, dfop.DFOPRegressor):
        return y if target.flat else np.tile(y[:, np.newaxis], target.outputs)
    if target.flat:
        return np.resize(model.classes_, len(y))
    return np.column_stack([np.resize(some, len(y)) for some in target.columns])


def is_harmless(data):
    """Whether a file gives a model that works; else it was refused."""
    try:
        model = from_bytes(data)
    except ModelFileError:
        return False
    with warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("ignore", UserWarning)
        use(model)  # columns or classes that these rows do not have are refused
    with warnings.catch_warnings(), contextlib.suppress(ModelFileError):
        from_bytes(to_bytes(model))
    return True


BANKS = [AUTOMATIC[i] for i in (2, 3, 9, 10)] + [LATE[0], LATE[3], RIVER[2], RIVER[8]]
FILTERS = [SINGLE[0], SINGLE[2], SINGLE[4], SINGLE[11], SINGLE[13], SINGLE[14], RIVER[1], RIVER[5]]
OLD = ["auto-two-lags", "river-auto-three-lags", "river-three-lags", "three-lags", "no-label-lags"]


def parts_of(what):
    if isinstance(what, str):
        return unpack(path_of(what).read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return unpack(to_bytes(what.made()))


@pytest.fixture(scope="module", params=[*FILTERS, *BANKS, *OLD], ids=str)
def parts(request):
    """Description and arrays of a good file."""
    return parts_of(request.param)


def test_the_forger_can_write_a_good_file(parts):
    document, tensors = parts
    assert is_harmless(repack(copy.deepcopy(document), tensors))


def leaves(value, at=()):
    """All places in a JSON value."""
    yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*at, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value[:4]):
            yield from leaves(inner, (*at, key))


JUNK = [None, -1, 0, 2, 7, 10**9, 1e308, -0.5, "x", "", [], {}, [[]], [1, 2], True, False,
        float("inf"), float("nan"), 2**70, "auto", "DFOPClassifier"]  # fmt: skip


def changed(document, at, value):
    forged = copy.deepcopy(document)
    inner = forged
    for key in at[:-1]:
        inner = inner[key]
    if value is leave_away:
        del inner[at[-1]]
    else:
        inner[at[-1]] = value
    return forged


def leave_away():
    """Stand for nothing at all."""


@pytest.mark.parametrize("many_values", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_no_value_of_the_description_can_do_harm(parts, rng, many_values):
    document, tensors = parts
    places = [at for at in leaves(document) if at and at[0] not in ("checksum", "format")]
    many = [at for at in places if "filters" in at or "experts" in at]
    some = [at for at in places if at not in many]
    some += [many[i] for i in rng.permutation(len(many))[: 4 * many_values]]
    for at in some:
        for value in [leave_away, *(JUNK[i] for i in rng.permutation(len(JUNK))[:many_values])]:
            is_harmless(repack(changed(document, at, value), tensors))


CHANGES = {
    "negative": lambda a, i: np.where(i, -1.0 - a, a),
    "huge": lambda a, i: np.where(i, 1e307, a),
    "large": lambda a, i: np.where(i, 1e60, a),
    "tiny": lambda a, i: np.where(i, 5e-324, a),
    "zero": lambda a, i: np.where(i, 0.0, a),
    "nan": lambda a, i: np.where(i, np.nan, a),
    "infinite": lambda a, i: np.where(i, -np.inf, a),
    "half": lambda a, i: np.where(i, a + 0.5, a),
    "all huge": lambda a, i: np.full_like(a, 1e300),
    "all zero": lambda a, i: np.zeros_like(a),
    "shorter": lambda a, i: a[:-1].copy() if a.ndim else np.ones(2),
    "longer": lambda a, i: np.concatenate([a, a]) if a.ndim else np.ones(2),
    "flat": lambda a, i: a.reshape(1, 1, 1, -1).copy(),
    "whole": lambda a, i: a.astype(np.int32),
}
WHOLE = {
    "one more": lambda a, i: a + i,
    "less": lambda a, i: a - i,
    "huge": lambda a, i: a + i * 2**30,
    "shorter": lambda a, i: a[:-1].copy(),
    "longer": lambda a, i: np.concatenate([a, a]),
}
REFUSED = {"nan", "infinite", "shorter", "longer", "flat"}


@pytest.mark.parametrize("many_changes", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_no_number_of_an_array_can_do_harm(parts, rng, many_changes):
    document, tensors = parts
    heavy = [
        name for name in tensors if re.search(r"(expert|stack|output) [1-9]|stack 0 [12]", name)
    ]
    chosen = [name for name in tensors if name not in heavy]
    chosen += [heavy[i] for i in rng.permutation(len(heavy))[: 5 * many_changes]]
    for name in chosen:
        tensor = tensors[name]
        changes = WHOLE if tensor.dtype == np.int32 else CHANGES
        if tensor.size == 0:
            continue
        for change in rng.permutation(list(changes))[:many_changes]:
            at = np.arange(tensor.size).reshape(tensor.shape) == rng.integers(tensor.size)
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                new = np.asarray(changes[change](tensor, at))
            new = new.astype(np.float64 if new.dtype.kind == "f" else np.int32)
            data = repack(document, {**tensors, name: new})
            assert not (is_harmless(data) and change in REFUSED), (name, change)


def test_an_array_more_or_less_is_refused(parts, rng):
    document, tensors = parts
    needed = [
        name for name in tensors if not name.endswith("limited_rows")
    ]  # as in the first files
    for name in needed[:: max(1, len(needed) // 12)]:
        fewer = {other: tensor for other, tensor in tensors.items() if other != name}
        assert not is_harmless(repack(document, fewer)), name
    assert not is_harmless(repack(document, {**tensors, "more": np.ones(1)}))
    assert not is_harmless(repack(document, {**tensors, "engine/more": np.ones(1)}))


# -- few bytes must not ask for much memory ----------------------------------------------------


def few(**changes):
    def change(document):
        for name, value in changes.items():
            *outer, last = name.split("__")
            inner = document
            for key in outer:
                inner = inner[key]
            inner[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        few(target__outputs=10**6, target__flat=False),
        few(columns__numbers=[0, 10**9]),
        few(columns__numbers=[10**9, 2]),
        few(parameters__lags=1000),
        few(waiting__keys=list(range(10**5))),
        few(rows=2**53),
        few(parameters__pending_limit=10**9),
    ],
)
def test_a_few_bytes_do_not_ask_for_much_memory(change):
    document, tensors = parts_of(SINGLE[1])
    document = copy.deepcopy(document)
    change(document)
    data = repack(document, tensors)
    tracemalloc.start()
    is_harmless(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * len(data) + 2 * 10**7


@pytest.mark.parametrize(
    "classes",
    [
        {"dtype": "<U500000000", "values": ["no", "yes"]},
        {"dtype": "V500000000", "values": ["no", "yes"]},
        {"dtype": "(500000000,)f8", "values": ["no", "yes"]},
        {"dtype": "f8,f8", "values": [1, 2]},
        {"dtype": "<M8[s]", "values": [1, 2]},
        {"dtype": "O", "values": [{"a": 1}, []]},
        {"dtype": "<U3", "values": ["yes", "no"]},
        {"dtype": "<U3", "values": []},
        {"dtype": ["<U3"], "values": ["no", "yes"]},
    ],
)
def test_classes_of_strange_types_do_no_harm(classes):
    document, tensors = parts_of(SINGLE[6])
    document = {**document, "target": {**document["target"], "classes": classes}}
    assert is_harmless(repack(document, tensors)) == (classes["dtype"] == "<U500000000")


# -- designs that the parameters do not give ---------------------------------------------------


def set_to(*at, value):
    return lambda document: changed(document, at, value)


@pytest.mark.parametrize(
    "change",
    [
        set_to("kind", value="os.system"),
        set_to("kind", value="river.base"),
        set_to("kind", value="DFOPClassifier"),
        set_to("kind", value="river.DFOPRegressor"),
        set_to("parameters", value={}),
        set_to("parameters", "more", value=1),
        set_to("parameters", "forgetting", value=2.0),
        set_to("parameters", "forgetting", value=0.5),
        set_to("parameters", "forgetting", value={"by_rows": 7}),
        set_to("parameters", "forgetting", value={"os": 7}),
        set_to("parameters", "prior_variance", value=-1),
        set_to("parameters", "prior_variance", value=2.0),
        set_to("parameters", "cap", value="x"),
        set_to("parameters", "fit_intercept", value="no"),
        set_to("parameters", "fit_intercept", value=False),
        set_to("parameters", "features", value="rff"),
        set_to("parameters", "features", value="poly"),
        set_to("parameters", "features", value="auto"),
        set_to("parameters", "lags", value=5),
        set_to("parameters", "lags", value=0),
        set_to("engine", value=None),
        set_to("engine", "maps", value=[["linear", 0.0, 0]] * 2),
        set_to("engine", "maps", 0, value=["fourier", 0.6, 10**9]),
        set_to("engine", "experts", value=[]),
        set_to("engine", "experts", 0, value=[0, 1.0, 0.0]),
        set_to("engine", "experts", 0, value=[99, 0.0, 0.0]),
        set_to("engine", "experts", 0, value=[0, 0.0, -1.0]),
        set_to("engine", "prior", value=-1.0),
        set_to("monitor", value=None),
        set_to("monitor", "rows", value=-1),
        set_to("monitor", "open", value=[[10**9, 0]]),
        set_to("monitor", "alarms", value=[[5, 9, {}]]),
        set_to("monitor", "alarms", value=[[5, 2, {"a": "b"}]]),
        set_to("monitor", "alarms", value=[[5, 2, {}]] * 1001),
        set_to("target", "outputs", value=3),
        set_to("target", "outputs", value=10**9),
        set_to("target", "flat", value=True),
        set_to("lags", value=None),
        set_to("lags", "blocks", value=[1]),
        set_to("lags", "blocks", value=[0, 2]),
        set_to("clock", value=["x", True]),
        set_to("clock", value=[10**30, True]),
        set_to("now", value="x"),
        set_to("columns", "names", value=["a"]),
        set_to("columns", "names", value=["a", "a", "b"]),
        set_to("columns", "coded", value=[]),
        set_to("columns", "lags", value=[]),
        set_to("waiting", "keys", value=["p"]),
        set_to("waiting", "keys", value=["p", "p", "q"]),
        set_to("waiting", "keys", value=[None, "q", 7]),
    ],
)
def test_a_model_whose_parts_do_not_fit_is_refused(change):
    document, tensors = parts_of(AUTOMATIC[2])
    with pytest.raises(ModelFileError, match=r"makes no sense|damaged"):
        from_bytes(repack(change(document), tensors))


def test_a_row_that_came_in_the_future_is_refused():
    for case in (SINGLE[0], AUTOMATIC[2]):
        document, tensors = parts_of(case)
        times = tensors["waiting/times"] + [1000.0 if case is AUTOMATIC[2] else -1000.0, 0.0]
        with pytest.raises(ModelFileError, match="times of waiting rows out of range"):
            from_bytes(repack(document, {**tensors, "waiting/times": times}))


# -- bytes that are damaged --------------------------------------------------------------------


@pytest.fixture(params=["now", "before"])
def path(request, tmp_path):
    file = tmp_path / "model.dfop"
    data = path_of("two").read_bytes() if request.param == "before" else to_bytes(SINGLE[6].made())
    file.write_bytes(data)
    return file


def test_every_flipped_byte_is_noticed(path, rng):
    content = path.read_bytes()
    for at in [*range(120), *rng.integers(0, len(content), 300)]:
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
    path.write_bytes(content + b"\0")
    with pytest.raises(ModelFileError, match="cannot load"):
        load(path)


class Bomb:
    def __reduce__(self):
        return (open, ("exploded", "w"))


ONES = {"a": np.ones(3)}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        pickle.dumps(Bomb()),
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 20) + b'{"__metadata__":[1]} ',
        to_safetensors(ONES),
        to_safetensors(ONES, {"other": "x"}),
        to_safetensors({"a": np.ones(3, np.float32)}, {"dfop": "{}"}),
        to_safetensors(ONES, {"dfop": "no json"}),
        to_safetensors(ONES, {"dfop": "[" * 100_000}),
        to_safetensors(ONES, {"dfop": "{}"}),
        to_safetensors(ONES, {"dfop": '{"format": "1"}'}),
        to_safetensors(ONES, {"dfop": '{"format": 0}'}),
        to_safetensors(ONES, {"dfop": '{"format": 1}'}),
        to_safetensors(ONES, {"dfop": '{"format": 3}'}),
        to_safetensors(ONES, {"dfop": '{"format": 3}', "checksum": "0" * 64}),
    ],
)
def test_foreign_files_are_refused(content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").write_bytes(content)
    with pytest.raises(ModelFileError, match="cannot load 'file'"):
        load("file")
    assert not Path("exploded").exists()


def header_of(**entry):
    text = json.dumps({"__metadata__": {"dfop": "{}"}, "a": entry}).encode()
    return len(text).to_bytes(8, "little") + text + b"\0" * 16


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F64", "shape": [2**61], "data_offsets": [0, 16]},
        {"dtype": "F64", "shape": [2], "data_offsets": [0, 2**61]},
        {"dtype": "F64", "shape": [2], "data_offsets": [-16, 0]},
        {"dtype": "F64", "shape": [-2], "data_offsets": [0, 16]},
        {"dtype": "F64", "shape": [1], "data_offsets": [8, 16]},
        {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": "2", "data_offsets": [0, 16]},
        {"dtype": "F64", "shape": [2.0], "data_offsets": [0, 16]},
        {"dtype": "F64", "shape": [2], "data_offsets": [0.0, 16.0]},
        {"dtype": "F64", "shape": [2], "data_offsets": "0"},
        {"dtype": "O", "shape": [2], "data_offsets": [0, 16]},
        {"dtype": "F64", "shape": [2]},
    ],
)
def test_arrays_that_are_not_there_are_refused(entry):
    with pytest.raises(ModelFileError, match="damaged or no model file"):
        from_bytes(header_of(**entry))


def test_a_newer_format_says_upgrade():
    document, tensors = parts_of(SINGLE[0])
    newer = pack({**document, "format": 99, "written_by": "9.0"}, tensors)
    with pytest.raises(ModelFileError, match=r"format 99, written by dfop '9.0'.*upgrade dfop"):
        from_bytes(newer)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model file"):
        load(tmp_path / "nothing.dfop")


def test_the_file_tells_its_format_and_version():
    document, _ = parts_of(SINGLE[0])
    assert (document["format"], document["written_by"]) == (3, dfop.__version__)


def test_there_is_a_good_file_of_every_case():
    assert len({case.path for case in CASES}) == len(CASES)


# -- rows that were predicted since something was learned ---------------------------------------


def asked(begun):
    model = river.DFOPRegressor(features="linear", pending_limit=9)
    if begun:
        model.learn_one({"a": 0.5, "b": 1.0}, 1.0)
    for t in range(3):
        model.predict_one({"a": float(t), "b": None} if begun else {"a": float(t), "b": "red"})
    return unpack(to_bytes(model))


@pytest.mark.parametrize("begun", [False, True])
def test_junk_among_rows_that_were_predicted_does_no_harm(begun):
    document, tensors = asked(begun)
    for at in leaves(document["asked"], ("asked",)):
        for value in (*JUNK, leave_away):
            is_harmless(repack(changed(document, at, value), tensors))
    for name in [name for name in tensors if name.startswith("asked/")]:
        less = {key: value for key, value in tensors.items() if key != name}
        assert not is_harmless(repack(document, less))
        assert not is_harmless(repack(document, {**tensors, name: tensors[name][:, :1]}))


ROW = [["a", 1.0]]


@pytest.mark.parametrize(
    "rows",
    [
        [ROW] * 10,  # more than may wait
        [ROW] * 2,  # fewer than digests
        [ROW, ROW, [["a", 1.0], ["a", 2.0]]],
        [ROW, ROW, [[1, 1.0], [True, 2.0]]],
        [ROW, ROW, [["a", "12"]]],
        [ROW, ROW, [["a", 1e200]]],
        [ROW, ROW, [["a", True]]],
        [ROW, ROW, [["a", [1.0]]]],
        [ROW, ROW, [[["a"], 1.0]]],
        [ROW, ROW, [["a", 1.0, 1.0]]],
        [ROW, ROW, [[f"a{t}", 1.0] for t in range(40_000)]],  # fewer wide ones are kept
    ],
    ids=range(11),
)
def test_rows_before_the_first_label_that_no_model_would_keep_are_refused(rows):
    document, tensors = asked(begun=False)
    assert is_harmless(repack({**document, "asked": {"methods": 1, "first": [ROW] * 3}}, tensors))
    count = 10 if len(rows) == 10 else 3
    more = {**tensors, "asked/digests": np.zeros((count, 2), np.int32)}
    assert not is_harmless(repack({**document, "asked": {"methods": 1, "first": rows}}, more))


def test_more_rows_than_may_wait_are_refused():
    document, tensors = asked(begun=True)
    rows = tensors["asked/rows"]
    for some in (np.repeat(rows, 4, axis=0), np.full(rows.shape, 1e200), rows[:, :-1]):
        digests = np.zeros((len(some), 2), np.int32)
        forged = {**tensors, "asked/rows": some, "asked/digests": digests}
        assert not is_harmless(repack(document, forged))
