"""The generated families: rows that can be learned, the same for the same seed."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if not BENCHMARKS.exists():  # in a source archive
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.append(str(BENCHMARKS))

from families import FAMILIES, make  # noqa: E402
from recipes import random_tree, runs  # noqa: E402


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_makes_finite_rows_of_its_task_and_the_same_ones_again(name):
    n, family = 600, FAMILIES[name]
    X, y = make(name, n, seed=3)
    assert X.dtype == np.float64
    assert X.shape == (n, X.shape[1])
    assert y.shape == (n,)
    assert np.isfinite(X).all()
    if family.labels:
        assert y.dtype == np.int64
        assert 2 <= len(np.unique(y)) == y.max() + 1 <= 100
    else:
        assert y.dtype == np.float64
        assert np.isfinite(y).all()
        assert len(np.unique(y)) > 20
    again, other = make(name, n, seed=3), make(name, n, seed=4)
    assert X.tobytes() == again[0].tobytes()
    assert y.tobytes() == again[1].tobytes()
    assert X.tobytes() != other[0].tobytes() or y.tobytes() != other[1].tobytes()
    assert family.about.endswith(".")


def test_there_are_families_of_both_tasks_and_of_every_width():
    assert sum(family.labels for family in FAMILIES.values()) >= 40
    assert sum(not family.labels for family in FAMILIES.values()) >= 15
    widths = [make(name, 40, seed=0)[0].shape[1] for name in FAMILIES]
    assert min(widths) <= 2
    assert sum(24 <= width <= 64 for width in widths) >= 6


def test_leaves_of_a_tree_are_boxes_that_hold_all_rows():
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 3))
    leaf = random_tree(rng, 3, 3)(X)
    assert set(np.unique(leaf)) == set(range(8))
    boxes = [(X[leaf == k].min(axis=0), X[leaf == k].max(axis=0)) for k in range(8)]
    for k, (low, high) in enumerate(boxes):
        inside = ((low <= X) & (high >= X)).all(axis=1)
        assert (leaf[inside] == k).all()


def test_runs_last_as_long_as_they_should():
    y = runs(np.random.default_rng(0), 100_000, 0.9, 4)
    assert np.mean(y[1:] == y[:-1]) == pytest.approx(0.9, abs=0.005)
    assert np.bincount(y, minlength=4).min() > 20_000
