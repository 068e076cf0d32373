"""Outputs and targets that come later were always there; those that go leave no trace."""

import numpy as np
import pytest
from expert_state import bits

from dfop.core import Bank, Filter

MAPS = [("linear", 0.0, 0), ("fourier", 0.6, 12)]
EXPERTS = [
    (0, 0.0, 0.0), (0, 0.03, 0.0), (0, 0.0, 0.01), (1, 0.003, 0.0), ("interactions", 0.003, 0.0)
]  # fmt: skip
DESIGN = (MAPS, EXPERTS, True, 30.0, True, 1e6)


def learn(bank, X, Y):
    out = np.empty(Y.shape)
    bank.learn(X, np.ascontiguousarray(Y), np.ones(1), np.zeros(1), out)
    return out


def labels(rng, n, known, late, since):
    """Labels of which the last `late` classes come from row `since` on, and rows that tell them."""
    at = rng.integers(0, known, n)
    at[since:] = rng.integers(0, known + late, n - since)
    X = rng.normal(size=(n, 3)) + 2.0 * np.eye(known + late, 3)[at]
    return X, at


@pytest.mark.parametrize("known", [1, 2, 4])
@pytest.mark.parametrize("late", [1, 3])
@pytest.mark.parametrize("before", [[], [("number", 1)]])
def test_a_class_that_comes_later_is_one_that_was_there_and_never_came(known, late, before):
    rng = np.random.default_rng(known)
    n, since = 300, 170
    X, at = labels(rng, n, known, late, since)
    numbers = rng.normal(size=(n, len(before)))
    always = Bank(3, [*before, ("one_hot", known + late + 1)], *DESIGN)
    grown = Bank(3, [*before, ("one_hot", known + 1)], *DESIGN)  # one spare
    Y = np.hstack([numbers, np.eye(known + late + 1)[at]])
    width = len(before) + known + 1
    expected = learn(always, X[:since], Y[:since])
    found = learn(grown, X[:since], Y[:since, :width])
    assert found.tobytes() == np.ascontiguousarray(expected[:, :width]).tobytes()
    grown.add_outputs(late)
    assert grown.outputs == always.outputs
    assert grown.targets == always.targets
    assert bits(grown) == bits(always)  # experts, mixtures, stacks, losses, errors
    assert (
        learn(grown, X[since:], Y[since:]).tobytes()
        == learn(always, X[since:], Y[since:]).tobytes()
    )
    assert bits(grown) == bits(always)


def test_a_filter_learns_an_output_that_comes_later_as_if_it_had_been_0():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(200, 4)), rng.normal(size=(200, 3))
    Y[:100, 2] = 0.0
    always, grown = Filter(4, 3, True, 100.0, 1e6), Filter(4, 2, True, 100.0, 1e6)
    lam, gain = np.array([0.99]), np.ones(1)
    always.learn(X[:100], Y[:100], lam, gain, np.empty((100, 3)))
    grown.learn(X[:100], Y[:100, :2], lam, gain, np.empty((100, 2)))
    grown.add_outputs(1)
    for one in (always, grown):
        one.learn(X[100:], Y[100:], lam, gain, np.empty((100, 3)))
    assert bits(grown) == bits(always)


@pytest.mark.parametrize("k", range(3))
def test_an_output_that_goes_leaves_the_others_as_they_are(k):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(100, 5)), rng.normal(size=(100, 3))
    rest = np.delete(Y, k, axis=1)
    dropped, without = Filter(5, 3, True, 100.0, 1e6), Filter(5, 2, True, 100.0, 1e6)
    lam, gain = np.array([0.99]), np.ones(1)
    dropped.learn(X, Y, lam, gain, np.empty((100, 3)))
    without.learn(X, rest, lam, gain, np.empty((100, 2)))
    dropped.drop_output(k)
    assert bits(dropped) == bits(without)
    dropped.learn(X, rest, lam, gain, out := np.empty((100, 2)))
    without.learn(X, rest, lam, gain, expected := np.empty((100, 2)))
    assert out.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="no such output"):
        dropped.drop_output(2)


def test_targets_added_before_the_first_label_were_there_from_the_start():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(200, 3)), np.cumsum(rng.normal(size=(200, 3)), axis=0)
    always, grown = Bank(2, [("number", 1)] * 3, *DESIGN), Bank(2, [("number", 1)], *DESIGN)
    for bank in (always, grown):
        bank.forget(17.0)
        bank.add_features(1)
    grown.add_number_targets(2)
    assert grown.targets == always.targets
    assert learn(grown, X, Y).tobytes() == learn(always, X, Y).tobytes()
    assert bits(grown) == bits(always)
    with pytest.raises(ValueError, match="once labels were learned"):
        grown.add_number_targets(1)


def test_a_target_that_goes_leaves_the_others_and_the_errors_of_a_shadow_were_never_counted():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=(300, 1))
    at = rng.integers(0, 3, 300)
    Y = np.hstack([y, np.eye(3)[at]])
    both = Bank(3, [("number", 1, True), ("one_hot", 3)], *DESIGN)
    alone = Bank(3, [("one_hot", 3)], *DESIGN)
    assert both.targets == [("number", 1, True), ("one_hot", 3)]
    assert learn(both, X, Y)[:, 1:].tobytes() == learn(alone, X, Y[:, 1:]).tobytes()
    for name, value in alone.errors().items():
        np.testing.assert_array_equal(both.errors()[name], value)
    both.drop_first_target()
    assert both.targets == alone.targets
    assert bits(both) == bits(alone)
    assert learn(both, X, Y[:, 1:]).tobytes() == learn(alone, X, Y[:, 1:]).tobytes()


def test_a_shadow_can_step_into_the_light():
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(100, 3)), rng.normal(size=(100, 2))
    bank = Bank(3, [("number", 1), ("number", 1, True)], *DESIGN)
    bank.set_shadow(0, True)
    bank.set_shadow(1, False)
    other = Bank(3, [("number", 1, True), ("number", 1)], *DESIGN)
    assert bank.targets == other.targets
    assert learn(bank, X, Y).tobytes() == learn(other, X, Y).tobytes()
    assert bits(bank) == bits(other)
    with pytest.raises(ValueError, match="no such target"):
        bank.set_shadow(2, True)


def test_only_classes_come_later():
    bank = Bank(2, [("one_hot", 3), ("number", 1)], *DESIGN)
    with pytest.raises(ValueError, match="one_hot"):
        bank.add_outputs(1)
