"""Every bad input gets an error that names the file, the row and the column."""

import gzip

import pandas as pd
import pytest

from dfop.streams import DataError, read

ARFF = "@attribute x real\n@attribute y {a,b}\n@data\n"
JSON = '{"x": 1, "y": "a"}\n'
GOOD = "x,z,y\n1,2,a\n3,4,b\n5,6,a\n"


def attempt(path, **options):
    stream = read(path, **{"target": "y", **options})
    stream.arrays()
    return stream.classes


# name, content, options, then what the message must contain
CASES = {
    "ragged, short": ("a.csv", "x,z,y\n1,2,a\n3,b\n5,6,a\n", {}, ["row 2", "2 cells"]),
    "ragged, long": ("a.csv", "x,z,y\n1,2,a\n3,4,b,9\n", {}, ["row 2", "4 cells"]),
    "ragged first row": ("a.csv", "x,z,y\n1,2\n", {}, ["row 1", "2 cells"]),
    "not a number": (
        "a.csv", "x,z,y\n1,2,a\n3,four,b\n" + "5,6,a\n" * 9, {}, ["row 2", "'z'", "'four'"],
    ),
    "not finite": ("a.csv", "x,z,y\n1,2,a\n3,inf,b\n", {}, ["row 2", "'z'", "not finite"]),
    "missing cell": (
        "a.csv", "x,z,y\n1,2,a\n,4,b\n", {"missing": "error"}, ["row 2", "'x'", "missing"],
    ),
    "nan": ("a.csv", "x,z,y\n1,2,a\n3,nan,b\n", {"missing": "error"}, ["row 2", "'z'", "missing"]),
    "missing label": ("a.csv", "x,z,y\n1,2,a\n3,4,\n", {}, ["row 2", "'y'", "label is missing"]),
    "no target": ("a.csv", GOOD, {"target": "price"}, ["'price'", "target", "x, z, y"]),
    "no such feature": ("a.csv", GOOD, {"features": ["x", "q"]}, ["'q'", "feature", "x, z, y"]),
    "no such time": ("a.csv", GOOD, {"time": "t"}, ["'t'", "time"]),
    "target as feature": ("a.csv", GOOD, {"features": ["x", "y"]}, ["'y'", "both"]),
    "nothing to learn from": ("a.csv", "y\na\nb\n", {}, ["no column is left"]),
    "name twice": ("a.csv", "x,x,y\n1,2,a\n", {}, ["'x'", "twice"]),
    "latin-1 label": ("a.csv", "x,y\n1,a\n2,né\n".encode("latin1"), {}, ["row 2", "'y'", "UTF-8"]),
    "latin-1 cell": ("a.csv", "x,y\n1,a\né,b\n".encode("latin1"), {}, ["row 2", "'x'", "UTF-8"]),
    "latin-1 header": ("a.csv", "é,y\n1,a\n".encode("latin1"), {}, ["UTF-8"]),
    "latin-1 arff": ("a.arff", ARFF.encode() + b"1,\xe9\n", {}, ["line 4", "UTF-8"]),
    "utf-16": ("a.csv", GOOD.encode("utf-16"), {}, ["UTF-16"]),
    "empty": ("a.csv", "", {}, ["empty"]),
    "header only": ("a.csv", "x,y\n", {}, ["no rows"]),
    "constant class": ("a.csv", "x,y\n1,a\n2,a\n", {}, ["'y'", "only the class 'a'"]),
    "strange label": ("a.csv", GOOD, {"classes": ("a", "c")}, ["row 2", "'y'", "'b'"]),
    "label turns text": (
        "a.csv", "x,y\n" + "1,1\n2,0\n" * 200_000 + "3,no\n", {}, ["row 400001", "'y'", "'no'"],
    ),
    "not a time": ("a.csv", "t,x,y\n1,1,a\nsoon,2,b\n", {"time": "t"}, ["row 2", "'t'", "soon"]),
    "cut gzip": ("a.csv.gz", gzip.compress(GOOD.encode() * 9)[:-12], {}, ["broken or cut off"]),
    "not gzip": ("a.csv.gz", GOOD, {}, ["broken or cut off"]),
    "cut parquet": ("a.parquet", b"PAR1 nothing more", {}, ["broken or cut off"]),
    "json, broken": ("a.jsonl", '{"x": 1, "y": "a"}\n{"x": 2,\n', {}, ["row 2", "not JSON"]),
    "json, no object": ("a.jsonl", '{"x": 1, "y": "a"}\n[2]\n', {}, ["row 2", "object"]),
    "json, new key": (
        "a.jsonl", JSON * 10_000 + '{"x": 2, "y": "b", "q": 1}', {}, ["row 10001", "'q'"],
    ),
    "json, lost key": (
        "a.jsonl", JSON + '{"y": "b"}', {"missing": "error"}, ["row 2", "'x'", "missing"],
    ),
    "json, nested": ("a.jsonl", '{"x": [1], "y": "a"}\n', {}, ["'x'", "neither numbers", "[1]"]),
    "json, nested once": (
        "a.jsonl", JSON * 20 + '{"x": [1], "y": "b"}\n', {}, ["row 21", "'x'", "not a number"],
    ),
    "arff, no data": ("a.arff", "@relation r\n@attribute x real\n", {}, ["no @data"]),
    "arff, ragged": ("a.arff", ARFF + "1,a\n2\n", {}, ["row 2", "1 cells"]),
    "arff, sparse": ("a.arff", ARFF + "{0 1}\n", {}, ["row 1", "sparse"]),
    "arff, bad header": ("a.arff", "@attribute x\n@data\n1\n", {}, ["@attribute x"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_broken_file_is_refused_by_name_row_and_column(tmp_path, case):
    name, content, options, words = CASES[case]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as error:
        attempt(path, **options)
    for word in [path.name if case == "constant class" else str(path), *words]:
        assert word in str(error.value)


def test_the_good_file_is_read(tmp_path):
    (tmp_path / "a.csv").write_text(GOOD)
    assert attempt(tmp_path / "a.csv") == ("a", "b")


def test_rows_are_counted_through_all_pieces(tmp_path):
    """A bad cell far into a file, well behind the first piece that the parser reads."""
    path = tmp_path / "long.csv"
    path.write_text("x,y\n" + "1,0.5\n" * 500_000 + "oops,0.5\n" + "1,0.5\n" * 10)
    with pytest.raises(DataError, match=r"row 500001 \(line 500002, byte 3000004\), column 'x'"):
        attempt(path)
    path.write_text("x,y\n" + "1,0.5\n" * 500_000 + "1\n" + "1,0.5\n" * 10)
    with pytest.raises(DataError, match=r"row 500001 \(line 500002, byte 3000004\): 1 cells"):
        attempt(path)


def test_a_broken_frame_is_refused():
    frame = pd.DataFrame({"x": [1.0, None, 3.0], "y": ["a", "b", "a"]})
    with pytest.raises(DataError, match=r"frame, row 2, column 'x': the cell is missing"):
        attempt(frame, missing="error")
    with pytest.raises(DataError, match=r"frame, row 2, column 'y': the label is missing"):
        attempt(pd.DataFrame({"x": [1.0, 2.0], "y": ["a", None]}))


def test_broken_rows_are_refused():
    with pytest.raises(DataError, match=r"rows, row 2: 1 cells"):
        attempt([[1.0, "a"], [2.0]], target=1)
    with pytest.raises(DataError, match="no rows"):
        attempt([])
    with pytest.raises(DataError, match="no column number 5"):
        attempt([[1.0, "a"]], target=5)
    with pytest.raises(TypeError, match="not str"):
        attempt(["1,a"], target=1)
    with pytest.raises(TypeError, match="cannot read a int"):
        attempt(3)


def test_wrong_arguments_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text(GOOD)
    with pytest.raises(ValueError, match="cannot tell the format"):
        attempt(tmp_path / "a.txt")
    with pytest.raises(ValueError, match="no format 'xls'"):
        attempt(tmp_path / "a.txt", format="xls")
    with pytest.raises(FileNotFoundError, match=r"gone\.csv"):
        attempt(tmp_path / "gone.csv")
    with pytest.raises(ValueError, match="missing must be"):
        attempt([[1.0, "a"]], target=1, missing="drop")
    with pytest.raises(ValueError, match="2 targets"):
        read([{"a": 1, "b": 2, "c": 3}], target=["a", "b"], task="classification")
