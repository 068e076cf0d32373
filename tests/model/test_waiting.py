"""Rows that wait, against a dict of them."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop.model.keys import RaggedQueue, check_keys, places_among
from dfop.model.waiting import Kept, WaitingRows

WIDTH = 3
KINDS = ["line", "gaps", "shuffled", "texts", "mixed", "huge"]


def rows_of(rng, n):
    rows = rng.normal(size=(n, WIDTH)) * (rng.random((n, WIDTH)) < 0.6)
    made = rng.normal(size=(n, int(rng.integers(0, 3))))
    made[rng.random(n) < 0.3] = np.nan  # not known
    return rows, rng.normal(size=n), rng.normal(size=(n, int(rng.integers(1, 4)))), made


def check_same(waiting, oracle):
    """The keys in their order, and of each row what was kept."""
    assert list(waiting) == list(oracle)
    assert len(waiting) == len(oracle)
    kept = waiting.all_kept()
    dense, outputs = kept.dense(WIDTH), kept.outputs()
    for at, (row, stamp, when, predicted, made) in enumerate(oracle.values()):
        width = len(made) or 5
        expected = made if len(made) else np.full(width, np.nan)
        np.testing.assert_array_equal(kept.made_of(width, alike=False)[at], expected)
        assert dense[at].tolist() == row.tolist()
        assert (kept.stamps[at], kept.arrived[at]) == (stamp, when)
        assert outputs[at].tolist() == predicted.tolist()


class Keys:
    """Keys as users have them: numbers of rows, times with gaps, texts, huge ones."""

    def __init__(self, kind):
        self.kind, self.next = kind, 2**63 - 20 if kind == "huge" else -3

    def some(self, rng, n):
        numbers = range(self.next, self.next + n)
        self.next += n
        if self.kind == "texts":
            return [f"row {at}" for at in numbers]
        if self.kind == "mixed":
            return [f"row {at}" if rng.random() < 0.3 else at for at in numbers]
        if self.kind == "gaps":
            self.next += int(rng.integers(0, 2))
        return rng.permutation(numbers).tolist() if self.kind == "shuffled" else numbers


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(KINDS))
def test_rows_wait_in_their_order_whatever_their_keys(seed, kind):
    rng = np.random.default_rng(seed)
    waiting, oracle, keys, now = WaitingRows(10**6, None), {}, Keys(kind), 0.0
    in_order = rng.random() < 0.5
    for _ in range(30):
        n = int(rng.integers(1, 40))
        names = check_keys(keys.some(rng, n), n)
        waiting.check_new(names)
        rows, stamps, predicted, made = rows_of(rng, n)
        arrived = now + np.arange(n, dtype=float)
        now += n
        waiting.keep(names, Kept.of(rows, stamps, arrived, predicted, made, made))
        parts = zip(rows, stamps, arrived, predicted, made, strict=True)
        oracle |= dict(zip(names, parts, strict=True))
        count = int(rng.integers(0, len(oracle) + 1))
        chosen = list(oracle)
        chosen = chosen[:count] if in_order else rng.permutation(len(chosen))[:count].tolist()
        told = chosen if in_order else [list(oracle)[at] for at in chosen]
        if told:
            some = check_keys(told, None)
            dense = waiting.kept(waiting.find(some)).dense(WIDTH)
            assert dense.tolist() == [oracle[key][0].tolist() for key in told]
            waiting.remove(some, waiting.find(some))
            for key in told:
                del oracle[key]
            with pytest.raises(ValueError, match="no row with the key"):
                waiting.find(check_keys(told[:1], None))
        waiting = rng.choice([lambda w: w, copy.deepcopy, lambda w: pickle.loads(pickle.dumps(w))])(
            waiting
        )
        check_same(waiting, oracle)


@pytest.mark.parametrize("keys", [range(3, 9), [3, 4, 5, 6, 7, 8], np.arange(3, 9), list("abcdef")])
@pytest.mark.parametrize("told", [range(5, 7), range(7, 12), range(20, 22), [8, 2, 3], ["b", 4]])
def test_keys_are_found_among_others(keys, told):
    names = check_keys(keys, 6)
    table = list(keys)
    expected = [table.index(key) if key in table else -1 for key in told]
    assert places_among(names, check_keys(told, None)).tolist() == expected


def test_the_place_of_rows_that_got_their_label_is_used_again():
    """Labels that come out of order: one row never gets its own, and memory stays."""
    waiting = WaitingRows(10**6, None)
    for t in range(5000):
        names = check_keys(range(2 * t, 2 * t + 2), 2)
        one = np.ones((2, 1))
        waiting.keep(names, Kept.of(np.ones((2, WIDTH)), np.ones(2), np.ones(2), one, one, one))
        told = names[:2] if t else names[1:]
        waiting.remove(told, waiting.find(told))
    assert list(waiting) == [0]
    assert waiting.places < 200
    assert len(pickle.dumps(waiting)) < 20_000


def test_numbers_of_rows_in_a_queue_are_replaced_by_more_or_fewer():
    rng = np.random.default_rng(0)
    for _ in range(50):
        queue, rows = RaggedQueue(np.float64), []
        for _ in range(3):
            counts = rng.integers(0, 4, 5)
            new = [rng.random(count) for count in counts]
            queue.add(counts, np.concatenate(new))
            rows += new
        dropped = int(rng.integers(0, 4))
        queue.drop(dropped)
        rows = rows[dropped:]
        chosen = np.flatnonzero(rng.random(len(rows)) < 0.5)
        counts = rng.integers(0, 4, len(chosen))
        new = [rng.random(count) for count in counts]
        queue.replace(chosen, counts, np.concatenate([*new, []]))
        for row, numbers in zip(chosen, new, strict=True):
            rows[row] = numbers
        counts, (numbers,) = queue.take(np.arange(len(rows)))
        assert counts.tolist() == [len(row) for row in rows]
        assert (numbers == np.concatenate(rows)).all()


@pytest.mark.parametrize("keys", [{"a", "b"}, frozenset({1, 2}), 7, None])
def test_keys_without_an_order_are_refused_with_the_remedy(keys):
    with pytest.raises(ValueError, match="no rows in order: give a list with one key per row"):
        check_keys(keys, 2)


@pytest.mark.parametrize("key", [None, 2.0, float("nan"), True, ("a", 1)])
def test_what_is_no_key_is_named_by_its_row(key):
    with pytest.raises(ValueError, match=r"of row 1 must be an int or a str: make one of it"):
        check_keys([1, key], 2)
