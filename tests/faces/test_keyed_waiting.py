"""How many rows of a key may wait for their label: as many as of a model of its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop import DFOPClassifier, DFOPRegressor, Keyed, half_life

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


def told(keyed):
    """Return everything that can be asked."""
    weights = {key: keyed[key].predict(np.eye(2)).tolist() for key in keyed}
    return keyed.pending_, keyed.expired_rows_, keyed.expired_, keyed.evicted_, weights


@pytest.mark.filterwarnings("ignore:.*rows were given up:UserWarning")
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(1, 39), max_size=39, unique=True),
    forgetting=st.sampled_from([0.05, "few"]),
    expire=st.sampled_from([1, 2, 3, None]),
    limit=st.integers(1, 4),
    saves=st.booleans(),
)
def test_rows_of_models_that_are_given_up_do_not_depend_on_cuts(
    seed, cuts, forgetting, expire, limit, saves
):
    """Nor on files between them; where keys do not expire, two have room."""
    rng, n = np.random.default_rng(seed), 40
    key, X, y = rng.integers(5, size=n), rng.normal(size=(n, 2)), rng.normal(size=n)
    design = DFOPRegressor(forgetting, pending_limit=limit)
    begun = Keyed(design)
    begun.predict_pending([0], X[:1], ["first"])
    room = None if expire else 2 * begun.bytes_per_key_
    whole, parts = (Keyed(design, expire=expire, memory_limit=room) for _ in range(2))
    for half in np.split(np.arange(n), [15, 25]):  # those of the middle have their labels at once
        for keyed, edges in ((whole, []), (parts, sorted({*cuts} & {*half[1:].tolist()}))):
            for part in np.split(half, np.array(edges, int) - half[0]):
                if half[0] == 15:
                    keyed.partial_fit(key[part], X[part], y[part])
                else:
                    keyed.predict_pending(key[part], X[part], part.tolist())
        if saves:
            parts = Keyed.from_bytes(parts.to_bytes())
        assert told(whole) == told(parts)
        due = [name for name in whole.pending_ if rng.random() < 0.5]
        for keyed in (whole, parts):
            keyed.learn_pending(due, y[due])
        assert told(whole) == told(parts)


@pytest.mark.parametrize("forgetting", [0.05, "few"])
@pytest.mark.parametrize("cut", [True, False])
def test_a_label_of_a_model_that_is_gone_teaches_no_other_key(forgetting, cut):
    keyed = Keyed(DFOPRegressor(forgetting), expire=1)
    for part in [[0], [1], [2]] if cut else [[0, 1, 2]]:
        names = [["a", "b", "c"][t] for t in part]
        keyed.predict_pending(np.array([1, 2, 2])[part], np.ones((len(part), 1)), names)
    keyed.partial_fit([3], [[1.0]], [5.0])  # in the place that key 1 had
    before = keyed.predict([3], [[1.0]])
    keyed.learn_pending(["a"], [1000.0])
    assert keyed.predict([3], [[1.0]]) == before
    assert keyed.expired_rows_ == 1


def test_labels_of_one_call_and_one_by_one_where_a_class_leaves_less_room():
    """A class that any key brings makes all keys larger: the idlest goes with that label."""
    X = np.ones((4, 1))
    begun = Keyed(DFOPClassifier(0.05)).partial_fit([0], X[:1], ["up"], classes="open")
    found = []
    for cuts in ([[0, 1, 2, 3]], [[0], [1], [2], [3]]):
        keyed = Keyed(DFOPClassifier(0.05), memory_limit=2 * begun.bytes_per_key_)
        keyed.predict_pending([0, 0, 1, 1], X, range(4), classes="open")
        labels = np.array(["up", "down", "up", "left"])
        for part in cuts:
            keyed.learn_pending(part, labels[part])
        found.append((keyed.to_bytes(), keyed.expired_rows_))
    assert found[0] == found[1]
    assert found[0][1] == 1  # that with which key 0 goes, not the one before


def test_too_many_rows_are_told_the_first_time():
    keyed = Keyed(DFOPRegressor(0.05, pending_limit=LIMIT))
    keyed.predict_pending([0] * LIMIT, np.ones((LIMIT, 1)), range(LIMIT))
    with pytest.warns(UserWarning, match=r"2 rows were given up .*the first: 0.*pending_limit=3"):
        keyed.predict_pending([0, 0], np.ones((2, 1)), ["x", "y"])
    keyed.predict_pending([0], np.ones((1, 1)), ["z"])  # once is enough: a warning is an error
    assert keyed.expired_rows_ == 3
    again = Keyed.from_bytes(keyed.to_bytes())
    again.ahead_pending([0], np.ones((1, 1)), ["t"])


def test_to_forget_a_key_forgets_no_rows_of_the_model_that_had_its_place():
    one = Keyed(DFOPRegressor(0.05)).partial_fit([0], [[1.0]], [1.0]).bytes_per_key_
    keyed = Keyed(DFOPRegressor(0.05), memory_limit=one)
    keyed.predict_pending([1], [[1.0]], ["a"])
    keyed.partial_fit([2], [[1.0]], [1.0])  # in the place of key 1
    keyed.forget([2, 7])
    assert keyed.pending_ == ["a"]
    keyed.predict_pending([2], [[1.0]], ["b"])
    keyed.forget([2, 7])
    assert keyed.pending_ == ["a"]
    assert keyed.learn_pending(["a"], [1.0]).expired_rows_ == 1


@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize("dates", [True, False])
def test_a_shared_model_learns_labels_of_models_that_are_gone_by_its_clock(dates, cut):
    def at(seconds):
        told = np.array(seconds, float)
        return (told * 1e9).astype("M8[ns]") if dates else told

    by_clock = DFOPRegressor(half_life("3s"))
    keyed = Keyed(by_clock, shared=True, expire="5s")
    keyed.predict_pending(["a"], [[1.0]], ["r"], time=at([0]))
    keyed.predict_pending(["b"], [[1.0]], ["s"], time=at([10]))  # a is given up; no label yet
    if cut:
        keyed = Keyed.from_bytes(keyed.to_bytes())
    keyed.learn_pending(["r"], [2.0])
    apart = by_clock.partial_fit([[1.0]], [2.0], time=at([10]))  # when the latest row came
    keyed.partial_fit(["c"], [[1.0]], [3.0], time=at([12]))
    apart.partial_fit([[1.0]], [3.0], time=at([12]))
    keyed.predict_pending(["d"], [[1.0]], ["t"], time=at([20]))  # b is given up, and c
    keyed.learn_pending(["s", "t"], [4.0, 5.0])
    apart.partial_fit([[1.0]] * 2, [4.0, 5.0], time=at([12, 20]))
    assert keyed.predict(["new"], [[1.0]]) == apart.predict([[1.0]])
    assert keyed.expired_rows_ == 2
    assert not keyed.pending_


def test_rows_that_wait_are_counted_as_memory():
    keyed = Keyed(DFOPRegressor(0.05)).partial_fit([0, 1], [[1.0]] * 2, [1.0] * 2)
    before = keyed.memory_bytes_
    keyed.predict_pending([0, 1], [[1.0]] * 2, ["a", "b"])
    assert keyed.memory_bytes_ == before + 2 * 56
    keyed.learn_pending(["a", "b"], [1.0] * 2).partial_fit([0, 1], [[1.0]] * 2, [1.0] * 2)
    assert keyed.memory_bytes_ == before


def test_rows_of_a_model_that_is_gone_cost_no_row_of_the_next_and_have_a_bound():
    one = Keyed(DFOPRegressor(0.05)).partial_fit([0], [[1.0]], [1.0]).bytes_per_key_
    keyed = Keyed(DFOPRegressor(0.05, pending_limit=LIMIT), memory_limit=one)  # a place for one
    for k in range(2):
        keyed.predict_pending([k] * LIMIT, np.ones((LIMIT, 1)), [f"{k} {t}" for t in range(LIMIT)])
    with pytest.warns(UserWarning, match="3 rows were given up"):
        keyed.predict_pending([2] * LIMIT, np.ones((LIMIT, 1)), [f"2 {t}" for t in range(LIMIT)])
    for k in range(3, 5):
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
