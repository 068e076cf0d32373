import numpy as np
import pytest

# Doctests are collected everywhere; these hold none, and would clash by name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]


@pytest.fixture
def rng():
    return np.random.default_rng(20161)
