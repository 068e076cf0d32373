"""States by name: complete, checked field by field, taken over whole or not at all."""

import copy
import pickle

import numpy as np
import pytest
from expert_state import bits

from dfop.core import Bank, Calibration, ErrorRecord, Filter, Intervals, Watch, restore_bank
from dfop.model.monitor import at_once

MAPS = [("linear", 0.0, 0), ("fourier", 0.6, 6), ("products", 0.0, 0)]
EXPERTS = [(0, 0.0, 0.0), (0, 0.1, 0.0), (1, 0.0, 0.01), (2, 0.01, 0.0)]
TARGETS = [("number", 1), ("margin", 1, True), ("one_hot", 3)]


def learned_bank():
    rng = np.random.default_rng(0)
    n = 700
    X = rng.normal(size=(n, 3))
    Y = np.hstack(
        [
            rng.standard_t(2, size=(n, 1)),
            np.where(X[:, :1] > 0, 1.0, -1.0),
            np.eye(3)[rng.integers(0, 3, n)],
        ]
    )
    bank = Bank(2, TARGETS, MAPS, EXPERTS, True, 30.0, True, 1e6)
    bank.add_features(1)
    bank.learn(X, Y, np.ones(1), np.zeros(1), np.empty((n, 5)))
    return bank


def learned_filter():
    rng = np.random.default_rng(1)
    filter_ = Filter(5, 2, True, 100.0, 1e6)
    X, Y = rng.normal(size=(50, 5)), rng.normal(size=(50, 2))
    filter_.learn(X, Y, np.array([0.97]), np.ones(1), np.empty((50, 2)))
    return filter_


def learned_intervals():
    intervals = Intervals(3)
    intervals.track(np.random.default_rng(2).normal(size=(50, 3)))
    return intervals


def learned_calibration():
    rng = np.random.default_rng(3)
    calibration = Calibration(4)
    calibration.calibrate(rng.random((50, 4)), rng.integers(0, 4, 50))
    return calibration


def learned_watch():
    watch, rng, n = Watch(3, 2), np.random.default_rng(4), 400
    X, predicted, targets = (rng.normal(size=(n, m)) for m in (3, 2, 2))
    targets[-5] += 50
    watch.watch(X, predicted, targets, at_once(np.ones(n, bool)))
    return watch


def learned_record():
    record = ErrorRecord(3)
    record.add(np.random.default_rng(5).exponential(size=(1500, 3)))
    return record


PARTS = {
    "filter": (learned_filter, lambda: Filter.shapes(5, 2, True)),
    "bank": (learned_bank, lambda: Bank.shapes(3, TARGETS, MAPS, EXPERTS, True)),
    "intervals": (learned_intervals, lambda: Intervals.shapes(3)),
    "calibration": (learned_calibration, lambda: Calibration.shapes(4)),
    "watch": (learned_watch, lambda: Watch.shapes(3, 2)),
    "record": (learned_record, lambda: ErrorRecord.shapes(3)),
}


@pytest.mark.parametrize("name", PARTS)
def test_shapes_tell_what_the_state_has(name):
    make, shapes = PARTS[name]
    state, told = make().state(), shapes()
    assert list(state) == list(told)
    for field, shape in told.items():
        given = state[field].shape
        assert len(given) == len(shape), field
        assert all(want in (-1, have) for want, have in zip(shape, given, strict=True)), field
        assert state[field].dtype == np.float64


@pytest.mark.parametrize("name", PARTS)
def test_a_part_goes_on_from_its_state(name):
    part = PARTS[name][0]()
    for twin in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert bits(twin) == bits(part)
    part.restore(part.state())
    assert bits(part) == bits(copy.deepcopy(part))


def test_a_bank_goes_on_to_the_last_bit():
    bank = learned_bank()
    twin = copy.deepcopy(bank)
    assert twin.targets == bank.targets
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(200, 5))
    outs = []
    for one in (bank, twin):
        one.learn(X, Y, np.ones(1), np.zeros(1), out := np.empty((200, 5)))
        outs.append(out.tobytes())
    assert outs[0] == outs[1]
    assert bits(bank) == bits(twin)


