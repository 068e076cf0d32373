"""predict, inspect, evaluate, compare, report and streams, on small files."""

import csv
import json

import numpy as np
import pytest
from sample_files import as_csv, table
from typer.testing import CliRunner

from dfop import DFOPRegressor, evaluate, load
from dfop.cli import app
from dfop.streams import catalogue, read


def run(*arguments):
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


@pytest.fixture
def learned(tmp_path):
    """Return a file, and a model and a checkpoint learned from it; a jump behind the first rows."""
    path = tmp_path / "rows.csv"
    path.write_text(as_csv(table(rows=800)))
    given = ["--model", tmp_path / "m.dfop", "--checkpoint", tmp_path / "state", "--json"]
    summary = json.loads(run("learn", path, "-t", "price", *given))
    return path, tmp_path / "m.dfop", tmp_path / "state", summary


def test_predict_gives_the_models_predictions_and_learns_nothing(learned):
    path, model, _, _ = learned
    before = model.read_bytes()
    rows = list(csv.DictReader(run("predict", model, path).splitlines()))
    batch, _ = read(path, target="price").all_rows()
    expected = load(model).predict(batch)
    np.testing.assert_allclose([float(row["prediction"]) for row in rows], expected, rtol=1e-12)
    ends = load(model).predict_interval(batch)
    np.testing.assert_allclose([float(row["low"]) for row in rows], ends[:, 0], rtol=1e-12)
    assert model.read_bytes() == before


def test_predict_reads_what_the_model_knows_and_writes_ids_and_bad_rows(learned, tmp_path):
    _, model, _, _ = learned
    new = tmp_path / "new.csv"
    new.write_text("id,color,speed,other,size\n007,red,1.5,?,2\n8,blue,oops,?,1\n9,blue,1,?,\n")
    out = run("predict", model, new, "--id", "id", "--bad-rows", "skip")
    rows = list(csv.DictReader(out.splitlines()))
    assert [row["id"] for row in rows] == ["007", "", "9"]
    assert [row["bad"] for row in rows] == ["", "not a number", ""]
    expected = load(model).predict([{"size": 2.0, "speed": 1.5, "color": "red"}])
    assert float(rows[0]["prediction"]) == pytest.approx(expected[0], rel=1e-12)


def test_inspect_says_what_was_learned(learned):
    _, model, _, summary = learned
    facts = json.loads(run("inspect", model, "--json"))
    assert facts["rows"] == facts["learned"] == 800
    assert facts["features"] == ["size", "speed", "color"]
    assert facts["bytes"] == model.stat().st_size
    assert facts["forgetting"]["mu"] == pytest.approx(load(model).forgetting_)
    assert len(facts["alarms"]) == summary["alarms"]["count"] > 0
    text = run("inspect", model)
    for word in ("size", "experts", "row 4", "all weights are finite"):
        assert word in text


def test_inspect_shows_a_single_filter_too(tmp_path, learned):
    run("learn", learned[0], "-t", "price", "--forgetting", 0.01, "--model", tmp_path / "one.dfop")
    facts = json.loads(run("inspect", tmp_path / "one.dfop", "--json"))
    assert facts["forgetting"]["mu"] == 0.01
    assert facts["drift"] is None
    assert not facts["experts"]
    assert max(facts["influence"], key=facts["influence"].get) == "size"


def test_evaluate_prints_the_scores_of_the_library(learned):
    path, *_ = learned
    found = json.loads(run("evaluate", path, "-t", "price", "--forgetting", 0.01, "--json"))
    metrics = evaluate(DFOPRegressor(0.01), read(path, target="price")).metrics
    assert {name: found[name] for name in metrics} == pytest.approx(metrics)
    assert "MSE" in run("evaluate", path, "-t", "price")


def test_compare_scores_every_model_on_the_same_rows(learned):
    path, *_ = learned
    models = "ours,0.01,no-change,mean,river:linear_model.LinearRegression"
    given = ["-t", "price", "--ignore", "color", "--models", models]
    found = json.loads(run("compare", path, *given, "--json"))
    assert list(found["models"]) == models.split(",")
    y = read(path, target="price").all_rows()[1]
    no_change = np.mean((y - np.concatenate([[0.0], y[:-1]])) ** 2)
    assert found["models"]["no-change"]["MSE"] == pytest.approx(no_change)
    stream = read(path, target="price", features=["size", "speed"])
    ours = evaluate(DFOPRegressor(), stream).metrics["MSE"]
    assert found["models"]["ours"]["MSE"] == pytest.approx(ours)


def test_the_usual_models_are_compared_on_text_too(learned):
    text = run("compare", learned[0], "-t", "price")
    for name in ("ours", "linear", "no-change"):
        assert name in text


def test_report_shows_a_run_from_its_checkpoint(learned, tmp_path):
    *_, state, summary = learned
    found = json.loads(run("report", state, "--output", tmp_path / "page.html", "--json"))
    assert found == {name: summary[name] for name in found}
    assert "<html" in (tmp_path / "page.html").read_text("utf-8")


def test_streams_are_listed_shown_and_fetched(tmp_path, monkeypatch):
    assert json.loads(run("streams", "list", "--json")).keys() == catalogue().keys()
    assert "electricity" in run("streams", "list")
    facts = json.loads(run("streams", "show", "sea", "--json"))
    assert (facts["rows"], facts["classes"]) == (50_000, [0, 1])
    monkeypatch.setenv("DFOP_DATA", str(tmp_path))
    monkeypatch.setattr("dfop.cli.streams.find", lambda entry: tmp_path / entry.file)
    assert run("streams", "fetch", "sea").strip() == str(tmp_path / catalogue()["sea"].file)
