"""What a model keeps in memory is its state."""

import subprocess
import sys
from pathlib import Path

import pytest

from dfop.core import Filter

COUNT = 20_000
GROWTH = """
import os
import numpy as np
from dfop.core import Filter

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def learned():
    filter = Filter(10, 1, True, 100.0, 1e6)
    filter.learn(np.ones((1, 10)), np.ones((1, 1)), np.ones(1), np.ones(1), np.empty((1, 1)))
    return filter

kept = [learned() for _ in range(100)]
before = resident()
kept += [learned() for _ in range(COUNT)]
print((resident() - before) / COUNT)
"""


def test_a_small_filter_is_small():
    assert Filter(10, 1, True, 100.0, 1e6).memory_bytes <= 2048


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="there is no /proc")
def test_a_process_grows_by_no_more_than_2_kb_a_small_filter():
    """All of it: the object, Python's and the allocator's part; in a process of its own."""
    code = GROWTH.replace("COUNT", str(COUNT))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) <= 2048


def test_memory_is_that_of_the_triangle():
    d = 200  # one of them the constant
    state = (d * (d + 1) // 2 + 6 * d) * 8
    assert state <= Filter(d - 1, 1, True, 100.0, 1e6).memory_bytes <= 1.1 * state
