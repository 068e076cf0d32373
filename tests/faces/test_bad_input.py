"""Bad input is refused with what, where and what to do, before anything in the model changed."""

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dfop import DFOPClassifier, DFOPRegressor, period
from dfop.model.labels import LabelCode, raw_probabilities
from model_state import everything, refused

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 3))
Y = X @ [1.0, -2.0, 3.0]
LABELS = np.array(["no", "yes", "no", "no", "yes", "no"])
TIME = np.arange(6.0)


def with_value(value, row=4, column=1):
    changed = X.copy()
    changed[row, column] = value
    return changed


def with_gap_and(value):
    changed = with_value(value)
    changed[1, 2] = np.nan
    return changed


def with_object(value, next_row=1.0):
    changed = X.astype(object)
    changed[4, 1] = value
    changed[5, 2] = next_row
    return changed


def words_with(value):
    changed = np.full((6, 3), "red", object)
    changed[4, 1] = value
    return changed


def target_with(value, row=4):
    changed = Y.copy()
    changed[row] = value
    return changed


FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
EXTRA = pd.DataFrame(np.ones((6, 2)), columns=["extra", "extra"])

# name: X, y, extra arguments, what the message must say
ROWS = {
    "infinity": (with_value(-np.inf), Y, {}, ["X", "infinity", "row 4", "column 1", "clip"]),
    "too large": (with_value(1e200), Y, {}, ["X", "large", "row 4", "column 1", "scale"]),
    "just too large": (with_value(np.nextafter(2.0**500, np.inf)), Y, {}, ["row 4", "2**500"]),
    "too many columns": (np.ones((6, 4)), Y, {}, ["4 features", "3 features"]),
    "too few columns": (X[:, :2], Y, {}, ["2 features", "3 features"]),
    "one row as a vector": (X[0], [1.0], {}, ["2D", "reshape"]),
    "three dimensions": (np.ones((6, 3, 1)), Y, {}, ["dim 3"]),
    "a number": (3.0, [1.0], {}, ["2D"]),
    "empty batch": (np.empty((0, 3)), np.empty(0), {}, ["0 sample", "minimum of 1"]),
    "infinity after NaN": (with_gap_and(np.inf), Y, {}, ["infinity", "row 4", "column 1"]),
    "too large after NaN": (with_gap_and(1e200), Y, {}, ["large", "row 4", "column 1"]),
    "a word for a number": (with_object("three"), Y, {}, ["three", "row 4", "column 1", "kind"]),
    "infinity beside None": (with_object(None, np.inf), Y, {}, ["infinity", "row 5", "column 2"]),
    "a huge integer": (with_object(10**400), Y, {}, ["infinity", "row 4", "column 1"]),
    "numbers as text": (X.astype(str), Y, {}, ["text", "row 0", "column 0", "convert"]),
    "one number as text": (words_with("12"), Y, {}, ["'12'", "row 4", "column 1", "convert"]),
    "a number among words": (words_with(3), Y, {}, ["3", "row 4", "column 1", "one kind"]),
    "bytes": (np.full((6, 3), b"red"), Y, {}, ["b'red'", "row 0", "column 0"]),
    "bytes among objects": (with_object(b"1"), Y, {}, ["b'1'", "row 4", "column 1"]),
    "a date": (with_object(datetime(2024, 1, 1)), Y, {}, ["2024", "row 4", "column 1"]),
    "a date of NumPy": (with_object(np.datetime64(1, "ns")), Y, {}, ["1970", "row 4", "column 1"]),
    "a list": (with_object([1.0, 2.0]), Y, {}, ["[1.0, 2.0]", "row 4", "column 1"]),
    "complex": (X + 0j, Y, {}, ["complex"]),
    "dates": (np.full((6, 3), np.datetime64("2020-01-01")), Y, {}, ["X"]),
    "None": (None, Y, {}, ["X"]),
    "ragged": ([[1.0, 2.0, 3.0], [1.0]], [1.0, 2.0], {}, []),
}  # fmt: skip
TARGETS = {
    "NaN": (target_with(np.nan), ["y", "NaN", "row 4", "drop"]),
    "infinity": (target_with(np.inf), ["y", "infinity", "row 4"]),
    "too large": (target_with(-1e200), ["y", "large", "row 4", "scale"]),
    "None": (None, ["y", "None"]),
    "too short": (Y[:5], ["6 rows", "5"]),
    "too long": (np.append(Y, 1.0), ["6 rows", "7"]),
    "a number": (1.0, []),
    "other shape": (Y[:, np.newaxis], ["(6, 1)", "(n,)"]),
    "three dimensions": (np.ones((6, 1, 1)), ["y"]),
    "no columns": (np.ones((6, 0)), ["y"]),
    "words": (LABELS, ["y", "no", "row 0"]),
    "numbers as text": (Y.astype(str), ["y", "text", "row 0"]),
}  # fmt: skip
ARGUMENTS = {
    "discount 0": ({"discount": [1, 1, 0.0, 1, 1, 1]}, ["discount", "0", "row 2", "(0, 1]"]),
    "discount above 1": ({"discount": [1, 1, 1, 1.5, 1, 1]}, ["discount", "1.5", "row 3"]),
    "discount negative": ({"discount": -0.5}, ["discount", "-0.5", "row 0"]),
    "discount NaN": ({"discount": [np.nan] * 6}, ["discount", "nan", "row 0"]),
    "discount too short": ({"discount": [0.9] * 5}, ["discount", "(5,)", "6 rows"]),
    "discount of two dimensions": ({"discount": np.ones((6, 1))}, ["discount", "(6, 1)"]),
    "discount in words": ({"discount": ["slow"] * 6}, ["discount", "numbers"]),
    "discount as text": ({"discount": ["0.5"] * 6}, ["discount", "numbers"]),
    "weight negative": ({"sample_weight": [1, 1, 1, 1, 1, -1e-9]}, ["weight", "row 5", "0 or"]),
    "weight NaN": ({"sample_weight": [1, np.nan, 1, 1, 1, 1]}, ["sample_weight", "row 1"]),
    "weight infinite": ({"sample_weight": [np.inf] * 6}, ["sample_weight", "row 0"]),
    "weight too long": ({"sample_weight": np.ones(7)}, ["sample_weight", "(7,)", "6 rows"]),
    "weight in words": ({"sample_weight": ["much"] * 6}, ["sample_weight", "numbers"]),
    "discount and time": ({"discount": 0.9, "time": TIME}, ["discount", "time", "not both"]),
    "time for a rule by rows": ({"time": TIME}, ["time", "clock"]),
}  # fmt: skip
TIMES = {
    "missing": (None, ["clock", "time="]),
    "backwards": ([10, 11, 12, 11.5, 13, 14], ["backwards", "row 3", "sort"]),
    "before the last batch": (TIME - 1.0, ["backwards", "row 0", "sort"]),
    "NaN": ([10, 11, np.nan, 13, 14, 15], ["time", "nan", "row 2"]),
    "infinite": ([10, 11, 12, 13, 14, np.inf], ["time", "inf", "row 5"]),
    "too short": (TIME[:5] + 10, ["time", "(5,)", "6 rows"]),
    "datetimes after numbers": (np.array(["2024-01-01"] * 6, "datetime64[s]"), ["numbers"]),
    "words": (["today"] * 6, ["time", "datetimes"]),
    "durations": (np.arange(6).astype("timedelta64[s]"), ["time", "datetimes"]),
    "None inside": ([10, 11, 12, None, 14, 15], ["time", "None", "row 3"]),
}  # fmt: skip


