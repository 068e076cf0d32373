"""Rows that are dicts: coded and learned as batches are, and refused before anything changes."""

import copy
import datetime
import decimal
import fractions
import inspect
import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from coder_oracle import bucket_of
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_batches import as_given, batches

from dfop.core import Bank, Coder, Filter, Lock, NamedRows

ONCE = np.ones(1)


def rows_of(engine=None, *, most_texts=100, most_names=1000, discount=0.99, outputs=1):
    engine = engine or Filter(0, outputs, True, 100.0, 1e6)
    return NamedRows(engine, Coder(most_texts), {}, Lock(), discount, most_names)


def linear_bank(outputs=1):
    coding = "number" if outputs == 1 else "one_hot"
    experts = [(0, 0.0, 0.0), (0, 0.1, 0.0)]
    return Bank(1, [(coding, outputs)], [("linear", 0.0, 0)], experts, True, 100.0, False, 1e6)


def flat(state):
    if isinstance(state, dict):
        return {name: flat(part) for name, part in state.items()}
    return np.asarray(state).tobytes()


def everything(rows):
    coder = rows.coder
    known = coder.describe(), coder.lags, coder.shared, flat(coder.state())
    return known, flat(rows.engine.state()), dict(rows.names), rows.shared_names


def labels(rows):
    return rows.coder.labels(rows.names)


# -- coding -----------------------------------------------------------------------------------


@settings(max_examples=100)
@given(parts=batches(), most=st.integers(1, 6), data=st.data())
def test_one_row_after_the_other_is_the_batch(parts, most, data):
    coder, rows = Coder(most), rows_of(most_texts=most)
    for batch in parts:
        columns = sorted(batch.columns)
        keep = [batch.columns.index(c) for c in columns]
        batch = batch._replace(
            columns=columns,
            kinds=[batch.kinds[j] for j in keep],
            cells=[[row[j] for j in keep] for row in batch.cells],
        )
        expected, widths = coder.code(*as_given(batch), ONCE)
        width_at = dict(widths)
        for t, cells in enumerate(batch.cells):
            record = {f"c{c}": cell for c, cell in zip(columns, cells, strict=True)}
            names = data.draw(st.permutations(list(record)))  # a dict's order is chance
            shuffled = {name: record[name] for name in names}
            width = width_at.get(t, rows.coder.width if t else None)
            coded = rows.code(shuffled)
            assert coded.shape[1] == (width or coded.shape[1])
            assert coded[0].tobytes() == expected[t, : coded.shape[1]].tobytes()
            assert not expected[t, coded.shape[1] :].any()
    assert rows.coder.describe() == coder.describe()
    assert flat(rows.coder.state()) == flat(coder.state())


@pytest.mark.parametrize(
    "value",
    [None, np.nan, pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT"), np.timedelta64("NaT"),
     decimal.Decimal("nan"), "", " ", "?", "NA", "n/a", "NaN", "Null", "none\n", "<na>"],
)  # fmt: skip
def test_what_is_missing(value):
    rows = rows_of()
    rows.code({"a": 4.0})
    assert rows.code({"a": value}).tolist() == [[4.0, 1.0]]
    assert labels(rows) == ["a", "a is missing"]


@pytest.mark.parametrize(
    "value",
    [3, 3.0, np.float64(3), np.float32(3), np.int8(3), np.uint64(3), np.array(3.0),
     decimal.Decimal(3), fractions.Fraction(3)],
)  # fmt: skip
def test_what_is_a_number(value):
    rows = rows_of()
    for _ in range(2):
        assert rows.code({"a": value}).tolist() == [[3.0]]
    assert rows.code({"a": np.True_}).tolist() == rows.code({"a": True}).tolist() == [[1.0]]


