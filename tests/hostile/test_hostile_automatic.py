"""Whatever comes in, the automatic learner raises no error and all its numbers stay finite."""

import numpy as np
import pytest
from corpus import STREAMS, adversary, generate

from dfop import DFOPClassifier, DFOPRegressor, load, save

FEATURES = ["auto", "linear", "poly"]
ROWS = 3_000
"""A bank is many filters: of the long streams, the ends."""


def shorten(given):
    """The first and the last rows."""
    n = len(given.y)
    if n <= ROWS:
        return given.X, given.y
    keep = np.r_[: ROWS // 2, n - ROWS // 2 : n]
    return given.X[keep], given.y[keep]


def numbers_of(state):
    for part in state.values():
        if isinstance(part, dict):
            yield from numbers_of(part)
        else:
            yield np.asarray(part)


def assert_sound(model, X):
    for numbers in numbers_of(model._model.engine.state()):
        assert np.isfinite(numbers).all()
    parts = model._model.monitor.parts()
    for numbers in numbers_of({name: part.state() for name, part in parts.items()}):
        assert np.isfinite(numbers).all()
    weights = model._model.engine.weights()
    assert np.isfinite(weights).all()
    for expert in model.experts_:
        assert np.isfinite([expert.weight, expert.error, expert.recent_error]).all()
    assert all(np.isfinite(list(alarm.moved.values())).all() for alarm in model.alarms_)
    assert 0.0 <= model.forgetting_ < 1.0
    if isinstance(model, DFOPRegressor):
        assert np.isfinite(model.predict_interval(X)).all()
    else:
        p = model.predict_proba(X)
        assert np.isfinite(p).all()
        assert p.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", STREAMS)
def test_a_hostile_stream_is_survived(name, features):
    X, y = shorten(generate(name))
    X = np.ascontiguousarray(X[:, :20])  # their products are 230
    model = DFOPRegressor(features=features)
    ahead = model.predict_then_learn(X, y)
    assert np.isfinite(ahead).all()
    assert_sound(model, X[:10])
    # every expert and every candidate is kept within a tenth of the range of the labels seen
    reach = y.max() - y.min()
    assert np.abs(ahead).max() <= np.abs(y).max() + 0.1 * reach * (1 + 1e-9)


@pytest.mark.parametrize("name", STREAMS)
def test_hostile_rows_and_labels_of_classes_are_survived(name):
    X, y = shorten(generate(name))
    X = X[:1_000, :50]
    labels = np.digitize(y[: len(X)], np.quantile(y, [0.3, 0.6]))
    for model, known, kinds in (
        (DFOPClassifier(), labels, [0, 1, 2]),
        (DFOPClassifier(), labels > 0, [False, True]),
    ):
        ahead = model.predict_then_learn(X, known, classes=kinds)
        assert np.isin(ahead, kinds).all()
        assert_sound(model, X[:10])


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_adversaries_are_survived_and_can_be_saved(first, tmp_path):
    for seed in range(first, first + 10):
        given = adversary(seed)
        model = DFOPRegressor(features="auto" if seed % 2 else "linear", lags=seed % 3)
        ahead = model.predict_then_learn(given.X, given.y)
        assert np.isfinite(ahead).all(), seed
        assert_sound(model, given.X[:10])
        save(model, tmp_path / "model.dfop")
        other = load(tmp_path / "model.dfop")
        assert (other.predict(given.X) == model.predict(given.X)).all(), seed


@pytest.mark.parametrize("outlier", [1e10, 1e100, 3e150, -3e150])
def test_one_label_far_out_is_survived(outlier):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=2_000)
    y[1_000] = outlier
    model = DFOPRegressor()
    ahead = model.predict_then_learn(X, y)
    assert np.isfinite(ahead).all()
    assert_sound(model, X[:10])
    # and soon forgotten: it counted as the farthest one before it
    assert np.median(np.abs(ahead - y)[1_500:2_000]) <= 0.2


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-150, 1.0, -1e150])
@pytest.mark.parametrize("then", [None, 0.0, 1e-300, 1e150, -5e-324])
def test_constant_labels_and_a_leap_are_survived(value, then):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))
    y = np.full(600, value)
    if then is not None:
        y[300:] = then
    model = DFOPRegressor(features="linear", lags=1)
    ahead = model.predict_then_learn(X, y)
    assert np.isfinite(ahead).all()
    assert_sound(model, X[:10])


@pytest.mark.parametrize("share", [0.1, 0.9, 1.0])
def test_gaps_at_every_scale_are_survived(share):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 4)) * 10.0 ** rng.uniform(-150, 149, (800, 4))
    X[rng.random(X.shape) < share] = np.nan
    y = rng.normal(size=800)
    for model, targets in ((DFOPRegressor(), y), (DFOPClassifier(), y > 0)):
        model.predict_then_learn(X, targets)
        assert_sound(model, X[:10])


def test_errors_that_end_for_good_leave_the_watch_finite():
    """One class only after a hard start: the errors become exactly 0."""
    y = np.zeros(400_000)
    y[:200] = np.random.default_rng(3).normal(size=200) * 1e60
    y[200:] = y[199]
    X = np.ones((len(y), 1))
    model = DFOPRegressor(features="linear", forgetting="auto", fit_intercept=False)
    model.partial_fit(X, y)
    assert_sound(model, X[:2])
