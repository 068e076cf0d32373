"""Files that are not what their name says, or cut off, are told as such."""

import bz2
import gzip
import lzma
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfop.streams import DataError, read


@pytest.mark.parametrize("array", ['[{"x": 1, "y": 0}]', '[\n{"x": 1, "y": 0},\n{"x": 2}\n]\n'])
def test_an_array_is_no_file_of_json_lines(tmp_path, array):
    path = tmp_path / "a.jsonl"
    path.write_text(array)
    with pytest.raises(DataError, match="one object per line"):
        read(path, target="y")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz"])
@pytest.mark.parametrize("kept", [0.02, 0.5])
def test_a_file_that_is_cut_inside_its_first_row_is_cut_off(tmp_path, name, kept):
    cells = ",".join(map(str, np.random.default_rng(0).random(5000)))
    text = f"x,y\n{cells}" if "csv" in name else f'{{"x": [{cells}]}}\n'
    data = gzip.compress(text.encode())
    path = tmp_path / name
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(DataError, match="cut off"):
        read(path, target="y")


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_another_separator_is_named_and_taken(tmp_path, separator):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,a\n2,b\n".replace(",", separator))
    with pytest.raises(DataError, match=re.escape(f"pass separator={separator!r}")):
        read(path, target="y")
    assert read(path, target="y", separator=separator).arrays()[1].tolist() == ["a", "b"]
    with path.open("rb") as file:
        stream = read(file, target="y", separator=separator, format="csv")
        assert stream.arrays()[0].tolist() == [[1.0], [2.0]]


def test_a_separator_is_one_character_and_for_csv(tmp_path):
    with pytest.raises(ValueError, match="one ASCII character"):
        read(tmp_path / "a.csv", target="y", separator=";;")
    with pytest.raises(ValueError, match="is for CSV"):
        read([{"x": 1, "y": 2.5}], target="y", separator=";")


def test_an_empty_first_part_is_no_text_unless_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,note,y\n" + "1,,a\n2,,b\n" * 6000 + "3,late,a\n")
    with pytest.raises(DataError, match=re.escape("kinds={'note': 'text'}")):
        list(read(path, target="y").batches())
    *_, (X, _) = read(path, target="y", kinds={"note": "text"}).batches()
    assert X.rows()[-1] == [3.0, "late"]


TEXT = "size,price\n" + "1,2.5\n" * 50
PACKED = [
    (gzip.compress(TEXT.encode()), r"compressed with gzip.*\.gz"),
    (bz2.compress(TEXT.encode()), r"compressed with bzip2.*\.bz2"),
    (lzma.compress(TEXT.encode()), "compressed with xz"),
    (pa.compress(TEXT.encode(), "zstd", asbytes=True), r"compressed with zstd.*\.zst"),
    (b"PK\x03\x04\x14\0\x06\0", "a ZIP archive or a spreadsheet.*CSV"),
    (TEXT.encode("utf-16"), "iconv -f utf-16 "),
    (TEXT.encode("utf-16-le"), "iconv -f utf-16le "),
    (TEXT.encode("utf-16-be"), "iconv -f utf-16be "),
]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize(("data", "words"), PACKED, ids=lambda x: x if isinstance(x, str) else "")
def test_what_is_no_text_is_called_what_it_is(tmp_path, kind, data, words):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data)
    with pytest.raises(DataError, match=words):
        read(path, target="price")


def test_parquet_under_another_name_is_called_so(tmp_path):
    path = tmp_path / "a.csv"
    pq.write_table(pa.table({"x": [1.0, 2.0], "price": [1.5, 2.5]}), path)
    with pytest.raises(DataError, match=r"the file is Parquet.*format='parquet'"):
        read(path, target="price")


def test_a_column_may_be_called_like_the_first_bytes_of_another_format(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("PAR1,BZh9,price\n" + "1,2,2.5\n" * 50)
    assert read(path, target="price").feature_names == ("PAR1", "BZh9")


def test_a_first_line_that_seems_to_be_a_row_is_told_where_the_target_is_a_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2.5\n2,3.5\n3,4.5\n")
    with pytest.warns(UserWarning, match="a.csv: the first line .* seems to be a row"):
        assert read(path, target=-1).feature_names == ("1",)


def test_one_name_may_be_given_without_a_list():
    rows = [{"size": 1.0, "shape": 2.0, "y": 0.5}, {"size": 2.0, "shape": 1.0, "y": 1.5}]
    assert read(rows, target="y", ignore="shape").feature_names == ("size",)
    assert read(rows, target="y", features="shape").feature_names == ("shape",)
