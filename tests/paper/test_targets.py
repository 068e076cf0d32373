"""Each target runs with no data at all, writes what it promises, and continues after a kill."""

import csv
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from dfop.cli import app
from dfop.insight.plotting import panels
from dfop.paper import TARGETS, Run
from dfop.paper.scores import Scores
from dfop.paper.settings import CLASSIFICATION, SEVEN, find
from dfop.paper.supply import supply


def read(run, name):
    return list(csv.DictReader((run.folder / f"{name}.csv").read_text("utf-8").splitlines()))


def test_classification_without_data_uses_the_generators_and_says_so(run):
    run.only = ("SEA", "UG-2C-3D", "Chess")
    TARGETS["classification"](run)
    lines = read(run, "classification")
    assert {line["stream"] for line in lines} == {"SEA", "UG-2C-3D"}
    assert {line["source"] for line in lines} == {"generated", "stand-in, generated"}
    assert len(lines) == 2 * 11
    dfop = next(ln for ln in lines if ln["stream"] == "SEA" and ln["method"] == "DFOP")
    assert float(dfop["mean"]) > 80
    assert float(dfop["difference"]) == pytest.approx(float(dfop["mean"]) - 87.99, abs=1e-3)
    assert any("Chess" in message and "left out" in message for message in run.messages)
    page = (run.folder / "classification.md").read_text("utf-8")
    assert "Quick run" in page
    assert "does not state its protocol" in page
    assert "win/tie/loss of DFOP, our 1" in page  # the stand-in does not count
    assert (run.folder / "classification.png").read_bytes().startswith(b"\x89PNG")
    assert (run.folder / "classification.svg").exists()


def test_classification_continues_after_a_kill(run):
    code = (
        "import dfop.streams.download as download; from dfop.streams import DownloadError\n"
        "def refuse(*_): raise DownloadError('no network')\n"
        "download._fetch = refuse\n"
        "from pathlib import Path; from dfop.paper import TARGETS, Run; "
        f"TARGETS['classification'](Run(Path({str(run.folder)!r}), quick=True, jobs=1, "
        "only=('1CDT',)))"
    )
    fast, slow = (run.record("classification", "1CDT", group) for group in ("fast", "slow"))
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while process.poll() is None and not (slow.exists() and slow.read_bytes().count(b"\n") > 1):
            time.sleep(0.02)
        process.kill()
    kept = fast.read_bytes(), slow.read_bytes()
    assert kept[0].count(b"\n") == 1 + 2 * 8  # the header and two trials of the fast methods
    assert 1 < kept[1].count(b"\n") < 1 + 2 * 3
    assert not (run.folder / "classification.csv").exists()
    run.only = ("1CDT",)
    TARGETS["classification"](run)
    assert fast.read_bytes() == kept[0]  # nothing was done twice
    assert slow.read_bytes().startswith(kept[1][: kept[1].rindex(b"\n") + 1])
    assert len(read(run, "classification")) == 11


def test_robustness_is_the_ratio_of_the_accuracies_of_classification(run):
    run.only = ("2CDT", "2CHT")
    TARGETS["classification"](run)
    TARGETS["robustness"](run)
    accuracy = {
        (ln["stream"], ln["method"]): float(ln["mean"]) for ln in read(run, "classification")
    }
    for line in read(run, "robustness"):
        worst = min(accuracy[line["stream"], m] for m in SEVEN)
        ratio = accuracy[line["stream"], line["method"]] / worst
        assert float(line["robustness"]) == pytest.approx(ratio, abs=1e-3)
    assert (run.folder / "robustness.png").exists()


def test_regression_without_data_has_the_hyperplane_as_printed(run):
    TARGETS["regression"](run)
    lines = {line["method"]: line for line in read(run, "regression")}
    assert {line["stream"] for line in read(run, "regression")} == {"hyperplane"}
    assert float(lines["DFOP"]["mse_x100"]) == pytest.approx(0.619, abs=0.03)
    assert float(lines["No-change"]["mse_x100"]) > 5
    page = (run.folder / "regression.md").read_text("utf-8")
    assert "Left out, no file: SRU-1, SRU-2, Debutanizer." in page
    late = page.split("from row 251 |")[1].split("| RLS | 2.291±0.045 |")[1].split("|")[1]
    assert float(late.split("±")[0]) == pytest.approx(2.291, abs=0.15)


def test_forgetting_finds_a_mu_above_one_over_the_interval(run):
    run.only = ("2CDT", "1CSurr")
    TARGETS["forgetting"](run)
    lines = {line["stream"]: line for line in read(run, "forgetting")}
    assert lines["2CDT"]["T0"] == "400"
    assert 1 < float(lines["2CDT"]["product"]) < 20
    assert lines["1CSurr"]["paper_mu"] == "0.005"
    assert len(read(run, "forgetting-grid")) == 2 * 15


