"""A table with text, gaps and quotes, written in every way, is read back as the same rows."""

import csv
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop.rows.cells import is_gap_word
from dfop.streams import DataError, Stream, abrupt, gradual, incremental, read, recurring

words = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs", "Cc"])
    | st.sampled_from(['"', ",", "\n", " ", "'", "\t"]),
    min_size=1,
    max_size=8,
).map(lambda text: "w" + text + "w")  # no numbers, no gap words, no blanks at the ends
numbers = st.floats(-1e100, 1e100).filter(lambda value: value == 0 or abs(value) > 1e-100)
tables = st.lists(
    st.tuples(st.none() | numbers, st.none() | words, numbers.map(lambda y: y + 0.5)),
    min_size=1,
    max_size=30,
)


def read_back(source, **options):
    stream = read(
        source, target="y", kinds={"x": "number", "c": "text"}, task="regression", **options
    )
    ((batch, y),) = list(stream.batches(1000))
    return [(*row, float(label)) for row, label in zip(batch.rows(), y, strict=True)]


def as_csv(rows, separator=",", **options):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, **options)
    writer.writerows([["x", "c", "y"], *rows])
    return io.BytesIO(out.getvalue().encode())


@settings(max_examples=60)
@given(tables)
def test_every_way_to_write_a_table_gives_the_same_rows(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("parquet")
    dicts = [dict(zip("xcy", row, strict=True)) for row in rows]
    table = pa.table(
        {
            "x": pa.array([r[0] for r in rows], pa.float64()),
            "c": pa.array([r[1] for r in rows], pa.string()),
            "y": pa.array([r[2] for r in rows], pa.float64()),
        }
    )
    frame = table.to_pandas()
    pq.write_table(table, folder / "a.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in dicts).encode()
    for how, source, options in [
        ("csv", as_csv(rows), {"format": "csv"}),
        ("csv, LF, all quoted",
         as_csv(rows, lineterminator="\n", quoting=csv.QUOTE_ALL), {"format": "csv"}),
        ("tsv", as_csv(rows, "\t"), {"format": "tsv"}),
        ("json", io.BytesIO(lines), {"format": "jsonl"}),
        ("parquet", folder / "a.parquet", {}),
        ("folder", folder, {}),
        ("arrow", table, {}),
        ("record batch", table.to_batches()[0], {}),
        ("reader", table.to_reader(), {}),
        ("pandas", frame, {}),
        ("categories", frame.astype({"c": "category"}), {}),
        ("polars", pl.from_arrow(table), {}),
        ("dicts", dicts, {}),
        ("iterator", iter(dicts), {}),
    ]:  # fmt: skip
        assert read_back(source, **options) == rows, how


@settings(max_examples=60)
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6), min_size=1)
)
def test_any_text_in_a_column_of_text_is_text_without_blanks_or_a_gap(cells):
    rows = [(1.0, cell, 0.5) for cell in cells]
    expected = [None if is_gap_word(cell) else cell.strip() for cell in cells]
    for source, options in [
        (as_csv(rows, quoting=csv.QUOTE_ALL), {"format": "csv"}),
        (pd.DataFrame(rows, columns=list("xcy")), {}),
        ([dict(zip("xcy", row, strict=True)) for row in rows], {}),
    ]:
        assert [c for _, c, _ in read_back(source, **options)] == expected


# -- what a column holds ----------------------------------------------------------------------


def csv_of(tmp_path, cells, label="0.5"):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{cell},{label}\n" for cell in cells))
    return path


def test_one_odd_cell_far_down_is_one_bad_row_and_no_other_kind(tmp_path):
    cells = [*range(20_000), "many", *range(10)]
    stream = read(csv_of(tmp_path, cells), target="y", bad_rows="skip")
    assert len(stream.arrays()[0]) == 20_010
    assert stream.bad.examples[0].row == 20_001
    turned = tmp_path / "b.csv"
    turned.write_text("y,x\n" + "".join(f"{cell}.5,1\n" for cell in cells))
    stream = read(turned, target="y", bad_rows="skip")
    assert stream.task == "regression"
    assert len(stream) == 20_010


@pytest.mark.parametrize(("odd", "kind"), [(10, "number"), (11, "text")])
def test_nine_tenths_of_the_cells_decide(tmp_path, odd, kind):
    cells = ["many"] * odd + ["1"] * (100 - odd)
    stream = read(csv_of(tmp_path, cells), target="y", bad_rows="skip")
    batch, _ = next(stream.batches())
    assert (0 in batch.texts) == (kind == "text")
    assert stream.bad.total == (odd if kind == "number" else 0)


def test_dates_and_numbers_given_as_text_are_refused_with_what_to_do(tmp_path):
    with pytest.raises(DataError, match=r"column 'x': the cells are dates.*time='x'.*features="):
        read(csv_of(tmp_path, ["2024-05-01"] * 9), target="y")
    rows = [{"x": "8001", "y": 0.5}, {"x": "8002", "y": 1.5}]
    for source in (rows, pd.DataFrame(rows)):
        with pytest.raises(DataError, match=r"column 'x': the cells are numbers given as text"):
            read(source, target="y")
        assert read(source, target="y", kinds={"x": "number"}).arrays()[0].sum() == 16_003
        batch, _ = next(read(source, target="y", kinds={"x": "text"}).batches())
        assert batch.rows() == [["8001"], ["8002"]]


