"""`transform`: any model predicts the rows of a table or of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as sql

from dfop.classifier import DFOPClassifier
from dfop.files.saving import from_bytes, to_bytes
from dfop.regressor import DFOPRegressor

from .design import Names, check_frame, column_names

_KINDS: dict[str, tuple[sql.DataType, Any]] = {
    "f": (sql.DoubleType(), pa.float64()),
    "i": (sql.LongType(), pa.int64()),
    "u": (sql.LongType(), pa.int64()),
    "b": (sql.BooleanType(), pa.bool_()),
}
_TEXT = (sql.StringType(), pa.string())


def transform(
    df: DataFrame,
    model: DFOPRegressor | DFOPClassifier,
    *,
    features: Names | None = None,
    prediction: str = "prediction",
) -> DataFrame:
    """Predict rows with a model that has learned: any, the default included.

    Parameters
    ----------
    df : DataFrame
        The rows, stored or streaming.
    model : DFOPRegressor or DFOPClassifier
        It is sent to every worker once, and learns nothing there.
    features : list of str, optional
        The columns, in the model's order; those that it has learned by name are found by name.
    prediction : str, default="prediction"
        Name of the new column.

    Returns
    -------
    DataFrame
        The rows with their predictions.

    Examples
    --------
    >>> from dfop import DFOPRegressor
    >>> from dfop.spark import transform
    >>> model = DFOPRegressor(forgetting=0.0).fit([[1.0], [2.0]], [1.0, 2.0])
    >>> df = spark.createDataFrame([(3.0,)], ["size"])
    >>> transform(df, model, features=["size"]).collect()
    [Row(size=3.0, prediction=...)]
    """
    check_frame(df)
    if not isinstance(model, DFOPRegressor | DFOPClassifier):
        raise TypeError(f"model is a {type(model).__name__}, not a DFOPRegressor or DFOPClassifier")
    if model.__dfop_model__() is None:
        raise ValueError("model has learned nothing yet: there is nothing to predict with")
    names = getattr(model, "feature_names_in_", None)
    if features is None and names is None:
        raise ValueError(
            "the model has learned columns without names: say with features= which they are"
        )
    given = names.tolist() if features is None and names is not None else features
    columns = column_names(df.schema, given, "features")
    if len(columns) != model.n_features_in_:
        raise ValueError(
            f"the model has learned {model.n_features_in_} columns, and features names "
            f"{len(columns)}"
        )
    if prediction in df.columns:
        raise ValueError(f"there is a column {prediction!r} already: give prediction= another name")
    renamed = columns if names is None else tuple(names)
    kind, several = _kind_of(model)
    column = sql.ArrayType(kind[0]) if several else kind[0]
    schema = sql.StructType([*df.schema.fields, sql.StructField(prediction, column)])
    arrow = pa.list_(kind[1]) if several else kind[1]
    shared = df.sparkSession.sparkContext.broadcast(to_bytes(model))
    return df.mapInArrow(_predict(shared, columns, renamed, prediction, arrow), schema)


def _kind_of(model: Any) -> tuple[tuple[sql.DataType, Any], bool]:
    """Return of what type predictions are, and whether there are several of a row."""
    if isinstance(model, DFOPRegressor):
        known = model.__dfop_model__()
        return _KINDS["f"], known is not None and not known.target.flat
    classes = model.classes_
    several = isinstance(classes, list)
    labels = np.asarray(classes[0] if several else classes)
    return _KINDS.get(labels.dtype.kind, _TEXT), several


def _predict(
    shared: Any, columns: tuple[str, ...], names: tuple[str, ...], prediction: str, kind: Any
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def predict(batches: Iterable[Any]) -> Iterator[Any]:
        model = from_bytes(shared.value)
        for batch in batches:
            table = pa.Table.from_batches([batch])
            if batch.num_rows:
                rows = table.select(columns).rename_columns(list(names))
                ahead = pa.array(model.predict(rows).tolist(), kind)
            else:
                ahead = pa.array([], kind)
            yield from table.append_column(prediction, ahead).to_batches()

    return predict
