"""Rows with text and gaps, coded once for the models of all keys."""

import numpy as np
import pandas as pd
import pytest

from dfop import DFOPClassifier, DFOPRegressor, Keyed
from dfop.core import Coder


def frame(n=500, keys=12, seed=0):
    rng = np.random.default_rng(seed)
    size, weight = rng.normal(size=(2, n))
    color = rng.choice(["red", "blue", "green"], n).astype(object)
    y = size + 0.5 * weight + np.where(color == "red", 1.0, -1.0) + 0.1 * rng.normal(size=n)
    size[rng.random(n) < 0.1] = np.nan
    color[rng.random(n) < 0.1] = None
    X = pd.DataFrame({"size": size, "color": color, "weight": weight})
    return rng.integers(0, keys, n), X, y


def by_hand(X):
    """Code all rows with one coder, row by row, as wide as they are in the end."""
    coder, rows = Coder(), []
    values = {"red": 0, "blue": 1, "green": 2}
    for size, color, weight in X.itertuples(index=False):
        numbers = np.array([[size, 0.0, weight]])
        code = -1 if color is None or color != color else values[color]
        texts = {1: (np.array([code]), list(values))}
        rows.append(coder.code(numbers, texts, range(3), np.ones(1))[0][0])
    return np.array([np.pad(row, (0, coder.width - len(row))) for row in rows])


@pytest.mark.parametrize("pieces", [1, 7, 500])
def test_models_are_those_of_rows_that_one_coder_coded(pieces):
    key, X, y = frame()
    coded = by_hand(X)
    keyed, numbers = Keyed(DFOPRegressor(0.01)), Keyed(DFOPRegressor(0.01))
    parts = np.array_split(np.arange(len(y)), pieces)
    ahead = np.concatenate([keyed.predict_then_learn(key[t], X.iloc[t], y[t]) for t in parts])
    whole = Keyed(DFOPRegressor(0.01))
    np.testing.assert_array_equal(ahead, whole.predict_then_learn(key, X, y))  # however cut
    # columns that come later were 0 before, but are added up in another order
    np.testing.assert_allclose(ahead, numbers.predict_then_learn(key, coded, y), atol=1e-11)
    assert keyed[3].coded_names_.tolist()[0] == "size"
    np.testing.assert_allclose(keyed[3].coef_, numbers[3].coef_, atol=1e-11)
    again = keyed[3].predict(X.iloc[:20])
    np.testing.assert_array_equal(keyed.predict([3] * 20, X.iloc[:20]), again)
    assert np.mean((ahead - y)[-200:] ** 2) < 0.5 * np.var(y)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("labels", [False, True])
def test_bytes_and_splits_hold_with_text_and_gaps(shared, late, labels):
    key, X, y = frame(240)
    design, given = DFOPRegressor(0.01), {}
    if labels:
        y, design, given = np.where(y > 0, "up", "down"), DFOPClassifier(0.01), {
            "classes": ["down", "up"]
        }  # fmt: skip

    def learn(keyed, t):
        if not late:
            return keyed.predict_then_learn(key[t], X.iloc[t], y[t], **given).tolist()
        ahead = keyed.predict_pending(key[t], X.iloc[t], t.tolist(), **given)
        if t[0] >= 60:
            due = t - 60
            keyed.learn_pending(due.tolist(), y[due])
        return ahead.tolist()

    rows = np.arange(240)
    keyed = Keyed(design, shared=shared)
    twin = Keyed(design, shared=shared)
    for t in rows.reshape(12, 20):
        assert learn(keyed, t) == learn(twin, t)
        twin = Keyed.from_bytes(twin.to_bytes())
    assert twin.to_bytes() == keyed.to_bytes()


def test_a_text_where_numbers_were_is_refused_and_changes_nothing():
    key, X, y = frame(60)
    keyed = Keyed(DFOPRegressor(0.01), shared=True).partial_fit(key, X, y)
    before = keyed.to_bytes()
    bad = X.astype({"weight": object})
    bad.loc[5, "weight"] = "heavy"
    for call in (lambda: keyed.partial_fit(key, bad, y), lambda: keyed.predict(key, bad)):
        with pytest.raises(ValueError, match="heavy"):
            call()
    assert keyed.to_bytes() == before


def test_wide_texts_make_a_key_dearer_and_the_memory_limit_holds():
    rng = np.random.default_rng(1)
    key = rng.integers(0, 50, 400)
    X = pd.DataFrame({"word": [f"w{k}" for k in rng.integers(0, 30, 400)]})
    each, some = (Keyed(DFOPRegressor(0.01), memory_limit=200_000) for _ in range(2))
    some.partial_fit(key, X, key)
    for t in range(400):
        each.partial_fit(key[t : t + 1], X.iloc[t : t + 1], key[t : t + 1])
    assert len(some) * some.bytes_per_key_ <= 200_000
    assert some.evicted_ == each.evicted_ > 0
    assert some.to_bytes() == each.to_bytes()
