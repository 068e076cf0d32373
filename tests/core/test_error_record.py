"""The record of errors against NumPy's means, in constant memory."""

import numpy as np
import pytest
from expert_state import bits
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop.core import ErrorRecord

PIECES = 512


@pytest.mark.parametrize("n", [1, 5, 511, 512, 513, 1023, 1024, 5000, 100_000])
def test_means_and_pieces_are_the_plain_means(n):
    errors = np.random.default_rng(n).exponential(size=(n, 3))
    record = ErrorRecord(3)
    record.add(errors)
    np.testing.assert_allclose(record.mean(), errors.mean(axis=0), rtol=1e-12)
    length = record.piece_length
    history = record.history()
    assert len(history) == n // length < PIECES
    assert length == 1 or len(history) >= PIECES // 2
    pieces = errors[: n // length * length].reshape(-1, length, 3).mean(axis=1)
    np.testing.assert_allclose(history, pieces, rtol=1e-12)
    assert record.rows == n


def test_the_recent_error_follows_a_change():
    record = ErrorRecord(1)
    record.add(np.full((10_000, 1), 4.0))
    record.add(np.full((500, 1), 1.0))
    # an exponential average over 500 rows
    assert record.recent()[0] == pytest.approx(1 + 3 * (1 - 1 / 500) ** 500, rel=1e-9)


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 3000))
@settings(max_examples=20)
def test_any_split_and_a_saved_state_give_the_same_bits(seed, cut):
    rng = np.random.default_rng(seed)
    errors = 10.0 ** rng.uniform(-300, 301, size=(3000, 2))
    whole, first, second = ErrorRecord(2), ErrorRecord(2), ErrorRecord(2)
    whole.add(errors)
    first.add(errors[:cut])
    second.restore(first.state())
    second.add(errors[cut:])
    assert bits(second) == bits(whole)
    assert all(np.isfinite(value).all() for value in whole.state().values())


def test_errors_near_the_largest_number_never_overflow():
    record = ErrorRecord(1)
    for _ in range(20):
        record.add(np.full((100_000, 1), 1.7e308))
    assert all(np.isfinite(value).all() for value in record.state().values())


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        ErrorRecord(0)
    record = ErrorRecord(2)
    with pytest.raises(ValueError, match="one column per expert"):
        record.add(np.ones((3, 3)))
