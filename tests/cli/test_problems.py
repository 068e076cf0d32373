"""Whatever goes wrong is said in a sentence, with the right exit code and nothing half-written."""

import errno
import gzip
import os
import re
import shlex

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sample_files import NAMES, as_csv, table
from typer.testing import CliRunner

from dfop import DFOPRegressor, save
from dfop.cli import app


def run(*arguments):
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit)
    assert "Traceback" not in outcome.output
    return outcome


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of good and of bad files, which is also where we are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(as_csv(table()))
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,y\n")
    (tmp_path / "one.csv").write_text("a,y\n" + "1,up\n" * 50)
    (tmp_path / "constant.csv").write_text("a,y\n" + "".join(f"{i},0.5\n" for i in range(50)))
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "twice.csv").write_text("a,a,y\n1,2,3\n")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(as_csv(table()).encode())[:30])
    (tmp_path / "words.csv").write_text("hello world\n")
    (tmp_path / "b.csv").write_text("size,other,price\n" + "1.5,2,3.5\n" * 20)
    (tmp_path / "bad.toml").write_text("target =\n")
    (tmp_path / "run.toml").write_text("lags = 1\n")
    (tmp_path / "notes.txt").write_text("these are my notes\n")
    (tmp_path / "old.csv").write_text("file,row,line,byte,column,kind,message,text\nold\n")
    (tmp_path / "no-model.dfop").write_text("hello")
    save(DFOPRegressor(0.1).fit(np.eye(3), [1.0, 2.0, 3.0]), tmp_path / "nameless.dfop")
    return tmp_path


