"""The evidence beside the tables: its pieces against theory, its target without any data."""

import csv
import math

import numpy as np
import pytest
from scipy import stats

from dfop.paper import TARGETS
from dfop.paper.evidence.flaws import follow_update, guess_coin
from dfop.paper.evidence.starts import sets_won


@pytest.mark.parametrize("mu", [0.01, 0.03])
def test_learning_first_wins_a_coin_toss_as_often_as_its_leverage_says(mu):
    """Learning adds l (y - m) / (1 + l) to the margin m, l = x'Px near mu d (and lam near 1).

    It ends on the label's side if y m > -l, and m has a variance near l / 2.
    """
    shares = [guess_coin(mu, seed) for seed in range(3)]
    leverage = mu * 11  # ten features and the intercept
    expected = stats.norm.cdf(math.sqrt(2 * leverage))
    # P is larger than its limit for small mu by a factor of the order 1 + mu d
    assert np.mean([share["after"] for share in shares]) == pytest.approx(expected, abs=0.04)
    # 6,000 tosses: three standard errors
    assert np.mean([share["before"] for share in shares]) == pytest.approx(0.5, abs=0.02)


def test_the_printed_update_diverges_and_the_corrected_one_has_the_error_of_its_memory():
    assert all(follow_update(seed, printed=True)["far_at"] < 500 for seed in range(3))
    errors = [follow_update(seed, printed=False)["error"] for seed in range(10)]
    # noise^2 d / (2/mu - 1) for an exponential memory, plus terms of the order mu d
    expected = 0.1 * math.sqrt(20 / 199)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(expected, rel=0.3)


def test_sets_are_consecutive_trials_tested_by_themselves():
    rng = np.random.default_rng(1)
    rls = 90 + rng.normal(size=30)
    dfop = rls + np.repeat([1.0, 0.0, -1.0], 10) + 0.2 * rng.normal(size=30)
    p, counts = sets_won(dfop, rls, 3)
    assert p == pytest.approx(stats.ttest_rel(dfop, rls).pvalue)
    assert counts == (1, 1, 1)
    assert sets_won(dfop[:20], rls[:20], 2)[1] == (1, 1, 0)


def test_without_data_the_generated_part_runs_and_the_rest_is_left_out(run):
    TARGETS["evidence"](run)
    lines = list(csv.DictReader((run.folder / "evidence.csv").read_text("utf-8").splitlines()))
    topics = {line["topic"] for line in lines}
    assert topics == {"leak", "update", "mu, regression", "starts", "SVM-win", "AddExp.C"}
    assert {line["stream"] for line in lines if line["topic"] == "starts"} == {"1CDT", "G-2C-2D"}
    assert not any(line["source"] == "published file" for line in lines)
    page = (run.folder / "evidence.md").read_text("utf-8")
    assert page.count("Left out, no file.") == 2  # the real streams and the cap on Electricity
    text = (run.folder / "evidence-starts.csv").read_text("utf-8")
    trials = list(csv.DictReader(text.splitlines()))
    for line in lines:
        if line["topic"] == "starts":
            mine = [
                float(trial["accuracy"])
                for trial in trials
                if (trial["stream"], trial["method"]) == (line["stream"], line["method"])
            ]
            assert len(mine) == int(line["runs"]) == 20
            assert np.mean(mine) == pytest.approx(float(line["mean"]), abs=1e-3)


def test_the_first_starts_are_those_of_the_classification_table(run):
    run.only = ("1CDT",)
    TARGETS["classification"](run)
    TARGETS["evidence"](run)

    def first(name, method):
        text = (run.folder / f"{name}.csv").read_text("utf-8")
        lines = csv.DictReader(text.splitlines())
        return [ln["accuracy"] for ln in lines if (ln["stream"], ln["method"]) == ("1CDT", method)][
            :2
        ]

    trials = first("classification-trials", "RLS")
    assert trials == first("evidence-starts", "RLS")
    assert first("classification-trials", "DFOP") == first("evidence-starts", "DFOP mu=0.01")
