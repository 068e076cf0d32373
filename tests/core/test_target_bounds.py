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
    if rng.random() < 0.3:  # by chance, or all the same
        out = y[at : at + length]
        by_chance = rng.random(len(out)) if rng.random() < 0.5 else 1.0
        out[:] = rng.choice([1e5, -9999.0]) * by_chance
    y[rng.integers(n // 4, n) :] += rng.choice([0.0, 30.0, 1e5])
    return X, 10.0 ** rng.uniform(-3, 3) * y[:, np.newaxis]


def learned(model, X, Y, ages, ends=()):
    out = np.empty(Y.shape)
    for start, end in zip([0, *ends], [*ends, len(X)], strict=True):
        model.learn(X[start:end], Y[start:end], np.ones(1), ages[start:end], out[start:end])
    return out


def taken(Y, ages):
    """Return what labels count as, NaN for nothing, when learning begins anew, and the oracle."""
    oracle, labels, begun, instead = OracleTarget(), Y.copy(), [], np.full(len(Y), np.nan)
    for t in range(len(Y)):
        if oracle.instead is not None:
            instead[t] = oracle.instead
        if not np.isfinite(ages[t]):
            continue
        labels[t, 0], anew = oracle.take(float(Y[t, 0]))  # None becomes NaN
        if anew:
            begun.append(t)
    return labels, begun, instead, oracle


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 400))
def test_what_labels_count_as_is_what_the_oracle_says(seed, cut):
    X, Y = stream(seed)
    ages = np.random.default_rng(seed).choice(
        [NOW, NO_LABEL, PREDICTED_ONLY], len(X), p=[0.8, 0.1, 0.1]
    )
    _, begun, instead, oracle = taken(Y, ages)
    whole, parts = bank(), bank()
    out = learned(whole, X, Y, ages)
    np.testing.assert_array_equal(learned(parts, X, Y, ages, [cut]), out)
    apart = ~np.isnan(instead)
    np.testing.assert_array_equal(out[apart, 0], instead[apart])
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
    labels, begun, instead, _ = taken(Y, np.zeros(len(X)))
    found = learned(bank(), X, Y, np.zeros(len(X)))
    starts = [0, *begun]
    for start, end in zip(starts, [*begun, len(X)], strict=True):
        plain = bank(bounded=False)
        elapsed = np.where(np.arange(len(X)) < start + (start > 0), 0.0, 1.0)
        before = np.arange(len(X)) < start
        ages = np.where(before | np.isnan(labels[:, 0]), NO_LABEL, NOW)
        expected, told = np.empty(Y.shape), np.nan_to_num(labels)
        # a plain one has its own bounds, which may be narrower where there is more room
        seen = labels[start:end, 0][ages[start:end] == NOW]
        most, least = np.maximum.accumulate(seen)[:-1], np.minimum.accumulate(seen)[:-1]
        outside = np.maximum(seen[1:] - most, least - seen[1:])[9:]
        if (outside > 3 * (most - least)[9:]).any():
            continue
        plain.learn(X[:end], told[:end], elapsed[:end], ages[:end], expected[:end])
        apart = ~np.isnan(instead)
        expected[apart, 0] = instead[apart]
        first = start + (start > 0)  # that row was predicted before its label was seen
        np.testing.assert_array_equal(found[first:end], expected[first:end])


def numbers(*values):
    labels = np.array(values, dtype=float)[:, np.newaxis]
    return np.zeros((len(labels), 3)), labels, np.zeros(len(labels))


