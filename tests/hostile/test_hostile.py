"""Whatever comes in, the model stays finite, its D positive and its predictions sane."""

import gc
import resource
from pathlib import Path

import numpy as np
import pytest
from corpus import STREAMS, adversary, generate

from dfop import DFOPClassifier, DFOPRegressor, load, save
from dfop.core import Filter

FORGETTING = [0.0, 0.001, 0.01, 0.1, 0.5]


def assert_sound(model):
    state = model._model.engine.state()
    for name in ("upper", "D", "weights", "scale"):
        assert np.isfinite(state[name]).all(), name
    assert (state["D"] > 0.0).all()
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()


def rms(values):
    """The root of the mean square, without overflow."""
    values = np.abs(np.asarray(values, float))
    largest = values.max()
    return float(largest * np.sqrt(np.mean((values / largest) ** 2))) if largest > 0 else 0.0


@pytest.mark.filterwarnings("ignore:.*forget faster:UserWarning")
@pytest.mark.parametrize("mu", FORGETTING)
@pytest.mark.parametrize("name", STREAMS)
def test_a_hostile_stream_is_survived(name, mu):
    given = generate(name)
    model = DFOPRegressor(mu)
    ahead = model.predict_then_learn(given.X, given.y, **given.arguments)
    assert np.isfinite(ahead).all()
    assert_sound(model)
    assert np.isfinite(model.predict(given.X[:10])).all()
    if not given.fair:
        assert rms(given.y - ahead) <= rms(given.y)


@pytest.mark.parametrize("name", STREAMS)
def test_a_hostile_stream_with_gaps_and_text_is_survived(name):
    given = generate(name)
    rng = np.random.default_rng(0)
    given.X[rng.random(given.X.shape) < 0.1] = np.nan
    given.X[:50, 0] = np.nan
    n = min(len(given.X), 5_000)
    texts = np.array([f"t{k}" for k in rng.zipf(1.5, n)], dtype=object)
    rows = np.column_stack([given.X[:n].astype(object), texts])
    arguments = {key: value[:n] for key, value in given.arguments.items()}
    model = DFOPRegressor(0.01)
    ahead = model.predict_then_learn(rows, given.y[:n], **arguments)
    assert np.isfinite(ahead).all()
    assert_sound(model)
    assert np.isfinite(model.predict(rows[:10])).all()


@pytest.mark.parametrize("first", range(0, 500, 50))
def test_random_adversaries_are_survived(first):
    for seed in range(first, first + 50):
        given = adversary(seed)
        model = DFOPRegressor(0.001)
        ahead = model.predict_then_learn(given.X, given.y, **given.arguments)
        assert np.isfinite(ahead).all(), seed
        assert_sound(model)


@pytest.mark.parametrize("kernel", ["baseline", ""])
@pytest.mark.parametrize("name", ["everything_at_once", "small_discounts_and_uneven_scales"])
@pytest.mark.parametrize("mu", [0.01, 0.5])
def test_the_state_is_sound_after_every_row(name, mu, kernel):
    given = generate(name)
    n, d = given.X.shape
    one = Filter(d, 1, True, 100.0, 1e6, kernel)
    out = np.empty((1, 1))
    lam = given.arguments["discount"] * (1 - mu)
    for t in range(min(n, 1_500)):
        one.learn(
            given.X[t : t + 1], given.y[t : t + 1, np.newaxis], lam[t : t + 1], np.ones(1), out
        )
        state = one.state()
        assert np.isfinite(out).all()
        assert all(np.isfinite(state[part]).all() for part in ("upper", "D", "weights"))
        assert (state["D"] > 0.0).all()


@pytest.mark.parametrize("mu", FORGETTING)
def test_weights_forgotten_by_leaps_do_not_run_away(mu):
    """Predictions stay within what the prior allows: its deviation, times the feature's size.

    Features up to 10^12 and targets of size 1, so the prior (variance 100, which may wind up by
    1000) allows about sqrt(1e5) 10^12; ten thousand times that is running away.
    """
    given = generate("small_discounts_and_uneven_scales")
    model = DFOPRegressor(mu)
    ahead = model.predict_then_learn(
        given.X, given.y, discount=given.arguments["discount"] * (1 - mu)
    )
    assert np.abs(ahead).max() <= 1e4 * np.sqrt(1e5) * np.abs(given.X).max()


