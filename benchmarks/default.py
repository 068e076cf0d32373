"""Speed of the default learner, as a user meets it; writes benchmarks/results-default.md.

python benchmarks/default.py

Rates of the first table are rows a second of wall time, the best of some rounds taken in turns, so
they need a machine that does nothing else; the other tables, of one thread, count its CPU time. A
fresh model's only call is the first call of a new model in a process that has learned before; a
later call brings as many rows to a model that has learned.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dfop.river
from dfop import DFOPClassifier, DFOPRegressor

ROUNDS = 5
RESULTS = Path(__file__).with_name("results-default.md")
SIZES = [(5, 0), (10, 0), (10, 2), (20, 0), (20, 2), (20, 5), (60, 0), (60, 2)]  # features, classes


def stream(n: int, d: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + np.sin(3 * X[:, 0]) + rng.normal(size=n)
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    return X, y


def model(classes: int, **settings: Any) -> Any:
    return DFOPClassifier(**settings) if classes else DFOPRegressor(**settings)


def learner(fitted: Any, X: np.ndarray, y: np.ndarray, classes: int) -> Callable[[], object]:
    known = {"classes": np.arange(classes)} if classes else {}
    return lambda: fitted.predict_then_learn(X, y, **known)


def best(
    makers: dict[str, Callable[[], Callable[[], object]]],
    clock: Callable[[], float] = time.thread_time,
) -> dict[str, float]:
    """Return the least seconds of each, taken in turns; what a maker does is not counted."""
    seconds = dict.fromkeys(makers, np.inf)
    for _ in range(ROUNDS):
        for name, make in makers.items():
            run = make()
            start = clock()
            run()
            seconds[name] = min(seconds[name], clock() - start)
    return seconds


def one_size(d: int, classes: int) -> str:
    n = 20_000
    X, y = stream(n, d, classes)

    def later() -> Callable[[], object]:
        return learner(model(classes, threads=1).fit(X, y), X, y, classes)

    seconds = best(
        {
            "first": lambda: learner(model(classes, threads=1), X, y, classes),
            "later": later,
            "two": lambda: learner(model(classes, threads=2), X, y, classes),
        },
        time.perf_counter,
    )
    first = seconds["first"]
    return (
        f"| {d} | {classes or 'numbers'} | {n / first:,.0f} | {seconds['later'] / first:.2f} "
        f"| {first / seconds['two']:.2f} |"
    )


def only_call(rows: int, forgetting: Any, classes: int) -> str:
    d = 10
    X, y = stream(2 * rows, d, classes)

    def fresh() -> Callable[[], object]:
        return learner(model(classes, forgetting=forgetting), X[:rows], y[:rows], classes)

    def later() -> Callable[[], object]:
        learned = model(classes, forgetting=forgetting)
        learner(learned, X[:rows], y[:rows], classes)()
        return learner(learned, X[rows:], y[rows:], classes)

    seconds = best({"fresh": fresh, "later": later})
    what = "default" if forgetting == "auto" else "single filter"
    ratio = seconds["later"] / seconds["fresh"]
    rate = f"{rows / seconds['fresh']:,.0f}"
    return f"| {what} | {classes or 'numbers'} | {rows:,} | {rate} | {ratio:.2f} |"


def dicts(d: int, classes: int) -> str:
    n = 2000
    X, y = stream(n, d, classes)
    names = [f"f{j:02d}" for j in range(d)]
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    kind = dfop.river.DFOPClassifier if classes else dfop.river.DFOPRegressor

    def by_river() -> Callable[[], object]:
        river = kind()

        def run() -> None:
            for x, v in zip(rows, y.tolist(), strict=True):
                river.predict_one(x)
                river.learn_one(x, v)

        return run

    def by_array() -> Callable[[], object]:
        return learner(model(classes), X, y, classes)

    def by_open_array() -> Callable[[], object]:
        fresh = model(classes)  # which does not know the classes beforehand, as River's does not
        return lambda: fresh.predict_then_learn(X, y, **({"classes": "open"} if classes else {}))

    def learned_only() -> Callable[[], object]:
        river = kind()
        return lambda: [river.learn_one(x, v) for x, v in zip(rows, y.tolist(), strict=True)]

    makers = {"open": by_open_array, "learn": learned_only, "both": by_river}
    seconds = best({"array": by_array, **makers})
    named = f"{seconds['learn'] / seconds['array']:.2f}" if classes else ""
    return (
        f"| {d} | {classes or 'numbers'} | {n / seconds['both']:,.0f} "
        f"| {seconds['learn'] / seconds['open']:.2f} | {seconds['both'] / seconds['open']:.2f} "
        f"| {named} |"
    )


def circumstances() -> str:
    """Say how busy the machine was with other things."""
    ahead = os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)
    before = ", of which this process goes before all" if ahead else ""
    return f"{os.cpu_count()} cores, {os.getloadavg()[1]:.0f} processes ready to run{before}"


def main() -> None:
    stream_sizes = [one_size(d, classes) for d, classes in SIZES]
    calls = [
        only_call(rows, forgetting, classes)
        for forgetting in (0.001, "auto")
        for classes in (0, 2)
        for rows in ((1_000, 10_000, 200_000) if forgetting != "auto" else (300, 1_000, 5_000))
    ]
    river = [dicts(d, classes) for d, classes in [(10, 0), (10, 2), (20, 5)]]
    table = [
        "# Speed of the default learner",
        "",
        "Made by `make default`. " + " ".join(__doc__.split("\n\n")[2].split()),
        "",
        f"This run: {circumstances()}.",
        "",
        "| features | classes | rows/s, one thread | later call over first | two threads |",
        "|---|---|---|---|---|",
        *stream_sizes,
        "",
        "A fresh model's only call, 10 features: how its rate compares with that of a later call.",
        "",
        "| model | classes | rows | rows/s | of a later call |",
        "|---|---|---|---|---|",
        *calls,
        "",
        "River's dicts, one by one, against arrays: time a row, with `learn_one` alone, and with",
        "`predict_one` before it, which asks all experts a second time. The model of arrays does",
        'not know the classes either (`classes="open"`), but in the last column, where it need not',
        "be ready for a third one.",
        "",
        "| features | classes | rows/s, both | learn_one over array | both over array "
        "| learn_one over array with named classes |",
        "|---|---|---|---|---|---|",
        *river,
        "",
    ]
    RESULTS.write_text("\n".join(table))
    print("\n".join(table))


if __name__ == "__main__":
    main()
