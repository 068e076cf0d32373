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

#        stream        mu     DFOP   within  RLS    printed std  within
PAPER = [
    ("1cdt", 0.01, 99.97, 0.5, 98.79, 1.65, 0.5),
    ("2cdt", 0.01, 96.36, 0.5, 62.24, 0.23, 0.5),
    ("1cht", 0.01, 99.84, 0.5, 98.49, 1.61, 0.5),
    ("2cht", 0.01, 89.91, 0.5, 62.57, 0.23, 0.5),
    ("ug-2c-2d", 0.001, 95.59, 0.5, 67.02, 1.46, 0.5),
    ("mg-2c-2d", 0.001, 85.06, 0.5, 57.18, 3.66, 2.0),
    ("g-2c-2d", 0.001, 95.83, 0.5, 95.84, 0.01, 0.5),
    ("weather", 0.01, 79.23, 0.5, 78.35, 0.18, 0.5),
    ("powersupply", 0.3, 80.46, 0.5, 69.67, 0.64, 0.5),
    ("sea", 0.001, 87.99, 1.0, 84.54, 0.47, 1.0),
    # RLS on hyperplane is 1.2 below the paper over 80 trials; on the full stream it is 69.3
    ("hyperplane", 0.002, 90.14, 1.0, 69.67, 1.40, 2.0),
    ("1csurr", 0.005, 93.24, 1.5, 67.82, 0.22, 1.5),
]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "mu", "printed", "within"),
    [
        pytest.param(*row[:4], marks=[pytest.mark.slow] * (row[0] in ("mg-2c-2d", "g-2c-2d")))
        for row in PAPER
    ],
)
def test_dfop_scores_what_the_paper_prints(name, mu, printed, within, seed):
    table = compare({"DFOP": DFOPClassifier(mu)}, {name: streams.load(name)}, trials=10, seed=seed)
    assert 100 * table.mean[0][0] == pytest.approx(printed, abs=within)


# forty trials of long streams; those of the short ones stay in the suite
LONG = ("ug-2c-2d", "mg-2c-2d", "g-2c-2d", "weather", "powersupply", "sea", "hyperplane", "1csurr")


@pytest.mark.parametrize(
    ("name", "printed", "std", "within"),
    [pytest.param(row[0], *row[4:], marks=[pytest.mark.slow] * (row[0] in LONG)) for row in PAPER],
)
def test_rls_scores_what_the_paper_prints(name, printed, std, within):
    """RLS depends on where a trial starts: ten trials are not enough to know its mean.

    So ours is the mean of forty, and the printed mean of ten is uncertain by std / sqrt(10).
    """
    table = compare({"RLS": DFOPClassifier(0.0)}, {name: streams.load(name)}, trials=40)
    allowed = max(within, 2 * std / 10**0.5)
    assert 100 * table.mean[0][0] == pytest.approx(printed, abs=allowed)


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