@pytest.mark.parametrize("mu", FORGETTING)
def test_one_jump_of_a_feature_does_not_spoil_what_follows(mu):
    given = generate("jump_and_back")
    ahead = DFOPRegressor(mu).predict_then_learn(given.X, given.y)
    for a, b in [(1_000, 2_000), (3_000, 4_000), (5_000, 6_000)]:
        assert rms((given.y - ahead)[a:b]) <= rms(given.y[a:b])


@pytest.mark.parametrize("mu", FORGETTING)
def test_a_classifier_survives_one_class_and_flipping_labels(mu):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5_000, 3))
    for y in (np.ones(5_000, int), np.arange(5_000) % 2, np.arange(5_000) % 3):
        model = DFOPClassifier(mu)
        ahead = model.predict_then_learn(X, y)
        assert np.isin(ahead, y).all()
        assert_sound(model)
        p = model.predict_proba(X)
        assert np.isfinite(p).all()
        assert p.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("mu", FORGETTING)
def test_a_million_rows_leave_the_model_as_good_as_new(mu):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1_000_000, 2))
    y = X @ [1.0, -1.0] + 0.1 * rng.normal(size=1_000_000)
    X[300_000:900_000, 1] = 0.0
    y[300_000:900_000] = X[300_000:900_000, 0]
    model = DFOPRegressor(mu)
    ahead = model.predict_then_learn(X, y)
    assert np.isfinite(ahead).all()
    assert_sound(model)
    young = DFOPRegressor(mu).predict_then_learn(X[-50_000:], y[-50_000:])
    assert rms((y - ahead)[-40_000:]) <= 1.05 * rms(y[-40_000:] - young[-40_000:])


def resident_memory():
    """Bytes held now. (The peak would hide growth below an earlier test's peak.)"""
    gc.collect()
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def least_growth(work):
    """Bytes that every one of four rounds takes: what the allocator holds back comes once."""
    held = [resident_memory()]
    for _ in range(4):
        work()
        held.append(resident_memory())
    return int(np.diff(held).min())


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc"
)


def learn_rows(model, batch, rows, rng):
    X = rng.normal(size=(batch, 20))
    y = rng.normal(size=batch)
    for _ in range(rows // batch):
        model.partial_fit(X, y)


@needs_proc
@pytest.mark.parametrize(
    "rows", [pytest.param(10**6, id="1e6"), pytest.param(10**7, id="1e7", marks=pytest.mark.slow)]
)
def test_memory_does_not_grow_with_the_rows(rows):
    rng = np.random.default_rng(3)
    model = DFOPRegressor(0.001)
    learn_rows(model, 1_000, 50_000, rng)
    assert least_growth(lambda: learn_rows(model, 1_000, rows // 4, rng)) <= 2**20


@needs_proc
def test_memory_does_not_grow_with_labels_that_were_late():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(1_000, 20)), rng.normal(size=1_000)
    model = DFOPRegressor(0.001)

    def round_trip(times):
        for _ in range(times):
            model.predict_pending(X, range(1_000))
            model.learn_pending(range(1_000), y)

    round_trip(5)
    assert least_growth(lambda: round_trip(25)) <= 2**20
    assert model.pending_ == []


@pytest.mark.parametrize("seed", [100339, 106620])
def test_what_hostile_streams_leave_behind_can_be_saved_and_loaded(seed, tmp_path):
    """These two drive U to 2e84 and 5e97, the largest of 30,000."""
    given = adversary(seed)
    model = DFOPRegressor(0.0).fit(
        given.X[:-1], given.y[:-1], discount=given.arguments["discount"][:-1]
    )
    save(model, tmp_path / "model.dfop")
    np.testing.assert_array_equal(load(tmp_path / "model.dfop").coef_, model.coef_)


@pytest.mark.parametrize("seed", [100339, 106620])
def test_factors_that_run_away_are_caught_at_the_same_row_in_any_batches(seed):
    """Two columns are the same but for rounding, and far larger than D can tell apart."""
    given = adversary(seed)
    n, d = given.X.shape
    lam, gain = given.arguments["discount"], np.ones(1)
    outs = []
    for batch in (1, 7, n):
        one, out = Filter(d, 1, True, 100.0, 1e6), np.empty((n, 1))
        for t in range(0, n, batch):
            rows = slice(t, t + batch)
            one.learn(given.X[rows], given.y[rows, np.newaxis], lam[rows], gain, out[rows])
        assert np.isfinite(out).all()
        outs.append((out.tobytes(), *(value.tobytes() for value in one.state().values())))
    assert outs[0] == outs[1] == outs[2]
