"""The measurements, one function per table."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import dfop.river
import report
from contenders import CAP, CONTENDERS, LAM, MU, PRIOR_VARIANCE, Stream, check_same_model
from dfop import DFOPRegressor
from dfop.core import Filter
from timing import seconds_per_unit

HERE = Path(__file__).parent
DIMENSIONS = (2, 10, 50, 100, 500)
OUTPUTS = (1, 2, 4, 16, 100)
ROWS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def speed() -> report.Table:
    """Rows per second of every contender at every d."""
    table: report.Table = {}
    for d in DIMENSIONS:
        stream = Stream(d)
        made = {name: make(stream) for name, make in CONTENDERS.items()}
        runs = {name: run for name, run in made.items() if run is not None}
        for name, seconds in seconds_per_unit(runs, stream.rows).items():
            table[name, d] = 1.0 / seconds
        progress(f"rows/s at d = {d}")
    return table


def calls() -> report.Table:
    """Microseconds of one call with one row."""
    table: report.Table = {}
    for d in DIMENSIONS:
        stream = Stream(d, rows=2000)
        x, row, y, targets = stream.X[0].copy(), stream.X[:1], float(stream.y[0]), stream.y[:1]
        named, _ = next(stream.dicts(1))
        filter_ = Filter(d, 1, False, PRIOR_VARIANCE, CAP)
        learning, predicting = (DFOPRegressor(forgetting=MU, fit_intercept=False) for _ in "ab")
        river = dfop.river.DFOPRegressor(forgetting=MU)
        for i in range(len(stream.X)):  # from here on one row again and again: it must be learned
            filter_.step(stream.X[i], stream.y[i], LAM)
        for model in (learning, predicting):
            model.partial_fit(stream.X, stream.y)
        for features, target in stream.dicts(len(stream.X)):
            river.learn_one(features, target)
        one_call = {
            "Filter.step": partial(filter_.step, x, y, LAM),
            "DFOPRegressor.predict_then_learn": partial(learning.predict_then_learn, row, targets),
            "DFOPRegressor.predict": partial(predicting.predict, row),
            "river.DFOPRegressor.predict_one": partial(river.predict_one, named),
            "river.DFOPRegressor.learn_one": partial(river.learn_one, named, y),
        }
        runs = {name: repeat(call) for name, call in one_call.items()}
        for name, seconds in seconds_per_unit(runs).items():
            table[name, d] = 1e6 * seconds
    progress("calls with one row")
    return table


def outputs() -> report.Table:
    """Cost of a row with m outputs, in units of the same row with one."""
    table: report.Table = {}
    for d in (10, 100, 500):
        stream = Stream(d, rows=min(20_000, 2_000_000 // d))
        Y = np.random.default_rng(1).standard_normal((stream.rows, OUTPUTS[-1]))
        models = {m: DFOPRegressor(forgetting=MU, fit_intercept=False) for m in OUTPUTS}
        targets = {m: np.ascontiguousarray(Y[:, :m]) for m in OUTPUTS}

        def learn(m: int, n: int, X=stream.X, models=models, targets=targets) -> None:
            models[m].predict_then_learn(X[:n], targets[m][:n])

        seconds = seconds_per_unit({m: partial(learn, m) for m in OUTPUTS}, stream.rows)
        for m in OUTPUTS:
            table[m, d] = seconds[m] / seconds[1]
    progress("outputs")
    return table


def rows() -> report.Table:
    """Nanoseconds per row of one call with n rows."""
    table: report.Table = {}
    for d in (10, 100):
        stream = Stream(d, rows=10_000_000 // d)
        sizes = [n for n in ROWS if n <= stream.rows]
        model = DFOPRegressor(forgetting=MU, fit_intercept=False)
        runs = {
            n: repeat(partial(model.predict_then_learn, stream.X[:n], stream.y[:n])) for n in sizes
        }
        for n, seconds in seconds_per_unit(runs).items():
            table[n, d] = 1e9 * seconds / n
    progress("rows")
    return table


def memory() -> report.Table:
    """Resident megabytes after so many rows."""
    printed = subprocess.run(
        [sys.executable, HERE / "memory.py"], check=True, capture_output=True, text=True
    ).stdout
    progress("memory")
    pairs = (line.split() for line in printed.splitlines())
    return {(int(n), "resident"): float(megabytes) for n, megabytes in pairs}


def repeat(call: Callable[[], object]) -> Callable[[int], None]:
    def run(n: int) -> None:
        for _ in range(n):
            call()

    return run


def progress(what: str) -> None:
    print(f"measured: {what}", file=sys.stderr, flush=True)


def main() -> None:
    check_same_model()
    results = report.Results(memory(), speed(), calls(), outputs(), rows())
    text = report.markdown(results)
    print(text)
    (HERE / "results.md").write_text(text)
    report.write_csv(results, HERE / "results.csv")
    report.plot(results, HERE / "results.png")
