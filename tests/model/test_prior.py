"""Prior mean and covariance of a single filter, and `covariance_`, against batch least squares."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop import DFOPClassifier, DFOPRegressor, Information, from_bytes, river, to_bytes

LAM = 0.98


def rows(seed=0, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2, size=d)
    return X, X @ rng.normal(size=d) + 2.0 + rng.normal(size=n)


def belief(seed=0, d=4, sure=0.5):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    return rng.normal(size=d), sure * (A @ A.T + 0.1 * np.eye(d))


def batch(X, y, mean, covariance, lam=LAM, intercept=True):
    """The minimiser and its P, by the normal equations of the discounted rows and the prior."""
    n = len(X)
    A = np.c_[X, np.ones(n)] if intercept else X
    weight = lam ** (n - 1.0 - np.arange(n))
    R0 = lam**n * np.linalg.inv(covariance)
    R = (A * weight[:, np.newaxis]).T @ A + R0
    return np.linalg.solve(R, A.T @ (weight * y) + R0 @ mean), np.linalg.inv(R)


def weights(model):
    return np.r_[model.coef_, model.intercept_] if model.fit_intercept else model.coef_


@pytest.mark.parametrize("n", [1, 2, 3, 10, 60])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_model_is_the_minimiser_with_its_prior(n, intercept):
    X, y = rows(n=n)
    mean, covariance = belief(d=3 + intercept)
    model = DFOPRegressor(
        1.0 - LAM,
        prior_mean=mean,
        prior_covariance=covariance,
        fit_intercept=intercept,
    ).fit(X, y)
    w, P = batch(X, y, mean, covariance, intercept=intercept)
    assert np.allclose(weights(model), w, rtol=1e-8, atol=1e-9)
    assert np.allclose(model.covariance_, P, rtol=1e-8, atol=1e-12)
    assert model.limited_rows_ == 0


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**16),
    st.integers(1, 12),
    st.integers(1, 5),
    st.sampled_from([1.0, 0.99, 0.7]),
    st.sampled_from([1e-6, 1e-2, 1.0, 1e4]),
)
def test_any_prior_and_any_few_rows(seed, n, d, lam, sure):
    X, y = rows(seed, n, d)
    X[np.random.default_rng(seed).random(X.shape) < 0.3] = 0.0  # features that come late, or never
    mean, covariance = belief(seed, d + 1, sure)
    model = DFOPRegressor(1.0 - lam, prior_mean=mean, prior_covariance=covariance, cap=None)
    model.fit(X, y)
    w, P = batch(X, y, mean, covariance, lam)
    size = np.sqrt(P.diagonal())
    assert np.allclose(weights(model), w, atol=1e-6 * (1.0 + np.abs(w).max()))
    correlation = np.outer(size, size)
    assert np.allclose(model.covariance_ / correlation, P / correlation, atol=1e-6)


def test_a_row_is_predicted_by_the_prior_before_any_is_learned():
    mean, covariance = belief()
    model = DFOPRegressor(0.01, prior_mean=mean, prior_covariance=covariance)
    X, y = rows()
    ahead = model.predict_then_learn(X, y)
    assert ahead[0] == pytest.approx(X[0] @ mean[:3] + mean[3])
    late = DFOPRegressor(0.01, prior_mean=mean, prior_covariance=covariance)
    assert late.predict_pending(X[:1], [0])[0] == ahead[0]


def test_a_feature_keeps_its_prior_until_it_is_seen_however_large_it_is():
    mean, covariance = np.array([0.0, 3.0, 1.0]), np.diag([1.0, 1e-30, 1.0])
    model = DFOPRegressor(0.0, prior_mean=mean, prior_covariance=covariance)
    X = np.zeros((50, 2))
    X[:, 0] = np.arange(50)
    model.fit(X, X[:, 0])
    for size in (1e-12, 1.0, 1e12):
        without, told = model.predict([[1.0, 0.0], [1.0, size]])
        assert told - without == pytest.approx(3.0 * size, rel=1e-3)
    model.partial_fit([[0.0, 1e12]], [3e12])
    assert model.coef_[1] == pytest.approx(3.0, rel=1e-9)


def test_a_prior_that_fades_for_long_is_no_limit():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    X[:, 1] = 0.0
    model = DFOPRegressor(0.5, prior_mean=[0.0, 7.0], fit_intercept=False)
    model.fit(X, 3.0 * X[:, 0])
    assert model.limited_rows_ == 0
    assert model.coef_[1] == 7.0
    model.partial_fit([[0.0, 2.0]], [10.0])  # no more is left of the prior than the cap keeps
    assert model.coef_[1] == pytest.approx(5.0, rel=1e-5)


def test_a_multiple_of_the_identity_is_the_prior_variance():
    X, y = rows()
    plain = DFOPRegressor(0.02, prior_variance=7.0).fit(X, y)
    matrix = DFOPRegressor(0.02, prior_covariance=7.0 * np.eye(4)).fit(X, y)
    centred = DFOPRegressor(0.02, prior_variance=7.0, prior_mean=np.zeros(4)).fit(X, y)
    for model in (matrix, centred):
        assert np.allclose(model.coef_, plain.coef_, rtol=1e-12)
        assert np.allclose(model.covariance_, plain.covariance_, rtol=1e-12)


def test_a_prior_is_rows_seen_before():
    """The posterior of the first rows, given as a prior, goes on as if they had been learned."""
    X, y = rows(n=80)
    whole = DFOPRegressor(0.0).fit(X, y)
    first = DFOPRegressor(0.0).fit(X[:40], y[:40])
    then = DFOPRegressor(0.0, prior_mean=weights(first), prior_covariance=first.covariance_)
    then.fit(X[40:], y[40:])
    assert np.allclose(weights(then), weights(whole), rtol=1e-7)
    assert np.allclose(then.covariance_, whole.covariance_, rtol=1e-6)


def test_any_split_saved_and_loaded():
    X, y = rows(n=120)
    X[:50, 1] = 0.0
    mean, covariance = belief()
    whole, split = (DFOPRegressor(0.02, prior_mean=mean, prior_covariance=covariance) for _ in "ab")
    ahead = whole.predict_then_learn(X, y)
    pieces = []
    for part in (slice(0, 1), slice(1, 30), slice(30, 51), slice(51, 120)):
        pieces.append(split.predict_then_learn(X[part], y[part]))
        split = from_bytes(to_bytes(split))
    assert np.array_equal(np.concatenate(pieces), ahead)
    assert to_bytes(split) == to_bytes(whole)
    assert np.array_equal(split.prior_mean, mean)


def test_several_targets_have_each_a_mean():
    X, y = rows()
    mean, covariance = belief()
    Y = np.c_[y, -2.0 * y]
    model = DFOPRegressor(1 - LAM, prior_mean=[mean, -mean], prior_covariance=covariance).fit(X, Y)
    for k, (target, sign) in enumerate(((y, 1.0), (-2.0 * y, -1.0))):
        w, _ = batch(X, target, sign * mean, covariance)
        assert np.allclose(np.r_[model.coef_[k], model.intercept_[k]], w, rtol=1e-7, atol=1e-9)


def test_a_classifier_takes_a_covariance():
    X, y = rows()
    _, covariance = belief()
    model = DFOPClassifier(1 - LAM, prior_covariance=covariance).fit(X, y > np.median(y))
    margin = np.where(y > np.median(y), 1.0, -1.0)
    w, P = batch(X, margin, np.zeros(4), covariance)
    assert np.allclose(np.r_[model.coef_[0], model.intercept_[0]], w, rtol=1e-7, atol=1e-9)
    assert np.allclose(model.covariance_, P, rtol=1e-7)


def test_columns_that_come_later_have_the_largest_variance():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    _, covariance = belief()
    model = DFOPRegressor(0.0, prior_covariance=covariance).fit(frame, y)
    more = frame.assign(later=1.0, word="red")
    model.partial_fit(more.iloc[:1].assign(later=0.0, word=None), y[:1])
    assert model.coded_names_.tolist()[:4] == ["a", "b", "c", "later"]
    P = model.covariance_
    assert P[3, 3] == pytest.approx(covariance.diagonal().max())


def test_lags_have_the_prior_variance_beside_a_prior_of_columns():
    X, y = rows()
    mean, covariance = belief()
    model = DFOPRegressor(0.0, prior_mean=mean, prior_covariance=covariance, lags=1)
    lagged = np.r_[0.0, y[:-1]]
    model.fit(X, y)
    p = covariance.diagonal().max()
    whole = np.zeros((5, 5))
    whole[0, 0], whole[1:, 1:] = p, covariance
    w, P = batch(np.c_[lagged, X], y, np.r_[0.0, mean], whole, lam=1.0)
    assert np.allclose(weights(model), w, rtol=1e-7, atol=1e-9)
    assert np.allclose(model.covariance_, P, rtol=1e-6, atol=1e-12)


# -- covariance_ of any filter ---------------------------------------------------------------------


def test_the_covariance_of_the_weights_over_many_streams():
    """s^2 P without forgetting, s^2 P / (2 - mu) with it: what repeated noise does to weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) @ np.array([[1.0, 0.6], [0.0, 2.0]])
    Y = X @ [[1.0], [2.0]] + 0.5 * rng.normal(size=(400, 4000))
    for mu in (0.0, 0.03):
        model = DFOPRegressor(mu).fit(X, Y)
        spread = np.cov(np.c_[model.coef_, model.intercept_].T)
        expected = 0.25 * model.covariance_ / (2.0 - mu if mu else 1.0)
        assert np.allclose(spread, expected, atol=0.12 * expected.diagonal().max())


