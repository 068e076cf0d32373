"""The models of a bucket: the same as models apart, however records are cut into micro-batches."""

import dataclasses

import numpy as np
import pytest
from events import HOUR, models_apart, records
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop import DFOPRegressor, half_life
from dfop.spark.bucket import COMPLETE, LABEL, WAITING, Bucket, Records
from dfop.spark.processor import StreamDesign, check_settings


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(0, 120), max_size=6).map(sorted),
    forgetting=st.sampled_from([0.05, "few", half_life("3h")]),
    expire=st.sampled_from([None, 2 * HOUR]),
    text=st.booleans(),
)
def test_any_cut_gives_models_apart_bit_for_bit(seed, cuts, forgetting, expire, text):
    events = records(seed, text=text)
    bucket = Bucket.new(DFOPRegressor(forgetting), expire)
    predicted, learned = [], []
    rng = np.random.default_rng(seed)
    for start, stop in zip([0, *cuts], [*cuts, 120], strict=True):
        which = start + rng.permutation(stop - start)  # a shuffle brings them in any order
        ahead, knows = np.empty(len(which)), np.empty(len(which), bool)
        ahead[which - start], knows[which - start] = bucket.take(events.part(which))
        predicted.append(ahead)
        learned.append(knows)
        if expire is not None and len(which) and rng.random() < 0.5:
            bucket.drop_idle(int(events.times[stop - 1]))  # as a timer does, or not
        if bucket.last:
            bucket = Bucket.load(*bucket.dump(), expire)
    expected = models_apart(events, forgetting, expire)
    np.testing.assert_array_equal(np.concatenate(predicted), expected[0])
    np.testing.assert_array_equal(np.concatenate(learned), expected[1])


def test_records_at_the_same_time_are_taken_by_what_is_in_them():
    rng = np.random.default_rng(0)
    n = 30
    events = Records(np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, COMPLETE),
                     rng.normal(size=(n, 2)), rng.normal(size=n), np.full(n, None))  # fmt: skip
    first = Bucket.new(DFOPRegressor(0.1), None).take(events)[0]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(n)
        again = Bucket.new(DFOPRegressor(0.1), None).take(events.part(order))[0]
        np.testing.assert_array_equal(again, first[order])


def test_a_record_that_comes_late_counts_as_of_the_last_one():
    bucket = Bucket.new(DFOPRegressor(half_life("1h")), None)
    times = np.array([5, 3, 9]) * HOUR
    expected = DFOPRegressor(half_life("1h"))
    for t, counted in enumerate([5, 5, 9]):
        x, y, now = np.array([[1.0 + t]]), np.array([2.0]), times[t : t + 1]
        one = Records(np.array([1]), now, np.array([COMPLETE]), x, y, np.array([None]))
        ahead = expected.predict_then_learn(x, y, time=np.array([counted * HOUR]).view("M8[us]"))
        assert bucket.take(one)[0] == pytest.approx(ahead, abs=0.0)


def test_keys_that_are_idle_are_removed():
    events = records(1, n=40)
    bucket = Bucket.new(DFOPRegressor(0.05), HOUR)
    bucket.take(events)
    bucket.drop_idle(int(events.times[-1]) + 2 * HOUR)
    assert not bucket.last
    assert len(bucket.keyed) == 0
    assert not bucket.keyed.pending_


DESIGN = StreamDesign("shop", "sold", ("a", "b"), False, 0.01, None, 4, {"cap": 1e6})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"features": ("a", "b", "c")}, "features was a, b and is a, b, c"),
        ({"features": ("b", "a")}, "features was a, b and is b, a"),
        ({"target": "price"}, "target was sold and is price"),
        ({"whole": True}, "key was shop, texts and is shop, whole numbers"),
        ({"key": "town"}, "key was shop, texts and is town, texts"),
        ({"forgetting": 0.02}, "forgetting was 0.01 and is 0.02"),
        ({"expire": 60}, "expire was None and is 60"),
        ({"buckets": 5}, "buckets was 4 and is 5"),
        ({"parameters": {"cap": None}}, "cap was 1000000.0 and is None"),
    ],
)
def test_models_of_other_settings_are_not_taken_over(changed, said):
    now = dataclasses.replace(DESIGN, **changed).settings()
    with pytest.raises(ValueError, match=f"{said}: give the old ones, or another checkpoint"):
        check_settings(DESIGN.settings(), now)
    check_settings(DESIGN.settings(), DESIGN.settings())


@pytest.mark.filterwarnings("ignore:.*rows were given up:UserWarning")
@pytest.mark.parametrize("cut", [0, 3, 7])
def test_rows_that_wait_are_counted_for_each_key(cut):
    """The oldest of a key are given up, however many rows of other keys wait beside them."""
    rng = np.random.default_rng(1)
    keys = np.array([0, 1, 1, 1, 1, 0, 1, 1, 1, 1])
    kinds = np.array([WAITING] * 5 + [LABEL] * 5)
    rows = np.array(["a", "a", "b", "c", "d"] * 2, object)
    events = Records(
        keys, np.arange(10), kinds, rng.normal(size=(10, 2)), rng.normal(size=10), rows
    )
    bucket, learned = Bucket.new(DFOPRegressor(0.1, pending_limit=2), None), []
    for part in np.split(np.arange(10), [cut]):
        learned += bucket.take(events.part(part))[1].tolist()
    assert learned == [False] * 5 + [True, False, False, True, True]
