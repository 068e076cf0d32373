"""The sketch against NumPy, against the exact filter, and against itself."""

import pickle

import numpy as np
import pytest
from sketch_oracle import SketchOracle

from dfop.core import Filter, Sketch

ONE = np.ones(1)


def low_rank_rows(rng, n, d, rank=3):
    """Rows that vary along few directions, with holes and noise."""
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + 0.1 * rng.normal(size=(n, d))
    return np.where(rng.random((n, d)) < 0.5, X, 0.0)


def learned(sketch, X, Y, mu=0.0):
    out = np.empty(Y.shape)
    sketch.learn(X, Y, np.array([1.0 - mu]), ONE, out)
    return out


def sparse(X):
    rows, columns = np.nonzero(X)
    starts = np.searchsorted(rows, np.arange(len(X) + 1)).astype(np.int64)
    return starts, columns.astype(np.int32), X[rows, columns]


@pytest.mark.parametrize("mu", [0.0, 0.003])
def test_equals_the_oracle(rng, mu):
    n, d, m = 600, 30, 4
    X = np.clip(low_rank_rows(rng, n, d), -4.0, 4.0)
    X[0] = 2.0  # a scale that is never outgrown
    Y = np.column_stack([X @ rng.normal(size=d), rng.normal(size=n)])
    sketch, oracle = Sketch(d, 2, m, True, 1.0, 1e6), SketchOracle(d, 2, m, 1.0)
    ahead = learned(sketch, X, Y, mu)
    told = np.array([oracle.learn(x, y, 1.0 - mu) for x, y in zip(X, Y, strict=True)])
    assert sketch.refreshes == oracle.refreshes > 5
    assert np.abs(ahead - told).max() < 1e-4 * np.abs(told).max()


@pytest.mark.parametrize("intercept", [True, False])
def test_with_a_direction_for_every_column_it_is_the_exact_filter(rng, intercept):
    X = rng.normal(size=(300, 6)) * [1.0, 10.0, 1e-3, 1.0, 1e4, 1.0]
    Y = X @ rng.normal(size=(6, 2)) + rng.normal(size=(300, 2))
    exact = Filter(6, 2, intercept, 100.0, 1e6)
    out = np.empty(Y.shape)
    exact.learn(X, Y, np.array([0.99]), ONE, out)
    sketch = Sketch(6, 2, 6, intercept, 100.0, 1e6)
    ahead = learned(sketch, X, Y, 0.01)
    assert np.allclose(ahead, out, rtol=1e-6, atol=1e-6 * np.abs(out).max())
    assert np.allclose(sketch.coefficients()[0], exact.coefficients()[0], rtol=1e-5, atol=1e-9)
    assert np.allclose(sketch.variances(), exact.variances(), rtol=1e-5)


def test_redrawing_the_directions_does_not_change_the_weights(rng):
    X, d, m = low_rank_rows(rng, 500, 40), 40, 5
    Y = X @ rng.normal(size=(d, 1))
    sketch = Sketch(d, 1, m, True, 1.0, 1e6)
    for t in range(500):
        before = sketch.refreshes
        ahead = np.empty((1, 1))
        sketch.learn(X[t : t + 1], Y[t : t + 1], ONE, ONE, ahead)
        if sketch.refreshes > before > 0:
            coef, constant = sketch.coefficients()
            now = np.empty((1, 1))
            sketch.predict(X[t : t + 1], now)
            assert now[0, 0] == pytest.approx(float(X[t] @ coef[0] + constant[0]), rel=1e-6)
    assert sketch.refreshes > 3


def test_directions_are_worth_something(rng):
    """Columns that move together mislead a diagonal: directions tell them apart."""
    n, d = 3000, 200
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, d)) + 0.05 * rng.normal(size=(n, d))
    truth = (X @ rng.normal(size=d) / d)[:, np.newaxis]
    y = truth + 0.1 * rng.normal(size=(n, 1))
    few, many = (learned(Sketch(d, 1, m, True, 1.0, 1e6), X, y, 0.01) for m in (1, 10))
    errors = [np.mean((out - truth)[300:] ** 2) for out in (few, many)]
    assert errors[1] < 0.8 * errors[0]


def test_sparse_rows_are_the_same_bits_as_dense_ones(rng):
    X = low_rank_rows(rng, 400, 50)
    Y = rng.normal(size=(400, 3))
    dense, by_nonzeros = (Sketch(50, 3, 4, True, 1.0, 1e6) for _ in range(2))
    out = np.empty(Y.shape)
    by_nonzeros.learn_sparse(*sparse(X), Y, np.array([0.999]), ONE, out)
    assert np.array_equal(learned(dense, X, Y, 0.001), out)
    there, here = np.empty(Y.shape), np.empty(Y.shape)
    dense.predict(X, there)
    by_nonzeros.predict_sparse(*sparse(X), here)
    assert np.array_equal(there, here)


