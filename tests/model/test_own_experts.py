"""`experts=[...]`: models of the user's among those of the automatic learner."""

import copy
import pickle
import warnings
import zlib

import numpy as np
import pandas as pd
import pytest
from river import linear_model, preprocessing, tree
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from dfop import DFOPClassifier, DFOPRegressor, Retrained, river

CUTS = [1, 2, 9, 40, 41, 120, 200]


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    return X, np.sign(X[:, 0] * X[:, 1]) + 0.5 * X[:, 2] + 0.1 * rng.normal(size=n)


def words(X):
    return np.where(X[:, 0] * X[:, 1] > 0.3, "far", np.where(X[:, 2] > 0, "up", "down"))


def regressors():
    return [
        SGDRegressor(random_state=0),
        preprocessing.StandardScaler() | linear_model.LinearRegression(),
        Retrained(DecisionTreeRegressor(random_state=0), every=30, window=90),
    ]


def classifiers():
    return [
        SGDClassifier(random_state=0),
        SGDClassifier(loss="log_loss", random_state=0),
        tree.HoeffdingTreeClassifier(grace_period=20),
        Retrained(DecisionTreeClassifier(random_state=0), every=30, window=90),
    ]


def number_model(**given):
    return DFOPRegressor(features="linear", experts=regressors(), **given)


def label_model(**given):
    return DFOPClassifier(features="linear", experts=classifiers(), **given)


class Duck(RegressorMixin, BaseEstimator):
    """Says what `says` tells of a row, whatever it is taught."""

    def __init__(self, says=None):
        self.says = says

    def partial_fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.array([self.says(x) for x in X])


def product(x):
    return np.sign(x[0] * x[1]) + 0.5 * x[2]


class Noise(RegressorMixin, BaseEstimator):
    def partial_fit(self, X, y):
        return self

    def predict(self, X):
        rng = np.random.default_rng(zlib.crc32(X.tobytes()))
        return rng.normal(size=len(X))


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


# -- what they are worth -----------------------------------------------------------------------


def test_a_perfect_expert_is_followed():
    X, y = rows(1000)
    model = DFOPRegressor(features="linear", experts=[Duck(product)])
    ahead = model.predict_then_learn(X, y)
    default = DFOPRegressor(features="linear").predict_then_learn(X, y)
    assert rmse(ahead[100:], y[100:]) < 1.1 * 0.1  # the noise of the labels
    assert rmse(default[100:], y[100:]) > 0.8
    assert model.experts_[-1].kind == "Duck"
    assert model.experts_[-1].weight > 0.8


def test_noise_costs_at_most_two_percent():
    """Among the first rows it may cost a stroke of bad luck: there the mean over streams counts."""
    costs, later = [], []
    for seed in range(5):
        X = np.random.default_rng([seed, 1]).normal(size=(3000, 3))
        y = X @ [1.0, -2.0, 0.5] + 0.3 * np.random.default_rng([seed, 2]).normal(size=len(X))
        alone = DFOPRegressor(features="linear").predict_then_learn(X, y)
        noisy = DFOPRegressor(features="linear", experts=[Noise()]).predict_then_learn(X, y)
        costs.append(rmse(noisy, y) / rmse(alone, y))
        later.append(rmse(noisy[20:], y[20:]) / rmse(alone[20:], y[20:]))
    assert np.mean(costs) < 1.02
    assert max(later) < 1.02


def test_the_table_of_experts_names_them():
    X, _ = rows()
    model = label_model().fit(X, words(X))
    kinds = [expert.kind for expert in model.experts_]
    assert kinds[-4:] == [
        "SGDClassifier",
        "SGDClassifier",
        "HoeffdingTreeClassifier",
        "Retrained(DecisionTreeClassifier)",
    ]
    assert sum(expert.weight for expert in model.experts_) == pytest.approx(1.0)
    assert "your HoeffdingTreeClassifier" in model.features_
    assert 0.0 <= model.forgetting_ <= 0.3
    with pytest.raises(AttributeError, match="experts of your own"):
        _ = model.coef_


# -- asked, then taught ------------------------------------------------------------------------


