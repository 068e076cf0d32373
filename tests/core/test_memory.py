"""What a model keeps in memory is its state."""

from dfop.core import Filter


def test_a_small_filter_is_small():
    assert Filter(10, 1, True, 100.0, 1e6).memory_bytes <= 2048


def test_memory_is_that_of_the_triangle():
    d = 200  # one of them the constant
    state = (d * (d + 1) // 2 + 6 * d) * 8
    assert state <= Filter(d - 1, 1, True, 100.0, 1e6).memory_bytes <= 1.1 * state
