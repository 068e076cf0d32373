"""The model is the minimiser of the discounted objective with its prior, to 1e-10."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closed_form import closed_form, design, one_step_ahead, weights_of
from dfop import DFOPClassifier, DFOPRegressor, half_life, period

EXACT = 1e-10

sizes = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "d": st.integers(1, 8),
        "m": st.integers(1, 3),
        "n": st.integers(1, 50),
        "intercept": st.booleans(),
        "p0": st.sampled_from([1e-2, 1.0, 100.0, 1e4]),
    }
)


def stream(size, *, spread=0.0):
    """Well excited rows, columns of sizes 10^(-spread..spread), targets with noise."""
    rng = np.random.default_rng(size["seed"])
    scale = 10.0 ** rng.uniform(-spread, spread, size["d"])
    X = rng.normal(size=(size["n"], size["d"])) * scale
    Y = (X / scale) @ rng.normal(size=(size["d"], size["m"])) + rng.normal(
        size=(size["n"], size["m"])
    )
    return rng, X, Y


def regressor(size, forgetting=0.0):
    return DFOPRegressor(forgetting, fit_intercept=size["intercept"], prior_variance=size["p0"])


def expect(model, X, exact):
    """The model's weights, each times the size of its feature, against the exact ones."""
    reach = np.abs(design(X, model.fit_intercept)).max(axis=0)[:, np.newaxis]
    error = np.abs(weights_of(model) - exact) * reach
    assert error.max() <= EXACT * max(1.0, np.abs(exact * reach).max())


@settings(max_examples=60)
@given(size=sizes, share=st.floats(0.0, 0.5))
def test_constant_discount_gives_the_closed_form_after_every_row(size, share):
    mu = share / (size["d"] + 1)
    _, X, Y = stream(size)
    model = regressor(size, mu)
    ahead = model.predict_then_learn(X, Y)
    options = {"p0": size["p0"], "intercept": size["intercept"]}
    exact = one_step_ahead(X, Y, 1 - mu, 1.0, **options)
    assert np.abs(ahead - exact).max() <= EXACT * max(1.0, np.abs(exact).max())
    expect(model, X, closed_form(X, Y, 1 - mu, 1.0, **options))


@settings(max_examples=60)
@given(size=sizes)
def test_a_sequence_of_discounts_gives_the_closed_form(size):
    rng, X, Y = stream(size)
    lam = rng.uniform(1 - 0.5 / (size["d"] + 1), 1.0, size["n"])
    model = regressor(size).partial_fit(X, Y, discount=lam)
    expect(model, X, closed_form(X, Y, lam, 1.0, p0=size["p0"], intercept=size["intercept"]))


@settings(max_examples=60)
@given(size=sizes, spread=st.floats(0.0, 6.0))
def test_columns_of_any_unit_give_the_closed_form(size, spread):
    size = size | {"n": 40}  # fewer leave the dense solve, not the filter, without digits
    _, X, Y = stream(size, spread=spread)
    model = regressor(size, 0.01).partial_fit(X, Y)
    expect(model, X, closed_form(X, Y, 0.99, 1.0, p0=size["p0"], intercept=size["intercept"]))


@settings(max_examples=60)
@given(
    size=sizes,
    mu=st.sampled_from([0.0, 1e-17, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.02]),
)
def test_an_integer_weight_is_that_many_repeats(size, mu):
    rng, X, Y = stream(size)
    times = rng.integers(0, 4, size["n"])
    times[0] = 1
    model = regressor(size, mu).partial_fit(X, Y, sample_weight=times)
    again = regressor(size, mu).partial_fit(
        np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0)
    )
    expect(model, X, weights_of(again))


@settings(max_examples=60)
@given(size=sizes, mu=st.sampled_from([0.0, 1e-15, 1e-9, 1e-6, 1e-3, 0.02]))
def test_a_fractional_weight_decays_and_enters_as_the_series_says(size, mu):
    rng, X, Y = stream(size)
    c = rng.uniform(0.0, 3.0, size["n"]) * (rng.random(size["n"]) < 0.8)
    model = regressor(size, mu).partial_fit(X, Y, sample_weight=c)
    decay = np.exp(c * np.log1p(-mu))
    gain = -np.expm1(c * np.log1p(-mu)) / mu if mu else c
    expect(model, X, closed_form(X, Y, decay, gain, p0=size["p0"], intercept=size["intercept"]))


