"""`dfop.Retrained`: trained anew every so many rows on the last ones."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from dfop import Retrained


def rows(n=100, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, X[:, 0] * X[:, 1]


def test_it_is_the_estimator_fitted_to_the_last_rows_when_it_was_due():
    X, y = rows()
    model = Retrained(DecisionTreeRegressor(random_state=0), every=20, window=50)
    for t in range(95):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    expected = DecisionTreeRegressor(random_state=0).fit(X[30:80], y[30:80])
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert model.rows_to_training == 5


@pytest.mark.parametrize("cut", [1, 7, 20, 33, 95])
def test_it_does_not_matter_how_rows_are_cut_into_calls(cut):
    X, y = rows(95)
    model = Retrained(DecisionTreeRegressor(random_state=0), every=20, window=50)
    for start in range(0, 95, cut):
        model.partial_fit(X[start : start + cut], y[start : start + cut])
    expected = DecisionTreeRegressor(random_state=0).fit(X[30:80], y[30:80])
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def test_before_it_is_trained_it_says_the_mean_or_the_most_frequent_class():
    X, y = rows(5)
    with pytest.raises(NotFittedError):
        Retrained(LinearRegression()).predict(X)
    np.testing.assert_allclose(Retrained(LinearRegression()).fit(X, y).predict(X), y.mean())
    labels = ["b", "a", "b", "b", "a"]
    model = Retrained(DecisionTreeClassifier()).fit(X, labels)
    assert model.predict(X).tolist() == ["b"] * 5
    np.testing.assert_allclose(model.predict_proba(X), [[0.4, 0.6]] * 5)
    assert model.classes_.tolist() == ["a", "b"]


def test_a_window_of_one_class_needs_no_training():
    class Refusing(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            if len(set(y)) < 2:
                raise ValueError("needs two classes")
            return super().fit(X, y, sample_weight=sample_weight)

    X, _ = rows(20)
    model = Retrained(Refusing(random_state=0), every=5, window=5)
    model.partial_fit(X[:10], ["a"] * 10)
    assert model.predict(X).tolist() == ["a"] * 20
    model.partial_fit(X[10:15], ["a", "b", "a", "b", "b"])
    assert set(model.predict(X)) == {"a", "b"}


def test_columns_may_be_added():
    X, y = rows(40)
    model = Retrained(LinearRegression(), every=20, window=40)
    model.partial_fit(X[:20, :1], y[:20])
    np.testing.assert_allclose(  # what it was not trained on has no part
        model.predict(X), LinearRegression().fit(X[:20, :1], y[:20]).predict(X[:, :1])
    )
    model.partial_fit(X[20:], y[20:])
    wide = X.copy()
    wide[:20, 1] = 0.0
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(wide, y).predict(X))


def test_weights_are_for_the_estimator():
    X, y = rows(20)
    w = np.linspace(0.1, 2.0, 20)
    model = Retrained(LinearRegression(), every=20).fit(X, y, sample_weight=w)
    expected = LinearRegression().fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.predict(X), expected.predict(X))


def test_it_keeps_no_more_rows_than_its_window():
    X, y = rows(100)
    model = Retrained(LinearRegression(), every=10, window=30)
    sizes = []
    for _ in range(4):
        model.partial_fit(X, y)
        sizes.append(len(pickle.dumps(model)))
    assert max(sizes) < sizes[0] + 100  # a row is more
    assert all(row.base is None for row in model._rows)  # nor the calls that they came with


def test_it_is_a_good_citizen_of_scikit_learn():
    model = Retrained(DecisionTreeClassifier(max_depth=2), every=7)
    assert clone(model).get_params()["estimator__max_depth"] == 2
    assert is_classifier(model)
    assert is_regressor(Retrained(LinearRegression()))
    assert not hasattr(Retrained(LinearRegression()), "predict_proba")
    X, y = rows(20)
    given = LinearRegression()
    Retrained(given, every=5).fit(X, y)
    assert not hasattr(given, "coef_")
    with pytest.raises(ValueError, match="not one y a row"):
        Retrained(given).fit(X, y[:3])
