"""Theorem 1 and the sharper radii, against exact tails of known laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dfop.theory import (
    check_theorem1,
    lemma1_gamma,
    quadratic_radius,
    sharp_radius,
    theorem1_radius,
    theorem1_tail,
)

PROBABILITIES = (0.9, 0.5, 0.1, 0.01, 1e-6, 1e-12)


@pytest.mark.parametrize("d", [1, 2, 10, 200])
def test_theorem_1_on_the_exact_tail_of_a_gaussian_sum(d):
    # a sum of N Gaussian steps is Gaussian: |S|^2/N is chi-square, V/N = lemma1_gamma^2
    gamma = np.linspace(0.0, 8.0, 81)
    exact = stats.chi2.sf((math.sqrt(2.0) * (1 + gamma) * lemma1_gamma(1.0, d)) ** 2, d)
    assert (exact <= theorem1_tail(gamma)).all()


@pytest.mark.parametrize("law", ["normal", "sign", "walk that looks back"])
def test_theorem_1_in_simulation(rng, law):
    runs, N, d = 1000, 60, 3
    steps = rng.normal(size=(runs, N, d))
    sigma = lemma1_gamma(1.0, d)
    if law == "sign":
        steps = np.sign(steps)
        sigma = math.sqrt(d)
    if law == "walk that looks back":  # a martingale, not independent: stands still once far out
        far = np.cumsum(steps, axis=1)
        still = np.linalg.norm(far, axis=2).cumsum(axis=1) > 100.0
        steps[:, 1:][still[:, :-1]] = 0.0
    check = check_theorem1(steps, sigma)
    assert check.holds
    np.testing.assert_allclose(check.bound, np.exp(-(check.gamma**2) / 3))


def test_the_check_fails_when_a_proxy_is_taken_for_a_bounding_constant(rng):
    steps = rng.normal(size=(300, 5, 40))  # each coordinate has proxy 1; |xi| is about 6
    assert not check_theorem1(steps, 1.0).holds
    assert check_theorem1(steps, lemma1_gamma(1.0, 40)).holds


@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("d", [1, 2, 10, 200])
def test_the_radii_hold_on_the_exact_tail(d, probability):
    V = lemma1_gamma(1.0, d) ** 2
    for radius in (
        theorem1_radius(V, probability),
        sharp_radius(V, probability),
        quadratic_radius(d, d, 1.0, probability),
    ):
        assert stats.chi2.sf(float(radius) ** 2, d) <= probability


@pytest.mark.parametrize("probability", [0.999, *PROBABILITIES])
def test_sharp_is_below_printed_and_quadratic_below_sharp(probability):
    assert sharp_radius(1.0, probability) < theorem1_radius(1.0, probability)
    for d in (1, 3, 50):
        V = lemma1_gamma(1.0, d) ** 2
        assert quadratic_radius(d, d, 1.0, probability) < sharp_radius(V, probability)


def test_the_radii_solve_their_tails():
    assert theorem1_tail(theorem1_radius(1.0, 0.01) / math.sqrt(2) - 1) == pytest.approx(0.01)
    assert 2 * math.exp(-(sharp_radius(5.0, 0.01) ** 2) / 15) == pytest.approx(0.01)
    u = math.log(100)
    assert quadratic_radius(3.0, 5.0, 2.0, 0.01) ** 2 == pytest.approx(
        3 + 2 * math.sqrt(5 * u) + 4 * u
    )


# -- the steps of the sharper radius' proof ----------------------------------------------------


@given(st.floats(-20, 20))
def test_exponential_inequality(a):
    assert math.exp(a) - a <= math.exp(min(9 * a * a / 16, 600)) * (1 + 1e-15)


@given(
    S=st.tuples(*[st.floats(-3, 3)] * 2),
    v=st.tuples(*[st.floats(-3, 3)] * 2),
    scale=st.floats(0.01, 3),
)
def test_one_step_of_the_hyperbolic_cosine(S, v, scale):
    # xi = +v or -v with equal probability
    S, v = np.array(S), np.array(v)
    after = np.mean([np.cosh(scale * np.linalg.norm(S + sign * v)) for sign in (1, -1)])
    length = scale * np.linalg.norm(v)
    before = np.cosh(scale * np.linalg.norm(S))
    assert after <= before * (np.exp(length) - length) * (1 + 1e-12)


@pytest.mark.parametrize("scale", [0.1, 1.0, 4 / 3, 1.5, 3.0])
@pytest.mark.parametrize("d", [1, 4])
def test_the_exponential_moment_in_the_proof(d, scale):
    # E[exp(a) - a] <= exp(3/4 scale^2) for a = scale |xi|, E exp(|xi|^2) = e; exact: |xi| ~ chi
    law = stats.chi(d, scale=1 / lemma1_gamma(1.0, d))
    moment = law.expect(lambda r: np.exp(scale * r) - scale * r, ub=20)
    assert moment <= math.exp(0.75 * scale**2)
