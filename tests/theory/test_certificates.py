"""Theorem 2 and C0 to C3, against the compiled learner, closed forms and brute force."""

import inspect
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfop.theory
from dfop import DFOPRegressor
from dfop.theory import (
    ASSUMPTIONS,
    certify,
    lemma1_gamma,
    lemma1_gamma_of,
    lemma3_sigma,
    theorem2,
    theorem2_sharp,
)

NAMES = ("C0", "C1", "C2", "C3")


def learn(X, Y, mu, p0):
    """Weights of the library's learner, one row per output."""
    learner = DFOPRegressor(forgetting=mu, fit_intercept=False, prior_variance=p0, cap=None)
    return np.atleast_2d(learner.partial_fit(X, Y).coef_)


def responses(X, mu, p0):
    """What the learner's error is made of, found by feeding it one disturbance at a time.

    Noise of size 1 at row k, drift of size 1 in direction i at row k, start in direction i: the
    error is linear in these, so its law is known from the answers. Outputs share P.
    """
    n, d = X.shape
    noise = learn(X, np.eye(n), mu, p0)
    drift, start = [], []
    for i in range(d):
        # drift at row k is seen by the rows after k
        seen = np.tril(np.ones((n, n)), -1) * X[:, [i]]
        drift.append(learn(X, seen, mu, p0) - np.eye(d)[i])
        start.append(learn(X, X[:, i], mu, p0)[0] - np.eye(d)[i])
    return noise, np.stack(drift, axis=1), np.array(start)  # (n, d), (n, d of s, d), (d, d)


@pytest.fixture
def stream(rng):
    return rng.normal(size=(60, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.2], [0, 0, 0.3]])


def test_the_second_moment_is_exact(rng, stream):
    mu, p0 = 0.07, 0.8
    noise, drift = rng.uniform(0.1, 0.5, 60), rng.uniform(0.0, 0.1, 60)
    shape = np.cov(rng.normal(size=(3, 8)))
    w0 = rng.normal(size=3)
    A, B, C = responses(stream, mu, p0)
    moment = certify(
        stream, mu=mu, P0=p0, noise=noise, drift=drift, drift_shape=shape, start_error=-w0, at=[60]
    ).second_moment
    assert moment.noise[0] == pytest.approx((noise[:, None] ** 2 * A**2).sum(), rel=1e-9)
    exact = np.einsum("k,kia,kja,ij->", drift**2, B, B, shape)
    assert moment.drift[0] == pytest.approx(exact, rel=1e-9)
    assert moment.initial[0] == pytest.approx(np.sum((w0 @ C) ** 2), rel=1e-9)


def test_C3_is_the_radius_of_the_exact_covariance(stream):
    mu, p0, s, q, delta = 0.07, 0.8, 0.3, 0.02, 0.01
    A, B, C = responses(stream, mu, p0)
    G = s**2 * A.T @ A + q**2 * np.einsum("kia,kib->ab", B, B)
    u = math.log(1 / delta)
    radius = math.sqrt(
        np.trace(G) + 2 * math.sqrt(np.trace(G @ G) * u) + 2 * np.linalg.norm(G, 2) * u
    )
    w0 = np.array([1.0, -2.0, 0.5])
    c = certify(stream, mu=mu, P0=p0, noise=s, drift=q, start_error=-w0, delta=delta, at=[60])
    assert c.C3.total[0] == pytest.approx(np.linalg.norm(w0 @ C) + radius, rel=1e-9)
    assert c.C3.noise[0] / c.C3.drift[0] == pytest.approx(
        s**2 * (A**2).sum() / (q**2 * (B**2).sum()), rel=1e-9
    )


def test_the_second_moment_against_monte_carlo(rng, stream):
    mu, p0, s, q, runs = 0.07, 0.8, 0.3, 0.05, 4000
    w0 = np.array([1.0, -2.0, 0.5])
    steps = q * rng.normal(size=(runs, 60, 3))
    w = w0 + np.concatenate([np.zeros((runs, 1, 3)), np.cumsum(steps, axis=1)], axis=1)
    Y = np.einsum("kd,rkd->kr", stream, w[:, :-1]) + s * rng.normal(size=(60, runs))
    square = ((learn(stream, Y, mu, p0) - w[:, -1]) ** 2).sum(axis=1)
    expected = certify(stream, mu=mu, P0=p0, noise=s, drift=q, start_error=-w0, at=[60]).rms[0] ** 2
    assert abs(square.mean() - expected) < 4 * square.std() / math.sqrt(runs)
    assert square.std() / math.sqrt(runs) < 0.02 * expected


