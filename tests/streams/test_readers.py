"""One table, written in every format, read back the same."""

import gzip
import io
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfop.streams import DataError, read

FRAME = pd.DataFrame(
    {
        "when": ["2024-05-01T12:00:00", "2024-05-01T12:00:30", "2024-05-02T00:00:00"],
        "size": [1, 2, 3],
        "height": [0.5, -1.25, 3e-5],
        "label": ["up", "down", "up"],
    }
)
ROWS = FRAME.to_dict("records")
ARFF = (
    "% a comment\n@RELATION r\n@attribute when string\n@ATTRIBUTE size NUMERIC\n"
    "@attribute 'height' real\n@attribute label {up, down}\n@data\n"
    + "".join(f"'{r['when']}', {r['size']},{r['height']},{r['label']}\n% between\n" for r in ROWS)
)


def sources(folder):
    text = FRAME.to_csv(index=False)
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    FRAME.to_parquet(folder / "a.parquet")
    for name, content in [
        ("a.csv", text),
        ("bom.csv", "\ufeff" + text),
        ("crlf.csv", text.replace("\n", "\r\n")),
        ("a.tsv", FRAME.to_csv(index=False, sep="\t")),
        ("a.jsonl", lines),
        ("a.arff", ARFF),
    ]:
        (folder / name).write_text(content, encoding="utf-8", newline="")
        yield name, folder / name, {}
        (folder / (name + ".gz")).write_bytes(gzip.compress(content.encode()))
        yield name + ".gz", str(folder / (name + ".gz")), {}
    yield "a.parquet", folder / "a.parquet", {}
    yield "odd name", (folder / "a.csv").rename(folder / "a.data"), {"format": "csv"}
    yield "pipe", io.BytesIO(text.encode()), {"format": "csv"}
    yield "text pipe", io.StringIO(lines), {"format": "jsonl"}
    yield "pandas", FRAME, {}
    yield "pandas with an index", FRAME.set_index(pd.Index([7, 8, 9], name=None)), {}
    yield "polars", pl.from_pandas(FRAME), {}
    yield "arrow", pa.table(FRAME), {}
    yield "dicts", ROWS, {}
    yield "iterator of dicts", iter(ROWS), {}


def test_every_source_gives_the_same_stream(tmp_path):
    for kind, source, options in sources(tmp_path):
        stream = read(source, target="label", time="when", **options)
        assert stream.task == "classification", kind
        assert stream.feature_names == ("size", "height"), kind
        if stream.reusable:
            assert stream.classes == ("down", "up"), kind
            assert len(stream) == 3, kind
        ((X, y, time),) = stream.timed_batches(10)
        assert X.names == ("size", "height"), kind
        np.testing.assert_array_equal(X, [[1, 0.5], [2, -1.25], [3, 3e-5]], err_msg=kind)
        assert y.tolist() == ["up", "down", "up"], kind
        np.testing.assert_array_equal(time, np.array(FRAME["when"], "datetime64[us]"), kind)


def test_rows_without_names_are_read_by_position():
    for rows in ([[1.0, 2.0, "a"], [3.0, 4.0, "b"]], [(1, 2, "a"), (3, 4, "b")]):
        stream = read(rows, target=-1)
        assert stream.feature_names == ("x1", "x2")
        assert stream.arrays()[0].tolist() == [[1, 2], [3, 4]]
        assert stream.arrays()[1].tolist() == ["a", "b"]
    stream = read(np.arange(6.0).reshape(2, 3) + 0.5, target=0)
    assert stream.task == "regression"
    assert stream.arrays()[1].tolist() == [0.5, 3.5]


def csv_file(tmp_path, text, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("cells", "task", "labels"),
    [
        (["1", "2", "1"], "classification", [1, 2, 1]),
        (["a", "b", "1"], "classification", ["a", "b", "1"]),
        (["1.5", "2", "3"], "regression", [1.5, 2.0, 3.0]),
        (["true", "false", "true"], "classification", ["true", "false", "true"]),
    ],
)
def test_the_task_is_seen_from_the_target(tmp_path, cells, task, labels):
    stream = read(csv_file(tmp_path, "x,y\n" + "".join(f"0,{c}\n" for c in cells)), target="y")
    assert stream.task == task
    assert stream.arrays()[1].tolist() == labels


def test_many_whole_numbers_are_not_guessed_at(tmp_path):
    path = csv_file(tmp_path, "x,y\n" + "".join(f"0,{i}\n" for i in range(60)))
    with pytest.raises(DataError, match=r"a\.csv, column 'y': 60 different whole numbers") as error:
        read(path, target="y")
    assert "task=" in str(error.value)
    assert read(path, target="y", task="regression").arrays()[1].sum() == 60 * 59 / 2
    assert len(read(path, target="y", task="classification").classes) == 60


def test_several_targets_and_chosen_features(tmp_path):
    path = csv_file(tmp_path, "a,b,c,d\n1,2,3,4\n5,6,7,8\n")
    stream = read(path, target=["c", "d"], features=["b"])
    assert stream.task == "regression"
    X, y = stream.arrays()
    assert X.tolist() == [[2], [6]]
    assert y.tolist() == [[3, 4], [7, 8]]


def test_gaps_are_nan_unless_they_are_errors(tmp_path):
    path = csv_file(tmp_path, "x,y\n1,a\n,b\nNA,a\n")
    X, _ = read(path, target="y").arrays()
    assert np.isnan(X[:, 0]).tolist() == [False, True, True]
    with pytest.raises(DataError, match=r"row 2 .line 3, byte 8., column 'x': the cell is missing"):
        read(path, target="y", missing="error").arrays()


