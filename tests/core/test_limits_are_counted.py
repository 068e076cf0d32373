"""`limited_rows`: on how many rows a limit acted, as the oracle counts them."""

import numpy as np
import pytest

from dfop import DFOPRegressor, from_bytes, to_bytes
from dfop.core import Filter
from dfop.core.oracle import OracleFilter
from dfop.files.container import pack, unpack

KERNELS = ["baseline", Filter(1, 1, True, 1.0, 1e6).kernel]


def silent(n=600, d=6, seed=0):
    """Rows whose third feature is heard of in the first half only."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, 2))
    X[n // 2 :, min(2, d - 1)] = 0.0
    return X, Y


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 3, 6, 30])
@pytest.mark.parametrize("outputs", [1, 2])
def test_as_many_rows_as_the_oracle_counts(kernel, d, outputs):
    X, Y = silent(d=d)
    Y = np.ascontiguousarray(Y[:, :outputs])
    one, oracle = (
        Filter(d, outputs, True, 100.0, 1e6, kernel),
        OracleFilter(d, outputs, True, 100.0, 1e6),
    )
    out = np.empty(Y.shape)
    for filter_ in (one, oracle):
        filter_.learn(X, Y, np.full(len(X), 0.9), np.ones(len(X)), out)
    assert one.limited_rows == oracle.limited_rows > 100


@pytest.mark.parametrize("kernel", KERNELS)
def test_none_where_nothing_is_forgotten_or_all_is_excited(kernel):
    rng = np.random.default_rng(1)
    for lam, X in ((1.0, silent()[0]), (0.99, rng.normal(size=(2000, 6)))):
        one = Filter(6, 1, True, 100.0, 1e6, kernel)
        Y = rng.normal(size=(len(X), 1))
        one.learn(X, Y, np.array([lam]), np.ones(1), np.empty(Y.shape))
        assert one.limited_rows == 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_feature_never_seen_is_not_limited(kernel):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 5))
    X[:, 3] = 0.0
    one = Filter(5, 1, True, 100.0, 1e6, kernel)
    one.learn(X, X[:, :1].copy(), np.array([0.99]), np.ones(1), np.empty((3000, 1)))
    one.forget(1e-5)
    assert one.limited_rows == 0
    one.forget(1e-250)  # all that was learned, but not what was never seen
    assert one.limited_rows == 1


def test_a_weight_that_is_given_up_counts():
    one = Filter(1, 1, True, 100.0, 1e6)
    X = np.array([[1e-9], [2e-9], [1.0]])
    one.learn(X, X.copy(), np.ones(1), np.ones(1), np.empty((3, 1)))
    assert one.limited_rows == 1


def test_the_count_does_not_depend_on_how_rows_are_cut_or_how_time_passes():
    X, Y = silent()
    Y = np.ascontiguousarray(Y[:, :1])
    whole, cut, late = (Filter(6, 1, True, 100.0, 1e6) for _ in range(3))
    out, lam, once = np.empty(Y.shape), np.array([0.9]), np.ones(1)
    whole.learn(X, Y, lam, once, out)
    for t in range(0, len(X), 7):
        cut.learn(X[t : t + 7], Y[t : t + 7], lam, once, out[t : t + 7])
    for t in range(len(X)):
        late.forget(0.9)
        late.learn(X[t : t + 1], Y[t : t + 1], once, once, out[t : t + 1])
    assert whole.limited_rows == cut.limited_rows == late.limited_rows > 100


def test_models_show_it_and_files_hold_it():
    X, Y = silent()
    model = DFOPRegressor(forgetting=0.1).fit(X, Y[:, 0])
    assert model.limited_rows_ > 100
    assert from_bytes(to_bytes(model)).limited_rows_ == model.limited_rows_
    bank = DFOPRegressor(features="linear").fit(X, Y[:, 0])
    counts = {expert.forgetting: expert.limited_rows for expert in bank.experts_}
    assert counts[0.3] > counts[0.0] == 0
    with pytest.raises(AttributeError, match="experts_"):
        bank.limited_rows_  # noqa: B018
    with pytest.raises(AttributeError, match="once a row"):
        DFOPRegressor(forgetting=0.1).limited_rows_  # noqa: B018


@pytest.mark.parametrize("forgetting", [0.1, "auto"])
def test_a_file_of_before_the_count_loads_and_says_that_it_is_not_known(forgetting):
    X, Y = silent(n=60)
    model = DFOPRegressor(forgetting=forgetting).fit(X, Y[:, 0])
    document, tensors = unpack(to_bytes(model))
    older = {  # what watches has always counted
        name: part
        for name, part in tensors.items()
        if name.startswith("monitor/") or not name.endswith("limited_rows")
    }
    assert len(older) < len(tensors)
    loaded = from_bytes(pack(document, older))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.partial_fit(X, Y[:, 0])
    counts = (
        [loaded.limited_rows_] if forgetting == 0.1 else [e.limited_rows for e in loaded.experts_]
    )
    assert set(counts) == {None}
