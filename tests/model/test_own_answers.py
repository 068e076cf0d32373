"""What own experts answer: what is no number, no probabilities or no class counts as no answer."""

import datetime
import itertools
import warnings

import numpy as np
import pytest
from river import base
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from dfop import DFOPClassifier, DFOPRegressor, Retrained

N = 240
CUTS = [0, 1, 7, 63, 64, 65, 130, N]


def rows(seed=0):
    X = np.random.default_rng(seed).uniform(-1, 1, size=(N, 3))
    return X, X[:, 0] - X[:, 1]


def bad(x):
    """Every third row or so."""
    return x[2] > 0.4


def words(y):
    return np.where(y > 0, "up", "down")


class Number(RegressorMixin, BaseEstimator):
    """Right, but of bad rows it answers `wrong`."""

    def __init__(self, wrong):
        self.wrong = wrong

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def partial_fit(self, X, y):
        return self.fit(X, y)

    def predict(self, X):
        if isinstance(self.wrong, Exception) and any(map(bad, X)):
            raise self.wrong
        told = np.empty(len(X), object)  # each answer keeps its type
        told[:] = [self.wrong if bad(x) else x[0] - x[1] for x in X]
        return told


class Label(ClassifierMixin, BaseEstimator):
    """Right, but of bad rows it answers `wrong`."""

    def __init__(self, wrong):
        self.wrong = wrong

    def fit(self, X, y, classes=None):
        self.classes_ = np.unique(y) if classes is None else classes
        return self

    def partial_fit(self, X, y, classes=None):
        self.classes_ = getattr(self, "classes_", classes)
        return self

    def predict(self, X):
        told = np.empty(len(X), object)
        told[:] = [self.wrong if bad(x) else str(words(x[0] - x[1])) for x in X]
        return told


class Probable(Label):
    """The same with probabilities."""

    def predict_proba(self, X):
        up = np.array([x[0] - x[1] > 0 for x in X])
        p = np.column_stack([~up, up]).astype(np.float64)
        wrong = np.asarray(self.wrong, np.float64)
        if len(wrong) != 2:
            return np.tile(wrong, (len(X), 1))
        p[[bad(x) for x in X]] = wrong
        return p


