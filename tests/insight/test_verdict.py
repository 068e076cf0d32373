"""Whether to believe a drift spectrum: streams made of noise and drift, and those that are not."""

import os

import numpy as np
import pytest
from typer.testing import CliRunner

from dfop import DFOPClassifier, DFOPRegressor, save, streams
from dfop.cli import app
from dfop.evaluation.sources import in_memory
from dfop.insight.verdict import judge

MU = np.array([0.0, 0.001, 0.01, 0.1])


def noisy(weights, seed):
    """Rows of noise, and a linear target whose weights are as given, in noise of variance 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=weights.shape)
    return X, (X * weights).sum(axis=1) + rng.normal(size=len(X))


def drift(weights, seed=0):
    return DFOPRegressor(features="linear", fit_intercept=False).fit(*noisy(weights, seed)).drift_


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mu", [0.005, 0.02])
def test_random_walks_are_believed_and_the_range_holds_the_truth(mu, seed):
    steps = np.random.default_rng([1, seed]).normal(size=(20_000, 5))
    found = drift(mu * np.cumsum(steps, axis=0), seed)
    assert found.verdict.believed
    assert found.mu == found.fitted_mu == found.verdict.mu
    assert found.verdict.low < mu < found.verdict.high
    assert found.verdict.words.startswith("believe it")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mu", [0.003, 0.01, 0.02])
def test_the_default_recommends_within_a_tenth_of_the_truth_on_random_walks(mu, seed):
    steps = np.random.default_rng([2, seed]).normal(size=(100_000, 5))
    X, y = noisy(mu * np.cumsum(steps, axis=0), [3, seed])
    found = DFOPRegressor(fit_intercept=False).fit(X, y).drift_
    assert found.verdict.believed
    assert found.mu == pytest.approx(mu, rel=0.1)


def test_frequent_jumps_are_not_believed_and_the_best_expert_is_recommended():
    weights = np.repeat(np.random.default_rng(2).normal(size=(40, 5)), 500, axis=0)
    found = drift(weights)
    assert not found.verdict.believed
    assert found.mu == found.forgetting[found.errors.argmin()]
    assert found.alarms > 0
    assert f"{found.alarms} sudden changes (alarms)" in found.verdict.words


def test_a_stream_that_stands_still_needs_no_forgetting():
    found = drift(np.ones((5_000, 3)))
    assert found.mu == 0.0
    assert "no drift" in str(found)


def test_it_shows_what_the_model_does_beside_what_suits():
    X, y = noisy(np.ones((2_000, 3)), 0)
    model = DFOPRegressor(features="linear").fit(X, y)
    assert model.drift_.in_use == model.forgetting_
    assert "mu in use" in str(model.drift_)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"misfit": 1.3}, "not those of noise and steady drift"),
        ({"fitted": 0.2}, "beyond 0.05, up to which it holds"),
        ({"rows": 1_000}, "had 10 of its periods, fewer than 30"),
    ],
)
def test_each_doubt_is_named(changed, reason):
    given = {"fitted": 0.01, "largest": 0.05, "misfit": 1.0, "rows": 100_000}
    errors = np.array([4.0, 2.0, 1.0, 1.04])
    assert judge(MU, errors, **given).believed
    doubted = judge(MU, errors, **(given | changed))
    assert not doubted.believed
    assert reason in doubted.words
    assert (doubted.mu, doubted.low, doubted.high) == (0.01, 0.01, 0.1)


def test_inspect_and_the_report_say_the_same(tmp_path):
    X, y = noisy(np.ones((2_000, 3)), 0)
    model = DFOPRegressor(features="linear").fit(X, y)
    save(model, tmp_path / "model.dfop")
    told = CliRunner().invoke(app, ["inspect", str(tmp_path / "model.dfop")])
    assert model.drift_.verdict.words in told.output
    from dfop import evaluate

    fresh = DFOPRegressor(features="linear")
    evaluate(fresh, (X, y)).report(tmp_path / "page.html", fresh)
    assert "no drift to be seen" in (tmp_path / "page.html").read_text()


@pytest.mark.skipif(
    "DFOP_DATA" not in os.environ, reason="DFOP_DATA is not set: it names the folder of streams"
)
@pytest.mark.parametrize(
    ("name", "model"), [("electricity", DFOPClassifier), ("sru-1", DFOPRegressor)]
)
def test_streams_that_are_not_noise_and_drift_are_not_believed(name, model):
    rows = in_memory(streams.load(name))
    found = model().fit(rows.X, rows.y).drift_
    assert not found.verdict.believed
    assert found.mu == found.forgetting[found.errors.argmin()]
    assert found.verdict.low <= found.mu <= found.verdict.high
