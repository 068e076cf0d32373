"""The same rows make the same Batch, whatever they come in."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dfop import DFOPRegressor, streams
from dfop.rows.batch import Batch
from dfop.rows.tables import as_batch
from model_state import refused

NAN = float("nan")
ROWS = [
    [1.0, "red", 1.0, 3.0],
    [None, "blue", 0.0, 4.0],
    [2.5, None, 1.0, 5.0],
    [-1.0, "red", None, 6.0],
]
NAMES = ("size", "color", "flag", "count")
COLUMNS = dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))
FLAG = [True, False, True, None]
COUNT = [3, 4, 5, 6]


def frame(**types):
    columns = {**COLUMNS, "flag": FLAG, "count": COUNT}
    return pd.DataFrame({name: pd.Series(columns[name], dtype=types[name]) for name in NAMES})


def arrow(**types):
    columns = {**COLUMNS, "flag": FLAG, "count": COUNT}
    return pa.table({name: pa.array(columns[name], types.get(name)) for name in NAMES})


def polars(**types):
    columns = {**COLUMNS, "flag": FLAG, "count": COUNT}
    return pl.DataFrame({name: pl.Series(columns[name], dtype=types.get(name)) for name in NAMES})


ENUM = pl.Enum(["blue", "red"])
WAYS = {
    "pandas": lambda: frame(size=float, color=object, flag=object, count=int),
    "pandas, objects": lambda: frame(size=object, color=object, flag=object, count=object),
    "pandas, nullable": lambda: frame(
        size="Float64", color="string", flag="boolean", count="Int64"
    ),
    "pandas, category": lambda: frame(
        size="Float32", color="category", flag="boolean", count="UInt8"
    ),
    "pandas, converted": lambda: frame(
        size=object, color=object, flag=object, count=object
    ).convert_dtypes(),
    "pandas, pyarrow": lambda: frame(
        size="double[pyarrow]",
        color="string[pyarrow]",
        flag="bool[pyarrow]",
        count="int64[pyarrow]",
    ),
    "pandas, dictionary of pyarrow": lambda: frame(
        size="float[pyarrow]",
        color=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())),
        flag="bool[pyarrow]",
        count="uint8[pyarrow]",
    ),
    "polars": polars,
    "polars, Categorical": lambda: polars(color=pl.Categorical, size=pl.Float32, count=pl.Int8),
    "polars, Enum": lambda: polars(color=ENUM, count=pl.UInt32),
    "Arrow": arrow,
    "Arrow, dictionary": lambda: arrow(color=pa.dictionary(pa.int8(), pa.string())),
    "Arrow, large": lambda: arrow(color=pa.large_string(), size=pa.float32(), count=pa.int16()),
    "record batch": lambda: arrow().to_batches()[0],
    "dicts": lambda: [dict(zip(NAMES, row, strict=True)) for row in ROWS],
    "dicts with missing keys": lambda: [
        {n: v for n, v in zip(NAMES, row, strict=True) if v is not None or t == 0}
        for t, row in enumerate(ROWS)
    ],
    "a Batch": lambda: as_batch(arrow()),
}
NAMELESS = {
    "lists": lambda: ROWS,
    "tuples": lambda: tuple(map(tuple, ROWS)),
    "array of objects": lambda: np.array(ROWS, dtype=object),
    "in Fortran's order": lambda: np.asfortranarray(np.array(ROWS, dtype=object)),
}


def same(batch, names):
    assert isinstance(batch, Batch)
    assert batch.names == names
    assert batch.rows() == ROWS
    assert batch.gaps
    assert list(batch.texts) == [1]
    assert batch.texts[1].values == ["red", "blue"]
    assert batch.texts[1].codes.tolist() == [0, 1, -1, 0]
    assert batch.numbers.dtype == np.float64
    assert batch.numbers.flags.c_contiguous
    np.testing.assert_array_equal(
        batch.numbers, [[1, 0, 1, 3], [NAN, 0, 0, 4], [2.5, 0, 1, 5], [-1, 0, NAN, 6]]
    )


@pytest.mark.parametrize("way", WAYS)
def test_the_same_batch_from_every_table(way):
    same(as_batch(WAYS[way]()), NAMES)


@pytest.mark.parametrize("way", NAMELESS)
def test_the_same_batch_from_rows_without_names(way):
    same(as_batch(NAMELESS[way]()), None)


WORDS = ["red", " NA ", "?", "", "null", "None", "n/a", "NaN", "<NA>", "blue "]
TEXTS = {
    "list": lambda v: [[cell] for cell in v],
    "array": lambda v: np.array([[cell] for cell in v]),
    "array of objects": lambda v: np.array([[cell] for cell in v], dtype=object),
    "pandas": lambda v: pd.DataFrame({"a": v}),
    "pandas, objects": lambda v: pd.DataFrame({"a": pd.Series(v, dtype=object)}),
    "string": lambda v: pd.DataFrame({"a": pd.Series(v, dtype="string")}),
    "pyarrow": lambda v: pd.DataFrame({"a": pd.Series(v, dtype="string[pyarrow]")}),
    "category": lambda v: pd.DataFrame({"a": pd.Series(v, dtype="category")}),
    "polars": lambda v: pl.DataFrame({"a": v}),
    "Categorical": lambda v: pl.DataFrame({"a": pl.Series(v, dtype=pl.Categorical)}),
    "Arrow": lambda v: pa.table({"a": v}),
    "dictionary of Arrow": lambda v: pa.table({"a": pa.array(v).dictionary_encode()}),
    "dicts": lambda v: [{"a": cell} for cell in v],
}


@pytest.mark.parametrize("container", TEXTS)
def test_words_for_a_gap_are_gaps_in_every_container(container):
    batch = as_batch(TEXTS[container](WORDS))
    assert batch.rows() == [["red"], *[[None]] * 8, ["blue"]]


@pytest.mark.parametrize("container", TEXTS)
def test_a_column_of_nothing_but_gap_words_is_of_no_kind(container):
    batch = as_batch(TEXTS[container](["NA", "?", ""]))
    assert batch.rows() == [[None], [None], [None]]
    assert not any(text.values for text in batch.texts.values())


@pytest.mark.parametrize(
    "container", sorted(set(TEXTS) - {"category", "Categorical", "dictionary of Arrow"})
)
def test_numbers_given_as_text_are_refused_in_every_container(container):
    with pytest.raises(ValueError, match=r"(?=.*'12')(?=.*row 1, column).*convert"):
        as_batch(TEXTS[container](["red", "12", "blue"]))


@pytest.mark.parametrize("container", ["category", "Categorical", "dictionary of Arrow"])
def test_numbers_are_names_in_a_column_declared_as_text(container):
    batch = as_batch(TEXTS[container](["red", "12", None]))
    assert batch.rows() == [["red"], ["12"], [None]]


def test_categories_may_be_numbers():
    batch = as_batch(pd.DataFrame({"a": pd.Categorical([3, 1, None, 3])}))
    assert batch.rows() == [["3"], ["1"], [None], ["3"]]


@pytest.mark.parametrize(
    "column",
    [
        pd.date_range("2024", periods=2),
        pd.date_range("2024", periods=2, tz="Europe/Berlin"),
        pd.to_timedelta([1, 2], "s"),
        pd.period_range("2024", periods=2),
        pd.Series([datetime.date(2024, 1, 1)] * 2),
        pd.Series([datetime.datetime(2024, 1, 1)] * 2, dtype="timestamp[ns][pyarrow]"),
        pl.Series([datetime.datetime(2024, 1, 1)] * 2),
        pl.Series([datetime.date(2024, 1, 1)] * 2),
        pl.Series([[1.0], [2.0]]),
        pa.array([datetime.date(2024, 1, 1)] * 2),
        pa.array([[1.0], [2.0]]),
        pa.array([b"a", b"b"]),
        pd.Series([b"a", b"b"]),
        pd.Series([1j, 2j]),
        pd.Series([(1,), (2,)]),
    ],
    ids=lambda column: str(getattr(column, "dtype", getattr(column, "type", ""))),
)
def test_what_is_no_number_and_no_text_is_refused_with_its_place(column):
    rest = [1.0, 2.0]
    if isinstance(column, pl.Series):
        table = pl.DataFrame({"a": rest, "when": column})
    elif isinstance(column, pa.Array):
        table = pa.table({"a": rest, "when": column})
    else:
        table = pd.DataFrame({"a": rest, "when": column})
    with pytest.raises((ValueError, TypeError), match="row 0, column 'when'"):
        as_batch(table)


def test_columns_may_have_numbers_for_names():
    batch = as_batch(pd.DataFrame([[1.0, "a"], [2.0, "b"]]))
    assert batch.names == (0, 1)
    assert as_batch([{1: 2.0, "b": None}]).names == ("1", "b")


@pytest.mark.parametrize(
    "kind", ["int8", "uint8", "int64", "float16", "float32", "bool", ">f8", "<i2"]
)
def test_every_type_of_number_of_numpy(kind):
    numbers = np.array([[0, 1], [1, 0], [1, 1]], dtype=kind)
    for given in (numbers, np.asfortranarray(numbers), numbers[::-1][::-1], memoryview(numbers)):
        if kind in (">f8", "<i2") and isinstance(given, memoryview):
            continue
        np.testing.assert_array_equal(as_batch(given).numbers, [[0, 1], [1, 0], [1, 1]])
    for library in (pd.DataFrame, pl.DataFrame):
        if library is pl.DataFrame and kind in ("float16", ">f8"):
            continue
        np.testing.assert_array_equal(as_batch(library(numbers)).numbers, [[0, 1], [1, 0], [1, 1]])


def test_a_batch_does_not_look_at_the_index():
    table = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}, index=[7, 7])
    assert as_batch(table).rows() == [[1.0, "x"], [2.0, "y"]]


@pytest.mark.parametrize(
    "empty", [pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), [], pa.table({"a": []})]
)
def test_no_rows_are_refused(empty):
    with pytest.raises(ValueError, match=r"0 samples|empty|2D|minimum of 1|no rows"):
        as_batch(empty)


@pytest.mark.parametrize("kind", ["f8", "i4", "U5", "O"])
def test_masked_cells_are_missing(kind):
    values = [["red", "blue"], ["red", "red"]] if kind in "U5" else [[1, 2], [3, 4]]
    masked = np.ma.masked_array(np.array(values, dtype=kind), mask=[[0, 1], [0, 0]])
    assert as_batch(masked).rows() == [[values[0][0], None], values[1]]


def test_a_column_alone_and_rows_that_are_not_there_yet_are_no_tables():
    for column in (pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0]), pd.Index([1.0])):
        with pytest.raises(ValueError, match=r"2D.*to_frame"):
            as_batch(column)
    with pytest.raises(TypeError, match="collect"):
        as_batch(pl.DataFrame({"a": [1.0]}).lazy())


def test_two_columns_of_one_name_are_refused():
    table = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "b", "a"])
    for model in (DFOPRegressor(), DFOPRegressor(0.01)):
        refused(model, lambda m: m.fit(table, [1.0]), "'a'", "name of its own")


@pytest.mark.parametrize(
    ("X", "remedy"),
    [
        ({"size": 1.0}, r"one dict, not rows: give a list, \[X\]"),
        ("rows.csv", "type str, not rows: dfop.streams.read"),
        (b"rows.csv", "type bytes, not rows: dfop.streams.read"),
        ((row for row in [[1.0]]), r"generator, .* give list\(X\)"),
        (map(list, [[1.0]]), r"map, .* give list\(X\)"),
        ({1.0, 2.0}, r"set, .* give list\(X\)"),
        (np.rec.fromarrays([[1.0]], names="size"), r"records: give pandas.DataFrame\(X\)"),
        (np.array([(1.0,)], dtype=[("size", float)]), r"records: give pandas.DataFrame\(X\)"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_holds_no_rows_is_refused_with_the_remedy(X, remedy):
    model = DFOPRegressor(0.01).fit([[1.0], [2.0]], [1.0, 2.0])
    for call in (model.predict, as_batch):
        with pytest.raises(TypeError, match=remedy):
            call(X)


def test_a_reader_of_arrow_is_no_mere_iterator():
    reader = arrow().to_reader()
    assert as_batch(reader).names == NAMES


@pytest.mark.parametrize("columns", [["b", "a"], ["a"], ["a", "c"]])
def test_columns_that_are_not_those_of_the_first_rows_are_refused_with_the_remedy(columns):
    model = DFOPRegressor(0.01).fit(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}), [1.0, 2.0])
    rows = pd.DataFrame(np.ones((2, len(columns))), columns=columns)
    words = ["should match", "in their order", "None", "feature_names_in_"]
    refused(model, lambda m: m.partial_fit(rows, [1.0, 2.0]), *words)
    model.partial_fit(rows.reindex(columns=model.feature_names_in_), [1.0, 2.0])


@pytest.mark.parametrize("cells", [["2024_01", "2024_02"], ["0_33", "1_000"], ["1_0", "red"]])
def test_texts_with_underscores_are_text_in_frames_and_in_files(cells, tmp_path):
    """Python alone would read them as numbers."""
    (tmp_path / "a.csv").write_text("m,y\n" + "".join(f"{cell},1\n" for cell in cells))
    read = streams.read(tmp_path / "a.csv", target="y").frame()["m"]
    for table in (pd.DataFrame, pl.DataFrame, pa.table):
        assert [row[0] for row in as_batch(table({"m": cells})).rows()] == cells == list(read)
    assert as_batch([[cell] for cell in cells]).rows() == [[cell] for cell in cells]
    assert as_batch([{"m": cell} for cell in cells]).rows() == [[cell] for cell in cells]
