"""Keys that became floats, are missing or too large: the row, and a remedy that is right."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dfop.rows.keys import read_keys


@pytest.mark.parametrize(
    ("keys", "remedy"),
    [
        ([1.0, 2.0], r"make whole numbers of them, keys.astype\(int\)"),
        ([1.0, np.nan], "keys has NaN at row 1: a row without a key"),
        ([1.0, 1.5], "give whole numbers or texts"),
        ([1.0, np.inf], "give whole numbers or texts"),  # astype(int) would make a key of it
        ([1.0, 2.0**53], "give whole numbers or texts"),  # 2**53 + 1 is the same float
    ],
)
def test_floats_are_refused_with_a_remedy_that_is_right(keys, remedy):
    with pytest.raises(ValueError, match=remedy):
        read_keys(np.array(keys), 2)


NONE = "a row without a key belongs to no model, leave it out$"


@pytest.mark.parametrize(
    "keys",
    [
        pd.Series([7, pd.NA, 9], dtype="Int64"),
        pd.Series([7, None, 9]),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype="string"),
        pl.Series([7, None, 9]),
        pa.array([7, None, 9]),
        [7, None, 9],
        ["a", float("nan"), "b"],
        np.array([7.0, np.nan, 9.0]),
    ],
)
def test_a_row_without_a_key_is_named_and_may_be_left_out(keys):
    with pytest.raises(ValueError, match=rf"keys has .* at row 1: {NONE}"):
        read_keys(keys, 3)


def test_pandas_keys_without_those_that_are_missing_are_keys():
    assert read_keys(pd.Series([7, pd.NA, 9], dtype="Int64").dropna(), 2).values.tolist() == [7, 9]


@pytest.mark.parametrize("keys", [[3, 2**63], np.array([3, 2**63], np.uint64), [3, -(2**63) - 1]])
def test_a_number_beyond_64_bits_is_named_with_its_row(keys):
    with pytest.raises(ValueError, match=rf"keys has {int(keys[1])} at row 1, .* as texts"):
        read_keys(keys, 2)
    assert read_keys([str(key) for key in keys], 2).text
    with pytest.raises(ValueError, match="at row 1"):
        read_keys(keys, None)
