"""Lemmas 1 to 3, with expectations integrated numerically or known in closed form."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dfop.theory import (
    lemma1_gamma,
    lemma1_gamma_of,
    lemma2_sides,
    lemma3_bound,
    lemma3_sigma,
    normal_light_tail,
    sharp_radius,
)

# -- Lemma 1 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("s", [0.1, 2.0])
def test_the_constant_is_exact_for_a_gaussian_vector(d, s):
    gamma = lemma1_gamma(s, d)
    law = stats.chi2(d)
    value, _ = integrate.quad(
        lambda q: math.exp(q * s**2 / gamma**2 + law.logpdf(q)), 0, np.inf, limit=500
    )
    assert value == pytest.approx(math.e, rel=1e-6)


@pytest.mark.parametrize("d", [1, 3, 10])
def test_the_constant_serves_independent_bounded_coordinates(d):
    gamma = lemma1_gamma(1.0, d)
    assert math.exp(d / gamma**2) <= math.e  # signs: |x|^2 = d
    one, _ = integrate.quad(lambda u: math.exp(3 * u * u / gamma**2), 0, 1)  # uniform, variance 1
    assert one**d <= math.e


@pytest.mark.parametrize("d", [2, 5])
def test_dependent_coordinates_need_the_larger_constant_and_attain_it(d):
    # x = (z, ..., z) with z ~ N(0, 1): every coordinate has proxy 1, |x|^2 = d z^2
    large = lemma1_gamma(1.0, d, coordinatewise=True)
    assert normal_light_tail(large / math.sqrt(d)) == pytest.approx(math.e)
    small = lemma1_gamma(1.0, d)
    assert normal_light_tail(small / math.sqrt(d)) > math.e


def test_the_constant_for_unequal_directions_is_exact():
    gamma = lemma1_gamma_of(np.diag([4.0, 1.0]))
    parts = [
        integrate.quad(lambda z, q=q: stats.norm.pdf(z) * math.exp(q * z * z / gamma**2), -40, 40)
        for q in (4.0, 1.0)
    ]
    assert parts[0][0] * parts[1][0] == pytest.approx(math.e, rel=1e-7)


def test_the_constant_for_unequal_directions_has_the_known_limits(rng):
    assert lemma1_gamma_of(0.25 * np.eye(7)) == pytest.approx(lemma1_gamma(0.5, 7))
    assert lemma1_gamma_of(np.diag([0.0, 9.0, 0.0])) == pytest.approx(lemma1_gamma(3.0, 1))
    assert lemma1_gamma_of(np.zeros((2, 2))) == 0.0
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    Q = np.diag([1.0, 2.0, 3.0])
    assert lemma1_gamma_of(rotation @ Q @ rotation.T) == pytest.approx(lemma1_gamma_of(Q))
    with pytest.raises(ValueError, match="semidefinite"):
        lemma1_gamma_of(np.diag([1.0, -1.0]))


def test_the_constant_must_be_large_not_small():
    # the printed proof picks it "sufficiently small"; the expectation falls with gamma
    values = [normal_light_tail(gamma, 3) for gamma in (1.0, 1.4, 2.0, 3.0, 10.0)]
    assert values[:2] == [math.inf, math.inf]
    assert values == sorted(values, reverse=True)


def test_the_constant_grows_with_size_and_dimension():
    assert lemma1_gamma(2.0, 3) == pytest.approx(2 * lemma1_gamma(1.0, 3))
    sizes = [lemma1_gamma(1.0, d) for d in range(1, 20)]
    assert sizes == sorted(sizes)
    for d in range(1, 20):  # at least the root of E|x|^2, at most the coordinatewise one
        assert math.sqrt(d) <= lemma1_gamma(1.0, d)
        assert lemma1_gamma(1.0, d) <= lemma1_gamma(1.0, d, coordinatewise=True) * (1 + 1e-15)


# -- Lemma 2 ----------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 4),
    t=st.integers(1, 60),
    mu=st.floats(0.01, 0.99),
    kind=st.sampled_from(["random", "constant", "alternating", "late"]),
)
def test_lemma_2_holds_on_every_sequence(seed, d, t, mu, kind):
    rng = np.random.default_rng(seed)
    Y0, Z = rng.normal(size=(d, d)), rng.normal(size=(t, d, d))
    x = {
        "random": rng.normal(size=(t, d)),
        "constant": np.ones((t, d)),
        "alternating": np.ones((t, d)) * (-1.0) ** np.arange(t)[:, None],
        "late": np.eye(t)[-1][:, None] * np.ones((t, d)),
    }[kind]
    sides = lemma2_sides(Y0, Z, x, mu)
    assert sides.by_parts == pytest.approx(sides.left, rel=1e-9, abs=1e-12)
    assert sides.left <= sides.right


def test_the_left_side_is_the_sum_it_says(rng):
    Y0, Z, x, mu = rng.normal(size=(2, 2)), rng.normal(size=(4, 2, 2)), rng.normal(size=(4, 2)), 0.3
    total = np.zeros(2)
    for k in range(1, 5):
        Y = 0.7**k * Y0 + sum(0.3 * 0.7 ** (k - i) * Z[i - 1] for i in range(1, k + 1))
        total += 0.7 ** (4 - k) * Y @ x[k - 1]
    assert lemma2_sides(Y0, Z, x, mu).left == pytest.approx(np.linalg.norm(total))


@pytest.mark.parametrize("mu", [1e-4, 0.01, 0.3, 0.9])
def test_the_two_sums_in_the_proof_of_lemma_2(mu):
    k = np.arange(1, int(60 / mu) + 2)
    assert (mu * (1 - mu) ** (k - 1) * np.sqrt(k)).sum() <= mu**-0.5
    assert ((1 - mu) ** k * np.sqrt(k)).max() <= (2 * math.e * mu) ** -0.5


# -- Lemma 3 ----------------------------------------------------------------------------------


def test_the_noise_constant_is_1_5209_standard_deviations():
    assert lemma3_sigma(1.0) == pytest.approx(1.5209, abs=5e-5)
    assert normal_light_tail(lemma3_sigma(1.0)) == pytest.approx(math.e, rel=1e-12)


def test_the_printed_condition_is_broken_by_gaussian_noise():
    # E exp(eps^2/sigma^2) with sigma the standard deviation: past e within two of them, no limit
    assert normal_light_tail(1.0) == math.inf
    assert normal_light_tail(1.0, reach=2.0) > math.e
    values = [normal_light_tail(1.0, reach=reach) for reach in (1.0, 2.0, 5.0, 10.0)]
    assert values[3] > 1e15
    assert values == sorted(values)


@pytest.mark.parametrize("gamma", [1.0, math.sqrt(2.0), 1.5209, 3.0])
@pytest.mark.parametrize("reach", [0.5, 2.0, 4.0])
def test_the_part_within_reach_is_the_integral(gamma, reach):
    value, _ = integrate.quad(
        lambda z: stats.norm.pdf(z) * math.exp(z * z / gamma**2), -reach, reach
    )
    assert normal_light_tail(gamma, reach=reach) == pytest.approx(value, rel=1e-8)


def test_a_finite_reach_is_for_one_dimension():
    with pytest.raises(ValueError, match="d = 1"):
        normal_light_tail(2.0, 3, reach=1.0)


def test_lemma_3_is_its_formula():
    value = lemma3_bound(50, mu=0.04, x_max=2.0, sigma=0.3, delta=0.1)
    expected = 2 * math.sqrt(2) * (1 + math.sqrt(3 * math.log(2 * 50 / 0.1))) * 0.6 / 0.2
    assert float(value) == pytest.approx(expected)


@pytest.mark.parametrize("sizes", ["normal", "sign"])
def test_lemma_3_covers_in_simulation(rng, sizes):
    mu, t, d, delta = 0.05, 200, 4, 0.2
    X = rng.normal(size=(t, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    eps = rng.normal(size=(2000, t)) if sizes == "normal" else rng.choice([-1.0, 1.0], (2000, t))
    length = np.linalg.norm((eps * (1 - mu) ** np.arange(t)[::-1]) @ X, axis=1)
    sigma = lemma3_sigma(1.0) if sizes == "normal" else 1.0  # bounded noise: its bound
    bound = float(lemma3_bound(t, mu=mu, x_max=1.0, sigma=sigma, delta=delta))
    assert (length <= bound).mean() >= 1 - delta / 2


def test_what_lemma_3_concludes_survives_its_slip():
    # The sharp radius with the right constant, for noise of proxy 1, lies below the printed
    # bound with sigma = 1: the conclusion is true although the argument is not.
    for mu, t, delta in itertools.product(
        (1e-4, 0.01, 0.3, 0.9), (1, 10, 10**6), (1e-9, 0.01, 0.99)
    ):
        V = lemma3_sigma(1.0) ** 2 * (1 - (1 - mu) ** (2 * t)) / (1 - (1 - mu) ** 2)
        printed = lemma3_bound(t, mu=mu, x_max=1.0, sigma=1.0, delta=delta)
        assert sharp_radius(V, delta / 2) <= printed
