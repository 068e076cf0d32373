"""A row's discount is time that passes before it: the same bits, in one call or in two."""

import numpy as np
import pytest
from expert_state import bits
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop.core import Bank, Filter

KERNELS = ["baseline", ""]


def growing(rng, n, d):
    """Rows whose features grow, shrink and appear late."""
    X = rng.normal(size=(n, d)) * 10.0 ** np.cumsum(rng.normal(size=(n, d)) * 0.3, axis=0)
    X[: n // 3, 0] = 0.0
    X[n // 2 :, -1] *= 1e12  # more at one step than an old weight can follow
    return X


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("prior", [1e-3, 100.0, 1e30])
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 12),
    m=st.sampled_from([0, 1, 2, 5]),
    intercept=st.booleans(),
    least=st.sampled_from([0.999, 0.9, 0.1]),
)
@settings(max_examples=20)
def test_of_a_filter(kernel, prior, seed, d, m, intercept, least):
    rng = np.random.default_rng(seed)
    n = 120
    X, Y, lam = growing(rng, n, d), rng.normal(size=(n, m)), rng.uniform(least, 1.0, n)
    once, twice = (Filter(d, m, intercept, prior, 1e6, kernel) for _ in range(2))
    out, out_one = np.empty((n, m)), np.empty((n, m))
    once.learn(X, Y, lam, np.ones(1), out)
    for t in range(n):
        row = slice(t, t + 1)
        twice.forget(lam[t])
        twice.learn(X[row], Y[row], np.ones(1), np.ones(1), out_one[row])
    assert out.tobytes() == out_one.tobytes()
    assert bits(once) == bits(twice)


@pytest.mark.parametrize("walk", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize("mu", [0.0, 1e-3, 0.3])
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("relative", [False, True])
def test_of_a_bank(mu, walk, curved, relative):
    rng = np.random.default_rng(7)
    n, d = 300, 3  # limits of walking experts are drawn anew every 72 rows
    X, Y = growing(rng, n, d), rng.normal(size=(n, 1))
    maps = [("linear", 0.0, 0), *([("fourier", 0.6, 10), ("products", 0.0, 0)] if curved else [])]
    experts = [(i, mu, walk) for i in range(len(maps))]
    design = ([("number", 1)], maps, experts, True, 100.0, relative, 1e6)
    once, twice = Bank(d, *design), Bank(d, *design)
    out, out_one = np.empty((n, 1)), np.empty((n, 1))
    once.learn(X, Y, np.ones(1), np.zeros(1), out)
    for t in range(n):
        row = slice(t, t + 1)
        twice.forget(1.0)
        twice.learn(X[row], Y[row], np.zeros(1), np.zeros(1), out_one[row])
    assert out.tobytes() == out_one.tobytes()
    assert bits(once) == bits(twice)


def test_an_array_of_times_passes_row_by_row():
    rng = np.random.default_rng(1)
    X, Y, lam = rng.normal(size=(50, 3)), rng.normal(size=(50, 1)), rng.uniform(0.3, 1.0, 40)
    one, other = Filter(3, 1, True, 100.0, 1e6), Filter(3, 1, True, 100.0, 1e6)
    for filter_ in (one, other):
        filter_.learn(X, Y, np.ones(1), np.ones(1), np.empty((50, 1)))
    one.forget(lam)
    for discount in lam:
        other.forget(discount)
    assert bits(one) == bits(other)
    design = ([("number", 1)], [("linear", 0.0, 0)], [(0, 0.1, 0.1)], True, 100.0, False, 1e6)
    one, other = Bank(3, *design), Bank(3, *design)
    one.forget(10 * lam)
    for elapsed in 10 * lam:
        other.forget(elapsed)
    assert bits(one) == bits(other)
