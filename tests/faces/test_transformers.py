"""Transformers as features: what they make of rows must be a table of one width."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from dfop import DFOPClassifier, DFOPRegressor
from model_state import refused

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] - X[:, 1]
FACES = {DFOPRegressor: Y, DFOPClassifier: (Y > 0).astype(int)}
NO_TABLES = {
    "one feature without a table": (lambda A: A[:, 0], ["shape (1,) of 1 row", "A[:, :1]"]),
    "a number": (np.sum, ["shape () of 1 row"]),
    "no columns": (lambda A: A[:, :0], ["shape (1, 0) of 1 row"]),
    "fewer rows": (lambda A: A[1:], ["shape (0, 3) of 1 row"]),
    "more rows than came": (lambda A: np.repeat(A, 2, axis=0), ["shape (2, 3) of 1 row"]),
    "as many columns as rows": (lambda A: A @ A.T, ["40 columns of 40 rows", "1 of the first"]),
    "one row of all": (lambda A: A[:1], ["shape (1, 3) of 40 rows"]),
    "sparse rows": (csr_array, ["sparse", "sparse_output=False"]),
}  # fmt: skip


def first_of(face):
    return {} if face is DFOPRegressor else {"classes": [0, 1]}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("forgetting", ["auto", 0.01])
@pytest.mark.parametrize("name", NO_TABLES)
def test_what_is_no_table_of_one_width_is_refused_with_the_remedy(face, forgetting, name):
    function, fragments = NO_TABLES[name]
    model = face(forgetting, features=FunctionTransformer(function))
    refused(model, lambda m: m.fit(X, FACES[face]), "features=FunctionTransformer", *fragments)


@pytest.mark.parametrize("face", FACES)
def test_a_width_that_shows_itself_later_is_refused_too(face):
    model = face(features=FunctionTransformer(lambda A: A @ A.T))
    model.partial_fit(X[:1], FACES[face][:1], **first_of(face))
    says = "makes 40 columns of 40 rows and 1 of the first row"
    refused(model, lambda m: m.predict(X), says)
    refused(model, lambda m: m.partial_fit(X, FACES[face]), says)
    assert len(model.predict(X[:1])) == 1


@pytest.mark.parametrize("face", FACES)
def test_one_feature_as_a_table_is_learned(face):
    one = face(0.0, features=FunctionTransformer(lambda A: A[:, :1])).fit(X, FACES[face])
    by_hand = face(0.0).fit(X[:, :1], FACES[face])
    assert (one.predict(X) == by_hand.predict(X[:, :1])).all()


def test_the_remedy_for_too_many_columns_works():
    wide = PolynomialFeatures(6)
    rows, y = RNG.normal(size=(20, 12)), RNG.normal(size=20)
    with pytest.raises(ValueError, match="makes 18564 columns of 12, more than 5000") as caught:
        DFOPRegressor(features=wide).fit(rows, y)
    advice = re.search(r'forgetting=([0-9.]+), features="(\w+)", storage=(\d+)', str(caught.value))
    model = DFOPRegressor(
        forgetting=float(advice[1]), features=advice[2], storage=int(advice[3])
    ).fit(wide.fit_transform(rows), y)
    assert model.n_features_in_ == 18564
