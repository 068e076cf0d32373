"""Whatever gives rows becomes batches with names and times."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dfop.evaluation.sources import as_stream, in_memory, labelled_batches
from dfop.rows import Batch

from .fakes import Numbers, Rows

FRAME = {"size": [1.0, None, 3.0], "colour": ["red", None, "blue"]}
CELLS = [[1.0, "red"], [None, None], [3.0, "blue"]]


@pytest.mark.parametrize(
    "X",
    [pd.DataFrame(FRAME), pl.DataFrame(FRAME), CELLS, np.array(CELLS, dtype=object)],
    ids=["pandas", "polars", "lists", "objects"],
)
def test_every_container_of_text_and_gaps_is_read(X):
    stream = as_stream((X, [0.5, 1.0, 1.5]))
    assert stream.rows.rows() == CELLS
    names = ["size", "colour"] if hasattr(X, "columns") else ["0", "1"]
    assert stream.feature_names == names


def test_numbers_are_not_copied():
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert as_stream((X, X[:, 0])).rows.numbers is X


def test_a_stream_of_arrays_lends_its_names_and_times():
    rows = Numbers(np.ones((5, 2)), np.arange(5.0), time=np.arange(5))
    parts = list(labelled_batches(rows, 2))
    assert [len(y) for _, y in parts] == [2, 2, 1]
    assert all(batch.names == ("f0", "f1") for batch, _ in parts)
    assert [batch.time.tolist() for batch, _ in parts] == [[0, 1], [2, 3], [4]]


def test_a_stream_is_read_into_one_batch():
    stream = Rows(np.arange(6.0).reshape(3, 2), ["a", "bbb", "a"], time=[1, 2, 3])
    whole = in_memory(stream)
    assert isinstance(whole.rows, Batch)
    assert whole.X.tolist() == stream.X.tolist()
    assert whole.rows.time.tolist() == [1, 2, 3]
    assert whole.y.tolist() == ["a", "bbb", "a"]
    assert whole[1:].rows.time.tolist() == [2, 3]
    assert in_memory(whole) is whole


def test_a_matrix_of_text_is_refused_by_name():
    with pytest.raises(ValueError, match="column 'colour' holds text"):
        _ = as_stream((pd.DataFrame(FRAME), [0.5, 1.0, 1.5])).X


def test_an_empty_stream_has_no_rows():
    assert len(in_memory(Numbers(np.empty((0, 2)), np.empty(0)))) == 0


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_label_is_named_by_its_row(missing):
    with pytest.raises(ValueError, match="row 1 has the target"):
        as_stream(([[0.0], [1.0], [2.0]], [1, missing, 2]), task="classification")
    with pytest.raises(ValueError, match="row 1 has the target"):
        as_stream(([[0.0], [1.0]], np.array(["a", missing], dtype=object)), task="classification")


@pytest.mark.parametrize("source", ["log.csv", pd.DataFrame(FRAME)], ids=["path", "frame"])
def test_a_file_or_a_frame_is_told_how_it_becomes_a_stream(source):
    with pytest.raises(TypeError, match=r"becomes one by dfop\.streams\.read"):
        as_stream(source)
