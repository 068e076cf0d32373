"""Rows as they come: the merged model is the sequential learner's, or it is refused."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dfop import DFOPClassifier, DFOPRegressor, Information, LimitError, period

CLOSE = 1e-9
TIMES = {"excited": 1.0, "huge": 1e8, "tiny": 1e-8}
NEAR = {"duplicate": 0.0, "near": 1e-4, "nearer": 1e-7}
KINDS = [*TIMES, *NEAR, "far", "constant", "rare", "silent", "stops", "bursts", "grows", "jumps",
         "walk", "blocks"]  # fmt: skip


def column(kind, n, rng, others):
    x, at = rng.normal(size=n), np.sort(rng.integers(0, n + 1, 2))
    if kind in TIMES:
        return TIMES[kind] * x
    if kind in NEAR:
        return (others[rng.integers(len(others))] if others else 0.0) + NEAR[kind] * x
    if kind == "far":
        return 1e4 + x
    if kind == "constant":
        return np.full(n, rng.choice([0.0, 1.0, 1e5]))
    if kind == "rare":
        return x * (rng.random(n) < rng.choice([0.3, 0.03, 0.003]))
    if kind == "silent":
        return np.where((np.arange(n) >= at[0]) & (np.arange(n) < at[1]), 0.0, x)
    if kind == "stops":
        return np.where(np.arange(n) >= at[0], rng.choice([0.0, 1.0, 100.0]), x)
    if kind == "bursts":
        return x * np.where(rng.random(n) < 0.003, 1e4, 1.0)
    if kind == "grows":
        return x * np.exp(np.linspace(0.0, rng.choice([-20.0, 3.0, 20.0]), n))
    if kind == "jumps":
        return np.where(np.arange(n) >= at[0], rng.choice([1e3, 1e6, 1e9]) * x, x)
    return np.cumsum(x) if kind == "walk" else np.arange(n) // (1 + at[0]) % 2 * 1.0


def merged_and_sequential(
    X, y, rule, count, rng, *, head=0, labels=False, time=None, classes=None, **more
):
    """Return what parts teach, merged in any order, and the learner of all rows in theirs."""

    def some(rows):
        return {} if time is None else {"time": time[rows]}

    one, told, parts = (DFOPClassifier if labels else DFOPRegressor)(rule, **more), {}, []
    if labels:
        told = {"classes": np.unique(y) if classes is None else classes}
    if head:
        one.partial_fit(X[:head], y[:head], **some(slice(head)), **told)
        parts.append(Information.from_learner(one))
    cuts = np.sort(rng.integers(len(y) - head, size=count))
    for rows in np.split(np.arange(head, len(y)), cuts):
        part = Information.from_data(
            X[rows], y[rows], rule, labels=labels, **some(rows), **told, **more
        )
        parts.append(part)
    one.partial_fit(X[head:], y[head:], **some(slice(head, None)), **({} if head else told))
    while len(parts) > 1:
        at = int(rng.integers(len(parts) - 1))
        parts[at : at + 2] = [parts[at].then(parts[at + 1])]
    return parts[0], one


def check(merged, one, X, y, kept):
    """Refused, or the same: predictions of rows, and weights by what their columns add to them.

    Rows count as far as they are `kept` in memory: forgotten ones say nothing of the learner now.
    """
    try:
        learner = merged.to_learner()
    except LimitError:
        assert merged.limited
        return
    assert not merged.limited
    compare(learner, one, X, y, kept)


def compare(learner, one, X, y, kept):
    tell = "decision_function" if isinstance(one, DFOPClassifier) else "predict"
    mine, expected = ((getattr(some, tell)(X).T * kept).T for some in (learner, one))
    size = 1.0 if tell != "predict" else max(1.0, np.abs(y).max())
    assert np.abs(mine - expected).max() <= CLOSE * max(size, np.abs(expected).max())
    mean = np.average(X, axis=0, weights=kept**2) if one.fit_intercept else 0.0
    adds = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=kept**2))
    a, b = learner.coef_ * adds, one.coef_ * adds
    assert np.abs(a - b).max() <= CLOSE * max(size, np.abs(b).max())


SETS = {
    "seed": st.integers(0, 2**32 - 1),
    "n": st.sampled_from([2, 3, 30, 300, 1000, 3000]),
    "kinds": st.lists(st.sampled_from(KINDS), min_size=1, max_size=6),
    "m": st.integers(-1, 3),  # outputs: -1 for labels, 0 for one number a row
    "mu": st.sampled_from([0.0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3]),
    "clock": st.booleans(),
    "head": st.sampled_from([0.0, 0.0, 0.1, 0.6]),
    "cap": st.sampled_from([1e6, 1e6, 1e3, 1e9, None]),
}


def dirty(n, kinds, m, mu, clock, rng):
    """Return rows, targets, times (or None), a rule, and how far each row is kept in memory."""
    others = []
    for kind in kinds:
        others.append(column(kind, n, rng, others))
    X = np.array(others).T
    sizes = np.abs(X).max(axis=0)
    y = X / np.where(sizes > 0.0, sizes, 1.0) @ rng.normal(size=(len(kinds), max(m, 1)))
    y += rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=y.shape)
    y = y if m > 0 else y[:, 0]
    if m < 0:
        y = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    gaps = rng.exponential(1.0, n) * np.where(rng.random(n) < 0.01, rng.choice([1, 100, 3000]), 1.0)
    time, remembered = np.cumsum(gaps), 1.0 / max(mu, 1e-6)
    rule = period(f"{remembered:.6f}s") if clock else mu
    passed = time / remembered if clock else -np.log1p(-mu) * np.arange(n)
    return X, y, time if clock else None, rule, np.exp(-0.5 * (passed[-1] - passed))


@settings(max_examples=300, deadline=None)
@example(seed=20085, n=3000, kinds=["silent"], m=0, mu=0.1, clock=True, head=0.0, cap=1e6)
@example(seed=2, n=30, kinds=["jumps"] * 2, m=2, mu=0.1, clock=False, head=0.4, cap=1e9)
@example(seed=3, n=1000, kinds=["huge", "duplicate"], m=0, mu=0.0, clock=False, head=0.6, cap=1e6)
@example(seed=4, n=1000, kinds=["silent"] * 2, m=2, mu=0.1, clock=True, head=0.0, cap=None)
@given(**SETS)
def test_never_silently_different(seed, n, kinds, m, mu, clock, head, cap):
    rng = np.random.default_rng(seed)
    X, y, time, rule, kept = dirty(n, kinds, m, mu, clock, rng)
    merged, one = merged_and_sequential(
        X, y, rule, int(rng.integers(0, 30)), rng, head=int(head * n), labels=m < 0, time=time,
        fit_intercept=bool(rng.random() < 0.7), cap=cap,
        prior_variance=[None, 1.0, 1e4, 1e-3][rng.integers(4)],
    )  # fmt: skip
    check(merged, one, X, y, kept)


FURTHER, STEP = 200, 25


@settings(max_examples=150, deadline=None)
@given(**SETS | {"n": st.sampled_from([2, 3, 30, 300, 1000])})
def test_the_learner_goes_on_as_that_of_one_machine(seed, n, kinds, m, mu, clock, head, cap):
    """As far as the further rows could be merged as well: in them, too, limits act and rounding
    decides, and limits that act later act at other moments."""
    rng = np.random.default_rng(seed)
    X, y, time, rule, _ = dirty(n + FURTHER, kinds, m, mu, clock, rng)
    more = {"fit_intercept": bool(rng.random() < 0.7), "cap": cap,
            "prior_variance": [None, 1.0, 1e4, 1e-3][rng.integers(4)]}  # fmt: skip
    told = {"labels": True, "classes": np.unique(y)} if m < 0 else {}
    merged, one = merged_and_sequential(
        X[:n], y[:n], rule, int(rng.integers(0, 30)), rng, head=int(head * n), labels=m < 0,
        time=time[:n] if clock else None, classes=told.get("classes"), **more,
    )  # fmt: skip
    if merged.limited:
        return
    learner = merged.to_learner()
    fade = time * mu if clock else -np.log1p(-mu) * np.arange(n + FURTHER)
    for stop in range(n + STEP, n + FURTHER + 1, STEP):
        rows = slice(stop - STEP, stop)
        when = {"time": time[rows]} if clock else {}
        for some in (learner, one):
            some.partial_fit(X[rows], y[rows], **when)
        merged = merged.then(Information.from_data(X[rows], y[rows], rule, **when, **told, **more))
        if not merged.limited:
            kept = np.exp(-0.5 * (fade[stop - 1] - fade[:stop]))
            compare(learner, one, X[:stop], y[:stop], kept)


@pytest.mark.parametrize("silent", [200, 250, 262])
def test_a_weight_that_only_faint_rows_tell_is_refused(silent):
    """Without a cap it stays, and beside rows that count its rows are lost to rounding."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2))
    X[300 - silent :, 1] = 0.0
    y = X.sum(axis=1) + rng.normal(size=300)
    merged, one = merged_and_sequential(X, y, 0.2, 1, rng, cap=None)
    assert one.limited_rows_ == 0
    assert merged.limited
    merged, one = merged_and_sequential(X[:, :1], y, 0.2, 1, rng, cap=None)
    assert not merged.limited
    check(merged, one, X[:, :1], y, np.ones(300))