FIRST = [0.0, 1.0] * (RUN // 2)  # believed: from 0 to 1


def test_one_far_out_teaches_nothing_and_doubles_the_room():
    model = bank()
    learned(model, *numbers(*FIRST, *[0.5] * 16, 4.5, 4.5, *[0.5] * 16, 4.5))
    state = model.state()
    assert state["bounds 0/high"] == 4.5  # there was room for 3, then for 6
    assert state["begun"] == 0


def test_one_far_out_is_as_a_row_without_a_label():
    X, Y = stream(5)
    Y[200] = 1e9
    ages = np.zeros(400)
    far, unlabelled = bank(), bank()
    learned(far, X[:201], Y[:201], ages[:201])
    ages[200] = NO_LABEL
    learned(unlabelled, X[:201], Y[:201], ages[:201])
    after = far.state()
    for name, values in unlabelled.state().items():
        if not name.startswith("bounds 0"):
            np.testing.assert_array_equal(after[name], values, err_msg=name)


def test_twelve_far_out_in_a_row_have_moved():
    model = bank()
    learned(model, *numbers(*FIRST, *np.linspace(99.0, 101.0, RUN - 1)))
    assert model.state()["begun"] == 0
    assert model.state()["output 0/range/high"] == 1.0
    learned(model, *numbers(100.0))
    state = model.state()
    assert state["begun"] == 1
    assert state["errors/rows"] == 0  # the first row of experts that know nothing is not told
    assert (state["bounds 0/low"], state["bounds 0/high"]) == (99.0, 101.0)
    assert state["bounds 0/least room"] == 12.0
    assert state["output 0/range/low"] == state["output 0/range/high"] == 100.0


def test_the_same_far_number_all_along_is_a_state_apart():
    model, ahead = bank(), np.empty((1, 1))
    out = learned(model, *numbers(*FIRST, *[100.0] * 50, *FIRST))
    assert (out[RUN : 2 * RUN] < 2.0).all()
    assert (out[2 * RUN : RUN + 51] == 100.0).all()  # the last label again, till another is known
    assert (out[RUN + 51 :] < 2.0).all()
    assert model.state()["begun"] == 0
    learned(model, *numbers(*[-7e5] * RUN))
    model.predict(np.zeros((1, 3)), ahead)
    assert ahead[0, 0] == -7e5
    out = learned(model, *numbers(*FIRST, *[-7e5] * 5, *FIRST))
    assert (out[RUN + 1 : RUN + 6] == -7e5).all()  # its number is known now


def test_labels_that_went_far_apart_and_are_back_begin_anew():
    model = bank()
    learned(model, *numbers(*FIRST, *np.linspace(-5e4, 5e4, 20)))
    assert model.state()["begun"] == 1
    learned(model, *numbers(*FIRST[:-1]))
    assert model.state()["begun"] == 1
    learned(model, *numbers(4.0))  # within the room that there was
    state = model.state()
    assert state["begun"] == 2
    assert (state["bounds 0/low"], state["bounds 0/high"]) == (0.0, 4.0)


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


def test_one_of_several_targets_that_moves_is_believed_and_nothing_begins_anew():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 3))
    Y = X @ rng.normal(size=(3, 2))
    moved = Y.copy()
    moved[300:, 1] += 1e5
    model, still = bank(2), bank(2)
    out, expected = learned(model, X, moved, np.zeros(400)), learned(still, X, Y, np.zeros(400))
    np.testing.assert_array_equal(out[:, 0], expected[:, 0])
    state, oracle = model.state(), OracleTarget(alone=False)
    for label in moved[:, 1].tolist():
        oracle.take(label)
    for name, field in FIELDS.items():
        np.testing.assert_array_equal(state[f"bounds 1/{field}"], getattr(oracle, name))
    assert state["begun"] == 0
    assert state["output 1/range/high"] > 9e4


def test_a_row_with_which_learning_begins_anew_may_have_its_label_a_row_late():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 3))
    Y = X @ np.ones((3, 1)) + np.where(np.arange(150) < 80, 0.0, 1e4)[:, np.newaxis]
    at_once, late = bank(), bank()
    expected, out = learned(at_once, X, Y, np.zeros(150)), np.empty((150, 1))
    for t in range(150):
        row = slice(t, t + 1)
        late.predict(X[row], out[row])
        late.forget(1.0)
        late.learn(X[row], Y[row], np.zeros(1), np.zeros(1), np.empty((1, 1)))
    assert at_once.state()["begun"] == 1
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("ends", [150, 205, 212, 250, 285])
def test_the_bounds_are_kept(ends):
    X, Y = stream(3)
    Y[200:280] = 1e9
    Y[280:] += 1e9
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
        ("apart", 0.5),
        ("known", 0.5),
        ("state", np.nan),
        ("away", 0.5),
        ("home low", 1e300),
        ("back", 12.0),
        ("back", 0.5),
        ("last", np.nan),
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
