"""Files as people have them: learned rightly, or refused in a sentence that says what to do."""

import datetime as dt
import gzip
import io
import json
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sample_files import NAMES, as_csv, table
from typer.testing import CliRunner

from dfop.cli import app

ROWS = table(200)
MOMENTS = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=t) for t in range(len(ROWS))]
FIXED = ("--forgetting", "0.01")


def run(*arguments):
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit)
    return outcome


def figures(*arguments):
    """Return the summary of a run that must end well."""
    outcome = run("learn", *arguments, *FIXED, "--json", "--quiet")
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout)


def csv(rows, names=NAMES, separator=","):
    return "".join(separator.join(map(str, row)) + "\n" for row in [names, *rows])


def with_first(cells, name="size"):
    """Return the table with other cells in its first column."""
    changed = [(cell, *row[1:]) for cell, row in zip(cells, ROWS, strict=True)]
    return csv(changed, (name, *NAMES[1:]))


def with_times(style):
    return with_first([moment.strftime(style) for moment in MOMENTS], "when")


def with_colors(colors):
    return [(*row[:2], color, row[3]) for color, row in zip(colors, ROWS, strict=True)]


CLEAN = {
    "Excel's": (b"\xef\xbb\xbf" + csv(ROWS, separator=";").replace("\n", "\r\n").encode(), [";"]),
    "old Mac's": (as_csv(ROWS).replace("\n", "\r"), []),
    "spaces": (csv(ROWS, separator=" "), [" "]),
    "quoted line ends": (csv(with_colors([f'"{row[2]}\nof ""it"""' for row in ROWS])), []),
    "empty lines at the end": (as_csv(ROWS) + "\n\n\n", []),
    "an index of pandas": (csv([(t, *row) for t, row in enumerate(ROWS)], ("", *NAMES)), []),
}


@pytest.mark.parametrize("name", CLEAN)
def test_the_same_rows_written_in_another_way_are_the_same(tmp_path, name):
    content, separator = CLEAN[name]
    path = tmp_path / "rows.csv"
    path.write_text(as_csv(ROWS))
    expected = figures(path, "-t", "price")
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    found = figures(path, "-t", "price", *(x for s in separator for x in ("--separator", s)))
    assert found["error"] == expected["error"]
    assert found["rows"] == expected["rows"] == len(ROWS)


