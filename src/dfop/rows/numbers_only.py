"""Rows of numbers, for what learns nothing else: text and gaps are refused."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from .batch import Batch
from .checks import Array, check_finite, where_in
from .tables import as_batch


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
