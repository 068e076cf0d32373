"""Targets are read as strictly as features, in whatever container they come."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dfop.river
from dfop import DFOPClassifier, DFOPRegressor
from dfop.rows.labels import target_labels
from dfop.rows.target_cells import target_numbers
from dfop.streams import Stream
from model_state import everything, refused

N = 6
X = np.random.default_rng(0).normal(size=(N, 2))
NOON = datetime.datetime(2024, 5, 1, 12)


def objects(values):
    cells = np.empty(len(values), object)
    for t, value in enumerate(values):
        cells[t] = value
    return cells


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "object array": objects,
    "Series": pd.Series,
    "Series of objects": lambda v: pd.Series(objects(v), dtype=object),
    "nullable Series": lambda v: pd.Series(v).convert_dtypes(),
    "category": lambda v: pd.Series(v, dtype="category"),
    "pyarrow Series": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.array(v).type)),
    "Index": pd.Index,
    "polars": pl.Series,
    "Arrow": pa.array,
    "chunked Arrow": lambda v: pa.chunked_array([v[:2], v[2:]]),
    "dictionary of Arrow": lambda v: pa.array(v).dictionary_encode(),
}


def in_containers(values):
    """The values in every container that takes them."""
    for name, make in CONTAINERS.items():
        try:
            given = make(values)
        except (TypeError, ValueError, OverflowError, pa.ArrowException):
            continue
        yield name, given


def regressor():
    return DFOPRegressor(0.01).partial_fit(X, np.arange(N) / 2)


def classifier(y=("a", "b", "a", "b", "b", "a")):
    return DFOPClassifier(0.01).partial_fit(X, list(y))


NUMBERS = {
    "floats": [1.5, 0.0, 2.0, -1.0, 0.5, 3.0],
    "whole numbers": [1, 0, 2, -1, 5, 3],
    "bools": [True, False, True, True, False, False],
    "whole numbers beyond 64 bits": [2**70, 1, 2, 3, 4, 5],
    "NumPy's": [np.int8(1), np.int8(0), np.int8(2), np.int8(3), np.int8(5), np.int8(4)],
    "single precision": [np.float32(1.5)] * 3 + [np.float32(0.25)] * 3,
    "decimals": [
        Decimal("1.5"),
        Decimal("0"),
        Decimal("2"),
        Decimal("3"),
        Decimal("4"),
        Decimal(5),
    ],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_the_same_in_every_container(name):
    values = NUMBERS[name]
    expected = DFOPRegressor(0.01).partial_fit(X, np.array(values, dtype=np.float64))
    found = 0
    for container, y in in_containers(values):
        assert everything(DFOPRegressor(0.01).partial_fit(X, y)) == everything(expected), container
        found += 1
    assert found >= 4


LABELS = {
    "text": ["a", "b", "a", "c", "b", "a"],
    "text that reads as numbers": ["1", "0", "1", "2", "0", "1"],
    "whole numbers": [1, 0, 1, 2, 0, 1],
    "bools": [True, False, True, True, False, False],
    "whole floats": [1.0, 0.0, 1.0, 2.0, 0.0, 1.0],
    "none as a name": ["none", "some", "none", "all", "some", "none"],
    "unicode": ["ä", "猫", "ä", "ä", "猫", "ä"],
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_the_same_in_every_container(name):
    values = LABELS[name]
    expected = DFOPClassifier(0.01).predict_then_learn(X, values)
    found = 0
    for container, y in in_containers(values):
        model = DFOPClassifier(0.01)
        got = model.predict_then_learn(X, y)
        assert got.tolist() == expected.tolist(), container
        assert model.classes_.tolist() == sorted(set(values)), container
        found += 1
    assert found >= 10


def with_bad(bad, good=(1.0, 2.0, 3.0, 4.0, 5.0)):
    return [*good[:3], bad, *good[3:]]


# name: values, what the message must say
BAD_NUMBERS = {
    "None": (with_bad(None), ["row 3", "drop"]),
    "NaN": (with_bad(float("nan")), ["NaN", "row 3", "drop"]),
    "NA": (with_bad(pd.NA), ["row 3", "drop"]),
    "NaT": (with_bad(pd.NaT), ["row 3"]),
    "infinite": (with_bad(np.inf), ["infinity", "row 3"]),
    "too large": (with_bad(1e200), ["large", "row 3", "scale"]),
    "much too large": (with_bad(10**400), ["infinity", "row 3"]),
    "text": (with_bad("much"), ["'much'", "row 3", "convert"]),
    "numbers as text": (["1.5"] * N, ["'1.5'", "row 0", "given as text", "convert"]),
    "dates": ([NOON] * N, ["2024", "row 0", "no number"]),
    "days": ([NOON.date()] * N, ["2024", "row 0", "no number"]),
    "durations": ([datetime.timedelta(1)] * N, ["row 0", "no number"]),
    "complex": ([1j] * N, ["complex"]),
    "bytes": ([b"1"] * N, ["b'1'", "row 0"]),
    "dicts": ([{"a": 1}] * N, ["row 0"]),
    "sets": ([{1}] * N, ["row 0"]),
    "uneven lists": ([[1.0], [1.0, 2.0], [1.0], [2.0], [1.0], [3.0]], ["row 0"]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", BAD_NUMBERS)
def test_what_is_no_number_is_refused_in_every_container(name):
    values, fragments = BAD_NUMBERS[name]
    for container, y in in_containers(values):
        if container == "array" and name == "text":
            continue  # NumPy has made text of all the numbers
        refused(regressor(), lambda m, y=y: m.partial_fit(X, y), *fragments)
        refused(DFOPRegressor(), lambda m, y=y: m.partial_fit(X, y), *fragments)
        model = regressor()
        model.predict_pending(X, range(N))
        refused(model, lambda m, y=y: m.learn_pending(range(N), y), *fragments)


TEXT = ("a", "b", "a", "a", "b")
BAD_LABELS = {
    "None": (with_bad(None, TEXT), ["row 3", "drop"]),
    "NaN": (with_bad(float("nan"), TEXT), ["row 3"]),
    "NA": (with_bad(pd.NA, TEXT), ["row 3", "drop"]),
    "NA among numbers": (with_bad(pd.NA, (1, 0, 1, 1, 0)), ["row 3", "drop"]),
    "NaN among numbers": (with_bad(float("nan"), (1, 0, 1, 1, 0)), ["row 3", "drop"]),
    "infinite": (with_bad(np.inf, (1.0, 0.0, 1.0, 1.0, 0.0)), ["infinity", "row 3"]),
    "a gap word": (with_bad("?", TEXT), ["'?'", "row 3", "missing", "classes="]),
    "no text at all": (with_bad("", TEXT), ["''", "row 3", "missing"]),
    "dates": ([NOON, NOON, *[NOON + datetime.timedelta(1)] * 4], ["2024", "row 0", "no label"]),
    "days": ([NOON.date()] * N, ["2024", "row 0", "no label"]),
    "durations": ([datetime.timedelta(1)] * N, ["row 0", "no label"]),
    "complex": ([1j, 2j] * 3, ["complex"]),
    "bytes": ([b"a", b"b"] * 3, ["b'a'", "row 0"]),
    "decimals": ([Decimal(1), Decimal(2)] * 3, ["Decimal", "row 0"]),
    "dicts": ([{"a": 1}] * N, ["row 0"]),
    "sets": ([{1}] * N, ["row 0"]),
    "uneven lists": ([[1], [1, 2], [1], [2], [1], [3]], ["row 0"]),
    "half numbers": ([0.5, 1.5] * 3, ["continuous"]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", BAD_LABELS)
def test_what_is_no_label_is_refused_in_every_container(name):
    values, fragments = BAD_LABELS[name]
    for container, y in in_containers(values):
        if container == "array" and np.asarray(y).dtype.kind == "U" and name == "None":
            continue  # NumPy has made the text "None" of it
        refused(DFOPClassifier(), lambda m, y=y: m.partial_fit(X, y), *fragments)
        where = "complex" if name == "complex" else "row"
        refused(classifier(), lambda m, y=y: m.partial_fit(X, y), where)
        model = classifier()
        model.predict_pending(X, range(N))
        refused(model, lambda m, y=y: m.learn_pending(range(N), y), where)


def test_a_gap_word_is_a_class_where_it_is_named_as_one():
    y = ["a", "?", "a", "b", "b", "a"]
    for _, given in in_containers(y):
        model = DFOPClassifier(0.01).partial_fit(X, given, classes=["?", "a", "b"])
        assert model.classes_.tolist() == ["?", "a", "b"]


@pytest.mark.parametrize("mask", [[0, 0, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1]])
def test_masked_targets_are_refused(mask):
    numbers = np.ma.masked_array(np.arange(6.0), mask=mask)
    refused(regressor(), lambda m: m.partial_fit(X, numbers), "masked", "row 2", "drop")
    labels = np.ma.masked_array(["a", "b"] * 3, mask=mask)
    refused(classifier(), lambda m: m.partial_fit(X, labels), "masked", "row 2", "drop")


def test_a_mask_that_hides_nothing_is_none():
    plain = regressor().partial_fit(X, np.arange(6.0))
    masked = regressor().partial_fit(X, np.ma.masked_array(np.arange(6.0), mask=[0] * 6))
    assert everything(masked) == everything(plain)


OTHERS = {
    "numbers after text": (["a", "b"] * 3, [0, 1] * 3),
    "text after numbers": ([0, 1] * 3, ["a", "b"] * 3),
    "numbers as text after numbers": ([0, 1] * 3, ["0", "1"] * 3),
    "text after bools": ([True, False] * 3, ["True", "False"] * 3),
    "one class more": ([0, 1] * 3, [0, 1, 0, 2, 0, 1]),
    "five classes of another type": (list("abcdea"), [0, 1, 2, 3, 4, 0]),
    "five numbers of another type": ([0, 1, 2, 3, 4, 0], list("abcdea")),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", OTHERS)
def test_classes_of_another_type_are_unknown(name):
    first, then = OTHERS[name]
    for _, y in in_containers(then):
        refused(classifier(first), lambda m, y=y: m.partial_fit(X, y), "unknown class", "row")


def test_one_mixture_of_types_is_named_by_its_row():
    for y in (["a", "b", 3, "a", "b", "a"], [1, 0, "x", 1, 0, 1]):
        for container in ("list", "tuple", "object array", "Series"):
            given = CONTAINERS[container](y)
            refused(DFOPClassifier(), lambda m, y=given: m.fit(X, y), "row 2", "one type")


@pytest.mark.parametrize("other", [[1.0, 0.0] * 3, [True, False] * 3, np.array([1, 0] * 3, "int8")])
def test_a_number_of_another_type_is_the_same_class(other):
    plain = classifier([0, 1] * 3).partial_fit(X, [1, 0] * 3)
    assert everything(classifier([0, 1] * 3).partial_fit(X, other)) == everything(plain)


NO_LISTS = [iter([1.0] * N), (t for t in range(N)), 3.0, "abcdef", {"a": 1.0}, {1.0, 2.0}]


@pytest.mark.parametrize("y", NO_LISTS, ids=lambda y: type(y).__name__)
def test_what_is_no_list_of_targets_is_refused(y):
    fragments = (f"y is of type {type(y).__name__}", "give a list or an array")
    for model in (regressor(), classifier(), DFOPRegressor(), DFOPClassifier()):
        refused(model, lambda m: m.partial_fit(X, y), *fragments)


def test_no_targets_at_all_are_refused():
    for model in (regressor(), classifier()):
        refused(model, lambda m: m.partial_fit(X, None), "y")


def test_targets_of_another_width_are_refused_with_what_to_do():
    wide = [[1, 0]] * N
    for model, y in ((regressor(), wide), (classifier([0, 1] * 3), wide)):
        refused(model, lambda m, y=y: m.partial_fit(X, y), "(6, 2)", "give", "begin a new model")
    for model in (DFOPRegressor(0.01), DFOPClassifier(0.01)):
        model.partial_fit(X, wide)
        refused(model, lambda m: m.partial_fit(X, [1, 0] * 3), "(n, 2)", "begin a new model")


def test_numbers_beside_text_stay_numbers_in_lists_of_several_targets():
    mixed = [["a", 1], ["b", 2]] * 3
    refused(DFOPClassifier(0.01), lambda m: m.partial_fit(X, mixed), "1 at row 0, column 1", "type")


def test_equal_keys_are_named():
    keys = ["a", "b", "c", "b", "a", "e"]
    message = "the key 'a' is given to row 0 and to row 4"
    refused(regressor(), lambda m: m.predict_pending(X, keys), message)


LONG = "z" * 10**6


def learned(model, *rows):
    for row, y in rows:
        model.learn_one(row, y)
    return model


LONG_CELLS = {
    "a cell": lambda: DFOPRegressor().partial_fit([[1.0, LONG], ["x", 2.0]], [1.0, 2.0]),
    "a cell of Arrow": lambda: DFOPRegressor().partial_fit(
        pa.table({"a": ["1" * 10**4, "2"]}), [1.0, 2.0]
    ),
    "a number": lambda: regressor().partial_fit(X, [LONG] * N),
    "a label": lambda: classifier().partial_fit(X, [LONG] * N),
    "a list as label": lambda: classifier().partial_fit(X, [[LONG], [LONG, LONG]] * 3),
    "a class": lambda: DFOPClassifier().partial_fit(X, ["a", "b"] * 3, classes=["a", 1, LONG]),
    "a class of another type": lambda: classifier([LONG[: 10**4], "a"] * 3).partial_fit(
        X, [0, 1] * 3
    ),
    "a key": lambda: regressor().predict_pending(X, [LONG] * N),
    "a time": lambda: DFOPRegressor().partial_fit(X, np.arange(N), time=[LONG] * N),
    "a column of numbers": lambda: (
        DFOPRegressor()
        .partial_fit(pd.DataFrame({"a": [1.0]}), [1.0])
        .partial_fit(pd.DataFrame({"a": [LONG]}), [1.0])
    ),
    "River's number": lambda: learned(dfop.river.DFOPRegressor(), ({"a": 1.0}, LONG)),
    "River's label": lambda: learned(dfop.river.DFOPClassifier(), ({"a": 1.0}, [LONG])),
    "River's feature": lambda: learned(
        dfop.river.DFOPRegressor(), ({"a": 1.0}, 1.0), ({"a": LONG}, 1.0)
    ),
    "River's fixed number": lambda: learned(dfop.river.DFOPRegressor(0.01), ({"a": 1.0}, LONG)),
    "a label of a stream": lambda: Stream.from_arrays(X, [LONG] * N, classes=["a", "b"]),
    "a target of a stream": lambda: Stream.from_arrays(X, [LONG] * N, task="regression"),
}


@pytest.mark.parametrize("name", LONG_CELLS)
def test_a_long_cell_is_cut_in_messages(name):
    with pytest.raises(ValueError, match=r"\S") as caught:
        LONG_CELLS[name]()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("read", [target_numbers, target_labels])
def test_one_target_per_row_in_every_container(read):
    for _, y in in_containers([1, 0, 1, 0, 1]):
        with pytest.raises(ValueError, match="6 rows but y has 5"):
            read(y, N)


RIVER_LABELS = [None, float("nan"), pd.NA, pd.NaT, NOON, NOON.date(), np.datetime64(1, "ns"),
                datetime.timedelta(1), [1], {"a": 1}]  # fmt: skip


@pytest.mark.parametrize("label", RIVER_LABELS, ids=repr)
def test_river_refuses_what_is_no_label(label):
    model = dfop.river.DFOPClassifier(0.01)
    model.learn_one({"a": 1.0}, "red")
    refused(model, lambda m: m.learn_one({"a": 1.0}, label), "label")
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    refused(model, lambda m: m.learn_many(frame, ["red", label]), "label", "row 1")


@pytest.mark.parametrize(
    "y", [None, float("nan"), pd.NA, np.inf, "1.5", b"1", NOON, [1.0], 10**400]
)
@pytest.mark.parametrize("setting", [{"forgetting": 0.01}, {}])
def test_river_refuses_what_is_no_number(y, setting):
    model = dfop.river.DFOPRegressor(**setting)
    refused(model, lambda m: m.learn_one({"a": 1.0}, y), "y")
    model.learn_one({"a": 1.0}, 1.0)
    refused(model, lambda m: m.learn_one({"a": 1.0}, y), "y")
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    refused(model, lambda m: m.learn_many(frame, [1.0, y]), "y")


NO_LABELS = [None, float("nan"), float("inf"), pd.NA, "", "?", "NaN", (1, 2), b"a", [1], 1j]


@pytest.mark.parametrize("label", NO_LABELS, ids=repr)
@pytest.mark.parametrize("started", [False, True])
def test_river_opens_no_class_for_what_is_no_label(label, started):
    model = dfop.river.DFOPClassifier(0.01)
    if started:
        model.learn_one({"a": 1.0}, "yes")
    before = model.predict_proba_one({"a": 1.0})
    with pytest.raises(ValueError, match="label"):
        model.learn_one({"a": 1.0}, label)
    assert model.predict_proba_one({"a": 1.0}) == before


@pytest.mark.parametrize("y", ["3", None, pd.NA, float("inf"), np.datetime64("2024-01-01"), [1.0]])
@pytest.mark.parametrize("started", [False, True])
def test_river_says_what_to_do_with_what_is_no_number(y, started):
    model = dfop.river.DFOPRegressor(0.01)
    if started:
        model.learn_one({"a": 1.0}, 2.0)
    with pytest.raises(ValueError, match="convert or drop it"):
        model.learn_one({"a": 1.0}, y)


def test_an_array_of_pandas_keeps_the_type_of_its_cells():
    model = dfop.DFOPClassifier(0.01)
    model.partial_fit([[1.0], [2.0], [3.0]], pd.array([2**53, 2**53 + 1, 1], dtype="Int64"))
    assert model.classes_.tolist() == [1, 2**53, 2**53 + 1]
    yes = dfop.DFOPClassifier(0.01).partial_fit([[1.0], [2.0]], pd.array([True, False]))
    assert yes.classes_.tolist() == [False, True]


def test_a_class_of_another_type_is_called_so():
    model = dfop.DFOPClassifier(0.01).partial_fit([[1.0], [2.0]], [1, 2])
    with pytest.raises(ValueError, match=r"unknown class '1' at row 0, of another type than 1"):
        model.partial_fit([[1.0]], ["1"])