class Logged(SGDRegressor):
    said: list = []  # noqa: RUF012

    def predict(self, X):
        out = super().predict(X)
        Logged.said.extend(out.tolist())
        return out


def test_an_estimator_is_asked_before_each_row_and_then_taught_it():
    X, y = rows()
    Logged.said.clear()
    DFOPRegressor(features="linear", experts=[Logged(random_state=0)]).predict_then_learn(X, y)
    by_hand, expected = SGDRegressor(random_state=0), []
    for t in range(len(X)):
        if t:  # nobody is asked before it was taught
            expected.append(float(by_hand.predict(X[t : t + 1])[0]))
        by_hand.partial_fit(X[t : t + 1], y[t : t + 1])
    assert Logged.said == expected


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it was taught, and says the last label."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        weight = 1.0 if sample_weight is None else float(sample_weight[0])
        self.rows_ = [*getattr(self, "rows_", []), (X[0].tolist(), y[0], weight)]
        self.classes_ = getattr(self, "classes_", classes)
        return self

    def predict(self, X):
        return np.repeat(self.rows_[-1][1], len(X))


def taught_of(model, j=0):
    return model._model.own.experts[j].model


def test_weights_are_passed_on_and_rows_of_weight_0_are_not_taught():
    X, _ = rows(6)
    y = np.array(["a", "b", "a", "b", "b", "a"])
    model = DFOPClassifier(features="linear", experts=[Recorder()])
    model.partial_fit(X, y, sample_weight=[1, 2, 0, 1, 0.5, 1])
    told = taught_of(model)
    assert [(label, weight) for _, label, weight in told.rows_] == [
        ("a", 1.0),
        ("b", 2.0),
        ("b", 1.0),
        ("b", 0.5),
        ("a", 1.0),
    ]
    assert told.classes_.tolist() == ["a", "b"]


def test_a_row_of_weight_0_may_have_a_class_that_is_yet_to_come():
    X, _ = rows(6)
    y = np.array(["a", "b", "c", "c", "b", "a"])
    model = DFOPClassifier(features="linear", experts=[Recorder()])
    model.partial_fit(X, y, sample_weight=[0, 0, 1, 0, 1, 1])
    assert [label for _, label, _ in taught_of(model).rows_] == ["c", "b", "a"]


def test_they_see_the_coded_columns_that_the_first_row_had():
    frame = pd.DataFrame({"size": [1.0, None, 3.0], "color": ["red", "red", "blue"]})
    model = DFOPClassifier(features="linear", experts=[Recorder()])
    model.partial_fit(frame, ["a", "b", "a"])
    assert [row for row, _, _ in taught_of(model).rows_] == [[1.0, 1.0], [1.0, 1.0], [3.0, 0.0]]
    assert model.coded_names_.tolist() == ["size", "color=red", "size is missing", "color=blue"]


class Dicts(linear_model.LinearRegression):
    taught: list = []  # noqa: RUF012

    def learn_one(self, x, y):
        Dicts.taught.append((x, y))


def test_a_river_model_gets_dicts_by_the_names_of_coded_columns():
    frame = pd.DataFrame({"size": [1.0, None], "color": ["red", "blue"]})
    Dicts.taught.clear()
    DFOPRegressor(features="linear", experts=[Dicts()]).partial_fit(frame, [2.0, 3.0])
    assert Dicts.taught == [
        ({"size": 1.0, "color=red": 1.0}, 2.0),
        ({"size": 1.0, "color=red": 0.0, "size is missing": 1.0, "color=blue": 1.0}, 3.0),
    ]


# -- nothing depends on how rows are cut -------------------------------------------------------


@pytest.mark.parametrize("lags", [0, 2])
def test_any_split_gives_the_same_bits(lags):
    X, y = rows()
    for make, targets, first in (
        (number_model, y, {}),
        (label_model, words(X), {"classes": ["down", "far", "up"]}),
    ):
        whole, parts = make(lags=lags), make(lags=lags)
        expected = whole.predict_then_learn(X, targets, **first)
        pieces = zip([0, *CUTS], CUTS, strict=False)
        told = [parts.predict_then_learn(X[a:b], targets[a:b], **first) for a, b in pieces]
        np.testing.assert_array_equal(np.concatenate(told), expected)
        shown = "decision_function" if targets is not y else "predict"
        np.testing.assert_array_equal(getattr(parts, shown)(X), getattr(whole, shown)(X))


