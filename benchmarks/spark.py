"""Spark against one process on a stored stream, and models per key of an endless one.

``python benchmarks/spark.py [rows [rows of a micro-batch]]`` writes benchmarks/results-spark.md,
anew with each measurement. 10^8 rows, as many as there are unless it is told otherwise, take 10 GB
in the folder for temporary files while it runs, and about half an hour of two busy cores.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["PYSPARK_PYTHON"] = sys.executable

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import StatefulProcessor

from dfop import DFOPRegressor, Information, from_bytes, to_bytes
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


def write_stored(folder: Path, rows: int) -> None:
    folder.mkdir()
    each = rows // FILES
    for part in range(FILES):
        rng, writer = np.random.default_rng(part), None
        for start in range(part * each, (part + 1) * each, CHUNK):
            count = min(CHUNK, (part + 1) * each - start)
            columns = {name: rng.normal(size=count) for name in FEATURES}
            columns["y"] = columns["x0"] + rng.normal(size=count)
            columns["t"] = np.arange(start, start + count)
            table = pa.table(columns)
            if writer is None:
                writer = pq.ParquetWriter(folder / f"{part}.parquet", table.schema,
                                          compression="none", use_dictionary=False)  # fmt: skip
            writer.write_table(table)
        writer.close()


def one_process(folder: Path) -> tuple[float, DFOPRegressor]:
    model, start = DFOPRegressor(MU), time.perf_counter()
    for batch in ds.dataset(sorted(map(str, folder.iterdir()))).to_batches(batch_size=65536):
        model.partial_fit(batch.select(FEATURES), batch.column("y").to_numpy())
    return time.perf_counter() - start, model


def ours_alone(folder: Path) -> float:
    """Return the seconds that `Information` takes of what workers do, from one of the files."""
    file, total = pq.ParquetFile(next(folder.iterdir())), 0.0
    for batch in file.iter_batches(batch_size=2**18):
        start = time.perf_counter()
        Information.from_data(batch.select(FEATURES), batch.column("y").to_numpy(), MU)
        total += time.perf_counter() - start
    return FILES * total


def stored(folder: Path, rows: int, page: Page) -> None:
    write_stored(folder, rows)
    alone, sequential = one_process(folder)
    ours = ours_alone(folder)
    page.add(f"One stored stream, {rows:,} rows x 10 from Parquet, `fit` at mu = {MU}:", "",
             "| | seconds | rows/s | of it our own code | coefficients off by |",
             "|---|---|---|---|---|",
             f"| one process, `partial_fit` | {alone:.1f} | {rows / alone:,.0f} | | |")  # fmt: skip
    for cores in (2, 1):
        spark = session(cores)
        table = spark.read.parquet(str(folder))
        fit(table.where(F.col("t") < 1000), FEATURES, "y", "t", MU)  # workers are there
        start = time.perf_counter()
        model = fit(table, FEATURES, "y", "t", MU)
        took = time.perf_counter() - start
        spark.stop()
        off = np.abs(model.coef_ - sequential.coef_).max()
        page.add(f"| Spark, cores: {cores} | {took:.1f} | {rows / took:,.0f} | "
                 f"{ours / (took * cores):.0%} | {off:.0e} |")  # fmt: skip


class StatePerKey(StatefulProcessor):
    """What `learn_per_key` does not do: a value in the store for every key."""

    def init(self, handle):
        """Take what gives access to the state."""
        self.state = handle.getValueState("model", "model binary")

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802
        """Predict and learn the rows of a key."""
        found = self.state.get()
        model = DFOPRegressor(0.001) if found is None else from_bytes(bytes(found[0]))
        rows = sorted(rows, key=lambda row: row["at"])
        X = np.array([[row[name] for name in FEATURES] for row in rows])
        ahead = model.predict_then_learn(X, np.array([row["y"] for row in rows]))
        self.state.update((to_bytes(model),))
        for row, one in zip(rows, ahead, strict=True):
            yield Row(key=row["key"], at=row["at"], prediction=float(one))

    def close(self):
        """Nothing is left to do."""


def per_key(folder: Path, keys: int, rows: int, in_buckets: bool) -> str:
    """Run two micro-batches; the second finds all keys in the store."""
    spark = session(2)
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
    if in_buckets:
        out = learn_per_key(stream, "key", FEATURES, "y", "at", 0.001, buckets=max(keys // 400, 4))
    else:
        out = stream.groupBy("key").transformWithState(StatePerKey(), PER_KEY, "Append", "None")
    query = out.writeStream.option("checkpointLocation", f"{folder}/state")
    query = query.trigger(availableNow=True).start(f"{folder}/out")
    query.awaitTermination()
    last = [p for p in query.recentProgress if p["numInputRows"]][-1]
    took = last["batchDuration"] / 1000
    state = last["stateOperators"][0]["customMetrics"]["rocksdbSstFileSize"] / 2  # of two versions
    spark.stop()
    how = "bucket" if in_buckets else "key, `transformWithState`"
    return f"| {keys:,} | {how} | {rows:,} | {took:.1f} | {rows / took:,.0f} | {state / 1e6:.1f} |"


class Page:
    """The page of results, written anew with every line: a run may be cut short."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, *lines: str) -> None:
        """Add lines."""
        self.lines += lines
        text = "\n".join(self.lines) + "\n"
        Path(__file__).with_name("results-spark.md").write_text(text, encoding="utf-8")
        print(*lines, sep="\n", flush=True)


def main(rows: int = 100_000_000, micro_batch: int = 400_000) -> None:
    page = Page()
    page.add("# Spark against one process", "",
             f"Written by `python benchmarks/spark.py {rows:.0e}`; "
             "`make bench-spark` takes 1e+08.", "",
             f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.0f} at the start: above the "
             "number of cores, other programs had most of the machine.", "",
             "A model per key, 10 features, two cores, the second of two micro-batches:", "",
             "| keys | state per | rows | seconds | rows/s | MB of state files |",
             "|---|---|---|---|---|---|")  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page.add(per_key(folder / "a", 10_000, micro_batch, True))
        page.add(per_key(folder / "b", 100_000, micro_batch, True))
        page.add(per_key(folder / "c", 10_000, micro_batch // 8, False))
        page.add("", f"Load {os.getloadavg()[0]:.0f} from here on.", "")
        stored(folder / "stored", rows, page)
        page.add("", f"Load {os.getloadavg()[0]:.0f} at the end.")


if __name__ == "__main__":
    main(*(int(float(word)) for word in sys.argv[1:]))