def test_holdout_has_seven_curves_per_stream_and_continues(run):
    TARGETS["holdout"](run)
    lines = read(run, "holdout")
    assert len({(line["stream"], line["method"]) for line in lines}) == 14
    kept = run.record("holdout").read_bytes()
    TARGETS["holdout"](run)
    assert run.record("holdout").read_bytes() == kept


def test_tracking_shows_that_forgetting_follows(run):
    TARGETS["tracking"](run)
    end = {
        ln["mu"]: float(ln["weight_error"]) for ln in read(run, "tracking") if ln["rows"] == "2000"
    }
    assert end["0.01"] < 0.15 < 0.4 < end["0.0"]


def test_without_matplotlib_there_are_tables_and_a_hint(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    TARGETS["tracking"](run)
    assert (run.folder / "tracking.md").exists()
    assert not (run.folder / "tracking.png").exists()
    assert run.messages == ["tracking: no picture; pip install 'dfop[plot]'"]


def test_a_missing_package_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    supply(run, find("Chess"))
    assert "pip install 'dfop[data]'" in run.messages[0]


def test_theorem_holds_as_often_as_it_says(run):
    TARGETS["theorem"](run)
    lines = read(run, "theorem")
    assert len({line["setting"] for line in lines}) == 3
    for line in lines:
        assert float(line["coverage C3"]) >= 0.95 - 0.06  # 40 seeds
        assert float(line["C3"]) <= float(line["C2"]) <= float(line["C1"]) <= float(line["C0"])
    assert (run.folder / "theorem.png").exists()


def test_sensitivity_ends_at_the_accuracy_of_the_stream(run):
    TARGETS["sensitivity"](run)
    from dfop import DFOPClassifier, evaluate

    rows = supply(run, find("SEA")).rows
    accuracy = 100 * evaluate(DFOPClassifier(0.01), rows).metrics["accuracy"]
    last = [ln for ln in read(run, "sensitivity") if (ln["stream"], ln["mu"]) == ("SEA", "0.01")][
        -1
    ]
    assert float(last["accumulated_accuracy"]) == pytest.approx(accuracy, abs=1e-3)


def test_datasets_lists_what_is_there_and_what_is_not(run):
    TARGETS["datasets"](run)
    lines = {line["stream"]: line for line in read(run, "datasets")}
    assert len(lines) == 24
    assert lines["Spam"]["source"] == "left out"
    assert lines["hyperplane (regression)"]["features"] == "10"
    assert sum("left out" in message for message in run.messages) == 11


def test_a_stream_that_is_broken_is_not_replaced(run, tmp_path, monkeypatch):
    """A wrong file is an error to be told, not a reason to generate other rows."""
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "sea.csv.gz").write_bytes(b"not gzip")
    monkeypatch.setenv("DFOP_DATA", str(folder))
    with pytest.raises(ValueError, match=r"sea\.csv\.gz"):
        supply(run, CLASSIFICATION[0])


def test_marks_and_counts_are_those_of_a_paired_t_test():
    rng = np.random.default_rng(0)
    scores = Scores("A")
    for stream, gap in (("S", 1.0), ("T", 0.0), ("U", -1.0)):
        scores.trials[stream, "A"] = 90 + rng.normal(size=10)
        scores.trials[stream, "B"] = scores.trials[stream, "A"] - gap + 0.3 * rng.normal(size=10)
    for stream, mark in (("S", "better"), ("T", ""), ("U", "worse")):
        test = stats.ttest_rel(scores.trials[stream, "A"], scores.trials[stream, "B"])
        assert scores.outcome(stream, "B") == (pytest.approx(test.pvalue), mark)
    assert scores.counts(["S", "T", "U"], "B") == (1, 1, 1)


def test_the_command_runs_a_target_and_refuses_others(run, tmp_path):
    arguments = ["paper", "tracking", "--quick", "--jobs", "1", "--results", str(tmp_path / "out")]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 0, outcome.output
    assert (tmp_path / "out" / "tracking.md").exists()
    outcome = CliRunner().invoke(app, ["paper", "tables"])
    assert outcome.exit_code == 2
    assert "classification" in outcome.output


def test_one_trial_has_no_spread(tmp_path):
    with pytest.raises(ValueError, match="at least 2 trials"):
        Run(tmp_path, trials=1)


@pytest.mark.parametrize("title", ["", "Errors"])
def test_the_title_of_a_quick_picture_says_so(run, title):
    figure, _ = panels(1, 1, 4, 3)
    if title:
        figure.suptitle(title)
    run.save("picture", lambda: figure)
    assert figure.get_suptitle().startswith("Quick run: 2 trials, streams cut to 1,000 rows.")
    assert figure.get_suptitle().endswith(title)
    full, whole = Run(run.folder), panels(1, 1, 4, 3)[0]
    full.save("picture", lambda: whole)
    assert whole.get_suptitle() == ""
