"""A model per shop of an endless stream; labels come later, and the query survives a restart.

Here the stream is a folder of files and the cluster this machine.
"""

import os
import sys
import tempfile
import warnings

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need a Python with dfop
warnings.filterwarnings("ignore", module="pyspark")

from pyspark.sql import SparkSession  # noqa: E402

from dfop.spark import learn_per_key, models  # noqa: E402

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "shop string, id bigint, at timestamp, visitors double, sold double"


def day(spark, number):
    """Make the records of a day: visitors come in, what was sold is known the day after."""
    rows = []
    for at in range(200):
        shop, visitors = ("Lima", "Oslo")[at % 2], float(at % 17)
        factor = 2.0 if shop == "Lima" else 5.0
        name, clock = number * 1000 + at, f"2026-01-{number:02d} 12:{at // 60:02d}:{at % 60:02d}"
        rows.append((shop, name, clock, visitors, None))
        if number > 1:  # yesterday's row of that name
            rows.append((shop, name - 1000, clock, None, factor * visitors))
    frame = spark.createDataFrame(rows, SCHEMA.replace("timestamp", "string"))
    return frame.selectExpr("shop", "id", "to_timestamp(at) at", "visitors", "sold")


def main() -> None:
    builder = SparkSession.builder.appName("dfop").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.streaming.stateStore.providerClass", ROCKS)
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    spark = builder.master(os.environ.get("MASTER", "local[2]")).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        for number in (1, 2, 3):  # the query is started again every day
            day(spark, number).coalesce(1).write.mode("append").parquet(f"{folder}/in")
            stream = spark.readStream.schema(SCHEMA).parquet(f"{folder}/in")
            stream = stream.withWatermark("at", "1 hour")
            ahead = learn_per_key(stream, key="shop", features=["visitors"], target="sold",
                                  time="at", forgetting=0.01, row="id", expire="30d",
                                  buckets=2)  # fmt: skip
            query = ahead.writeStream.option("checkpointLocation", f"{folder}/state")
            query.trigger(availableNow=True).start(f"{folder}/out").awaitTermination()
        print("records:", spark.read.parquet(f"{folder}/out").count())
        for some in models(spark, f"{folder}/state"):
            for shop in some:
                print(f"{shop}: {some[shop].coef_[0]:.2f} sold a visitor")
    spark.stop()


if __name__ == "__main__":
    main()
