"""A state that no forest can have is refused, and nothing changes."""

import numpy as np
import pytest
from expert_state import bits

from dfop.core import Bank

EXPERTS = [(0, 3e-4, 0.0), ("quick_forest", 0.0, 0.0), ("residual_forest", 3e-4, 0.0)]
TARGETS = [("number", 1), ("one_hot", 4)]
LABEL, NUMBER, RESIDUAL = (
    "expert 1/label tree 0/",
    "expert 1/target 0 tree 0/",
    "expert 2/target 1 tree 0/",
)


@pytest.fixture(scope="module")
def bank():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    at = np.add(X[:, 0] > 0, X[:, 1] > 0.5, dtype=np.int64)
    bank = Bank(3, TARGETS, [("linear", 0.0, 0)], EXPERTS, True, 30.0, True, 1e6)
    Y = np.column_stack([at + 0.1 * X[:, 2], np.eye(4)[at]])
    bank.learn(X, Y, np.ones(1), np.zeros(1), np.empty(Y.shape))
    return bank


FORGED = [  # a field, where, what
    (LABEL + "child", 0, 0),  # a node that is its own child
    (LABEL + "child", 0, 2),  # children are next to each other
    (LABEL + "child", 0, 10**6),
    (LABEL + "column", 0, -2),
    (LABEL + "column", 0, 3),
    (LABEL + "high", 0, -(2.0**501)),
    (LABEL + "outputs", 0, 2),
    (LABEL + "outputs", 0, 2**31),
    (LABEL + "rows", 0, 0),
    (LABEL + "sums", 0, -1),
    (LABEL + "sum_squares", 0, 0),
    (LABEL + "own", 0, -1),
    (LABEL + "opened", 0, 0),
    (LABEL + "leaf_columns", 1, 0),
    (LABEL + "leaf_columns", 2, 3),
    (LABEL + "cells", 0, -1),
    (NUMBER + "unit", 0, 3),
    (NUMBER + "sums", 0, 1e9),
    (NUMBER + "references", 0, 9),
    (NUMBER + "squares", 0, -1),
    (RESIDUAL + "outputs", 0, 4),
    ("expert 1/rows", 0, 0.5),
    ("expert 2/target 1 outputs", 0, 5),
    ("expert 2/target 0 range/unit", 0, 3),
    ("bins/rows", 0, 0.5),
    ("bins/rows_drawn", 0, 16),
    ("bins/counts", 0, 0),
    ("bins/counts", 0, 1.5),
    ("bins/values", 0, 1e9),
    ("bins/weights", 3, 0),
    ("bins/edges", 1, 1e9),
]


@pytest.mark.parametrize(("field", "at", "value"), FORGED)
def test_what_cannot_be_is_refused_by_name(bank, field, at, value):
    before, state = bits(bank), bank.state()
    state[field].flat[at] = value
    with pytest.raises(ValueError, match=rf"^{field.rpartition('/')[0]}/\w"):
        bank.restore(state)
    assert bits(bank) == before


ROWS = ["column", "child", "place", "low", "high", "rows", "sums", "sum_squares", "own", "below"]
ROWS += ["visits", "openings", "waits", "squares", "references", "leaf_columns", "cells"]


@pytest.mark.parametrize("name", ROWS)
def test_a_row_too_few_or_too_many_is_refused(bank, name):
    before = bits(bank)
    for field in (LABEL + name, NUMBER + name):
        value = bank.state()[field]
        for other in (value[:-1], np.append(value, 0.0), np.zeros(10**5)):
            if name == "references" and value.size == 0 == other.size:
                continue  # classes have none
            with pytest.raises(ValueError, match=f"^{field.rpartition('/')[0]}/"):
                bank.restore({**bank.state(), field: other})
    assert bits(bank) == before


def test_two_leaves_have_two_places(bank):
    state = bank.state()
    leaves = np.flatnonzero(state[LABEL + "column"] == -1)
    state[LABEL + "place"][leaves[0]] = state[LABEL + "place"][leaves[1]]
    with pytest.raises(ValueError, match="place: not one for each leaf"):
        bank.restore(state)


def test_a_residual_forest_follows_the_filter_that_it_corrects():
    for experts in (
        [("residual_forest", 0.0, 0.0)],
        [(0, 0.1, 0.0), ("residual_forest", 0.2, 0.0)],
    ):
        with pytest.raises(ValueError, match="follows the linear filter"):
            Bank(2, [("number", 1)], [("linear", 0.0, 0)], experts, True, 30.0, True, 1e6)
