"""The claim itself: the library's learner stays below its certificates as often as they say."""

import sys
from itertools import pairwise

import numpy as np
import pytest

from dfop.theory import SETTINGS, certify, draw_experiment, run_experiment

NAMES = ("C0", "C1", "C2", "C3")
SEEDS = 150


@pytest.fixture(scope="module")
def outcomes():
    return run_experiment(seeds=SEEDS)


def test_there_are_three_settings_that_differ_in_kind(outcomes):
    assert len(outcomes) == 3
    assert {outcome.setting.law for outcome in outcomes} == {"normal", "uniform", "sign"}
    assert all(outcome.error.shape[0] == SEEDS for outcome in outcomes)


@pytest.mark.parametrize(
    ("number", "row", "part"), [(0, -1, "noise"), (1, -1, "drift"), (2, 30, "initial")]
)
def test_in_each_setting_another_part_of_the_error_matters_most(number, row, part):
    setting = SETTINGS[number]
    X, _, w = setting.draw(0)
    moment = certify(
        X, mu=setting.mu, noise=setting.noise, drift=setting.drift, start_error=-w[0],
        P0=setting.prior_variance,
    ).second_moment  # fmt: skip
    assert getattr(moment, part)[row] > 0.7 * moment.total[row]


@pytest.mark.parametrize("name", NAMES)
def test_coverage_is_at_least_what_is_promised_at_every_row(outcomes, name):
    for outcome in outcomes:
        assert outcome.coverage[name].min() >= 1 - outcome.delta, outcome.setting.name


def test_the_certificates_are_ordered_on_every_seed(outcomes):
    assert all(outcome.ordered for outcome in outcomes)


def test_the_expected_error_is_the_observed_one(outcomes):
    for outcome in outcomes:
        assert outcome.overall_rms_ratio == pytest.approx(1.0, abs=0.05)
        # a single row: within four standard errors of its mean square
        square = outcome.error**2 / outcome.second_moment
        spread = square.std(axis=0) / np.sqrt(len(square))
        assert (np.abs(square.mean(axis=0) - 1.0) <= 4 * spread + 1e-9).all()


def test_the_sharpest_certificate_is_not_idle(outcomes):
    # a third of it would not cover: the experiment can fail
    for outcome in outcomes:
        assert (outcome.error <= outcome.bounds["C3"] / 3).mean() < 1 - outcome.delta
        assert (np.median(outcome.bounds["C3"], axis=0)[-1]
                < 3 * np.median(outcome.error, axis=0)[-1])  # fmt: skip


def test_the_printed_theorem_is_true_and_far_away(outcomes):
    slow = outcomes[0]
    assert np.median(slow.bounds["C0"][:, -1]) > 1e5 * np.median(slow.error[:, -1])


def test_a_seed_gives_the_same_run_whatever_the_number_of_seeds():
    (few,) = run_experiment(SETTINGS[1:2], seeds=3, points=4)
    (more,) = run_experiment(SETTINGS[1:2], seeds=5, points=4)
    np.testing.assert_array_equal(few.error, more.error[:3])
    np.testing.assert_allclose(few.bounds["C3"], more.bounds["C3"][:3], rtol=1e-12)
    assert len(np.unique(more.error[:, -1])) == 5


def test_the_table_has_a_line_per_row_looked_at(outcomes):
    table = outcomes[0].table()
    assert [line["row"] for line in table] == outcomes[0].rows.tolist()
    last = table[-1]
    assert last["row"] == 1000
    assert last["error"] == pytest.approx(np.median(outcomes[0].error[:, -1]))
    assert last["C3"] <= last["C2"] <= last["C1"] <= last["C0"]
    assert 0.95 <= last["coverage C3"] <= 1.0


def test_the_figure_shows_and_names_every_curve(outcomes, tmp_path):
    figure = draw_experiment(outcomes, tmp_path / "theorem.png")
    assert (tmp_path / "theorem.png").read_bytes().startswith(b"\x89PNG")
    assert len(figure.axes) == 3
    for axes in figure.axes:
        assert axes.get_yscale() == "log"
        assert len(axes.lines) == 5
        labels = [text.get_text() for text in axes.texts]
        assert sorted(label[:2] for label in labels) == ["C0", "C1", "C2", "C3", "er"]
        boxes = sorted((text.get_window_extent() for text in axes.texts), key=lambda box: box.y0)
        for lower, upper in pairwise(boxes):
            assert lower.y1 <= upper.y0 + 1  # labels do not overlap


def test_without_matplotlib_the_error_says_what_to_install(outcomes, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'dfop\[plot\]'"):
        draw_experiment(outcomes)


def test_nothing_cannot_be_drawn():
    with pytest.raises(ValueError, match="no outcome"):
        draw_experiment([])


@pytest.mark.slow
def test_with_ten_times_the_seeds_the_expected_error_is_right_at_every_row():
    for outcome in run_experiment(seeds=4000):
        assert outcome.ordered
        assert np.abs(outcome.rms_ratio - 1.0).max() <= 0.03
        for name in NAMES:
            assert outcome.coverage[name].min() >= 1 - outcome.delta
