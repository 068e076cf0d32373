"""The automatic learner with no argument reaches what is promised, on every stream."""

import os

import numpy as np
import pytest

from dfop import DFOPRegressor
from dfop.paper import TARGETS
from dfop.paper.automatic import work
from dfop.paper.automatic.promises import LAGGED, PROMISED_ACCURACY, PROMISED_ERROR

needs_data = pytest.mark.skipif("DFOP_DATA" not in os.environ, reason="DFOP_DATA is not set")
FILE = "published file"
LONG = {"SEA", "hyperplane", "1CSurr", "UG-2C-2D", "UG-2C-5D", "MG-2C-2D", "G-2C-2D"}


def score(task, stream, features="auto", lags=0, mus=(None,), seed=0):
    return work.scores(task, stream, FILE, seed, False, features, lags, list(mus))["scores"]


def slow_if_long(names):
    return [pytest.param(n, marks=pytest.mark.slow if n in LONG else ()) for n in names]


@needs_data
@pytest.mark.parametrize("stream", slow_if_long(PROMISED_ACCURACY))
def test_accuracy_on_the_full_stream(stream):
    (accuracy,) = score("classification", stream)
    assert round(accuracy, 2) >= PROMISED_ACCURACY[stream]


@needs_data
@pytest.mark.parametrize("stream", ["SRU-1", "SRU-2", "Debutanizer"])
def test_squared_error_on_the_full_stream(stream):
    (error,) = score("regression", stream)
    assert error <= PROMISED_ERROR[stream]


def test_squared_error_on_the_first_regression_hyperplane():
    """Seed 0; the mean of ten seeds is above what is promised: see the list of misses."""
    assert score("regression", "hyperplane")[0] <= PROMISED_ERROR["hyperplane"]


@pytest.mark.slow
def test_squared_error_on_ten_regression_hyperplanes_is_that_of_the_best_mu_in_hindsight():
    """Seeds differ more than methods: .49 to .62 on these ten."""
    found = [score("regression", "hyperplane", seed=seed)[0] for seed in range(10)]
    fixed = [
        score("regression", "hyperplane", "linear", mus=work.GRID, seed=seed) for seed in range(10)
    ]
    assert np.mean(found) <= 1.05 * np.mean(fixed, axis=0).min()


@needs_data
@pytest.mark.parametrize(("task", "stream"), LAGGED)
def test_with_lags(task, stream):
    lags, promised = LAGGED[task, stream]
    (found,) = score(task, stream, lags=lags)
    (unchanged,) = score(task, stream, "no-change")
    if task == "classification":
        assert found >= promised > unchanged
    else:
        assert found < 0.9 * unchanged
        assert found <= promised


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("features", ["linear", "rff"])
@pytest.mark.parametrize(
    ("task", "stream"),
    [("classification", name) for name in PROMISED_ACCURACY]
    + [("regression", name) for name in ("SRU-1", "SRU-2", "Debutanizer")],
)
def test_never_far_behind_the_best_fixed_mu_in_hindsight(task, stream, features):
    automatic, *fixed = score(task, stream, features, mus=[None, *work.GRID])
    if task == "classification":
        assert automatic >= max(fixed) - 0.2
    else:
        assert automatic <= 1.05 * min(fixed)


@needs_data
@pytest.mark.parametrize("stream", ["SRU-1", "SRU-2", "Debutanizer", "hyperplane"])
def test_intervals_cover_what_they_promise(stream):
    found = work.coverage(stream, FILE, 0, False)
    assert found["all"] == pytest.approx(0.9, abs=0.01)
    assert found["worst"] >= 0.9 - 0.12


@pytest.mark.parametrize("kind", work.DRIFTS)
def test_intervals_cover_on_simulated_drift(kind):
    found = work.coverage(kind, "drawn", 11, False)
    assert found["all"] == pytest.approx(0.9, abs=0.01)
    assert found["worst"] >= 0.9 - 0.12


@needs_data
@pytest.mark.slow
def test_probabilities_are_calibrated_on_ten_streams():
    errors = [work.calibration(name, FILE, False)["ece"] for name in PROMISED_ACCURACY]
    assert sum(error < 0.03 for error in errors) >= 10


@pytest.mark.parametrize("seed", range(10))
def test_the_changes_of_the_hyperplane_are_found(seed):
    found = work.found_changes(seed)
    assert None not in found["delays"]
    assert found["false"] <= 1


@pytest.mark.parametrize("kind", work.STILL)
def test_a_stream_without_change_rings_no_alarm(kind):
    assert work.still(kind, 1, quick=False) == {"alarms": 0}


@pytest.mark.parametrize("setting", range(len(work.WALKS)))
def test_the_drift_spectrum_finds_noise_and_mu(setting):
    found = work.spectrum(setting, 1, quick=False)
    assert found["mu"] == pytest.approx(1, abs=0.1)
    assert found["noise"] == pytest.approx(1, abs=0.05)


def test_abrupt_change_raises_the_misfit_of_the_spectrum():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20_000, 5))
    jumps = np.repeat(rng.normal(size=(100, 5)), 200, axis=0)
    y = (X * jumps).sum(axis=1) + rng.normal(size=20_000)
    abrupt = DFOPRegressor(features="linear", fit_intercept=False).fit(X, y).drift_.misfit
    steady = [work.spectrum(setting, 1, quick=True)["misfit"] for setting in range(5)]
    assert abrupt > 1.5 * max(steady)


def test_the_calibration_error_is_the_gap_between_sure_and_right():
    # Ten rows said .8 and seven of them came true; ten said .6 and all came true.
    p = np.repeat([[0.2, 0.8], [0.4, 0.6]], 10, axis=0)
    labels = np.array([1] * 7 + [0] * 3 + [1] * 10)
    assert work.calibration_error(p, labels) == pytest.approx(0.5 * 0.1 + 0.5 * 0.4)


def test_the_target_runs_without_data_and_says_what_it_missed(run):
    run.only = ("SEA", "Chess", "hyperplane", "SRU-1")
    TARGETS["automatic"](run)
    page = (run.folder / "automatic.md").read_text("utf-8")
    assert "Quick run" in page
    assert "| SEA (generated) |" in page
    assert "| Chess" not in page
    assert "Missed:" in page
    assert "promised " not in page.split("Missed:")[1].split("## ")[0]  # not of shortened streams
    assert "printed" not in page.split("Missed:")[1].split("## ")[0]
    assert (run.folder / "automatic.png").exists()
    for name in ("automatic", "automatic-trials", "automatic-sureness"):
        assert len((run.folder / f"{name}.csv").read_text("utf-8").splitlines()) > 2
