"""Cosines and exponentials of the kernels; the waves that curved experts see, against NumPy."""

import numpy as np
import pytest
from expert_state import bits

from dfop.core import Bank, Filter
from dfop.core._native import cosines, exponentials
from dfop.core.oracle import OracleFilter

KERNELS = ["baseline", *(["avx2"] if Filter(1, 1, True, 1.0, 1.0).kernel == "avx2" else [])]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("reach", [1e-300, 1.0, 20.0, 1e3, 1e6])
def test_cosines_are_cosines(kernel, reach):
    x = np.random.default_rng(0).uniform(-reach, reach, size=(1, 10_003))
    found = x.copy()
    cosines(found, kernel)
    np.testing.assert_allclose(found, np.cos(x), rtol=0, atol=1e-12)
    assert np.abs(found).max() <= 1.0


@pytest.mark.parametrize("kernel", KERNELS)
def test_exponentials_are_exponentials(kernel):
    x = np.random.default_rng(0).uniform(-700.0, 700.0, size=(1, 10_003))
    x[0, :5] = 0.0, -0.0, -1e-300, -700.0, 700.0
    found = x.copy()
    exponentials(found, kernel)
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-15)
    assert found[0, :3].tolist() == [1.0, 1.0, 1.0]
    gone = np.array([[-700.1, -1e300, -np.inf]])
    exponentials(gone, kernel)
    assert gone.tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("function", [cosines, exponentials])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_function_is_the_same_in_every_kernel_and_place(kernel, function):
    x = np.random.default_rng(1).normal(size=(1, 103)) * 100.0
    x[0, :6] = 0.0, -0.0, np.pi / 2, -np.pi / 2, np.pi, -1e15
    all_at_once, expected = x.copy(), x.copy()
    function(all_at_once, kernel)
    function(expected, "baseline")
    assert all_at_once.tobytes() == expected.tobytes()
    for i in range(x.size):
        one = x[:, i : i + 1].copy()
        function(one, kernel)
        assert one[0, 0] == all_at_once[0, i]


def standardised(X):
    """Each row by mean and spread of the rows before it, at most 4 spreads out."""
    Z = np.zeros_like(X)
    for t in range(1, len(X)):
        mean, spread = X[:t].mean(axis=0), X[:t].std(axis=0)
        scaled = np.divide(X[t] - mean, spread, out=np.zeros(X.shape[1]), where=spread > 0)
        Z[t] = np.clip(scaled, -4.0, 4.0)
    return Z


def bank_of(d, kind, width=0.7, count=9):
    maps, experts = [(kind, width, count)], [(0, 0.01, 0.0)]
    return Bank(d, [("number", 1)], maps, experts, True, 50.0, False, 1e6)


def learn(bank, X, y):
    out = np.empty((len(X), 1))
    bank.learn(X, y, np.ones(1), np.zeros(1), out)
    return out


def frequencies_of(bank, count=9):
    """The frequencies of a map, features x waves, as the state tells them."""
    state = bank.state()
    if "map 0/frequencies" in state:
        return state["map 0/frequencies"]
    found = np.zeros((bank.features, count))
    for feature, wave, frequency in state["map 0/terms"]:
        found[int(feature), int(wave)] = frequency
    return found


@pytest.mark.parametrize("kind", ["fourier", "sparse"])
@pytest.mark.parametrize("d", [1, 2, 5, 23])
def test_a_filter_on_waves_is_the_oracle_on_cosines(kind, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(150, d)) * 10.0 ** rng.uniform(-3, 3, d)
    y = np.sin(X[:, :1] / X[:, 0].std()) + 0.1 * rng.normal(size=(150, 1))
    bank = bank_of(d, kind)
    learn(bank, X, y)
    waves = np.cos(bank.state()["map 0/phases"] + standardised(X) @ frequencies_of(bank))
    oracle = OracleFilter(9, 1, True, 50.0, 1e6)
    oracle.learn(waves, y, np.full(150, 0.99), np.ones(150), np.empty((150, 1)))
    coef, constant = oracle.coefficients()
    found, found_constant = bank.coefficients(0)
    np.testing.assert_allclose(found, coef, atol=1e-7)
    np.testing.assert_allclose(found_constant, constant, atol=1e-7)


@pytest.mark.parametrize("d", [1, 2, 3, 40])
def test_a_sparse_wave_sees_two_features_and_all_are_seen(d):
    frequencies = frequencies_of(bank_of(d, "sparse", 1.0, 1000), 1000)
    assert ((frequencies != 0).sum(axis=0) == min(d, 2)).all()
    expected = 1000 * min(d, 2) / d
    waves = (frequencies != 0).sum(axis=1)
    assert np.abs(waves - expected).max() <= 4.5 * np.sqrt(expected)
    scaled = frequencies[frequencies != 0] * np.sqrt(min(d, 2))
    assert abs(scaled.mean()) < 0.15
    assert abs(scaled.std() - 1.0) < 0.1


@pytest.mark.parametrize("kind", ["fourier", "sparse"])
def test_features_that_come_later_were_always_0(kind):
    """Until they come, nothing differs; then they join waves as one that was there has them."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 6)), rng.normal(size=(200, 1))
    X[:120, 4:] = 0.0
    late, early = bank_of(4, kind), bank_of(4, kind)
    early.add_features(2)
    assert (
        learn(late, np.ascontiguousarray(X[:120, :4]), y[:120]).tobytes()
        == learn(early, X[:120], y[:120]).tobytes()
    )
    late.add_features(1)
    late.add_features(1)
    assert bits(late) == bits(early)
    assert learn(late, X[120:], y[120:]).tobytes() == learn(early, X[120:], y[120:]).tobytes()


def test_a_feature_that_comes_later_joins_about_as_many_sparse_waves_as_the_others():
    bank = bank_of(3, "sparse", 1.0, 1000)
    bank.add_features(7)
    waves = (frequencies_of(bank, 1000) != 0).sum(axis=1)
    expected = 1000 * 2 / np.arange(4, 11)
    assert (np.abs(waves[3:] - expected) < 4.5 * np.sqrt(expected)).all()


def test_a_map_without_features_waits_for_the_first():
    grown, given = bank_of(0, "sparse"), bank_of(5, "sparse")
    grown.add_features(0)
    grown.add_features(5)
    assert bits(grown) == bits(given)


@pytest.mark.parametrize("field", ["phases", "terms", "first"])
def test_waves_of_another_map_are_refused(field):
    bank = bank_of(4, "sparse")
    state = bank.state()
    before = bits(bank)
    changed = state[f"map 0/{field}"].copy()
    changed.flat[0] += 1.0
    with pytest.raises(ValueError, match=f"map 0/({field}|terms)"):
        bank.restore({**state, f"map 0/{field}": changed})
    assert bits(bank) == before
    for lost in (state["map 0/terms"][:-1], np.zeros((0, 3))):
        with pytest.raises(ValueError, match="map 0/terms"):
            bank.restore({**state, "map 0/terms": lost})
