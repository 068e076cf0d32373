"""The expert that says the last label again."""

import numpy as np
import pytest

from dfop.core import Bank

EXPERTS = [("no_change", 0.0, 0.0)]


def bank_of(targets):
    """A bank whose only expert it is, so that every prediction is made of its own."""
    return Bank(2, targets, [], EXPERTS, True, 30.0, True, np.inf)


def learn(bank, Y, age=0.0):
    out = np.empty(Y.shape)
    bank.learn(np.zeros((len(Y), 2)), Y, np.ones(1), np.full(1, age), out)
    return out


def errors_of_last(Y):
    """Of each row, the summed squared difference from the row before; of the first, from 0."""
    return (np.diff(np.vstack([np.zeros((1, Y.shape[1])), Y]), axis=0) ** 2).sum(axis=1)


@pytest.mark.parametrize("targets", [[("margin", 1)], [("one_hot", 3)], [("number", 1)] * 2])
def test_its_errors_are_those_of_the_label_before(targets):
    rng = np.random.default_rng(0)
    n, m = 50, sum(outputs for _, outputs in targets)
    if targets[0][0] == "number":
        Y = np.cumsum(rng.uniform(-1, 1, size=(n, m)), axis=0)
        Y[0] = 0.0  # a first number is clipped to the range of those before it: there is none
        Y[1] = 30.0, -30.0  # and none lies outside of it later
        Y[2] = -30.0, 30.0
    elif m == 1:
        Y = np.sign(rng.normal(size=(n, 1)))
    else:
        Y = np.eye(3)[rng.integers(0, 3, n)]
    bank = bank_of(targets)
    learn(bank, Y)
    assert bank.errors()["mean"][0] == pytest.approx(errors_of_last(Y).mean())
    assert np.array_equal(bank.state()["expert 0/last"], Y[-1])


def test_a_row_without_a_label_leaves_it_as_it_is():
    bank = bank_of([("margin", 1)])
    learn(bank, np.ones((3, 1)))
    before = bank.state()
    learn(bank, -np.ones((3, 1)), age=np.inf)
    assert all(np.array_equal(values, bank.state()[name]) for name, values in before.items())


def test_outputs_that_come_and_go_take_their_label_with_them():
    bank = bank_of([("number", 1), ("one_hot", 2)])
    learn(bank, np.array([[7.0, 0.0, 1.0]]))
    bank.add_outputs(1)
    assert bank.state()["expert 0/last"].tolist() == [7.0, 0.0, 1.0, 0.0]
    bank.drop_first_target()
    assert bank.state()["expert 0/last"].tolist() == [0.0, 1.0, 0.0]


def test_an_expert_that_does_not_exist_is_refused():
    for expert, message in [
        (("oracle", 0.0, 0.0), "there is no oracle"),
        (("filter", 0.0, 0.0), "named by its map"),
        (("no_change", 0.0, 1.0), "only filters walk"),
    ]:
        with pytest.raises(ValueError, match=message):
            Bank(2, [("margin", 1)], [], [expert], True, 30.0, True, np.inf)


def test_it_has_no_weights():
    with pytest.raises(ValueError, match="no filter"):
        bank_of([("margin", 1)]).coefficients(0)