GOOD = ("learn", "good.csv", "-t", "price")
CASES = [
    # arguments, exit code, words
    (("learn",), 2, "Missing"),
    (("learn", "good.csv"), 2, "--target"),
    ((*GOOD, "--forgeting", "0.1"), 2, "--forgetting"),
    (("lern", "good.csv"), 2, "learn"),
    (("learn", "god.csv", "-t", "price"), 2, "no such file or folder. Did you mean good.csv?"),
    (("learn", "good.csv", "-t", "prize"), 2, "Did you mean price?"),
    (("learn", "good.csv", "-t", "PRICE"), 2, "Did you mean price?"),
    ((*GOOD, "--time", "when"), 2, "'when': the time is not a column"),
    ((*GOOD, "--features", "size,sped"), 2, "Did you mean speed?"),
    ((*GOOD, "--ignore", "colour"), 2, "Did you mean color?"),
    ((*GOOD, "--features", "size,price"), 1, "both target and feature"),
    ((*GOOD, "--task", "clasification"), 2, "Did you mean classification?"),
    ((*GOOD, "--format", "csw"), 2, "Did you mean csv?"),
    ((*GOOD, "--forgetting", "often"), 2, "write auto, few, a number from 0 up to 1 (mu)"),
    ((*GOOD, "--forgetting", "2"), 2, "must be in [0, 1)"),
    ((*GOOD, "--lags", "-1"), 2, "greater than or equal to 0"),
    ((*GOOD, "--delay", "soon"), 2, "cannot read the duration"),
    ((*GOOD, "--delay", "3d"), 2, "has no time"),
    ((*GOOD, "--labels", "b.csv"), 2, "--id"),
    ((*GOOD, "--labels", "none.csv"), 2, "none.csv: no such file"),
    ((*GOOD, "--bad-rows", "ignore"), 2, "fail, skip or quarantine=FILE"),
    ((*GOOD, "--bad-rows", "quarantine"), 2, "fail, skip or quarantine=FILE"),
    ((*GOOD, "--bad-rows", "quarantine=notes.txt"), 1, "holds something else than bad rows"),
    ((*GOOD, "--max-bad", "many"), 2, "give a share"),
    ((*GOOD, "--max-bad", "nan", "--bad-rows", "skip"), 1, "a share up to 1.0"),
    ((*GOOD, "--every", "often"), 2, "a duration such as 30s"),
    ((*GOOD, "--predictions", "p.xls"), 2, "must be .csv, .jsonl or .parquet"),
    ((*GOOD, "--predictions", "good.csv"), 2, "is a source of this run"),
    ((*GOOD, "--model", "./good.csv"), 2, "is a source of this run"),
    ((*GOOD, "--report", "good.csv"), 2, "is a source of this run"),
    ((*GOOD, "--metrics", "good.csv"), 2, "is a source of this run"),
    ((*GOOD, "--bad-rows", "quarantine=good.csv"), 2, "is a source of this run"),
    ((*GOOD, "--config", "run.toml", "--model", "run.toml"), 2, "is a source of this run"),
    ((*GOOD, "--model", "x.out", "--report", "x.out"), 2, "is named for two outputs"),
    ((*GOOD, "--predictions", "p.csv", "--bad-rows", "quarantine=p.csv"), 2, "two outputs"),
    ((*GOOD, "--predictions", "none/p.csv"), 2, "there is no folder none"),
    ((*GOOD, "--bad-rows", "quarantine=none/q.csv"), 2, "there is no folder none"),
    ((*GOOD, "--id", "price"), 1, "the id 'price' is also the target"),
    ((*GOOD, "--id", "color", "--ignore", "color"), 1, "or a column to ignore"),
    ((*GOOD, "--id", "colour"), 2, "Did you mean color?"),
    ((*GOOD, "--text", "colour"), 2, "Did you mean color?"),
    ((*GOOD, "--predictions", "-", "--json"), 2, "would both write to standard output"),
    ((*GOOD, "--model", "none/m.dfop"), 2, "there is no folder none"),
    ((*GOOD, "--config", "none.toml"), 2, "none.toml"),
    ((*GOOD, "--config", "bad.toml"), 2, "is not TOML"),
    ((*GOOD, "--checkpoint", "good.csv"), 4, "cannot be used"),
    (("learn", "good.csv", "-t", "prize", "--bad-rows", "quarantine=old.csv"), 2, "price?"),
    (("learn", "empty.csv", "-t", "y"), 1, "empty or has no header"),
    (("learn", "header.csv", "-t", "y"), 1, "there are no rows"),
    (("learn", "one.csv", "-t", "y"), 1, "only the class 'up' among the first rows"),
    (("learn", "constant.csv", "-t", "y"), 1, "'y': the target has one value in all of the first"),
    (("evaluate", "constant.csv", "-t", "y"), 1, "the target 'y' is 0.5 in all 50 rows"),
    (("compare", "constant.csv", "-t", "y"), 1, "the target 'y' is 0.5 in all 50 rows"),
    (("evaluate", "one.csv", "-t", "y"), 1, "or pass --classes a,b,c if more may come"),
    (("evaluate", "one.csv", "-t", "y", "--classes", "up,down"), 1, "is up in all 50 rows"),
    (("learn", "binary.csv", "-t", "y"), 2, "binary.csv, column 'y'"),
    (("learn", "twice.csv", "-t", "y"), 1, "occurs twice"),
    (("learn", "cut.csv.gz", "-t", "price"), 1, "broken or cut off"),
    (("learn", "words.csv", "-t", "price"), 2, "there are hello world"),
    (("learn", "notes.txt", "-t", "price"), 1, "cannot tell the format"),
    (("learn", "good.csv", "b.csv", "-t", "price"), 1, "b.csv, column 'speed': the column is miss"),
    (("learn", ".", "-t", "price"), 1, "a folder is read if it holds Parquet"),
    (("learn", "/", "-t", "price"), 1, "name the folder that holds the data"),
    (("learn", "good.csv", "-t", "price", "--key", "color"), 1, "give --forgetting few, its small"),
    (
        (*GOOD, "--key", "color", "--expire", "9d", "--forgetting", "0"),
        1,
        "--expire 9d is a duration",
    ),
    (
        ("learn", "good.csv", "-t", "price", "--delay", "20", "--pending-limit", "5"),
        1,
        "raise --pending-limit, or",
    ),
    (("predict", "none.dfop", "good.csv"), 2, "none.dfop: no such file"),
    (("predict", "no-model.dfop", "good.csv"), 1, "cannot load"),
    (("predict", "nameless.dfop", "good.csv"), 1, "have no names"),
    (("predict", "nameless.dfop", "good.csv", "--predictions", "good.csv"), 2, "is a source"),
    (("inspect", "no-model.dfop"), 1, "cannot load"),
    (("inspect", "none.dfop"), 2, "no such file"),
    (("compare", "good.csv", "-t", "price", "--models", "our"), 2, "Did you mean ours?"),
    (("compare", "good.csv", "-t", "price", "--models", "river:no.Thing"), 2, "River has no"),
    (("evaluate", "good.csv"), 2, "--target is missing"),
    (("evaluate", "god.csv", "-t", "price"), 2, "Did you mean good.csv?"),
    (("report", "state"), 2, "--output"),
    (("report", "state", "--json"), 2, "there is no such folder"),
    (("report", ".", "--json"), 4, "holds no generation"),
    (("streams", "show", "electrcity"), 2, "Did you mean electricity?"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), CASES, ids=lambda x: str(x)[:60])
