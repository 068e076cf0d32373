"""Which weights moved: standard errors against simulation, and a change that is pointed out."""

import numpy as np
import pytest
from dfop.uncertainty import moved

from dfop.core import Filter


def learned(X, y, mu):
    filter_ = Filter(X.shape[1], 1, False, 1e4, 1e6)
    out = np.empty((len(X), 1))
    filter_.learn(X, y[:, None], np.array([1 - mu]), np.array([1.0]), out)
    return filter_


def compare(X, y, fast, slow, noise):
    a, b = learned(X, y, fast), learned(X, y, slow)
    return moved(
        a.coefficients()[0][0],
        b.coefficients()[0][0],
        a.variances(),
        mu_fast=fast,
        mu_slow=slow,
        rows=len(X),
        noise=noise,
    )


def test_variances_are_the_diagonal_of_the_inverse_of_the_discounted_squares():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4)) * [1.0, 100.0, 0.01, 5.0]
    filter_ = Filter(4, 1, True, 50.0, 1e6)
    out = np.empty((200, 1))
    filter_.learn(X, np.ones((200, 1)), np.array([0.98]), np.array([1.0]), out)
    Z = np.column_stack([np.ones(200), X])
    weights = 0.98 ** np.arange(199, -1, -1.0)
    R = (Z.T * weights) @ Z + 0.98**200 * np.eye(5) / 50
    np.testing.assert_allclose(filter_.variances(), np.diag(np.linalg.inv(R)), rtol=1e-8)


@pytest.mark.parametrize(
    ("fast", "slow", "n"), [(0.03, 0.0, 1000), (0.03, 0.01, 1000), (0.02, 0.001, 300)]
)
def test_without_change_the_values_have_variance_one(fast, slow, n):
    rng = np.random.default_rng(0)
    z = []
    for _ in range(700):
        X = rng.normal(size=(n, 3)) * [1.0, 100.0, 0.01]
        z.append(compare(X, X @ [1.0, 2.0, 3.0] + 2 * rng.normal(size=n), fast, slow, 4.0))
    # 2,100 values: the standard deviation of their spread is .016
    assert np.std(z) == pytest.approx(1.0, abs=0.05)
    assert abs(np.mean(z)) < 0.1


def test_the_weight_that_moved_stands_out():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2030, 5))
    y = X @ np.ones(5) + rng.normal(size=len(X))
    y[2000:] += 3 * X[2000:, 2]
    z = np.abs(compare(X, y, 0.05, 0.001, 1.0))
    assert z.argmax() == 2
    assert z[2] > 5 > 4 > np.delete(z, 2).max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mu_slow": 0.2}, "mu_slow < mu_fast"),
        ({"rows": 0}, "rows=0"),
        ({"noise": -1.0}, "noise=-1.0"),
        ({"slow": [0.0]}, "one length"),
    ],
)
def test_what_makes_no_sense_is_refused(change, message):
    good = {"fast": [1.0, 2.0], "slow": [1.0, 2.0], "variances": [1.0, 1.0]}
    good |= {"mu_fast": 0.1, "mu_slow": 0.0, "rows": 100, "noise": 1.0}
    with pytest.raises(ValueError, match=message):
        moved(**(good | change))


def test_no_noise_and_huge_weights_stay_finite():
    z = moved([1e300, 0.0], [-1e300, 0.0], [1e308, 0.0], mu_fast=0.1, mu_slow=0.0, rows=50, noise=0)
    np.testing.assert_array_equal(z, [1e6, 0.0])
