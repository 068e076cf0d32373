"""What runs ask of sources: several files, rows left out, no target, classes of the first rows."""

from pathlib import Path

import numpy as np
import pytest

from dfop.streams import read
from dfop.streams.errors import BadRowsError, DataError, UnknownColumnError

HEAD = "a,b,y\n"


def lines(first, last, bad=()):
    return "".join(f"{'oops' if t in bad else t},{t % 3},{t / 2}\n" for t in range(first, last))


@pytest.fixture
def files(tmp_path):
    """Return 300 rows in three files, the rows 120 and 250 (from 0) bad."""
    paths = [tmp_path / f"{k}.csv" for k in range(3)]
    for k, path in enumerate(paths):
        path.write_text(HEAD + lines(100 * k, 100 * k + 100, bad=(120, 250)))
    return paths


def test_several_files_are_read_as_one_and_rows_are_numbered_on(files):
    stream = read(files, target="y", bad_rows="skip")
    batch, y = stream.all_rows()
    expected = [t for t in range(300) if t not in (120, 250)]
    assert batch.numbers[:, 0].tolist() == expected
    assert y.tolist() == [t / 2 for t in expected]
    assert [(Path(row.file).name, row.row) for row in stream.bad.examples] == [
        ("1.csv", 121),
        ("2.csv", 251),
    ]
    assert stream.bad.rows == 300
    assert len(stream.all_rows()[1]) == 298  # once more
    assert stream.bad.total == 2


def test_files_of_other_columns_are_refused(files):
    files[1].write_text("a,c,y\n1,2,3\n")
    with pytest.raises(DataError, match=r"1\.csv, column 'b': the column is missing"):
        read(files, target="y").all_rows()
    files[1].write_text("a,b,c,y\n1,2,3,4\n")
    with pytest.raises(DataError, match=r"1\.csv, column 'c': the column is not in .*0\.csv"):
        read(files, target="y").all_rows()
    assert len(read(files, target="y", features=["a"], bad_rows="skip").all_rows()[1]) == 200


@pytest.mark.parametrize("skip", [0, 1, 50, 100, 120, 121, 199, 299, 300, 1000])
def test_rows_good_and_bad_are_left_out_at_the_beginning(files, skip):
    stream = read(files, target="y", bad_rows="skip", skip=skip)
    batch, _ = stream.all_rows()
    left = [t for t in range(skip, 300) if t not in (120, 250)]
    assert batch.numbers[:, 0].tolist() == left
    assert stream.bad.total == sum(t >= skip for t in (120, 250))


def test_a_bad_row_that_is_left_out_stops_nothing(files):
    assert len(read(files, target="y", skip=251).all_rows()[1]) == 49
    found = []

    def collect():
        for batch, _ in read(files, target="y", skip=121).pieces(0, None):
            found.extend(batch.numbers[:, 0].tolist())

    with pytest.raises(BadRowsError, match="row 251"):
        collect()
    assert found == list(range(121, 250))


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_rows_without_a_target_can_be_read(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    text = "a,b\n1,red\n,blue\n" if suffix == "csv" else '{"a": 1, "b": "red"}\n{"b": "blue"}\n'
    path.write_text(text)
    batch, y = read(path, target=()).all_rows()
    assert batch.rows() == [[1.0, "red"], [None, "blue"]]
    assert y.shape == (2, 0)


def test_the_classes_of_the_first_rows_are_a_guard(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [f"{t},{'up' if t % 2 else 'down'}" for t in range(12_000)]
    rows[11_500] = "7,sideways"
    path.write_text("a,y\n" + "\n".join(rows))
    stream = read(path, target="y", classes="first", bad_rows="skip")
    assert stream.classes == ("down", "up")
    assert len(stream.all_rows()[1]) == 11_999
    assert stream.bad.examples[0].row == 11_501
    assert read(path, target="y", classes="first", task="classification").classes == ("down", "up")
    whole = [{"x": float(t), "y": t % 3} for t in range(30)]
    assert read(whole, target="y", classes="first").classes == (0, 1, 2)


def test_columns_can_be_left_out(files):
    assert read(files[0], target="y", ignore=["b"]).feature_names == ("a",)
    with pytest.raises(UnknownColumnError, match="the column to ignore is not a column") as error:
        read(files[0], target="y", ignore=["c"])
    assert error.value.columns == ("a", "b", "y")


def test_a_layout_that_was_decided_before_is_kept(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,0.5\n2,1.5\n")
    layout = read(path, target="y").layout
    path.write_text("a,y\n" + "x,0.5\n" * 20 + "1,2.5\n")
    assert read(path, target="y").layout.kinds == {"a": "text"}
    stream = read(path, target="y", layout=layout, bad_rows="skip")
    batch, _ = stream.all_rows()
    np.testing.assert_array_equal(batch.numbers, [[1.0]])
    assert stream.bad.total == 20
