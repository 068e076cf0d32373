"""Nanoseconds a row on every path a row can take; with another Python, how two builds compare.

python benchmarks/paths.py                       this build
python benchmarks/paths.py OTHER/bin/python      another build beside it, in turns: their ratios
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for work would count as CPU time

import numpy as np

import dfop.river
from dfop import DFOPClassifier, DFOPRegressor, evaluate

ROUNDS = 5
TURNS = 5
SIZES = {2: 200_000, 10: 200_000, 50: 30_000, 100: 10_000}
MU = 0.001


def per_row(run: Callable[[], object], rows: int) -> float:
    """Least CPU time of a row over some rounds, in nanoseconds: the one least disturbed."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return 1e9 * min(times) / rows


def stream(n: int, d: int) -> tuple[np.ndarray, np.ndarray, list[dict[str, float]]]:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    names = [f"f{j:03d}" for j in range(d)]
    return X, y, [dict(zip(names, row, strict=True)) for row in X[:2000].tolist()]


def arrays(out: dict[str, float], d: int, n: int) -> None:
    """Measure whole arrays, and one row at a time, of a single filter."""
    X, y, _ = stream(n, d)
    labels = (y > 0).astype(int)
    numbers = DFOPRegressor(MU).fit(X[:100], y[:100])
    classes = DFOPClassifier(MU).fit(X[:100], labels[:100])
    rows = [(X[t : t + 1], y[t : t + 1]) for t in range(1000)]
    out[f"array, d={d}"] = per_row(lambda: numbers.predict_then_learn(X, y), n)
    out[f"array of labels, d={d}"] = per_row(lambda: classes.predict_then_learn(X, labels), n)
    out[f"one row, d={d}"] = per_row(lambda: [numbers.partial_fit(x, v) for x, v in rows], 1000)
    out[f"one row to predict, d={d}"] = per_row(lambda: [numbers.predict(x) for x, _ in rows], 1000)


def dicts(out: dict[str, float], name: str, model: Any, d: int) -> None:
    """Measure River's rows of a single filter."""
    _, y, rows = stream(2000, d)
    targets = (y > 0).tolist() if "labels" in name else y.tolist()
    pairs = list(zip(rows, targets, strict=True))
    for x, target in pairs[:50]:
        model.learn_one(x, target)
    out[f"{name}, d={d}"] = per_row(lambda: [model.learn_one(x, v) for x, v in pairs], 2000)
    out[f"{name} to predict, d={d}"] = per_row(lambda: [model.predict_one(x) for x in rows], 2000)


def automatic(out: dict[str, float], name: str, edges: list[float] | None) -> None:
    """Measure the default with 8 features."""
    X, y, rows = stream(4000, 8)
    array: Any = DFOPRegressor if edges is None else DFOPClassifier
    river: Any = dfop.river.DFOPRegressor if edges is None else dfop.river.DFOPClassifier
    targets = y if edges is None else np.digitize(y, edges)
    pairs = list(zip(rows[:1000], targets[:1000].tolist(), strict=True))

    def learn_dicts() -> None:
        model = river()
        for x, target in pairs:
            model.learn_one(x, target)

    out[f"default, {name}"] = per_row(lambda: array().predict_then_learn(X, targets), len(X))
    out[f"default by River, {name}"] = per_row(learn_dicts, 1000)


def text(out: dict[str, float]) -> None:
    """Measure River's rows of 6 numbers and 2 texts."""
    _, y, rows = stream(2000, 6)
    pairs = [
        ({**row, "colour": f"c{t % 20}", "shape": f"s{t % 7}"}, target)
        for t, (row, target) in enumerate(zip(rows, y.tolist(), strict=True))
    ]
    model = dfop.river.DFOPRegressor(MU)
    for x, target in pairs[:50]:
        model.learn_one(x, target)
    out["River with text"] = per_row(lambda: [model.learn_one(x, v) for x, v in pairs], 2000)


def late(out: dict[str, float], name: str, parameters: dict[str, float], n: int) -> None:
    """Measure `evaluate` with labels at once, and a hundred rows late."""
    X, y, _ = stream(n, 8)
    for words, delay in (("at once", 0), ("100 rows late", 100)):
        out[f"evaluate, {name}, labels {words}"] = per_row(
            lambda delay=delay: evaluate(DFOPRegressor(**parameters), (X, y), delay=delay), n
        )


def measure() -> dict[str, float]:
    """All paths."""
    out: dict[str, float] = {}
    for d, n in SIZES.items():
        arrays(out, d, n)
        dicts(out, "River", dfop.river.DFOPRegressor(MU), d)
        dicts(out, "River's labels", dfop.river.DFOPClassifier(MU), d)
    text(out)
    late(out, "single filter", {"forgetting": MU}, 50_000)
    late(out, "default", {}, 4000)
    automatic(out, "numbers", None)
    automatic(out, "two classes", [0.0])
    automatic(out, "five classes", [-3.0, -1.0, 1.0, 3.0])
    return out


def compare(other: str) -> None:
    """Let both builds measure in turns, and print the medians."""
    runs: dict[str, list[dict[str, float]]] = {sys.executable: [], other: []}
    for _ in range(TURNS):
        for python, found in runs.items():
            answer = subprocess.run([python, __file__, "--json"], check=True, capture_output=True)
            found.append(json.loads(answer.stdout))
    print("| path | other, ns a row | this, ns a row | this is so many times as fast |")
    print("|---|---|---|---|")
    for name in runs[other][0]:
        before, now = (
            float(np.median([run[name] for run in runs[python]]))
            for python in (other, sys.executable)
        )
        print(f"| {name} | {before:.0f} | {now:.0f} | {before / now:.2f} |")


if __name__ == "__main__":
    if sys.argv[1:] == ["--json"]:
        print(json.dumps(measure()))
    elif len(sys.argv) == 2:
        compare(sys.argv[1])
    else:
        for path, nanoseconds in measure().items():
            print(f"{path:36s}{nanoseconds:10.0f} ns")
