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
