"""What a bank says of its experts, worked out again from their own predictions."""

import numpy as np
import pytest
from bank_oracle import OracleBank, OracleWalk

from dfop import DFOPRegressor
from dfop.core import Bank
from dfop.core.oracle import OracleFilter
from dfop.engines.design import FEW_FORGETTING, FEW_WALKS, FORGETTING, WALKS

MUS = (0.0, 0.003, 0.03, 0.3)
PRIOR, CAP = 100.0, 1e6
RECENT = 1 / 500


def stream(n, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    W = np.cumsum(0.02 * rng.normal(size=(n, d)), axis=0)
    return X, (X * W).sum(axis=1) + rng.uniform(-0.5, 0.5, n)


def predictions(X, y, mu):
    """One step ahead, drawn in to the labels seen before, a tenth of their range more."""
    filter_ = OracleFilter(X.shape[1], 1, True, PRIOR, CAP)
    out = np.empty((len(y), 1))
    filter_.learn(X, y[:, np.newaxis], np.array([1 - mu]), np.ones(1), out)
    low = np.r_[0.0, np.minimum.accumulate(y)[:-1]]
    high = np.r_[0.0, np.maximum.accumulate(y)[:-1]]
    beyond = 0.1 * (high - low)
    return np.clip(out[:, 0], low - beyond, high + beyond), filter_


def recent_mean(values):
    mean = 0.0
    for t, value in enumerate(values):
        mean += max(RECENT, 1 / (t + 1)) * (value - mean)
    return mean


@pytest.mark.parametrize("n", [40, 1400])
def test_errors_and_recent_errors_are_those_of_the_expert_itself(n):
    X, y = stream(n)
    model = DFOPRegressor(features="linear", prior_variance=PRIOR, cap=CAP).fit(X, y)
    forgetters = [expert for expert in model.experts_ if expert.walk == 0.0]
    assert len(forgetters) > 5
    for expert in forgetters:
        squares = (y - predictions(X, y, expert.forgetting)[0]) ** 2
        assert expert.error == pytest.approx(squares.mean(), rel=1e-7)
        assert expert.recent_error == pytest.approx(recent_mean(squares), rel=1e-7)
    assert sum(expert.weight for expert in model.experts_) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("settings", "forgetting", "walks"),
    [
        ({"features": "linear"}, FORGETTING, WALKS),
        ({"forgetting": "few"}, FEW_FORGETTING, FEW_WALKS),
    ],
)
def test_experts_stand_in_order_with_the_weights_and_errors_of_the_formulas(
    settings, forgetting, walks
):
    """All that `experts_` says, from the combination of filters in NumPy."""
    X, y = stream(150)
    X[0] = 1.0  # so that no feature is ever scaled
    model = DFOPRegressor(prior_variance=PRIOR, cap=CAP, **settings).fit(X, y)
    mus = (*forgetting, *(0.0 for _ in walks))
    oracle = OracleBank(3, "number", 1, mus, True, PRIOR, CAP)
    oracle.experts[len(forgetting) :] = [OracleWalk(3, q, PRIOR) for q in walks]
    squares = np.empty((150, len(mus)))
    for t, row in enumerate(X):
        oracle.step(row, y[t : t + 1])
        squares[t] = (oracle.of_experts[0] - y[t]) ** 2
    told = model.experts_
    assert [(e.forgetting, e.walk) for e in told] == [
        *((mu, 0.0) for mu in forgetting),
        *((0.0, q) for q in walks),
    ]
    weights = oracle.weights()
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose([e.weight for e in told], weights, atol=1e-8)
    np.testing.assert_allclose([e.error for e in told], squares.mean(axis=0), rtol=1e-7)
    recent = [recent_mean(column) for column in squares.T]
    np.testing.assert_allclose([e.recent_error for e in told], recent, rtol=1e-7)


def test_errors_of_several_targets_are_added_up():
    X, y = stream(300)
    Y = np.column_stack([y, -3.0 * y + X[:, 0]])
    bank = Bank(
        3, [("number", 1)] * 2, [("linear", 0.0, 0)], [(0, mu, 0.0) for mu in MUS],
        True, PRIOR, False, CAP,
    )  # fmt: skip
    bank.learn(X, Y, np.ones(1), np.zeros(1), np.empty(Y.shape))
    found = bank.errors()
    for k, mu in enumerate(MUS):
        squares = sum((column - predictions(X, column, mu)[0]) ** 2 for column in Y.T)
        assert found["mean"][k] == pytest.approx(squares.mean(), rel=1e-7)
        assert found["recent"][k] == pytest.approx(recent_mean(squares), rel=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_what_the_expert_counts_in_the_prediction(seed):
    """A prediction is linear in those of the experts: many rows tell the coefficients."""
    X, y = stream(400, seed=seed)
    bank = Bank(
        3, [("number", 1)], [("linear", 0.0, 0)], [(0, mu, 0.0) for mu in MUS],
        True, PRIOR, False, CAP,
    )  # fmt: skip
    bank.learn(X, y[:, np.newaxis], np.ones(1), np.zeros(1), np.empty((400, 1)))
    probe = np.random.default_rng(9).uniform(-1, 1, size=(300, 3))
    F = np.empty((300, len(MUS)))
    for k, mu in enumerate(MUS):
        predictions(X, y, mu)[1].predict(probe, F[:, k : k + 1])
    bank.predict(probe, out := np.empty((300, 1)))
    inside = (np.abs(np.column_stack([F, out]) - y.mean()) < 0.5 * np.ptp(y)).all(axis=1)
    assert inside.sum() > 200  # where nothing is drawn in to the range of labels
    told = bank.weights()[0]
    solved = np.linalg.lstsq(F[inside], out[inside, 0], rcond=None)[0]
    np.testing.assert_allclose(told, solved, atol=1e-6)
    assert told.sum() == pytest.approx(1.0)
