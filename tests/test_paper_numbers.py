"""The paper's protocol on the paper's streams gives the paper's numbers.

Ten random contiguous 80 % of each stream, predict-then-learn, intercept. The paper's means are from
its classification table; its mu from its table of forgetting periods, and recovered by matching for
Weather and Powersupply, where it gives none.
"""

import os

import pytest

from dfop import DFOPClassifier, compare, streams

pytestmark = pytest.mark.skipif(
    "DFOP_DATA" not in os.environ, reason="DFOP_DATA is not set: it names the folder of streams"
)

#        stream        mu     DFOP   RLS    tolerance of each
PAPER = [
    ("1cdt", 0.01, 99.97, 98.79, 0.5, 0.5),
    ("2cdt", 0.01, 96.36, 62.24, 0.5, 0.5),
    ("1cht", 0.01, 99.84, 98.49, 0.5, 0.5),
    ("2cht", 0.01, 89.91, 62.57, 0.5, 0.5),
    ("ug-2c-2d", 0.001, 95.59, 67.02, 0.5, 0.5),
    ("mg-2c-2d", 0.001, 85.06, 57.18, 0.5, 2.0),
    ("g-2c-2d", 0.001, 95.83, 95.84, 0.5, 0.5),
    ("weather", 0.01, 79.23, 78.35, 0.5, 0.5),
    ("powersupply", 0.3, 80.46, 69.67, 0.5, 0.5),
    ("sea", 0.001, 87.99, 84.54, 1.0, 1.0),
    ("hyperplane", 0.002, 90.14, 69.67, 1.0, 1.0),
    ("1csurr", 0.005, 93.24, 67.82, 1.5, 1.5),
]


@pytest.mark.parametrize(("name", "mu", "dfop", "rls", "within", "rls_within"), PAPER)
def test_dfop_and_rls_score_what_the_paper_prints(name, mu, dfop, rls, within, rls_within):
    models = {"DFOP": DFOPClassifier(mu), "RLS": DFOPClassifier(0.0)}
    mean = compare(models, {name: streams.load(name)}, trials=10).mean[0]
    assert 100 * mean[0] == pytest.approx(dfop, abs=within)
    assert 100 * mean[1] == pytest.approx(rls, abs=rls_within)


def test_where_the_cap_acts_both_numbers_can_be_had():
    """Electricity: the paper's plain recursion and ours, at mu = .001 and where they part."""
    models = {
        f"{kind} {mu}": DFOPClassifier(mu, cap=cap)
        for mu in (0.001, 0.01)
        for kind, cap in (("plain", None), ("capped", 1e6))
    }
    table = compare(models, {"electricity": streams.load("electricity")}, trials=10)
    score = dict(zip(models, 100 * table.mean[0], strict=True))
    assert score["plain 0.001"] == pytest.approx(76.94, abs=0.5)  # the paper's DFOP
    assert score["capped 0.001"] == pytest.approx(score["plain 0.001"], abs=0.1)  # never acts
    assert score["plain 0.01"] == pytest.approx(78.4, abs=1.5)
    assert score["capped 0.01"] > score["plain 0.01"] + 5.0
