"""The generators against their definitions, and against the published files."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dfop.streams import hyperplane, hyperplane_regression, load, sea


@pytest.mark.parametrize("make", [sea, hyperplane, hyperplane_regression])
def test_the_seed_decides_everything(make):
    one, same, other = (make(2000, seed=s).arrays() for s in (5, 5, 6))
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not np.array_equal(one[0], other[0])


def test_sea_follows_its_definition():
    stream = sea(40_000, noise=0.0, seed=1)
    X, y = stream.arrays()
    assert stream.changes == (10_000, 20_000, 30_000)
    for stage, b in enumerate([8, 9, 7, 9.5]):
        part = slice(stage * 10_000, (stage + 1) * 10_000)
        np.testing.assert_array_equal(y[part], X[part, 0] + X[part, 1] <= b)
    noisy = sea(40_000, noise=0.1, seed=1).arrays()
    np.testing.assert_array_equal(noisy[0], X)
    # A binomial share of 0.1 over 40,000 rows has sd 0.0015.
    assert abs((noisy[1] != y).mean() - 0.1) < 0.006


def test_sea_matches_the_published_file_stage_by_stage(data):
    ours, published = sea(seed=1), load("sea")
    assert ours.changes == published.changes
    assert ours.feature_names == published.feature_names
    for stage in range(4):
        part = slice(stage * 12_500, (stage + 1) * 12_500)
        (Xa, ya), (Xb, yb) = ours[part].arrays(), published[part].arrays()
        same_moments(Xa, Xb)
        for label in (0, 1):
            same_moments(Xa[ya == label], Xb[yb == label])
        assert abs(ya.mean() - yb.mean()) < 4.5 * np.sqrt(2 * 0.25 / 12_500)
        rule = Xb[:, 0] + Xb[:, 1] <= (8, 9, 7, 9.5)[stage]
        assert abs((rule != yb).mean() - 0.1) < 0.012


@pytest.mark.parametrize("stage", [1, 2, 3, 4])
def test_fresh_rows_of_sea_are_like_the_published_holdout_sets(data, stage):
    Xa, ya = load("sea").fresh((stage - 1) * 12_500, 2500, np.random.default_rng(stage))
    Xb, yb = load(f"sea-holdout-{stage}").arrays()
    same_moments(Xa, Xb)
    assert abs(ya.mean() - yb.mean()) < 4.5 * np.sqrt(2 * 0.25 / 2500)


def test_hyperplane_matches_the_published_file_stage_by_stage(data):
    ours, published = hyperplane(seed=1), load("hyperplane")
    assert ours.changes == published.changes
    for stage in range(9):
        part = slice(stage * 10_000, (stage + 1) * 10_000)
        (Xa, ya), (Xb, yb) = ours[part].arrays(), published[part].arrays()
        same_moments(Xa, Xb)
        assert abs(ya.mean() - yb.mean()) < 4.5 * np.sqrt(2 * 0.25 / 10_000)
        # The weights differ, the difficulty must not: a linear rule on the first 1,000 rows.
        fits = [LogisticRegression(C=1e3).fit(X[:1000], y[:1000]) for X, y in ((Xa, ya), (Xb, yb))]
        ahead = [
            f.score(X[:1000], y[:1000]) for f, X, y in zip(fits, (Xa, Xb), (ya, yb), strict=True)
        ]
        assert abs(ahead[0] - ahead[1]) < 0.06


def test_hyperplane_flips_the_given_share_of_labels():
    clean, noisy = (hyperplane(seed=2, noise=noise).arrays() for noise in (0.0, 0.05))
    np.testing.assert_array_equal(clean[0], noisy[0])
    assert abs((clean[1] != noisy[1]).mean() - 0.05) < 0.004


def weights(stream, t):
    """Recover the weights at row t, up to scale, from labelled rows alone."""
    X, y = stream.fresh(t, 20_000, np.random.default_rng(t))
    found = LogisticRegression(C=1e6, max_iter=500).fit(X - 0.5, y)
    assert abs(found.intercept_[0]) < 0.02 * np.abs(found.coef_).sum()
    return found.coef_[0]


def test_only_the_drifting_weights_turn_and_in_equal_legs():
    stream = hyperplane(3000, stages=[(2, 0.1)], noise=0.0, seed=3)
    start, end = weights(stream, 0), weights(stream, 2999)
    # The standing weights give the common scale.
    start, end = start / start[2:].sum(), end / end[2:].sum()
    np.testing.assert_allclose(start[2:], end[2:], atol=0.01)
    moved = np.abs(end - start)[:2]
    assert (moved > 0.005).all()
    # Three legs of 0.1 each way: a weight ends 0.1 or 0.3 from where it started.
    ratio = moved[0] / moved[1]
    assert min(abs(ratio / r - 1) for r in (1 / 3, 1, 3)) < 0.2


def test_a_stage_without_drift_stands_still_and_a_new_stage_jumps():
    stream = hyperplane(2000, stages=[(0, 0.0), (0, 0.0)], noise=0.0, seed=4)
    first, last, after = (weights(stream, t) for t in (0, 999, 1000))
    cosine = lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)  # noqa: E731
    assert cosine(first, last) > 0.999
    assert cosine(first, after) < 0.95


def test_regression_hyperplane_is_the_mean_of_three_features_plus_small_noise():
    stream = hyperplane_regression(seed=7)
    X, y = stream.arrays()
    assert X.shape == (2000, 10)
    assert stream.changes == (500, 1000, 1500)
    for stage, i in enumerate([1, 2, 4, 7]):
        part = slice(500 * stage, 500 * (stage + 1))
        error = y[part] - X[part, i - 1 : i + 2].mean(axis=1)
        assert np.abs(error).max() <= 0.1 + 1e-12
        # U(-0.1, 0.1) has sd 0.0577.
        assert abs(error.std() - 0.2 / np.sqrt(12)) < 0.006
        fresh_X, fresh_y = stream.fresh(500 * stage, 200, np.random.default_rng(0))
        assert np.abs(fresh_y - fresh_X[:, i - 1 : i + 2].mean(axis=1)).max() <= 0.1 + 1e-12
    assert y.min() >= 0
    assert y.max() <= 1


@pytest.mark.parametrize("bad", [{"n": 2}, {"stages": [(11, 0.1)]}])
def test_impossible_parameters_are_refused(bad):
    with pytest.raises(ValueError, match=r"stage"):
        hyperplane(**bad)


def same_moments(A, B):
    """Means and covariances agree within 4.5 standard errors of their difference."""
    difference = A.mean(0) - B.mean(0)
    assert (np.abs(difference) < 4.5 * np.sqrt(A.var(0) / len(A) + B.var(0) / len(B))).all()
    products = [np.einsum("ni,nj->nij", Z - Z.mean(0), Z - Z.mean(0)) for Z in (A, B)]
    error = np.sqrt(sum(P.var(0) / len(P) for P in products))
    assert (np.abs(products[0].mean(0) - products[1].mean(0)) < 4.5 * error).all()
