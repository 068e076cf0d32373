"""Trials: the same rows for all, in parallel, and again after a kill."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from river import linear_model, naive_bayes
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import SGDClassifier, SGDRegressor

from dfop.evaluation import compare, evaluate
from dfop.evaluation.models import untrained
from forked import FORKS

from .fakes import FastSGD, LeastSquares, Numbers, Rows


@pytest.fixture
def streams():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    return {
        "first": Rows(X, np.where(X[:, 0] > 0, "up", "down")),
        "second": (X[:40], np.where(X[:40, 1] > 0, "up", "down")),
    }


@pytest.fixture
def models():
    return {
        "SGD": SGDClassifier(),
        "fast": FastSGD(alpha=0.01),
        "river": linear_model.LogisticRegression(),
    }


class Sees(RegressorMixin, BaseEstimator):
    """It predicts 0, and remembers nothing but what it saw."""

    def partial_fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_all_models_see_the_same_random_eighty_per_cent(tmp_path, models, streams):
    import json

    path = tmp_path / "run.jsonl"
    compare(models, streams, trials=5, resume=path)
    cells = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert len(cells) == 2 * 3 * 5
    for name, rows, room in (("first", 40, 10), ("second", 32, 8)):
        mine = [cell for cell in cells if cell["stream"] == name]
        assert {cell["rows"] for cell in mine} == {rows}
        starts = {(cell["trial"], cell["start"]) for cell in mine}
        assert len(starts) == 5  # one per trial, whatever the model
        assert len({start for _, start in starts}) > 1
        assert all(0 <= start <= room for _, start in starts)


def test_starts_are_uniform_over_the_first_fifth():
    """The mean of a squared error of 0 against the row's number gives the start away."""
    n = 50
    table = compare(
        {"zero": Sees()}, {"count": (np.ones((n, 1)), np.arange(n, dtype=float))}, trials=300
    )
    by_start = {
        round(np.mean(np.arange(s, s + 40) ** 2.0), 6): s for s in range(11)
    }  # 10 rows of room
    starts = [by_start[round(value, 6)] for value in table.scores[0, 0]]
    counts = np.bincount(starts, minlength=11)
    assert counts.min() > 0
    assert ((counts - 300 / 11) ** 2 / (300 / 11)).sum() < 29.6  # chi-square, 10 degrees, .1 %


def test_a_cell_is_an_evaluation_of_a_new_model(streams, models):
    table = compare({"river": models["river"]}, {"first": streams["first"]}, trials=3, share=1.0)
    X, y = streams["first"].arrays()
    alone = evaluate(untrained(models["river"], 0), (X, y))
    # Every trial starts from scratch and reads all rows: three times the same.
    assert table.scores[0, 0].tolist() == [alone.score] * 3
    assert models["river"].weights == {}


def test_models_given_are_not_touched(streams, models):
    compare(models, streams, trials=1)
    assert not hasattr(models["SGD"], "coef_")
    assert models["SGD"].random_state is None


def test_processes_do_not_change_the_numbers(streams, models):
    one = compare(models, streams, trials=3, jobs=1)
    two = compare(models, streams, trials=3, jobs=2)
    for name in ("accuracy", "balanced accuracy", "kappa", "kappa-M", "kappa-temporal"):
        np.testing.assert_array_equal(one.values[name], two.values[name])


