"""Whatever comes in, parts of it merge to the learner of the whole, or are refused."""

import numpy as np
import pytest
from corpus import STREAMS, generate

from dfop import DFOPRegressor, Information, LimitError

MOST, PARTS = 3000, 7


@pytest.mark.parametrize("mu", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("name", STREAMS)
def test_a_hostile_stream_in_parts(name, mu):
    given = generate(name)
    X, y = np.ascontiguousarray(given.X[:MOST, :20]), given.y[:MOST]
    rows = np.array_split(np.arange(len(y)), PARTS)
    merged = Information.from_data(X[rows[0]], y[rows[0]], mu)
    for some in rows[1:]:
        merged = merged.then(Information.from_data(X[some], y[some], mu))
    merged = Information.from_bytes(merged.to_bytes())
    try:
        learner = merged.to_learner()
    except LimitError:
        assert merged.limited
        return
    ahead, expected = learner.predict(X), DFOPRegressor(mu).fit(X, y).predict(X)
    assert np.isfinite(ahead).all()
    size = max(1.0, np.abs(y).max(), np.abs(expected).max())
    assert np.abs(ahead - expected).max() <= 1e-9 * size