def started_regressor():
    return DFOPRegressor(0.01).partial_fit(X, Y)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("call", ["partial_fit", "predict_then_learn", "fit"])
def test_a_regressor_refuses_bad_rows(name, call):
    rows, y, extra, fragments = ROWS[name]
    if call == "fit" and name in ("too many columns", "too few columns"):
        pytest.skip("a fit starts anew with any number of columns")
    for model in (started_regressor(), DFOPRegressor(features="linear").partial_fit(X, Y)):
        refused(model, lambda m: getattr(m, call)(rows, y, **extra), *fragments)
    if "columns" not in name and "a word" not in name:
        refused(DFOPRegressor(), lambda m: getattr(m, call)(rows, y, **extra), *fragments)


@pytest.mark.parametrize("name", ROWS)
def test_a_classifier_refuses_bad_rows(name):
    rows, y, _, fragments = ROWS[name]
    labels = LABELS[: len(y)]
    model = DFOPClassifier(0.01).partial_fit(X, LABELS)
    refused(model, lambda m: m.partial_fit(rows, labels), *fragments)
    refused(model, lambda m: m.predict(rows), *fragments)
    refused(model, lambda m: m.predict_proba(rows), *fragments)


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_wait_are_checked_when_they_come(name):
    rows, y, _, fragments = ROWS[name]
    refused(started_regressor(), lambda m: m.predict_pending(rows, list(range(len(y)))), *fragments)