def test_without_noise_and_drift_C3_is_the_error_itself(rng, stream):
    w0 = rng.normal(size=3)
    known = {"mu": 0.05, "P0": 2.0, "noise": 0.0, "drift": 0.0, "at": [1, 7, 60]}
    c = certify(stream, start_error=-w0, **known)
    for k, row in enumerate(c.rows):
        error = np.linalg.norm(learn(stream[:row], stream[:row] @ w0, 0.05, 2.0)[0] - w0)
        assert c.C3.total[k] == pytest.approx(error, rel=1e-9)
        assert c.rms[k] == pytest.approx(error, rel=1e-9)
    worst = certify(stream, start_error=float(np.linalg.norm(w0)), **known)
    assert (c.C3.total <= worst.C3.total).all()


def test_closed_forms_in_one_dimension(rng):
    # |x| = 1 and R(0) = 1 in DFOP scale: R stays 1, every sum is geometric
    mu, s, q, start, delta, n = 0.1, 0.4, 0.03, 2.0, 0.02, 25
    X = rng.choice([-1.0, 1.0], size=(n, 1))
    c = certify(X, mu=mu, P0=1.0, scale="dfop", noise=s, drift=q, start_error=start, delta=delta)
    t = c.rows
    lam = 1 - mu
    squares = (1 - lam ** (2 * t)) / (1 - lam**2)
    k = math.sqrt(2 / (1 - math.exp(-2)))
    L = math.sqrt(2) * (1 + np.sqrt(3 * np.log(2 * t / delta)))
    for printed in (c.C0, c.C1):
        np.testing.assert_allclose(printed.initial, lam**t * start)
        np.testing.assert_allclose(printed.noise, 2 * L * k * s * math.sqrt(mu))
        np.testing.assert_allclose(printed.drift, 2 * L * k * q / math.sqrt(mu))
    np.testing.assert_allclose(c.C2.initial, lam**t * start)
    np.testing.assert_allclose(
        c.C2.noise, math.sqrt(3 * math.log(4 / delta)) * k * mu * s * np.sqrt(squares)
    )
    np.testing.assert_allclose(
        c.C2.drift, math.sqrt(3 * math.log(4 / delta)) * k * q * np.sqrt(squares)
    )
    variance = squares * (mu**2 * s**2 + q**2)
    np.testing.assert_allclose(c.rms**2, (lam**t * start) ** 2 + variance)
    u = math.log(1 / delta)
    np.testing.assert_allclose(
        c.C3.total, lam**t * start + np.sqrt(variance * (1 + 2 * math.sqrt(u) + 2 * u))
    )


