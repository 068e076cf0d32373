"""Bad rows: each kind with its line and byte, counted, put aside, never taken."""

import csv
import gzip
import io
import json
import os
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop.streams import BadRow, DataError, chunks, csv_source, read

HEADER = b"x,c,t,y\n"
GOOD = b"1.5,red,2024-05-01T12:00:00,a\n-2,blue,2024-05-01T12:00:01,b\n"

# kind: the bad row as it stands in the file, its column, options
CSV = {
    "wrong number of cells": (b"1.5,red,2024-05-01T12:00:00", None, {}),
    "not a number": (b"1_000,red,2024-05-01T12:00:00,a", "x", {}),
    "not finite": (b"1e999,red,2024-05-01T12:00:00,a", "x", {}),
    "missing label": (b"1,red,2024-05-01T12:00:00, NA ", "y", {}),
    "unknown class": (b"1,red,2024-05-01T12:00:00,c", "y", {"classes": ("a", "b")}),
    "missing cell": (b"1,,2024-05-01T12:00:00,a", "c", {"missing": "error"}),
    "bad time": (b"1,red,soon,a", "t", {}),
    "not UTF-8": (b"1,caf\xe9,2024-05-01T12:00:00,a", "c", {}),
    "NUL byte": (b"1,r\0d,2024-05-01T12:00:00,a", None, {}),
    "broken quote": (b'1,"red"x,2024-05-01T12:00:00,a', None, {}),
    "cell too long": (b"1," + b"x" * (2**20 + 1) + b",2024-05-01T12:00:00,a", "c", {}),
}


def until_error(stream, size):
    """The first feature of all rows that come, and the error after them."""
    seen = []
    try:
        for X, _ in stream.batches(size):
            seen += X.numbers[:, 0].tolist()
    except DataError as error:
        return seen, str(error)
    return seen, None


def attempt(path, **options):
    return read(path, **{"target": "y", "time": "t", **options})


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("kind", CSV)
def test_each_kind_of_bad_row_is_known_by_line_byte_and_column(tmp_path, kind, end):
    bad, column, options = CSV[kind]
    content = HEADER + GOOD * 300 + b'3,"two\nlines",2024-05-01,a\n\n' + bad + b"\n" + GOOD * 300
    content = content.replace(b"\n", end)
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        attempt(path, **options).frame()
    error = caught.value
    assert (error.kind, error.column, error.row) == (kind, column, 602)
    assert error.line == 1 + 600 + 2 + 1 + 1  # header, rows, a row of two lines, an empty line
    with path.open("rb") as file:
        file.seek(error.byte)
        assert file.read(len(bad)) == bad
    assert error.text == bad.decode("utf-8", "backslashreplace")
    stream = attempt(path, bad_rows="skip", **options)
    assert sum(len(y) for _, y in stream.batches(100)) == 1201
    assert (stream.bad.total, dict(stream.bad.kinds)) == (1, {kind: 1})
    assert stream.bad.examples[0][:7] == (
        str(path), 602, error.line, error.byte, column, kind, stream.bad.examples[0].message
    )  # fmt: skip


@pytest.mark.parametrize(
    "cell", [" 1.5", "1.5 ", "+1.5", "15e-1", "1.5E0", '"1.5"', "1.50000000000000000000000000001"]
)
def test_all_ways_to_write_a_number_are_the_number(tmp_path, cell):
    rows = [cell, "2"] if cell != "2" else [cell]
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{c},0.5\n" for c in rows))
    assert read(path, target="y").arrays()[0].tolist() == [[1.5], [2.0]]


@pytest.mark.parametrize("cell", ["", '""', "NA", " na ", "-nan", "NaN", "nAn", "N/A", "?", "<NA>"])
def test_all_ways_to_write_a_gap_are_gaps(tmp_path, cell):
    path = tmp_path / "a.csv"
    path.write_text(f"x,c,y\n1,a,0.5\n{cell},b,0.5\n")
    batch, _ = next(read(path, target="y").batches())
    assert batch.rows() == [[1.0, "a"], [None, "b"]]


@pytest.mark.parametrize("cell", ["1_000", "0x10", "1,5", "١٢", "nan(ind)", "1.5f", "--1", "1 2"])
def test_what_only_some_parsers_call_a_number_is_none(tmp_path, cell):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,0.5\n" * 20 + f'"{cell}",0.5\n', encoding="utf-8")
    stream = read(path, target="y", bad_rows="skip")
    assert len(stream) == 20
    assert stream.bad.kinds == {"not a number": 1}