def test_bad_input_gets_a_sentence_and_a_code(folder, arguments, code, words):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    outcome = run(*arguments)
    assert outcome.exit_code == code, outcome.output
    assert words in outcome.stderr
    assert not outcome.stdout
    after = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert after == before


OPTIONS = [
    # the first file's rows, arguments, what to do
    ("1,200\n", (), "Pass --task classification or --task regression."),
    ("2024-05-01,0.5\n", (), "Pass --time 'unit price', or leave the column out with --ignore."),
    ("5%,0.5\n", (), "pass --text 'unit price' if they are names"),
    ("1,0.5\n", ("--max-bad", "2"), "--max-bad is a number or a share, for --bad-rows skip or"),
    ("1,0.5\n", ("--forgetting", "half-life=3d"), "pass --time, the time of every row"),
    ("x,0.5\n", (), "pass --text 'unit price', or leave the column out with --ignore. Or leave"),
    ("1,\n", (), "Remove the row. Or leave bad rows out with --bad-rows skip."),
]


@pytest.mark.parametrize(("row", "arguments", "words"), OPTIONS)
def test_what_to_do_is_said_in_options_of_the_command(folder, row, arguments, words):
    counts = row.endswith(",200\n")
    rows = [f"1,{i if counts else i + 0.5}\n" for i in range(200)]
    if row[0] in "25":
        rows = [row] * 200
    (folder / "a.csv").write_text("unit price,y\n" + "".join([*rows, row]))
    outcome = run("learn", "a.csv", "-t", "y", *arguments)
    assert outcome.exit_code in (1, 3)
    assert words in outcome.stderr


def test_rows_that_are_put_aside_are_explained_in_options_of_the_command(folder):
    rows = [f"{i},{'ab'[i % 2]}\n" for i in range(200)]
    (folder / "a.csv").write_text("unit price,y\n" + "".join([*rows, "7;x,a\n", "7,c\n"]))
    given = ("--bad-rows", "quarantine=bad.csv", "--forgetting", "0.01")
    outcome = run("learn", "a.csv", "-t", "y", "--classes", "a,b", *given)
    assert outcome.exit_code == 0
    assert "'7;x' is not a number\n" in outcome.stderr
    put_aside = pd.read_csv("bad.csv")["message"].tolist()
    assert put_aside == [
        "'7;x' is not a number; mend it, pass --text 'unit price', or leave the column out with "
        "--ignore",
        "the label 'c' is not among the classes 'a', 'b'; mend it, or name all of them, "
        "--classes a,b,c",
    ]


def test_an_option_of_another_format_and_too_many_classes_are_said_in_options(folder):
    (folder / "a.jsonl").write_text("".join(f'{{"x": 1, "y": {i}}}\n' for i in range(1500)))
    outcome = run("learn", "a.jsonl", "-t", "y", "--separator", ";")
    assert "--separator is for CSV: leave it out" in outcome.stderr
    given = ("--task", "classification", "--forgetting", "0.01")
    outcome = run("learn", "a.jsonl", "-t", "y", *given)
    assert "classes, more than 1000: numbers are learned with --task regression" in outcome.stderr


@pytest.mark.parametrize(
    ("separator", "option"), [(";", "--separator ';'"), ("\t", "--format tsv")]
)
def test_the_option_that_reads_other_separators_is_said_and_works(folder, separator, option):
    (folder / "a.csv").write_text(as_csv(table()).replace(",", separator))
    outcome = run("learn", "a.csv", "-t", "price")
    assert outcome.exit_code == 2
    assert f"pass {option}." in outcome.stderr
    assert run("learn", "a.csv", "-t", "price", *shlex.split(option)).exit_code == 0


def test_a_model_of_other_columns_is_refused(folder):
    run(*GOOD, "--model", "m.dfop")
    outcome = run("predict", "m.dfop", "b.csv")
    assert outcome.exit_code == 2
    assert "'speed': the feature is not a column" in outcome.stderr


def test_predict_advises_nothing_that_it_has_no_option_for(folder):
    run(*GOOD, "--model", "m.dfop")
    (folder / "new.csv").write_text("size,speed,color\n1,2,red\noops,2,red\n")
    outcome = run("predict", "m.dfop", "new.csv")
    assert outcome.exit_code == 3
    options = set(re.findall(r"--[a-z-]+", outcome.stderr))
    assert options == {"--bad-rows"}
    assert options <= set(re.findall(r"--[a-z-]+", run("predict", "--help").stdout))


def test_a_target_that_never_changed_is_said_where_the_task_was_given(folder):
    outcome = run("learn", "constant.csv", "-t", "y", "--task", "regression")
    assert outcome.exit_code == 0
    assert "the target was the same in every row" in outcome.stderr


