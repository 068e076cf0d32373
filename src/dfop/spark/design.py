"""What is learned of a table: columns and settings, checked, as workers need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as sql

from dfop.classifier import DFOPClassifier
from dfop.forgetting import Forgetting
from dfop.regressor import DFOPRegressor
from dfop.scale.information import Information

from .order import order_fields

Names = str | list[str] | tuple[str, ...]


@dataclass(frozen=True)
class Design:
    """What is learned of a table.

    Attributes
    ----------
    features, targets, order_by : tuple of str
        Columns.
    flat : bool
        Whether there is one target, no list of them.
    labels : bool
        Whether it is a class.
    forgetting : float or rule
        As learners take it.
    needs_time : bool
        Whether it forgets by the clock, which is then the first column of the order.
    parameters : dict
        Further ones of a learner.
    """

    features: tuple[str, ...]
    targets: tuple[str, ...]
    flat: bool
    order_by: tuple[str, ...]
    labels: bool
    forgetting: float | Forgetting
    needs_time: bool
    parameters: dict[str, Any]

    @property
    def columns(self) -> list[str]:
        """All columns that are needed."""
        return list(dict.fromkeys([*self.order_by, *self.features, *self.targets]))

    def information(self, table: Any) -> Information:
        """Return what the rows of an Arrow table teach."""
        return Information.from_data(
            table.select(self.features), self.values(table), self.forgetting,
            time=self.times(table), labels=self.labels, **self.parameters,
        )  # fmt: skip

    def learner(self) -> DFOPRegressor | DFOPClassifier:
        """Return a new learner."""
        face = DFOPClassifier if self.labels else DFOPRegressor
        return face(self.forgetting, **self.parameters)

    def values(self, table: Any) -> Any:
        """Return the targets of rows."""
        columns = [table.column(name).to_numpy(zero_copy_only=False) for name in self.targets]
        return columns[0] if self.flat else np.column_stack(columns)

    def times(self, table: Any) -> Any:
        """Return when rows came, if it matters."""
        if not self.needs_time:
            return None
        column = table.column(self.order_by[0])
        if pa.types.is_timestamp(column.type):  # in UTC, whatever the session shows
            return column.cast(pa.int64()).to_numpy().view(f"M8[{column.type.unit}]")
        return column.to_numpy(zero_copy_only=False)


def checked_design(
    df: DataFrame,
    features: Names,
    target: Names,
    order_by: Names,
    forgetting: float | Forgetting,
    labels: bool,
    parameters: dict[str, Any],
) -> Design:
    """Check what was asked for against a table, before any of its rows is read."""
    check_frame(df)
    if df.isStreaming:
        raise ValueError("df is an endless stream: learn_per_key is for those")
    given = {"features": features, "target": target, "order_by": order_by}
    columns = {name: column_names(df.schema, value, name) for name, value in given.items()}
    leaking = set(columns["target"]) & set(columns["features"])
    if leaking:
        raise ValueError(f"{sorted(leaking)[0]!r} is both a feature and the target")
    flat = isinstance(target, str)
    if labels and not flat:
        raise ValueError("labels=True needs one target, the column of the classes")
    order_fields(df.schema, columns["order_by"])
    learner = (DFOPClassifier if labels else DFOPRegressor)(forgetting, **parameters)
    needs_time = learner.needs_time  # refuses settings that make no sense
    design = Design(columns["features"], columns["target"], flat, columns["order_by"], labels,
                    forgetting, needs_time, parameters)  # fmt: skip
    nothing = np.zeros((0, len(design.features)))
    empty = np.zeros(0 if flat else (0, len(design.targets)))
    Information.from_data(nothing, empty, forgetting, labels=labels, **parameters)
    if needs_time and isinstance(df.schema[design.order_by[0]].dataType, sql.StringType):
        raise ValueError(
            f"it forgets by the clock, which is the first column of order_by, and "
            f"{design.order_by[0]!r} is text: give a timestamp or a number of seconds"
        )
    return design


def check_frame(df: Any) -> None:
    """Refuse what is no table of a session that can reach the workers."""
    if not isinstance(df, DataFrame):
        raise TypeError(f"df is a {type(df).__name__}: give a DataFrame of Spark")
    if type(df).__module__.startswith("pyspark.sql.connect"):
        raise TypeError("df is of Spark Connect: dfop.spark needs a session on the driver itself")
    for name in df.columns:
        if "." in name or "`" in name:  # PySpark itself cannot hand it to Python
            raise ValueError(f"column {name!r} has a dot or a backtick in its name: rename it")


def column_names(schema: sql.StructType, given: Any, what: str) -> tuple[str, ...]:
    """Return names of columns; refuse those that are not there, and none."""
    names = (given,) if isinstance(given, str) else tuple(given or ())
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what}={given!r} must name at least one column")
    for name in names:
        if schema.names.count(name) != 1:
            many = "no column" if name not in schema.names else "more than one column"
            raise ValueError(f"{what}: there is {many} {name!r}; the columns are {schema.names}")
        if names.count(name) > 1:
            raise ValueError(f"{what} names {name!r} twice")
    return names
