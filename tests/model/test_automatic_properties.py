"""What must hold of the automatic learner, whatever the stream."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler

from dfop import DFOPClassifier, DFOPRegressor
from dfop.core import Bank
from dfop.evaluation import check_honest
from model_state import everything, state_of

KINDS = ["number", "numbers", "two", "three", "several"]


def make(kind, **setting):
    """A model for a kind of target, and its arguments."""
    if kind in ("number", "numbers"):
        return DFOPRegressor(**setting), {}
    classes = {"two": ["no", "yes"], "three": [0, 1, 2], "several": [[0, 1, 2], [0, 1]]}[kind]
    return DFOPClassifier(**setting), {"classes": classes}


def targets(kind, y):
    return {
        "number": y,
        "numbers": np.c_[y, -2.0 * y + 1.0],
        "two": np.where(y > 0, "yes", "no"),
        "three": np.digitize(y, [-0.5, 0.5]),
        "several": np.c_[np.digitize(y, [-0.5, 0.5]), (y > 0).astype(int)],
    }[kind]


def rows(rng, n, d, mixed):
    """Numbers at several scales with jumps; if mixed, also text, gaps and a column to come."""
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 3, d)
    X[rng.integers(n), 0] *= 1e6
    y = X @ (rng.normal(size=d) / np.abs(X).mean(axis=0)) + 0.3 * rng.normal(size=n)
    y[n // 2 :] *= -1.0
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    if mixed:
        frame["word"] = rng.choice(["red", "green", "blue", None], n)
        frame.loc[rng.random(n) < 0.1, "x0"] = np.nan
        frame["late"] = rng.normal(size=n)
    return frame, y


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    features=st.sampled_from(["auto", "linear", "rff", "poly"]),
    d=st.integers(1, 4),
    lags=st.integers(0, 2),
    weighted=st.booleans(),
    mixed=st.booleans(),
)
# The first number of a column is in a row of weight 0, of which nothing may be learned, then gaps.
@example(seed=202223, kind="number", features="linear", d=3, lags=0, weighted=True, mixed=True)
def test_any_split_gives_the_same_bits(seed, kind, features, d, lags, weighted, mixed):
    rng = np.random.default_rng(seed)
    n = 300
    frame, y = rows(rng, n, d, mixed)
    y = targets(kind, y)
    weight = rng.integers(0, 3, n) * rng.uniform(0.5, 1.5, n) if weighted else np.ones(n)
    border = n // 3 if mixed else 0  # from here on there is one column more
    cuts = {int(c) for c in rng.choice(np.arange(1, n), size=12, replace=False)}
    cuts |= set(range(1, 10)) if seed % 2 else set()
    outputs = []
    models = []
    for inner in (set(), cuts):
        model, more = make(kind, features=features, lags=lags)
        ahead = []
        for a, b in itertools.pairwise(sorted({0, border, n} | inner)):
            part = frame[a:b].drop(columns=["late"] if mixed and a < border else [])
            given_ = {"sample_weight": weight[a:b]} if weighted else {}
            ahead.append(model.predict_then_learn(part, y[a:b], **given_, **more))
        outputs.append(np.concatenate(ahead))
        models.append(model)
    assert (outputs[0] == outputs[1]).all()
    assert everything(models[0]) == everything(models[1])


@pytest.mark.parametrize("kind", ["number", "two", "three"])
@pytest.mark.parametrize("lags", [0, 2])
def test_what_is_told_of_a_row_does_not_depend_on_the_split(kind, lags):
    rng = np.random.default_rng(5)
    frame, y = rows(rng, 400, 2, False)
    y = targets(kind, y)
    told = []
    for step in (400, 1, 37):
        model, more = make(kind, lags=lags)
        call = model.predict_interval_then_learn if not more else model.predict_proba_then_learn
        told.append(
            np.concatenate(
                [call(frame[a : a + step], y[a : a + step], **more) for a in range(0, 400, step)]
            )
        )
    assert told[0].tobytes() == told[1].tobytes() == told[2].tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_predict_before_partial_fit_is_predict_then_learn(kind):
    rng = np.random.default_rng(6)
    frame, y = rows(rng, 150, 3, False)
    y = targets(kind, y)
    asked, more = make(kind, lags=1)
    learned, _ = make(kind, lags=1)
    for model in (asked, learned):
        model.partial_fit(frame[:1], y[:1], **more)
    for t in range(1, 150):
        row, label = frame[t : t + 1], y[t : t + 1]
        before = asked.predict(row)
        asked.partial_fit(row, label)
        assert (before == learned.predict_then_learn(row, label)).all()
    assert everything(asked) == everything(learned)


# -- honesty ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["number", "two", "three"])
@pytest.mark.parametrize(("features", "lags"), [("auto", 0), ("linear", 2)])
def test_a_label_changes_no_prediction_up_to_its_own_row(kind, features, lags):
    rng = np.random.default_rng(7)
    n = 60
    frame, y = rows(rng, n, 2, False)
    model, more = make(kind, features=features, lags=lags)
    ahead = model.predict_then_learn(frame, targets(kind, y), **more)
    for t in range(n):
        other = y.copy()
        other[t:] = rng.normal(size=n - t) * 10.0 ** rng.uniform(-50, 50)
        model, more = make(kind, features=features, lags=lags)
        again = model.predict_then_learn(frame, targets(kind, other), **more)
        assert again[: t + 1].tobytes() == ahead[: t + 1].tobytes(), t


@pytest.mark.parametrize("leap", [1e9, 1e30, -1e100])
@pytest.mark.parametrize("jump", [1.0, 1e6, 1e12])
def test_a_leap_of_the_labels_is_not_foreseen(leap, jump):
    """The row's features jump, so the experts differ as never before, and the label may leap."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 2))
    y = X @ [1.0, -1.0] + 0.1 * rng.normal(size=80)
    y[0] = 1e12  # the range of labels, next to which the experts agree
    for t in (40, 60, 79):
        X[t] *= jump
    for t in (40, 60, 79):
        other = y.copy()
        other[t:] = leap
        plain = DFOPRegressor(features="linear").predict_then_learn(X, y)
        again = DFOPRegressor(features="linear").predict_then_learn(X, other)
        assert again[: t + 1].tobytes() == plain[: t + 1].tobytes()
        asked = DFOPRegressor(features="linear").fit(X[:t], y[:t])
        assert asked.predict(X[t : t + 1])[0] == plain[t]


