"""How fast `dfop learn` is: against the parser alone, the library on arrays, River and vw.

    python benchmarks/cli.py [rows]          # the table, also written to benchmarks/results-cli.md
    python benchmarks/cli.py memory [rows]   # resident memory along 10^7 rows
    python benchmarks/cli.py turns [rows]    # the default and the library, batch by batch
    python benchmarks/cli.py pipe            # how long a row of a slow pipe waits for its answer

Ten numbers and a target that turns round half-way. Each way goes through the file once per round,
in turns; the best round counts. Rates are rows per second of processor time, threads added up, so
that a busy machine matters little. River, vw and the default, which are slower, go through a file
of a tenth of the rows.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from dfop import DFOPRegressor
from dfop.checkpoints import Options, Run

ROWS = 1_000_000
ROUNDS = 3
SHORT = 10
FEATURES = [f"x{j}" for j in range(10)]
NAMES = [*FEATURES, "y"]
RESULTS = Path(__file__).parent / "results-cli.md"


def arrays(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, len(FEATURES))).round(4)
    w = rng.normal(size=len(FEATURES))
    sign = np.where(np.arange(rows) < rows // 2, 1.0, -1.0)
    return X, (sign * (X @ w) + 0.3 * rng.normal(size=rows)).round(4)


def write(folder: Path, rows: int) -> None:
    X, y = arrays(rows)
    table = pa.table([*X.T, y], names=NAMES)
    pa.csv.write_csv(table, folder / "rows.csv")
    pa.parquet.write_table(table, folder / "rows.parquet")
    X, y = arrays(rows // SHORT)
    pa.csv.write_csv(pa.table([*X.T, y], names=NAMES), folder / "short.csv")
    with open(folder / "short.vw", "w") as file:
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            cells = " ".join(f"{name}:{cell}" for name, cell in zip(FEATURES, row, strict=True))
            file.write(f"{label} | {cells}\n")


def parser(folder: Path, name: str) -> None:
    if name.endswith(".parquet"):
        batches = pa.parquet.ParquetFile(folder / name).iter_batches()
    else:
        batches = pa.csv.open_csv(folder / name)
    for _ in batches:
        pass


def learn(
    folder: Path, name: str, forgetting: str, predictions: str | None, **kept: object
) -> float:
    out = None if predictions is None else str(folder / predictions)
    options = Options((str(folder / name),), "y", forgetting=forgetting, predictions=out)
    with Run(options, **kept) as run:
        for _ in run.steps():
            pass
        run.finish(folder / "m.dfop")
        return float(run.history.summary()["error"]["overall"])


def library(X: np.ndarray, y: np.ndarray, forgetting: object) -> float:
    model = DFOPRegressor(forgetting)
    starts = range(0, len(y), 10_000)
    ahead = [model.predict_then_learn(X[t : t + 10_000], y[t : t + 10_000]) for t in starts]
    return float(np.mean((np.concatenate(ahead) - y) ** 2))


def river(folder: Path) -> float:
    from river import linear_model, metrics, preprocessing, stream

    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    error = metrics.MSE()
    kinds = dict.fromkeys(NAMES, float)
    for x, y in stream.iter_csv(str(folder / "short.csv"), target="y", converters=kinds):
        error.update(y, model.predict_one(x))
        model.learn_one(x, y)
    return float(error.get())


def vw(folder: Path) -> float:
    """Run the driver of vw's Python wheel on its own format; its average loss is one step ahead."""
    code = "import sys, vowpalwabbit; vowpalwabbit.Workspace(sys.argv[1]).finish()"
    given = f"-d {folder / 'short.vw'} -f {folder / 'm.vw'}"
    outcome = subprocess.run(
        [sys.executable, "-c", code, given], capture_output=True, text=True, check=True
    )
    said = outcome.stdout + outcome.stderr
    return float(said.split("average loss = ")[1].split()[0])


def ways(folder: Path, rows: int) -> Iterator[tuple[str, int, Callable[[], object]]]:
    short = rows // SHORT
    X, y = arrays(short)
    yield "pyarrow alone, CSV", rows, lambda: parser(folder, "rows.csv")
    yield (
        "learn, CSV, mu = 0.001, predictions as Parquet",
        rows,
        lambda: learn(folder, "rows.csv", "0.001", "p.parquet"),
    )
    yield (
        "learn, CSV, mu = 0.001, predictions as CSV",
        rows,
        lambda: learn(folder, "rows.csv", "0.001", "p.csv"),
    )
    yield "pyarrow alone, Parquet", rows, lambda: parser(folder, "rows.parquet")
    yield (
        "learn, Parquet, mu = 0.001, predictions as Parquet",
        rows,
        lambda: learn(folder, "rows.parquet", "0.001", "p.parquet"),
    )
    yield (
        "learn, Parquet, mu = 0.001, no predictions",
        rows,
        lambda: learn(folder, "rows.parquet", "0.001", None),
    )
    yield "`predict_then_learn` on arrays, the default", short, lambda: library(X, y, "auto")
    yield (
        "learn, CSV, the default, predictions as CSV",
        short,
        lambda: learn(folder, "short.csv", "auto", "p.csv"),
    )
    yield "River: `iter_csv`, scaler and linear regression", short, lambda: river(folder)
    with suppress(ImportError):
        import vowpalwabbit  # noqa: F401

        yield "vw on its own text format", short, lambda: vw(folder)


