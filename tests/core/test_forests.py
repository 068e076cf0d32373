"""What holds for forests whatever they learn: splits of a stream, growth, saving, hostile rows."""

import numpy as np
import pytest
from expert_state import bits
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop.core import Bank

MAPS = [("linear", 0.0, 0)]
FORESTS = [("quick_forest", 0.0, 0.0), ("careful_forest", 0.0, 0.0), ("residual_forest", 3e-4, 0.0)]
EXPERTS = [(0, 3e-4, 0.0), *FORESTS]
DESIGN = (MAPS, EXPERTS, True, 30.0, True, 1e6)
NUMBER, MARGIN = ("number", 1), ("margin", 1)


def learn(bank, X, Y, elapsed=1.0, age=0.0):
    X, Y, out = np.ascontiguousarray(X), np.ascontiguousarray(Y), np.empty(Y.shape)
    bank.learn(X, Y, np.atleast_1d(elapsed), np.atleast_1d(age), out)
    return out


def each(bank, X):
    out = np.empty((len(bank.experts), len(X), bank.outputs))
    bank.predict_each(np.ascontiguousarray(X), out)
    return out


def tree_shaped(rng, n, d):
    X = rng.normal(size=(n, d))
    X[:, 0] = rng.integers(0, 5, n)
    return X, 1.0 * (X[:, 0] == 2) + (X[:, 1] > 0.5) * (X[:, 2 % d] < 0) + 0.1 * rng.normal(size=n)


def coded(score, classes):
    """Classes in the order of coming, as a margin and one-hot."""
    at = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    order = list(dict.fromkeys(at.tolist()))
    at = np.array([order.index(c) for c in at])
    return at, np.where(at == 0, -1.0, np.where(at == 1, 1.0, 0.0))[:, np.newaxis]


def targets(score, case):
    if case == "numbers":
        return [NUMBER, NUMBER], np.column_stack([score, score**2 - 1e6])
    if case == "two classes":
        at, margin = coded(score, 2)
        return [MARGIN, ("one_hot", 3, True)], np.hstack([margin, np.eye(3)[at]])
    at, _ = coded(score, classes := {"four classes": 4, "nine classes": 9}[case])
    return [("one_hot", classes + 1)], np.eye(classes + 1)[at]


CASES = ["numbers", "two classes", "four classes", "nine classes"]


@pytest.mark.parametrize("d", [4, 25])
@pytest.mark.parametrize("case", CASES)
def test_nothing_depends_on_how_rows_are_cut_into_calls(case, d):
    rng = np.random.default_rng(1)
    n = 900
    X, score = tree_shaped(rng, n, d)
    design, Y = targets(score, case)
    elapsed = rng.integers(1, 4, n).astype(float)
    age = np.where(rng.random(n) < 0.1, np.inf, 0.0)  # some rows are predicted only
    whole, cut = (Bank(d, design, *DESIGN) for _ in range(2))
    at_once = learn(whole, X, Y, elapsed, age)
    pieces, start = [], 0
    while start < n:
        part = slice(start, start := start + int(rng.integers(1, 60)))
        pieces.append(learn(cut, X[part], Y[part], elapsed[part], age[part]))
    assert np.vstack(pieces).tobytes() == at_once.tobytes()
    assert bits(cut) == bits(whole)


@pytest.mark.parametrize("case", CASES)
def test_a_forest_goes_on_from_its_state(case):
    X, score = tree_shaped(np.random.default_rng(2), 800, 5)
    design, Y = targets(score, case)
    bank, restored = (Bank(5, design, *DESIGN) for _ in range(2))
    learn(bank, X[:500], Y[:500])
    restored.restore(bank.state())
    assert bits(restored) == bits(bank)
    assert learn(restored, X[500:], Y[500:]).tobytes() == learn(bank, X[500:], Y[500:]).tobytes()
    assert bits(restored) == bits(bank)


@pytest.mark.parametrize("case", CASES)
def test_what_is_predicted_is_what_was_predicted_before_learning(case):
    X, score = tree_shaped(np.random.default_rng(3), 400, 4)
    design, Y = targets(score, case)
    bank = Bank(4, design, *DESIGN)
    learn(bank, X[:300], Y[:300])
    for t in range(300, 400):
        before = np.empty((1, Y.shape[1]))
        bank.predict(X[t : t + 1], before)
        assert before.tobytes() == learn(bank, X[t : t + 1], Y[t : t + 1]).tobytes()


def forest_state(bank):
    return {name: value for name, value in bits(bank).items() if "tree " in name or "bins" in name}