def test_the_seed_decides(streams, models):
    one, same, other = (compare(models, streams, trials=2, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.scores, same.scores)
    assert (one.scores != other.scores).any()


def test_a_stream_does_not_depend_on_its_company(streams, models):
    together = compare(models, streams, trials=2)
    alone = compare(models, {"second": streams["second"]}, trials=2)
    np.testing.assert_array_equal(together.scores[1], alone.scores[0])


def test_free_random_parts_get_a_seed_per_trial():
    from river import forest, neighbors, preprocessing

    pipeline = preprocessing.StandardScaler() | forest.ARFClassifier()
    assert untrained(pipeline, 5)["ARFClassifier"].seed == 5
    assert untrained(neighbors.KNNClassifier(), 5).engine.seed == 5
    assert untrained(SGDClassifier(), 5).random_state == 5
    assert untrained(SGDClassifier(random_state=1), 5).random_state == 1
    assert untrained(forest.ARFClassifier(), 5).seed == 5
    assert untrained(forest.ARFClassifier(seed=1), 5).seed == 1


def test_callables_give_streams_when_their_turn_comes():
    loaded, seeds = [], []
    X = np.random.default_rng(0).normal(size=(60, 2))

    def load():
        loaded.append(True)
        return X, X[:, 0]

    def generate(seed):
        seeds.append(seed)
        X = np.random.default_rng(seed).normal(size=(60, 2))
        return X, X[:, 0]

    models = {"A": LeastSquares(), "B": LeastSquares(mu=0.1)}
    table = compare(models, {"file": load, "new": generate}, trials=3, share=1.0)
    assert len(loaded) == 1
    assert len(seeds) == len(set(seeds)) == 3  # new data per trial, the same for both models
    assert len(set(table.scores[0, 0])) == 1
    assert len(set(table.scores[1, 0])) == 3


def test_regression_is_compared_by_the_squared_error():
    X = np.random.default_rng(0).normal(size=(100, 2))
    table = compare(
        [LeastSquares(), SGDRegressor(eta0=1e-4)], [Numbers(X, X[:, 0], "plane")], trials=3
    )
    assert table.metric == "MSE"
    assert table.models == ["LeastSquares", "SGDRegressor"]
    assert table.streams == ["plane"]
    assert table.win_tie_loss == {"SGDRegressor": (1, 0, 0)}


def test_delay_reaches_the_cells():
    X = np.random.default_rng(0).normal(size=(100, 2))
    late = compare({"A": LeastSquares()}, {"S": (X, X[:, 0])}, trials=1, share=1.0, delay=50)
    assert late.scores[0, 0, 0] == evaluate(LeastSquares(), (X, X[:, 0]), delay=50).score


def test_progress_counts_the_cells(streams, models):
    seen = []
    compare(models, streams, trials=2, progress=lambda *now: seen.append(now))
    assert seen == [(i, 12) for i in range(1, 13)]


class Breaks(Sees):
    def partial_fit(self, X, y):
        raise ArithmeticError("it broke")


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_names_its_cell_and_what_was_done_is_kept(tmp_path, jobs):
    path = tmp_path / "run.jsonl"
    streams = {"S": (np.ones((20, 1)), np.ones(20) / 2)}
    with pytest.raises(ArithmeticError, match="it broke") as caught:
        compare({"good": Sees(), "bad": Breaks()}, streams, trials=1, jobs=jobs, resume=path)
    assert "model 'bad', stream 'S', trial 0" in " ".join(caught.value.__notes__)
    if jobs == 1:
        assert len(path.read_text().splitlines()) == 2


def test_only_missing_cells_are_computed(tmp_path, streams, models):
    path = tmp_path / "run.jsonl"
    whole = compare(models, streams, trials=3, resume=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:8]) + lines[8][:20])  # 7 cells and a torn one
    seen = []
    again = compare(models, streams, trials=3, resume=path, progress=lambda *now: seen.append(now))
    assert seen == [(i, 11) for i in range(1, 12)]
    np.testing.assert_array_equal(whole.scores, again.scores)
    # All there: nothing to do. And more trials only add.
    compare(models, streams, trials=3, resume=path, progress=lambda *now: seen.append(now))
    assert len(seen) == 11
    more = compare(models, streams, trials=4, resume=path)
    np.testing.assert_array_equal(more.scores[:, :, :3], whole.scores)
    np.testing.assert_array_equal(more.scores, compare(models, streams, trials=4).scores)


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b'{"stream": [], "model": "A", "trial": 0}',
        b'{"stream": "S", "model": "A", "trial": 0, "metrics": 1, "bytes": 1}',
        b'{"stream": "S", "model": "A", "trial": 0, "seconds per row": 1, "bytes": 1, '
        b'"metrics": {"MSE": "x"}}',
    ],
)
def test_a_record_with_a_strange_cell_is_refused(tmp_path, line):
    path = tmp_path / "run.jsonl"
    arguments = {"A": Sees()}, {"S": (np.ones((9, 1)), np.ones(9) / 2)}
    compare(*arguments, trials=1, resume=path)
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(ValueError, match="a cell that is none"):
        compare(*arguments, trials=1, resume=path)