def test_an_open_quote_costs_its_line_and_not_the_file(tmp_path):
    path = tmp_path / "a.csv"
    for tail in (GOOD * 50, GOOD * 50 + b'1,"red",2024-05-01,a\n' + GOOD, b""):
        path.write_bytes(HEADER + GOOD + b'7,"never closed,2024-05-01,a\n' + tail)
        stream = attempt(path, bad_rows="skip")
        assert len(stream) == 2 + tail.count(b"\n")
        assert stream.bad.kinds == {"broken quote": 1}
        assert stream.bad.examples[0].line == 4


def test_a_quote_that_is_never_closed_in_a_large_file_does_not_hold_the_file_in_memory(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(HEADER + GOOD + b'7,"never closed,2024-05-01,a\n' + GOOD * 100_000)
    stream = attempt(path, bad_rows="skip")
    assert len(stream) == 200_002
    assert stream.bad.kinds == {"cell too long": 1}


def test_quotes_inside_cells_are_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x,c,y\n1,5" pipe,0.5\n2,"say ""hi"", then go",0.5\n3,"a\nb",0.5\n')
    batch, _ = next(read(path, target="y").batches())
    assert batch.texts[1].cells() == ['5" pipe', 'say "hi", then go', "a\nb"]


def test_a_cut_gzip_gives_the_rows_before_the_cut_and_then_an_error(tmp_path):
    lines = [f"{i},{i / 7:.6f}\n" for i in range(50_000)]
    whole = gzip.compress(("x,y\n" + "".join(lines)).encode())
    path = tmp_path / "a.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    rows, error = until_error(read(path, target="y"), 777)
    assert "broken or cut off" in error
    assert rows == list(range(len(rows)))
    there = len(zlib.decompressobj(wbits=31).decompress(path.read_bytes()))
    whole_rows = ("x,y\n" + "".join(lines))[:there].count("\n") - 1
    assert len(rows) == whole_rows


@pytest.mark.parametrize("packing", ["bz2", "zst"])
def test_other_packings_are_read_and_a_cut_one_is_refused(tmp_path, packing):
    text = ("x,y\n" + "".join(f"{i},{i / 7:.6f}\n" for i in range(200_000))).encode()
    path = tmp_path / f"a.csv.{packing}"
    with pa.CompressedOutputStream(str(path), {"zst": "zstd"}.get(packing, packing)) as out:
        out.write(text)
    assert len(read(path, target="y")) == 200_000
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    seen, error = until_error(read(path, target="y"), 777)
    assert "broken or cut off" in error
    assert seen == list(range(len(seen)))
    assert len(seen) > 1000


# -- JSON lines, Parquet, rows ----------------------------------------------------------------

JSON = {
    "not JSON": (b'{"x": 1, "c": "red"', None, {}),
    "not a number": (b'{"x": "1.5", "c": "red", "t": 1, "y": "a"}', "x", {}),
    "not text": (b'{"x": 1.5, "c": 5, "t": 1, "y": "a"}', "c", {}),
    "not finite": (b'{"x": 1e999, "c": "red", "t": 1, "y": "a"}', "x", {}),
    "missing label": (b'{"x": 1, "c": "red", "t": 1, "y": null}', "y", {}),
    "unknown class": (b'{"x": 1, "c": "red", "t": 1, "y": "c"}', "y", {"classes": ("a", "b")}),
    "bad time": (b'{"x": 1, "c": "red", "y": "a"}', "t", {}),
    "not UTF-8": (b'{"x": 1, "c": "caf\xe9", "t": 1, "y": "a"}', None, {}),
    "unknown column": (b'{"x": 1, "c": "red", "t": 1, "y": "a", "z": 1}', "z", {}),
}


@pytest.mark.parametrize("kind", JSON)
def test_each_kind_of_bad_line_of_json_is_known_by_line_byte_and_column(tmp_path, kind):
    bad, column, options = JSON[kind]
    good = b'{"x": 1, "c": "red", "t": 1, "y": "a"}\n{"x": null, "t": 2, "c": null, "y": "b"}\n'
    path = tmp_path / "a.jsonl"
    path.write_bytes(good * 6000 + b"\n" + bad + b"\n" + good)
    with pytest.raises(DataError) as caught:
        attempt(path, **options).frame()
    error = caught.value
    assert (error.kind, error.column, error.row, error.line) == (kind, column, 12_001, 12_002)
    with path.open("rb") as file:
        file.seek(error.byte)
        assert file.read(len(bad)) == bad
    stream = attempt(path, bad_rows="skip", **options)
    assert sum(len(y) for _, y in stream.batches()) == 12_002
    assert stream.bad.kinds == {kind: 1}


@pytest.mark.parametrize(
    "line", ["null", "[1]", '{"x": 1, "y": "a"} {"x": 2, "y": "b"}', '{"x": 1, "y": "a"} null',
             '{"x": 1, "x": 2, "y": "a"}', '{"x": ' + "[" * 100_000, "7", '"a"', "{}}", "{'x': 1}"]
)  # fmt: skip
def test_json_that_crashes_or_fools_a_parser_is_a_bad_row(tmp_path, line):
    path = tmp_path / "a.jsonl"
    good = '{"x": 1, "y": "a"}\n'
    path.write_text(good * 30 + line + "\n" + good)
    stream = read(path, target="y", bad_rows="skip", classes=("a", "b"))
    assert len(stream) == 31
    assert stream.bad.kinds == {"not JSON": 1}


def test_bad_rows_of_parquet_and_frames_are_known_by_row(tmp_path):
    frame = pd.DataFrame({"x": [1.0] * 99 + [np.inf], "c": "a", "y": ["u", "v"] * 49 + [None, "u"]})
    frame.to_parquet(tmp_path / "a.parquet")
    for source, name in [(tmp_path / "a.parquet", str(tmp_path / "a.parquet")), (frame, "frame")]:
        stream = read(source, target="y", bad_rows="skip")
        assert len(stream.frame()) == 98
        assert stream.bad.kinds == {"missing label": 1, "not finite": 1}
        first, last = stream.bad.examples
        assert first[:6] == (name, 99, None, None, "y", "missing label")
        assert json.loads(last.text)["x"] == float("inf")


# -- what is done with them -------------------------------------------------------------------


def hundred(tmp_path, bad=(7, 50)):
    lines = [f"{i},{i / 7:.3f}" for i in range(100)]
    for i in bad:
        lines[i] = f"oops{i},0.5"
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "\n".join(lines) + "\n")
    return path


