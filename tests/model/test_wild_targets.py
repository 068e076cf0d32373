"""Targets far outside all that was seen do the default learner no lasting harm."""

import numpy as np
import pytest

from dfop import DFOPRegressor, load, save

N = 5000
LAST = slice(4000, N)
WITHIN = 1.5


def world(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    return X, X @ [1.0, -1.0, 0.5] + 0.2 * rng.normal(size=N)


def error(model, X, z, rows, among=None):
    """Return the median absolute error on rows, of those whose targets are no dirt."""
    off = np.abs(model.predict_then_learn(X, z) - z)[rows]
    return float(np.median(off if among is None else off[among[rows]]))


@pytest.mark.parametrize("value", [1e6, -9999.0])
@pytest.mark.parametrize("share", [0.001, 0.01])
def test_wild_targets_now_and_then(value, share):
    X, y = world(3)
    clean = error(DFOPRegressor(), X, y, LAST)
    tame = np.random.default_rng(4).random(N) >= share
    assert error(DFOPRegressor(), X, np.where(tame, y, value), LAST, tame) < WITHIN * clean


@pytest.mark.parametrize("value", [1e6, -9999.0])
@pytest.mark.parametrize("row", [0, 1, 3, 5, 9, 11, 12])
def test_a_wild_target_among_the_first(row, value):
    X, y = world(5)
    some = slice(300, 1000)
    clean = error(DFOPRegressor(), X, y, some)
    y[row] = value
    assert error(DFOPRegressor(), X[:1000], y[:1000], some) < WITHIN * clean


@pytest.mark.parametrize("by", [10.0, 100.0, 1e4, -1e6])
def test_a_target_that_moves_is_followed_and_known_as_well_as_before(by):
    X, y = world(6)
    at, some = 1500, slice(2500, 3500)
    clean = error(DFOPRegressor(), X, y, some)
    y[at:] += by
    assert error(DFOPRegressor(), X, y, some) < WITHIN * clean


@pytest.mark.parametrize("rows", [1, 3, 10, 30, 200])
def test_a_glitch_is_forgotten(rows):
    X, y = world(7)
    at, some = 1500, slice(2200, 3200)
    clean = error(DFOPRegressor(), X, y, some)
    y[at : at + rows] = 1e6
    assert error(DFOPRegressor(), X, y, some) < WITHIN * clean


@pytest.mark.parametrize("value", [-999.0, -9999.0, 1e6, 9.97e36])
@pytest.mark.parametrize("rows", [5, 15, 300])
@pytest.mark.parametrize("times", [1, 4])
def test_a_sensor_that_is_out_leaves_what_was_learned_as_it_was(value, rows, times):
    X, y = world(13)
    dirty, tame, some = y.copy(), np.ones(N, bool), slice(4400, N)
    for at in range(700, 700 + times * 900, 900):
        dirty[at : at + rows], tame[at : at + rows] = value, False
    clean = np.abs(DFOPRegressor().predict_then_learn(X, y) - y)
    off = np.abs(DFOPRegressor().predict_then_learn(X, dirty) - y)
    assert np.median(off[some]) < 1.1 * np.median(clean[some])
    back = slice(700 + rows + 1, 700 + rows + 100)  # but for the first row, which nobody can know
    assert np.median(off[back]) < 1.3 * np.median(clean[back])


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_sensor_that_draws_by_chance_for_a_while_does_no_lasting_harm(times):
    X, y = world(14)
    rng, dirty = np.random.default_rng(15), y.copy()
    for at in range(700, 700 + times * 1000, 1000):
        dirty[at : at + 20] = 1e4 * rng.normal(size=20)
    last = slice(4000, N)
    clean = np.median(np.abs(DFOPRegressor().predict_then_learn(X, y) - y)[last])
    off = np.median(np.abs(DFOPRegressor().predict_then_learn(X, dirty) - dirty)[last])
    assert off < WITHIN * clean


def test_a_machine_that_runs_and_stands_still_is_known_in_both_states():
    X, y = world(16)
    runs = (np.arange(N) // 50) % 2 == 1
    X = np.column_stack([X, runs])
    y = np.where(runs, 1e4 + y, y)  # stands still with noise, too
    off = np.abs(DFOPRegressor().predict_then_learn(X, y) - y)
    assert np.median(off[1000:]) < 20.0
    still = np.where(runs, y, 0.0)
    off = np.abs(DFOPRegressor().predict_then_learn(X, still) - still)
    assert np.median(off[1000:][~runs[1000:]]) < 20.0


@pytest.mark.parametrize("length", [20, 100, 400])
def test_a_machine_that_runs_first_and_stands_still_is_no_worse_than_no_change(length):
    X, y = world(17)
    still = (np.arange(N) // length) % 2 == 1
    y = np.where(still, 0.0, 1500.0 + y)
    model = DFOPRegressor()
    off = np.abs(model.predict_then_learn(np.column_stack([X, still]), y) - y)[2000:]
    no_change = np.abs(np.diff(y))[1999:]
    assert off.mean() < 1.05 * no_change.mean()


@pytest.mark.parametrize(("out", "period"), [(15, 60), (20, 50), (20, 40)])
def test_a_sensor_that_is_often_out_does_no_harm(out, period):
    X, y = world(18)
    tame = (np.arange(N) % period) < period - out
    tame[:300] = True
    clean = np.abs(DFOPRegressor().predict_then_learn(X, y) - y)
    off = np.abs(DFOPRegressor().predict_then_learn(X, np.where(tame, y, -9999.0)) - y)
    counted = tame & np.r_[False, tame[:-1]] & (np.arange(N) > 1000)
    assert off[counted].mean() < 1.5 * clean[counted].mean()


def test_a_target_in_another_unit_is_followed():
    X, y = world(8)
    some = slice(3000, 4000)
    clean = error(DFOPRegressor(), X, y, some)
    y[1500:] *= 1000.0
    assert error(DFOPRegressor(), X, y, some) < WITHIN * 1000.0 * clean


@pytest.mark.parametrize("delay", [40, 150])
def test_labels_may_come_late(delay):
    """In order, so many rows later; wild at the start, now and then, and moved."""
    n = 2400
    X, y = world(9)
    X, y = X[:n], y[:n]

    def late(z):
        model, out = DFOPRegressor(), np.empty(n)
        for start in range(0, n, 10):
            rows = np.arange(start, start + 10)
            out[rows] = model.predict_pending(X[rows], rows)
            known = rows - delay
            if known[0] >= 0:
                model.learn_pending(known, z[known])
        return np.abs(out - z)

    z = y.copy()
    z[[3, 500, 900]] = -9999.0
    z[1200:] += 1e6
    clean, dirty = late(y), late(z)
    before, after = slice(600, 1200), slice(1200 + delay + 600, n)
    assert np.median(dirty[before]) < WITHIN * np.median(clean[before])
    assert np.median(dirty[after]) < WITHIN * np.median(clean[after])


def test_one_of_several_targets_may_be_dirty():
    X, y = world(10)
    rng = np.random.default_rng(11)
    Y = np.column_stack([y, X @ [0.5, 1.0, 2.0] + 0.2 * rng.normal(size=N)])[:2500]
    rows = slice(2000, 2500)
    dirty = Y.copy()
    dirty[[4, 700, 1500], 0] = 1e6
    dirty[1000:1040, 1] = -9999.0
    clean = np.median(np.abs(DFOPRegressor().predict_then_learn(X[:2500], Y) - Y)[rows], axis=0)
    off = np.abs(DFOPRegressor().predict_then_learn(X[:2500], dirty) - dirty)[rows]
    assert (np.median(off, axis=0) < WITHIN * clean).all()


@pytest.mark.parametrize("ends", [(400, 711), (5, 11, 12, 13, 699, 710, 711, 712, 713)])
def test_calls_and_files_may_end_anywhere(tmp_path, ends):
    X, y = world(12)
    X, y = X[:900], y[:900]
    y[[3, 200, 201, 300]] = -9999.0
    y[700:] += 1e5
    whole = DFOPRegressor()
    expected = whole.predict_then_learn(X, y)
    cut, parts = DFOPRegressor(), []
    for start, end in zip([0, *ends], [*ends, len(X)], strict=True):
        ahead = cut.predict(X[start : start + 1]) if start else None
        parts.append(cut.predict_then_learn(X[start:end], y[start:end]))
        assert ahead is None or ahead[0] == parts[-1][0]
        save(cut, tmp_path / "model.dfop")
        cut = load(tmp_path / "model.dfop")
    np.testing.assert_array_equal(np.concatenate(parts), expected)
    np.testing.assert_array_equal(cut.predict(X), whole.predict(X))