def processor_seconds() -> float:
    """Return what this process, all its threads and its children have used."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in spent)


def measure(rows: int) -> str:
    best: dict[str, float] = {}
    errors: dict[str, object] = {}
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows)
        for _ in range(ROUNDS):
            for way, count, run in ways(folder, rows):
                start = processor_seconds()
                errors[way] = run()
                seconds = processor_seconds() - start
                best[way] = min(best.get(way, np.inf), seconds)
                counts[way] = count
    lines = [
        "| way | rows | thousand rows/s of processor time | mean squared error |",
        "|---|---|---|---|",
    ]
    for way, seconds in best.items():
        error = "" if errors[way] is None else f"{errors[way]:.4f}"
        lines.append(f"| {way} | {counts[way]:,} | {counts[way] / seconds / 1e3:,.0f} | {error} |")
    return "\n".join(lines)


def turns(rows: int) -> str:
    """Return how fast the default learns by command, as a share of what it does on arrays.

    The two go on by turns, a batch each, so that what else the machine does meets both alike.
    """
    X, y = arrays(rows)
    spent = {"library": 0.0, "learn": 0.0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pa.csv.write_csv(pa.table([*X.T, y], names=NAMES), folder / "rows.csv")

        def library() -> Iterator[None]:
            model = DFOPRegressor()
            for t in range(0, rows, 10_000):
                model.predict_then_learn(X[t : t + 10_000], y[t : t + 10_000])
                yield

        def learn() -> Iterator[None]:
            options = Options((str(folder / "rows.csv"),), "y", predictions=str(folder / "p.csv"))
            with Run(options) as run:
                yield from run.steps()
                run.finish(folder / "m.dfop")

        for _ in range(ROUNDS):
            under_way = {"library": library(), "learn": learn()}
            while under_way:
                for way, steps in list(under_way.items()):
                    start = processor_seconds()
                    if next(steps, "ended") == "ended":
                        del under_way[way]
                    spent[way] += processor_seconds() - start
    library_rate, rate = (ROUNDS * rows / spent[way] / 1e3 for way in ("library", "learn"))
    return (
        f"{rows:,} rows, {ROUNDS} rounds: {rate:,.0f} thousand rows/s by command, "
        f"{library_rate:,.0f} on arrays, {rate / library_rate:.2f} of it"
    )


def memory(rows: int) -> str:
    """Return the largest resident memory so far at doubling rows, checkpoint and predictions on."""
    lines = ["| rows | resident memory, MB |", "|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with pa.OSFile(str(folder / "rows.csv"), "wb") as out:
            for seed in range(rows // 100_000):
                X, y = arrays(100_000, seed)
                head = pa.csv.WriteOptions(include_header=seed == 0)
                pa.csv.write_csv(pa.table([*X.T, y], names=NAMES), out, head)
        options = Options(
            (str(folder / "rows.csv"),), "y", forgetting="0.001", predictions=str(folder / "p.csv")
        )
        due = 100_000
        with Run(options, checkpoint=folder / "state", every_seconds=2.0) as run:
            for _ in run.steps():
                if run.history.rows >= due:
                    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                    lines.append(f"| {run.history.rows:,} | {most:.1f} |")
                    due *= 2
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            lines.append(f"| {run.history.rows:,} | {most:.1f} |")
    return "\n".join(lines)


def pipe(rows: int = 200, pause: float = 0.05) -> str:
    """Return how long each row of a slow pipe waited for its prediction, the default learner."""
    X, y = arrays(rows)
    command = [sys.executable, "-m", "dfop", "learn", "-", "-t", "y", "--task", "regression"]
    command += ["--predictions", "-", "--quiet"]
    waited = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write((",".join(NAMES) + "\n").encode())
        for t in range(rows):
            line = ",".join(str(cell) for cell in [*X[t], y[t]]) + "\n"
            start = time.perf_counter()
            process.stdin.write(line.encode())
            process.stdin.flush()
            if t == 0:
                process.stdout.readline()  # the names of the columns
            process.stdout.readline()
            waited.append(time.perf_counter() - start)
            time.sleep(pause)
        process.stdin.close()
    later = np.array(waited[1:]) * 1e3
    return (
        f"first answer after {waited[0]:.1f} s, start of Python included; the others after "
        f"{np.median(later):.1f} ms (median), {later.max():.1f} ms (longest of {len(later)})"
    )


def main() -> None:
    given = sys.argv[1:]
    if given[:1] == ["pipe"]:
        print(pipe())
        return
    if given[:1] == ["turns"]:
        print(turns(int(given[1]) if given[1:] else ROWS // SHORT))
        return
    if given[:1] == ["memory"]:
        print(memory(int(given[1]) if given[1:] else 10_000_000))
        return
    table = measure(int(given[0]) if given else ROWS)
    RESULTS.write_text(
        f"# `dfop learn`\n\n`python benchmarks/cli.py`, best of three rounds.\n\n{table}\n"
    )
    print(table)


if __name__ == "__main__":
    main()
