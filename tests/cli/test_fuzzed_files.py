"""Broken files: no traceback, no hang, no wrong row learned; every row is good or bad."""

import csv
import gzip
import io
import json
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dfop.cli.learn import learn

MANY = 20_000
SHORT = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
LONG = settings(SHORT, max_examples=MANY)

numbers = st.floats(-1e6, 1e6).map(lambda x: f"{x:.6g}")
odd_cells = st.sampled_from(
    [
        "",
        "1e999",
        "-inf",
        "nan",
        "0x10",
        "1_000",
        "١٢",
        "x" * 2000,
        "1.5.2",
        "--3",
        "\ufeff",
        "=cmd()",
    ]
)
good_lines = st.tuples(numbers, st.sampled_from(["red", "blue", ""]), numbers).map(",".join)
odd_lines = st.one_of(
    st.tuples(odd_cells, odd_cells, odd_cells).map(",".join),
    st.lists(numbers, max_size=6).map(",".join),
    st.text(max_size=30),
    st.sampled_from(
        ['"', '""', '1,"red,2', '1,"re"d,2', "1,red,2\x00", "[" * 500, '{"a":1}', "\r"]
    ),
).map(str.encode) | st.binary(max_size=30)
line_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
heads = st.sampled_from(
    [b"size,color,price", b"\xef\xbb\xbfsize,color,price", b"size,color,color", b"size;color;price"]
    + 3 * [b"size,color,price"]
)


@st.composite
def broken_csv(draw):
    """Return a CSV file, most of whose rows are good."""
    lines = draw(st.lists(good_lines.map(str.encode), min_size=12, max_size=40))
    for _ in range(draw(st.integers(0, 5))):
        lines.insert(draw(st.integers(0, len(lines))), draw(odd_lines))
    end = draw(line_ends)
    data = draw(heads) + end + end.join(lines) + draw(st.sampled_from([end, b""]))
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(data) - 1))
        data = data[:at] + draw(st.binary(max_size=3)) + data[at + 1 :]
    return data


def deep(depth):
    return "[" * depth + "]" * depth


@st.composite
def broken_json(draw):
    """Return JSON lines, most of which are good."""
    rows = st.fixed_dictionaries({"size": st.floats(-9, 9), "price": st.floats(-9, 9)})
    lines = [json.dumps(row).encode() for row in draw(st.lists(rows, min_size=12, max_size=40))]
    odd = st.one_of(
        st.sampled_from(
            [b"null", b"{}", b"[1]", b'{"size": 1e999, "price": 1}', b'{"size": 1, "size": 2}']
            + [b'{"size": ' + deep(n).encode() + b', "price": 1}' for n in (3, 900, 100_000)]
        ),
        st.binary(max_size=40),
    )
    for _ in range(draw(st.integers(0, 4))):
        lines.insert(draw(st.integers(0, len(lines))), draw(odd))
    return b"\n".join(lines)


def call(*given, **named):
    """Call the command as `dfop` does; return its exit code and what it said."""
    with redirect_stdout(io.StringIO()) as said, redirect_stderr(io.StringIO()) as words:
        try:
            learn(*given, **named)
            code = 0
        except typer.Exit as error:
            code = error.exit_code
    return code, said.getvalue(), words.getvalue()


def check(name, data):
    """Learn from a file and see that every row is accounted for; return the predictions."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / name, Path(folder) / "p.csv"
        path.write_bytes(data)
        code, said, words = call(
            [str(path)], "price", task="regression", bad_rows="skip", forgetting="0.01",
            as_json=True, predictions=str(out),
        )  # fmt: skip
        if code:
            assert code in (1, 2, 3)
            assert words.strip().splitlines()[-1].startswith("dfop: "), words
            return None
        summary = json.loads(said)
        with open(out, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    assert [int(row["row"]) for row in rows] == list(range(1, summary["rows_read"] + 1))
    bad = [row for row in rows if row["bad"]]
    assert len(bad) == summary["bad_rows"]["total"]
    assert summary["rows"] + len(bad) == summary["rows_read"]
    for row in rows:
        if not row["bad"]:  # learned: a label that stands in the file, a prediction that is finite
            assert np.isfinite(float(row["prediction"]))
            assert np.isfinite(float(row["label"]))
    return rows


def broken_csv_files(data):
    check("rows.csv", data)


def broken_json_files(data):
    check("rows.jsonl", data)


def cut_gzip_files(data, share):
    packed = gzip.compress(data, mtime=0)
    check("rows.csv.gz", packed[: int(share * len(packed))])


def known_rows(lines):
    """Good and bad rows are told apart one by one."""
    lines = [*[(True, "1.5,red,0.5")] * 600, *lines]  # by these the columns are judged
    data = "size,color,price\n" + "".join(line + "\n" for _, line in lines)
    rows = check("rows.csv", data.encode())
    if rows is not None:
        assert [not row["bad"] for row in rows] == [good for good, _ in lines]


bad_lines = st.sampled_from(["1,red", "1,red,2,3", "x,red,2", "1,red,x", "1,red,", "1e999,red,2"])
told = st.lists(
    st.one_of(*(3 * [st.tuples(st.just(True), good_lines)]), st.tuples(st.just(False), bad_lines)),
    min_size=30,
    max_size=60,
)
CLAIMS = [
    (broken_csv_files, {"data": broken_csv()}),
    (broken_json_files, {"data": broken_json()}),
    (cut_gzip_files, {"data": broken_csv(), "share": st.floats(0, 1)}),
    (known_rows, {"lines": told}),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim[0].__name__)
def test_of_broken_files_every_row_is_accounted_for(claim):
    function, strategies = claim
    SHORT(given(**strategies)(function))()


def test_rows_are_counted_on_where_pieces_of_the_file_have_no_good_row():
    good = b"0,red,0\n" * 12
    rows = check("rows.csv", b'size,color,price\n\0\n"\n' + good)
    assert [row["bad"] for row in rows] == ["NUL byte", "broken quote", *[""] * 12]


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim[0].__name__)
def test_of_twenty_thousand_broken_files_every_row_is_accounted_for(claim):
    function, strategies = claim
    settings(LONG, max_examples=MANY // len(CLAIMS))(given(**strategies)(function))()