@pytest.mark.parametrize(
    "value",
    [b"red", bytearray(b"1"), [1.0], (1.0,), {}, 1j, np.complex128(1), np.array([1.0]), object(),
     np.inf, -np.inf, 1e200, 10**400, np.float32("inf"), decimal.Decimal("1e999"),
     datetime.datetime(2020, 1, 1), datetime.date(2020, 1, 1), pd.Timestamp(0), pd.Timedelta(1),
     np.datetime64(1, "ns"), np.timedelta64(1, "ns")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a", "c", "new"])
def test_what_is_refused(value, name):
    rows = rows_of()
    rows.step_number({"a": 1.0, "c": "red"}, 1.0)
    before = everything(rows)
    for ask in (rows.predict_number, lambda x: rows.step_number(x, 1.0), rows.code):
        with pytest.raises(ValueError, match="expected text or a finite number below 2") as error:
            ask({"b": "blue", name: value, "d": None})
        assert f"feature {name!r} is {repr(value)[:60]}; " in str(error.value)
    assert everything(rows) == before


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"new": None, "a": "red"}, "feature 'a' is 'red', but it was a number before"),
        ({"new": None, "a": "12"}, "feature 'a' is '12', but it was a number before"),
        ({"new": None, "c": 3}, "feature 'c' is 3, but it was text before"),
        ({"new": None, "c": " 3"}, "feature 'c' is ' 3', a number given as text: convert it"),
        ({"new": "1e5"}, "feature 'new' is '1e5', a number given as text"),
        ({"new": "-inf"}, "feature 'new' is '-inf', a number given as text"),
        ({"new": "١٢"}, "feature 'new' is '١٢', a number given as text"),
    ],
)
def test_a_feature_keeps_its_kind(row, message):
    rows = rows_of()
    rows.step_number({"a": 1.0, "c": "red"}, 1.0)
    before = everything(rows)
    for ask in (rows.predict_number, lambda x: rows.step_number(x, 1.0)):
        with pytest.raises(ValueError, match=message):
            ask(row)
    assert everything(rows) == before


def test_texts_known_from_a_column_of_categories_may_read_as_numbers():
    coder = Coder()
    coder.code(np.zeros((2, 1)), {0: (np.arange(2), ["1", "2"])}, [0], ONCE)
    rows = NamedRows(None, coder, {"zip": 0}, Lock(), 1.0, 10)
    assert rows.code({"zip": "2"}).tolist() == [[0.0, 1.0]]
    with pytest.raises(ValueError, match="a number given as text"):
        rows.code({"zip": "3"})


def test_new_names_are_ordered_by_their_types_and_values():
    rows = rows_of()
    rows.code({("t", 1): 1.0, "b": 1.0, 10: 1.0, 9: 1.0, "a": None, 1.5: 1.0, True: 1.0, "é": 1.0})
    assert list(rows.names) == [True, 1.5, 9, 10, "a", "b", "é", ("t", 1)]
    assert labels(rows) == [True, 1.5, 9, 10, "a", "b", "é", ("t", 1), "a is missing"]


def test_something_else_than_a_dict_is_refused():
    rows = rows_of()
    for ask in (rows.predict_number, rows.code, lambda x: rows.step_number(x, 1.0)):
        for row in ([1.0], None, "a"):
            with pytest.raises(TypeError, match="a row must be a dict of feature names and values"):
                ask(row)


def test_a_row_that_was_only_coded_can_be_taken_back():
    rows = rows_of(most_names=2)
    rows.step_number({"a": 1.0, "c": "red"}, 1.0)
    before = everything(rows)[:-1]
    rows.code({"a": None, "b": 2.0, "d": 3.0, "c": "blue"})
    rows.rollback()
    assert everything(rows)[:-1] == before
    assert rows.code({"a": 7.0}).tolist() == [[7.0, 0.0]]


# -- names beyond the limit -------------------------------------------------------------------


def test_names_beyond_the_limit_share_columns():
    rows = rows_of(most_names=2)
    assert rows.code({"a": 1.0, "b": "x"}).tolist() == [[1.0, 1.0]]
    assert not rows.shared_names
    coded = rows.code({"a": 2.0, "c": 5.0, "d": "y", "e": None})
    assert rows.shared_names
    assert labels(rows)[2:] == [f"other names#{bucket_of('c')}", f"other names#{bucket_of('d=y')}"]
    assert coded.tolist() == [[2.0, 0.0, 5.0, 1.0]]
    assert list(rows.names) == ["a", "b"]
    assert rows.code_to_predict({"c": 7.0, "never": 1.0}).tolist() == [[0.0, 0.0, 7.0, 0.0]]


