"""Whatever comes in, a sketch stays finite, dense or sparse, and its state can be saved."""

import numpy as np
import pytest
from corpus import STREAMS, generate
from scipy import sparse

from dfop import DFOPRegressor, from_bytes, to_bytes

MOST = 3000


@pytest.mark.parametrize(
    ("mu", "guarantee"),
    [(0.0, False), (0.01, False), (0.5, False), (0.0, True), (0.01, True), (0.5, True)],
)
@pytest.mark.parametrize("name", STREAMS)
def test_a_hostile_stream_is_survived(name, mu, guarantee):
    given = generate(name)
    X, y = given.X[:MOST], given.y[:MOST]
    arguments = {key: value[:MOST] for key, value in given.arguments.items()}
    model = DFOPRegressor(mu, storage=2, guarantee=guarantee)
    ahead = model.predict_then_learn(X, y, **arguments)
    assert np.isfinite(ahead).all()
    state = model.__dfop_model__().engine.state()
    assert all(np.isfinite(values).all() for values in state.values())
    assert np.isfinite(model.coef_).all()
    assert np.array_equal(from_bytes(to_bytes(model)).predict(X[:10]), model.predict(X[:10]))
    by_nonzeros = DFOPRegressor(mu, storage=2, guarantee=guarantee)
    again = by_nonzeros.predict_then_learn(sparse.csr_array(X), y, **arguments)
    assert np.allclose(again, ahead, rtol=1e-9, atol=0.0)