@pytest.mark.parametrize("name", TARGETS)
def test_a_regressor_refuses_bad_targets(name):
    y, fragments = TARGETS[name]
    refused(started_regressor(), lambda m: m.partial_fit(X, y), *fragments)
    if name != "other shape":
        refused(DFOPRegressor(), lambda m: m.partial_fit(X, y), *fragments)


@pytest.mark.parametrize("name", TARGETS)
def test_a_bad_late_target_leaves_the_row_waiting(name):
    y, fragments = TARGETS[name]
    if name in ("too short", "too long", "a number"):
        fragments = []
    model = started_regressor()
    model.predict_pending(X, range(6))
    refused(model, lambda m: m.learn_pending(range(6), y), *fragments)
    assert model.pending_ == list(range(6))


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("learner", [DFOPRegressor, DFOPClassifier])
def test_bad_weights_and_discounts_are_refused(name, learner):
    extra, fragments = ARGUMENTS[name]
    y = Y if learner is DFOPRegressor else LABELS
    refused(learner(0.01).partial_fit(X, y), lambda m: m.partial_fit(X, y, **extra), *fragments)
    refused(learner(0.01), lambda m: m.partial_fit(X, y, **extra), *fragments)


@pytest.mark.parametrize("name", TIMES)
def test_bad_times_are_refused(name):
    time, fragments = TIMES[name]
    model = DFOPRegressor(period("5 s")).partial_fit(X, Y, time=TIME)
    refused(model, lambda m: m.partial_fit(X, Y, time=time), *fragments)
    refused(model, lambda m: m.predict_pending(X, range(6), time=time), *fragments)


def test_a_missing_datetime_is_named_by_its_row():
    model = DFOPRegressor(period("1 d")).partial_fit(X[:1], Y[:1], time=[datetime(2024, 1, 1)])
    days = pd.date_range("2024-01-02", periods=6).to_series()
    days.iloc[2] = pd.NaT
    for time in (days, days.dt.tz_localize("UTC"), days.dt.tz_localize("Europe/Berlin")):
        refused(model, lambda m, t=time: m.partial_fit(X, Y, time=t), "time", "row 2")


@pytest.mark.parametrize("mu", [-0.1, 1.0, 2.0, np.nan, np.inf, "fast", None, True])
def test_a_forgetting_that_is_no_rule_is_refused(mu):
    refused(DFOPRegressor(mu), lambda m: m.fit(X, Y), "forgetting")


