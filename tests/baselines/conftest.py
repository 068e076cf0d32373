"""Streams the tests of the baselines share."""

from __future__ import annotations

import gzip
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest


@cache
def _read(folder: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(Path(folder) / f"{name}.csv.gz", "rt") as file:
        file.readline()
        cells = [line.rstrip("\n").split(",") for line in file]
    X = np.array([row[:-1] for row in cells], dtype=float)
    y = np.array([row[-1] for row in cells])
    X.setflags(write=False)
    y.setflags(write=False)
    return X, y


@pytest.fixture
def published():
    """Reads a published stream: ``X, y = published("2cdt")``; without the files, skips."""
    folder = os.environ.get("DFOP_DATA")
    if not folder:
        pytest.skip("needs the published streams: set DFOP_DATA to their folder")

    def read(name: str) -> tuple[np.ndarray, np.ndarray]:
        return _read(folder, name)

    return read


@pytest.fixture
def flipping():
    """Two Gaussian classes in the plane that change places half-way; labels are words."""
    rng = np.random.default_rng(7)
    n = 600
    code = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 2)) + 1.2 * np.where(code == 0, 1.0, -1.0)[:, None]
    y = np.array(["cold", "warm"])[np.where(np.arange(n) < n // 2, code, 1 - code)]
    return X, y


@pytest.fixture
def three_classes():
    """Three classes with integer labels that are not 0, 1, 2."""
    rng = np.random.default_rng(8)
    n = 450
    code = rng.integers(0, 3, n)
    angle = 2 * np.pi * code / 3 + np.arange(n) / n
    X = np.c_[np.cos(angle), np.sin(angle), np.zeros(n)] + 0.5 * rng.normal(size=(n, 3))
    return X, np.array([10, 30, 20])[code]


@pytest.fixture
def turning():
    """A linear target in [0, 1] whose coefficients change twice."""
    rng = np.random.default_rng(9)
    n = 600
    X = rng.uniform(size=(n, 4))
    active = np.repeat([0, 1, 2], n // 3)
    y = 0.5 * (X[np.arange(n), active] + X[np.arange(n), active + 1])
    return X, np.clip(y + rng.uniform(-0.05, 0.05, n), 0, 1)