@pytest.mark.filterwarnings("ignore:more than max_features")
def test_ever_new_names_need_no_more_than_a_bounded_number_of_columns():
    rng = np.random.default_rng(0)
    rows = rows_of(most_names=10, discount=0.9)
    learn = rows.learn_function()
    for t in range(3000):
        learn({"x": float(t % 7), f"id {t}": 1.0, f"more {t}": rng.normal(), 7 + t: "z"}, t % 7)
    assert len(rows.names) == 10
    assert rows.engine.features == rows.coder.width <= 10 + 32
    assert np.isfinite(rows.engine.coefficients()[0]).all()


def test_values_that_fall_together_are_added_in_any_order_to_the_same_bits():
    rng = np.random.default_rng(1)
    names = [f"n{k}" for k in range(200)]
    record = dict(zip(names, (10.0 ** rng.uniform(-8, 8, 200)).tolist(), strict=True))
    coded = set()
    for _ in range(5):
        rows = rows_of(most_names=0)
        coded.add(rows.code({name: record[name] for name in rng.permutation(names)}).tobytes())
    assert len(coded) == 1
    sums = np.zeros(32)
    for name, value in record.items():
        sums[bucket_of(name)] += value
    expected = dict(zip([f"other names#{b}" for b in range(32)], sums, strict=True))
    assert dict(zip(labels(rows), rows.code(record)[0], strict=True)) == pytest.approx(expected)


def test_the_largest_values_that_fall_together_can_be_learned():
    rows = rows_of(most_names=0)
    row = {f"n{k}": 2.0**500 for k in range(100)}
    for _ in range(3):
        assert np.isfinite(rows.step_number(row, 1.0))


# -- learning ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["filter", "bank"])
def test_learning_dicts_is_learning_the_coded_rows(kind):
    rng = np.random.default_rng(0)
    make = linear_bank if kind == "bank" else lambda: Filter(1, 1, True, 100.0, 1e6)
    rows = rows_of(make(), discount=0.98)
    rows.coder.open_lags(1)
    other, coder = make(), rows_of()
    coder.coder.open_lags(1)
    for t in range(200):
        row = {"a": rng.normal(), "b": None if t % 7 == 3 else t % 5, "c": f"t{t % (1 + t // 9)}"}
        y, lag = rng.normal(), np.array([0.1 * t])
        rows.set_lags(lag)
        coder.set_lags(lag)
        predicted = rows.predict_number(row)
        coded, out = coder.code(row), np.empty((1, 1))
        assert coded[0, 0] == lag[0]
        other.add_features(coded.shape[1] - other.features)
        if kind == "bank":
            other.learn(coded, np.array([[y]]), ONCE, np.zeros(1), out)
        else:
            other.learn(coded, np.array([[y]]), np.array([0.98]), ONCE, out)
        assert rows.step_number(row, y) == out[0, 0]
        assert predicted == pytest.approx(out[0, 0], rel=1e-9, abs=1e-9)
    assert flat(rows.engine.state()) == flat(other.state())


@pytest.mark.parametrize("kind", ["filter", "bank"])
def test_several_outputs(kind):
    make = (lambda: linear_bank(3)) if kind == "bank" else lambda: Filter(1, 3, True, 100.0, 1e6)
    rows = rows_of(make())
    rows.coder.open_lags(1)
    for t in range(30):
        row = {"a": float(t % 3)}
        before = rows.predict_outputs(row)
        np.testing.assert_allclose(rows.step(row, np.eye(3)[t % 3]), before, rtol=1e-9, atol=1e-9)
    assert len(rows.predict_outputs(row)) == 3
    before = everything(rows)
    for wrong in (np.zeros(2), np.array([0.0, 0.0, np.nan])):
        with pytest.raises(ValueError, match=r"targets must be finite|one target per output"):
            rows.step({"new": 1.0}, wrong)
    with pytest.raises(ValueError, match="one target per output"):
        rows.step_number({"new": 1.0}, 1.0)
    assert everything(rows) == before


