"""Predictions whose labels come late: how sure each was when its row came."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dfop import DFOPClassifier, DFOPRegressor
from dfop.cli import app

ROWS, HOUR = 400, np.timedelta64(1, "h")


def run(*arguments):
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert outcome.exit_code == 0, outcome.stderr
    return outcome


@pytest.fixture(params=["number", "label"])
def frame(request, tmp_path, monkeypatch):
    """Rows, an hour each, with their target."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 2)).round(4)
    y = (X @ [1.0, -1.0] + 0.5 * rng.normal(size=ROWS)).round(4)
    if request.param == "label":
        y = np.where(y > 0, "up", "down")
    at = np.datetime64("2024-05-01T00:00:00", "ns") + HOUR * np.arange(ROWS)
    return pd.DataFrame({"id": [f"r{t}" for t in range(ROWS)], "at": at, "a": X[:, 0],
                         "b": X[:, 1], "y": y})  # fmt: skip


def expected(frame, later):
    """Ask the library; the label of a row is known to the row that comes so much `later`."""
    X, y = frame[["a", "b"]], frame["y"].to_numpy()
    labels = y.dtype.kind != "f"
    model = (DFOPClassifier if labels else DFOPRegressor)()
    due = np.arange(ROWS - later)
    given = {"classes": ["down", "up"]} if labels else {}
    return model.ahead_pending(X, range(ROWS), labels=(due, y[due], due + later), **given)


def same(found, ahead):
    if ahead.interval is None:
        assert found["prediction"].tolist() == ahead.prediction.tolist()
        np.testing.assert_allclose(found["probability"], ahead.probability, rtol=1e-12)
        return
    np.testing.assert_allclose(found["prediction"], ahead.prediction, rtol=1e-12, atol=1e-15)
    ends = np.where(np.isfinite(ahead.interval), ahead.interval, np.nan)
    np.testing.assert_allclose(found[["low", "high"]], ends, rtol=1e-12, atol=1e-15)
    assert found["low"].notna().mean() > 0.5


@pytest.mark.parametrize(("delay", "later"), [("24", 25), ("24h", 24)])
def test_with_a_delay(frame, delay, later):
    frame.to_csv("rows.csv", index=False)
    outcome = run("learn", "rows.csv", "-t", "y", "--id", "id", "--time", "at", "--delay", delay,
                  "--predictions", "p.parquet", "--json")  # fmt: skip
    found = pd.read_parquet("p.parquet")
    same(found, expected(frame, later))
    assert found["label"].tolist() == frame["y"].tolist()
    summary = json.loads(outcome.stdout)
    tested = summary["coverage"] if frame["y"].dtype.kind == "f" else summary["calibration"]
    assert tested, "the page shows how sure it was, too"


def test_with_labels_from_a_file_of_their_own(frame):
    late = frame[["id", "at", "y"]].assign(at=frame["at"] + 24 * HOUR)
    frame.drop(columns="y").to_csv("rows.csv", index=False)
    late.to_csv("late.csv", index=False)
    run("learn", "rows.csv", "-t", "y", "--labels", "late.csv", "--id", "id", "--time", "at",
        "--predictions", "p.parquet")  # fmt: skip
    found = pd.read_parquet("p.parquet")
    same(found, expected(frame, 24))
    assert found["label"].isna().all()  # a line is written before its label comes


def test_times_in_milliseconds_are_those_in_seconds(frame):
    seconds = frame["at"].astype("int64") // 10**9
    given = ["-t", "y", "--id", "id", "--time", "at", "--delay", "24h", "--forgetting",
             "half-life=3d", "--predictions"]  # fmt: skip
    for name, ticks in (("s", 1), ("ms", 1000), ("us", 10**6), ("ns", 10**9)):
        frame.assign(at=seconds * ticks).to_csv(f"{name}.csv", index=False)
        run("learn", f"{name}.csv", *given, f"p-{name}.csv")
    written = {name: Path(f"p-{name}.csv").read_text() for name in ("s", "ms", "us", "ns")}
    assert written["ms"] == written["us"] == written["ns"] == written["s"]