def test_kinds_say_what_must_not_be_guessed(tmp_path):
    path = csv_of(tmp_path, ["08001", "08002"])
    batch, _ = next(read(path, target="y", kinds={"x": "text"}).batches())
    assert batch.rows() == [["08001"], ["08002"]]
    batch, _ = next(read([{"x": 8001, "y": 0.5}], target="y", kinds={"x": "text"}).batches())
    assert batch.rows() == [["8001"]]
    with pytest.raises(DataError, match="kinds names a column that is not there"):
        read(path, target="y", kinds={"z": "text"})


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (["0", "1"] * 50, "classification"),
        (["up", "down"] * 50, "classification"),
        (["0.5", "1"] * 50, "regression"),
        (range(2000), "regression"),
        (range(60), None),  # classes or counts
        (["0", "1"] * 50 + ["0.5"], None),  # a stray fraction
        ([f"name {i}" for i in range(2000)], None),
        (["0.5", "1.5", "x"] * 600, "classification"),
    ],
)
def test_the_task_is_told_by_most_cells_of_the_target_or_asked_for(tmp_path, cells, task):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"1,{cell}\n" for cell in cells))
    if task is None:
        with pytest.raises(DataError, match="Pass task='classification' or task='regression'"):
            read(path, target="y")
    else:
        assert read(path, target="y").task == task


# -- text in streams --------------------------------------------------------------------------


def coloured(colours, value, n=60):
    frame = pd.DataFrame({"c": [colours[i % len(colours)] for i in range(n)], "x": value})
    frame.loc[::7, "x"] = np.nan
    return Stream.from_arrays(frame, np.arange(n) + 0.5, name=colours[0])


def rows_of(stream):
    return [(*row, y) for X, ys in stream.batches(13) for row, y in zip(X.rows(), ys, strict=True)]


def test_streams_of_frames_carry_names_text_and_gaps():
    stream = coloured(["red", "blue", None], 1.0)
    assert stream.feature_names == ("c", "x")
    assert rows_of(stream)[:3] == [("red", None, 0.5), ("blue", 1.0, 1.5), (None, 1.0, 2.5)]
    assert rows_of(stream[1:3]) == rows_of(stream)[1:3]
    with pytest.raises(DataError, match=r"red, column 'c': the column holds text.*frame\(\)"):
        stream.arrays()
    frame = stream.frame()
    assert frame.columns.tolist() == ["c", "x", "y"]
    assert rows_of(read(frame, target="y", task="regression")) == rows_of(stream)
    with pytest.raises(DataError, match="row 3, column 'c': the cell is missing"):
        Stream.from_arrays(frame[["c", "x"]], frame["y"], missing="error")
    with pytest.raises(DataError, match=r"row 2, column 'z': '8' is a number given as text"):
        Stream.from_arrays(pd.DataFrame({"z": ["a", "8"]}), [0.5, 1.5])


def test_drift_of_streams_with_text_is_made_of_their_rows():
    a, b = coloured(["red", "blue"], 1.0), coloured(["green", "red", None], 2.0)
    first, second = rows_of(a), rows_of(b)
    assert rows_of(abrupt(a, b, 20)) == first[:20] + second
    assert rows_of(recurring(a, b, 20)) == (
        first[:20] + second[:20] + first[20:40] + second[20:40] + first[40:] + second[40:]
    )
    mixed = rows_of(gradual(a, b, 10, 30, seed=1))
    assert mixed[:10] == first[:10]
    assert [row for row in mixed if row[1] == 2.0] == [row for row in second if row[1] == 2.0]
    with pytest.raises(DataError, match="holds text"):
        rows_of(incremental(a, b, 10, 20))


def test_a_parquet_folder_is_its_files_in_the_order_of_their_names(tmp_path):
    for i in (2, 0, 1):
        frame = pd.DataFrame({"x": [10.0 * i, 10.0 * i + 1], "y": [0.5, 1.5]})
        frame.to_parquet(tmp_path / f"part-{i}.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    assert read(tmp_path, target="y").arrays()[0][:, 0].tolist() == [0, 1, 10, 11, 20, 21]
    pd.DataFrame({"x": ["a"], "y": [0.5]}).to_parquet(tmp_path / "part-3.parquet")
    with pytest.raises(DataError, match=r"part-3.parquet, column 'x': the column is .*string"):
        read(tmp_path, target="y").arrays()
    with pytest.raises(ValueError, match="a folder is read if it holds Parquet"):
        read(tmp_path / "..", target="y", format="csv")


def test_paths_may_be_text_bytes_or_path_objects(tmp_path):
    path = csv_of(tmp_path, [1, 2])
    for source in (path, str(path), str(path).encode()):
        stream = read(source, target="y", task="regression")
        assert len(stream) == 2
        assert stream.name == "a.csv"
