"""The long proofs of `make kills`: real signals, a real full disk, a file of two million rows."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import forked

pytestmark = pytest.mark.slow
DFOP = [sys.executable, "-m", "dfop"]
LEARN = [*DFOP, "learn", "rows.csv", "-t", "price", "--forgetting", "0.001", "--bad-rows",
         "quarantine=bad.csv", "--checkpoint", "state", "--every", "2000", "--predictions",
         "p.parquet", "--model", "m.dfop", "--json", "--quiet"]  # fmt: skip
FILES = ("p.parquet", "m.dfop", "bad.csv")


def write_rows(path, rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 4)).round(3)
    y = (X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=rows)).round(3)
    with open(path, "w") as file:
        file.write("a,b,c,color,price\n")
        for t, (row, price) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            first = "oops" if t % 5000 == 77 else row[0]
            file.write(f"{first},{row[1]},{row[2]},{'red' if row[3] > 0 else 'blue'},{price}\n")


def run(folder):
    return subprocess.run(LEARN, cwd=folder, capture_output=True, text=True)


def left_by(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def figures(outcome):
    return {**json.loads(outcome.stdout), "speed": None}


def forked_figures(folder):
    """Run to the end as a fork that has everything loaded; return its figures."""
    outcome = forked.run(LEARN[len(DFOP) :], folder)
    assert outcome.returncode == 0, outcome.stderr
    return figures(outcome)


def reached(folder):
    """Return how many generations a run has written."""
    names = [path.name for path in (folder / "state").glob("generation-*")]
    return max((int(name[11:17]) for name in names), default=0)


def kill_at(folder, moment, pace):
    """Begin a run, kill it after so many generations, whole ones and a share of the next.

    Return where it then stood; None where it had ended before.
    """
    with open(os.devnull, "r+") as nothing:
        process = forked.Command(LEARN[len(DFOP) :], folder, [nothing.fileno()] * 3).process
    while process.exitcode is None and reached(folder) < int(moment):
        process.join(0.002)
    process.join(moment % 1 * pace)
    process.kill()
    process.join()
    return reached(folder) if process.exitcode == -signal.SIGKILL else None


def test_a_hundred_kills_at_random_moments_change_nothing(tmp_path, capsys):
    whole = tmp_path / "whole"
    whole.mkdir()
    write_rows(whole / "rows.csv", 40_000)
    expected = run(whole)
    assert expected.returncode == 0, expected.stderr
    last = reached(whole)

    def begun(name):
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(whole / "rows.csv", folder)
        return folder

    forked_figures(begun("first"))  # starts the server that forks
    start = time.monotonic()
    assert forked_figures(begun("timed")) == figures(expected)
    pace = (time.monotonic() - start) / last
    kills, rng = [], random.Random(0)
    for number in range(200):
        folder, here = begun(f"killed {number}"), []
        while len(here) < 4:
            at = kill_at(folder, rng.uniform(reached(folder), last + 1), pace)
            if at is None:
                break
            here.append(at)
        # every tenth is ended by a command of its own
        found = figures(run(folder)) if number % 10 == 0 else forked_figures(folder)
        assert left_by(folder) == left_by(whole)
        assert found == figures(expected)
        shutil.rmtree(folder)
        kills += here
        if number >= 99 and len(kills) >= 100:
            break
    with capsys.disabled():
        print(f"{number + 1} runs, {len(kills)} kills, {len(set(kills))} of {last} generations")
    assert len(kills) >= 100
    assert len(set(kills)) >= last // 2  # all along the run


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, of so many bytes."""
    mounted = []

    def mount(name, size):
        folder = tmp_path / name
        folder.mkdir()
        outcome = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
            capture_output=True,
        )
        if outcome.returncode:
            pytest.skip("no file system may be mounted here")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full_at_any_size_leaves_a_run_that_goes_on(tmp_path, small_disk):
    whole = tmp_path / "whole"
    whole.mkdir()
    write_rows(whole / "rows.csv", 20_000)
    expected = run(whole)
    used = sum(p.stat().st_size for p in whole.rglob("*") if p.is_file())
    source = (whole / "rows.csv").stat().st_size
    stops = 0
    for k in range(12):
        room = source + int((used - source) * k / 11) + 8192
        folder = small_disk(f"small {k}", room)
        shutil.copy(whole / "rows.csv", folder)
        outcome = run(folder)
        if outcome.returncode:
            stops += 1
            assert "the disk is full" in outcome.stderr
            subprocess.run(["mount", "-o", "remount,size=100M", str(folder)], check=True)
            outcome = run(folder)
        assert outcome.returncode == 0, outcome.stderr
        assert left_by(folder) == left_by(whole)
        assert figures(outcome) == figures(expected)
    assert stops >= 6


def test_two_million_rows_with_gaps_garbage_and_late_labels_in_one_command(tmp_path):
    from dfop import DFOPRegressor
    from dfop.streams import read

    n, rng = 2_000_000, np.random.default_rng(0)
    at = np.datetime64("2024-01-01", "s") + np.arange(n) * 5
    X = rng.normal(size=(n, 6)).round(3)
    words = [rng.integers(300, size=n), rng.integers(500, size=n)]
    worth = rng.normal(size=300)
    y = (X @ rng.normal(size=6) + worth[words[0]] + rng.normal(size=n)).round(3)
    gaps, garbage = rng.random((n, 6)) < 0.01, rng.random(n) < 0.001
    with open(tmp_path / "rows.csv", "w") as rows, open(tmp_path / "late.csv", "w") as late:
        rows.write("id,at,a,b,c,d,e,f,city,shop\n")
        late.write("id,at,y\n")
        for t in range(n):
            cells = ["" if gaps[t, j] else f"{X[t, j]}" for j in range(6)]
            if garbage[t]:
                cells[0] = "###"
            places = f"city {words[0][t]},shop {words[1][t]}"
            rows.write(f"{t},{at[t]},{','.join(cells)},{places}\n")
            late.write(f"{t},{at[t] + np.timedelta64(3, 'D')},{y[t]}\n")
    given = [*DFOP, "learn", "rows.csv", "-t", "y", "--labels", "late.csv", "--id", "id", "--time",
             "at", "--forgetting", "0.0001", "--bad-rows", "skip", "--checkpoint", "state",
             "--predictions", "p.parquet", "--report", "r.html", "--json",
             "--quiet"]  # fmt: skip
    outcome = subprocess.run(given, cwd=tmp_path, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    summary = json.loads(outcome.stdout)
    assert summary["bad_rows"]["total"] == garbage.sum()
    assert summary["rows"] == n - garbage.sum()
    # the library on the clean rows: a delay of as many rows as three days bring
    stream = read(tmp_path / "rows.csv", target=(), time="at", ignore=["id"], bad_rows="skip")
    model, total, start = DFOPRegressor(0.0001), 0.0, 0
    clean, label = at[~garbage], y[~garbage]
    came = np.searchsorted(clean + np.timedelta64(3, "D"), clean, side="right")
    for batch, _ in stream.pieces(0, None):
        stop = start + len(batch)
        due = np.arange(came[start - 1] if start else 0, came[stop - 1])
        before = np.searchsorted(came[start:stop], due, side="right")
        given = {"labels": (due.tolist(), label[due], before)} if len(due) else {}
        ahead = model.predict_pending(batch, list(range(start, stop)), **given)
        total += float(np.sum((ahead - label[start:stop]) ** 2))
        start = stop
    assert summary["error"]["overall"] == pytest.approx(total / start, rel=1e-9)
    assert os.path.getsize(tmp_path / "r.html") < 1.5e6