@pytest.mark.parametrize(
    "y", [np.nan, np.inf, 1e200, "1.5", None, [1.0], b"1", np.datetime64(1, "ns"), 1j, pd.NA]
)
def test_a_bad_target_changes_nothing(y):
    rows = rows_of()
    rows.step_number({"a": 1.0}, 1.0)
    before = everything(rows)
    for ask in (rows.step_number, rows.learn_function()):
        with pytest.raises(ValueError, match="y must be finite and below 2"):
            ask({"a": 1.0, "b": "x"}, y)
    assert everything(rows) == before


def test_an_engine_may_come_after_the_first_row():
    rows = NamedRows(None, Coder(), {}, Lock(), 1.0, 10)
    assert rows.predict_outputs({"a": 1.0, "b": "x"}) == []
    with pytest.raises(ValueError, match="there is no engine yet"):
        rows.step_number({"a": 1.0}, 1.0)
    assert rows.coder.width == 0
    coded = rows.code({"a": 1.0, "b": "x"})
    rows.use(Filter(coded.shape[1], 1, True, 100.0, 1e6))
    assert rows.step_number({"a": 1.0, "c": "x"}, 1.0) == 0.0
    assert rows.engine.features == 3
    rows.use(Filter(9, 1, True, 100.0, 1e6))
    with pytest.raises(ValueError, match="does not fit the engine"):
        rows.predict_number({"a": 1.0})


def test_lags_must_fit():
    rows = rows_of()
    rows.coder.open_lags(2)
    for values in (np.zeros(1), np.array([0.0, np.inf])):
        with pytest.raises(ValueError, match=r"one value per lag|lags must be finite"):
            rows.set_lags(values)
    rows.set_lags(np.array([1.0, 2.0]))
    assert rows.code({"a": 3.0}).tolist() == [[1.0, 2.0, 3.0]]
    rows.set_lags(None)
    assert rows.code({"a": 3.0}).tolist() == [[0.0, 0.0, 3.0]]


def test_a_copy_goes_on_alone():
    rows = rows_of(most_names=3)
    rows.coder.open_lags(1)
    rows.set_lags(np.ones(1))
    data = [({"a": t % 3, "b": f"t{t % 4}", f"n{t}": 1.0, "g": None}, float(t)) for t in range(40)]
    for row, y in data[:20]:
        rows.step_number(row, y)
    for other in (copy.deepcopy(rows), pickle.loads(pickle.dumps(rows))):
        assert everything(other) == everything(rows)
        one = copy.deepcopy(rows)
        ahead = [(one.step_number(*d), other.step_number(*d)) for d in data[20:]]
        assert all(a == b for a, b in ahead)
    assert len(rows.coder.shared) < len(other.coder.shared)


# -- the functions for River ------------------------------------------------------------------


def test_the_functions_have_signatures_and_take_names():
    rows = rows_of()
    learn, predict = rows.learn_function(), rows.predict_function()
    assert str(inspect.signature(learn)) == "(x, y)"
    assert str(inspect.signature(predict)) == "(x)"
    assert learn.__name__ == "learn_one"
    assert "Parameters" in learn.__doc__
    assert learn({"a": 1.0}, 1.0) is None
    learn(x={"a": 1.0}, y=1.0)
    learn({"a": 1.0}, y=1.0)
    assert predict({"a": 1.0}) == predict(x={"a": 1.0}) == rows.predict_number({"a": 1.0})
    for wrong in (
        lambda: learn({"a": 1.0}),
        lambda: learn({"a": 1.0}, 1.0, 1.0),
        lambda: learn({"a": 1.0}, x={"a": 1.0}),
        lambda: learn({"a": 1.0}, z=1.0),
        lambda: predict(),
    ):
        with pytest.raises(TypeError, match="argument"):
            wrong()


def test_the_functions_keep_what_they_need_alive():
    learn = rows_of().learn_function()
    for t in range(1000):
        learn({"a": 1.0, f"n{t % 20}": "x"}, 1.0)


# -- threads ----------------------------------------------------------------------------------


