"""How many rows of a key may wait for their label: as many as of a model of its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop import DFOPRegressor, Keyed

LIMIT = 3


def waits(model, name):
    """Whether a label can be brought: a model of its own says so of each row."""
    try:
        model.forget_pending([name])
    except ValueError:
        return False
    return True


@pytest.mark.filterwarnings("ignore:.*rows were given up:UserWarning")
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), cuts=st.lists(st.integers(1, 59), max_size=4, unique=True))
def test_the_limit_is_that_of_every_key_however_rows_are_cut(seed, cuts):
    rng = np.random.default_rng(seed)
    key, X, y = rng.integers(4, size=60), rng.normal(size=(60, 2)), rng.normal(size=60)
    keyed = Keyed(DFOPRegressor(0.05, pending_limit=LIMIT))
    apart = {k: DFOPRegressor(0.05, pending_limit=LIMIT) for k in range(4)}
    for part in np.split(np.arange(60), sorted(cuts)):
        ahead = keyed.predict_pending(key[part], X[part], part.tolist())
        for t, found in zip(part, ahead, strict=True):
            assert found == apart[key[t]].predict_pending(X[t : t + 1], [int(t)])[0]
        if rng.random() < 0.5:
            keyed = Keyed.from_bytes(keyed.to_bytes())
        some = [name for name in keyed.pending_ if rng.random() < 0.3]
        for name in some:
            keyed.learn_pending([name], y[[name]])
            apart[key[name]].learn_pending([name], y[[name]])
    waiting = keyed.pending_
    assert max(np.bincount(key[waiting])) <= LIMIT
    for t in range(60):
        assert waits(apart[key[t]], t) == (t in waiting)


def test_rows_of_a_model_that_is_gone_cost_no_row_of_the_next_and_have_a_bound():
    one = Keyed(DFOPRegressor(0.05)).partial_fit([0], [[1.0]], [1.0]).bytes_per_key_
    keyed = Keyed(DFOPRegressor(0.05, pending_limit=LIMIT), memory_limit=one)  # a place for one
    for k in range(5):
        keyed.predict_pending([k] * LIMIT, np.ones((LIMIT, 1)), [f"{k} {t}" for t in range(LIMIT)])
    assert keyed.pending_[-LIMIT:] == ["4 0", "4 1", "4 2"]
    assert len(keyed.pending_) == 2 * LIMIT  # and the last of all models that are gone
    assert keyed.expired_rows_ == 3 * LIMIT
    keyed.learn_pending(keyed.pending_, np.ones(2 * LIMIT))
    assert keyed.expired_rows_ == 4 * LIMIT
    learned = DFOPRegressor(0.05)
    learned.predict_pending(np.ones((LIMIT, 1)), range(LIMIT))
    learned.learn_pending(range(LIMIT), np.ones(LIMIT))
    assert keyed[4].coef_ == pytest.approx(learned.coef_, abs=0)
