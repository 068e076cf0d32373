"""The default above 1,000 columns: sketches stand for the linear filters."""

import numpy as np

from dfop import DFOPRegressor, from_bytes, to_bytes
from dfop.engines.design import SKETCHED


def wide_rows(rng, n=150):
    X = rng.normal(size=(n, SKETCHED + 1)) * (rng.random((n, SKETCHED + 1)) < 0.05)
    return X, X[:, :50].sum(axis=1)


def test_sketches_stand_for_filters_of_the_features(rng):
    X, y = wide_rows(rng, n=5)
    kinds = [expert.kind for expert in DFOPRegressor().fit(X, y).experts_]
    assert kinds.count("sketch") == 3
    narrow = [expert.kind for expert in DFOPRegressor().fit(X[:, :-1], y).experts_]
    assert "sketch" not in narrow
    seen = [expert.features for expert in DFOPRegressor().fit(X, y).experts_]
    assert "the features" not in seen


def test_splits_and_files_change_no_bit(rng):
    X, y = wide_rows(rng)
    whole = DFOPRegressor().predict_then_learn(X, y)
    model = DFOPRegressor()
    first = model.predict_then_learn(X[:70], y[:70])
    model = from_bytes(to_bytes(model))
    assert np.array_equal(whole, np.concatenate([first, model.predict_then_learn(X[70:], y[70:])]))
    assert 0.0 <= model.forgetting_ < 1.0
