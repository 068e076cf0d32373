"""`dfop learn --key`: a model for each value of a column, from a file to a file."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dfop import DFOPClassifier, DFOPRegressor, Keyed, half_life, load
from dfop.cli import app


def run(*arguments, code=0):
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert outcome.exit_code == code or (code is None and outcome.exit_code in (1, 2)), (
        outcome.output
    )
    return outcome.stdout if code == 0 else outcome.stderr


@pytest.fixture
def orders(tmp_path):
    """Customers with gaps and text, whose times are in order for each of them, not for all."""
    rng = np.random.default_rng(0)
    n = 400
    customer = rng.integers(0, 25, n)
    at = np.datetime64("2024-03-01", "s") + 600 * np.arange(n) - 86400 * (customer % 3)
    frame = pd.DataFrame(
        {
            "customer": [f"c{k}" for k in customer],
            "at": at,
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(3)),
            "city": rng.choice(["rome", "oslo", None], n),
            "amount": (customer + rng.normal(size=n)).round(3),
        }
    )
    frame["late"] = np.where(frame["amount"] > 12, "yes", "no")
    frame.to_csv(tmp_path / "orders.csv", index=False)
    return tmp_path / "orders.csv", frame


def predicted(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("forgetting", [0.01, "few"])
@pytest.mark.parametrize("target", ["amount", "late"])
def test_predictions_are_those_of_keyed(orders, tmp_path, target, forgetting):
    path, frame = orders
    other = "late" if target == "amount" else "amount"
    out, model = tmp_path / "p.csv", tmp_path / "m.dfop"
    summary = json.loads(
        run("learn", path, "-t", target, "--key", "customer", "--ignore", f"at,{other}",
            "--forgetting", str(forgetting), "--predictions", out, "--model", model, "--json")
    )  # fmt: skip
    face = DFOPRegressor if target == "amount" else DFOPClassifier
    keyed = Keyed(face(forgetting))
    X = frame[["size", "city"]]
    given = {} if target == "amount" else {"classes": ["no", "yes"]}
    ahead = keyed.ahead_then_learn(frame["customer"], X, frame[target], **given)
    rows = predicted(out)
    assert [row["key"] for row in rows] == frame["customer"].tolist()
    shown = [row["prediction"] for row in rows]
    assert ([float(cell) for cell in shown] if target == "amount" else shown) == (
        ahead.prediction.tolist()
    )
    assert summary["rows"] == 400
    again = list(csv.DictReader(
        run("predict", model, path, "--key", "customer").splitlines()
    ))  # fmt: skip
    now = keyed.ahead(frame["customer"], X)
    column = "prediction" if target == "amount" else "probability"
    expected = now.prediction if target == "amount" else now.probability
    assert [float(row[column]) for row in again] == expected.tolist()


def test_inspect_tells_keys_sizes_and_what_was_given_up(orders, tmp_path):
    path, _ = orders
    model = tmp_path / "m.dfop"
    run("learn", path, "-t", "amount", "--key", "customer", "--features", "size", "--expire", "60",
        "--forgetting", "0.01", "--model", model, "--shared")  # fmt: skip
    keyed, found = load(model), json.loads(run("inspect", model, "--json"))
    assert found["keys"] == len(keyed) <= 25
    assert found["expired"] == keyed.expired_ > 0
    assert found["features"] == ["size"]
    assert (found["evicted"], found["limited rows"]) == (0, keyed.limited_rows_)
    text = run("inspect", model)
    assert f"{len(keyed):,}, {keyed.bytes_per_key_:,} bytes each" in text
    assert "a model of all keys" in text


@pytest.mark.parametrize("delay", [0, 40])
def test_a_killed_run_of_small_banks_goes_on(orders, tmp_path, delay):
    path, frame = orders
    half, rest = tmp_path / "half.csv", tmp_path / "rest.csv"
    frame[:170].to_csv(half, index=False)
    frame[170:].to_csv(rest, index=False)
    given = ["-t", "amount", "--key", "customer", "--features", "size", "--forgetting", "few"]
    given += ["--delay", str(delay)] if delay else []
    state, model, whole = tmp_path / "state", tmp_path / "m.dfop", tmp_path / "whole.dfop"
    run("learn", half, *given, "--checkpoint", state)
    run("learn", half, rest, *given, "--checkpoint", state, "--model", model)
    run("learn", path, *given, "--model", whole)
    rows = frame["customer"], frame[["size"]]
    assert load(model).predict(*rows).tolist() == load(whole).predict(*rows).tolist()
    assert json.loads(run("inspect", model, "--json"))["limited rows"] is None
    assert "limits" not in run("inspect", model)


@pytest.mark.parametrize("forgetting", [0.01, "few"])
def test_a_page_and_late_labels_by_key(orders, tmp_path, forgetting):
    path, frame = orders
    page, out = tmp_path / "page.html", tmp_path / "p.csv"
    run("learn", path, "-t", "amount", "--key", "customer", "--features", "size", "--delay", "30",
        "--forgetting", str(forgetting), "--report", page, "--predictions", out)  # fmt: skip
    assert page.stat().st_size > 10_000
    keyed, expected = Keyed(DFOPRegressor(forgetting)), []
    for t in range(400):
        if t > 30:  # 30 rows lie between
            keyed.learn_pending([t - 31], frame["amount"][t - 31 : t - 30])
        row = frame[t : t + 1]
        expected += keyed.predict_pending(row["customer"], row[["size"]], [t]).tolist()
    assert [float(row["prediction"]) for row in predicted(out)] == expected


def test_late_labels_of_customers_who_are_gone_by_the_clock_of_a_shared_model(orders, tmp_path):
    path, frame = orders
    frame = frame.sort_values("at", kind="stable", ignore_index=True)
    frame.to_csv(path, index=False)
    out, model = tmp_path / "p.csv", tmp_path / "m.dfop"
    run("learn", path, "-t", "amount", "--key", "customer", "--features", "size", "--time", "at",
        "--forgetting", "half-life=1d", "--expire", "2h", "--shared", "--delay", "30",
        "--predictions", out, "--model", model)  # fmt: skip
    keyed, expected = Keyed(DFOPRegressor(half_life("1d")), expire="2h", shared=True), []
    for t in range(400):
        if t > 30:
            keyed.learn_pending([t - 31], frame["amount"][t - 31 : t - 30])
        row = frame[t : t + 1]
        at = row["at"].to_numpy()
        expected += keyed.predict_pending(row["customer"], row[["size"]], [t], time=at).tolist()
    assert [float(row["prediction"]) for row in predicted(out)] == expected
    assert keyed.expired_rows_ > 0
    assert load(model).expired_rows_ >= keyed.expired_rows_  # and the labels after the last row


def test_the_clock_of_each_key_runs_by_itself(orders, tmp_path):
    path, frame = orders
    model = tmp_path / "m.dfop"
    given = ["-t", "amount", "--key", "customer", "--features", "size", "--time", "at"]
    run("learn", path, *given, "--forgetting", "half-life=7d", "--expire", "30d", "--model", model)
    assert len(load(model)) == frame["customer"].nunique()
    frame.sort_values("size").to_csv(path, index=False)
    said = run("learn", path, *given, "--forgetting", "half-life=7d", code=None)
    assert "time runs backwards" in said
    assert "key" in said


def test_what_cannot_be_is_a_sentence(orders, tmp_path):
    path, _ = orders
    usual = ["-t", "amount", "--forgetting", "0.01"]
    assert "--key" in run("learn", path, *usual, "--shared", code=None)
    assert "also the id" in run("learn", path, *usual, "--key", "amount", code=None)
    assert "nobody" in run("learn", path, *usual, "--key", "nobody", code=2)
    model = tmp_path / "m.dfop"
    run("learn", path, *usual, "--key", "customer", "--features", "size", "--model", model)
    assert "--key COLUMN" in run("predict", model, path, code=2)
