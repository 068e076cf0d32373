"""The drift spectrum finds the noise and the drift that a simulation was made of."""

import numpy as np
import pytest
from dfop.drift import drift_spectrum

from dfop.core import ErrorRecord
from expert_bank import MU, experts


def spectrum(X, y, mus=MU):
    record = ErrorRecord(len(mus))
    record.add(np.square(experts(X, y, mus=mus, intercept=False) - y[:, None]))
    return drift_spectrum(mus, record.history(), record.piece_length, weights=X.shape[1])


def walk(n, d, mu, s2, seed, spread=1.0):
    """Weights that walk so that mu is the best forgetting factor; x has variance `spread`."""
    rng = np.random.default_rng(seed)
    X = np.sqrt(spread) * rng.normal(size=(n, d))
    steps = mu * np.sqrt(s2 / spread) * rng.normal(size=(n, d))
    return X, (X * np.cumsum(steps, axis=0)).sum(axis=1) + np.sqrt(s2) * rng.normal(size=n)


SETTINGS = [  # rows, d, mu*, s2, variance of x
    (200_000, 5, 0.003, 0.5, 1.0),
    (100_000, 5, 0.01, 2.0, 1.0),
    (100_000, 10, 0.01, 0.01, 4.0),
    (100_000, 3, 0.03, 1.0, 0.1),
    (100_000, 8, 0.02, 1e6, 1.0),
]


@pytest.mark.parametrize("seed", range(50, 53))
@pytest.mark.parametrize(("n", "d", "mu", "s2", "spread"), SETTINGS)
def test_random_walks_are_measured(n, d, mu, s2, spread, seed):
    found = spectrum(*walk(n, d, mu, s2, seed, spread))
    assert found.mu == pytest.approx(mu, rel=0.10)
    assert found.noise == pytest.approx(s2, rel=0.05)
    assert found.power == pytest.approx(d * mu**2 * s2, rel=0.2)
    assert found.period == 1 / found.mu
    assert found.misfit < 2


def test_a_stream_that_stands_still_needs_no_forgetting():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 5))
    found = spectrum(X, X.sum(axis=1) + rng.normal(size=20_000))
    assert found.mu < 3e-4
    assert found.noise == pytest.approx(1.0, rel=0.05)


def test_abrupt_changes_raise_the_misfit():
    rng = np.random.default_rng(2)
    n, d = 20_000, 5
    X = rng.normal(size=(n, d))
    noise = rng.normal(size=n)
    jumps = np.repeat(rng.normal(size=(n // 500, d)), 500, axis=0)
    abrupt = spectrum(X, (X * jumps).sum(axis=1) + noise)
    steps = rng.normal(size=(n, d)) * np.sqrt(abrupt.power / d)
    steady = spectrum(X, (X * np.cumsum(steps, axis=0)).sum(axis=1) + noise)
    assert abrupt.misfit > 2 > 1 > steady.misfit


def test_it_shows_when_the_drift_began():
    n, d = 40_000, 4
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d))
    steps = 0.03 * rng.normal(size=(n, d)) * (np.arange(n) >= n // 2)[:, None]
    found = spectrum(X, (X * np.cumsum(steps, axis=0)).sum(axis=1) + rng.normal(size=n))
    before, after = found.rows <= n // 2, found.rows > n // 2 + n // 16
    assert np.median(found.mu_over_time[before]) < 0.003
    assert np.median(found.mu_over_time[after]) == pytest.approx(0.03, rel=0.15)
    assert np.median(found.noise_over_time) == pytest.approx(1.0, rel=0.05)
    assert found.rows[-1] <= n


def test_the_formula_for_young_experts_against_the_sums_it_stands_for():
    mu, t = np.array([0.0, 1e-4, 0.01, 0.2]), np.array([30, 100, 5000])
    d, s2, q = 2, 1.5, 0.01
    V = np.empty((len(t), len(mu)))
    for i, rows in enumerate(t):
        for j, m in enumerate(mu):
            w = (1 - m) ** np.arange(rows)
            A = (w**2).sum() / w.sum() ** 2
            B = ((w[::-1].cumsum()[::-1] / w.sum()) ** 2).sum()
            V[i, j] = s2 * (1 + d * A) + q * B / (1 - d * A)
    from dfop.drift import _shape

    A, B = _shape(mu, t.astype(float), d)
    np.testing.assert_allclose(s2 * (1 + d * A) + q * B, V, rtol=1e-3)


def test_streams_that_are_predicted_exactly_or_wildly_give_numbers():
    zero = drift_spectrum([0.0, 0.01, 0.1], np.zeros((300, 3)), 4, weights=2)
    assert (zero.noise, zero.power, zero.mu) == (0.0, 0.0, 0.0)
    wild = 10.0 ** np.random.default_rng(4).uniform(-300, 300, size=(300, 3))
    found = drift_spectrum([0.0, 0.01, 0.1], wild, 4, weights=2)
    for values in (found.noise, found.power, found.mu, found.misfit, found.mu_over_time):
        assert np.isfinite(values).all()


@pytest.mark.parametrize(
    ("mus", "shape", "weights", "message"),
    [
        ([0.0, 0.1], (100, 3), 2, "errors has shape"),
        ([0.1, 0.2, 0.3], (100, 3), 20, "the fit needs two or more"),
        ([0.0, 0.1, 0.2], (10, 3), 2, "40 are needed"),
    ],
)
def test_what_cannot_be_fitted_is_refused(mus, shape, weights, message):
    with pytest.raises(ValueError, match=message):
        drift_spectrum(mus, np.ones(shape), 1, weights=weights)


def test_pictures_name_what_they_show():
    found = spectrum(*walk(5000, 3, 0.02, 1.0, 1))
    ax = found.plot()
    told = " ".join(text.get_text() for text in ax.texts)
    assert "● experts" in told
    assert f"recommended mu = {found.mu:.2g}" in told
    assert ax.get_title(loc="left").endswith(found.verdict.short)
    [span] = ax.patches
    assert span.get_x() == pytest.approx(found.verdict.low)
    assert span.get_x() + span.get_width() == pytest.approx(found.verdict.high)
    assert ax.get_ylabel() == "mean squared error"
    assert found.plot_over_time().get_xlabel() == "rows"
    assert f"period {found.period:,.0f} rows" in str(found)