def test_any_number_of_threads_gives_the_same_bits():
    X, y = rows(600)
    own = [Retrained(DecisionTreeRegressor(random_state=0), every=100)]
    one, two = (DFOPRegressor(features="linear", experts=own, threads=k) for k in (1, 2))
    np.testing.assert_array_equal(one.predict_then_learn(X, y), two.predict_then_learn(X, y))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_pickled_in_the_middle_it_goes_on_as_if_never_stopped():
    X, y = rows()
    for make, targets, first in ((number_model, y, {}), (label_model, words(X), {})):
        whole, half = make(), make()
        expected = whole.predict_then_learn(X, targets, **first)
        a = half.predict_then_learn(X[:130], targets[:130], **first)
        b = pickle.loads(pickle.dumps(half)).predict_then_learn(X[130:], targets[130:])
        np.testing.assert_array_equal(np.concatenate([a, b]), expected)


def test_late_labels_give_the_same_for_any_calls():
    X, y = rows(120)
    keys = list(range(120))
    for make, targets, first in (
        (number_model, y, {}),
        (label_model, words(X), {"classes": ["down", "far", "up"]}),
    ):
        batches, single = make(), make()
        for start in range(0, 120, 40):
            part = slice(start, start + 40)
            batches.predict_pending(X[part], keys[part], **first)
            batches.learn_pending(keys[part], targets[part])
            for t in range(start, start + 40):
                single.predict_pending(X[t : t + 1], [t], **first)
            for t in range(start, start + 40):
                single.learn_pending([t], targets[t : t + 1])
        shown = "decision_function" if targets is not y else "predict"
        np.testing.assert_array_equal(getattr(single, shown)(X), getattr(batches, shown)(X))


def test_labels_that_come_before_the_next_row_are_not_late():
    X, y = rows(100)
    at_once, pending = number_model(), number_model()
    expected, told = at_once.predict_then_learn(X, y), []
    for t in range(100):
        told.append(pending.predict_pending(X[t : t + 1], [t])[0])
        pending.learn_pending([t], y[t : t + 1])
    np.testing.assert_allclose(told[1:], expected[1:], rtol=1e-12)


class LastLabel(RegressorMixin, BaseEstimator):
    """Predicts the last label: perfect at once where labels stick, useless a batch ahead."""

    def partial_fit(self, X, y):
        self.last_ = float(y[-1])
        return self

    def predict(self, X):
        return np.full(len(X), self.last_)


def test_with_late_labels_an_expert_is_judged_by_what_it_said_when_the_row_came():
    rng = np.random.default_rng(3)
    levels = np.repeat(rng.normal(size=60), 20)  # each batch of 20 has a level of its own
    X = rng.normal(size=(1200, 2))
    y = levels + 0.5 * X[:, 0] + 0.05 * rng.normal(size=1200)
    weights = {}
    for late in (False, True):
        model = DFOPRegressor(features="linear", experts=[LastLabel()])
        for start in range(0, 1200, 20):
            part = slice(start, start + 20)
            model.partial_fit(X[part], y[part], late=late)
        weights[late] = model.experts_[-1].weight
    assert weights[True] < weights[False]


def test_dicts_and_arrays_are_the_same_model():
    X, y = rows(150)
    names = ["x0", "x1", "x2"]
    own = [
        Retrained(DecisionTreeRegressor(random_state=0), every=30),
        linear_model.LinearRegression(),
    ]
    arrays = DFOPRegressor(features="linear", experts=own)
    dicts = river.DFOPRegressor(features="linear", experts=own)
    expected, told = arrays.predict_then_learn(X, y), []
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        row = dict(zip(names, x, strict=True))
        told.append(dicts.predict_one(row))
        dicts.learn_one(row, target)
    np.testing.assert_array_equal(told, expected)
    frames = river.DFOPRegressor(features="linear", experts=own)
    frames.learn_many(pd.DataFrame(X, columns=names), pd.Series(y))
    assert frames.predict_one(row) == dicts.predict_one(row)