class Named(Probable):
    """The same by names of classes that nobody knows."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def partial_fit(self, X, y, classes=None):
        return self


class RiverLabel(base.Classifier):
    """The same from River; `wrong` is what it tells of bad rows."""

    def __init__(self, wrong):
        self.wrong = wrong

    def learn_one(self, x, y):
        pass

    def predict_proba_one(self, x):
        up = float(x["x0"] > x["x1"])
        return self.wrong if x["x2"] > 0.4 else {"up": up, "down": 1.0 - up}


class RiverNumber(base.Regressor):
    def __init__(self, wrong):
        self.wrong = wrong

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return self.wrong if x["x2"] > 0.4 else x["x0"] - x["x1"]


def in_parts(make, X, y):
    """Return what is predicted for any split, and what was warned of."""
    told, warned = [], []
    for cuts in ([0, N], CUTS, range(N + 1)):
        model = make()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            parts = [
                model.predict_then_learn(X[a:b], y[a:b], **first(make, a))
                for a, b in itertools.pairwise(cuts)
            ]
        told.append((np.concatenate(parts), model))
        warned.append([str(w.message) for w in caught])
    assert warned[0] == warned[1] == warned[2]  # one warning, the same for any split
    for predicted, model in told[1:]:
        np.testing.assert_array_equal(predicted, told[0][0])
        shown = "decision_function" if hasattr(model, "decision_function") else "predict"
        np.testing.assert_array_equal(getattr(model, shown)(X), getattr(told[0][1], shown)(X))
    return told[0], warned[0]


def first(make, a):
    return {"classes": ["down", "up"]} if make().__class__ is DFOPClassifier and not a else {}


WRONG_NUMBERS = [
    (np.nan, "it answered nan"),
    (np.inf, "it answered inf"),
    (np.datetime64("2020-01-01"), "which is no number"),
    (datetime.datetime(2020, 1, 1), "it answered 2020-01-01 00:00:00, which is no number"),
    (np.timedelta64(3, "s"), "which is no number"),
    ("1.5", "it answered '1.5', which is no number"),
    (1.5 + 2.0j, "which is no number"),
]


@pytest.mark.parametrize("retrained", [False, True])
@pytest.mark.parametrize(("wrong", "message"), WRONG_NUMBERS)
def test_what_is_no_number_is_no_answer_to_its_row(wrong, message, retrained):
    X, y = rows()

    def model(wrong):
        own = Number(wrong)
        own = Retrained(own, every=30) if retrained else own
        return DFOPRegressor(features="linear", experts=[own])

    (told, _), warned = in_parts(lambda: model(wrong), X, y)
    assert len(warned) == 1
    assert "Number" in warned[0]
    assert message in warned[0]
    (raising, _), _ = in_parts(lambda: model(ValueError("no answer")), X, y)
    np.testing.assert_array_equal(told, raising)  # as if it had raised there, and only there


@pytest.mark.parametrize("wrong", [np.datetime64("2020-01-01"), "1.5", 1.5 + 2.0j])
def test_arrays_of_dates_text_and_complex_numbers_are_no_answer(wrong):
    X, y = rows()

    class Whole(Number):
        def predict(self, X):
            return np.array([self.wrong] * len(X))

    with pytest.warns(UserWarning, match="Whole failed: it answered .*, which is no number"):
        ahead = DFOPRegressor(features="linear", experts=[Whole(wrong)]).predict_then_learn(X, y)
    silent = DFOPRegressor(features="linear").predict_then_learn(X, y)
    np.testing.assert_allclose(ahead[50:], silent[50:], atol=0.05)


WRONG_LABELS = [
    (float("nan"), "it answered nan, which is none of the classes"),
    ("sideways", "it answered 'sideways', which is none of the classes"),
    (1, "it answered 1, which is none of the classes"),
    (["up"], r"it answered ['up'], which is none of the classes"),
]


class Raising(Label):
    """Raises where others answer what is wrong."""

    def predict(self, X):
        if any(map(bad, X)):
            raise ValueError("no answer")
        return super().predict(X)


@pytest.mark.parametrize("retrained", [False, True])
@pytest.mark.parametrize(
    ("own", "message"),
    [(Label(wrong), message) for wrong, message in WRONG_LABELS]
    + [
        (Probable([np.nan, 1.0]), "it answered the probabilities [nan, 1.0], which are not all"),
        (Probable([-0.5, 1.5]), "it answered the probabilities [-0.5, 1.5], which are not all"),
        (Probable([0.0, 7.0]), "which are not all from 0 to 1"),
    ],
)
def test_what_is_no_class_and_no_probability_is_no_answer_to_its_row(own, message, retrained):
    X, y = rows()

    def model(own):
        own = Retrained(own, every=30) if retrained else own
        return DFOPClassifier(features="linear", experts=[own])

    (told, learned), warned = in_parts(lambda: model(own), X, words(y))
    assert len(warned) == 1
    assert message in warned[0]
    assert type(own).__name__ in warned[0]
    (_, raising), _ = in_parts(lambda: model(Raising(None)), X, words(y))
    np.testing.assert_array_equal(learned.decision_function(X), raising.decision_function(X))
    assert np.mean(told[50:] == words(y)[50:]) > 0.9


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (Probable([-7.0] * 5), r"it answered with the shape (1, 5), not (1, 2)"),
        (Probable([1.0]), r"it answered with the shape (1, 1), not (1, 2)"),
        (Probable([]), r"it answered with the shape (1, 0), not (1, 2)"),
        (Named([0.5, 0.5]), "which is none of the classes"),
    ],
)
def test_probabilities_of_other_classes_are_no_answer(own, message):
    X, y = rows()
    (_, learned), warned = in_parts(
        lambda: DFOPClassifier(features="linear", experts=[own]), X, words(y)
    )
    assert len(warned) == 1
    assert message in warned[0]
    silent = DFOPClassifier(features="linear").fit(X, words(y))
    assert np.mean(learned.predict(X) == silent.predict(X)) > 0.95


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (RiverLabel({True: 0.7, False: 0.3}), "it answered True, which is none of the classes"),
        (RiverLabel({"up": -1.0}), "which are not all from 0 to 1"),
        (RiverLabel({"up": "1.0"}), "it answered '1.0', which is no number"),
        (RiverLabel({}), "it answered {}, which is no dict of probabilities"),
        (RiverLabel([0.5, 0.5]), "it answered [0.5, 0.5], which is no dict of probabilities"),
    ],
)
def test_rivers_wrong_probabilities_are_no_answer(own, message):
    X, y = rows()
    (told, _), warned = in_parts(
        lambda: DFOPClassifier(features="linear", experts=[own]), X, words(y)
    )
    assert len(warned) == 1
    assert message in warned[0]
    assert np.mean(told[50:] == words(y)[50:]) > 0.9


@pytest.mark.parametrize("wrong", ["1.5", None, 1j, [1.0, 2.0]])
def test_rivers_wrong_numbers_are_no_answer(wrong):
    X, y = rows()
    (told, _), warned = in_parts(
        lambda: DFOPRegressor(features="linear", experts=[RiverNumber(wrong)]), X, y
    )
    assert len(warned) == 1
    assert "RiverNumber failed: it answered " in warned[0]
    assert np.abs(told[50:] - y[50:]).max() < 0.1


def test_a_class_that_was_named_and_not_met_yet_is_an_answer():
    X, y = rows()
    model = DFOPClassifier(features="linear", experts=[Label("sideways")])
    model.partial_fit(X, words(y), classes=["down", "sideways", "up"])  # a warning were an error


def test_rounding_is_no_wrong_probability():
    X, y = rows()
    model = DFOPClassifier(features="linear", experts=[Probable([-1e-8, np.float32(1.0000001)])])
    model.partial_fit(X, words(y), classes=["down", "up"])  # a warning were an error
