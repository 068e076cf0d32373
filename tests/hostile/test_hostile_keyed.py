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


@pytest.mark.parametrize("forgetting", ["few", 0.01])
@pytest.mark.parametrize("name", STREAMS)
def test_labels_of_a_hostile_stream_by_key(name, forgetting):
    given = generate(name)
    X, y = np.ascontiguousarray(given.X[:ROWS, :20]), given.y[:ROWS]
    labels = np.digitize(y, [-1.0, 1.0])
    key = np.random.default_rng(0).integers(0, KEYS, len(y))
    told = {"classes": [0, 1, 2]}
    keyed = Keyed(DFOPClassifier(forgetting))
    ahead = keyed.predict_then_learn(key, X, labels, **told)
    assert np.isfinite(keyed.predict_proba(key, X)).all()
    for k in np.unique(key):
        alone, rows = DFOPClassifier(forgetting), key == k
        np.testing.assert_array_equal(
            ahead[rows], alone.predict_then_learn(X[rows], labels[rows], **told)
        )


LATE = 7


@pytest.mark.parametrize("forgetting", ["few", 0.01])
@pytest.mark.parametrize("name", STREAMS)
def test_late_labels_of_a_hostile_stream_by_key(name, forgetting):
    """Each label comes with the seventh row of its key after its own."""
    given = generate(name)
    X, y = np.ascontiguousarray(given.X[:300, :10]), given.y[:300]
    key = np.random.default_rng(0).integers(0, KEYS, len(y))
    keyed, waiting = Keyed(DFOPRegressor(forgetting)), {k: [] for k in range(KEYS)}
    alone = {k: DFOPRegressor(forgetting) for k in range(KEYS)}
    for t, k in enumerate(key.tolist()):
        now = keyed.predict_pending([k], X[[t]], [t])
        assert np.isfinite(now).all()
        np.testing.assert_array_equal(now, alone[k].predict_pending(X[[t]], [t]))
        waiting[k].append(t)
        if len(waiting[k]) > LATE:
            due = waiting[k].pop(0)
            for model in (keyed, alone[k]):
                model.learn_pending([due], y[[due]])
        if t % 100 == 50:
            keyed = Keyed.from_bytes(keyed.to_bytes())