def spoiled(value):
    """Values of a field that no state can have: another type, shape, or no number at all."""
    with np.errstate(over="ignore"):
        yield value.astype(np.float32)
    yield np.zeros(value.shape, np.int64)
    yield np.append(value.ravel(), 0.0) if value.ndim else value[np.newaxis]
    yield value[np.newaxis]
    yield value.tolist()
    if value.size:
        for bad in (np.nan, np.inf, -1e308, 1e308):
            worse = value.copy()
            worse.flat[-1] = bad
            yield worse


@pytest.mark.parametrize("name", PARTS)
def test_every_field_is_checked_and_named(name):
    part = PARTS[name][0]()
    before = bits(part)
    for field, value in part.state().items():
        for bad in spoiled(value):
            with pytest.raises(ValueError, match=f"^{field}: "):
                part.restore({**part.state(), field: bad})
        without = part.state()
        del without[field]
        with pytest.raises(ValueError, match=f"^{field}: this field is missing"):
            part.restore(without)
    with pytest.raises(ValueError, match=r"^extra: there is no such field"):
        part.restore({**part.state(), "extra": np.zeros(1)})
    assert bits(part) == before


RELATIONS = [
    ("filter", "scale", 3.0),
    ("filter", "D", 0.0),
    ("filter", "limit", -1.0),
    ("filter", "faded", 0.5),
    ("filter", "unseen_variance", 0.0),
    ("bank", "expert 2/scale", 0.3),
    ("bank", "output 0/stack 1/scale", 0.3),
    ("bank", "output 0/range/unit", 3.0),
    ("bank", "output 0/range/low", 1e100),
    ("bank", "output 0/range/labels", 2.5),
    ("bank", "output 1/range/high", 2.0),
    ("bank", "output 4/range/labels", 9.0),
    ("bank", "output 2/mixture/regret", 1e30),
    ("bank", "target 0/calm/regret", -1e30),
    ("bank", "map 1/unit", 0.9),
    ("bank", "map 1/phases", 0.1),
    ("bank", "map 1/frequencies", 0.1),
    ("bank", "errors/length", 3.0),
    ("bank", "errors/open_rows", 0.5),
    ("bank", "errors/rows", 12.0),
    ("record", "rows", 7.0),
    ("watch", "alarm/sizes/rising", 1e6),
    ("watch", "alarm/shock/count", 2.5),
    ("calibration", "H12", 1e5),
    ("calibration", "shared/H", 0.0),
    ("intervals", "ratio", 0.0),
]


@pytest.mark.parametrize(("name", "field", "value"), RELATIONS)
def test_what_cannot_be_together_is_refused(name, field, value):
    part = PARTS[name][0]()
    before, state = bits(part), part.state()
    state[field].flat[0] = value
    part_of_field = field.rpartition("/")[0]
    with pytest.raises(ValueError, match=f"^{part_of_field}"):
        part.restore(state)
    assert bits(part) == before


def test_a_few_bytes_cannot_ask_for_much_memory():
    """Sizes are checked against the fields that are there before anything is made of that size."""
    tiny = {"upper": np.zeros(1)}
    for features in (10**6, 10**9, 2**40, 2**62):
        with pytest.raises(ValueError, match=r"upper|size"):
            Filter.check_state(features, 1, True, tiny)
        with pytest.raises(ValueError, match=r"standardiser|size"):
            Bank.check_state(features, [("one_hot", 10**9)], MAPS, EXPERTS, True, tiny)
        with pytest.raises(ValueError, match=r"standardiser|size"):
            restore_bank(features, TARGETS, MAPS, EXPERTS, True, 1.0, True, 1.0, {})
    assert Filter.shapes(10**6, 1, False)["upper"] == (10**6 * (10**6 - 1) // 2,)
