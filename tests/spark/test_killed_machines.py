"""Machines of a cluster are killed at random moments: nothing is lost, nothing counts twice.

In each of ``DFOP_KILLS`` runs (20) an executor or the driver is killed once while a stored stream
is learned and once while a stream of keys is; `make spark-kills`.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from killed_run import FEATURES, KEYS, PARTS, ROWS

from dfop import DFOPRegressor, load

PROGRAM = Path(__file__).with_name("killed_run.py")
RUNS = int(os.environ.get("DFOP_KILLS", "20"))
PATIENCE = 3600  # seconds; a machine may be busy


def rows():
    rng = np.random.default_rng(11)
    n = PARTS * ROWS
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=FEATURES)
    frame["y"] = frame[FEATURES] @ [1.0, 2.0, 3.0] + rng.normal(size=n)
    frame["t"] = np.arange(n)
    frame["key"] = rng.integers(KEYS, size=n)
    frame["at"] = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(frame["t"], unit="s")
    return frame


def write(frame, folder):
    (folder / "in").mkdir(parents=True)
    for part in range(PARTS):
        some = frame.iloc[part * ROWS : (part + 1) * ROWS]
        path = folder / "in" / f"{part}.parquet"
        some.to_parquet(path, coerce_timestamps="us")
        os.utime(path, (part + 1, part + 1))  # the order in which a stream of files reads them


def processes(session):
    """Return pid and command of all processes that a program has started, and of itself."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if folder.name.isdigit() and int(fields[3]) == session and fields[0] != "Z":
                found[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:
            continue
    return found


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def started(folder):
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder)],
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def phase(folder):
    marker = folder / "phase"
    return marker.read_text() if marker.exists() else "start"


def run(folder, moments, rng):
    """Run the program until it has ended well; kill something so long after a phase began.

    Returns what was killed and in which phase, and how long each phase took.
    """
    killed, began, left = [], {}, dict(moments)
    end = time.monotonic() + PATIENCE
    child = started(folder)
    try:
        while child.poll() != 0:
            assert time.monotonic() < end, f"not at its end after {PATIENCE} s, killed: {killed}"
            if child.returncode is not None:
                kill(processes(child.pid))
                child = started(folder)
            now, here = time.monotonic(), phase(folder)
            began.setdefault(here, now)
            if here in left and now - began[here] >= left[here]:
                del left[here]
                killed.append((here, _kill_something(child, rng)))
            time.sleep(0.05)
    finally:
        kill(processes(child.pid))
    began.setdefault("end", time.monotonic())
    took = {"fit": began["stream"] - began["fit"], "stream": began["end"] - began["stream"]}
    return killed, took


def _kill_something(child, rng):
    there = processes(child.pid)
    executors = [pid for pid, command in there.items() if "ExecutorBackend" in command]
    if executors and rng.random() < 0.6:
        kill([int(rng.choice(executors))])
        return "executor"
    kill([pid for pid in there if pid not in executors])
    child.wait()
    return "driver"


def apart(frame):
    """Return what a learner per key predicts, and the learners."""
    expected, models = np.empty(len(frame)), {}
    for key, some in frame.groupby("key"):
        models[key] = DFOPRegressor(0.01)
        expected[some["t"]] = models[key].predict_then_learn(
            some[FEATURES].to_numpy(), some["y"].to_numpy()
        )
    return expected, models


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_counts_twice(tmp_path, capsys):
    frame = rows()
    expected, models = apart(frame)
    sequential = DFOPRegressor(0.001).fit(frame[FEATURES], frame["y"])
    calm, usual = None, {}
    for seed in range(-1, RUNS):  # the first is left in peace
        folder, rng = tmp_path / str(seed), np.random.default_rng(seed + 1)
        write(frame, folder)
        moments = {name: rng.uniform(0.0, took) for name, took in usual.items()}
        killed, took = run(folder, moments, rng)
        model = load(folder / "model.dfop")
        if calm is None:
            calm, usual = model, took
            np.testing.assert_allclose(calm.coef_, sequential.coef_, atol=1e-9)
        np.testing.assert_array_equal(model.coef_, calm.coef_)
        np.testing.assert_array_equal(model.intercept_, calm.intercept_)
        found = pd.read_parquet(folder / "found.parquet").sort_values("at")
        assert len(found) == len(frame)
        np.testing.assert_array_equal(found["prediction"], expected)
        weights = np.load(folder / "weights.npz")
        assert set(weights) == {str(key) for key in models}
        for key, one in models.items():
            np.testing.assert_array_equal(weights[str(key)], one.coef_)
        with capsys.disabled():
            print(f"run {seed}: killed {killed}, bit for bit the same", flush=True)