def test_river_has_it_in_the_order_of_its_weights():
    X, y = rows()
    model = river.DFOPRegressor(0.02)
    for x, target in zip(X, y, strict=True):
        model.learn_one(dict(zip("abc", x, strict=True)), target)
    _, P = batch(X, y, np.zeros(4), 100.0 * np.eye(4))
    assert list(model.weights) == ["a", "b", "c"]
    assert np.allclose(model.covariance_, P, rtol=1e-7, atol=1e-12)


def test_a_feature_never_seen_has_its_prior_variance():
    X, y = rows()
    X[:, 2] = 0.0
    P = DFOPRegressor(0.0, prior_variance=9.0).fit(X, y).covariance_
    assert P[2, 2] == 9.0
    assert (np.delete(P[2], 2) == 0.0).all()


def test_who_has_no_covariance():
    assert not hasattr(DFOPRegressor(0.1), "covariance_")
    X, y = rows()
    with pytest.raises(AttributeError, match="single filter"):
        _ = DFOPRegressor().fit(X, y).covariance_


# -- filtered values -------------------------------------------------------------------------------


@pytest.mark.parametrize("lags", [0, 1])
def test_a_filtered_value_is_of_the_weights_after_the_row(lags):
    X, y = rows(n=40)
    filtered = DFOPRegressor(0.05, lags=lags).learn_then_filter(X, y)
    model = DFOPRegressor(0.05, lags=lags)
    for t in range(40):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        seen = np.r_[y[t - 1] if t else 0.0, X[t]] if lags else X[t]
        assert filtered[t] == pytest.approx(seen @ model.coef_ + model.intercept_, rel=1e-10)


