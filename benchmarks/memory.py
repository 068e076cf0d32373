"""Prints rows learned and resident MB, line by line; a process of its own: nothing else counts.

python benchmarks/memory.py            a single filter
python benchmarks/memory.py numbers    the default, some of whose targets are wild; two minutes
python benchmarks/memory.py labels     the default for two classes; two minutes
"""

import os
import sys
from pathlib import Path

import numpy as np

from dfop import DFOPClassifier, DFOPRegressor

FEATURES = 10
BATCH = 20_000
MILESTONES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    what = sys.argv[1] if len(sys.argv) > 1 else "filter"
    model = {"filter": DFOPRegressor(forgetting=0.01), "numbers": DFOPRegressor(),
             "labels": DFOPClassifier()}[what]  # fmt: skip
    X = np.empty((BATCH, FEATURES))
    for rows in range(BATCH, MILESTONES[-1] + 1, BATCH):
        rng.standard_normal(out=X)
        y = X.sum(axis=1)
        if what == "numbers":
            y[rng.random(BATCH) < 1e-4] = 1e9
        model.partial_fit(X, y > 0 if what == "labels" else y)
        if rows in MILESTONES:
            print(rows, resident_mb())