def test_dicts_whose_classes_are_met_on_the_way():
    X, _ = rows(150)
    y = words(X)
    own = [Retrained(DecisionTreeClassifier(random_state=0), every=30), classifiers()[2]]
    arrays = DFOPClassifier(features="linear", experts=own)
    dicts = river.DFOPClassifier(features="linear", experts=own)
    expected, told = arrays.predict_then_learn(X, y), []
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        row = dict(zip(["x0", "x1", "x2"], x, strict=True))
        told.append(dicts.predict_one(row))
        dicts.learn_one(row, label)
    assert told[3:] == expected.tolist()[3:]  # before, the classes that will come are not known
    assert sum(dicts.predict_proba_one(row).values()) == pytest.approx(1.0)


# -- whose models are they ---------------------------------------------------------------------


def test_the_models_that_were_given_are_not_changed():
    X, y = rows()
    own = regressors()
    before = pickle.dumps(own[1])
    model = DFOPRegressor(features="linear", experts=own).fit(X, y)
    assert not hasattr(own[0], "coef_")
    assert not hasattr(own[2], "estimator_")
    assert pickle.dumps(own[1]) == before
    assert clone(model).experts[0] is not own[0]
    again = model.predict(X)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), again)  # fit starts anew


def test_a_new_list_after_the_first_row_is_refused():
    X, y = rows(50)
    model = number_model().fit(X, y)
    model.set_params(experts=None)
    with pytest.raises(ValueError, match="experts was changed"):
        model.partial_fit(X, y)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ([SGDRegressor], r"experts\[0\] is the class SGDRegressor: give an instance"),
        ([Retrained(DecisionTreeRegressor)], "has a class: give an instance"),
        ([DecisionTreeRegressor()], r"cannot be taught row by row.*dfop\.Retrained"),
        ([SGDClassifier()], "is for classification, and DFOPRegressor needs regression"),
        ([Retrained(DecisionTreeClassifier())], "is for classification"),
        ([tree.HoeffdingTreeClassifier()], "is for classification"),
        ([preprocessing.StandardScaler()], "is neither a classifier nor a regressor"),
        ([MiniBatchKMeans()], "is neither a classifier nor a regressor"),
        ([Retrained(DecisionTreeRegressor(), every=0)], r"every=0\) must be a whole number"),
        ([Retrained(DecisionTreeRegressor(), window=2.5)], r"window=2\.5\) must be a whole"),
        ([Retrained("lightgbm")], "needs a scikit-learn estimator"),
        ([42], "cannot be taught"),
        ("linear", "is no list"),
        (SGDRegressor(), "is no list"),
    ],
)
def test_what_cannot_be_an_expert_is_refused_before_any_row(own, message):
    X, y = rows(5)
    model = DFOPRegressor(experts=own)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y)
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(ValueError, match=message):
        river.DFOPRegressor(experts=own)


def test_other_refusals_say_what_to_do():
    X, y = rows(5)
    with pytest.raises(ValueError, match="needs the automatic learner"):
        DFOPRegressor(0.01, experts=regressors()).fit(X, y)
    with pytest.raises(ValueError, match="several targets"):
        number_model().fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="several targets"):
        label_model().fit(X, [["a", "c"]] * 5)
    with pytest.raises(ValueError, match="meets them on the way: give a River model"):
        river.DFOPClassifier(experts=[SGDClassifier()])
    model = DFOPClassifier(experts=[SGDClassifier()])
    with pytest.raises(ValueError, match="meets them on the way: give a River model"):
        model.partial_fit(X, words(X), classes="open")
    assert not hasattr(model, "n_features_in_")
    assert DFOPRegressor(0.01, experts=[]).fit(X, y).experts == []


def test_classes_may_be_open():
    X, _ = rows(150)
    y, own = words(X), classifiers()[2:]
    named, opened = (DFOPClassifier(features="linear", experts=own) for _ in range(2))
    expected = named.predict_then_learn(X, y)
    told = opened.predict_then_learn(X, y, classes="open")
    assert told[3:].tolist() == expected[3:].tolist()


# -- hostile ones ------------------------------------------------------------------------------