def test_filtering_learns_the_same_model_in_any_split():
    X, y = rows(n=50)
    plain = DFOPRegressor(0.05, monitor=True).fit(X, y)
    whole, split = (DFOPRegressor(0.05, monitor=True) for _ in "ab")
    filtered = whole.learn_then_filter(X, y)
    parts = [split.learn_then_filter(X[part], y[part]) for part in (slice(0, 7), slice(7, 50))]
    assert np.array_equal(np.concatenate(parts), filtered)
    assert to_bytes(whole) == to_bytes(split) == to_bytes(plain)


def test_rows_that_teach_nothing_are_filtered_to_their_prediction():
    X, y = rows(n=50)
    gaps = y.copy()
    gaps[::3] = np.nan
    ahead = DFOPRegressor(0.05, semi=True).predict_then_learn(X, gaps)
    filtered = DFOPRegressor(0.05, semi=True).learn_then_filter(X, gaps)
    same = filtered == ahead
    assert np.allclose(filtered[::3], ahead[::3], rtol=1e-12)
    assert not same[1::3].any()


def test_the_automatic_learner_does_not_filter():
    X, y = rows()
    with pytest.raises(AttributeError, match="single exact filter"):
        DFOPRegressor().learn_then_filter(X, y)


# -- bad input -------------------------------------------------------------------------------------

