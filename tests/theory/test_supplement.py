"""The lemmas of the supplement, against draws, closed forms and matrices of every shape."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop.core import Filter
from dfop.theory import inversion_sides, norm_sides, square_sides


@given(d=st.integers(1, 6), k=st.integers(1, 4), seed=st.integers(0, 10_000))
@settings(max_examples=50)
def test_sums_are_inverted_as_the_lemma_says(d, k, seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(d, k))
    A, C = (np.eye(n) + 0.1 * rng.normal(size=(n, n)) / n for n in (d, k))
    sides = inversion_sides(A, B, C, B.T)
    assert sides.distance < 1e-9
    np.testing.assert_allclose(sides.direct @ (A + B @ C @ B.T), np.eye(d), atol=1e-9)


def test_the_recursion_of_the_learner_is_the_lemma():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    filter_ = Filter(3, 1, False, 100.0, math.inf)
    P = 100.0 * np.eye(3)
    for x in X:
        before = np.linalg.inv(P)
        P = inversion_sides(0.9 * before, x[:, None], [[1.0]], x[None]).by_lemma
    filter_.learn(X, np.zeros((20, 1)), np.array([0.9]), np.array([1.0]), np.empty((20, 1)))
    np.testing.assert_allclose(np.diag(P), filter_.variances(), rtol=1e-8)


@pytest.mark.parametrize("d", [1, 2, 5, 20])
@pytest.mark.parametrize("sigma", [0.01, 0.3, 1.0, 2.0])
def test_the_norm_of_a_gaussian_is_bounded(d, sigma):
    for copies in (False, True):
        assert norm_sides(sigma, d, copies=copies).holds
    drawn = np.random.default_rng(1).normal(size=(40_000, d)) * sigma
    sample = np.exp(np.linalg.norm(drawn, axis=1))
    error = 6 * sample.std() / math.sqrt(len(sample))
    assert norm_sides(sigma, d).left == pytest.approx(sample.mean(), abs=error, rel=1e-6)


def test_one_coordinate_has_a_closed_form():
    one = norm_sides(0.7, 1)
    assert one.left == pytest.approx(norm_sides(0.7, 1, copies=True).left, rel=1e-9)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("share", [-1.0, -0.3, 0.0, 0.5, 1.0])
def test_squares_are_sub_exponential(sigma, share):
    s = share / (16 * sigma**2)
    sides = square_sides(s, sigma)
    assert sides.holds
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    expected = weights @ np.exp(s * sigma**2 * (nodes**2 - 1)) / math.sqrt(2 * math.pi)
    assert sides.left == pytest.approx(expected, rel=1e-9)


def test_the_constants_in_the_proof_of_lemma_1_do_not_follow():
    assert square_sides(1 / 4, 1.0, printed=True).holds
    assert not square_sides(1 / 8, 2.0, printed=True).holds
    with pytest.raises(ValueError, match=r"\|s\| <= 0.015625"):
        square_sides(1 / 8, 2.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: inversion_sides(np.eye(2), np.ones((3, 1)), [[1.0]], np.ones((1, 3))), "shapes"),
        (lambda: inversion_sides([[0.0]], [[1.0]], [[1.0]], [[1.0]]), "inverse"),
        (lambda: norm_sides(0.0, 1), "sigma=0.0"),
        (lambda: norm_sides(1.0, 0), "d=0"),
        (lambda: square_sides(0.0, math.nan), "sigma=nan"),
        (lambda: square_sides(math.nan, 1.0), "s=nan"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