@pytest.mark.slow  # tests/faces/test_every_model_is_honest.py asks it of fewer rows
@pytest.mark.parametrize("delay", [0, 10])
@pytest.mark.parametrize("make_model", [DFOPRegressor, DFOPClassifier])
def test_the_default_passes_the_check_of_honesty(make_model, delay, rng):
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, -1.0, 0.5] + 0.2 * rng.normal(size=300)
    check_honest(make_model(), (X, y if make_model is DFOPRegressor else y > 0), delay=delay)


# -- scales -----------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [-60, -1, 3, 90])
@pytest.mark.parametrize("setting", [{}, {"lags": 2}, {"features": "poly"}])
def test_labels_times_a_power_of_two_give_predictions_times_it(setting, power):
    rng = np.random.default_rng(9)
    frame, y = rows(rng, 500, 3, False)
    factor = 2.0**power
    one, other = DFOPRegressor(**setting), DFOPRegressor(**setting)
    ahead = one.predict_then_learn(frame, y)
    assert other.predict_then_learn(frame, factor * y).tobytes() == (factor * ahead).tobytes()
    ends = factor * one.predict_interval(frame)
    assert other.predict_interval(frame).tobytes() == ends.tobytes()


@pytest.mark.parametrize("power", [-40, 25])
@pytest.mark.parametrize("make_model", [DFOPRegressor, DFOPClassifier])
def test_features_times_powers_of_two_give_the_same_predictions(make_model, power):
    rng = np.random.default_rng(10)
    frame, y = rows(rng, 300, 3, False)
    y = y if make_model is DFOPRegressor else y > 0
    X = frame.to_numpy()
    ahead = make_model().predict_then_learn(X, y)
    again = make_model().predict_then_learn(X * [2.0**power, 1.0, 2.0**-power], y)
    assert again.tobytes() == ahead.tobytes()


# -- weights and late labels ------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.0, 0.01, 0.2])
def test_a_weight_is_so_many_repeats_for_an_expert(mu):
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 1))
    times = rng.integers(1, 5, 60)
    design = (3, [("number", 1)], [("linear", 0.0, 0)], [(0, mu, 0.0)], True, 100.0, False, 1e6)
    weighted, repeated = Bank(*design), Bank(*design)
    weighted.learn(X, y, times.astype(float), np.zeros(1), np.empty((60, 1)))
    again = np.repeat(np.arange(60), times)
    repeated.learn(
        np.ascontiguousarray(X[again]), np.ascontiguousarray(y[again]), np.ones(1), np.zeros(1),
        np.empty((len(again), 1)),
    )  # fmt: skip
    for a, b in zip(weighted.coefficients(0), repeated.coefficients(0), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)


def test_a_row_of_weight_zero_is_as_if_left_out():
    rng = np.random.default_rng(12)
    frame, y = rows(rng, 200, 3, False)
    keep = rng.random(200) < 0.6
    keep[0] = True
    weighted = DFOPRegressor(lags=1).partial_fit(frame, y, sample_weight=keep.astype(float))
    without = DFOPRegressor(lags=1).partial_fit(frame[keep], y[keep])
    assert state_of(weighted._model.engine) == state_of(without._model.engine)
    assert weighted.predict_interval(frame).tobytes() == without.predict_interval(frame).tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", [{}, {"lags": 2}, {"features": "linear"}])
def test_labels_that_come_at_once_are_not_late(kind, setting):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(200, 3))
    y = targets(kind, X @ [1.0, -1.0, 0.5] + 0.2 * rng.normal(size=200))
    prompt, more = make(kind, **setting)
    late, _ = make(kind, **setting)
    expected = prompt.predict_then_learn(X[:1], y[:1], **more)
    got = late.predict_then_learn(X[:1], y[:1], **more)
    for t in range(1, 200):
        row, label = X[t : t + 1], y[t : t + 1]
        expected = prompt.predict_then_learn(row, label)
        got = late.predict_pending(row, [t])
        late.learn_pending([t], label)
        if kind in ("number", "numbers"):
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)
        else:
            assert (got == expected).all()
    assert late.pending_ == []


