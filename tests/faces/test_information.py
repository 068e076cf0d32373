"""Partitions of a stream, learned apart and merged in any tree, are the model of one machine."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from dfop import (
    DFOPClassifier,
    DFOPRegressor,
    Information,
    LimitError,
    ModelFileError,
    half_life,
    period,
    streams,
    to_bytes,
)
from dfop.core.oracle import OracleFilter

CLOSE = 1e-9


def rows(kind, n, d, rng):
    X = rng.normal(size=(n, d))
    return {"excited": X, "far": 1e4 + np.tanh(X), "small": 1e-4 * X, "near": 1.0 + 1e-3 * X}[kind]


def tree(parts, rng):
    """Merge neighbours, in any order."""
    parts = list(parts)
    while len(parts) > 1:
        at = int(rng.integers(len(parts) - 1))
        parts[at : at + 2] = [parts[at].then(parts[at + 1])]
    return parts[0]


def pieces(n, count, rng):
    """Cut n rows anywhere; some pieces are empty, some have one row."""
    cuts = rng.integers(0, n + 1, count - 1)
    cuts[::5] += 1
    cuts = np.sort(np.minimum(np.concatenate([cuts, cuts[:3]]), n))[: count - 1]
    return np.split(np.arange(n), cuts)


def close(a, b):
    return np.abs(a - b).max() <= CLOSE * max(1.0, np.abs(b).max())


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 64),
    n=st.integers(1, 2000),
    d=st.integers(1, 6),
    kind=st.sampled_from(["excited", "far", "small", "near"]),
    mu=st.sampled_from([0.0, 1e-5, 1e-4, 1e-3]),
    m=st.integers(0, 3),
)
def test_any_tree_over_partitions_is_the_sequential_learner(seed, count, n, d, kind, mu, m):
    rng = np.random.default_rng(seed)
    X = rows(kind, n, d, rng)
    y = X @ rng.normal(size=(d, max(m, 1))) + rng.normal(size=(n, max(m, 1)))
    y = y if m else y[:, 0]
    merged = tree([Information.from_data(X[p], y[p], mu) for p in pieces(n, count, rng)], rng)
    assert merged.rows == n
    one = DFOPRegressor(mu).fit(X, y)
    assert one.limited_rows_ == 0  # so the merged one must not be refused
    learner = merged.to_learner()
    assert close(learner.coef_, one.coef_)
    # a difference of numbers as large as the predictions of rows far from zero
    far = max(1.0, np.abs(X).max() * np.abs(one.coef_).max())
    assert np.abs(np.subtract(learner.intercept_, one.intercept_)).max() <= CLOSE * far
    more = rows(kind, 50, d, rng)
    ahead = [some.predict_then_learn(more, y[:1].repeat(50, axis=0)) for some in (learner, one)]
    assert close(*ahead)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 64),
    fades=st.floats(0.01, 100.0),
    datetimes=st.booleans(),
)
def test_by_the_clock(seed, count, fades, datetimes):
    rng = np.random.default_rng(seed)
    n, d = 3000, 4
    X = rows("excited", n, d, rng)
    y = X @ rng.normal(size=d)
    seconds = np.cumsum(rng.exponential(1.0, n))
    seconds[10:20] = seconds[10]  # rows of equal time
    rule = period(f"{seconds[-1] / fades:.6f}s")
    time = np.datetime64("2024-01-01", "ns") + (seconds * 1e9).astype("m8[ns]")
    time = time if datetimes else seconds
    parts = pieces(n, count, rng)
    merged = tree([Information.from_data(X[p], y[p], rule, time=time[p]) for p in parts], rng)
    one = DFOPRegressor(rule).fit(X, y, time=time)
    assert one.limited_rows_ == 0
    learner = merged.to_learner()
    assert close(learner.coef_, one.coef_)
    later = time[-1:] + (np.timedelta64(5, "s") if datetimes else 5.0)
    ahead = [some.predict_then_learn(X[:1], y[:1], time=later) for some in (learner, one)]
    assert close(*ahead)


@settings(max_examples=60, deadline=None)
@example(seed=11, count=7, mu=0.05, rate=0.001, silent="never", far=1e3)  # heard of in one row only
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 20),
    mu=st.sampled_from([1e-3, 1e-2, 0.05, 0.1, 0.3]),
    rate=st.sampled_from([1.0, 0.3, 0.05, 0.01, 0.001]),
    silent=st.sampled_from(["never", "late", "early", "middle"]),
    far=st.sampled_from([0.0, 10.0, 1e3, 1e4]),
)
def test_where_a_limit_acted_it_is_refused_never_silently_different(
    seed, count, mu, rate, silent, far
):
    rng = np.random.default_rng(seed)
    n, d = 1500, 4
    X = far + rng.normal(size=(n, d))
    X[:, 1] *= rng.random(n) < rate
    quiet = {"never": slice(0), "late": slice(900, n), "early": slice(0, 600),
             "middle": slice(500, 1000)}  # fmt: skip
    X[quiet[silent], 2] = 0.0
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    merged = tree([Information.from_data(X[p], y[p], mu) for p in pieces(n, count, rng)], rng)
    one = DFOPRegressor(mu).fit(X, y)
    try:
        learner = merged.to_learner()
    except LimitError:
        assert merged.limited
        return
    assert not merged.limited
    assert close(learner.coef_, one.coef_)


def test_what_is_excited_is_not_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    y = X @ rng.normal(size=5) + rng.normal(size=4000)
    for mu in (1e-3, 1e-2, 0.05, 0.1):
        parts = [Information.from_data(X[p], y[p], mu) for p in pieces(4000, 40, rng)]
        learner, one = tree(parts, rng).to_learner(), DFOPRegressor(mu).fit(X, y)
        assert one.limited_rows_ == 0
        assert close(learner.coef_, one.coef_)


def test_features_far_from_zero_are_exact_where_sums_of_products_are_not():
    """Against the filter in NumPy, with as much forgetting as the cap leaves room for."""
    rng = np.random.default_rng(1)
    n, d, mu = 3000, 3, 1e-3
    X = 1e4 + rng.uniform(-1.0, 1.0, (n, d))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=n)
    oracle = OracleFilter(d, 1, True, 100.0, 1e6)
    oracle.learn(X, y[:, np.newaxis], np.full(n, 1.0 - mu), np.ones(n), np.empty((n, 1)))
    parts = [Information.from_data(X[p], y[p], mu) for p in pieces(n, 64, rng)]
    assert close(tree(parts, rng).to_learner().coef_, oracle.coefficients()[0][0])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 30])
def test_few_rows_far_from_zero_are_not_refused(n):
    """A partition may begin after so many."""
    rng = np.random.default_rng(n)
    X = 1e4 + rng.normal(size=(n + 20, 3))
    y = (X - 1e4) @ [1.0, -2.0, 0.5] + rng.normal(size=n + 20)
    learner = Information.from_data(X[:n], y[:n], 1e-3).to_learner()
    one = DFOPRegressor(1e-3).fit(X[:n], y[:n])
    assert close(learner.coef_, one.coef_)
    assert close(learner.predict(X), one.predict(X))


def test_where_rounding_decides_it_is_refused():
    """Of two columns that are the same the prior alone says how they share."""
    rng = np.random.default_rng(10)
    x = rng.normal(size=1000)
    y = x + rng.normal(size=1000)
    for size, refused in ((1.0, False), (10.0, False), (1e8, True)):
        part = Information.from_data(size * np.column_stack([x, x]), y, 0.0)
        assert part.limited is refused
    with pytest.raises(LimitError, match="rounding decides the weight of column 0"):
        part.to_learner()
    alone = Information.from_data(size * x[:, np.newaxis], y, 0.0).to_learner()
    assert close(size * alone.coef_, size * DFOPRegressor(0.0).fit(size * x[:, None], y).coef_)


@pytest.mark.skipif("DFOP_DATA" not in os.environ, reason="DFOP_DATA is not set")
@pytest.mark.parametrize("mu", [0.01, 0.1])
def test_electricity_as_it_is_is_refused(mu):
    X, y = streams.load("electricity").arrays()
    merged = Information.from_data(X[:10_000], y[:10_000], mu, labels=True)
    for start in range(10_000, len(X), 10_000):
        part = slice(start, start + 10_000)
        merged = merged.then(Information.from_data(X[part], y[part], mu, labels=True))
    assert DFOPClassifier(mu).fit(X, y).limited_rows_ > 0
    with pytest.raises(LimitError, match="partial_fit"):
        merged.to_learner()


@pytest.mark.parametrize("classes", [1, 2, 3, 5])
def test_classes_are_those_of_all_parts(classes):
    rng = np.random.default_rng(classes)
    n = 900
    X = rng.normal(size=(n, 3))
    labels = np.array(["d", "b", "a", "e", "c"])[:classes]
    y = labels[
        np.digitize(X[:, 0] + 0.1 * rng.normal(size=n), np.linspace(-1, 1, classes + 1)[1:-1])
    ]
    y[:100] = labels[0]  # the others come in later parts
    parts = [Information.from_data(X[p], y[p], 0.001, labels=True) for p in pieces(n, 30, rng)]
    learner = tree(parts, rng).to_learner()
    one = DFOPClassifier(0.001).partial_fit(X, y, classes=np.unique(y))
    np.testing.assert_array_equal(learner.classes_, one.classes_)
    assert close(learner.coef_, one.coef_)
    more = rng.normal(size=(200, 3))
    np.testing.assert_array_equal(learner.predict(more), one.predict(more))
    assert close(learner.predict_proba(more), one.predict_proba(more))
    for some in (learner, one):
        some.partial_fit(more, y[-200:])
    assert close(learner.coef_, one.coef_)


def test_a_class_that_is_named_and_not_met_yet_may_come_later():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] > 0, 2, 0)
    part = Information.from_data(X, y, 0.0, labels=True, classes=[0, 1, 2])
    learner = part.to_learner()
    one = DFOPClassifier(0.0).partial_fit(X, y, classes=[0, 1, 2])
    for some in (learner, one):
        some.partial_fit(X[:50], np.ones(50, int))
    assert close(learner.coef_, one.coef_)


def test_columns_are_those_of_all_parts_matched_by_name():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "c"])
    y = frame.to_numpy() @ [1.0, 2.0, 3.0]
    first = Information.from_data(frame[["b", "a"]][:300], y[:300], 0.001)
    merged = first.then(Information.from_data(frame[["c", "a", "b"]][300:], y[300:], 0.001))
    whole = frame[["b", "a", "c"]].copy()
    whole.loc[:299, "c"] = 0.0
    learner, one = merged.to_learner(), DFOPRegressor(0.001).fit(whole, y)
    assert learner.feature_names_in_.tolist() == ["b", "a", "c"]
    assert close(learner.coef_, one.coef_)
    unnamed = Information.from_data(frame.to_numpy(), y, 0.001)
    for other in (unnamed, Information.from_data(frame.to_numpy()[:, :2], y, 0.001)):
        with pytest.raises(ValueError, match="names"):
            (first if other is unnamed else unnamed).then(other)


@pytest.mark.parametrize("rule", [0.0, 0.01, half_life("10min")])
def test_a_learner_comes_first_and_goes_on(rule):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(900, 4))
    X[:, 3] *= np.arange(900) > 400  # a column that the learner never sees
    y = X @ [1.0, 2.0, 3.0, 4.0] + rng.normal(size=900)
    at = {"time": np.cumsum(rng.exponential(10.0, 900))} if rule not in (0.0, 0.01) else {}

    def some(part):
        return {name: values[part] for name, values in at.items()}

    one = DFOPRegressor(rule).fit(X[:300], y[:300], **some(slice(300)))
    learner = Information.from_learner(one)
    parts = [learner, *(Information.from_data(X[p], y[p], rule, **some(p))
                        for p in (slice(300, 600), slice(600, 900)))]  # fmt: skip
    for merged in (parts[0].then(parts[1]).then(parts[2]), parts[0].then(parts[1].then(parts[2]))):
        twin = merged.to_learner()
        whole = DFOPRegressor(rule).fit(X, y, **some(slice(900)))
        assert close(twin.coef_, whole.coef_)
        assert close(twin.predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="only come first"):
        parts[1].then(learner)
    assert close(Information.from_learner(one).to_learner().coef_, one.coef_)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_classifier_comes_first(classes):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(600, 3))
    y = np.digitize(X[:, 0], [0.0] if classes == 2 else [-0.5, 0.5])
    one = DFOPClassifier(0.001).fit(X[:300], y[:300])
    later = Information.from_data(X[300:], y[300:], 0.001, labels=True)
    twin = Information.from_learner(one).then(later).to_learner()
    one.partial_fit(X[300:], y[300:])
    assert close(twin.coef_, one.coef_)
    np.testing.assert_array_equal(twin.predict(X), one.predict(X))
    with pytest.raises(ValueError, match="was not told"):
        Information.from_learner(one).then(
            Information.from_data(X, np.full(600, 9), 0.001, labels=True)
        )


def test_bytes_hold_all_of_it():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(700, 3))
    y = np.array(["x", "y", "z"])[rng.integers(0, 3, 700)]
    parts = [Information.from_data(X[p], y[p], 0.005, labels=True) for p in pieces(700, 9, rng)]
    twins = [Information.from_bytes(part.to_bytes()) for part in parts]
    merged, twin = parts[0], twins[0]
    for part, other in zip(parts[1:], twins[1:], strict=True):
        merged, twin = merged.then(part), Information.from_bytes(twin.then(other).to_bytes())
    assert to_bytes(twin.to_learner()) == to_bytes(merged.to_learner())


def test_bytes_that_are_none_are_refused():
    X = np.random.default_rng(8).normal(size=(30, 2))
    good = Information.from_data(X, X[:, 0], 0.01).to_bytes()
    for bad in (
        b"",
        good[:-1],
        good[:100] + b"x" + good[101:],
        to_bytes(DFOPRegressor(0).fit(X, X[:, 0])),
    ):
        with pytest.raises(ModelFileError, match="Information"):
            Information.from_bytes(bad)


def test_bad_input_is_told():
    X = np.random.default_rng(9).normal(size=(30, 2))
    y = X[:, 0]
    good = Information.from_data(X, y, 0.01)
    with pytest.raises(ValueError, match="auto"):
        Information.from_data(X, y, "auto")
    with pytest.raises(ValueError, match=r"row 0, column 0.*text"):
        Information.from_data([["b", 2.0], ["a", 3.0]], [1.0, 2.0], 0.01)
    with pytest.raises(ValueError, match="NaN at row 3"):
        Information.from_data(np.where(np.arange(30)[:, None] == 3, np.nan, X), y, 0.01)
    with pytest.raises(
        ValueError, match=r"different settings: forgetting is .*0\.01.* and .*0\.02"
    ):
        good.then(Information.from_data(X, y, 0.02))
    with pytest.raises(ValueError, match=r"cap is 1000000\.0 in one part and None"):
        good.then(Information.from_data(X, y, 0.01, cap=None))
    with pytest.raises(ValueError, match="labels=True"):
        Information.from_data(X, y, 0.01, classes=[1])
    with pytest.raises(TypeError, match="toarray"):
        Information.from_data(sparse.csr_array(X), y, 0.01)
    with pytest.raises(ValueError, match="Expected 2D array"):
        Information.from_data(None, y, 0.01)
    with pytest.raises(ValueError, match="2 columns and the other 1"):
        good.then(Information.from_data(X[:, :1], y, 0.01))
    with pytest.raises(ValueError, match="outputs"):
        good.then(Information.from_data(X, X, 0.01))
    with pytest.raises(ValueError, match="labels in one part"):
        good.then(Information.from_data(X, y > 0, 0.01, labels=True))
    with pytest.raises(TypeError, match="follow"):
        good.then(3)
    with pytest.raises(ValueError, match="no row"):
        Information.from_data(X[:0], y[:0], 0.01).to_learner()
    early, late = (
        Information.from_data(X, y, period("1h"), time=np.arange(30.0) + s) for s in (0, 9)
    )
    with pytest.raises(ValueError, match="backwards"):
        late.then(early)
    with pytest.raises(ValueError, match="auto"):
        Information.from_learner(DFOPRegressor().fit(X, y))
    with pytest.raises(ValueError, match="text or gaps"):
        Information.from_learner(DFOPRegressor(0.1).fit([["a", 1.0], ["b", 2.0]], [1.0, 2.0]))
    with pytest.raises(ValueError, match="has not learned"):
        Information.from_learner(DFOPRegressor(0.1))
    with pytest.raises(ValueError, match="monitor"):
        Information.from_learner(DFOPRegressor(0.1, monitor=True).fit(X, y))
    waiting = DFOPRegressor(0.1).fit(X, y)
    waiting.predict_pending(X[:1], [1])
    with pytest.raises(ValueError, match="wait"):
        Information.from_learner(waiting)


def test_labels_given_as_numbers_are_told_what_to_give():
    X = np.ones((3, 1))
    for y in (["a", "b", "a"], np.array(["a", "b", "a"]), ["1", "2", "1"]):
        with pytest.raises(ValueError, match="labels=True"):
            Information.from_data(X, y, 0.01)
        assert Information.from_data(X, y, 0.01, labels=True).rows == 3
    with pytest.raises(ValueError, match="row 1") as told:
        Information.from_data(X, [1.0, np.nan, 2.0], 0.01)
    assert "labels=True" not in str(told.value)


def test_it_is_shown_in_a_line():
    X = np.random.default_rng(0).normal(size=(50, 3))
    part = Information.from_data(X, X[:, 0], half_life("3d"), time=np.arange(50.0))
    assert repr(part) == "<Information of 50 rows with 3 columns, forgetting=half_life('3d')>"


def test_parts_that_cannot_be_merged_say_in_what_they_differ():
    X, y = np.ones((3, 2)), np.ones(3)
    flat, column = (Information.from_data(X, some, 0.1) for some in (y, y[:, np.newaxis]))
    with pytest.raises(ValueError, match=r"shape \(n,\) in one part and \(n, 1\) in the other"):
        flat.then(column)
    for nothing in ([], np.empty((0, 0)), pd.DataFrame([])):
        with pytest.raises(ValueError, match="no columns"):
            Information.from_data(nothing, [], 0.1)
