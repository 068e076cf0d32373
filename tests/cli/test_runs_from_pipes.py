"""Pipes and signals: rows are answered as they come, a run that is stopped is saved."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sample_files import as_csv, table

from forked import Piped, run

LEARN = ["learn", "-", "-t", "price", "--task", "regression", "--forgetting", "0.01"]


@pytest.fixture
def rows():
    return as_csv(table()).splitlines(keepends=True)


def test_a_slow_pipe_is_answered_row_by_row(tmp_path, rows):
    with Piped([*LEARN, "--predictions", "-", "--quiet"], tmp_path) as process:
        process.stdin.writelines(rows[:20])
        process.stdin.flush()
        for _ in range(20):
            process.stdout.readline()
        for t, row in enumerate(rows[20:30], 20):
            process.stdin.write(row)
            process.stdin.flush()
            answer = process.stdout.readline()  # comes although no further row is there
            assert answer.startswith(f"{t},")
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait() == 0


@pytest.mark.parametrize(("which", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_and_saves_a_run_that_waits(tmp_path, rows, which, code):
    given = [*LEARN, "--checkpoint", "state", "--predictions", "-", "--model", "m.dfop"]
    with Piped(given, tmp_path) as process:
        process.stdin.writelines(rows[:101])
        process.stdin.flush()
        for _ in range(101):
            process.stdout.readline()
        process.send_signal(which)
        words = process.stderr.read()
        assert process.wait() == code, words
    assert "stopped after row 100, and saved" in words
    assert (tmp_path / "m.dfop").is_file()
    outcome = run([*given, "--skip", "100"], tmp_path, "".join(rows))
    assert outcome.returncode == 0, outcome.stderr
    assert "100 rows of the pipe are committed" in outcome.stderr
    assert outcome.stdout.splitlines()[1].startswith("101,")
    assert len(outcome.stdout.splitlines()) == 301


def test_a_signal_while_a_file_is_learned_stops_after_the_batch(tmp_path, rows):
    (tmp_path / "rows.csv").write_text(rows[0] + "".join(rows[1:]) * 500)
    given = ["learn", "rows.csv", "-t", "price", "--checkpoint", "state", "--model", "m.dfop"]
    with Piped([*given, "--progress-json"], tmp_path) as process:
        process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        words = process.stderr.read()
        assert process.wait() == 143, words
    done = json.loads(run(["report", "state", "--json"], tmp_path).stdout)
    assert 0 < done["rows"] < 200_000


STOPPED_AT = """
import os, signal, sys
calls = 0
def count(frame, *_):
    global calls
    calls += 1
    if {where}:
        sys.settrace(None)
        os.kill(os.getpid(), signal.SIGINT)
from dfop.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
sys.settrace(count)
main()
"""
NAMES = ("import_module", "resolve_command", "get_params_from_function", "track")
MOMENTS = [f"frame.f_code.co_name == {name!r}" for name in NAMES]
MOMENTS += [f"calls == {calls}" for calls in (1_000, 30_000, 200_000)]


@pytest.mark.parametrize("where", MOMENTS)
def test_ctrl_c_at_any_moment_says_one_word(tmp_path, where):
    """Of the calls: one loads, one chooses the command, one reads options, one works."""
    code = [sys.executable, "-c", STOPPED_AT.format(where=where), "demo"]
    outcome = subprocess.run(code, cwd=tmp_path, capture_output=True, text=True)
    assert (outcome.returncode, outcome.stderr) == (130, "dfop: stopped\n")
    assert "Picture saved" not in outcome.stdout


def test_a_closed_pipe_is_silent(tmp_path, rows):
    (tmp_path / "rows.csv").write_text(rows[0] + "".join(rows[1:]) * 100)
    arguments = ["learn", "rows.csv", "-t", "price", "--forgetting", "0.01", "--quiet"]
    with Piped([*arguments, "--predictions", "-"], tmp_path) as process:
        assert process.stdout.readline().startswith("row,")
        process.stdout.close()
        words = process.stderr.read()
        assert process.wait() == 141
    assert words == ""


def test_a_named_pipe_is_a_source(tmp_path, rows):
    os.mkfifo(tmp_path / "rows.csv")
    with Piped(["learn", "rows.csv", "-t", "price", "--json", "-q"], tmp_path) as process:
        with open(tmp_path / "rows.csv", "w") as pipe:
            pipe.writelines(rows)
        summary = json.loads(process.stdout.read())
        assert process.wait() == 0
    assert summary["rows"] == 400


def test_no_color_and_no_terminal_leave_plain_text(tmp_path, rows):
    (tmp_path / "rows.csv").write_text("".join(rows))
    outcome = subprocess.run(
        [sys.executable, "-m", "dfop", "learn", "rows.csv", "-t", "price"],
        cwd=tmp_path, capture_output=True, check=True,
        env={**os.environ, "NO_COLOR": "1", "FORCE_COLOR": ""},
    )  # fmt: skip
    assert b"\x1b" not in outcome.stderr
    assert outcome.stdout == b""


def test_killed_with_signal_nine_and_started_again_is_as_if_nothing_had_happened(tmp_path, rows):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    given = ["learn", "rows.csv", "-t", "price", "--checkpoint", "state", "--every", "1",
             "--predictions", "p.parquet", "--model", "m.dfop", "--json",
             "--progress-json"]  # fmt: skip
    for folder in (whole, killed):
        folder.mkdir()
        (folder / "rows.csv").write_text(rows[0] + "".join(rows[1:]) * 100)
    expected = run(given, whole)
    with Piped(given, killed) as process:
        process.stderr.readline()
        process.kill()
        assert process.wait() == -signal.SIGKILL
    found = run(given, killed)
    assert "going on after row" in found.stderr
    same_files(whole, killed)
    first, second = (json.loads(outcome.stdout) for outcome in (expected, found))
    assert {**first, "speed": 0} == {**second, "speed": 0}


def same_files(a: Path, b: Path):
    for name in ("p.parquet", "m.dfop"):
        assert (a / name).read_bytes() == (b / name).read_bytes()


def test_a_pipe_that_begins_again_is_refused_by_its_ids_and_goes_on_with_skip(tmp_path):
    rows = [f"{i},{i % 7},{i % 7 + 0.5}\n" for i in range(300)]
    given = ["learn", "-", "-t", "y", "--id", "id", "--forgetting", "0.01", "--quiet",
             "--checkpoint", "state", "--predictions", "p.csv"]  # fmt: skip

    def send(lines, *further):
        text = "id,x,y\n" + "".join(lines)
        return run([*given, *further], tmp_path, text)

    assert send(rows[:100]).returncode == 0
    outcome = send(rows)
    assert outcome.returncode == 4
    assert "begins with the first row again (id '0')" in outcome.stderr
    assert send(rows[:200], "--skip", "100").returncode == 0
    outcome = send(rows[200:])
    assert outcome.returncode == 0
    assert "200 rows of the pipe are committed" in outcome.stderr  # also where it is quiet
    lines = (tmp_path / "p.csv").read_text().splitlines()[1:]
    assert [int(line.split(",")[0]) for line in lines] == list(range(1, 301))
    assert [line.split(",")[1] for line in lines] == [f'"{i}"' for i in range(300)]
