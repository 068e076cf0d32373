"""Bytes are what a file holds: small, and the same for the same model."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from made import stream

from dfop import (
    DFOPClassifier,
    DFOPRegressor,
    Information,
    Keyed,
    ModelFileError,
    from_bytes,
    load,
    river,
    save,
    to_bytes,
)
from dfop.rows.cells import LABEL_GAP_WORDS
from model_state import everything


def test_bytes_are_the_content_of_the_file(tmp_path):
    X, y = stream()
    model = DFOPRegressor(0.05).fit(X, y)
    save(model, tmp_path / "model.dfop")
    assert (tmp_path / "model.dfop").read_bytes() == to_bytes(model)
    (tmp_path / "copy").write_bytes(to_bytes(model))
    assert everything(load(tmp_path / "copy")) == everything(from_bytes(to_bytes(model)))


def test_writing_what_was_read_gives_the_same_bytes():
    X, y = stream()
    data = to_bytes(DFOPRegressor(lags=1, features="linear").fit(X, y))
    assert to_bytes(from_bytes(data)) == data


def test_any_bytes_will_do():
    X, y = stream()
    data = to_bytes(DFOPRegressor(0.05).fit(X, y))
    for other in (bytearray(data), memoryview(data)):
        assert to_bytes(from_bytes(other)) == data


@pytest.mark.parametrize("data", [10**12, "text", None, [1, 2]], ids=repr)
@pytest.mark.parametrize("read", [from_bytes, Keyed.from_bytes, Information.from_bytes])
def test_what_is_no_bytes_is_refused_with_the_remedy(read, data):
    """Of a number, bytes() would make that many zeros."""
    with pytest.raises(TypeError, match=f"from bytes, not from {type(data).__name__}: .*dfop.load"):
        read(data)


def test_a_filter_of_ten_features_takes_less_than_three_thousand_bytes():
    X, y = stream(300, 10)
    assert len(to_bytes(DFOPRegressor(0.01).fit(X, y))) < 3000
    named = river.DFOPRegressor(0.01)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        named.learn_one({f"feature {j}": value for j, value in enumerate(row)}, label)
    assert len(to_bytes(named)) < 3000


def test_a_row_that_waits_takes_little_more_than_its_numbers():
    X, y = stream(1000, 10)
    model = DFOPRegressor(0.01).fit(X[:10], y[:10])
    before = len(to_bytes(model))
    model.predict_pending(X, keys=range(1000))
    numbers = 10 * (8 + 4) + 8 + 2 * 8 + 2 * 4  # cells and columns, prediction, times, counts
    assert (len(to_bytes(model)) - before) / 1000 < numbers + 8


def test_what_is_no_model_says_so():
    with pytest.raises(ModelFileError, match="cannot load the model from bytes: it is damaged"):
        from_bytes(b"hello")


# -- any model --------------------------------------------------------------------------------

numbers = st.floats(-1e6, 1e6, allow_nan=False)
words = st.text(min_size=1, max_size=5).filter(lambda text: not text[0].isdigit())
cells = st.one_of(st.none(), numbers)
rows = st.dictionaries(words, cells, max_size=4)
named = words.filter(lambda text: text.strip().lower() not in LABEL_GAP_WORDS)
whole = st.one_of(st.integers(-3, 3), st.booleans())
events = st.one_of(*(st.lists(st.tuples(rows, label), max_size=12) for label in (named, whole)))
settings_of = st.fixed_dictionaries(
    {
        "forgetting": st.sampled_from([0.0, 0.1, "auto"]),
        "features": st.just("linear"),
        "lags": st.integers(0, 2),
        "fit_intercept": st.booleans(),
        "prior_variance": st.sampled_from([None, 3.0]),
        "cap": st.sampled_from([None, 1e6]),
    }
)


@settings(max_examples=60)
@given(settings_of, events, st.integers(0, 12))
def test_any_river_classifier_goes_on_as_if_never_stopped(parameters, events, cut):
    model = river.DFOPClassifier(**parameters)
    for row, label in events[:cut]:
        model.learn_one(row, label)
    other = from_bytes(to_bytes(model))
    assert everything(other) == everything(model)
    for row, label in events[cut:]:
        assert other.predict_proba_one(row) == model.predict_proba_one(row)
        for one in (model, other):
            one.learn_one(row, label)
    assert everything(other) == everything(model)


@settings(max_examples=40)
@given(
    settings_of,
    st.lists(st.tuples(numbers, cells, st.sampled_from("abc")), min_size=2, max_size=20),
    st.integers(1, 19),
    st.integers(1, 3),
)
def test_any_classifier_of_arrays_goes_on_as_if_never_stopped(parameters, table, cut, waiting):
    X = [[number, cell] for number, cell, _ in table]
    y = np.array([label for *_, label in table])
    cut = min(cut, len(X) - 1)
    model = DFOPClassifier(**parameters)
    model.partial_fit(X[:cut], y[:cut], classes=["a", "b", "c"])
    late = X[cut : cut + waiting]
    model.predict_pending(late, keys=range(len(late)))
    other = from_bytes(to_bytes(model))
    assert everything(other) == everything(model)
    for one in (model, other):
        one.learn_pending([0], y[[cut]])
        one.partial_fit(X, y)
    assert everything(other) == everything(model)


def test_cells_of_trees_take_half_the_bytes_and_lose_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    model = DFOPClassifier().fit(X, (X[:, 0] > 0) ^ (X[:, 1] > 0))
    state = model._model.engine.state()
    cells = sum(values.nbytes for name, values in state.items() if name.endswith("/cells"))
    all_of_it = sum(values.nbytes for values in state.values())
    assert cells > 0.5 * all_of_it
    data = to_bytes(model)
    assert len(data) < 1.1 * (all_of_it - cells / 2)
    again = from_bytes(data)._model.engine.state()
    assert all(np.array_equal(values, again[name]) for name, values in state.items())
