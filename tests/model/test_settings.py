"""Parameters are frozen with the first row: on every face a change is refused, in one way."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import dfop.river
from dfop import DFOPClassifier, DFOPRegressor, Retrained, half_life, period, save, to_bytes
from model_state import everything, refused

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8, 3))
Y = X @ [1.0, 2.0, 3.0]
LABELS = np.where(Y > 0, "up", "down")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
ROW = FRAME.to_dict("records")[0]


class Anything(BaseEstimator):
    """An estimator that does not say whether it predicts labels or numbers."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


CHANGES = {
    "experts": [Retrained(Anything())],
    "forgetting": 0.5,
    "features": "poly",
    "lags": 3,
    "fit_intercept": False,
    "prior_variance": 7.0,
    "prior_mean": [1.0, 1.0, 1.0, 1.0],
    "prior_covariance": np.eye(4).tolist(),
    "cap": 50.0,
    "pending_limit": 9,
    "pending_expiry": 99,
    "monitor": True,
    "semi": True,
    "max_classes": 17,
    "max_features": 17,
    "storage": 5,
    "guarantee": True,
    "threads": 3,
}
NEEDS = {"storage": {"forgetting": 0.01}, "guarantee": {"forgetting": 0.01, "storage": 5}}
"""What must be given as well."""
AT_ANY_TIME = {"threads"}
"""No result depends on it, so it may change; see test_experts_on_threads.py."""
OF_ONE_FILTER = {"prior_mean", "prior_covariance"}
"""Refused at once where there are several experts; see test_prior.py."""
CALLS = {
    "partial_fit": lambda m, y: m.partial_fit(X, y),
    "predict_then_learn": lambda m, y: m.predict_then_learn(X, y),
    "predict": lambda m, y: m.predict(X),
    "predict_pending": lambda m, y: m.predict_pending(X, range(50, 58)),
    "learn_pending": lambda m, y: m.learn_pending([0], y[:1]),
    "forget_pending": lambda m, y: m.forget_pending([0]),
    "to_bytes": lambda m, y: to_bytes(m),
    "save": lambda m, y: save(m, "never written"),
}
OF_CLASSES = {
    "predict_proba": lambda m, y: m.predict_proba(X),
    "decision_function": lambda m, y: m.decision_function(X),
    "score": lambda m, y: m.score(X, y),
    "predict_proba_then_learn": lambda m, y: m.predict_proba_then_learn(X, y),
}
OF_RIVER = {
    "learn_one": lambda m, y: m.learn_one(ROW, y[0]),
    "predict_one": lambda m, y: m.predict_one(ROW),
    "learn_many": lambda m, y: m.learn_many(FRAME, y),
    "predict_many": lambda m, y: m.predict_many(FRAME),
    "to_bytes": lambda m, y: to_bytes(m),
}
MADE = [{"forgetting": 0.01}, {}]


def changed(model, name, value, how):
    if how == "set_params":
        model.set_params(**{name: value})
    else:
        setattr(model, name, value)


def expect_refused(model, name, calls, y, how):
    before, old = everything(model)[1], getattr(model, name)
    changed(model, name, CHANGES[name], how)
    for call in calls.values():
        refused(model, lambda m, call=call: call(m, y), name, "set it back", error=ValueError)
    changed(model, name, old, how)
    assert everything(model)[1] == before
    for call in calls.values():
        call(model, y)


