"""As many keys as are promised, ten million: each is a model of its own, and none takes more."""

import os
from pathlib import Path

import numpy as np
import pytest

from dfop import DFOPRegressor, Keyed

KEYS, ROUNDS, BATCH = 10_000_000, 2, 1_000_000


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_ten_million_keys_are_models_apart_and_take_what_they_say():
    rng = np.random.default_rng(0)
    keyed, order, before = Keyed(DFOPRegressor(0.1)), rng.permutation(KEYS), resident()
    watched = np.sort(rng.choice(KEYS, 50, replace=False))
    apart = {key: DFOPRegressor(0.1) for key in watched.tolist()}
    for _ in range(ROUNDS):
        for start in range(0, KEYS, BATCH):
            keys = order[start : start + BATCH]
            X = rng.normal(size=(BATCH, 1))
            y = (keys % 7) * X[:, 0]
            ahead = keyed.predict_then_learn(keys, X, y)
            for t in np.flatnonzero(np.isin(keys, watched)).tolist():
                one = apart[int(keys[t])]
                assert ahead[t] == one.predict_then_learn(X[t : t + 1], y[t : t + 1])[0]
    assert len(keyed) == KEYS
    for key, one in apart.items():
        np.testing.assert_array_equal(keyed[key].coef_, one.coef_)
    assert keyed.memory_bytes_ <= 1.3 * KEYS * keyed.bytes_per_key_
    assert resident() - before <= 1.3 * KEYS * keyed.bytes_per_key_ + 64 * BATCH + 8 * KEYS
