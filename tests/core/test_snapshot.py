"""A compiled part as it is now, kept to be pickled or copied later."""

import copy
import pickle

import numpy as np
import pytest

from dfop.core import Filter, Snapshot


@pytest.fixture
def filter_(rng):
    made = Filter(3, 1, True, 1.0, 1e6)
    learn(made, rng)
    return made


def learn(filter_, rng):
    one = np.ones(1)
    filter_.learn(rng.normal(size=(20, 3)), rng.normal(size=(20, 1)), one, one, np.empty((20, 1)))


WAYS = {
    "pickled": lambda s: pickle.loads(pickle.dumps(s)),
    "copied": copy.deepcopy,
    "restored": Snapshot.restore,
}


@pytest.mark.parametrize("way", WAYS)
def test_it_becomes_the_part_as_it_was(way, filter_, rng):
    snapshot, before = Snapshot(filter_), filter_.state()
    learn(filter_, rng)
    again = WAYS[way](snapshot)
    assert isinstance(again, Filter)
    for name, value in before.items():
        np.testing.assert_array_equal(again.state()[name], value)
    assert any(np.any(filter_.state()[name] != value) for name, value in before.items())


def test_two_parts_of_one_snapshot_learn_apart(filter_, rng):
    snapshot = Snapshot(filter_)
    first, second = snapshot.restore(), snapshot.restore()
    learn(first, rng)
    for name, value in filter_.state().items():
        np.testing.assert_array_equal(second.state()[name], value)
