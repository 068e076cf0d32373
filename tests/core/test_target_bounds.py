"""A bounded bank draws in numbers far from those before, and begins anew where they have moved."""

import pickle

import numpy as np
import pytest
from bounds_oracle import RUN, OracleTarget
from hypothesis import given
from hypothesis import strategies as st

from dfop.core import Bank, restore_bank

LINEAR = [("linear", 0.0, 0)]
EXPERTS = [
    (0, 0.0, 0.0),
    (0, 0.1, 0.0),
    ("no_change", 0.0, 0.0),
    ("quick_forest", 0.0, 0.0),
    ("residual_forest", 0.0, 0.0),
    ("additive", 0.0, 0.0),
]
NOW, NO_LABEL, PREDICTED_ONLY = 0.0, -np.inf, np.inf
FIELDS = {"low": "low", "high": "high", "room": "room", "least_room": "least room"}


def bank(targets=1, *, bounded=True):
    named = [("number", 1)] * targets
    return Bank(3, named, LINEAR, EXPERTS, True, 3000.0, True, np.inf, bounded=bounded)


def stream(seed, n=400):
    """Numbers of any size with wild ones at the start, now and then, in a row, or for good."""
    rng = np.random.default_rng(seed)
    # so that the scale and the range of every feature are known from the first rows on
    X = rng.choice([-1.0, 1.0], (n, 3)) * rng.uniform(0.51, 1.0, size=(n, 3))
    X[0], X[1] = 1.0, -1.0
    y = X @ rng.normal(size=3) + 0.1 * rng.normal(size=n)
    first = rng.integers(0, 20, rng.integers(0, 3))
    y[first] = rng.choice([1e6, -9999.0], len(first))
    wild = rng.random(n) < rng.choice([0.0, 0.01, 0.1])
    y[wild] *= 10.0 ** rng.uniform(1, 12, wild.sum())
    at, length = rng.integers(0, n), rng.integers(1, 40)
    y[at : at + length] += rng.choice([0.0, 30.0, 1e6])
    y[rng.integers(n // 4, n) :] += rng.choice([0.0, 30.0, 1e5])
    return X, 10.0 ** rng.uniform(-3, 3) * y[:, np.newaxis]


def learned(model, X, Y, ages, ends=()):
    out = np.empty(Y.shape)
    for start, end in zip([0, *ends], [*ends, len(X)], strict=True):
        model.learn(X[start:end], Y[start:end], np.ones(1), ages[start:end], out[start:end])
    return out


def taken(Y, ages):
    """Return what labels count as, the rows with which learning begins anew, and the oracle."""
    oracle, labels, begun = OracleTarget(), Y.copy(), []
    for t in np.flatnonzero(np.isfinite(ages)):
        labels[t, 0], anew = oracle.take(float(Y[t, 0]))
        if anew:
            begun.append(int(t))
    return labels, begun, oracle


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 400))
def test_what_labels_count_as_is_what_the_oracle_says(seed, cut):
    X, Y = stream(seed)
    ages = np.random.default_rng(seed).choice(
        [NOW, NO_LABEL, PREDICTED_ONLY], len(X), p=[0.8, 0.1, 0.1]
    )
    _, begun, oracle = taken(Y, ages)
    whole, parts = bank(), bank()
    out = learned(whole, X, Y, ages)
    np.testing.assert_array_equal(learned(parts, X, Y, ages, [cut]), out)
    state = whole.state()
    for name, field in FIELDS.items():
        np.testing.assert_array_equal(state[f"bounds 0/{field}"], getattr(oracle, name))
    assert state["bounds 0/run labels"] == len(oracle.run)
    assert state["begun"] == len(begun)
    for name, values in parts.state().items():
        np.testing.assert_array_equal(values, state[name], err_msg=name)


@given(seed=st.integers(0, 10**6))
def test_experts_learn_what_labels_count_as_and_begin_anew(seed):
    """From then on they are those of a bank that saw the rows before without their labels."""
    X, Y = stream(seed)
    labels, begun, _ = taken(Y, np.zeros(len(X)))
    found = learned(bank(), X, Y, np.zeros(len(X)))
    starts = [0, *begun]
    for start, end in zip(starts, [*begun, len(X)], strict=True):
        plain, ages = bank(bounded=False), np.zeros(len(X))
        ages[:start] = NO_LABEL
        elapsed = np.where(ages == NOW, 1.0, 0.0)
        expected = np.empty(Y.shape)
        # a plain one has its own bounds, which may be narrower where there is more room
        before = np.maximum.accumulate(np.r_[-np.inf, labels[start:end, 0]])[:-1]
        below = np.minimum.accumulate(np.r_[np.inf, labels[start:end, 0]])[:-1]
        told = labels[start:end, 0]
        known = np.arange(len(told)) >= 10
        outside = np.maximum(told - before, below - told)[known]
        if (outside > 3 * (before - below)[known]).any():
            continue
        plain.learn(X[:end], labels[:end], elapsed[:end], ages[:end], expected[:end])
        first = start + (start > 0)  # that row was predicted before its label was seen
        np.testing.assert_array_equal(found[first:end], expected[first:end])


def numbers(*values):
    labels = np.array(values, dtype=float)[:, np.newaxis]
    return np.zeros((len(labels), 3)), labels, np.zeros(len(labels))