def test_a_full_disk_is_said_with_the_file_that_did_not_fit(folder, monkeypatch):
    def full(file, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("dfop.checkpoints.disk.os.write", full)
    outcome = run(*GOOD, "--predictions", "p.csv")
    assert outcome.exit_code == 1
    assert "dfop: p.csv: the disk is full. Make room" in outcome.stderr


def test_the_index_that_pandas_wrote_is_left_out_and_that_is_said(folder):
    frame = pd.DataFrame(table(), columns=NAMES)
    frame.to_csv("index.csv")
    frame.to_csv("plain.csv", index=False)
    pd.read_csv("index.csv").to_csv("twice.csv", index=False)
    run("learn", "plain.csv", "-t", "price", "--model", "plain.dfop")
    for name in ("index", "twice"):
        outcome = run("learn", f"{name}.csv", "-t", "price", "--model", f"{name}.dfop")
        assert outcome.exit_code == 0
        assert "column 1 has no name" in outcome.stderr
        assert (folder / f"{name}.dfop").read_bytes() == (folder / "plain.dfop").read_bytes()


def labelled(folder, *, name=str, order=range(300)):
    """Write rows, and their labels an hour later, whose file names rows by `name`."""
    hours = [f"2024-05-{1 + i // 24:02d}T{i % 24:02d}:00" for i in range(400)]
    rows = [f"{i},{hours[t]},{i % 7}\n" for t, i in enumerate(order)]
    (folder / "rows.csv").write_text("id,at,x\n" + "".join(rows))
    labels = [f"{name(i)},{hours[t + 1]},{i % 7 + 0.5}\n" for t, i in enumerate(order)]
    (folder / "labels.csv").write_text("id,at,y\n" + "".join(labels))
    return run("learn", "rows.csv", "-t", "y", "--labels", "labels.csv", "--id", "id",
               "--time", "at", "--forgetting", "0.01", "--model", "m.dfop")  # fmt: skip


def test_labels_that_name_no_row_are_said_and_if_all_are_such_nothing_is_saved(folder):
    outcome = labelled(folder, name=lambda i: "nobody" if i == 9 else str(i))
    assert outcome.exit_code == 0
    assert "\n1 labels named no row" in outcome.stderr
    (folder / "m.dfop").unlink()
    outcome = labelled(folder, name="{:05d}".format)
    assert outcome.exit_code == 1
    assert "none of the 300 labels in labels.csv names a row by its 'id'" in outcome.stderr
    assert not (folder / "m.dfop").exists()


def test_an_id_that_comes_twice_is_named_with_both_rows(folder):
    outcome = labelled(folder, order=[*range(200), 120, *range(201, 300)])
    assert outcome.exit_code == 1
    assert "rows.csv, row 201, column 'id': the id '120' is also that of row 121" in outcome.stderr


def test_a_row_whose_time_runs_backwards_is_named_as_it_stands_in_the_file(folder):
    days = [f"2024-05-{1 + i % 28:02d},{i},{i + 0.5}\n" for i in range(28)]
    days[5] = days[5].replace(",5,", ",five,")
    (folder / "late.csv").write_text("at,x,y\n" + "".join([*days[:20], days[3], *days[20:]]))
    outcome = run("learn", "late.csv", "-t", "y", "--time", "at", "--forgetting", "half-life=3d",
                  "--bad-rows", "skip")  # fmt: skip
    assert outcome.exit_code == 1
    assert "late.csv, row 21, column 'at': the time is earlier" in outcome.stderr


def test_outputs_are_not_written_into_a_folder_that_is_read(folder):
    rows = folder / "rows"
    rows.mkdir()
    pq.write_table(pa.table({"x": [1.0, 2.5] * 50, "y": [0.5, 1.5] * 50}), rows / "a.parquet")
    outcome = run("learn", rows, "-t", "y", "--predictions", rows / "p.parquet")
    assert outcome.exit_code == 2
    assert "in a folder that this run reads" in outcome.stderr
    assert [path.name for path in rows.iterdir()] == ["a.parquet"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(folder):
    (folder / "good.csv").chmod(0)
    outcome = run(*GOOD)
    assert outcome.exit_code == 1
    assert "good.csv: Permission denied" in outcome.stderr


def test_help_shows_examples_before_options():
    for command in ("learn", "predict", "inspect", "evaluate", "compare", "report"):
        text = run(command, "--help").stdout
        assert 0 < text.index("Examples:") < text.index("Options:")
        assert f"\n    dfop {command} " in text


def test_version_and_completion():
    assert run("--version").stdout.startswith("dfop ")
    assert "--install-completion" in run("--help").stdout
