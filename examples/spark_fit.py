"""One stored stream learned by all machines of a cluster, as one machine would have learned it.

Here the cluster is this machine; elsewhere leave the master to spark-submit.
"""

import os
import sys
import tempfile
import warnings

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need a Python with dfop
warnings.filterwarnings("ignore", module="pyspark")

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402, N812

from dfop import DFOPRegressor  # noqa: E402
from dfop.spark import fit, predict_then_learn, transform  # noqa: E402

FEATURES = ["hour", "visitors"]


def orders(spark, n=20_000):
    """Make rows in the order of their numbers; in the middle the price of a visitor changes."""
    per_visitor = F.when(F.col("id") < n // 2, 2.0).otherwise(3.0)
    rows = spark.range(n, numPartitions=4).select(
        "id",
        F.rand(1).alias("hour"),
        F.randn(2).alias("visitors"),
        F.randn(3).alias("noise"),
    )
    return rows.withColumn(
        "sold", per_visitor * F.col("visitors") + F.col("hour") + F.col("noise") / 10
    )


def main() -> None:
    builder = SparkSession.builder.appName("dfop").config("spark.ui.showConsoleProgress", "false")
    spark = builder.master(os.environ.get("MASTER", "local[2]")).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        orders(spark).write.parquet(f"{folder}/orders")
        stored = spark.read.parquet(f"{folder}/orders")

        model = fit(stored, FEATURES, "sold", order_by="id", forgetting=0.001)
        here = stored.orderBy("id").toPandas()
        one_machine = DFOPRegressor(0.001).fit(here[FEATURES], here["sold"])
        print("weights of many machines:", model.coef_.round(2))
        print("the same as of one:", bool(abs(model.coef_ - one_machine.coef_).max() < 1e-9))

        ahead = predict_then_learn(stored, FEATURES, "sold", order_by="id", forgetting=0.001)
        error = F.sqrt(F.avg((F.col("prediction") - F.col("sold")) ** 2))
        print(f"error, each row predicted before it was learned: {ahead.agg(error).first()[0]:.2f}")
        print("rows scored:", transform(stored, model).count())
    spark.stop()


if __name__ == "__main__":
    main()
