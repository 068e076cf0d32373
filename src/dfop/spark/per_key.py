"""A model per key of an endless stream: `learn_per_key`, and `models` to read what it learned."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any, Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as sql

from dfop.forgetting import Duration, Forgetting, seconds_of
from dfop.rows.arrow import LARGEST
from dfop.scale.keyed import Keyed

from .bucket import COMPLETE, LABEL, QUESTION, UNUSABLE, WAITING
from .design import column_names
from .processor import STATE, LearnBucket, StreamDesign

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_WATERMARK = "spark.watermarkDelayMs"
_OUTPUT = "key string, micros double, name string, y double, prediction double, learned boolean"


def learn_per_key(
    stream: DataFrame,
    key: str,
    features: list[str],
    target: str,
    time: str,
    forgetting: float | Literal["few"] | Forgetting,
    *,
    expire: Duration | None = None,
    row: str | None = None,
    buckets: int = 256,
    fit_intercept: bool = True,
    prior_variance: float | None = None,
    cap: float | None = 1e6,
    pending_limit: int = 100_000,
) -> DataFrame:
    """Predict every row of a stream with the model of its key, then let that learn it.

    Rows of a key are taken in the order of `time`. What comes out is, bit for bit, what a
    `DFOPRegressor` of each key gives, also when machines fail: Spark's checkpoint holds the models
    and has every row count once.

    Parameters
    ----------
    stream : DataFrame
        A stream of Structured Streaming.
    key : str
        Column that tells the model: whole numbers or texts.
    features : list of str
        Columns of numbers.
    target : str
        Column of numbers. Where it is null the row is predicted now, and its target may come later.
    time : str
        Column of timestamps.
    forgetting : float, rule or "few"
        mu, `dfop.period` or `dfop.half_life`; "few" finds out by itself how fast to forget, with
        four filters a key.
    expire : str or timedelta, optional
        How long a key may be idle, by the clock of the data: its next row begins anew. Needs a
        watermark, ``stream.withWatermark(time, "1 hour")``, which then removes its model.
    row : str, optional
        Column that names rows whose target comes later: a record with key, time, this name and the
        target, its features null, brings it.
    buckets : int, default=256
        How many pieces the models are kept in, each of which is read and written whole: some
        hundred keys in each are good. It cannot be changed later.
    fit_intercept, prior_variance, cap
        As in `DFOPRegressor`.
    pending_limit : int, default=100000
        How many rows of a key may wait for their target; its oldest are given up beyond it, and a
        target that comes for one of them is not learned.

    Returns
    -------
    DataFrame
        A row per record: key, time, `row` if given, target, `prediction` (null of records that
        bring a target) and `learned`. Records that cannot be used (no key or time, features that
        are partly missing or infinite, a target that no row waits for) come out unlearned.

    Examples
    --------
    >>> from dfop.spark import learn_per_key
    >>> schema = "shop string, price double, sold double, at timestamp"
    >>> stream = spark.readStream.schema(schema).parquet("orders")  # a folder  # doctest: +SKIP
    >>> ahead = learn_per_key(stream, "shop", ["price"], "sold", "at", 0.01)  # doctest: +SKIP
    >>> ahead.writeStream.option("checkpointLocation", "state").start("ahead")  # doctest: +SKIP
    """
    _check_stream(stream, expire, time)
    columns = column_names(stream.schema, features, "features")
    for name, given in {"key": key, "target": target, "time": time, "row": row}.items():
        if given is not None:
            column_names(stream.schema, given, name)
    if target in columns:
        raise ValueError(f"{target!r} is both a feature and the target")
    _check_kinds(stream.schema, key, row, time, (target, *columns))
    if isinstance(buckets, bool) or not isinstance(buckets, int) or buckets < 1:
        raise ValueError(f"buckets={buckets!r} must be a whole number from 1 on")
    idle = None if expire is None else round(seconds_of(expire) * 1e6)
    parameters = {
        "fit_intercept": fit_intercept, "prior_variance": prior_variance, "cap": cap,
        "pending_limit": pending_limit,
    }  # fmt: skip
    whole = isinstance(stream.schema[key].dataType, sql.IntegralType)
    design = StreamDesign(key, target, columns, whole, forgetting, idle, buckets, parameters)
    Keyed(design.model())  # refuses a design of which there are no models by key
    records = _records(stream, key, row, time, target, columns, buckets)
    mode = "None" if expire is None else "EventTime"
    every = stream.sparkSession.range(buckets).toDF("bucket").groupBy("bucket")
    out = records.groupBy("bucket").transformWithStateInPandas(
        LearnBucket(design), _OUTPUT, "Append", mode, initialState=every
    )
    shown = [
        F.col("key").cast(stream.schema[key].dataType).alias(key),
        F.timestamp_micros(F.col("micros").cast("long")).alias(time),
        F.col("y").alias(target),
        F.col("prediction"),
        F.col("learned"),
    ]
    if row is not None:
        shown.insert(2, F.col("name").cast(stream.schema[row].dataType).alias(row))
    return out.select(shown)


def models(spark: SparkSession, checkpoint: str) -> Iterator[Keyed]:
    """Read what a query of `learn_per_key` has learned, from its checkpoint.

    Parameters
    ----------
    spark : SparkSession
        With RocksDB as the state store.
    checkpoint : str
        The query's ``checkpointLocation``.

    Yields
    ------
    Keyed
        The models of a bucket of keys.

    Examples
    --------
    >>> from dfop.spark import models
    >>> {key: some[key] for some in models(spark, "state") for key in some}  # doctest: +SKIP
    {'Lima': DFOPRegressor(forgetting=0.01), 'Oslo': DFOPRegressor(forgetting=0.01)}
    """
    found = spark.read.format("statestore").option("stateVarName", STATE).load(checkpoint)
    for row in found.select("value.models").where("models is not null").toLocalIterator():
        yield Keyed.from_bytes(bytes(row.models))


def _check_stream(stream: DataFrame, expire: Any, time: str) -> None:
    if not isinstance(stream, DataFrame) or not stream.isStreaming:
        raise ValueError("stream is no stream: make it with spark.readStream (a table: fit)")
    provider = stream.sparkSession.conf.get(_PROVIDER, "")
    if "RocksDB" not in (provider or ""):
        raise ValueError(
            f"the models are kept in RocksDB: spark.conf.set('{_PROVIDER}', 'org.apache.spark.sql."
            "execution.streaming.state.RocksDBStateStoreProvider')"
        )
    if expire is None or time not in stream.columns:
        return
    if _WATERMARK not in (stream.schema[time].metadata or {}):
        raise ValueError(
            f"expire needs to know how late rows may be: stream.withWatermark({time!r}, '1 hour') "
            "comes before"
        )


def _check_kinds(
    schema: sql.StructType, key: str, row: str | None, time: str, numbers: tuple[str, ...]
) -> None:
    for name in (key,) if row is None else (key, row):
        kind = schema[name].dataType
        if not isinstance(kind, sql.IntegralType | sql.StringType):
            raise ValueError(
                f"column {name!r} is {kind.simpleString()}: keys and names of rows must be whole "
                "numbers or texts"
            )
    if not isinstance(schema[time].dataType, sql.TimestampType):
        kind = schema[time].dataType
        raise ValueError(f"time column {time!r} is {kind.simpleString()}: it must be a timestamp")
    for name in numbers:
        kind = schema[name].dataType
        if not isinstance(kind, sql.NumericType | sql.BooleanType):
            raise ValueError(f"column {name!r} is {kind.simpleString()}: it must be numbers")


def _records(
    stream: DataFrame, key: str, row: str | None, time: str, target: str,
    features: tuple[str, ...], buckets: int,
) -> DataFrame:  # fmt: skip
    """Return the columns that models need, and of what kind each record is."""
    numbers = [_column(name).cast("double") for name in features]
    y = _column(target).cast("double")
    name = F.lit(None).cast("string") if row is None else _column(row).cast("string")
    usable = reduce(lambda all_, x: all_ & _is_number(x), numbers, F.lit(True))
    none = reduce(lambda all_, x: all_ & x.isNull(), numbers, F.lit(True))
    kind = (
        F.when(_column(key).isNull() | _column(time).isNull(), UNUSABLE)
        .when(usable & _is_number(y), COMPLETE)
        .when(usable & y.isNull() & name.isNotNull(), WAITING)
        .when(usable & y.isNull(), QUESTION)
        .when(none & _is_number(y) & name.isNotNull(), LABEL)
        .otherwise(UNUSABLE)
    )
    return stream.select(
        F.pmod(F.xxhash64(_column(key)), F.lit(buckets)).alias("bucket"),
        _column(key).cast("string").alias("key"),
        _column(time).alias("watermark"),
        F.unix_micros(_column(time)).cast("double").alias("micros"),
        kind.alias("kind"),
        name.alias("name"),
        y.alias("y"),
        F.array(numbers).alias("x"),
    )


def _column(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")


def _is_number(x: Column) -> Column:
    return x.isNotNull() & ~F.isnan(x) & (F.abs(x) <= F.lit(LARGEST))
