"""The columns of rows: their number, their names, and new ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from .batch import Batch
from .checks import Array, check_finite, where_in
from .tables import as_batch, is_frame


def first_batch(X: Any) -> Batch:
    """Read the first rows; their columns have names only if all are text."""
    batch = as_batch(X)
    if batch.names is None or isinstance(X, Batch):
        return batch
    _refuse_equal_names(batch.names)
    if is_frame(X):
        probe = BaseEstimator()
        validate_data(probe, X, reset=True, skip_check_array=True)
        names = getattr(probe, "feature_names_in_", None)
        return replace(batch, names=None if names is None else tuple(map(str, names)))
    return batch


def _refuse_equal_names(names: tuple[Any, ...]) -> None:
    if len(set(names)) == len(names):
        return
    name = next(name for name in names if names.count(name) > 1)
    raise ValueError(f"X has several columns named {name!r}: give every column a name of its own")


def next_batch(
    estimator: BaseEstimator, X: Any, names: tuple[str, ...] | None, columns: int
) -> Batch:
    """Read further rows, which must have the known columns, and may have new ones behind them."""
    if names is not None and isinstance(X, list) and X and isinstance(X[0], Mapping):
        X = [{**dict.fromkeys(names), **row} for row in X]
    batch = as_batch(X)
    news = [] if names is None else _new_names(names, batch.names)
    if news:
        return batch
    if isinstance(X, Batch) or (batch.names is not None and not is_frame(X)):
        check_columns(batch, names, columns, type(estimator).__name__)
        return batch if names is None else replace(batch, names=names)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return batch if batch.names is None and names is None else replace(batch, names=names)


def _new_names(known: tuple[str, ...], names: tuple[Any, ...] | None) -> list[str]:
    """Return names that follow the known ones."""
    if names is None:
        return []
    news = [name for name in names if name not in set(known)]
    if not news or len(set(names)) < len(names) or not all(isinstance(name, str) for name in news):
        return []
    if list(names) == [*known, *news]:
        return news
    if set(known) < set(names):
        raise ValueError(
            f"X has the new column {news[0]!r} among the known ones: put new columns last, after "
            "the known ones in their order"
        )
    return []


def check_columns(
    batch: Batch, names: tuple[str, ...] | None, columns: int, estimator: str
) -> None:
    """Refuse columns that are not those of the first rows."""
    if batch.shape[1] != columns:
        raise ValueError(
            f"X has {batch.shape[1]} features, but {estimator} is expecting {columns} features as "
            "input: give the columns of the first rows"
        )
    if names is not None and batch.names is not None and batch.names != names:
        at = int(np.argmax([a != b for a, b in zip(batch.names, names, strict=True)]))
        raise ValueError(
            f"X has the column {batch.names[at]!r} where the first rows had {names[at]!r}: give "
            "the columns in their order"
        )


def finite_matrix(estimator: BaseEstimator, X: Any, *, first: bool) -> Array:
    """Return `X` as a C-ordered matrix of finite numbers, for learners that take nothing else.

    On the first rows the estimator takes over the number and names of the columns.
    """
    batch = as_batch(X)
    refuse_all_but_numbers(batch)
    named = X if not isinstance(X, Batch) else batch.numbers
    validate_data(estimator, named, reset=first, skip_check_array=True)
    return batch.numbers


def refuse_all_but_numbers(batch: Batch) -> None:
    """Refuse rows with text or gaps, for what learns from numbers alone."""
    if batch.texts:
        column = min(batch.texts)
        cells = batch.texts[column].cells()
        row = next(t for t, cell in enumerate(cells) if cell is not None)
        raise ValueError(
            f"X has {cells[row]!r} at {where_in((row, column), batch.names)}, which is text: code "
            "it as numbers before learning"
        )
    if batch.gaps:
        check_finite(batch.numbers, "X", batch.names)