REFUSED = {
    "thousands": (
        with_first([f'"{1000 + abs(row[0]):,.2f}"' for row in ROWS]),
        1,
        ["'size'", "written with signs", "1234.5", "--text size"],
    ),
    "an accountant's minus": (
        with_first([f"({abs(row[0]):.2f})" for row in ROWS]),
        1,
        ["'size'", "written with signs", "--text size"],
    ),
    "German decimals": (
        csv([[str(c).replace(".", ",") for c in row] for row in ROWS], separator=";"),
        2,
        ["separated by ';'", "--separator ';'"],
    ),
    "dates of Europe": (with_times("%d.%m.%Y %H:%M"), 1, ["'when'", "dates", "--ignore"]),
    "dates of America": (with_times("%m/%d/%Y"), 1, ["'when'", "dates", "--time when"]),
    "dates in words": (with_times("%d %b %Y"), 1, ["'when'", "dates", "--ignore"]),
    "two kinds of dates": (
        with_first(
            [m.strftime("%d.%m.%Y" if t % 3 else "%Y-%m-%d") for t, m in enumerate(MOMENTS)], "when"
        ),
        1,
        ["'when'", "dates", "--ignore"],
    ),
    "no header": ("\n".join(as_csv(ROWS).split("\n")[1:]), 2, ["first line seems to be a row"]),
    "a comment first": ("# exported\n" + as_csv(ROWS), 2, ["remove all lines before"]),
    "a title first": ("Sales of March\n\n" + as_csv(ROWS), 2, ["remove all lines before"]),
    "sep=": ("sep=,\n" + as_csv(ROWS), 2, ["remove all lines before"]),
    "spaces between cells": (csv(ROWS, separator=" "), 2, ["--separator ' '"]),
    "one column": ("price\n" + "".join(f"{row[3]}\n" for row in ROWS), 1, ["--lags"]),
    "UTF-16": (as_csv(ROWS).encode("utf-16"), 1, ["UTF-16", "iconv"]),
    "Latin 1": (csv(with_colors(["grün"] * 200)).encode("latin1"), 3, ["row 1", "iconv"]),
    "packed": (gzip.compress(as_csv(ROWS).encode()), 1, ["gzip", ".gz"]),
    "a second header": (as_csv(ROWS) + as_csv(ROWS), 3, ["row 201", "--bad-rows skip"]),
    "a comma too many": (
        csv([(*row, "") for row in ROWS]),
        3,
        ["none of the first 200 rows", "5 cells where the header has 4", "the header fits"],
    ),
    "no label": (as_csv([*ROWS[:50], (1, 2, "red", "")]), 3, ["row 51", "label is missing"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_learned_is_refused_with_a_remedy(tmp_path, name):
    content, code, words = REFUSED[name]
    path = tmp_path / "rows.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    outcome = run("learn", path, "-t", "price", *FIXED, "--model", tmp_path / "m.dfop")
    assert outcome.exit_code == code, outcome.output
    assert [word for word in ["rows.csv", *words] if word not in outcome.stderr] == []
    assert not (tmp_path / "m.dfop").exists()


def test_all_columns_that_are_no_features_are_named_at_once(tmp_path):
    columns = {
        "size": [row[0] for row in ROWS],
        "cost": pa.array([Decimal(str(row[1])) for row in ROWS], pa.decimal128(12, 3)),
        "color": pa.array([row[2] for row in ROWS]).dictionary_encode(),
        "when": pa.array(MOMENTS, pa.timestamp("us")),
        "tags": [[1, 2]] * len(ROWS),
        "place": [{"x": 1}] * len(ROWS),
        "price": [row[3] for row in ROWS],
    }
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    outcome = run("learn", path, "-t", "price", *FIXED)
    assert outcome.exit_code == 1
    assert "such as 2024-01-01 00:00:00, which are no feature" in outcome.stderr
    assert "No features, either: 'tags', 'place'" in outcome.stderr
    (tmp_path / "rows.csv").write_text(as_csv(ROWS))
    found = figures(path, "-t", "price", "--ignore", "tags,place", "--time", "when")
    same = figures(tmp_path / "rows.csv", "-t", "price")
    assert found["error"]["overall"] == pytest.approx(same["error"]["overall"], rel=1e-9)


def test_names_that_do_not_come_again_are_noted(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(with_first([f"user-{t}" for t in range(200)], "user"))
    outcome = run("learn", path, "-t", "price", *FIXED)
    assert outcome.exit_code == 0
    assert "'user' is text, and 200 of its first 200 cells are different" in outcome.stderr
    assert "--ignore" in outcome.stderr
    named = run("learn", path, "-t", "price", *FIXED, "--id", "user")
    assert "different" not in named.stderr


def test_codes_that_begin_with_zeros_are_noted(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(with_first([f"{37 * t % 99999:05d}" for t in range(200)], "zip"))
    outcome = run("learn", path, "-t", "price", *FIXED)
    assert outcome.exit_code == 0
    assert "'zip' is learned as numbers, though some begin with 0" in outcome.stderr
    assert "--text zip" in outcome.stderr
    assert "begin with 0" not in run("learn", path, "-t", "price", "--text", "zip", *FIXED).stderr


def test_a_target_of_many_whole_numbers_is_said_to_be_classes(tmp_path):
    path = tmp_path / "rows.csv"
    for different, noted in ((10, False), (11, True)):
        path.write_text(with_first([5 + t % different for t in range(200)], "sold"))
        outcome = run("learn", path, "-t", "sold", *FIXED)
        assert outcome.exit_code == 0
        assert ("11 different whole numbers" in outcome.stderr) == noted
        assert ("--task regression" in outcome.stderr) == noted
    for task in ("regression", "classification"):
        assert "whole" not in run("learn", path, "-t", "sold", "--task", task, *FIXED).stderr


def test_the_unit_of_times_is_said_where_it_is_not_seconds(tmp_path):
    path = tmp_path / "rows.csv"
    given = ("-t", "price", "--time", "at", "--forgetting", "half-life=1h")
    for factor, said in ((1, False), (1000, True)):
        path.write_text(with_first([factor * (1714521600 + 60 * t) for t in range(200)], "at"))
        outcome = run("learn", path, *given)
        assert outcome.exit_code == 0
        assert (
            "column 'at': such large numbers are taken as milliseconds" in outcome.stderr
        ) == said


def test_classes_that_went_through_floats_are_noted(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv([(*row[:3], float(row[3] > 0)) for row in ROWS]))
    outcome = run("learn", path, "-t", "price", *FIXED)
    assert "2 different values" in outcome.stderr
    assert "--task classification" in outcome.stderr
    found = figures(path, "-t", "price", "--task", "classification")
    assert found["task"] == "classification"
    assert found["bad_rows"]["total"] == 0


def test_labels_are_the_texts_that_stand_in_the_file(tmp_path):
    """ "2.0" beside "1.5" is the class "2.0", not "2"."""
    path = tmp_path / "rows.csv"
    rng = np.random.default_rng(0)
    path.write_text(csv([(x, ["1.5", "2.0", "-3.0"][int(x > 0)]) for x in rng.normal(size=60)],
                        ("x", "y")))  # fmt: skip
    found = figures(path, "-t", "y", "--task", "classification")
    assert (found["rows"], found["bad_rows"]["total"]) == (60, 0)


def test_a_target_is_no_time(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(as_csv(ROWS))
    outcome = run("learn", path, "-t", "price", "--time", "price", *FIXED)
    assert outcome.exit_code == 1
    assert "both target and time" in outcome.stderr


def test_clocks_that_were_set_back_get_advice(tmp_path):
    moments = [dt.datetime(2024, 10, 27) + dt.timedelta(minutes=20 * t) for t in range(200)]
    local = [m - dt.timedelta(hours=m >= dt.datetime(2024, 10, 27, 3)) for m in moments]
    path = tmp_path / "rows.csv"
    path.write_text(with_first([m.isoformat() for m in local], "at"))
    given = ("-t", "price", "--time", "at", "--forgetting", "half-life=1d")
    outcome = run("learn", path, *given)
    assert outcome.exit_code == 1
    assert "row 10, column 'at': the time is earlier" in outcome.stderr
    assert "write the zone" in outcome.stderr
    zones = ["+02:00" if m < dt.datetime(2024, 10, 27, 3) else "+01:00" for m in moments]
    path.write_text(
        with_first([m.isoformat() + z for m, z in zip(local, zones, strict=True)], "at")
    )
    assert run("learn", path, *given).exit_code == 0


def test_a_stream_or_a_file_that_was_meant_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.dfop").write_text("")
    for arguments, meant in [
        (("evaluate", "elecricity"), "electricity"),
        (("inspect", "sale.dfop"), "sales.dfop"),
        (("predict", "sale.dfop", "new.csv"), "sales.dfop"),
    ]:
        outcome = run(*arguments)
        assert outcome.exit_code == 2
        assert f"Did you mean {meant}?" in outcome.stderr


def test_what_a_model_of_river_cannot_take_is_its_own_to_say(tmp_path):
    pytest.importorskip("river")
    path = tmp_path / "rows.csv"
    path.write_text(as_csv(ROWS))
    model = "river:linear_model.LinearRegression"
    outcome = run("compare", path, "-t", "price", "--models", model)
    assert outcome.exit_code == 1
    assert f"{model} cannot learn from rows.csv" in outcome.stderr
    assert "--ignore" in outcome.stderr
    assert (
        run("compare", path, "-t", "price", "--models", model, "--ignore", "color").exit_code == 0
    )


def test_outputs_are_tried_before_anything_is_learned(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(as_csv(ROWS))
    for command in (
        ("evaluate", path, "-t", "price", "--report"),
        ("report", tmp_path, "--output"),
        ("learn", path, "-t", "price", "--report"),
    ):
        outcome = run(*command, tmp_path / "none" / "page.html")
        assert outcome.exit_code == 2
        assert "there is no folder" in outcome.stderr


def test_a_standard_output_that_is_closed_is_said(tmp_path, monkeypatch):
    from dfop.checkpoints.outputs import Printed

    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(ValueError, match="standard output is closed"):
        Printed()
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    Printed()
