"""Spark against one process on a stored stream, and models per key of an endless one.

``python benchmarks/spark.py [rows [rows of a micro-batch]]`` writes benchmarks/results-spark.md,
anew with each measurement. 10^8 rows, as many as there are unless it is told otherwise, take 10 GB
in the folder for temporary files while it runs, and about half an hour of two busy cores. A run
that was cut short is begun again with the same command and goes on where it was.

Seconds of the processor are those of all processes, Java and the workers among them: on a machine
that others use, too, they tell more than seconds of the clock.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["PYSPARK_PYTHON"] = sys.executable

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import StatefulProcessor

from dfop import DFOPRegressor, Information, Keyed, from_bytes, to_bytes
from dfop.spark import fit, learn_per_key

FEATURES = [f"x{j}" for j in range(10)]
FILES, CHUNK = 8, 1_000_000
MU = 1e-6
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PER_KEY = "key bigint, at timestamp, prediction double"


def session(cores: int) -> SparkSession:
    built = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.files.openCostInBytes", "1g")  # files are not packed together
        .config("spark.python.authenticate.socketTimeout", "5m")
        .config("spark.sql.streaming.stateStore.providerClass", ROCKS)
        .getOrCreate()
    )
    built.sparkContext.setLogLevel("OFF")
    return built


def processor_seconds() -> float:
    """Return what this process and those that it has started, dead ones too, have taken so far."""
    taken, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        taken[int(stat.parent.name)] = sum(map(int, fields[11:15]))
        parents[int(stat.parent.name)] = int(fields[1])
    ours, found = {os.getpid()}, set()
    while ours != found:
        found = set(ours)
        ours |= {child for child, parent in parents.items() if parent in found}
    return sum(taken.get(pid, 0) for pid in ours) / os.sysconf("SC_CLK_TCK")


def timed(work: Callable[[], object]) -> tuple[object, float, float]:
    """Return what was made, and how long it took: seconds, and seconds of the processor."""
    start, taken = time.perf_counter(), processor_seconds()
    made = work()
    return made, time.perf_counter() - start, processor_seconds() - taken


def load() -> str:
    return f"{os.getloadavg()[0]:.0f}"


def write_stored(folder: Path, rows: int) -> None:
    folder.mkdir(exist_ok=True)
    each = rows // FILES
    for part in range(FILES):
        if (folder / f"{part}.parquet").exists():
            continue
        rng, writer = np.random.default_rng(part), None
        for start in range(part * each, (part + 1) * each, CHUNK):
            count = min(CHUNK, (part + 1) * each - start)
            columns = {name: rng.normal(size=count) for name in FEATURES}
            columns["y"] = columns["x0"] + rng.normal(size=count)
            columns["t"] = np.arange(start, start + count)
            table = pa.table(columns)
            if writer is None:
                writer = pq.ParquetWriter(folder / "begun", table.schema,
                                          compression="none", use_dictionary=False)  # fmt: skip
            writer.write_table(table)
        writer.close()
        (folder / "begun").rename(folder / f"{part}.parquet")


def one_process(folder: Path) -> DFOPRegressor:
    model = DFOPRegressor(MU)
    for batch in ds.dataset(sorted(map(str, folder.glob("*.parquet")))).to_batches(
        batch_size=2**16
    ):
        model.partial_fit(batch.select(FEATURES), batch.column("y").to_numpy())
    return model


def ours_alone(folder: Path) -> float:
    """Return the seconds that `Information` takes of what workers do, from one of the files."""
    file, total = pq.ParquetFile(folder / "0.parquet"), 0.0
    for batch in file.iter_batches(batch_size=2**18):
        start = time.process_time()
        Information.from_data(batch.select(FEATURES), batch.column("y").to_numpy(), MU)
        total += time.process_time() - start
    return FILES * total


def of_one_process(folder: Path, rows: int) -> dict[str, object]:
    """Measure `partial_fit`; keep its weights, which those of Spark are compared with."""
    write_stored(folder, rows)
    at = load()
    model, took, taken = timed(lambda: one_process(folder))
    line = f"| one process, `partial_fit` | {at} | {took:.0f} | {taken:.0f} | {rows / taken:,.0f} "
    return {"line": line + "| | |", "weights": model.coef_.tolist(), "ours": ours_alone(folder)}


def of_spark(folder: Path, rows: int, cores: int, alone: dict[str, object]) -> str:
    spark, at = session(cores), load()
    table = spark.read.parquet(str(folder))
    fit(table.where(F.col("t") < 1000), FEATURES, "y", "t", MU)  # workers are there
    model, took, taken = timed(lambda: fit(table, FEATURES, "y", "t", MU))
    spark.stop()
    off = np.abs(model.coef_ - alone["weights"]).max()
    return (f"| Spark, cores: {cores} | {at} | {took:.0f} | {taken:.0f} | {rows / taken:,.0f} | "
            f"{alone['ours'] / taken:.0%} | {off:.0e} |")  # fmt: skip


class PerKeyInRows(StatefulProcessor):
    """What `learn_per_key` does not do: a value in the store for every key."""

    def init(self, handle):
        """Take what gives access to the state."""
        self.state = handle.getValueState("model", "model binary")

    def model(self):
        """Return the model of a key."""
        found = self.state.get()
        return DFOPRegressor(0.001) if found is None else from_bytes(bytes(found[0]))

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802
        """Predict and learn the rows of a key."""
        model, rows = self.model(), sorted(rows, key=lambda row: row["at"])
        X = np.array([[row[name] for name in FEATURES] for row in rows])
        ahead = model.predict_then_learn(X, np.array([row["y"] for row in rows]))
        self.state.update((to_bytes(model),))
        for row, one in zip(rows, ahead, strict=True):
            yield Row(key=row["key"], at=row["at"], prediction=float(one))

    def close(self):
        """Nothing is left to do."""


class NoModelInRows(PerKeyInRows):
    """The same without any model: what Spark takes by itself."""

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802
        """Hand the rows of a key back."""
        self.state.get()
        self.state.update((b"",))
        for row in rows:
            yield Row(key=row["key"], at=row["at"], prediction=0.0)


class PerKeyInFrames(PerKeyInRows):
    """A value for every key, its rows as frames of pandas."""

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802
        """Predict and learn the rows of a key."""
        frame = pd.concat(list(rows)).sort_values("at")
        model = self.model()
        ahead = model.predict_then_learn(frame[FEATURES].to_numpy(), frame["y"].to_numpy())
        self.state.update((to_bytes(model),))
        yield frame[["key", "at"]].assign(prediction=ahead)


class BucketInRows(StatefulProcessor):
    """A value for some hundred keys, as `learn_per_key` has it, its rows one by one."""

    def init(self, handle):
        """Take what gives access to the state."""
        self.state = handle.getValueState("models", "models binary")

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802
        """Predict and learn the rows of a bucket."""
        found = self.state.get()
        keyed = Keyed(DFOPRegressor(0.001)) if found is None else from_bytes(bytes(found[0]))
        rows = sorted(rows, key=lambda row: row["at"])
        X = np.array([[row[name] for name in FEATURES] for row in rows])
        keys, y = (np.array([row[name] for row in rows]) for name in ("key", "y"))
        ahead = keyed.predict_then_learn(keys, X, y)
        self.state.update((to_bytes(keyed),))
        for row, one in zip(rows, ahead, strict=True):
            yield Row(key=row["key"], at=row["at"], prediction=float(one))

    def close(self):
        """Nothing is left to do."""


def by_key(stream: DataFrame, processor: StatefulProcessor, frames: bool = False) -> DataFrame:
    groups = stream.groupBy("key")
    run = groups.transformWithStateInPandas if frames else groups.transformWithState
    return run(processor, PER_KEY, "Append", "None")


def by_bucket(stream: DataFrame, keys: int) -> DataFrame:
    bucket = F.pmod(F.col("key"), F.lit(buckets_for(keys)))
    groups = stream.withColumn("bucket", bucket).groupBy("bucket")
    return groups.transformWithState(BucketInRows(), PER_KEY, "Append", "None")


def learned(stream: DataFrame, keys: int) -> DataFrame:
    return learn_per_key(stream, "key", FEATURES, "y", "at", 0.001, buckets=buckets_for(keys))


def buckets_for(keys: int) -> int:
    return max(keys // 400, 4)


WAYS: dict[str, Callable[[DataFrame, int], DataFrame]] = {
    "bucket, frames: `learn_per_key`": learned,
    "bucket, rows": by_bucket,
    "key, rows": lambda stream, keys: by_key(stream, PerKeyInRows()),
    "key, rows, no model": lambda stream, keys: by_key(stream, NoModelInRows()),
    "key, frames": lambda stream, keys: by_key(stream, PerKeyInFrames(), frames=True),
}
"""What is a value in the store, and how Spark hands over its rows (rows: `transformWithState`,
frames: `transformWithStateInPandas`)."""


def per_key(folder: Path, keys: int, rows: int, way: str) -> str:
    """Run two micro-batches; the second finds all keys in the store."""
    spark, at = session(2), load()
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was cut short
    folder.mkdir()
    for part in range(2):
        some = spark.range(part * rows, (part + 1) * rows, numPartitions=1).select(
            F.floor(F.rand(part) * keys).alias("key"),
            F.timestamp_seconds(F.col("id")).alias("at"),
            *(F.randn(j).alias(name) for j, name in enumerate(FEATURES)),
        )
        some.withColumn("y", F.col("x0")).write.mode("append").parquet(f"{folder}/in")
    stream = spark.readStream.schema(spark.read.parquet(f"{folder}/in").schema)
    stream = stream.option("maxFilesPerTrigger", 1).parquet(f"{folder}/in")
    query = WAYS[way](stream, keys).writeStream.option("checkpointLocation", f"{folder}/state")
    query = query.trigger(availableNow=True).start(f"{folder}/out")
    query.awaitTermination()
    last = [p for p in query.recentProgress if p["numInputRows"]][-1]
    took = last["batchDuration"] / 1000
    state = last["stateOperators"][0]["customMetrics"]["rocksdbSstFileSize"] / 2  # of two versions
    spark.stop()
    shutil.rmtree(folder)
    return (f"| {keys:,} | {way} | {rows:,} | {at} | {took:.1f} | {rows / took:,.0f} | "
            f"{state / 1e6:.1f} |")  # fmt: skip


class Page:
    """The page of results, written anew with every line, and what was measured for it so far."""

    def __init__(self, record: Path) -> None:
        self.lines: list[str] = []
        self.record = record
        self.known: dict[str, Any] = json.loads(record.read_text()) if record.exists() else {}

    def add(self, *lines: str) -> None:
        """Add lines."""
        self.lines += lines
        text = "\n".join(self.lines) + "\n"
        Path(__file__).with_name("results-spark.md").write_text(text, encoding="utf-8")
        print(*lines, sep="\n", flush=True)

    def measured(self, name: str, measure: Callable[[], Any]) -> Any:
        """Return what was measured, now or in a run that was cut short."""
        if name not in self.known:
            self.known[name] = measure()
            self.record.write_text(json.dumps(self.known))
        return self.known[name]


def main(rows: int = 100_000_000, micro_batch: int = 400_000) -> None:
    folder = Path(tempfile.gettempdir()) / f"dfop-bench-spark-{rows}-{micro_batch}"
    folder.mkdir(exist_ok=True)
    page = Page(folder / "measured.json")
    page.add("# Spark against one process", "",
             f"Written by `python benchmarks/spark.py {rows:.0e}`; "
             "`make bench-spark` takes 1e+08.", "",
             f"{os.cpu_count()} cores. Load is that at the start of a line: above the number of "
             "cores, other programs had most of the machine, and seconds of the clock say little.",
             "", "A model per key, 10 features, two cores, the second of two micro-batches:", "",
             "| keys | a value in the store, and how its rows come | rows | load | seconds | "
             "rows/s | MB of state files |",
             "|---|---|---|---|---|---|---|")  # fmt: skip
    whole, part, least = micro_batch, micro_batch // 8, micro_batch // 40
    for keys, many, way in (
        (10_000, whole, "bucket, frames: `learn_per_key`"),
        (100_000, whole, "bucket, frames: `learn_per_key`"),
        (10_000, whole, "bucket, rows"),
        (10_000, part, "bucket, frames: `learn_per_key`"),
        (10_000, part, "key, rows"),
        (10_000, part, "key, rows, no model"),
        (2_000, least, "key, rows"),
        (2_000, least, "key, frames"),
    ):
        name = f"{keys} {many} {way}"
        page.add(page.measured(name, lambda: per_key(folder / "keys", keys, many, way)))  # noqa: B023
    stored = folder / "stored"
    alone = page.measured("one process", lambda: of_one_process(stored, rows))
    page.add("", f"One stored stream, {rows:,} rows x 10 from Parquet, `fit` at mu = {MU}:", "",
             "| | load | seconds | of the processor | rows/s of it | our own code | "
             "coefficients off by |",
             "|---|---|---|---|---|---|---|", alone["line"])  # fmt: skip
    for cores in (2, 1):
        line = page.measured(f"{cores}", lambda: of_spark(stored, rows, cores, alone))  # noqa: B023
        page.add(line)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(*(int(float(word)) for word in sys.argv[1:]))
