"""What `monitor=True` costs a single filter, and how good it is beside the default's.

make monitor          all of it, to results-monitor.md

`DFOP_DATA` names the folder of the streams. A filter forgets mu = 0.01.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import dfop.river
from calibration import ROWS, SEEDS, STREAMS, by_chance, many_classes
from dfop import DFOPClassifier, DFOPRegressor, streams
from dfop.evaluation.sources import in_memory
from families import make
from timing import seconds_per_unit

MU, COVERAGE, MOST, BINS = 0.01, 0.9, 20_000, 15
DIMENSIONS = (2, 10, 50)
NUMBERS = ("sru-1", "sru-2", "debutanizer")
LABELS = ("electricity", "weather", "powersupply", "sea", "2cdt", "hyperplane")


def in_calls(model: Any, X: np.ndarray, y: np.ndarray, size: int, n: int) -> None:
    """Let a model learn n rows, so many a call."""
    for start in range(0, n, size):
        part = slice(start % len(X), start % len(X) + min(size, n - start))
        model.partial_fit(X[part], y[part])


def by_river(model: Any, rows: list[tuple[dict[str, float], Any]], n: int) -> None:
    """Let a model learn n dicts."""
    for t in range(n):
        model.learn_one(*rows[t % len(rows)])


def ways(d: int, labels: bool) -> dict[tuple[str, bool], Callable[[int], None]]:
    """Return every way to learn, with a monitor and without."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, d))
    y: Any = X @ rng.normal(size=d) + rng.normal(size=len(X))
    y = np.where(y > 0, 1, 0) if labels else y
    few = [(dict(zip(map(str, range(d)), x, strict=True)), t)
           for x, t in zip(X[:1000].tolist(), y[:1000].tolist(), strict=True)]  # fmt: skip
    arrays = DFOPClassifier if labels else DFOPRegressor
    dicts = dfop.river.DFOPClassifier if labels else dfop.river.DFOPRegressor
    runs: dict[tuple[str, bool], Callable[[int], None]] = {}
    for monitor in (False, True):
        for name, size in (("in one call", len(X)), ("100 a call", 100), ("1 a call", 1)):
            model = arrays(MU, monitor=monitor).fit(X[:1000], y[:1000])
            runs[name, monitor] = partial(in_calls, model, X, y, size)
        by_name = dicts(MU, monitor=monitor)
        by_river(by_name, few, 1000)
        runs["River", monitor] = partial(by_river, by_name, few)
    return runs


def cost() -> Iterator[str]:
    """Say what a row costs, in microseconds."""
    yield "| us a row, without -> with | " + " | ".join(
        f"{kind}, d = {d}" for kind in ("numbers", "labels") for d in DIMENSIONS
    ) + " |"  # fmt: skip
    yield "|---" * (1 + 2 * len(DIMENSIONS)) + "|"
    cells: dict[str, list[str]] = {}
    for labels in (False, True):
        for d in DIMENSIONS:
            seconds = seconds_per_unit(ways(d, labels), 100_000)
            for name in dict.fromkeys(name for name, _ in seconds):
                before, after = (1e6 * seconds[name, monitor] for monitor in (False, True))
                cells.setdefault(name, []).append(f"{before:.3g} -> {after:.3g}")
    for name, row in cells.items():
        yield f"| {name} | " + " | ".join(row) + " |"


def loaded(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a stream of numbers, and its targets."""
    stream = in_memory(streams.load(name))[:MOST]
    return np.ascontiguousarray(stream.rows.numbers), np.asarray(stream.y)


def covered(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the share of targets inside the intervals, and how wide those are in the median."""
    low, high = model.predict_interval_then_learn(X, y, COVERAGE).T
    return float(np.mean((low <= y) & (y <= high))), float(np.median(high - low))


def calibration_error(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return how far probabilities of the predicted class are from how often it was right."""
    ahead = model.ahead_then_learn(X, y)
    p, right = ahead.probability, ahead.prediction == y
    return binned(p, right)


def binned(p: np.ndarray, right: np.ndarray) -> float:
    """Return the mean distance, over bins, of probabilities from what came true."""
    at = np.minimum((BINS * p).astype(int), BINS - 1)
    return float(sum(abs((p - right)[at == k].sum()) for k in range(BINS)) / len(p))


def quality() -> Iterator[str]:
    """Hold a single filter with a monitor against the default, on the same streams."""
    yield f"| intervals at {COVERAGE} | a filter: inside, median width | the default |"
    yield "|---|---|---|"
    for name in NUMBERS:
        X, y = loaded(name)
        one = covered(DFOPRegressor(MU, monitor=True), X, y.astype(float))
        default = covered(DFOPRegressor(), X, y.astype(float))
        yield f"| {name} | {one[0]:.3f}, {one[1]:.3g} | {default[0]:.3f}, {default[1]:.3g} |"
    yield ""
    yield "| calibration error | a filter with a monitor | without | the default |"
    yield "|---|---|---|---|"
    for name in LABELS:
        X, y = loaded(name)
        models = DFOPClassifier(MU, monitor=True), DFOPClassifier(MU), DFOPClassifier()
        errors = [calibration_error(model, X, y) for model in models]
        yield f"| {name} | " + " | ".join(f"{error:.3f}" for error in errors) + " |"


def everywhere() -> Iterator[str]:
    """Say how true probabilities of a filter come on all streams, and with many classes."""
    yield "| calibration error of a filter with a monitor | median | largest | chance alone there |"
    yield "|---|---|---|---|"
    published = {name: loaded(name) for name in STREAMS}
    long = {name: rows for name, rows in published.items() if len(rows[1]) >= 1000}
    made = {f"{name}, seed {seed}": make(name, ROWS, seed)
            for name in many_classes() for seed in SEEDS}  # fmt: skip
    for title, all_rows in (
        (f"{len(long)} streams of 1,000 rows and more", long),
        (f"{len(made)} of families of 4 to 100 classes, {ROWS:,} rows", made),
    ):
        found = {}
        for name, (X, y) in all_rows.items():
            model = DFOPClassifier(MU, monitor=True)
            p = model.predict_proba_then_learn(X, y, classes=np.unique(y))
            sure = p.max(axis=1)
            found[name] = binned(sure, model.classes_[p.argmax(axis=1)] == y), sure
        errors = {name: error for name, (error, _) in found.items()}
        worst = max(errors, key=errors.__getitem__)
        yield (
            f"| {title} | {np.median(list(errors.values())):.3f} | {errors[worst]:.3f} ({worst}) | "
            f"{by_chance(found[worst][1]):.3f} |"
        )


def main() -> None:
    """Print the page."""
    print("# A single filter with a monitor\n")
    print(f"Made by `make monitor`; mu = {MU}, at most {MOST:,} rows of a stream.\n")
    print("\n".join(cost()), end="\n\n")
    print("\n".join(quality()), end="\n\n")
    print("\n".join(everywhere()))


if __name__ == "__main__":
    main()
