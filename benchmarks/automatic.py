"""The automatic learner against its peers; writes results-automatic.md and .csv beside itself.

Run with the extras ``bench`` and ``forests`` installed, and Java for CapyMOA: ``make
forests``. CapyMOA pins pandas 2, so it gets an environment of its own; where it is not installed,
River's forest takes its place. The Electricity stream is looked for in the folder
DFOP_DATA, else downloaded.
"""

import csv
import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
HERE = Path(__file__).parent
D = 10
BLOCKS = 12  # of Electricity; contenders take turns, block by block
WARM_UP = 1  # block, not counted: Java compiles what it runs often

# Fills a block of rows with predictions before it learns them.
Block = Callable[[slice], object]

PAGE = """\
# The automatic learner's speed

Written by `make forests` (CapyMOA needs Java). Contenders take turns in one run, each is charged
with the CPU time of the process and held to one thread; medians. Ratios carry over to other
machines better than rows per second do.

## Linear bank at {d} features

`DFOPRegressor(features="linear")`, {experts} experts and their combination, against River's
`BayesianLinearRegression(smoothing=.99)`, one model.

{linear}

## The default on Electricity

`DFOPClassifier()`, linear and curved experts, and forests with drift detection, every row predicted
before it is learned, one pass over the 45,312 rows. Accuracies are of that pass.

{forests}

## Targets

{targets}

## Machine and versions

{machine}
"""


def linear_bank() -> dict[str, float]:
    """Rows per second at d = 10."""
    from dfop import DFOPRegressor
    from peers import RIVER_BAYES, Stream, river_bayesian
    from timing import seconds_per_unit

    stream = Stream(D)
    model = DFOPRegressor(features="linear")
    runs = {
        "dfop, linear bank": lambda n: model.predict_then_learn(stream.X[:n], stream.y[:n]),
        RIVER_BAYES: river_bayesian(stream),
    }
    return {name: 1 / seconds for name, seconds in seconds_per_unit(runs, stream.rows).items()}


def forests() -> dict[str, tuple[float, float]]:
    """Rows per second, and accuracy in percent, on Electricity."""
    import numpy as np

    from dfop import DFOPClassifier, streams
    from dfop.evaluation.sources import in_memory

    rows = in_memory(streams.load("electricity"))
    classes, y = np.unique(rows.y, return_inverse=True)
    model = DFOPClassifier()

    def ours(part: slice) -> object:
        return model.predict_then_learn(rows.X[part], y[part], classes=np.arange(len(classes)))

    contenders: dict[str, Block] = {"dfop, default": ours}
    try:
        for trees in (10, 100):
            name = f"CapyMOA AdaptiveRandomForest, {trees} trees"
            contenders[name] = capymoa_forest(rows.X, y, len(classes), trees)
    except Exception as reason:  # no package, no Java: whatever JPype raises
        print(f"CapyMOA is left out: {reason}", file=sys.stderr)
        contenders["River ARFClassifier, 10 trees"] = river_forest(rows.X, y)
    edges = np.linspace(0, len(y), BLOCKS + 1).astype(int)
    parts = [slice(a, b) for a, b in itertools.pairwise(edges.tolist())]
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    right = dict.fromkeys(contenders, 0)
    for part in parts:
        for name, block in contenders.items():
            start = time.process_time()
            predictions = block(part)
            spent = time.process_time() - start
            seconds[name].append(spent / (part.stop - part.start))
            right[name] += int(np.sum(np.asarray(predictions) == y[part]))
        print(f"measured: Electricity to row {part.stop:,}", file=sys.stderr, flush=True)
    return {
        name: (1 / statistics.median(spent[WARM_UP:]), 100 * right[name] / len(y))
        for name, spent in seconds.items()
    }


def capymoa_forest(X: object, y: object, classes: int, trees: int) -> Block:
    from capymoa.classifier import AdaptiveRandomForestClassifier
    from capymoa.core import LabeledInstance
    from capymoa.stream import Schema

    names = [f"x{j}" for j in range(X.shape[1])]
    categories = {"y": [str(k) for k in range(classes)]}
    schema = Schema.from_custom([*names, "y"], "y", categories, "electricity")
    model = AdaptiveRandomForestClassifier(schema, ensemble_size=trees)
    instances = [LabeledInstance.from_array(schema, x, int(k)) for x, k in zip(X, y, strict=True)]
    for instance in instances:
        _ = instance.java_instance  # made before the clock starts, as every contender's input

    def block(part: slice) -> object:
        predictions = []
        for instance in instances[part]:
            predictions.append(model.predict(instance))
            model.train(instance)
        return [-1 if p is None else p for p in predictions]

    return block


def river_forest(X: object, y: object) -> Block:
    from river.forest import ARFClassifier

    model = ARFClassifier(n_models=10, seed=0)
    rows = [dict(enumerate(row)) for row in X.tolist()]
    labels = y.tolist()

    def block(part: slice) -> object:
        predictions = []
        for x, label in zip(rows[part], labels[part], strict=True):
            predictions.append(model.predict_one(x))
            model.learn_one(x, label)
        return [-1 if p is None else p for p in predictions]

    return block


def main() -> None:
    from dfop.automatic import FORGETTING, WALKS

    import report

    linear, electricity = linear_bank(), forests()
    (bank, bank_speed), (peer, peer_speed) = linear.items()
    lines = [["ratio", "at least", "measured", "met"]]
    goals = [(f"{bank} / {peer}, d = {D}", 10.0, bank_speed / peer_speed)]
    (ours, (our_speed, _)), *others = electricity.items()
    goals += [
        (f"{ours} / {name}, Electricity", 1.0, our_speed / speed) for name, (speed, _) in others
    ]
    for name, least, measured in goals:
        met = "yes" if measured >= least else "NO"
        lines.append([name, f"{least:g}", report.significant(measured), met])
    page = PAGE.format(
        d=D,
        experts=len(FORGETTING) + len(WALKS),
        linear=report.aligned(
            [["contender", "rows/s"], *([n, report.quantity(v)] for n, v in linear.items())]
        ),
        forests=report.aligned(
            [["contender", "rows/s", "accuracy, %"]]
            + [[n, report.quantity(v), f"{a:.2f}"] for n, (v, a) in electricity.items()]
        ),
        targets=report.aligned(lines),
        machine=report.machine(("capymoa",)),
    )
    print(page)
    (HERE / "results-automatic.md").write_text(page)
    with (HERE / "results-automatic.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "name", "value", "unit"])
        write = partial(_write, writer)
        write("linear bank", {n: (v,) for n, v in linear.items()}, ("rows per second",))
        write("electricity", electricity, ("rows per second", "accuracy in percent"))


def _write(writer: object, table: str, values: dict[str, tuple], units: tuple[str, ...]) -> None:
    for name, several in values.items():
        for value, unit in zip(several, units, strict=True):
            writer.writerow([table, name, f"{value:.6g}", unit])


if __name__ == "__main__":
    # One core against one core. Libraries read this when they are loaded, so import them after.
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    main()