@pytest.mark.parametrize(
    "parameters",
    [
        {"prior_variance": 0.0},
        {"prior_variance": -1.0},
        {"prior_variance": np.nan},
        {"prior_variance": np.inf},
        {"prior_variance": "wide"},
        {"cap": 0.5},
        {"cap": np.nan},
        {"cap": "low"},
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(parameters):
    refused(DFOPRegressor(**parameters), lambda m: m.fit(X, Y), *parameters)


def frames():
    other = FRAME.rename(columns={"b": "new"})
    return {
        "unknown feature": (other, ["new", "missing"]),
        "missing feature": (FRAME[["a", "b"]], ["c"]),
        "other order": (FRAME[["c", "b", "a"]], ["order"]),
        "new feature among the known": (FRAME.assign(e=1.0)[["a", "e", "b", "c"]], ["'e'", "last"]),
        "new feature, a known one missing": (FRAME.assign(e=1.0)[["a", "b", "e"]], ["e", "c"]),
        "new feature twice": (FRAME[["a", "b", "c"]].join(EXTRA), ["extra"]),
        "no row": (FRAME[:0].assign(e=1.0), ["empty"]),
        "polars, unknown feature": (pl.from_pandas(other), ["new"]),
        "infinity beside words": (FRAME.assign(b=np.inf, new=LABELS), ["infinity", "row 0", "'b'"]),
        "a column of words": (FRAME.assign(b=LABELS), ["'no'", "row 0", "'b'", "one kind"]),
        "a column of codes": (FRAME.assign(b=pd.Categorical(LABELS)), ["'no'", "row 0", "'b'"]),
        "a column of dates": (FRAME.assign(b=pd.date_range("2024", periods=6)), ["row 0", "'b'"]),
        "numbers as text": (FRAME.assign(new=["1"] * 6), ["'1'", "row 0", "'new'", "categorical"]),
    }  # fmt: skip


@pytest.mark.parametrize("name", frames())
def test_the_columns_of_a_data_frame_are_checked_by_name(name):
    frame, fragments = frames()[name]
    model = DFOPRegressor(0.01).partial_fit(FRAME, Y)
    refused(model, lambda m: m.partial_fit(frame, Y), *fragments)
    refused(model, lambda m: m.predict(frame), *fragments)
    refused(model, lambda m: m.predict_pending(frame, range(6)), *fragments)


LABELLED = {
    "unknown class": (["no", "yes", "no", "maybe", "no", "no"], ["maybe", "row 3", "classes"]),
    "other type": ([0, 1, 0, 0, 1, 0], ["unknown class", "row 0"]),
    "NaN": (np.array(["no", "no", np.nan, "no", "no", "no"], object), ["NaN", "row 2", "drop"]),
    "None inside": (np.array(["no", "no", None, "no", "no", "no"], object), ["None", "row 2"]),
    "missing value of pandas": (pd.Series(["no", pd.NA, "yes", "no", "no", "no"]), ["row 1"]),
    "None": (None, ["y", "None"]),
    "too short": (LABELS[:4], ["6 rows", "4"]),
    "other shape": (np.column_stack([LABELS, LABELS]), ["(6, 2)", "(n,)"]),
}  # fmt: skip


MIXED = pd.DataFrame({"size": [1.0, 2.0, None, 4.0], "color": ["red", None, "blue", "red"]})
AFTER_TEXT = {
    "a number for text": (MIXED.assign(color=[1.0, 2.0, 3.0, 4.0]), ["1", "row 0", "'color'"]),
    "one number for text": (MIXED.assign(color=[None, None, 3.0, None]), ["3", "row 2", "'color'"]),
    "a number among texts": (MIXED.assign(color=["red", 7, "red", "red"]), ["7", "row 1"]),
    "text for a number": (MIXED.assign(size=[None, "x", "y", "z"]), ["'x'", "row 1", "'size'"]),
    "a number as text": (MIXED.assign(color=["red", "7", "a", "b"]), ["'7'", "row 1", "'color'"]),
    "infinity": (MIXED.assign(size=[None, 1.0, 2.0, -np.inf]), ["infinity", "row 3", "'size'"]),
}


@pytest.mark.parametrize("name", AFTER_TEXT)
def test_a_column_keeps_its_kind(name):
    frame, fragments = AFTER_TEXT[name]
    model = DFOPRegressor(0.01).partial_fit(MIXED, [1.0, 2.0, 3.0, 4.0])
    refused(model, lambda m: m.partial_fit(frame, [1.0] * 4), *fragments)
    refused(model, lambda m: m.predict(frame), *fragments)
    refused(model, lambda m: m.predict_pending(frame, range(4)), *fragments)


def test_an_error_in_targets_or_weights_leaves_the_coding_as_it_was():
    model = DFOPRegressor(0.01).partial_fit(MIXED, [1.0, 2.0, 3.0, 4.0])
    news = MIXED.assign(color=["green", None, "pink", "red"], more=1.0)
    refused(model, lambda m: m.partial_fit(news, [1.0, np.nan, 1.0, 1.0]), "y", "row 1")
    refused(model, lambda m: m.partial_fit(news, [1.0] * 4, sample_weight=-1.0), "sample_weight")
    refused(model, lambda m: m.predict_pending(news, [1, 1, 2, 3]), "key")


@pytest.mark.parametrize("name", LABELLED)
def test_a_classifier_refuses_bad_labels(name):
    y, fragments = LABELLED[name]
    model = DFOPClassifier(0.01).partial_fit(X, LABELS)
    refused(model, lambda m: m.partial_fit(X, y), *fragments)
    model.predict_pending(X, range(6))
    if name != "too short":
        refused(model, lambda m: m.learn_pending(range(6), y), *fragments)


@pytest.mark.parametrize("name", ["NaN", "None inside", "missing value of pandas", "None"])
def test_a_classifier_refuses_bad_labels_at_the_start(name):
    y, fragments = LABELLED[name]
    refused(DFOPClassifier(0.01), lambda m: m.partial_fit(X, y), *fragments)


def test_labels_that_cannot_be_sorted_are_refused_as_such():
    mixed = np.array(["no", 1, "no", "no", "yes", "no"], object)
    refused(DFOPClassifier(), lambda m: m.partial_fit(X, mixed), "y", "row 1")


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_an_infinite_label_is_named_by_its_row(bad):
    y = np.array([0.0, 1.0, bad, 0.0, 1.0, 0.0])
    refused(DFOPClassifier(), lambda m: m.partial_fit(X, y), "y", "infinity", "row 2")


def test_numbers_on_a_line_are_no_classes():
    refused(DFOPClassifier(), lambda m: m.partial_fit(X, Y), "continuous")


@pytest.mark.parametrize("classes", ["ab", 3, [], [["no", "yes"], ["no", "yes"]], ["no"]])
def test_classes_must_be_a_list_of_labels_that_holds_those_of_y(classes):
    refused(DFOPClassifier(), lambda m: m.partial_fit(X, LABELS, classes=classes), "class")


@pytest.mark.parametrize("classes", [None, "ab", 3, []])
def test_rows_cannot_wait_for_labels_of_unknown_kind(classes):
    refused(DFOPClassifier(), lambda m: m.predict_pending(X, range(6), classes=classes), "classes")


def test_classes_cannot_change():
    model = DFOPClassifier().partial_fit(X, LABELS)
    refused(model, lambda m: m.partial_fit(X, LABELS, classes=["no", "yes", "maybe"]), "maybe")
    refused(model, lambda m: m.predict_pending(X, range(6), classes=["maybe"]), "maybe")


KEYS = {
    "too few": (range(5), ["5 keys", "6 rows"]),
    "twice": ([0, 1, 2, 3, 4, 4], ["key 4", "row 4", "row 5"]),
    "one string": ("abcdef", ["keys", "abcdef"]),
    "waiting already": (range(7, 13), ["7", "waiting"]),
    "a list": ([[0]] * 6, ["key", "int or a str"]),
    "a float": ([0.5, 1, 2, 3, 4, 5], ["0.5", "int or a str"]),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_bad_keys_are_refused(name):
    keys, fragments = KEYS[name]
    model = started_regressor()
    model.predict_pending(X[:1], [7])
    refused(model, lambda m: m.predict_pending(X, keys), *fragments)


def test_a_label_for_a_row_that_does_not_wait_is_refused():
    model = started_regressor()
    model.predict_pending(X[:2], ["a", "b"])
    refused(model, lambda m: m.learn_pending(["a", "c"], [1.0, 2.0]), "'c'", "predict_pending")
    refused(model, lambda m: m.forget_pending(["c"]), "'c'")
    model.learn_pending(["a"], [1.0])
    refused(model, lambda m: m.learn_pending(["a"], [1.0]), "'a'", "once")


@pytest.mark.parametrize("y", [LABELS[:, np.newaxis], LABELS[:1], LABELS[:5], np.ones((6, 2))])
def test_a_score_of_labels_in_another_shape_is_no_score(y):
    model = DFOPClassifier().partial_fit(X, LABELS)
    try:
        score = model.score(X, y)
    except ValueError:
        return
    assert y.size == LABELS.size  # a column of labels is still one label per row
    assert score == model.score(X, LABELS)


def odd_layouts(values):
    """The same numbers, laid out in memory in ways NumPy allows."""
    packed = np.zeros(values.shape, dtype=[("value", "f8"), ("other", "i4")])
    packed["value"] = values
    buffer = np.zeros(values.nbytes + 1, np.uint8)
    unaligned = buffer[1:].view(np.float64).reshape(values.shape)
    unaligned[...] = values
    frozen = values.copy()
    frozen.flags.writeable = False
    return {
        "packed": packed["value"],
        "unaligned": unaligned,
        "read-only": frozen,
        "reversed": values[::-1].copy()[::-1],
        "every second": np.repeat(values, 2, axis=0)[::2],
        "Fortran": np.asfortranarray(values),
        "big-endian": values.astype(">f8"),
        "list": values.tolist(),
    }


@pytest.mark.parametrize("layout", odd_layouts(Y))
def test_the_layout_of_an_array_in_memory_changes_nothing(layout):
    plain = started_regressor().partial_fit(X, Y)
    model = started_regressor().partial_fit(odd_layouts(X)[layout], odd_layouts(Y)[layout])
    assert everything(model) == everything(plain)
    targets = np.column_stack([Y, -Y])
    plain = DFOPRegressor(0.01).partial_fit(X, targets)
    model = DFOPRegressor(0.01).partial_fit(odd_layouts(X)[layout], odd_layouts(targets)[layout])
    assert everything(model) == everything(plain)


def test_arguments_are_never_written_to():
    arrays = {
        "X": X.copy(),
        "y": Y.copy(),
        "discount": np.full(6, 0.9),
        "sample_weight": np.ones(6),
    }
    for values in arrays.values():
        values.flags.writeable = False
    DFOPRegressor(0.001).partial_fit(**arrays)
    assert (arrays["X"] == X).all()


def test_a_forgetting_too_fast_for_so_many_features_is_warned_about_before_anything_changes():
    model = DFOPRegressor(0.5)
    before = everything(model)
    with pytest.warns(UserWarning, match="forget faster"):
        DFOPRegressor(0.5).partial_fit(np.ones((2, 50)), [1.0, 2.0])
    with pytest.raises(UserWarning, match="forget faster"):  # warnings are errors here
        model.partial_fit(np.ones((2, 50)), [1.0, 2.0])
    assert everything(model) == before


@pytest.mark.parametrize("size", [1.0, 1e3, 1e16, 1e17, 1e100, 1e300])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_probabilities_are_probabilities_for_margins_of_any_size(size, classes):
    code = LabelCode(classes)
    margins = np.random.default_rng(1).normal(size=(20, code.outputs)) * size
    p = raw_probabilities(margins, classes)
    assert p.min() > 0.0
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert (p.argmax(axis=1) == code.decode(margins)).all()
