"""Rows with text and gaps, coded once for the models of all keys."""

import copy

import numpy as np
import pandas as pd
import pytest

from dfop import DFOPClassifier, DFOPRegressor, Keyed
from dfop.core import Coder
from dfop.rows.batch import Batch


def frame(n=500, keys=12, seed=0):
    rng = np.random.default_rng(seed)
    size, weight = rng.normal(size=(2, n))
    color = rng.choice(["red", "blue", "green"], n).astype(object)
    y = size + 0.5 * weight + np.where(color == "red", 1.0, -1.0) + 0.1 * rng.normal(size=n)
    size[rng.random(n) < 0.1] = np.nan
    color[rng.random(n) < 0.1] = None
    X = pd.DataFrame({"size": size, "color": color, "weight": weight})
    return rng.integers(0, keys, n), X, y


def by_hand(X, *, narrow=False):
    """Code all rows with one coder, row by row; if not `narrow` as wide as they are in the end."""
    coder, rows = Coder(), []
    values = {"red": 0, "blue": 1, "green": 2}
    for size, color, weight in X.itertuples(index=False):
        numbers = np.array([[size, 0.0, weight]])
        code = -1 if color is None or color != color else values[color]
        texts = {1: (np.array([code]), list(values))}
        rows.append(coder.code(numbers, texts, range(3), np.ones(1))[0][0])
    if narrow:
        return rows
    return np.array([np.pad(row, (0, coder.width - len(row))) for row in rows])


def copied(keyed):
    return copy.deepcopy(keyed)


def filed(keyed):
    return Keyed.from_bytes(keyed.to_bytes())


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


@pytest.mark.parametrize("forgetting", [0.01, "few"])
@pytest.mark.parametrize("twin", [Keyed, copied, filed])
def test_keys_begin_with_the_columns_that_there_are_and_grow_with_them(forgetting, twin):
    """As learners of their own do, which learn the coded rows of a key; with files between."""
    rng = np.random.default_rng(3)
    _, X, y = frame(240)
    key = rng.integers(0, 3 + np.arange(240) // 20)  # some begin later, with more columns
    X.loc[:39, "color"], X.loc[:19, "size"] = "red", 1.0  # others come later, and gaps
    coded = by_hand(X, narrow=True)
    assert len({len(row) for row in coded}) > 2
    keyed, apart = Keyed(DFOPRegressor(forgetting)), {}
    for t in range(240):
        names = tuple(map(str, range(len(coded[t]))))
        alone = apart.setdefault(key[t], DFOPRegressor(forgetting))
        expected = alone.predict_then_learn(Batch(coded[t][np.newaxis], names=names), y[[t]])
        row = slice(t, t + 1)
        assert keyed.predict_then_learn(key[row], X.iloc[row], y[row]) == expected
        if twin is not Keyed and t % 10 == 3:
            keyed = twin(keyed)


def test_too_little_memory_for_columns_that_come_in_the_middle_of_a_call_changes_nothing():
    key, X, y = frame(60)
    X.loc[:29, "color"], X["size"] = "red", 1.0
    room = Keyed(DFOPRegressor(0.01)).partial_fit(key[:9], X[:9], y[:9]).bytes_per_key_
    due = [9, 11], y[[9, 11]], [0, 3]
    for shared in (False, True):
        keyed = Keyed(DFOPRegressor(0.01), memory_limit=room, shared=shared)
        keyed.partial_fit(key[:9], X[:9], y[:9])
        keyed.predict_pending(key[9:12], X[9:12], [9, 10, 11])
        before = keyed.to_bytes()
        for call in (
            lambda k: k.partial_fit(key[20:], X[20:], y[20:]),
            lambda k: k.predict_pending(key[20:], X[20:], range(20, 60)),
            lambda k: k.ahead_pending(key[20:], X[20:], range(20, 60), labels=due),
        ):
            with pytest.raises(ValueError, match="too little for one key"):
                call(keyed)
            assert keyed.to_bytes() == before
        keyed.partial_fit(key[12:30], X[12:30], y[12:30])


@pytest.mark.parametrize("forgetting", [0.01, "few"])
def test_too_little_memory_for_a_class_changes_nothing(forgetting):
    X = np.ones((6, 2))
    rows = {"classes": "open"}
    begun = Keyed(DFOPClassifier(forgetting))
    begun.predict_pending([0, 0], X[:2], ["x", "y"], **rows)
    begun.learn_pending(["x", "y"], ["a", "b"])
    keyed = Keyed(DFOPClassifier(forgetting), memory_limit=begun.bytes_per_key_)
    keyed.predict_pending([0] * 4, X[:4], range(4), **rows)
    keyed.learn_pending([0, 1], ["a", "b"])
    before = keyed.to_bytes()
    for call in (
        lambda: keyed.learn_pending([2, 3], ["a", "c"]),
        lambda: keyed.partial_fit([0, 0], X[:2], ["b", "c"]),
        lambda: keyed.ahead_pending([0], X[:1], ["z"], labels=([2, 3], ["a", "c"], [0, 1])),
    ):
        with pytest.raises(ValueError, match="too little for one key"):
            call()
        assert keyed.to_bytes() == before
    assert keyed.learn_pending([2, 3], ["a", "b"]).pending_ == []