def test_the_rows_before_a_bad_one_are_given_before_it_is_raised(tmp_path):
    seen, error = until_error(read(hundred(tmp_path), target="y"), 5)
    assert "oops7" in error
    assert seen == list(range(7))


@pytest.mark.parametrize("name", ["bad.csv", "bad.jsonl", "bad"])
def test_the_quarantine_holds_each_bad_row_once_however_often_the_stream_is_read(tmp_path, name):
    path = hundred(tmp_path)
    aside = tmp_path / name
    stream = read(path, target="y", bad_rows="quarantine", quarantine=aside)
    batches = stream.batches(1)
    next(batches)
    assert len(stream) == 98
    assert len(stream.arrays()[0]) == 98
    assert stream.bad.total == 2
    text = aside.read_text()
    if name.endswith("jsonl"):
        found = [BadRow(**json.loads(line)) for line in text.splitlines()]
    else:
        found = [BadRow(*row.values()) for row in csv.DictReader(io.StringIO(text))]
    assert [(str(b.row), str(b.line), b.column, b.text) for b in found] == [
        ("8", "9", "x", "oops7,0.5"),
        ("51", "52", "x", "oops50,0.5"),
    ]
    for bad in found:
        assert path.read_bytes()[int(bad.byte) :].startswith(bad.text.encode())
        assert (bad.file, bad.kind) == (str(path), "not a number")


def test_a_second_run_appends_to_the_quarantine(tmp_path):
    aside = tmp_path / "bad.csv"
    for _ in range(2):
        len(read(hundred(tmp_path), target="y", bad_rows="quarantine", quarantine=aside))
    assert len(pd.read_csv(aside)) == 4


def test_a_quarantine_that_cannot_be_written_is_refused_before_anything_is_read(tmp_path):
    path = hundred(tmp_path)
    other = tmp_path / "notes.csv"
    other.write_text("something,else\n")

    class Untouched:
        def read(self, size):
            raise AssertionError("it was read")

    for aside, error, message in [
        (
            tmp_path / "no folder" / "bad.csv",
            FileNotFoundError,
            "quarantine file cannot be written",
        ),
        (tmp_path, IsADirectoryError, "quarantine file cannot be written"),
        ("/dev/full", OSError, "No space left"),
        (other, ValueError, "holds something else"),
        (path, ValueError, "holds something else"),
        (tmp_path / "bad.parquet", ValueError, "cannot be appended"),
    ]:
        with pytest.raises(error, match=message):
            read(Untouched(), target="y", format="csv", bad_rows="quarantine", quarantine=aside)
    assert other.read_text() == "something,else\n"


def test_a_disk_that_is_full_later_is_an_error_that_names_the_quarantine(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    aside = tmp_path / "bad.csv"
    stream = read(hundred(tmp_path), target="y", bad_rows="quarantine", quarantine=aside)
    aside.unlink()
    aside.symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"cannot be written: No space left.*bad\.csv"):
        stream.arrays()