def test_times_may_be_numbers_or_dates_with_zones():
    rows = [{"t": "2024-05-01T12:00:00+02:00", "x": 1, "y": 0.5}]
    assert read(rows, target="y", time="t").time[0] == np.datetime64("2024-05-01T10:00:00")
    assert read([{"t": 3.5, "x": 1, "y": 0.5}], target="y", time="t").time.tolist() == [3.5]


def test_times_of_a_frame_are_taken_as_they_are():
    frame = FRAME.assign(when=pd.to_datetime(FRAME["when"]))
    for one in (frame, pl.from_pandas(frame)):
        time = read(one, target="label", time="when").time
        np.testing.assert_array_equal(time, np.array(FRAME["when"], "datetime64[us]"))


def test_given_classes_decide_what_a_label_is(tmp_path):
    path = csv_file(tmp_path, "x,y\n1,1\n2,2\n")
    assert read(path, target="y", classes=(1, 2)).arrays()[1].tolist() == [1, 2]
    assert read(path, target="y", classes=("1", "2")).arrays()[1].tolist() == ["1", "2"]


def test_a_pipe_of_the_system_is_read_to_its_end():
    out, into = os.pipe()

    def write():
        with open(into, "wb") as file:
            file.write(b"x,y\n" + b"1,0.5\n" * 300_000)

    writer = threading.Thread(target=write)
    writer.start()
    with open(out, "rb") as pipe:
        stream = read(pipe, target="y", format="csv")
        assert sum(len(X) for X, _ in stream.batches(999)) == 300_000
    writer.join()


def test_a_pipe_is_read_once_and_says_so():
    stream = read(iter(ROWS), target="label", features=["size"], classes=("up", "down"))
    assert stream.classes == ("up", "down")
    with pytest.raises(TypeError, match="only once"):
        len(stream)
    assert len(stream.arrays()[0]) == 3
    with pytest.raises(DataError, match="only once"):
        stream.arrays()
    with pytest.raises(DataError, match="Pass classes="):
        _ = read(iter(ROWS), target="label", features=["size"]).classes


MEASURE = r"""
import re, sys
from pathlib import Path
from dfop.streams import read
rows = sum(len(X) for X, y in read(sys.argv[1], target="y", task="regression").batches(1000))
print(rows, int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """Twice the file, the same memory (in a process of its own, in MB)."""
    lines = b"0.123456,0.234567,0.345678,0.456789,0.567890\n" * 1000
    peak = {}
    for thousands in (800, 1600):
        path = tmp_path / f"{thousands}.csv"
        path.write_bytes(b"a,b,c,d,y\n" + lines * thousands)
        command = [sys.executable, "-c", MEASURE, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows, peak[thousands] = map(int, done.stdout.split())
        assert rows == 1000 * thousands
    assert (tmp_path / "1600.csv").stat().st_size > 70e6
    # the file grows by 36 MB; what the allocator keeps varies by some MB with the load
    assert peak[1600] - peak[800] < 25, peak


def test_files_of_a_folder_come_in_the_order_in_which_people_count(tmp_path):
    for i in range(12):
        table = pa.table({"x": [i + 0.5] * 3, "y": [i + 0.25] * 3})
        pq.write_table(table, tmp_path / f"part-{i}.parquet")
    _, y = read(tmp_path, target="y").arrays()
    assert y.tolist() == [i + 0.25 for i in range(12) for _ in range(3)]


@pytest.mark.parametrize("kind", ["csv", "frame", "dicts", "arrow"])
def test_warnings_point_at_the_line_that_reads(tmp_path, kind):
    frame = pd.DataFrame({"x": np.arange(20.0), "y": [1.0, 2.0] * 10})
    frame.to_csv(tmp_path / "a.csv", index=False)
    source = {
        "csv": tmp_path / "a.csv",
        "frame": frame,
        "dicts": frame.to_dict("records"),
        "arrow": pa.Table.from_pandas(frame),
    }[kind]
    with pytest.warns(UserWarning, match="2 different values") as said:
        read(source, target="y")
    assert [warning.filename for warning in said] == [__file__]


ARFF_ROWS = [
    (r"""'north, east',"2024-05-01 12:00",1""", ["north, east", "2024-05-01 12:00"]),
    (r"""'6" pipe', it's ,1""", ['6" pipe', "it's"]),
    (r"""'it\'s', 'it''s' ,1""", ["it's", "it's"]),
    (r""""5\" pipe","",1""", ['5" pipe', None]),
    (r"""'c:\new',' ',1""", [r"c:\new", None]),
    (r"""'say ""hi""',"it''s",1""", ['say ""hi""', "it''s"]),
]


def test_cells_of_arff_are_quoted_by_either_mark(tmp_path):
    """As Weka writes them: a cell with a comma, a space or a mark is quoted, marks escaped."""
    path = tmp_path / "a.arff"
    header = "@relation r\n@attribute a string\n@attribute b string\n@attribute y real\n@data\n"
    path.write_text(header + "".join(line + "\n" for line, _ in ARFF_ROWS))
    ((X, _),) = read(path, target="y", kinds={"a": "text", "b": "text"}).batches()
    assert X.rows() == [cells for _, cells in ARFF_ROWS]


@pytest.mark.parametrize("cell", ["'open", "'done' more", '"open'])
def test_a_broken_quote_of_arff_is_a_bad_row(tmp_path, cell):
    path = tmp_path / "a.arff"
    header = "@relation r\n@attribute a string\n@attribute y real\n@data\n"
    path.write_text(f"{header}up,1\n{cell},2\ndown,3\n")
    stream = read(path, target="y", task="regression", bad_rows="skip")
    ((X, y),) = stream.batches()
    assert (X.rows(), y.tolist()) == ([["up"], ["down"]], [1.0, 3.0])
    assert [(row.row, row.text) for row in stream.bad.examples] == [(2, f"{cell},2")]
