"""Texts to sparse rows: scikit-learn's rows, and sentences for what are no texts."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer

from dfop.rows import hashed

TEXTS = ["cheap watches", "see you at lunch", "", "cheap pills"]


def test_rows_are_those_of_scikit_learn_whatever_holds_the_texts():
    theirs = HashingVectorizer(n_features=2**10).transform(TEXTS)
    frames = [pd.Series(TEXTS), pl.Series(TEXTS), np.array(TEXTS, object)]
    for texts in (TEXTS, iter(TEXTS), (text for text in TEXTS), *frames):
        ours = hashed(bits=10).transform(texts)
        assert ours.shape == theirs.shape
        assert (ours != theirs).nnz == 0
    assert (clone(hashed(bits=10)).fit_transform(TEXTS) != theirs).nnz == 0


@pytest.mark.parametrize("none", [[], (), iter([]), pd.Series([], dtype=str), np.array([])])
def test_no_texts_are_no_rows(none):
    rows = hashed(bits=10).transform(none)
    assert rows.shape == (0, 1024)
    assert rows.dtype == np.float64


@pytest.mark.parametrize(
    "table", [pd.DataFrame({"t": TEXTS}), pl.DataFrame({"t": TEXTS}), {"t": TEXTS}]
)
def test_a_table_is_refused_with_its_column(table):
    with pytest.raises(ValueError, match=r"columns, not texts.*X\['t'\]"):
        hashed(bits=10).transform(table)
    with pytest.raises(ValueError, match="columns, not texts"):
        hashed(bits=10).transform(pa.table({"t": TEXTS}))


@pytest.mark.parametrize(
    "texts",
    [
        pd.Series(["a b", None]),
        pd.Series(["a b", None], dtype="string"),
        pd.Series(["a b", None], dtype=object),
        pl.Series(["a b", None]),
        ["a b", None],
        ["a b", float("nan")],
        iter(["a b", pd.NA]),
    ],
)
def test_a_missing_text_is_named_with_its_row_and_the_remedy(texts):
    with pytest.raises(TypeError, match='at row 1, which is no text: give an empty text, ""'):
        hashed(bits=10).transform(texts)


def test_the_remedy_for_missing_texts_works():
    assert hashed(bits=10).transform(pd.Series(["a b", None]).fillna("")).shape == (2, 1024)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ({"price": 3.0}, r"X has \{'price': 3.0\} at row 1, .* its values would be ignored"),
        (3, "X has 3 at row 1, which is no text: give a str, or a list of tokens"),
        (np.int64(3), "X has 3 at row 1, which is no text"),
        (["x", None], "X has the token None at row 1: tokens must be texts"),
        ([["x"]], r"X has the token \['x'\] at row 1"),
    ],
)
def test_what_is_neither_text_nor_tokens_is_named_with_its_row(text, message):
    with pytest.raises(TypeError, match=message):
        hashed(bits=10).transform(["a b", text])


def test_tokens_come_in_any_order_of_texts():
    given = [["x", "y"], ("x", "y"), np.array(["x", "y"]), (word for word in ("x", "y"))]
    X = hashed(bits=10).transform(given).toarray()
    np.testing.assert_array_equal(X, X[[0, 0, 0, 0]])
    assert np.count_nonzero(X[0]) == 2
