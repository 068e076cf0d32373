"""Statistics against the paper's table, Demšar's example and the formulas themselves."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from dfop.evaluation import Comparison
from dfop.evaluation.statistics import (
    critical_difference,
    friedman,
    outcomes,
    paired_p_values,
    ranks,
    robustness,
    win_tie_loss,
)

# Mean accuracies of the paper's classification table; "!" where it marks a significant
# difference from DFOP. The direction of its marks is wrong four times, so it is not used.
TABLE = list(
    csv.reader((Path(__file__).parent / "paper_classification.csv").read_text().splitlines())
)
MODELS = TABLE[0][1:]
STREAMS = [row[0] for row in TABLE[1:]]
MEANS = np.array([[float(entry.rstrip("!")) for entry in row[1:]] for row in TABLE[1:]])
MARKED = np.array([[entry.endswith("!") for entry in row[1:]] for row in TABLE[1:]])
DFOP = MODELS.index("DFOP")


def test_robustness_of_the_paper():
    sums = dict(zip(MODELS, robustness(MEANS).sum(axis=0).round(2), strict=True))
    assert sums == {
        "DFOP": 24.96,
        "DWM": 24.37,
        "SVM-fix": 24.15,
        "1NN-win": 23.99,
        "SVM-ada": 23.90,
        "SVM-win": 23.74,
        "RLS": 21.23,
    }


def test_win_tie_loss_of_the_paper():
    outcome = outcomes(MEANS, np.where(MARKED, 0.01, 0.5), DFOP)
    counts = dict(zip(MODELS, win_tie_loss(outcome), strict=True))
    del counts["DFOP"]
    assert counts == {
        "SVM-win": (17, 1, 2),
        "1NN-win": (13, 3, 4),
        "SVM-fix": (19, 1, 0),
        "SVM-ada": (18, 2, 0),
        "DWM": (13, 3, 4),
        "RLS": (19, 1, 0),
    }


def test_ranks_of_the_paper():
    rank = ranks(MEANS)
    assert (rank[:, DFOP] < 2).sum() == 14  # best, once together with another
    assert rank[STREAMS.index("UG-2C-2D"), DFOP] == 1.5
    assert rank[STREAMS.index("1CSurr"), DFOP] == 6
    assert rank[STREAMS.index("MG-2C-2D"), DFOP] == 4


def test_the_comparison_says_the_same():
    c = Comparison(MODELS, STREAMS, "DFOP", "accuracy", {"accuracy": MEANS[:, :, None] / 100})
    assert c.robustness["DFOP"] == pytest.approx(24.96, abs=0.005)
    assert min(c.mean_ranks, key=c.mean_ranks.get) == "DFOP"
    assert c.friedman[1] < 1e-5
    # A rank's difference beyond the critical one is what Nemenyi's test calls significant.
    rank = np.array(list(c.mean_ranks.values()))
    apart = np.abs(rank[:, None] - rank) > c.critical_difference
    np.testing.assert_array_equal(apart, c.nemenyi < 0.05)
    assert "24.96" in str(c)


def test_friedman_is_its_formula():
    rank = ranks(np.random.default_rng(0).random((14, 4)))  # no ties
    n, k = rank.shape
    mean = rank.mean(axis=0)
    formula = 12 * n / (k * (k + 1)) * (np.sum(mean**2) - k * (k + 1) ** 2 / 4)
    assert friedman(rank)[0] == pytest.approx(formula)
    assert friedman(rank)[1] == pytest.approx(stats.chi2.sf(formula, k - 1))


def test_critical_differences_of_demsars_example():
    """Demšar (2006) compares four classifiers on 14 data sets and gets 1.25 and 1.12."""
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, alpha=0.10) == pytest.approx(1.12, abs=0.005)


# The critical values of Demšar's Table 5.
@pytest.mark.parametrize(
    ("models", "q"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (10, 3.164)],
)
def test_critical_values_of_nemenyi(models, q):
    expected = q * np.sqrt(models * (models + 1) / (6 * 30))
    assert critical_difference(models, 30) == pytest.approx(expected, abs=1e-3)


def test_p_values_are_students():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3, 2, 10))
    d = scores[:, 0] - scores[:, 1]
    t = d.mean(axis=1) / (d.std(axis=1, ddof=1) / np.sqrt(10))
    expected = 2 * stats.t.sf(np.abs(t), 9)
    np.testing.assert_allclose(paired_p_values(scores, 0)[:, 1], expected)
    np.testing.assert_allclose(paired_p_values(scores, 1)[:, 0], expected)


def test_equal_scores_tie_and_constant_differences_win():
    scores = np.array([[[0.9, 0.8, 0.7], [0.9, 0.8, 0.7], [0.4, 0.3, 0.2]]])
    p = paired_p_values(scores, 0)
    assert p[0, 1] == 1
    assert p[0, 2] < 1e-6
    assert outcomes(scores.mean(axis=2), p, 0).tolist() == [[0, 0, 1]]
    assert outcomes(scores.mean(axis=2), p, 0, greater_is_better=False).tolist() == [[0, 0, -1]]


def test_a_broken_model_loses():
    loss = np.array([[[1.0, 1.1, 0.9], [np.inf, 1.0, 1.0], [2.0, 2.2, 1.9]]])
    p = paired_p_values(loss, 0)
    assert outcomes(loss.mean(axis=2), p, 0, greater_is_better=False).tolist() == [[0, 1, 1]]
    assert ranks(loss.mean(axis=2), greater_is_better=False).tolist() == [[1, 3, 2]]
    from_broken = paired_p_values(loss, 1)
    assert outcomes(loss.mean(axis=2), from_broken, 1, False).tolist() == [[-1, 0, -1]]
    both = np.full((1, 2, 3), np.inf)
    assert paired_p_values(both, 0).tolist() == [[1, 1]]


def test_one_trial_proves_nothing():
    p = paired_p_values(np.array([[[0.9], [0.1]]]), 0)
    assert outcomes(np.array([[0.9, 0.1]]), p, 0).tolist() == [[0, 0]]


def test_robustness_of_a_loss_is_turned_round():
    np.testing.assert_allclose(robustness(np.array([[0.1, 0.2]]), False), [[2, 1]])
    assert robustness(np.array([[0.0, 0.0]])).tolist() == [[1, 1]]
    assert np.isnan(robustness(np.array([[-0.1, 0.2]]))).all()
    assert robustness(np.array([[np.inf, 2.0]]), False).tolist() == [[1, np.inf]]


def test_models_that_are_all_equal_do_not_differ():
    assert friedman(np.ones((5, 3))) == (0.0, 1.0)