def test_a_value_that_calls_the_model_is_refused():
    rows = rows_of()
    rows.step_number({"a": 1.0}, 1.0)

    class Nested:
        def __float__(self):
            return rows.predict_number({"a": 1.0})

    with pytest.raises(RuntimeError, match="calls the model that reads it"):
        rows.predict_number({"a": Nested()})
    assert rows.predict_number({"a": 1.0}) > 0.0


def test_a_lock_can_be_taken_twice_and_keeps_others_out():
    lock, events = Lock(), []

    def other():
        with lock:
            events.append("other")

    with lock:
        with lock:
            thread = threading.Thread(target=other)
            thread.start()
        time.sleep(0.05)
        events.append("first")
    thread.join()
    assert events == ["first", "other"]
    with pytest.raises(RuntimeError, match="does not hold it"):
        lock.__exit__(None, None, None)


def test_who_waits_for_a_lock_has_its_turn():
    """However often another thread takes it again at once."""
    lock, stop, rounds = Lock(), threading.Event(), 0

    def again_and_again():
        nonlocal rounds
        while not stop.is_set():
            with lock:
                time.sleep(0.005)  # ten times as long as someone waits before it is their turn
                rounds += 1

    thread = threading.Thread(target=again_and_again)
    thread.start()
    meanwhile = []
    try:
        for _ in range(20):
            before = rounds
            with lock:
                meanwhile.append(rounds - before)
    finally:
        stop.set()
        thread.join()
    assert max(meanwhile) <= 2  # the round under way, and one if it ended too early


def test_all_who_wait_for_a_lock_have_their_turn():
    lock, stop = Lock(), threading.Event()
    turns = [0] * 5
    begin = threading.Barrier(len(turns))

    def take_turns(me):
        begin.wait()
        while not stop.is_set():
            with lock:
                time.sleep(0.001)
                turns[me] += 1

    threads = [threading.Thread(target=take_turns, args=(me,)) for me in range(len(turns))]
    for thread in threads:
        thread.start()
    # many turns: on a busy machine one may be late to ask for its first
    while max(turns) < 100 and any(thread.is_alive() for thread in threads):
        time.sleep(0.001)
    stop.set()
    for thread in threads:
        thread.join()
    assert min(turns) >= 10


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python tells of the threads
@pytest.mark.parametrize("left", [False, True])
def test_a_forked_process_keeps_nothing_for_those_who_waited(left):
    lock, interval = Lock(), sys.getswitchinterval()

    def other():
        with lock:
            pass

    lock.__enter__()
    thread = threading.Thread(target=other)
    thread.start()
    time.sleep(0.05)  # it waits, and would be next
    sys.setswitchinterval(10.0)  # so that it does not go on before the fork
    if left:
        lock.__exit__(None, None, None)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)  # rather than to wait for ever
    if not left:
        lock.__exit__(None, None, None)
    if child == 0:
        with lock:
            os._exit(0)
    sys.setswitchinterval(interval)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.filterwarnings("ignore:more than max_features")
def test_two_threads_may_share_a_model():
    rows = rows_of(most_names=20, discount=0.9)
    end, failures = time.monotonic() + 2.0, []

    def work(seed):
        rng = np.random.default_rng(seed)
        learn, predict = rows.learn_function(), rows.predict_function()
        try:
            while time.monotonic() < end:
                t = int(rng.integers(1000))
                row = {"a": rng.normal(), "c": f"t{t}", f"n{t}": None if t % 3 else 1.0}
                learn(row, rng.normal())
                assert np.isfinite(predict(row))
                with rows.lock:
                    coded = rows.code_to_predict(row)
                    rows.engine.learn(
                        coded, np.zeros((1, 1)), np.ones(1), np.ones(1), np.empty((1, 1))
                    )
                    twin = copy.deepcopy(rows.coder)
                assert len(twin.labels(range(twin.columns))) == twin.width
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert np.isfinite(rows.engine.coefficients()[0]).all()
    assert rows.engine.features == rows.coder.width


def test_underscores_make_no_number():
    rows = rows_of()
    rows.step_number({"month": "2024_01"}, 1.0)
    assert rows.code({"month": "2024_01"}).tolist() == [[1.0]]