def test_any_split_and_any_pickle_give_the_same_bits(rng):
    X, Y = low_rank_rows(rng, 400, 50), rng.normal(size=(400, 1))
    whole, parts = (Sketch(50, 1, 4, True, 1.0, 1e6) for _ in range(2))
    together = learned(whole, X, Y, 0.01)
    cut = []
    for start, stop in ((0, 1), (1, 70), (70, 71), (71, 400)):
        cut.append(learned(parts, X[start:stop], Y[start:stop], 0.01))
        parts = pickle.loads(pickle.dumps(parts))
    assert np.array_equal(together, np.concatenate(cut))
    for name, values in whole.state().items():
        assert np.array_equal(values, parts.state()[name]), name


def test_time_that_passes_before_a_row_is_its_discount(rng):
    X, Y = low_rank_rows(rng, 200, 30), rng.normal(size=(200, 1))
    one, two = (Sketch(30, 1, 4, True, 1.0, 1e6) for _ in range(2))
    ahead = learned(one, X, Y, 0.2)  # forgets so fast that its diagonal is brought to scale often
    for t in range(200):
        out = np.empty((1, 1))
        two.forget(0.8)
        two.learn(X[t : t + 1], Y[t : t + 1], ONE, ONE, out)
        assert out[0, 0] == ahead[t, 0]


def test_memory_is_taken_by_columns_that_came():
    """A column takes its weights and a few numbers, and directions once it has come often."""
    sketch = Sketch(10**6, 1, 20, True, 1.0, 1e6)
    empty = sketch.memory_bytes
    assert empty < 5e6
    out, columns = np.empty((1, 1)), np.arange(100_000, 101_000, dtype=np.int32)
    row = np.array([0, 1000]), columns, np.ones(1000)
    for _ in range(20):
        sketch.learn_sparse(*row, np.ones((1, 1)), ONE, ONE, out)
    bound = 1000 * (5 * 8 + 2 * 4 + 2 * 20 * 4 + 8)  # vectors may hold twice what they need
    assert sketch.memory_bytes - empty <= 2 * bound
    state = sketch.state()
    assert len(state["columns"]) == len(state["joined"]) == 1000


HOSTILE = {
    "huge": [1e150, -1e150, 1e-150, 0.0],
    "tiny": [1e-300, 5e-324, 1e-150, -1e-160],
    "growing": [1e-100, 1.0, 1e100, 1e150],
    "constant": [1.0, 1.0, 1.0, 1.0],
}


@pytest.mark.parametrize("discount", [1.0, 0.9, 1e-30])
@pytest.mark.parametrize("name", HOSTILE)
def test_never_nan(rng, name, discount):
    values = np.array(HOSTILE[name])
    sketch = Sketch(12, 2, 3, True, 1.0, 1e6)
    for gain in (1.0, 1e30, 1e-30):
        X = values[rng.integers(4, size=(300, 12))] * (rng.random((300, 12)) < 0.6)
        Y = rng.choice([1.0, -1.0, 1e150, 0.0], size=(300, 2))
        out = np.empty(Y.shape)
        sketch.learn(X, Y, np.array([discount]), np.array([gain]), out)
        assert np.isfinite(out).all()
    assert all(np.isfinite(values).all() for values in sketch.state().values())
    restored = Sketch(12, 2, 3, True, 1.0, 1e6)
    restored.restore(sketch.state())  # whatever it came to is in the ranges that files allow


def test_a_state_that_no_sketch_had_is_refused(rng):
    sketch = Sketch(30, 1, 4, True, 1.0, 1e6)
    learned(sketch, low_rank_rows(rng, 100, 30), rng.normal(size=(100, 1)))
    good = sketch.state()
    for name, value in (("columns", 1.0), ("scale", 3.0), ("joined", 29.5), ("D", -1.0)):
        bad = {**good, name: np.full_like(good[name], value)}
        with pytest.raises(ValueError, match=name):
            Sketch(30, 1, 4, True, 1.0, 1e6).restore(bad)
    with pytest.raises(ValueError, match="directions"):
        Sketch(30, 1, 4, True, 1.0, 1e6).restore({**good, "basis": good["basis"][:-1]})


@pytest.mark.parametrize(
    "rows",
    [
        (np.array([0, 2]), np.array([3, 1], np.int32), np.ones(2)),
        (np.array([0, 2]), np.array([1, 1], np.int32), np.ones(2)),
        (np.array([0, 1]), np.array([30], np.int32), np.ones(1)),
        (np.array([0, 1]), np.array([-1], np.int32), np.ones(1)),
        (np.array([0, 5]), np.array([1], np.int32), np.ones(1)),
        (np.array([1, 0]), np.array([1], np.int32), np.ones(1)),
    ],
)
def test_rows_that_are_none_are_refused(rows):
    with pytest.raises(ValueError, match=r"row|columns"):
        Sketch(30, 1, 4, True, 1.0, 1e6).predict_sparse(*rows, np.empty((1, 1)))
