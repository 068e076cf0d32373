"""One stored stream over many machines: `fit` and `predict_then_learn`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as sql

from dfop.classifier import DFOPClassifier
from dfop.files.saving import from_bytes, to_bytes
from dfop.forgetting import Forgetting
from dfop.regressor import DFOPRegressor
from dfop.scale.information import Information, LimitError

from .design import Design, Names, checked_design
from .order import pieces, shown
from .parts import Run, in_order, learned_parts, merged, ordered_runs

OnCap = Literal["raise", "sequential"]
Order = tuple[Any, ...]


def fit(
    df: DataFrame,
    features: Names,
    target: Names,
    order_by: Names,
    forgetting: float | Forgetting,
    *,
    on_cap: OnCap = "raise",
    labels: bool = False,
    fit_intercept: bool = True,
    prior_variance: float | None = None,
    cap: float | None = 1e6,
) -> DFOPRegressor | DFOPClassifier:
    """Learn a stored stream in one pass over all machines; the model is that of one machine.

    Partitions are learned where they are, and what they teach is merged in the order of the
    stream. Nothing is sorted: partitions must be stretches of the stream, as a table is that was
    written in its order, or that `df.orderBy` sorted.

    Parameters
    ----------
    df : DataFrame
        The rows.
    features : list of str
        Columns of numbers without gaps.
    target : str or list of str
        What to learn.
    order_by : str or list of str
        Columns that tell which row came before which: no two rows may be equal in all of them. A
        rule by the clock takes the first as the time.
    forgetting : float or rule
        mu, `dfop.period` or `dfop.half_life`.
    on_cap : {"raise", "sequential"}, default="raise"
        What to do where a limit of the learner acted, or may have, or rounding decides, so that
        parts cannot be merged: raise `dfop.LimitError`, or let all rows pass through one task.
    labels : bool, default=False
        Whether the target is a class.
    fit_intercept, prior_variance, cap
        As in `DFOPRegressor`.

    Returns
    -------
    DFOPRegressor or DFOPClassifier
        Which goes on, anywhere.

    Examples
    --------
    >>> from dfop.spark import fit
    >>> rows = [(t, float(t % 7), 2.0 * (t % 7) + 1.0) for t in range(200)]
    >>> df = spark.createDataFrame(rows, ["t", "size", "price"])
    >>> model = fit(df, ["size"], "price", order_by="t", forgetting=0.01)
    >>> model.coef_.round(3)
    array([2.])
    """
    design = checked_design(
        df, features, target, order_by, forgetting, labels,
        {"fit_intercept": fit_intercept, "prior_variance": prior_variance, "cap": cap},
    )  # fmt: skip
    _check_on_cap(on_cap)
    parts = learned_parts(df, design).persist()
    try:
        whole = merged(parts, ordered_runs(parts, design))
    finally:
        parts.unpersist()
    try:
        return whole.to_learner()
    except LimitError:
        if on_cap == "raise":
            raise
    rows = _in_one_task(df.select(design.columns), design)
    found = rows.mapInArrow(_fit_in_order(design, _classes(whole)), "state binary").collect()
    return from_bytes(bytes(found[0].state))  # type: ignore[no-any-return]


def predict_then_learn(
    df: DataFrame,
    features: Names,
    target: Names,
    order_by: Names,
    forgetting: float | Forgetting,
    *,
    on_cap: OnCap = "raise",
    labels: bool = False,
    fit_intercept: bool = True,
    prior_variance: float | None = None,
    cap: float | None = 1e6,
    prediction: str = "prediction",
) -> DataFrame:
    """Predict each row of a stored stream from all rows before it, all partitions at once.

    A first pass, now, learns what each partition teaches; from that follows the model with which
    each partition begins. The second pass is lazy, as transformations of Spark are: every
    partition predicts and learns its rows from there on.

    Parameters
    ----------
    df, features, target, order_by, forgetting, on_cap, labels, fit_intercept, prior_variance, cap
        As in `fit`. Both passes read `df`: persist what is not the same each time.
    prediction : str, default="prediction"
        Name of the new column.

    Returns
    -------
    DataFrame
        The rows with what was predicted of them before they were learned.

    Examples
    --------
    >>> from dfop.spark import predict_then_learn
    >>> rows = [(t, float(t % 7), 2.0 * (t % 7) + 1.0) for t in range(200)]
    >>> df = spark.createDataFrame(rows, ["t", "size", "price"])
    >>> ahead = predict_then_learn(df, ["size"], "price", "t", 0.01)
    >>> ahead.columns
    ['t', 'size', 'price', 'prediction']
    """
    design = checked_design(
        df, features, target, order_by, forgetting, labels,
        {"fit_intercept": fit_intercept, "prior_variance": prior_variance, "cap": cap},
    )  # fmt: skip
    _check_on_cap(on_cap)
    if prediction in df.columns:
        raise ValueError(f"there is a column {prediction!r} already: give prediction= another name")
    parts = learned_parts(df, design).persist()
    try:
        runs = ordered_runs(parts, design)
        known = in_order(parts, runs)
    finally:
        parts.unpersist()
    kind = df.schema[design.targets[0]].dataType if labels else sql.DoubleType()
    column = kind if design.flat else sql.ArrayType(kind)
    schema = sql.StructType([*df.schema.fields, sql.StructField(prediction, column)])
    classes = _classes(_fold(known))
    try:
        starts = _starts(design, runs, known, classes)
    except LimitError:
        if on_cap == "raise":
            raise
        last, rows = runs[-1].last, sum(run.rows for run in runs)
        starts = {runs[0].first: (None, last, rows)}
        df = _in_one_task(df, design)
    shared = df.sparkSession.sparkContext.broadcast(starts)
    return df.mapInArrow(_predict_from(design, shared, classes, prediction), schema)


def _check_on_cap(on_cap: str) -> None:
    if on_cap not in ("raise", "sequential"):
        raise ValueError(f'on_cap={on_cap!r} must be "raise" or "sequential"')


def _classes(whole: Information) -> Any:
    return getattr(whole.target, "classes", None)


def _fold(parts: list[Information]) -> Information:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.then(part)
    return whole


def _starts(
    design: Design, runs: list[Run], known: list[Information], classes: Any
) -> dict[Order, tuple[bytes | None, Order, int]]:
    """Return the model before each run, and how the run ends, by the order of its first row."""
    starts: dict[Order, tuple[bytes | None, Order, int]] = {}
    before: Information | None = None
    nothing = pd.DataFrame(np.zeros((0, len(design.features))), columns=list(design.features))
    for run, part in zip(runs, known, strict=True):
        model = None
        if before is not None:
            told = before
            if design.labels:  # a learner must know from its first row which classes there are
                none = Information.from_data(
                    nothing, [], design.forgetting, labels=True, classes=classes,
                    **design.parameters,
                )  # fmt: skip
                told = before.then(none)
            model = to_bytes(told.to_learner())
        starts[run.first] = model, run.last, run.rows
        before = part if before is None else before.then(part)
    return starts


def _in_one_task(df: DataFrame, design: Design) -> DataFrame:
    return df.coalesce(1).sortWithinPartitions(*design.order_by)


def _told(design: Design, table: Any, first: bool, classes: Any) -> dict[str, Any]:
    """Return what a learner is told of rows beside themselves."""
    told: dict[str, Any] = {}
    if design.needs_time:
        told["time"] = design.times(table)
    if design.labels and first:
        told["classes"] = classes
    return told


def _fit_in_order(design: Design, classes: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def learn(batches: Iterable[Any]) -> Iterator[Any]:
        learner = design.learner()
        for at, piece in enumerate(pieces(batches, design.order_by)):
            told = _told(design, piece.table, at == 0, classes)
            rows, values = piece.table.select(design.features), design.values(piece.table)
            learner.partial_fit(rows, values, **told)
        yield pa.RecordBatch.from_pydict({"state": pa.array([to_bytes(learner)], pa.binary())})

    return learn


def _predict_from(
    design: Design, shared: Any, classes: Any, prediction: str
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def predict(batches: Iterable[Any]) -> Iterator[Any]:
        starts, learner, left, end = shared.value, None, 0, ()
        for piece in pieces(batches, design.order_by):
            if piece.begins:
                _check_the_same(left == 0 and piece.first in starts, piece.first, design)
                state, end, left = starts[piece.first]
                learner = design.learner() if state is None else from_bytes(state)
            assert learner is not None
            told = _told(design, piece.table, piece.begins and state is None, classes)
            rows, values = piece.table.select(design.features), design.values(piece.table)
            ahead = learner.predict_then_learn(rows, values, **told)
            left -= len(ahead)
            _check_the_same(left > 0 or (left == 0 and piece.last == end), piece.last, design)
            yield from _with_column(piece.table, prediction, ahead, design)
        _check_the_same(left == 0, end, design)

    return predict


def _check_the_same(held: bool, order: Order, design: Design) -> None:
    if not held:
        raise ValueError(
            f"df gave other rows, or other partitions, in the second pass than in the first, at "
            f"{shown(order, design.order_by)}: persist it, or write it to a file, before"
        )


def _with_column(table: Any, name: str, ahead: Any, design: Design) -> Iterator[Any]:
    if design.labels:
        column = pa.array(ahead.tolist()).cast(table.schema.field(design.targets[0]).type)
    elif design.flat:
        column = pa.array(ahead, pa.float64())
    else:
        column = pa.array(list(ahead), pa.list_(pa.float64()))
    yield from table.append_column(name, column).to_batches()
