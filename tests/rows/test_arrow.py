"""Arrow to Batch: every type that is a number or text, and what is neither."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfop.rows.arrow import CellError, batch_from_arrow
from dfop.rows.cells import is_gap_word, reads_as_number

DAY = datetime.date(2024, 5, 1)
NOON = datetime.datetime(2024, 5, 1, 12)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None, 3], pa.int8()),
        pa.array([1, None, 3], pa.uint64()),
        pa.array([1, None, 3], pa.float32()),
        pa.array([1.0, None, 3.0], pa.float64()),
        pa.array([1.0, float("nan"), 3.0]),
        pa.array([Decimal("1.0"), None, Decimal("3.0")]),
        pa.chunked_array([[1], [None, 3]], pa.int32()),
    ],
    ids=lambda column: str(column.type),
)
def test_every_type_of_number_is_a_number_and_null_is_a_gap(column):
    batch = batch_from_arrow(pa.table({"x": column}))
    np.testing.assert_array_equal(batch.numbers, [[1.0], [np.nan], [3.0]])
    assert batch.gaps
    assert batch.names == ("x",)


def test_bools_are_0_and_1_and_a_column_of_nulls_is_all_missing():
    batch = batch_from_arrow(pa.table({"b": [True, False], "n": pa.nulls(2)}))
    np.testing.assert_array_equal(batch.numbers, [[1, np.nan], [0, np.nan]])


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["red", None, " red ", "blue"]),
        pa.array(["red", "NA", "red", "blue"], pa.large_string()),
        pa.array(["red", " ", "red", "blue"], pa.string_view()),
        pa.array(["red", "?", "red", "blue"]).dictionary_encode(),
        pa.chunked_array([["red", None], [" red", "blue"]]),
        pa.chunked_array(
            [pa.array(part).dictionary_encode() for part in (["red", None], ["red", "blue"])]
        ),
    ],
    ids=lambda column: str(column.type),
)  # fmt: skip
def test_every_type_of_text_is_text_without_blanks_and_gap_words(column):
    batch = batch_from_arrow(pa.table({"c": column}))
    assert batch.texts[0].cells() == ["red", None, "red", "blue"]
    assert len(set(batch.texts[0].values)) == len(batch.texts[0].values)
    assert not batch.numbers.any()


def test_frames_of_pandas_and_polars_with_every_kind_of_type_give_the_same_batch():
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype="Int64"),
            "f": [0.5, np.nan, 2.5],
            "s": ["a", None, "b"],
            "c": pd.Categorical(["1", "2", None]),
        },
        index=[7, 8, 9],
    )
    rows = [[1.0, 0.5, "a", "1"], [None, None, None, "2"], [3.0, 2.5, "b", None]]
    assert batch_from_arrow(frame).rows() == rows
    assert batch_from_arrow(pl.from_pandas(frame)).rows() == rows
    arrow = frame.astype({"i": "int64[pyarrow]", "f": "float64[pyarrow]", "s": "string[pyarrow]"})
    assert batch_from_arrow(arrow).rows() == rows
    assert batch_from_arrow(pa.table(frame).to_batches()[0]).rows() == rows


def test_numbers_given_as_text_are_refused_unless_the_column_says_it_is_text():
    table = pa.table({"x": [1, 2, 3], "zip": ["A", "8001", None]})
    with pytest.raises(CellError, match=r"row 1, column 'zip': '8001' is a number given as text"):
        batch_from_arrow(table)
    assert batch_from_arrow(table, text=["zip"]).texts[1].cells() == ["A", "8001", None]
    categories = table.set_column(1, "zip", table["zip"].dictionary_encode())
    assert batch_from_arrow(categories).texts[1].cells() == ["A", "8001", None]


def test_decimals_are_the_nearest_numbers(rng):
    cells = [Decimal(int(n)).scaleb(-9) for n in rng.integers(-(10**17), 10**17, 200)]
    column = pa.array([*cells, None], pa.decimal128(20, 9))
    numbers = batch_from_arrow(pa.table({"d": column})).numbers[:, 0]
    assert numbers[:200].tolist() == [float(cell) for cell in cells]
    assert np.isnan(numbers[200])


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([None, DAY], ["row 1", "date", "time="]),
        ([NOON, NOON], ["row 0", "timestamp", "time="]),
        ([datetime.timedelta(1), None], ["row 0", "duration"]),
        ([[1], [2]], ["row 0", "list", "neither"]),
        ([{"a": 1}, None], ["row 0", "struct"]),
        ([b"a", None], ["row 0", "binary"]),
        ([1.0, float("inf")], ["row 1", "inf is not finite"]),
        ([1.0, -(2.0**501)], ["row 1", "too large"]),
    ],
)
def test_what_is_neither_a_number_nor_text_is_refused_with_row_and_remedy(column, words):
    with pytest.raises(CellError) as error:
        batch_from_arrow(pa.table({"a": [1, 2], "b": column}))
    assert "column 'b'" in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_times_come_as_nanoseconds_in_utc_or_as_numbers():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    expected = np.array(["2024-05-01T10"], "datetime64[ns]")
    for cell in [
        datetime.datetime(2024, 5, 1, 12, tzinfo=zone),
        datetime.datetime(2024, 5, 1, 10),
        "2024-05-01T12:00:00+02:00",
        " 2024-05-01 10:00:00",
    ]:
        batch = batch_from_arrow(pa.table({"x": [1], "t": [cell]}), time="t")
        np.testing.assert_array_equal(batch.time, expected)
        assert batch.time.dtype == "datetime64[ns]"
        assert batch.names == ("x",)
    assert batch_from_arrow(pa.table({"x": [1], "t": [7]}), time="t").time.tolist() == [7.0]
    for cells, problem in [
        ([NOON, None], "row 1, column 't': the time is missing"),
        (["2024-05-01", "soon"], "row 1, column 't': 'soon' is not a time"),
        ([datetime.datetime(1500, 1, 1)] * 2, "outside the years"),
        ([1.0, float("inf")], "row 1, column 't': inf is not a time"),
    ]:
        with pytest.raises(CellError, match=problem):
            batch_from_arrow(pa.table({"x": [1, 2], "t": cells}), time="t")


def test_columns_are_chosen_and_ordered_by_name():
    table = pa.table({"a": [1], "b": [2], "c": ["x"]})
    assert batch_from_arrow(table, names=["c", "a"]).rows() == [["x", 1.0]]
    assert batch_from_arrow(table.slice(0, 0)).shape == (0, 3)


@given(st.lists(st.one_of(st.none(), st.text(max_size=6)), min_size=1))
def test_text_is_what_the_rule_of_cells_says(cells):
    column = pa.array(cells, pa.string())
    expected = [None if c is None or is_gap_word(c) else c.strip() for c in cells]
    batch = batch_from_arrow(pa.table({"c": column}), text=["c"])
    assert batch.texts[0].cells() == expected
    if any(c is not None and reads_as_number(c) for c in expected):
        with pytest.raises(CellError, match="number given as text"):
            batch_from_arrow(pa.table({"c": column}))
    else:
        assert batch_from_arrow(pa.table({"c": column})).texts[0].cells() == expected
