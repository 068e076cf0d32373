"""Machines of a cluster are killed at random moments: nothing is lost, nothing counts twice.

In each of ``DFOP_KILLS`` runs (20) an executor or the driver is killed once while a stored stream
is learned and once while a stream of keys is, with late labels and keys that expire;
`make spark-kills`.
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
from events import as_frame, learners_apart, records
from killed_run import EXPIRE, FEATURES, HALF_LIFE, KEYS, LATE, PARTS, PROBES, ROWS

from dfop import DFOPRegressor, half_life, load
from dfop.forgetting import seconds_of
from dfop.spark.bucket import COMPLETE, WAITING

PROGRAM = Path(__file__).with_name("killed_run.py")
RUNS = int(os.environ.get("DFOP_KILLS", "20"))
DRAWS = 5
PATIENCE = 3600  # seconds; a machine may be busy


def rows():
    rng = np.random.default_rng(11)
    n = PARTS * ROWS
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=FEATURES)
    frame["y"] = frame[FEATURES] @ [1.0, 2.0, 3.0] + rng.normal(size=n)
    frame["t"] = np.arange(n)
    return frame


def write(frame, folder):
    """Write a part of a stream to a file each, in their order."""
    folder.mkdir(parents=True)
    for part in range(PARTS):
        some = frame.iloc[part * ROWS : (part + 1) * ROWS]
        path = folder / f"{part}.parquet"
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


def surely_kept(events):
    """Return the keys that no watermark has let expire when the last record has come."""
    moves = np.isin(events.kinds, (COMPLETE, WAITING))
    idle = events.times[-1] - events.times - pd.Timedelta(LATE).value // 1000
    return set(events.keys[moves & (idle <= expire_micros())].tolist())


def expire_micros():
    return round(seconds_of(EXPIRE) * 1e6)


def check_stream(folder, expected, known):
    """Every record came out once, as learners of each key predict it; so do the models."""
    predicted, learned, models = expected
    found = pd.read_parquet(folder / "found.parquet").sort_values("at")
    np.testing.assert_array_equal(found["prediction"], predicted)
    np.testing.assert_array_equal(found["learned"], learned)
    kept = np.load(folder / "models.npz")
    assert known, "those of the last hours"
    assert known <= set(map(int, kept.files)) <= set(models)
    for key in kept.files:  # timers have removed others, when depends on the micro-batches
        np.testing.assert_array_equal(kept[key], models[int(key)].predict(PROBES))


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_counts_twice(tmp_path, capsys):
    """Something is killed in both phases of every run; where one ended before, again."""
    frame, events = rows(), records(11, n=PARTS * ROWS, keys=KEYS)
    expected = learners_apart(events, half_life(HALF_LIFE), expire_micros())
    known = surely_kept(events)
    sequential = DFOPRegressor(0.001).fit(frame[FEATURES], frame["y"])
    calm, usual = None, {}
    for seed in range(-1, RUNS):  # the first is left in peace
        rng = np.random.default_rng(seed + 1)
        for draw in range(DRAWS):
            folder = tmp_path / f"{seed}-{draw}"
            write(frame, folder / "in")
            write(as_frame(events), folder / "events")
            moments = {name: rng.uniform(0.0, took) for name, took in usual.items()}
            killed, took = run(folder, moments, rng)
            model = load(folder / "model.dfop")
            if calm is None:
                calm, usual = model, took
                np.testing.assert_allclose(calm.coef_, sequential.coef_, atol=1e-9)
            np.testing.assert_array_equal(model.coef_, calm.coef_)
            np.testing.assert_array_equal(model.intercept_, calm.intercept_)
            check_stream(folder, expected, known)
            with capsys.disabled():
                print(f"run {seed}: killed {killed}, bit for bit the same", flush=True)
            struck = {where for where, _ in killed}
            if struck == set(moments):
                break
            usual |= {where: took[where] for where in took.keys() - struck}
        else:
            pytest.fail(f"run {seed}: {DRAWS} times a phase ended before its kill")