def test_labels_that_come_late_in_their_order_give_every_forgetting_expert_the_exact_weights():
    """Against the closed form of discounted least squares with its prior."""
    rng = np.random.default_rng(14)
    n, delay = 150, 7
    X = rng.normal(size=(n, 2))
    y = X @ [1.0, -2.0] + 0.3 * rng.normal(size=n)
    model = DFOPRegressor(features="linear", prior_variance=100.0)
    for t in range(n):
        model.predict_pending(X[t : t + 1], [t])
        if t >= delay:
            model.learn_pending([t - delay], y[t - delay : t - delay + 1])
    model.learn_pending(range(n - delay, n), y[n - delay :])
    Z = np.c_[np.ones(n), X]
    for k, (_, mu, walk) in enumerate(model._model.engine.experts):
        if walk > 0.0 or mu > 0.05:  # faster ones are capped
            continue
        decay = (1 - mu) ** np.arange(n - 1, -1, -1)
        R = (Z * decay[:, np.newaxis]).T @ Z + (1 - mu) ** n / 100.0 * np.eye(3)
        exact = np.linalg.solve(R, Z.T @ (decay * y))
        coef, constant = model._model.engine.coefficients(k)
        np.testing.assert_allclose(np.r_[constant, coef[0]], exact, atol=1e-8)


@pytest.mark.parametrize("change", [{"forgetting": "auto"}, {"features": "rff"}, {"lags": 1}])
def test_parameters_that_a_started_model_cannot_follow_are_refused(change):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    model = DFOPRegressor(0.01).fit(X, X[:, 0]).set_params(**change)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="start anew with fit"):
        model.partial_fit(X, -X[:, 0])
    assert (model.coef_ == before).all()
    model.fit(X, -X[:, 0])


def test_late_predictions_are_judged_as_they_were_made():
    """A level that moves on while labels wait: what was said before counts, not hindsight."""
    rng = np.random.default_rng(0)
    n, delay = 1500, 20
    level = np.cumsum(0.3 * rng.normal(size=n))
    X = rng.normal(size=(n, 1))
    model = DFOPRegressor(features="linear").fit(X[:50], level[:50])
    for t in range(50, n):
        model.predict_pending(X[t : t + 1], [t])
        if t - delay >= 50:
            model.learn_pending([t - delay], level[t - delay : t - delay + 1])
    low, high = model.predict_interval(X[:1], 0.9)[0]
    # errors of a walk after 20 steps of variance .09: 1.64 standard deviations of 1.34
    assert 1.0 < (high - low) / 2 < 5.0


def test_what_moved_has_the_sign_of_the_output_that_moved():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1024, 2))
    slope = np.where(np.arange(1024) < 700, 5.0, -5.0)
    Y = np.c_[0.1 * rng.normal(size=1024), slope * X[:, 1] + 0.1 * rng.normal(size=1024)]
    model = DFOPRegressor(features="linear").fit(X, Y)
    (alarm,) = model.alarms_
    name, z = next(iter(alarm.moved.items()))
    assert name == "x1"
    assert z < -10


def test_a_young_model_has_no_drift_yet():
    X = np.arange(10.0).reshape(5, 2)
    model = DFOPRegressor().fit(X, X[:, 0])
    assert not hasattr(model, "drift_")


def test_intervals_before_the_first_label_are_infinite():
    model = DFOPRegressor()
    model.predict_pending([[1.0], [2.0]], ["a", "b"])
    assert np.isinf(model.predict_interval([[1.0]])).all()
    with pytest.raises(ValueError, match="coverage="):
        model.predict_interval([[1.0]], [0.9])


def test_fitting_anew_forgets_the_last_labels_and_takes_new_parameters():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = X[:, 0]
    fresh = DFOPRegressor(lags=2).fit(X, y)
    again = DFOPRegressor(lags=2).fit(X, 5.0 - 9.0 * y).fit(X, y)
    other = DFOPRegressor().fit(X, np.c_[y, y]).set_params(lags=2).fit(X, y)
    for model in again, other:
        assert (model.predict(X) == fresh.predict(X)).all()
        assert (
            model.predict_then_learn(X, y) == clone(fresh).fit(X, y).predict_then_learn(X, y)
        ).all()


def test_a_transformer_without_a_seed_is_drawn_once():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 2))
    model = DFOPRegressor(0.01, features=RBFSampler(n_components=20))
    ahead = np.concatenate(
        [model.predict_then_learn(X[:1], X[:1, 0]), model.predict_then_learn(X[1:], X[1:, 0])]
    )
    curves = model._model.transform.fitted.transform(X)
    plain = DFOPRegressor(0.01).predict_then_learn(curves, X[:, 0])
    np.testing.assert_allclose(ahead, plain, atol=1e-9)
