"""A model per key of an endless stream, in Structured Streaming."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from events import HOUR, as_frame, models_apart, records
from pyspark.errors import StreamingQueryException

from dfop import half_life
from dfop.spark import learn_per_key, models

TYPES = pa.schema([
    *((name, pa.float64()) for name in ("a", "b", "y")), ("row", pa.string()),
    ("shop", pa.string()), ("at", pa.timestamp("us", "UTC")),
])  # fmt: skip
SCHEMA = "a double, b double, y double, row string, shop string, at timestamp"
COLUMNS = {"key": "shop", "features": ["a", "b"], "target": "y", "time": "at"}


def write(frame, folder, edges):
    """Write a file for each stretch of a stream, in their order."""
    folder.mkdir(exist_ok=True)
    for at, (start, stop) in enumerate(itertools.pairwise(edges)):
        rows = frame.iloc[start:stop].sample(frac=1.0, random_state=at)
        table = pa.Table.from_pandas(rows, TYPES, preserve_index=False)
        pq.write_table(table, folder / f"{start:06d}.parquet")


def source(spark, folder):
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))
    return stream.withWatermark("at", "1 minute")


def run(out, folder):
    """Run a query to the end of its source; start it again where a busy machine was too slow."""
    while True:
        query = (
            out.writeStream.format("parquet")
            .option("path", str(folder / "out"))
            .option("checkpointLocation", str(folder / "state"))
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination()
        except StreamingQueryException as error:
            if "worker failed to connect back" not in str(error):  # Spark waits ten seconds for it
                raise
        else:
            return query


def test_models_apart_bit_for_bit_also_after_a_restart(spark, tmp_path):
    """Late labels, keys that expire, records that are no use; then settings that have changed."""
    events = records(3, n=240, keys=6, text=True)
    frame = as_frame(events)
    asked = {**COLUMNS, "forgetting": half_life("3h"), "row": "row", "expire": "2h", "buckets": 3}
    write(frame, tmp_path / "in", [0, 130])
    run(learn_per_key(source(spark, tmp_path / "in"), **asked), tmp_path)
    write(frame, tmp_path / "in", [130, 131, 240])
    last = run(learn_per_key(source(spark, tmp_path / "in"), **asked), tmp_path)
    assert all(p["stateOperators"][0]["numRowsDroppedByWatermark"] == 0
               for p in last.recentProgress if p["stateOperators"])  # fmt: skip

    found = spark.read.parquet(str(tmp_path / "out")).toPandas().sort_values("at")
    assert list(found.columns) == ["shop", "at", "row", "y", "prediction", "learned"]
    predicted, learned = models_apart(events, half_life("3h"), 2 * HOUR)
    np.testing.assert_array_equal(found["prediction"], predicted)
    np.testing.assert_array_equal(found["learned"], learned)
    np.testing.assert_array_equal(found["shop"], events.keys)

    kept = {key for some in models(spark, str(tmp_path / "state")) for key in some}
    assert kept <= set(events.keys)
    assert kept, "those of the last two hours"

    write(frame, tmp_path / "in", [0, 240])
    (tmp_path / "in" / "000000.parquet").rename(tmp_path / "in" / "more.parquet")
    changed = learn_per_key(source(spark, tmp_path / "in"), **{**asked, "features": ["a"]})
    with pytest.raises(StreamingQueryException, match="features was a, b and is a: give the old"):
        run(changed, tmp_path)


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"features": ["a"]}, "features was a, b and is a"), ({"buckets": 9}, "fewer buckets than 9")],
)
def test_other_settings_are_refused_by_buckets_that_had_no_row_yet(spark, tmp_path, changed, said):
    """A micro-batch of keys whose buckets are new must not mix two designs in a checkpoint."""
    events = records(5, n=40, keys=1, text=True)
    frame = as_frame(events)
    asked = {**COLUMNS, "forgetting": 0.05, "row": "row", "buckets": 4}
    write(frame, tmp_path / "in", [0, 40])
    run(learn_per_key(source(spark, tmp_path / "in"), **asked), tmp_path)
    before = {key: some[key].coef_ for some in models(spark, str(tmp_path / "state"))
              for key in some}  # fmt: skip
    assert list(before) == ["shop 0"]
    hashed = spark.createDataFrame([(f"shop {k}",) for k in range(50)], ["shop"])
    of = hashed.selectExpr("shop", "pmod(xxhash64(shop), 4) four", "pmod(xxhash64(shop), 9) nine")
    buckets = {row.shop: (row.four, row.nine) for row in of.collect()}
    mine = buckets["shop 0"]
    frame["shop"] = next(shop for shop, (four, nine) in buckets.items()
                         if four != mine[0] and nine > 3)  # fmt: skip
    write(frame, tmp_path / "in", [0, 40])
    (tmp_path / "in" / "000000.parquet").rename(tmp_path / "in" / "more.parquet")
    with pytest.raises(StreamingQueryException, match=said):
        run(learn_per_key(source(spark, tmp_path / "in"), **{**asked, **changed}), tmp_path)
    run(learn_per_key(source(spark, tmp_path / "in"), **asked), tmp_path)  # the old ones go on
    after = {key: some[key].coef_ for some in models(spark, str(tmp_path / "state"))
             for key in some}  # fmt: skip
    assert len(after) == 2
    np.testing.assert_array_equal(after["shop 0"], before["shop 0"])


def test_what_cannot_be_is_refused_before_the_query_starts(spark, tmp_path):
    (tmp_path / "in").mkdir()
    good = source(spark, tmp_path / "in")
    plain = spark.readStream.schema(SCHEMA).parquet(str(tmp_path / "in"))
    bad = [
        (good, {"features": ["nope"]}, "no column 'nope'"),
        (good, {"features": ["a", "y"]}, "both a feature and the target"),
        (good, {"features": ["row"]}, "'row' is string: it must be numbers"),
        (good, {"key": "a"}, "'a' is double: keys and names of rows must be whole numbers"),
        (good, {"time": "a"}, "'a' is double: it must be a timestamp"),
        (good, {"forgetting": "auto"}, "half a megabyte"),
        (good, {"buckets": 0}, "buckets=0"),
        (good, {"pending_limit": 0}, "pending_limit=0"),
        (plain, {"expire": "3d"}, "withWatermark"),
        (spark.createDataFrame([], SCHEMA), {}, "no stream"),
    ]
    for stream, given, said in bad:
        with pytest.raises(ValueError, match=said):
            learn_per_key(stream, **{**COLUMNS, "forgetting": 0.01, **given})
    provider = "spark.sql.streaming.stateStore.providerClass"
    before = spark.conf.get(provider)
    spark.conf.set(provider, before.replace("RocksDB", "HDFSBacked"))
    try:
        with pytest.raises(ValueError, match="RocksDB"):
            learn_per_key(good, **COLUMNS, forgetting=0.01)
    finally:
        spark.conf.set(provider, before)