@pytest.mark.parametrize("how", ["set_params", "attribute"])
@pytest.mark.parametrize("made", MADE, ids=str)
@pytest.mark.parametrize("learner", [DFOPRegressor, DFOPClassifier])
def test_a_changed_parameter_is_refused_until_set_back(learner, made, how, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y = Y if learner is DFOPRegressor else LABELS
    calls = CALLS if learner is DFOPRegressor else CALLS | OF_CLASSES
    for name in set(learner().get_params()) - AT_ANY_TIME - (set() if made else OF_ONE_FILTER):
        model = learner(**made).partial_fit(X, y)
        model.predict_pending(X[:1], [0])
        model.predict_pending(X[:1], [1])
        some = {k: v for k, v in calls.items() if k != "forget_pending"}
        expect_refused(model, name, some, y, how)
        changed(model, name, CHANGES[name], how)
        refused(model, lambda m: m.forget_pending([1]), name, "set it back")


@pytest.mark.parametrize("made", MADE, ids=str)
@pytest.mark.parametrize("kind", ["DFOPRegressor", "DFOPClassifier"])
def test_so_it_is_for_river(kind, made):
    learner = getattr(dfop.river, kind)
    y = Y if kind == "DFOPRegressor" else LABELS.tolist()
    for name in set(learner()._get_params()) - AT_ANY_TIME:
        model = learner(**made)
        model.learn_one(ROW, y[0])
        model.learn_many(FRAME, y)
        expect_refused(model, name, OF_RIVER, y, "attribute")


@pytest.mark.parametrize("learner", [DFOPRegressor, DFOPClassifier])
def test_fit_starts_anew_with_changed_parameters(learner):
    y = Y if learner is DFOPRegressor else LABELS
    for name in set(learner().get_params()) - {"pending_expiry", "experts"}:
        model = learner(**{"forgetting": 0.01, **NEEDS.get(name, {})}).partial_fit(X, y)
        model.set_params(**{name: CHANGES[name]}).fit(X, y)
        assert everything(model) == everything(learner(**model.get_params()).fit(X, y))


@pytest.mark.parametrize("kind", ["DFOPRegressor", "DFOPClassifier"])
def test_river_takes_changes_before_its_first_row(kind):
    learner = getattr(dfop.river, kind)
    y = Y if kind == "DFOPRegressor" else LABELS.tolist()
    for name in learner()._get_params():
        made = NEEDS.get(name, {})
        model = learner(**made)
        assert model.predict_one(ROW) in (0.0, None)
        setattr(model, name, CHANGES[name])
        fresh = learner(**made, **{name: CHANGES[name]})
        for some in (model, fresh):
            some.learn_one(ROW, y[0])
        assert everything(model) == everything(fresh), name


def test_the_bound_of_classes_can_be_changed_before_the_first_row():
    model = dfop.river.DFOPClassifier(0.01)
    model.max_classes = 2
    for label in "ab":
        model.learn_one(ROW, label)
    with pytest.warns(UserWarning, match="max_classes=2"):
        model.learn_one(ROW, "c")
    model.learn_one(ROW, "d")
    assert set(model.predict_proba_one(ROW)) == {"a", "b"}


@pytest.mark.parametrize(
    ("before", "after"), [(0.01, period(100)), (0.5, half_life(1)), (period("2 h"), period("2h"))]
)
def test_another_way_to_say_the_same_is_no_change(before, after):
    time = {} if before != period("2 h") else {"time": np.arange(8.0)}
    model = DFOPRegressor(before).partial_fit(X, Y, **time)
    state = everything(model)[1]
    model.forgetting = after
    model.predict(X)
    assert everything(model)[1] == state
    if not time:
        rows = dfop.river.DFOPRegressor(before)
        rows.learn_one(ROW, 1.0)
        rows.forgetting = after
        learned = rows.predict_one(ROW)
        assert learned != 0.0  # nothing was forgotten
        rows.learn_one(ROW, 1.0)
        assert rows.predict_one(ROW) != learned


@pytest.mark.parametrize("value", [-1.0, "fast", 2.0])
def test_a_change_to_nonsense_is_refused_too(value):
    model = DFOPRegressor(0.01).partial_fit(X, Y)
    model.forgetting = value
    refused(model, lambda m: m.predict(X), "forgetting")
    rows = dfop.river.DFOPRegressor(0.01)
    rows.learn_one(ROW, 1.0)
    rows.forgetting = value
    refused(rows, lambda m: m.predict_one(ROW), "forgetting")
    refused(rows, lambda m: m.learn_one(ROW, 1.0), "forgetting")


@pytest.mark.parametrize(("name", "value"), [("forgetting", period("1h")), ("features", object())])
def test_river_refuses_what_only_arrays_have_a_use_for_also_later(name, value):
    model = dfop.river.DFOPRegressor()
    setattr(model, name, value)
    with pytest.raises(ValueError, match=r"River|features"):
        model.learn_one(ROW, 1.0)


@pytest.mark.parametrize("learner", [DFOPRegressor, DFOPClassifier])
def test_what_is_equal_but_of_another_type_is_checked_for_itself(learner):
    X, y = [[0.0], [1.0]], [0, 1]
    learner(0.001, monitor=True).fit(X, y)
    with pytest.raises(ValueError, match="monitor=1 must be True or False"):
        learner(0.001, monitor=1).fit(X, y)
    with pytest.raises(ValueError, match="lags=True must be a whole number"):
        learner(0.001, lags=True).fit(X, y)


@pytest.mark.parametrize("learner", [DFOPRegressor, DFOPClassifier])
def test_so_it_is_of_a_model_that_has_learned(learner):
    X, y = [[0.0], [1.0]], [0, 1]
    for name, value, wrong in (("threads", 1, True), ("lags", 1, True), ("monitor", True, 1)):
        model = learner(0.001, **{name: value}).fit(X, y).set_params(**{name: wrong})
        for call in (lambda m: m.partial_fit(X, y), lambda m: m.predict(X)):
            refused(model, call, f"{name}={wrong} must be")
        model.set_params(**{name: value}).partial_fit(X, y)


@pytest.mark.parametrize("learner", [DFOPRegressor, DFOPClassifier])
def test_late_is_true_or_false(learner):
    X, y = [[0.0], [1.0]], [0, 1]
    for late in ("yes", 1, 0, None, ""):
        for model in (learner(0.001), learner(0.001).fit(X, y)):
            call = lambda m, late=late: m.partial_fit(X, y, late=late)  # noqa: E731
            refused(model, call, f"late={late!r} must be True or False")
    learner(0.001).partial_fit(X, y, late=np.True_)