def test_classes_met_on_the_way_are_classes_announced():
    """One after the other: from two to seven, through every way of counting classes."""
    rng = np.random.default_rng(4)
    n, d = 1400, 4
    at = np.array([rng.integers(0, min(2 + t // 200, 7)) for t in range(n)])
    at[::200] = np.minimum(np.arange(7), 6)  # numbered in the order of coming
    X = rng.normal(size=(n, d)) + np.eye(7, d)[at] * 2
    announced = Bank(d, [("one_hot", 12)], *DESIGN)
    growing = Bank(d, [("one_hot", 1)], *DESIGN)
    for t in range(0, n, 100):
        rows = slice(t, t + 100)
        needed = int(at[: t + 100].max()) + 1
        growing.add_outputs(max(needed + 1 - growing.outputs, 0))  # and one for the next
        expected = learn(announced, X[rows], np.eye(12)[at[rows]])
        out = learn(growing, X[rows], np.eye(growing.outputs)[at[rows]])
        assert out.tobytes() == expected[:, : growing.outputs].tobytes()
        assert not each(announced, X[rows])[1:, :, needed:].any()  # a class never learned
    assert forest_state(growing) == forest_state(announced)


def test_the_margin_is_the_same_beside_outputs_of_classes_and_leaves_them_behind():
    rng = np.random.default_rng(5)
    X, score = tree_shaped(rng, 500, 4)
    at, margin = coded(score, 2)
    alone = Bank(4, [MARGIN], *DESIGN)
    pair = Bank(4, [MARGIN, ("one_hot", 3, True)], *DESIGN)
    classes = Bank(4, [("one_hot", 3)], *DESIGN)
    expected = learn(alone, X, margin)
    assert learn(pair, X, np.hstack([margin, np.eye(3)[at]]))[:, :1].tobytes() == expected.tobytes()
    one_hot, both = each(pair, X)[1:3, :, 1:], each(pair, X)[1:3, :, 0]
    np.testing.assert_array_equal(both, one_hot[..., 1] - one_hot[..., 0])
    pair.drop_first_target()
    learn(classes, X, np.eye(3)[at])
    assert forest_state(pair) == forest_state(classes)
    third = rng.integers(0, 3, 300)
    Z = rng.normal(size=(300, 4)) + np.eye(3, 4)[third]
    learn(pair, Z, np.eye(3)[third])
    learn(classes, Z, np.eye(3)[third])
    assert forest_state(pair) == forest_state(classes)


@pytest.mark.parametrize(("before", "added"), [(4, 1), (0, 3), (17, 3)])
@pytest.mark.parametrize("case", CASES)
def test_a_column_that_comes_later_was_always_0(case, before, added):
    rng = np.random.default_rng(6)
    X, score = tree_shaped(rng, 600, before + added)
    X[:250, before:] = 0.0
    design, Y = targets(score, case)
    late, always = Bank(before, design, *DESIGN), Bank(before + added, design, *DESIGN)
    learn(late, X[:250, :before], Y[:250])
    learn(always, X[:250], Y[:250])
    late.add_features(added)
    forests = [name for name in late.state() if "expert 1/" in name or "expert 2/" in name]
    for rows in (slice(0, 0), slice(250, 600)):
        learn(late, X[rows], Y[rows])
        learn(always, X[rows], Y[rows])
        mine, expected = bits(late), bits(always)
        assert [name for name in forests if mine[name] != expected[name]] == []


@pytest.mark.parametrize(("before", "added"), [(19, 4), (25, 2), (36, 7), (20, 90)])
def test_a_wide_forest_takes_columns_in_and_goes_on(before, added):
    """A leaf looks at some of many columns: of those that it had and of the new ones."""
    X, score = tree_shaped(np.random.default_rng(11), 600, before + added)
    X[:400, before:] = 0.0
    design, Y = targets(score, "four classes")
    bank = Bank(before, design, *DESIGN)
    learn(bank, X[:400, :before], Y[:400])
    expected = each(bank, X[:400, :before])[1:3]
    had, name = bank.state(), "expert 1/label tree 0/leaf_columns"
    bank.add_features(added)
    np.testing.assert_array_equal(each(bank, X[:400])[1:3], expected)
    leaves = had["expert 1/label tree 0/waits"].size
    pairs = zip(had[name].reshape(leaves, -1), bank.state()[name].reshape(leaves, -1), strict=True)
    for old, new in pairs:
        assert new.size == max(12, round(2 * np.sqrt(before + added)))
        assert set(new) <= set(old) | set(range(before, before + added))
    bank.restore(bank.state())
    assert np.isfinite(learn(bank, X[400:], Y[400:])).all()


@pytest.mark.parametrize("power", [-300, -7, 40, 300])
def test_units_that_are_powers_of_two_change_no_digit(power):
    X, score = tree_shaped(np.random.default_rng(7), 500, 4)
    Y = score[:, np.newaxis] - 3.0
    bank, scaled = Bank(4, [NUMBER], *DESIGN), Bank(4, [NUMBER], *DESIGN)
    learn(bank, X, Y)
    learn(scaled, X * 2.0**power, Y * 2.0**power)
    expected = each(bank, X)[1:3] * 2.0**power
    np.testing.assert_array_equal(each(scaled, X * 2.0**power)[1:3], expected)


def test_far_from_0_a_forest_sees_the_same():
    """Sums are of single precision, but relative to what a leaf has seen."""
    X, score = tree_shaped(np.random.default_rng(8), 1500, 4)
    errors = []
    for offset in (0.0, 1e7):
        bank = Bank(4, [NUMBER], *DESIGN)
        Y = score[:, np.newaxis] + offset
        learn(bank, X[:1000], Y[:1000])
        errors.append(np.abs(each(bank, X[1000:])[1:3, :, 0] - Y[1000:, 0]).mean(axis=1))
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-3)
    assert max(errors[0]) < 0.3  # the mean alone would be .4 off


HOSTILE = [0.0, -0.0, 1.0, -1.0, 5e-324, -1e-310, 1e-200, 1e150, -1e150, 2.0**500, -(2.0**500), 0.1]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_row_makes_a_forest_say_what_is_no_number(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    pool = data.draw(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=6))
    n, d = data.draw(st.integers(1, 300)), data.draw(st.integers(0, 4))
    case = data.draw(st.sampled_from(CASES))
    X = rng.choice(pool, size=(n, d))
    score = rng.choice(pool, size=n)
    if case == "numbers":
        design, Y = [NUMBER, NUMBER], np.column_stack([score, -score])
    else:
        design, Y = targets(score, case)
    elapsed = rng.choice([0.0, 1.0, 1e-300, 0.25, 1e9, 1e300], size=n)
    bank = Bank(d, design, *DESIGN)
    assert np.isfinite(learn(bank, X, Y, elapsed)).all()
    assert np.isfinite(each(bank, X)).all()
    bank.restore(bank.state())


def test_what_a_forest_keeps_is_bounded():
    """A checkerboard of many fields asks for more leaves than there may be."""
    rng = np.random.default_rng(9)
    for d, leaves in ((2, 128), (20, 50)):
        X = rng.uniform(size=(12000, d))
        at = np.floor(X[:, 0] * 25).astype(int) % 2
        bank = Bank(d, [MARGIN], MAPS, FORESTS[:1], True, 30.0, True, 1e6)
        learn(bank, X, 2.0 * at[:, np.newaxis] - 1.0)
        state = bank.state()
        for k in range(8):
            assert state[f"expert 0/label tree {k}/waits"].size <= leaves
            assert state[f"expert 0/label tree {k}/cells"].size <= 65536


def test_more_numbers_than_are_learned_move_up_when_others_go():
    X, score = tree_shaped(np.random.default_rng(12), 300, 3)
    Y = score[:, np.newaxis] + np.arange(6.0)
    bank = Bank(3, [NUMBER] * 6, *DESIGN)
    learn(bank, X, Y)
    predicted = each(bank, X)
    assert predicted[1:3, :, :4].any(axis=1).all()
    assert not predicted[1:3, :, 4:].any()
    bank.drop_first_target()
    bank.restore(bank.state())
    learn(bank, X, Y[:, 1:])
    np.testing.assert_array_less(np.abs(each(bank, X)[1:3, :, 3] - Y[:, 4]).mean(axis=1), 1.0)


def test_the_bins_of_few_values_are_the_values_and_of_many_hold_as_many_rows():
    rng = np.random.default_rng(10)
    n = 4096
    X = np.column_stack([rng.integers(0, 30, n), rng.normal(size=n), np.full(n, 7.0)])
    bank = Bank(3, [NUMBER], MAPS, FORESTS[:1], True, 30.0, True, 1e6)
    learn(bank, X, rng.normal(size=(n, 1)))
    edges = bank.state()["bins/edges"]
    np.testing.assert_array_equal(edges[0, :29], np.arange(29) + 0.5)
    assert (edges[0, 29:] > 1e150).all()
    assert (edges[2] > 1e150).all()
    shares = np.bincount(np.searchsorted(edges[1], X[:, 1]), minlength=32) / n
    assert shares.min() > 0.2 / 32
    assert shares.max() < 2 / 32
