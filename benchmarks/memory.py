"""Prints rows learned and resident MB, line by line; a process of its own: nothing else counts."""

import os
from pathlib import Path

import numpy as np

from dfop import DFOPRegressor

FEATURES = 10
BATCH = 20_000
MILESTONES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    model = DFOPRegressor(forgetting=0.01)
    X = np.empty((BATCH, FEATURES))
    for rows in range(BATCH, MILESTONES[-1] + 1, BATCH):
        rng.standard_normal(out=X)
        model.partial_fit(X, X.sum(axis=1))
        if rows in MILESTONES:
            print(rows, resident_mb())