@settings(max_examples=60)
@given(size=sizes, datetimes=st.booleans(), weighted=st.booleans())
def test_forgetting_by_the_clock_gives_the_closed_form(size, datetimes, weighted):
    rng, X, Y = stream(size)
    gaps = rng.exponential(size=size["n"]) * (rng.random(size["n"]) < 0.7)  # some times are equal
    seconds = np.round(np.cumsum(gaps), 3)
    length = 4.0 * (size["d"] + 1)
    time = seconds
    if datetimes:
        time = np.datetime64("2024-02-29T23:59:00", "ns") + np.round(seconds * 1e3).astype(
            "timedelta64[ms]"
        )
    weight = rng.uniform(0.5, 2.0, size["n"]) if weighted else None
    model = regressor(size, period(f"{length} s")).partial_fit(
        X, Y, time=time, sample_weight=weight
    )
    lam = np.exp(-np.diff(seconds, prepend=seconds[0]) / length)
    gain = 1.0 if weight is None else weight
    expect(model, X, closed_form(X, Y, lam, gain, p0=size["p0"], intercept=size["intercept"]))


def test_half_life_means_half():
    X, y = np.ones((2, 1)), np.array([0.0, 1.0])
    model = DFOPRegressor(half_life("3 h"), fit_intercept=False, prior_variance=1e12)
    model.fit(X, y, time=np.array(["2024-01-01T00", "2024-01-01T03"], "datetime64[h]"))
    assert model.coef_[0] == pytest.approx(1.0 / 1.5, rel=1e-10)


def test_every_class_output_is_the_closed_form_of_its_code():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=200), [-0.5, 0.5])
    model = DFOPClassifier(0.01).partial_fit(X, y)
    expect(model, X, closed_form(X, np.eye(3)[y], 0.99, 1.0))
    binary = DFOPClassifier(0.01).partial_fit(X, y > 0)
    expect(binary, X, closed_form(X, np.where(y > 0, 1.0, -1.0), 0.99, 1.0))


def test_several_targets_of_a_classifier_are_several_models():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(150, 2))
    y = np.column_stack([X[:, 0] > 0, np.digitize(X[:, 1], [-0.5, 0.5])])
    together = DFOPClassifier(0.01).partial_fit(X, y)
    apart = [DFOPClassifier(0.01).partial_fit(X, column) for column in y.T]
    assert (together.predict(X) == np.column_stack([one.predict(X) for one in apart])).all()


def test_a_feature_first_seen_late_had_always_been_zero():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 3))
    X[:60, 1] = 0.0
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=120)
    model = DFOPRegressor(0.02).partial_fit(X, y)
    expect(model, X, closed_form(X, y, 0.98, 1.0))


@pytest.mark.parametrize("mu", [0.0, 0.001])
@pytest.mark.parametrize("noise", [1e-6, 1e-9, 1e-17, 1e-60, 1e-140, 1e-200])
def test_a_feature_that_was_only_rounding_noise_learns_when_it_wakes(noise, mu):
    """A column of 1e-17 instead of 0, as differences of floats leave it, carries no knowledge."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 2))
    X[:100, 0] *= noise
    y = 2.0 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=400)
    model = DFOPRegressor(mu).partial_fit(X, y)
    expect(model, X, closed_form(X, y, 1 - mu, 1.0))


def test_values_below_the_smallest_magnitude_count_as_zero():
    rng = np.random.default_rng(9)
    sign = rng.choice([-1.0, 1.0], size=(200, 1))
    model = DFOPRegressor(0.01, fit_intercept=False)
    ahead = model.predict_then_learn(sign * 2.0**-501, 5.0 * sign[:, 0])
    assert np.abs(ahead).max() <= 1e-10
    waking = np.array([[1.0]])
    assert model.predict(waking) == model.predict_then_learn(waking, [0.0])


def test_the_printed_algorithm_1_diverges_and_ours_does_not():
    """The paper's line lacks a mu in its denominator."""
    d, mu, rng = 20, 0.01, np.random.default_rng(10)
    truth = rng.normal(size=d)
    P, w = np.eye(d) * 100.0, np.zeros(d)
    model = DFOPRegressor(mu, fit_intercept=False)
    printed, ours = [], []
    for _ in range(1500):
        x = rng.normal(size=d)
        y = float(x @ truth)
        ours.append(abs(y - model.predict_then_learn(x[np.newaxis], [y])[0]))
        if max(printed, default=0.0) < 1e6:  # enough said; and no overflow
            Px = P @ x
            P = (P - mu * np.outer(Px, Px) / (1 - mu + x @ Px)) / (1 - mu)
            w = w + mu * (P @ x) * (y - x @ w)
            printed.append(np.linalg.norm(w - truth))
    assert max(printed) > 50.0
    assert max(ours[-500:]) < 1e-6
    assert np.abs(model.coef_ - truth).max() < 1e-6