def test_a_record_of_something_else_is_refused(tmp_path, streams, models):
    path = tmp_path / "run.jsonl"
    compare(models, streams, trials=1, resume=path)
    for change, message in [
        ({"models": models | {"SGD": SGDClassifier(alpha=0.5)}}, "alpha=0.5"),
        ({"models": {"SGD": models["SGD"]}}, "models: fast: .* there, nothing now"),
        ({"models": models | {"river": linear_model.LogisticRegression(l2=0.1)}}, "l2=0.1"),
        ({"seed": 1}, "seed: 0 there, 1 now"),
        ({"share": 0.5}, "share: 0.8 there, 0.5 now"),
        ({"delay": 3}, "delay: 0 there, 3 now"),
        ({"streams": {"first": streams["first"]}}, "second"),
        ({"streams": streams | {"second": streams["first"]}}, "streams: second: rows: 40"),
        (
            {"streams": streams | {"first": Rows(streams["first"].X + 1, streams["first"].y)}},
            "streams: first: data",
        ),
    ]:
        arguments = {"models": models, "streams": streams, "trials": 1} | change
        with pytest.raises(ValueError, match="holds another comparison.*" + message):
            compare(**arguments, resume=path)


class Slow(SGDRegressor):
    def partial_fit(self, X, y):
        time.sleep(0.002)
        return super().partial_fit(X, y)


def slow_comparison(jobs, record):
    X = np.random.default_rng(0).normal(size=(20, 2))
    models = {"a": Slow(), "b": Slow(eta0=0.1), "c": Slow(eta0=0.05)}
    streams = {"s": (X, X[:, 0]), "t": (X, X[:, 1]), "u": (X, X @ [1.0, 1.0])}
    table = compare(models, streams, trials=3, jobs=jobs, resume=record)
    return table.render("csv") + table.render("text")


def alone(jobs, record):
    """Compare in a group of processes of its own."""
    os.setsid()
    slow_comparison(jobs, record)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return slow_comparison(1, tmp_path_factory.mktemp("uninterrupted") / "run.jsonl")


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_killed_comparison_continues(tmp_path, jobs, uninterrupted):
    path = tmp_path / "run.jsonl"

    def cells():
        return path.read_bytes().count(b"\n") - 1 if path.exists() else 0

    process = FORKS.Process(target=alone, args=(jobs, path))
    process.start()
    deadline = time.monotonic() + 120
    while cells() < 5 and process.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    before = path.read_bytes()
    assert 5 <= cells() < 27

    resumed = slow_comparison(jobs, path)
    assert path.read_bytes().startswith(before[: before.rindex(b"\n") + 1])
    assert cells() == 27  # none lost, none computed twice
    assert resumed == uninterrupted
    assert resumed.count("\n") > 10


X = np.ones((20, 1))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"trials": 0}, ValueError, "trials must be at least 1"),
        ({"trials": 1.5}, ValueError, "trials must be at least 1 and a whole number"),
        ({"share": 0.0}, ValueError, "share must be above 0"),
        ({"share": 1.5}, ValueError, "share must be above 0"),
        ({"reference": "Z"}, ValueError, "reference 'Z' is not among the models"),
        ({"models": {}}, ValueError, "at least one model"),
        ({"streams": []}, ValueError, "at least one stream"),
        ({"models": [Sees(), Sees()]}, ValueError, r"more than one model is called \['Sees'\]"),
        ({"models": {"A": Sees(), "B": SGDClassifier()}}, ValueError, "classifiers and regressors"),
        ({"models": {"A": naive_bayes.GaussianNB()}}, ValueError, "is regression, the model"),
        ({"models": {"A": object()}}, TypeError, "the model 'A' cannot be copied"),
    ],
)
def test_clear_errors(change, error, message):
    arguments = {"models": {"A": Sees()}, "streams": {"S": Numbers(X, X[:, 0] / 2)}, "trials": 1}
    with pytest.raises(error, match=message):
        compare(**(arguments | change))


def test_streams_of_two_tasks_are_refused():
    class Mute:
        """It does not say what it does."""

        def predict_one(self, x):
            return None

        def learn_one(self, x, y):
            pass

        def clone(self, new_params=None):
            return Mute()

        def _get_params(self):
            return {}

    with pytest.raises(ValueError, match="cannot be compared together"):
        compare(
            {"A": Mute()}, {"S": Numbers(X, X[:, 0]), "T": Rows(X, np.arange(20) % 2)}, trials=1
        )


def test_paths_may_be_strings_or_paths(tmp_path, streams, models):
    compare(models, streams, trials=1, resume=str(tmp_path / "a.jsonl"))
    assert Path(tmp_path / "a.jsonl").exists()


def test_one_model_or_one_stream_is_no_list_of_them(streams):
    with pytest.raises(TypeError, match="models must be a list or a dict of models, not one SGD"):
        compare(SGDClassifier(), streams)
    with pytest.raises(TypeError, match="streams must be a list or a dict of streams, not one str"):
        compare([SGDClassifier()], "log.csv")