FIRST = [0.0, 1.0] * (RUN // 2)  # believed: from 0 to 1


def test_one_far_out_counts_as_the_nearest_and_doubles_the_room():
    model = bank()
    learned(model, *numbers(*FIRST, *[0.5] * 16, 4.5, 4.5, *[0.5] * 16, 4.5))
    state = model.state()
    assert state["bounds 0/high"] == 4.5  # there was room for 3, then for 6
    assert state["begun"] == 0


def test_twelve_far_out_in_a_row_have_moved():
    model = bank()
    learned(model, *numbers(*FIRST, *[100.0] * (RUN - 1)))
    assert model.state()["begun"] == 0
    assert model.state()["output 0/range/high"] == 1.0
    learned(model, *numbers(100.0))
    state = model.state()
    assert state["begun"] == 1
    assert state["errors/rows"] == 0  # the first row of experts that know nothing is not told
    assert (state["bounds 0/low"], state["bounds 0/high"]) == (99.5, 100.5)
    assert state["bounds 0/least room"] == 12.0
    assert state["output 0/range/low"] == state["output 0/range/high"] == 100.0


def test_wild_ones_among_the_first_are_left_out():
    model = bank()
    learned(model, *numbers(0.0, -9999.0, *FIRST[:-2]))
    state = model.state()
    assert state["begun"] == 1
    assert (state["bounds 0/low"], state["bounds 0/high"]) == (0.0, 1.0)


@pytest.mark.parametrize(("value", "begun"), [(31.0, 0), (31.1, 1), (-30.0, 0), (-30.1, 1)])
def test_wild_is_more_than_thirty_ranges_of_those_together_away(value, begun):
    model = bank()
    learned(model, *numbers(value, *FIRST[1:]))  # nine are together from 0 to 1
    assert model.state()["begun"] == begun


def test_the_row_that_ends_what_was_learned_is_predicted_before_its_label_is_seen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = X @ np.ones((3, 1)) + np.where(np.arange(60) < 40, 0.0, 1e4)[:, np.newaxis]
    at = 40 + RUN - 1
    whole, ahead = bank(), np.empty((1, 1))
    out = learned(whole, X, Y, np.zeros(60))
    before = bank()
    learned(before, X[:at], Y[:at], np.zeros(at))
    before.predict(X[at : at + 1], ahead)
    assert out[at, 0] == ahead[0, 0]
    assert np.abs(out[at + 1 :] - Y[at + 1 :]).max() < 100.0


def test_what_was_predicted_before_learning_began_anew_counts_for_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    Y = X @ np.ones((3, 1)) + np.where(np.arange(200) < 100, 0.0, 1e4)[:, np.newaxis]
    found = []
    for known in (True, False):
        model, now = bank(), np.empty((50, 1))
        learned(model, X[:100], Y[:100], np.zeros(100))
        made = np.empty((50, model.made_size))
        model.predict_made(X[150:], now, made)
        learned(model, X[100:150], Y[100:150], np.zeros(50))
        if not known:
            made[:] = np.nan
        assert model.state()["begun"] == 1
        model.learn_made(X[150:], Y[150:], np.ones(1), np.zeros(50), now, made)
        found.append(model.state())
    for name, values in found[1].items():
        np.testing.assert_array_equal(found[0][name], values, err_msg=name)


def test_every_target_has_its_own_bounds_and_one_that_moves_makes_all_begin_anew():
    X, Y = stream(7)
    Y = np.column_stack([np.sin(np.arange(400)), np.where(np.arange(400) < 300, Y[:, 0], 1e15)])
    model = bank(2)
    learned(model, X, Y, np.zeros(400))
    state = model.state()
    assert state["bounds 0/high"] == Y[:, 0].max()
    assert state["bounds 1/high"] >= 1e15
    assert state["begun"] >= 1
    assert state["errors/rows"] <= 400 - 300 - RUN + 1


@pytest.mark.parametrize("ends", [150, 205])
def test_the_bounds_are_kept(ends):
    X, Y = stream(3)
    Y[200:] += 1e9
    whole, half = bank(), bank()
    expected = learned(whole, X, Y, np.zeros(400))
    learned(half, X[:ends], Y[:ends], np.zeros(ends))
    for copy in (pickle.loads(pickle.dumps(half)), restored(half.state())):
        after = learned(copy, X[ends:], Y[ends:], np.zeros(400 - ends))
        np.testing.assert_array_equal(after, expected[ends:])


def restored(state):
    named = [("number", 1)]
    return restore_bank(3, named, LINEAR, EXPERTS, True, 3000.0, True, np.inf, state, bounded=True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("settled", 0.5),
        ("low", 1e300),
        ("room", 1.0),
        ("least room", 2.0**20),
        ("quiet", 17.0),
        ("run labels", 12.0),
        ("run labels", 0.5),
        ("run", np.nan),
    ],
)
def test_bounds_that_cannot_be_are_refused(field, value):
    X, Y = stream(4)
    model = bank()
    learned(model, X, Y, np.zeros(400))
    state = model.state()
    state[f"bounds 0/{field}"] = np.full_like(state[f"bounds 0/{field}"], value)
    with pytest.raises(ValueError, match="bounds 0"):
        restored(state)
