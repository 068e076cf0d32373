"""How small and how fast models are as bytes and in files.

python benchmarks/files.py
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dfop import DFOPClassifier, DFOPRegressor, from_bytes, load, save, to_bytes
from dfop.files.replacing import replace_file
from timing import seconds_per_unit


def models() -> dict[str, Any]:
    """Return a single filter, one with rows that wait, and two of the automatic learner."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = X.sum(axis=1)
    waits = DFOPRegressor(0.01).fit(X, y)
    waits.predict_pending(rng.normal(size=(1000, 10)), keys=range(1000))
    return {
        "filter, 10 features": DFOPRegressor(0.01).fit(X, y),
        "and 1,000 rows that wait": waits,
        "automatic, linear": DFOPRegressor(features="linear").fit(X, y),
        "automatic, two classes": DFOPClassifier().fit(X, y > 0),
    }


def times(run: Callable[[], Any]) -> Callable[[int], None]:
    def several(n: int) -> None:
        for _ in range(n):
            run()

    return several


CALLS = 3000


def seconds_per_call(run: Callable[[], Any]) -> float:
    """Return the median time of many calls, each timed for itself: they take a few us."""
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def measure(directory: Path) -> None:
    """Print size and time of each model; of a file, mostly the disk's."""
    shown = f"{'model':28}{'bytes':>9}{'to_bytes':>12}{'from_bytes':>12}"
    print(f"{shown}{'save':>12}{'of it disk':>12}{'load':>12}")
    for name, model in models().items():
        data, path = to_bytes(model), directory / "model.dfop"
        save(model, path)
        seconds = {
            "to_bytes": seconds_per_call(lambda model=model: to_bytes(model)),
            "from_bytes": seconds_per_call(lambda data=data: from_bytes(data)),
        }
        seconds |= seconds_per_unit(
            {
                "save": times(lambda model=model, path=path: save(model, path)),
                "disk": times(lambda data=data, path=path: replace_file(path, data)),
                "load": times(lambda path=path: load(path)),
            }
        )
        row = "".join(f"{1e6 * value:9.0f} us" for value in seconds.values())
        print(f"{name:28}{len(data):9}{row}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        measure(Path(where))
