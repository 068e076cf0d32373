"""The compiled filter does what the readable one does, with either kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop.core import Filter
from dfop.core.oracle import OracleFilter

KERNELS = ["baseline", ""]


def agree(compiled, oracle, tolerance):
    """Compare weights, and P = U D U', each on the scale of its own diagonal."""
    state = compiled.state()
    assert (state["scale"] == oracle.scale).all()
    W = state["weights"]
    reach = np.abs(oracle.W).max(initial=1.0)
    assert np.abs(W - oracle.W).max(initial=0.0) <= tolerance * reach
    d = len(state["D"])
    U = np.eye(d)
    rows, columns = np.tril_indices(d, -1)
    U[columns, rows] = state["upper"]
    P, expected = (u @ np.diag(D) @ u.T for u, D in ((U, state["D"]), (oracle.U, oracle.D)))
    size = np.sqrt(np.diag(expected))
    assert (np.abs(P - expected) <= tolerance * np.outer(size, size)).all()


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 20),
    m=st.integers(1, 6),
    n=st.integers(1, 80),
    intercept=st.booleans(),
    spread=st.sampled_from([0.0, 3.0, 100.0]),
    p0=st.sampled_from([1e-3, 100.0, 1e6]),
    least=st.sampled_from([1.0, 0.99, 0.8, 0.1]),
)
def test_the_filter_agrees_with_the_oracle(kernel, seed, d, m, n, intercept, spread, p0, least):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-spread, spread, d)
    Y = rng.normal(size=(n, m))
    lam = rng.uniform(least, 1.0, n)
    gain = rng.uniform(0.1, 3.0, n) * (rng.random(n) < 0.85)
    compiled = Filter(d, m, intercept, p0, 1e6, kernel)
    oracle = OracleFilter(d, m, intercept, p0, 1e6)
    out, expected = np.empty((n, m)), np.empty((n, m))
    compiled.learn(X, Y, lam, gain, out)
    oracle.learn(X, Y, lam, gain, expected)
    # capped or nearly singular states lose digits; the order of operations differs
    tolerance = 1e-9 if least >= 0.99 else 1e-6
    assert np.abs(out - expected).max() <= tolerance * max(1.0, np.abs(expected).max())
    agree(compiled, oracle, tolerance)
    probe = rng.normal(size=(5, d))
    compiled.predict(probe, out_probe := np.empty((5, m)))
    oracle.predict(probe, expected_probe := np.empty((5, m)))
    assert np.abs(out_probe - expected_probe).max() <= tolerance * max(
        1.0, np.abs(expected_probe).max()
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("start", "end"), [(1e-3, 1e3), (1e-12, 1.0), (1e-150, 1.0), (1.0, 1e12), (1e-160, 1e-155)]
)
def test_the_filter_rescales_as_the_oracle_does(kernel, start, end):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 6))
    X[:40, 2] *= start
    X[40:80, 2] *= end
    Y = rng.normal(size=(120, 2))
    compiled, oracle = Filter(6, 2, True, 100.0, 1e6, kernel), OracleFilter(6, 2, True, 100.0, 1e6)
    out, expected = np.empty((120, 2)), np.empty((120, 2))
    lam, gain = np.full(120, 0.98), np.ones(120)
    compiled.learn(X, Y, lam, gain, out)
    oracle.learn(X, Y, lam, gain, expected)
    assert np.abs(out - expected).max() <= 1e-8 * np.abs(expected).max()
    agree(compiled, oracle, 1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_forgetting_without_rows_agrees_with_the_oracle(kernel):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(50, 5)), rng.normal(size=(50, 1))
    X[:, 4] = 0.0
    compiled, oracle = Filter(5, 1, True, 100.0, 1e6, kernel), OracleFilter(5, 1, True, 100.0, 1e6)
    out = np.empty((50, 1))
    for one in (compiled, oracle):
        one.learn(X, Y, np.full(50, 0.9), np.ones(50), out)
        for lam in (0.5, 1e-3, 1.0, 1e-300):
            one.forget(lam)
    agree(compiled, oracle, 1e-9)
    assert compiled.state()["unseen_variance"] == pytest.approx(oracle.unseen_variance)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("k", [-40, -3, 5, 60])
def test_a_change_of_unit_by_a_power_of_two_changes_no_digit(kernel, k):
    """With the prior's variance changed along, which is a quantity in the feature's unit."""
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(200, 1))
    outs = []
    for factor in (1.0, 2.0**k):
        one = Filter(3, 1, False, 100.0 / factor**2, 1e6, kernel)
        one.learn(X * factor, Y, np.full(200, 0.97), np.ones(200), out := np.empty((200, 1)))
        outs.append(out.tobytes())
    assert outs[0] == outs[1]
