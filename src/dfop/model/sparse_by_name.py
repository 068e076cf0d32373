"""Rows that are dicts with many names, learned by their non-zeros (`storage=`).

A number has the column of its name, a text an indicator "name=text", a missing value the indicator
"name is missing": nothing is filled in for it. Names beyond `max_features` share 32 columns.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import BUCKETS, LARGEST
from dfop.rows.batch import Batch
from dfop.rows.cells import is_missing, reads_as_number, to_number
from dfop.rows.sparse import SparseBatch

from .by_name import Limits, in_order
from .label_targets import LabelTarget
from .model import Model
from .targets import Planned

Array = NDArray[np.float64]
Row = dict[Any, Any]

_SHARED = "shared names #"


class SparseRowsByName:
    """The way of a dict through a model that has a sketch.

    Parameters
    ----------
    model : Model
        Its columns are known by their names.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._limits = Limits(model.settings)

    # -- one row ------------------------------------------------------------------------------

    def learn_number(self, x: Row, y: float) -> None:
        """Learn one row and its number."""
        self._learn_cells([coded_cells(x)], Planned(self.model.target, np.array([[y]])))

    def learn_label(self, x: Row, label: Any) -> None:
        """Learn one row and its label."""
        target = self.model.target
        assert isinstance(target, LabelTarget)
        self._learn_cells([coded_cells(x)], target.plan_growing([label]))

    def outputs(self, x: Row) -> list[float]:
        """Return all outputs of the engine for one row; none before the first one."""
        return [] if self.model.engine is None else self._outputs([coded_cells(x)])[0].tolist()

    def chosen(self, x: Row, target: LabelTarget) -> int:
        """Return the number of the class predicted for one row."""
        outputs = self.outputs(x)
        return int(target.choose(target.active(np.array([outputs])))[0]) if outputs else 0

    # -- frames -------------------------------------------------------------------------------

    def learn_batch(self, batch: Batch, planned: Planned, labelled: Any = None) -> None:
        """Learn rows in their order, the same as one after the other."""
        assert labelled is None  # a sketch is never told of rows without a target
        self._learn_cells([coded_cells(row) for row in _dicts(batch)], planned)

    def outputs_of_batch(self, batch: Batch) -> Array:
        """Return the active outputs of rows; unknown names have no part in it."""
        if self.model.engine is None:
            return np.zeros((len(batch), 1))
        outputs = self._outputs([coded_cells(row) for row in _dicts(batch)])
        return self.model.target.active(outputs)

    # -- columns ------------------------------------------------------------------------------

    def _learn_cells(self, rows: list[dict[Any, float]], planned: Planned) -> None:
        model = self.model
        known = dict(model.ids) if len(rows) > 1 else model.ids
        columns = [self._columns(row, known) for row in rows]
        batch = _batch(columns, len(known))
        model.ids.update(known)
        if model.engine is not None and batch.width > model.engine.features:
            model.engine.add_features(batch.width - model.engine.features)
        n = len(rows)
        model.learn_planned(batch, planned, model.weigh(n), np.ones(n, bool))
        if any(str(name).startswith(_SHARED) for name in list(known)[-BUCKETS:]):
            self._limits.warn_of_names()
        if isinstance(model.target, LabelTarget) and (planned.values < 0).any():
            self._limits.warn_of_classes()

    def _columns(self, row: dict[Any, float], known: dict[Any, int]) -> dict[int, float]:
        """Return values by column; names that were never met get one."""
        found: dict[int, float] = {}
        most = self.model.settings.max_features
        news = [name for name in row if name not in known]
        for name in in_order(news):
            if len(known) < most:
                known[name] = len(known)
        for name, value in row.items():
            at = known.get(name)
            if at is None:
                shared = _shared(name)
                at = known.setdefault(shared, len(known))
            found[at] = found.get(at, 0.0) + value
        return found

    def _outputs(self, rows: list[dict[Any, float]]) -> Array:
        ids, engine = self.model.ids, self.model.engine
        assert engine is not None
        columns = []
        for row in rows:
            found: dict[int, float] = {}
            for name, value in row.items():
                at = ids.get(name, ids.get(_shared(name), -1) if self._full else -1)
                if at >= 0:
                    found[at] = found.get(at, 0.0) + value
            columns.append(found)
        outputs = np.empty((len(rows), engine.outputs))
        _batch(columns, engine.features).predict_by(engine, outputs)
        return outputs

    @property
    def _full(self) -> bool:
        return len(self.model.ids) >= self.model.settings.max_features


def _shared(name: Any) -> str:
    return f"{_SHARED}{zlib.crc32(repr(name).encode()) % BUCKETS}"


def _dicts(batch: Batch) -> list[Row]:
    names = batch.names or ()
    if len(set(names)) != len(names):
        raise ValueError(f"X has several columns of one name: {list(names)}")
    return batch.dicts()


def _batch(rows: list[dict[int, float]], width: int) -> SparseBatch:
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    columns = [at for row in rows for at in sorted(row)]
    values = [row[at] for row in rows for at in sorted(row)]
    return SparseBatch(starts, np.array(columns, np.int32), np.array(values, np.float64), width)


def coded_cells(x: Any) -> dict[Any, float]:
    """Return the numbers of a row by name; texts and gaps are indicators.

    Examples
    --------
    >>> coded_cells({"size": 2, "color": "red", "age": None, "none": 0})
    {'size': 2.0, 'color=red': 1.0, 'age is missing': 1.0}
    """
    if not isinstance(x, Mapping):
        raise TypeError(f"a row is a dict of features, not a {type(x).__name__}")
    cells: dict[Any, float] = {}
    for name, value in x.items():
        if type(value) is not float or value != value:
            name, value = _coded(name, value)
        if not -LARGEST <= value <= LARGEST:
            raise ValueError(
                f"feature {name!r} is {value:g}, which is too large: bring it below 2**500 (3e150)"
            )
        if value:
            cells[name] = cells.get(name, 0.0) + value
    return cells


def _coded(name: Any, value: Any) -> tuple[Any, float]:
    if is_missing(value):
        return f"{name} is missing", 1.0
    if isinstance(value, str):
        text = value.strip()
        if reads_as_number(text):
            raise ValueError(
                f"feature {name!r} is {value!r}, a number given as text: convert it to a number"
            )
        return f"{name}={text}", 1.0
    try:
        return name, to_number(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"feature {name!r} is {value!r}, which is no number and no text: turn it into a number "
            "or drop it before learning"
        ) from None
