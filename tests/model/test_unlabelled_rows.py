"""Rows without a target (`semi=True`): they age the model and show features, and teach nothing."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop import DFOPClassifier, DFOPRegressor, from_bytes, half_life, river, to_bytes
from dfop.core import Filter
from dfop.core.oracle import NO_TARGET, OracleFilter

N = 400
LAM = 0.95


def rows(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=n) + 3.0
    return X, y, rng.random(n) < 0.4


def gappy(y, labelled):
    return np.where(labelled, y, np.nan)


def cut(n, at):
    return [slice(a, b) for a, b in itertools.pairwise([0, *at, n])]


def closed_form(X, y, labelled, prior=100.0):
    """Minimise the discounted squares of the labelled rows, with ages counted over all rows."""
    n = len(X)
    A = np.c_[X, np.ones(n)][labelled]
    weight = LAM ** (n - 1.0 - np.flatnonzero(labelled))
    R = (A * weight[:, np.newaxis]).T @ A + LAM**n / prior * np.eye(4)
    return np.linalg.solve(R, A.T @ (weight * y[labelled]))


def test_the_model_minimises_the_squares_of_the_labelled_rows_faded_by_all_rows():
    X, y, labelled = rows()
    model = DFOPRegressor(1.0 - LAM, semi=True).fit(X, gappy(y, labelled))
    w = closed_form(X, y, labelled)
    assert np.allclose(np.r_[model.coef_, model.intercept_], w, atol=1e-10)
    without = DFOPRegressor(1.0 - LAM).fit(X[labelled], y[labelled])
    assert not np.allclose(without.coef_, w[:3], atol=1e-6)  # time has passed meanwhile


def test_each_row_is_predicted_with_what_was_known_before():
    X, y, labelled = rows(n=120)
    ahead = DFOPRegressor(1.0 - LAM, semi=True).predict_then_learn(X, gappy(y, labelled))
    for t in range(5, 120):
        w = closed_form(X[:t], y[:t], labelled[:t])
        assert ahead[t] == pytest.approx(X[t] @ w[:3] + w[3], abs=1e-8)


def test_a_row_without_a_target_is_one_that_waits_for_ever():
    X, y, labelled = rows()
    semi = DFOPRegressor(0.02, semi=True).fit(X, gappy(y, labelled))
    late = DFOPRegressor(0.02)
    due = np.flatnonzero(labelled)
    late.predict_pending(X, range(N), labels=(due.tolist(), y[due], due + 1))
    assert np.array_equal(semi.coef_, late.coef_)


@pytest.mark.parametrize("model", [{"forgetting": 0.02}, {}, {"features": "linear", "lags": 2}])
@pytest.mark.parametrize("monitor", [False, True])
def test_any_split_gives_the_same_bits_also_saved_and_loaded_midway(model, monitor):
    X, y, labelled = rows(n=300)
    y = gappy(y, labelled)
    whole = DFOPRegressor(**model, semi=True, monitor=monitor)
    ahead = whole.predict_then_learn(X, y)
    again, pieces = DFOPRegressor(**model, semi=True, monitor=monitor), []
    for part in cut(300, [1, 2, 3, 77, 128, 256]):
        pieces.append(again.predict_then_learn(X[part], y[part]))
        again = from_bytes(to_bytes(again))
    assert np.array_equal(np.concatenate(pieces), ahead)
    assert to_bytes(again) == to_bytes(whole)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.booleans(), min_size=1, max_size=40),
    st.lists(st.integers(1, 39), max_size=5, unique=True),
    st.integers(0, 2**16),
)
def test_labels_may_be_missing_anywhere(labelled, cuts, seed):
    n = len(labelled)
    X = np.random.default_rng(seed).normal(size=(n, 2))
    label = np.where(X[:, 0] > 0, "up", "down").astype(object)
    label[~np.array(labelled)] = None
    whole, split = (DFOPClassifier(0.1, semi=True) for _ in "ab")
    p = whole.predict_proba_then_learn(X, label, classes=["up", "down"])
    pieces = [
        split.predict_proba_then_learn(X[part], label[part], classes=["up", "down"])
        for part in cut(n, sorted(at for at in cuts if at < n))
    ]
    assert np.array_equal(np.concatenate(pieces), p)
    assert to_bytes(whole) == to_bytes(split)


@pytest.mark.parametrize("parameters", [{"forgetting": 0.02}, {"features": "linear"}])
@pytest.mark.parametrize("classes", [2, 4])
def test_labels_are_learned_as_if_the_others_waited(parameters, classes):
    X, y, labelled = rows(n=260)
    label = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    semi = DFOPClassifier(**parameters, semi=True)
    semi.fit(X, [k if seen else None for k, seen in zip(label.tolist(), labelled, strict=True)])
    due = np.flatnonzero(labelled)
    late = DFOPClassifier(**parameters)
    late.predict_pending(
        X, range(260), labels=(due.tolist(), label[due], due + 1), classes=range(classes)
    )
    # a bank's waves see every row here, and only labelled ones there: linear experts see no waves
    if "forgetting" in parameters:
        assert np.array_equal(semi.decision_function(X), late.decision_function(X))
    assert np.mean(semi.predict(X) == late.predict(X)) > 0.95


@pytest.mark.parametrize(
    "missing", [None, float("nan"), np.nan, pd.NA, pd.NaT], ids=["None", "nan", "np", "NA", "NaT"]
)
def test_every_kind_of_gap(missing):
    X, y, labelled = rows(n=60)
    expected = DFOPRegressor(0.02, semi=True).fit(X, gappy(y, labelled)).coef_
    cells = [value if seen else missing for value, seen in zip(y.tolist(), labelled, strict=True)]
    for given_y in (cells, np.array(cells, dtype=object), pd.Series(cells, dtype=object)):
        assert np.array_equal(DFOPRegressor(0.02, semi=True).fit(X, given_y).coef_, expected)
    label = ["up" if value > 3 else "down" for value in y]
    some = [k if seen else missing for k, seen in zip(label, labelled, strict=True)]
    model = DFOPClassifier(0.02, semi=True).fit(X, some)
    assert model.classes_.tolist() == ["down", "up"]


def test_nullable_masked_and_foreign_containers():
    pl = pytest.importorskip("polars")
    X, y, labelled = rows(n=60)
    expected = DFOPRegressor(0.02, semi=True).fit(X, gappy(y, labelled)).coef_
    nullable = pd.Series(y).astype("Float64").mask(~labelled)
    masked = np.ma.masked_array(y, mask=~labelled)
    foreign = pl.Series([v if seen else None for v, seen in zip(y, labelled, strict=True)])
    for targets in (nullable, masked, foreign):
        assert np.array_equal(DFOPRegressor(0.02, semi=True).fit(X, targets).coef_, expected)


def test_several_targets_are_all_there_or_none():
    X, y, labelled = rows(n=80)
    Y = np.c_[y, -y]
    Y[~labelled] = np.nan
    model = DFOPRegressor(0.02, semi=True).fit(X, Y)
    one = DFOPRegressor(0.02, semi=True).fit(X, gappy(y, labelled))
    assert np.allclose(model.coef_[0], one.coef_, rtol=1e-12)
    before = to_bytes(model)
    Y[7] = [1.0, np.nan]
    with pytest.raises(ValueError, match="some of its targets at row 7"):
        model.partial_fit(X, Y)
    assert to_bytes(model) == before


@pytest.mark.parametrize("face", [DFOPRegressor, DFOPClassifier])
def test_weights_the_clock_and_lags_go_on(face):
    X, y, labelled = rows(n=120)
    label = np.where(labelled, (y > 3).astype(float), np.nan)
    model = face(half_life("40s"), semi=True, lags=1)
    time = np.arange(120.0)
    weight = np.where(np.arange(120) % 3 == 0, 0.0, 2.0)
    model.partial_fit(X[:100], label[:100], time=time[:100], sample_weight=weight[:100])
    model.partial_fit(X[100:], label[100:], time=time[100:])
    parts = face(half_life("40s"), semi=True, lags=1)
    for t in range(120):
        one = slice(t, t + 1)
        some = {} if t else ({"classes": [0.0, 1.0]} if face is DFOPClassifier else {})
        known = {"sample_weight": weight[one]} if t < 100 else {}
        parts.partial_fit(X[one], label[one], time=time[one], **known, **some)
    assert np.array_equal(model.predict(X), parts.predict(X))
    assert np.array_equal(model.coef_, parts.coef_)


def test_features_are_seen_on_rows_without_a_target():
    X = np.array([["red", 1.0], ["blue", 5.0], [None, None]], dtype=object)
    model = DFOPRegressor(0.1, semi=True)
    model.partial_fit(X, [1.0, np.nan, np.nan])
    assert "x0=blue" in model.coded_names_
    assert "x1 is missing" in model.coded_names_
    assert model.predict([["blue", None]]).shape == (1,)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_filter_takes_rows_without_a_target_as_the_oracle(intercept):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3)) * 10.0 ** rng.integers(-3, 4, size=(60, 3))
    Y = rng.normal(size=(60, 2))
    gain = np.where(rng.random(60) < 0.5, NO_TARGET, 1.0)
    lam = np.full(60, 0.9)
    filters = [kind(3, 2, intercept, 100.0, 1e6) for kind in (Filter, OracleFilter)]
    outs = [np.empty((60, 2)) for _ in "ab"]
    for one, out in zip(filters, outs, strict=True):
        one.learn(X, Y, lam, gain, out)
    assert np.allclose(*outs, rtol=1e-9, atol=1e-9)
    assert np.allclose(filters[0].state()["scale"], filters[1].scale)
    for one, other in zip(*(f.coefficients() for f in filters), strict=True):
        assert np.allclose(one, other, rtol=1e-9)


def test_river_is_the_same_with_learn_one_and_learn_many():
    X, y, labelled = rows(n=200)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for parameters in ({"forgetting": 0.02}, {"forgetting": 0.02, "monitor": True}, {"lags": 1}):
        arrays = DFOPRegressor(**parameters, semi=True).fit(frame, gappy(y, labelled))
        one, many = (river.DFOPRegressor(**parameters, semi=True) for _ in "ab")
        for t, row in enumerate(frame.to_dict("records")):
            if t == 100:
                one = from_bytes(to_bytes(one))
            if labelled[t]:
                one.learn_one(row, y[t])
            elif t % 2:
                one.learn_one(row)
            else:
                one.learn_one(row, np.nan)
        many.learn_many(frame, pd.Series(gappy(y, labelled)))
        row = frame.to_dict("records")[0]
        expected = arrays.predict(frame.iloc[:1])[0]
        assert one.predict_one(row) == many.predict_one(row) == pytest.approx(expected, rel=1e-12)


def test_river_labels():
    X, y, labelled = rows(n=200)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    label = np.where(labelled, np.where(y > 3, "up", "down"), None)
    one, many = (river.DFOPClassifier(0.02, semi=True) for _ in "ab")
    for row, k in zip(frame.to_dict("records"), label, strict=True):
        one.learn_one(row, k)
    many.learn_many(frame, pd.Series(label))
    arrays = DFOPClassifier(0.02, semi=True).fit(frame, label)
    row = frame.to_dict("records")[3]
    p = one.predict_proba_one(row)
    assert p == many.predict_proba_one(row)
    expected = arrays.predict_proba(frame.iloc[3:4])[0]
    assert [p["down"], p["up"]] == pytest.approx(expected.tolist(), rel=1e-12)


def test_river_may_begin_without_labels():
    for face in (river.DFOPRegressor, river.DFOPClassifier):
        model = face(0.1, semi=True)
        model.learn_one({"a": 1.0})
        model.learn_one({"a": 2.0, "b": "x"})
        model.learn_one({"a": 1.0}, 1)
        assert model.predict_one({"a": 1.0}) == pytest.approx(1.0, abs=0.1)


def test_more_names_than_have_room():
    model = river.DFOPRegressor(0.1, semi=True, max_features=2)
    frame = pd.DataFrame(np.eye(4), columns=list("abcd"))
    with pytest.warns(UserWarning, match="max_features"):
        model.learn_many(frame, pd.Series([1.0, np.nan, np.nan, 2.0]))
    assert np.isfinite(model.predict_one({"c": 1.0}))


def test_the_bank_learns_the_same_bits_on_threads():
    X, y, labelled = rows()
    one, two = (DFOPRegressor(semi=True, threads=k) for k in (1, 2))
    a, b = (model.predict_then_learn(X, gappy(y, labelled)) for model in (one, two))
    assert np.array_equal(a, b)


def test_without_semi_missing_targets_are_refused_with_the_remedy():
    X, y, labelled = rows(n=50)
    model = DFOPRegressor(0.02).fit(X, y)
    before = to_bytes(model)
    for targets in (gappy(y, labelled), np.full(50, np.nan), [None] * 50):
        with pytest.raises(ValueError, match="semi=True"):
            model.partial_fit(X, targets)
        with pytest.raises(ValueError, match="semi=True"):
            DFOPClassifier(0.02).fit(X, targets)
    assert to_bytes(model) == before
    for face in (river.DFOPRegressor, river.DFOPClassifier):
        with pytest.raises(ValueError, match="semi=True"):
            face(0.02).learn_one({"a": 1.0}, None)


def test_all_targets_missing():
    X, y, _ = rows(n=50)
    nothing = np.full(50, np.nan)
    with pytest.raises(ValueError, match="every target is missing"):
        DFOPRegressor(0.02, semi=True).fit(X, nothing)
    with pytest.raises(ValueError, match=r"classes=\[\.\.\.\]"):
        DFOPClassifier(0.02, semi=True).partial_fit(X, nothing)
    model = DFOPRegressor(0.02, semi=True).partial_fit(X, nothing)
    assert np.array_equal(model.predict(X), np.zeros(50))
    model.partial_fit(X, y)
    faded = DFOPRegressor(0.02, prior_variance=100.0 / 0.98**50).fit(X, y)
    assert np.allclose(model.coef_, faded.coef_, rtol=1e-9)


@pytest.mark.parametrize("semi", [1, None, "yes"])
def test_semi_is_true_or_false(semi):
    with pytest.raises(ValueError, match="semi="):
        DFOPRegressor(0.01, semi=semi).fit([[1.0]], [1.0])


def test_errors_name_the_row_as_given():
    X, _, _ = rows(n=4)
    with pytest.raises(ValueError, match="row 3"):
        DFOPRegressor(0.02, semi=True).fit(X, [None, 1.0, None, "x"])
    with pytest.raises(ValueError, match="row 2"):
        DFOPRegressor(0.02, semi=True).fit(X, [np.nan, 1.0, np.inf, 2.0])


@pytest.mark.parametrize("semi", [False, True])
@pytest.mark.parametrize(
    ("kind", "labels"),
    [(DFOPRegressor, [1.0, np.nan]), (DFOPClassifier, ["up", None]), (DFOPRegressor, [1.0, None])],
)
def test_a_missing_label_of_a_row_that_waits_is_refused_with_what_helps(kind, labels, semi):
    model = kind(0.01, semi=semi)
    more = {"classes": ["down", "up"]} if kind is DFOPClassifier else {}
    model.predict_pending([[1.0], [2.0]], keys=["a", "b"], **more)
    with pytest.raises(ValueError, match=r"label of row 'b' is missing .*row 1 of y.*forget_pe"):
        model.learn_pending(["a", "b"], labels)
    with pytest.raises(ValueError, match="label of row 'b' is missing"):
        model.predict_pending([[3.0]], ["c"], labels=(["a", "b"], labels, [0, 0]))
    assert model.pending_ == ["a", "b"]  # nothing has changed
    assert model.forget_pending(["b"]).learn_pending(["a"], labels[:1]).pending_ == []
