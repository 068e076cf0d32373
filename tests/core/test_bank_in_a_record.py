"""A bank of linear filters in a row of numbers, as a store of many keeps it."""

import numpy as np
import pytest

from dfop import DFOPRegressor
from dfop.core import KeyedStore


def bank(**given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return DFOPRegressor(**given).fit(X, X[:, 0] + rng.normal(size=300))._model.engine


def store(engine):
    return KeyedStore(engine, None, False, False, False, 0, 0.0, 0.0)


def test_every_number_is_that_of_the_bank_but_the_pieces_of_its_errors():
    alone, n = bank(forgetting="few"), 200
    held = store(alone)  # of which every key of the store begins
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(n, 4)), rng.normal(size=(n, 1))
    key, entries, fresh = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.uint8)
    held.place(key, None, entries, fresh, np.zeros(n))
    shown, expected = np.zeros((n, 1)), np.zeros((n, 1))
    held.learn(entries, fresh, X, Y, (np.ones(1), np.zeros(1)), (shown, np.zeros((n, 0), np.int32)))
    alone.learn(X, Y, np.ones(1), np.zeros(1), expected)
    np.testing.assert_array_equal(shown, expected)
    kept, state = held.engine(0).state(), alone.state()
    assert kept.keys() == state.keys()
    pieces = {"errors/length", "errors/history", "errors/open", "errors/open_rows"}
    for name in kept.keys() - pieces:
        np.testing.assert_array_equal(kept[name], state[name], err_msg=name)


@pytest.mark.parametrize("given", [{}, {"features": "rff"}, {"features": "poly"}])
def test_a_bank_with_more_than_straight_filters_is_refused(given):
    with pytest.raises(ValueError, match="linear filters alone"):
        store(bank(**given))


def test_a_bank_that_had_late_labels_is_no_beginning():
    model = DFOPRegressor("few")
    X = np.random.default_rng(0).normal(size=(50, 4))
    model.predict_pending(X, range(50))
    model.learn_pending(range(50), X[:, 0])
    with pytest.raises(ValueError, match="linear filters alone"):
        store(model._model.engine)