def test_C0_and_C1_are_theorem_2_with_norms_by_brute_force(rng, stream):
    mu, p0, delta = 0.07, 5.0, 0.1
    noise, drift = rng.uniform(0.1, 0.5, 60), rng.uniform(0.0, 0.1, 60)
    w0 = rng.normal(size=3)
    c = certify(stream, mu=mu, P0=p0, noise=noise, drift=drift, start_error=w0, delta=delta)
    R, K, Vn, Vd = mu / p0 * np.eye(3), 0.0, 0.0, 0.0
    lam = 1 - mu
    R0w0 = R @ w0
    for k in range(60):
        x = stream[k]
        R = lam * R + mu * np.outer(x, x)
        P = np.linalg.norm(np.linalg.inv(R), 2)
        K = max(K, P)
        sigma, gamma = lemma3_sigma(noise[k]), lemma1_gamma(drift[k], 3)
        Vn = lam**2 * Vn + (mu * np.linalg.norm(x) * sigma) ** 2
        Vd = lam**2 * Vd + (np.linalg.norm(R, 2) * gamma) ** 2
        x_max = np.linalg.norm(stream[: k + 1], axis=1).max()
        L = math.sqrt(2) * (1 + math.sqrt(3 * math.log(2 * (k + 1) / delta)))
        braces = (
            lam ** (k + 1) * mu / p0 * np.linalg.norm(w0)
            + 2 * L * x_max * lemma3_sigma(noise[: k + 1].max()) * math.sqrt(mu)
            + L * lemma1_gamma(drift[: k + 1].max(), 3) * (mu / p0 + x_max**2) / math.sqrt(mu)
        )
        assert c.C0.total[k] == pytest.approx(K * braces, rel=1e-9)
        assert c.C1.total[k] == pytest.approx(P * braces, rel=1e-9)
        sums = math.sqrt(3 * math.log(4 / delta)) * (math.sqrt(Vn) + math.sqrt(Vd))
        C2 = P * (lam ** (k + 1) * np.linalg.norm(R0w0) + sums)
        assert c.C2.total[k] == pytest.approx(C2, rel=1e-9)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 6),
    n=st.integers(1, 40),
    mu=st.floats(0.005, 0.9),
    delta=st.floats(1e-8, 0.99),
    sizes=st.tuples(*[st.sampled_from([0.0, 1e-3, 0.1, 10.0])] * 3),
    p0=st.sampled_from([1e-3, 1.0, 1e4]),
    rows=st.sampled_from(["normal", "sparse", "unequal"]),
    vector=st.booleans(),
)
def test_the_certificates_are_ordered_on_every_stream(
    seed, d, n, mu, delta, sizes, p0, rows, vector
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if rows == "sparse":
        X *= rng.random((n, d)) < 0.2
    if rows == "unequal":
        X *= 10.0 ** rng.uniform(-2, 2, size=d)
    noise, drift, start = sizes
    c = certify(
        X, mu=mu, P0=p0, noise=noise, drift=drift * rng.random(n), delta=delta,
        start_error=start * rng.normal(size=d) if vector else start,
        drift_shape=np.cov(rng.normal(size=(d, 2 * d + 1))).reshape(d, d),
    )  # fmt: skip
    totals = [getattr(c, name).total for name in reversed(NAMES)]
    rounding = 1e-11 * start  # of what is left of a start that is all but forgotten
    for smaller, larger in pairwise(totals):
        assert (smaller <= larger * (1 + 1e-9) + rounding).all()
    assert (c.rms <= c.C3.total * (1 + 1e-9)).all()


def test_each_part_answers_to_its_cause(stream):
    base = {"mu": 0.05, "noise": 0.2, "drift": 0.01, "start_error": 1.0, "delta": 0.05}
    c = certify(stream, **base)
    louder = certify(stream, **{**base, "noise": 0.4})
    faster = certify(stream, **{**base, "drift": 0.02})
    farther = certify(stream, **{**base, "start_error": 2.0})
    surer = certify(stream, **{**base, "delta": 0.001})
    for name in NAMES:
        a = getattr(c, name)
        assert (getattr(louder, name).total > a.total).all()
        assert (getattr(faster, name).total > a.total).all()
        assert (getattr(surer, name).total > a.total).all()
        np.testing.assert_allclose(getattr(farther, name).initial, 2 * a.initial)
        np.testing.assert_allclose(a.total, a.initial + a.noise + a.drift)
        if name != "C3":
            np.testing.assert_allclose(getattr(louder, name).noise, 2 * a.noise)
            np.testing.assert_allclose(getattr(louder, name).drift, a.drift)
            np.testing.assert_allclose(getattr(faster, name).drift, 2 * a.drift)
    np.testing.assert_allclose(louder.second_moment.noise, 4 * c.second_moment.noise)
    np.testing.assert_allclose(faster.second_moment.drift, 4 * c.second_moment.drift)
    np.testing.assert_allclose(surer.rms, c.rms)


def test_many_streams_at_once_are_the_streams_one_by_one(rng):
    X, start = rng.normal(size=(2, 3, 15, 2)), rng.normal(size=(2, 3, 2))
    known = {"mu": 0.1, "noise": 0.3, "drift": 0.01, "at": [2, 15]}
    together = certify(X, start_error=start, **known)
    assert together.C3.total.shape == (2, 3, 2)
    for i, j in np.ndindex(2, 3):
        alone = certify(X[i, j], start_error=start[i, j], **known)
        for name in (*NAMES, "second_moment"):
            np.testing.assert_allclose(
                getattr(together, name).total[i, j], getattr(alone, name).total, rtol=1e-10
            )


def test_the_summary_forms_agree_with_the_stream(stream):
    mu, p0, s, q = 0.05, 2.0, 0.3, 0.01
    c = certify(stream, mu=mu, P0=p0, noise=s, drift=q, start_error=1.5)
    R = mu / p0 * np.eye(3)
    norms = []
    for x in stream:
        R = (1 - mu) * R + mu * np.outer(x, x)
        norms.append(1 / np.linalg.eigvalsh(R)[0])
    summary = {
        "mu": mu, "norm_P": np.array(norms), "norm_R0": mu / p0, "start_error": 1.5,
        "x_max": np.maximum.accumulate(np.linalg.norm(stream, axis=1)),
        "sigma": lemma3_sigma(s), "gamma": lemma1_gamma(q, 3),
    }  # fmt: skip
    np.testing.assert_allclose(theorem2(c.rows, **summary).total, c.C1.total, rtol=1e-9)
    sharp = theorem2_sharp(c.rows, **summary).total
    assert (c.C2.total <= sharp * (1 + 1e-9)).all()
    assert (sharp <= c.C1.total).all()


def test_known_bounding_constants_replace_those_of_the_lemmas(stream):
    known = {"mu": 0.05, "noise": 0.2, "drift": 0.01, "start_error": 1.0}
    c = certify(stream, **known)
    bounded = certify(stream, sigma=0.2, gamma=0.01 * math.sqrt(3), **known)
    np.testing.assert_allclose(bounded.C2.noise * 1.5209, c.C2.noise, rtol=1e-4)
    np.testing.assert_allclose(bounded.C3.total, c.C3.total)
    ratio = lemma1_gamma_of(np.eye(3)) / math.sqrt(3)
    np.testing.assert_allclose(bounded.C1.drift * ratio, c.C1.drift)
    assert (bounded.C3.total <= bounded.C2.total).all()


def test_a_direction_without_excitation_is_certified_as_lost(rng):
    X = rng.normal(size=(1200, 2))
    X[:, 1] = 0.0
    c = certify(X, mu=0.5, noise=0.1, drift=0.0, start_error=1.0, at=[10, 1200])
    for name in ("C0", "C1", "C2"):
        total = getattr(c, name).total
        assert np.isfinite(total[0])
        assert total[1] == math.inf
    # what is not excited is not learned, and keeps the start's error: C3 knows
    np.testing.assert_allclose(c.C3.initial, 1.0)
    assert (c.C3.total < 2.0).all()


def test_a_rotated_direction_without_excitation_keeps_its_error(rng):
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    X = (rng.normal(size=(3000, 3)) * [1.0, 1.0, 0.0]) @ rotation.T
    c = certify(X, mu=0.05, noise=0.1, drift=1e-3, start_error=rotation[:, 2], at=[1000, 3000])
    np.testing.assert_allclose(c.C3.initial, 1.0, rtol=0.01)
    # |P| = lam^-t / |R0| is far below the rounding of R, and still known
    np.testing.assert_allclose(c.C2.initial, 1.0)
    # the drift piles up there as in a random walk, and is tracked in the other two directions
    np.testing.assert_allclose(c.second_moment.drift, 1e-6 * c.rows, rtol=0.05)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mu": 0.0}, "strictly between"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"scale": "rls"}, "scale='rls'"),
        ({"P0": -1.0}, "positive definite"),
        ({"P0": np.eye(3)}, "shape"),
        ({"noise": -0.1}, "noise must be 0 or more"),
        ({"noise": math.inf}, "noise must be 0 or more, and finite"),
        ({"drift": math.nan}, "drift must be 0 or more, and finite"),
        ({"drift": [0.1, 0.2]}, "each of the 5 rows"),
        ({"drift_shape": np.eye(3)}, r"drift_shape must have shape \(2, 2\)"),
        ({"drift_shape": np.array([[1.0, 0.5], [0.0, 1.0]])}, "finite and symmetric"),
        ({"drift_shape": np.diag([1.0, -1.0]), "gamma": 1.0}, "positive semidefinite"),
        ({"start_error": [1.0, np.nan]}, "start_error must be finite"),
        ({"start_error": [1.0, 2.0, 3.0]}, "start_error"),
        ({"at": [0]}, "counted from 1 to 5"),
        ({"at": [6]}, "counted from 1 to 5"),
        ({"X": [1.0, 2.0]}, "shape"),
        ({"X": [[1.0, np.nan]]}, "finite"),
    ],
)
def test_what_makes_no_sense_is_refused(changed, message):
    known = {"X": np.ones((5, 2)), "mu": 0.1, "noise": 0.1, "drift": 0.1, "start_error": 1.0}
    known.update(changed)
    with pytest.raises(ValueError, match=message):
        certify(known.pop("X"), **known)


@pytest.mark.parametrize("bound", [theorem2, theorem2_sharp])
def test_rows_are_counted_from_one(bound):
    known = {"mu": 0.1, "norm_P": 1.0, "norm_R0": 1.0, "start_error": 1.0, "x_max": 1.0}
    with pytest.raises(ValueError, match="counted from 1, not 0"):
        bound([0, 1], sigma=1.0, gamma=1.0, **known)


def test_every_quantity_says_what_it_assumes():
    assert set(ASSUMPTIONS) == {*NAMES, "second_moment"}
    for name in dfop.theory.__all__:
        thing = getattr(dfop.theory, name)
        if inspect.isfunction(thing) and not name.startswith("to_"):
            assert "ssumes" in thing.__doc__, name