@pytest.mark.parametrize(("limit", "good"), [(2, True), (1, False), (0.02, True), (0.019, False)])
def test_more_bad_rows_than_allowed_are_an_error(tmp_path, limit, good):
    stream = read(hundred(tmp_path), target="y", bad_rows="skip", max_bad=limit)
    if good:
        assert len(stream.arrays()[0]) == 98
    else:
        with pytest.raises(DataError, match=r"2 bad rows among 100, .*2 not a number.*row 8"):
            stream.arrays()


def test_a_share_is_not_judged_by_the_first_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\noops,0.5\n" + "1,0.5\n" * 200_000)
    assert len(read(path, target="y", bad_rows="skip", max_bad=0.001)) == 200_000


@pytest.mark.parametrize(
    "options",
    [
        {"bad_rows": "drop"},
        {"bad_rows": "quarantine"},
        {"quarantine": "bad.csv"},
        {"max_bad": 3},
        {"bad_rows": "skip", "max_bad": -1},
        {"bad_rows": "skip", "max_bad": 1.5},
        {"kinds": {"x": "date"}},
    ],
)
def test_wrong_settings_are_refused(tmp_path, options, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"bad_rows|max_bad|quarantine|kind"):
        read(hundred(tmp_path), target="y", **options)
    assert not (tmp_path / "bad.csv").exists()


# -- broken bytes -----------------------------------------------------------------------------

PARTS = st.sampled_from(
    [b'"', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"abc", b'""', b" ", b"inf", b"nan", b"NA",
     b"1_0", b"\xc3\xa9", b"+5", b'"\n"', b"-nan", b"nan(x)", b"\xef\xbb\xbf", b"1,2\n", b"{", b"}"]
)  # fmt: skip
EDITS = st.lists(st.tuples(st.floats(0, 1), PARTS, st.booleans()), max_size=6)


def edited(content, edits):
    content = bytearray(content)
    for place, part, replace in edits:
        at = int(place * len(content))
        content[at : at + replace] = part
    return bytes(content)


def outcome(content, chunk, part, kind):
    """All that is read, or the error of the file as a whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK", chunk)
        patch.setattr(csv_source, "PART", part)
        try:
            stream = read(
                io.BytesIO(content),
                target="y",
                time="t",
                format=kind,
                kinds={"x": "number", "c": "text"},
                task="classification",
                bad_rows="skip",
            )
            found = []
            for X, y, time in stream.timed_batches(7):
                found += zip(X.rows(), y.tolist(), time.tolist(), strict=True)
        except DataError as error:
            return str(error)
    assert len(found) + stream.bad.total == stream.bad.rows
    for bad in stream.bad.examples:
        before = content[: bad.byte]
        if kind == "csv":
            lines = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
        else:
            lines = before.count(b"\n")
        assert bad.line == lines + 1
        raw = content[bad.byte :].decode("utf-8", "backslashreplace")
        assert raw.startswith(bad.text)
    return found, stream.bad.rows, stream.bad.kinds, stream.bad.examples


@settings(max_examples=150)
@given(EDITS, st.integers(1, 99), st.integers(1, 99), st.booleans())
def test_broken_bytes_are_good_rows_and_bad_rows_however_the_file_is_cut(
    edits, chunk, part, quoted
):
    rows = GOOD * 4 + (b'3,"two\nlines, ""x""",2024-05-01,a\n' if quoted else b"") + GOOD * 2
    content = HEADER + edited(rows, edits)
    whole = outcome(content, 2**20, 2**14, "csv")
    assert outcome(content, chunk, part, "csv") == whole


@settings(max_examples=100)
@given(EDITS, st.integers(1, 99))
def test_broken_json_is_good_rows_and_bad_rows_however_the_file_is_cut(edits, chunk):
    good = b'{"x": 1, "c": "red", "t": 1, "y": "a"}\n{"x": 2.5, "c": null, "t": 2, "y": "b"}\n'
    content = good + edited(good * 4, edits)
    whole = outcome(content, 2**20, 2**14, "jsonl")
    assert outcome(content, chunk, 1, "jsonl") == whole


def test_nothing_beyond_the_first_bad_row_is_counted_where_it_is_the_end():
    rows = [{"x": 1.0, "y": 0.5}] * 200 + [{"x": "one", "y": 0.5}] * 30
    stream = read(rows, target="y", kinds={"x": "number"}, task="regression")
    with pytest.raises(DataError, match="row 201"):
        stream.arrays()
    assert (stream.bad.total, stream.bad.rows) == (1, 201)


def test_a_cell_that_is_no_text_is_not_compared_with_cells_before_it():
    rows = [{"x": 1.0, "y": 2.0}, {"x": "a", "y": 3.0}]
    stream = read(rows, target="y", task="regression")
    with pytest.raises(DataError, match=r"row 1, column 'x': 1\.0 is not text, as other cells of"):
        stream.frame()