class Hostile(RegressorMixin, BaseEstimator):
    def __init__(self, how, after=50):
        self.how = how
        self.after = after

    def partial_fit(self, X, y):
        self.rows_ = getattr(self, "rows_", 0) + 1
        if self.how == "raises when taught" and self.rows_ > self.after:
            raise RuntimeError("no more")
        return self

    def predict(self, X):
        if self.how == "writes into X":
            X[:] = np.nan
            return np.zeros(len(X))
        if self.rows_ <= self.after or self.how == "raises when taught":
            return np.zeros(len(X))
        if self.how == "raises when asked":
            raise RuntimeError("no more")
        answers = {"nan": np.nan, "infinite": np.inf, "wrong shape": None, "text": "seven"}
        if self.how == "wrong shape":
            return np.zeros((len(X), 2))
        return np.array([answers[self.how]] * len(X))


HOW = ["raises when asked", "raises when taught", "nan", "infinite", "wrong shape", "text"]


@pytest.mark.parametrize("how", HOW)
def test_an_expert_that_fails_has_no_answer_and_the_stream_goes_on(how):
    X, y = rows(300)
    model = DFOPRegressor(features="linear", experts=[Hostile(how)])
    with pytest.warns(UserWarning, match="the own expert Hostile failed: it "):
        ahead = model.predict_then_learn(X, y)
    model.partial_fit(X, y)  # warned once: another one would be an error here
    silent = DFOPRegressor(features="linear").predict_then_learn(X, y)
    assert np.isfinite(ahead).all()
    assert rmse(ahead, y) < 1.02 * rmse(silent, y)
    assert np.isfinite(model.predict(X)).all()


def test_an_expert_that_writes_into_its_rows_changes_nobody_elses():
    X, y = rows(100)
    own = X.copy()
    ahead = DFOPRegressor(features="linear", experts=[Hostile("writes into X")]).fit(X, y)
    zero = DFOPRegressor(features="linear", experts=[Duck(lambda x: 0.0)]).fit(X, y)
    np.testing.assert_array_equal(X, own)
    np.testing.assert_array_equal(ahead.predict(X), zero.predict(X))


def test_an_expert_that_cannot_even_begin_is_an_error_and_nothing_is_learned():
    X, y = rows(20)
    model = DFOPRegressor(experts=[SGDRegressor(loss="no such loss")])
    with pytest.raises(ValueError, match="the expert SGDRegressor cannot learn the first rows"):
        model.partial_fit(X, y)
    assert not hasattr(model, "n_features_in_")


def test_a_warning_that_is_an_error_comes_after_everything_was_learned():
    X, y = rows(100)
    loud, silent = (DFOPRegressor(features="linear", experts=[Hostile("nan")]) for _ in range(2))
    loud.partial_fit(X[:10], y[:10])
    silent.partial_fit(X[:10], y[:10])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="failed"):
            loud.partial_fit(X[10:], y[10:])
    with pytest.warns(UserWarning, match="failed"):
        silent.partial_fit(X[10:], y[10:])
    np.testing.assert_array_equal(loud.predict(X), silent.predict(X))


def test_a_label_that_nobody_knows_is_no_answer():
    class Stranger(Recorder):
        def predict(self, X):
            return np.repeat("stranger", len(X))

    X, _ = rows(60)
    y = words(X)
    with pytest.warns(UserWarning, match="it answered 'stranger', which is none of the classes"):
        ahead = DFOPClassifier(features="linear", experts=[Stranger()]).predict_then_learn(X, y)
    silent = DFOPClassifier(features="linear").predict_then_learn(X, y)
    assert set(ahead) <= {"down", "far", "up"}
    assert abs(np.mean(ahead == y) - np.mean(silent == y)) < 0.05


def test_bad_rows_leave_own_experts_as_they_were():
    X, y = rows(60)
    model = number_model().fit(X, y)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="y"):
        model.partial_fit(X[:2], [1.0, np.nan])
    with pytest.raises(ValueError, match="X"):
        model.partial_fit([[1.0, 2.0, np.inf]], [1.0])
    np.testing.assert_array_equal(model.predict_then_learn(X, y), before.predict_then_learn(X, y))