GOOD = np.eye(4)


def changed(i, j, value):
    P = np.eye(4)
    P[i, j] = value
    return P


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"prior_covariance": np.ones((4, 4))}, "not positive definite.*small number"),
        ({"prior_covariance": -GOOD}, "not positive definite.*above 0"),
        ({"prior_covariance": np.zeros((4, 4))}, "not positive definite"),
        ({"prior_covariance": changed(0, 0, 0.0)}, "not positive definite"),
        ({"prior_covariance": changed(0, 1, 0.5)}, r"not symmetric: 0.5 at \(0, 1\)"),
        ({"prior_covariance": changed(2, 2, np.nan)}, "finite"),
        ({"prior_covariance": changed(2, 2, np.inf)}, "finite"),
        ({"prior_covariance": np.eye(3)}, "of 3 weights, and there are 4"),
        ({"prior_covariance": np.eye(5)}, "of 5 weights, and there are 4"),
        ({"prior_covariance": np.ones(4)}, "square matrix"),
        ({"prior_covariance": 3.0}, "square matrix"),
        ({"prior_covariance": np.ones((2, 3))}, "square matrix"),
        ({"prior_covariance": "tight"}, "must be numbers"),
        ({"prior_covariance": [[1.0], [1.0, 2.0]]}, "must be numbers"),
        ({"prior_covariance": GOOD, "prior_variance": 1.0}, "not both"),
        ({"prior_mean": np.zeros(3)}, "of 3 weights, and there are 4"),
        ({"prior_mean": np.zeros((2, 4))}, "of 2 targets but y has 1"),
        ({"prior_mean": [0.0, 0.0, np.nan, 0.0]}, "finite"),
        ({"prior_mean": 1.0}, "one number per weight"),
        ({"prior_mean": np.zeros(4), "forgetting": "auto"}, "single filter"),
        ({"prior_covariance": GOOD, "features": "rff"}, "single filter"),
    ],
)
def test_a_prior_that_cannot_be_is_refused(given, message):
    X, y = rows()
    model = DFOPRegressor(**{"forgetting": 0.01, **given})
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_text_has_no_prior():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(ValueError, match="column 'b' holds text"):
        DFOPRegressor(0.01, prior_covariance=np.eye(3)).fit(frame, [1.0, 2.0])


def test_a_prior_changed_later_is_refused_and_an_equal_one_is_not():
    X, y = rows()
    mean, covariance = belief()
    model = DFOPRegressor(0.01, prior_mean=mean, prior_covariance=covariance).fit(X, y)
    model.set_params(prior_covariance=covariance.copy())
    model.predict(X)
    model.set_params(prior_covariance=2.0 * covariance)
    with pytest.raises(ValueError, match="prior_covariance was changed"):
        model.predict(X)


def test_a_model_has_its_own_copy_of_the_prior():
    X, y = rows()
    mean, covariance = belief()
    model = DFOPRegressor(0.01, prior_mean=mean, prior_covariance=covariance).fit(X, y)
    was = covariance.copy()
    covariance *= 3.0
    loaded = from_bytes(to_bytes(model))
    assert np.array_equal(loaded.prior_covariance, was)
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_a_learner_with_a_prior_of_its_own_is_not_merged():
    X, y = rows()
    model = DFOPRegressor(0.01, prior_mean=np.zeros(4)).fit(X, y)
    with pytest.raises(ValueError, match="prior_mean"):
        Information.from_learner(model)
