"""Whatever comes in, models by key stay finite, are those of models apart, and are kept."""

import numpy as np
import pytest
from corpus import STREAMS, generate

from dfop import DFOPClassifier, DFOPRegressor, Keyed

ROWS, KEYS = 900, 3


@pytest.mark.parametrize("forgetting", ["few", 0.01])
@pytest.mark.parametrize("name", STREAMS)
def test_a_hostile_stream_by_key_is_survived(name, forgetting):
    given = generate(name)
    n = len(given.y)
    keep = np.arange(n) if n <= ROWS else np.r_[: ROWS // 2, n - ROWS // 2 : n]
    X, y = np.ascontiguousarray(given.X[keep, :20]), given.y[keep]
    key = np.random.default_rng(0).integers(0, KEYS, len(y))
    keyed = Keyed(DFOPRegressor(forgetting))
    ahead = np.concatenate(
        [keyed.predict_then_learn(key[t], X[t], y[t])
         for t in np.array_split(np.arange(len(y)), min(5, len(y)))]
    )  # fmt: skip
    assert np.isfinite(ahead).all()
    for k in np.unique(key):
        alone = DFOPRegressor(forgetting)
        np.testing.assert_array_equal(
            ahead[key == k], alone.predict_then_learn(X[key == k], y[key == k])
        )
    again = Keyed.from_bytes(keyed.to_bytes())
    np.testing.assert_array_equal(again.predict(key, X), keyed.predict(key, X))


@pytest.mark.parametrize("name", STREAMS)
def test_labels_of_a_hostile_stream_by_key(name):
    given = generate(name)
    X, y = np.ascontiguousarray(given.X[:ROWS, :20]), given.y[:ROWS]
    labels = np.digitize(y, [-1.0, 1.0])
    key = np.random.default_rng(0).integers(0, KEYS, len(y))
    told = {"classes": [0, 1, 2]}
    keyed = Keyed(DFOPClassifier(0.01))
    ahead = keyed.predict_then_learn(key, X, labels, **told)
    assert np.isfinite(keyed.predict_proba(key, X)).all()
    for k in np.unique(key):
        alone, rows = DFOPClassifier(0.01), key == k
        np.testing.assert_array_equal(
            ahead[rows], alone.predict_then_learn(X[rows], labels[rows], **told)
        )
