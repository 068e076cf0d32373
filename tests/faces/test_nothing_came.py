"""Batches without a row: where labels are polled, "none this time" is the normal case."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from dfop import DFOPClassifier, DFOPRegressor, Keyed
from model_state import everything

X = np.random.default_rng(0).normal(size=(30, 2))
NUMBERS = X[:, 0]
LABELS = np.array(["a", "b", "c"])[np.arange(30) % 3]
MODELS = {
    "the default": (DFOPRegressor(), NUMBERS),
    "one filter": (DFOPRegressor(0.01), NUMBERS),
    "two targets": (DFOPRegressor(), X),
    "a margin": (DFOPClassifier(), NUMBERS > 0),
    "three classes": (DFOPClassifier(), LABELS),
    "one filter of classes": (DFOPClassifier(0.01), LABELS),
    "several labels": (DFOPClassifier(), np.column_stack([LABELS, NUMBERS > 0])),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("empty", [[], np.empty((0, 2)), sparse.csr_array((0, 2))], ids=type)
def test_no_rows_are_predicted_as_the_first_rows_cut_to_none(name, empty):
    model, y = MODELS[name]
    model.fit(X, y)
    before = everything(model)
    for call in ("predict", "predict_proba", "decision_function", "predict_interval"):
        if not hasattr(model, call) or (call == "predict_interval" and name == "one filter"):
            continue
        some, none = getattr(model, call)(X), getattr(model, call)(empty)
        pairs = zip(some, none, strict=True) if isinstance(some, list) else [(some, none)]
        for of_all, of_none in pairs:
            assert of_none.shape == of_all[:0].shape
            assert of_none.dtype == of_all.dtype
    assert everything(model) == before


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_without_rows_has_the_columns_of_the_model(library):
    model = DFOPRegressor().fit(pd.DataFrame(X, columns=["a", "b"]), NUMBERS)
    assert model.predict(library({"a": [], "b": []})).shape == (0,)
    with pytest.raises(ValueError, match="the batch is empty"):
        model.predict(library({"a": []}))


def test_other_columns_and_a_model_without_rows_are_refused():
    model = DFOPRegressor().fit(pd.DataFrame(X, columns=["a", "b"]), NUMBERS)
    for wrong in (np.empty((0, 3)), pd.DataFrame({"b": [], "a": []})):
        with pytest.raises(ValueError, match=r"the batch is empty.*leave the call out"):
            model.predict(wrong)
    with pytest.raises(ValueError, match="not fitted"):
        DFOPRegressor().predict([])


@pytest.mark.parametrize("model", [DFOPRegressor(), Keyed(DFOPRegressor(0.01))], ids=type)
def test_no_labels_have_come(model):
    for none in ([], (), np.array([], int), iter([])):
        assert model.learn_pending(none, []).pending_ == []
    assert model.forget_pending([]).pending_ == []
    with pytest.raises(ValueError, match="y has 1 labels"):
        model.learn_pending([], [1.0])
    if isinstance(model, Keyed):
        model.ahead_pending([7], [[1.0]], ["monday"])
    else:
        model.predict_pending([[1.0]], ["monday"])
    before = model.pending_
    assert model.learn_pending([], np.array([])).pending_ == before == ["monday"]
    assert model.forget_pending([]).pending_ == before
    with pytest.raises(ValueError, match="waits for its label"):
        model.learn_pending(["tuesday"], [1.0])


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("text", [False, True])
def test_no_rows_of_no_keys_are_predicted(shared, text):
    key = np.arange(30) % 3
    keys = key.astype(str) if text else key
    for model, y in ((DFOPRegressor(0.01), NUMBERS), (DFOPClassifier("few"), LABELS)):
        keyed = Keyed(model, shared=shared).partial_fit(keys, X, y)
        before = keyed.to_bytes()
        for call in ("predict", "predict_proba") if y is LABELS else ("predict",):
            some = getattr(keyed, call)(keys, X)
            for no_keys, no_rows in (([], []), (np.array([]), X[:0]), (keys[:0], X[:0])):
                none = getattr(keyed, call)(no_keys, no_rows)
                assert none.shape == some[:0].shape
                assert none.dtype == some.dtype
        assert keyed.ahead([], X[:0]).prediction.shape == (0,)
        with pytest.raises(ValueError, match="the batch is empty"):
            keyed.partial_fit([], X[:0], y[:0])
        with pytest.raises(ValueError, match="the batch is empty"):
            keyed.predict([], np.empty((0, 3)))
        with pytest.raises(ValueError, match="keys has shape"):
            keyed.predict(keys[:1], X[:0])
        assert keyed.to_bytes() == before


def test_labels_of_no_row_before_the_first_row_and_those_of_a_row():
    assert DFOPRegressor().learn_pending([], []).pending_ == []
    with pytest.raises(ValueError, match="predict_pending announces rows"):
        DFOPRegressor().learn_pending(["monday"], [1.0])
