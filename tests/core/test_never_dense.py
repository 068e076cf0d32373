"""Sparse rows are learned by their non-zeros: a machine that cannot hold one dense row learns them.

A process of its own may take no more memory than half a dense row, once its models have begun.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import numpy as np
from scipy import sparse
from dfop import DFOPClassifier, DFOPRegressor

WIDTH, HELD, N = 2**25, 20, 400
rng = np.random.default_rng(0)
columns = np.sort(rng.integers(WIDTH, size=(N, HELD)), axis=1)
X = sparse.csr_array(
    (rng.normal(size=N * HELD), columns.ravel(), np.arange(N + 1) * HELD), (N, WIDTH)
)
X.sum_duplicates()
y = rng.normal(size=N)
if sys.argv[1] == "classes":
    y = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    model = DFOPClassifier(forgetting=0.001, storage=5)
    model.partial_fit(X[:1], y[:1], classes=["a", "b", "c"])
else:
    given = {
        "default": {}, "sketch": {"forgetting": 0.001, "storage": 5},
        "guarantee": {"forgetting": 0.001, "storage": 5, "guarantee": True},
    }[sys.argv[1]]
    model = DFOPRegressor(**given).partial_fit(X[:1], y[:1])

with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + WIDTH * 8 // 2,) * 2)
try:
    X[:1].toarray()
except MemoryError:
    print("a dense row does not fit")
model.partial_fit(X[1:100], y[1:100])
model.predict_then_learn(X[100:200], y[100:200])
model.predict(X)
model.predict_pending(X[200:], range(200))
model.learn_pending(range(200), y[200:])
print("learned")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
@pytest.mark.parametrize("kind", ["default", "sketch", "guarantee", "classes"])
def test_rows_are_learned_where_not_one_fits_as_a_dense_row(kind):
    done = subprocess.run([sys.executable, "-c", PROGRAM, kind], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["a dense row does not fit", "learned"]
