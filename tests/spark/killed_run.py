"""A program on a small cluster, to be killed: ``killed_run.py FOLDER``.

It learns a stored stream, then a stream of keys whose labels may come late and which expire;
``FOLDER/phase`` says how far it is. Started again it goes on with what is not done.
"""

import os
import sys
from pathlib import Path

import numpy as np

PARTS, ROWS, KEYS = 4, 3000, 20
FEATURES = ["a", "b", "c"]
SCHEMA = "a double, b double, c double, y double, t bigint"
EVENTS = "a double, b double, y double, row string, shop bigint, at timestamp"
HALF_LIFE, EXPIRE, LATE = "1d", "12h", "1 minute"
PROBES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # by which models are compared
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def cluster():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.executor.memory", "1g")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.files.maxPartitionBytes", "30k")
        .config("spark.python.authenticate.socketTimeout", "5m")
        .config("spark.sql.streaming.stateStore.providerClass", ROCKS)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


def learn_stored(spark, folder):
    from dfop import save
    from dfop.spark import fit

    rows = spark.read.schema(SCHEMA).parquet(str(folder / "in"))
    save(fit(rows, FEATURES, "y", "t", 0.001), folder / "model.dfop")


def learn_stream(spark, folder):
    from dfop import half_life
    from dfop.spark import learn_per_key, models

    rows = spark.readStream.schema(EVENTS).option("maxFilesPerTrigger", 1)
    ahead = learn_per_key(
        rows.parquet(str(folder / "events")).withWatermark("at", LATE), "shop", ["a", "b"],
        "y", "at", half_life(HALF_LIFE), row="row", expire=EXPIRE, buckets=4,
    )  # fmt: skip
    query = (
        ahead.writeStream.option("checkpointLocation", str(folder / "state"))
        .trigger(availableNow=True)
        .start(str(folder / "out"))
    )
    query.awaitTermination()
    found = spark.read.parquet(str(folder / "out")).toPandas()
    found_models = {
        str(key): some[key].predict(PROBES)
        for some in models(spark, str(folder / "state"))
        for key in some
    }
    np.savez(folder / "models.npz", **found_models)
    found.to_parquet(folder / "written.parquet")
    (folder / "written.parquet").rename(folder / "found.parquet")


def main(folder):
    spark = cluster()
    for phase, learn, result in (
        ("fit", learn_stored, "model.dfop"),
        ("stream", learn_stream, "found.parquet"),
    ):
        if not (folder / result).exists():
            (folder / "phase").write_text(phase)
            learn(spark, folder)
    (folder / "phase").write_text("end")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
