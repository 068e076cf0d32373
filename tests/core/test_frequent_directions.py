"""Frequent directions with forgetting: the bound is true, and all else is as with a sketch."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop.core import Filter, FrequentDirections

ONE = np.ones(1)


def learned(engine, X, Y, discount=1.0, gain=1.0):
    out = np.empty(Y.shape)
    engine.learn(X, Y, np.array([discount]), np.array([gain]), out)
    return out


def information(X, discount, gain, intercept):
    """R, worked out from all rows."""
    rows = np.column_stack([np.ones(len(X)), X]) if intercept else X
    age = np.arange(len(X))[::-1]
    return (rows * (gain * discount**age)[:, np.newaxis]).T @ rows


def check_bound(engine, R, rank):
    """The bound is true, and as small as theory says: what k directions leave over m + 1 - k."""
    B = engine.root()
    spectrum = np.linalg.eigvalsh(R - B.T @ B)
    rounding = 1e-12 * np.trace(R)
    assert spectrum[0] >= -rounding
    assert spectrum[-1] <= engine.error + rounding
    by_size = np.linalg.eigvalsh(R)[::-1]
    for k in range(rank + 1):
        assert engine.error <= by_size[k:].sum() / (rank + 1 - k) + rounding


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 300),
    d=st.integers(1, 25),
    rank=st.integers(1, 8),
    mu=st.sampled_from([0.0, 1e-3, 0.05, 0.5]),
    intercept=st.booleans(),
    scale=st.sampled_from([1.0, 1e-6, 1e6]),
)
def test_what_is_left_out_is_within_the_bound(seed, n, d, rank, mu, intercept, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.random()) * scale
    X *= np.exp(rng.normal(size=d))
    X[n // 2 :] *= 100.0  # the scale grows on the way
    engine = FrequentDirections(d, 1, rank, intercept, 1.0)
    learned(engine, X, rng.normal(size=(n, 1)), 1.0 - mu, gain=0.7)
    check_bound(engine, information(X, 1.0 - mu, 0.7, intercept), rank)


def test_rows_along_few_directions_leave_little_out(rng):
    n, d, rank = 600, 60, 6
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + 0.1 * rng.normal(size=(n, d))
    engine = FrequentDirections(d, 1, rank, False, 1.0)
    learned(engine, X, rng.normal(size=(n, 1)), 0.99)
    R = information(X, 0.99, 1.0, False)
    check_bound(engine, R, rank)
    assert engine.error < 0.01 * np.linalg.eigvalsh(R)[-1]


@pytest.mark.parametrize("intercept", [True, False])
def test_with_a_direction_for_every_column_it_is_the_exact_filter(rng, intercept):
    """Which has a prior that fades: so nothing is forgotten here."""
    X = rng.normal(size=(300, 6)) * [1.0, 10.0, 0.01, 1.0, 100.0, 1.0]
    Y = X @ rng.normal(size=(6, 2)) + rng.normal(size=(300, 2))
    exact = Filter(6, 2, intercept, 100.0, np.inf)
    out = np.empty(Y.shape)
    exact.learn(X, Y, ONE, ONE, out)
    engine = FrequentDirections(6, 2, 7, intercept, 100.0)
    ahead = learned(engine, X, Y)
    assert np.allclose(ahead, out, rtol=1e-6, atol=1e-6 * np.abs(out).max())
    assert np.allclose(engine.coefficients()[0], exact.coefficients()[0], rtol=1e-5, atol=1e-9)
    assert np.allclose(engine.variances(), exact.variances(), rtol=1e-5)
    assert engine.error <= 1e-9


def test_equals_the_formulas(rng):
    """Against the same in NumPy, with whole matrices and the eigenvectors of LAPACK."""
    n, d, m, lam = 150, 12, 3, 0.99
    X = np.clip(rng.normal(size=(n, d)), -3.0, 3.0)
    X[0] = 3.0  # a scale that is never outgrown
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    engine = FrequentDirections(d, 1, m, False, 1.0)
    ahead = learned(engine, X, y[:, np.newaxis], lam)[:, 0]
    w, error, told, size = np.zeros(d), 0.0, [], m
    A, faded, refilled, alpha = np.zeros((m, d)), 1.0, lam, 1.0 / lam  # from the first row on
    for x, target in zip(X, y, strict=True):
        told.append(float(x @ w))
        faded *= lam
        if faded < 0.5 * refilled:
            alpha, refilled = 1.0 / faded + error / 2.0, faded
        row = x / np.sqrt(faded)
        P = np.linalg.inv(A.T @ A + alpha * np.eye(d))
        step = (target - told[-1]) / np.sqrt(faded)
        w = w + P @ row * step / (1.0 + row @ P @ row)
        A, size = np.vstack([A, row]), size + 1
        if size - m >= m and 20 * (size - m) ** 3 >= m * m * d:
            _, s, V = np.linalg.svd(A, full_matrices=False)
            least = s[m] ** 2
            A = np.sqrt(np.maximum(s[:m] ** 2 - least, 0.0))[:, np.newaxis] * V[:m]
            error, size = error + least, m
            alpha, refilled = 1.0 / faded + error / 2.0, faded
    assert engine.error == pytest.approx(error * faded, rel=1e-9)
    assert np.allclose(ahead, told, rtol=1e-7, atol=1e-9)


def test_any_split_and_any_pickle_give_the_same_bits(rng):
    X, Y = rng.normal(size=(300, 20)), rng.normal(size=(300, 2))
    X[150:] *= 1000.0
    whole, parts = (FrequentDirections(20, 2, 4, True, 1.0) for _ in range(2))
    together = learned(whole, X, Y, 0.7)  # brought to scale every 120 rows
    cut = []
    for start, stop in ((0, 1), (1, 70), (70, 71), (71, 300)):
        cut.append(learned(parts, X[start:stop], Y[start:stop], 0.7))
        parts = pickle.loads(pickle.dumps(parts))
    assert np.array_equal(together, np.concatenate(cut))
    for name, values in whole.state().items():
        assert np.array_equal(values, parts.state()[name]), name


def test_time_that_passes_before_a_row_is_its_discount(rng):
    X, Y = rng.normal(size=(200, 10)), rng.normal(size=(200, 1))
    one, two = (FrequentDirections(10, 1, 4, True, 1.0) for _ in range(2))
    ahead = learned(one, X, Y, 0.7)
    for t in range(200):
        two.forget(0.7)
        assert learned(two, X[t : t + 1], Y[t : t + 1])[0, 0] == ahead[t, 0]


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
    engine = FrequentDirections(12, 2, 3, True, 1.0)
    for gain in (1.0, 1e30, 1e-30):
        X = values[rng.integers(4, size=(100, 12))] * (rng.random((100, 12)) < 0.6)
        Y = rng.choice([1.0, -1.0, 1e150, 0.0], size=(100, 2))
        assert np.isfinite(learned(engine, X, Y, discount, gain)).all()
    assert all(np.isfinite(values).all() for values in engine.state().values())
    restored = FrequentDirections(12, 2, 3, True, 1.0)
    restored.restore(engine.state())  # whatever it came to is in the ranges that files allow


def test_a_state_that_none_had_is_refused(rng):
    engine = FrequentDirections(30, 1, 4, True, 1.0)
    learned(engine, rng.normal(size=(33, 30)), rng.normal(size=(33, 1)))
    good = engine.state()
    for name, value in (("columns", 1.0), ("scale", 3.0), ("row_columns", 31.0), ("alpha", -1.0),
                        ("row_starts", 1.0), ("error", -1.0)):  # fmt: skip
        bad = {**good, name: np.full_like(good[name], value)}
        with pytest.raises(ValueError, match=name):
            FrequentDirections(30, 1, 4, True, 1.0).restore(bad)
    for name in ("gram", "basis", "row_weights", "row_values"):
        with pytest.raises(ValueError, match=r"gram|columns|row_starts"):
            FrequentDirections(30, 1, 4, True, 1.0).restore({**good, name: good[name][:-1]})


def test_memory_does_not_grow_with_the_stream(rng):
    engine = FrequentDirections(500, 1, 10, True, 1.0)
    X, Y = rng.normal(size=(400, 500)), rng.normal(size=(400, 1))
    learned(engine, X, Y)
    before = engine.memory_bytes
    for _ in range(3):
        learned(engine, X, Y)
    assert engine.memory_bytes <= before
    assert before < 8 * (500 * 10 * 4 + 2 * 200**2)
