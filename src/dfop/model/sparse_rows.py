"""Which sparse rows a model takes as they are, which it makes dense, and which it refuses."""

from __future__ import annotations

from dfop.forgetting import Automatic, Few
from dfop.rows.batch import Batch
from dfop.rows.numbers_only import refuse_all_but_numbers
from dfop.rows.sparse import SparseBatch
from dfop.rows.tables import MADE_DENSE

from .settings import Settings

WIDEST_DENSE = MADE_DENSE
"""Columns up to which sparse rows are made dense where a model has no `storage`."""
DENSE_ROWS = 1024
"""How many of them are dense at a time."""


def as_taken(batch: Batch | SparseBatch, settings: Settings, sparse: bool) -> Batch | SparseBatch:
    """Return rows as a model takes them.

    Parameters
    ----------
    batch : Batch or SparseBatch
        The rows.
    settings : Settings
        Of the model.
    sparse : bool
        Whether the model learns rows by their non-zeros.
    """
    if sparse and isinstance(batch, Batch):
        refuse_all_but_numbers(batch)
        return SparseBatch.of_dense(batch.numbers)
    assert isinstance(batch, SparseBatch)
    if sparse:
        _refuse_beside_sparse(settings)
        return batch
    if batch.width > WIDEST_DENSE:
        raise ValueError(
            f"X is sparse with {batch.width} columns, and a model without storage= keeps the "
            f"square of their number (at most {WIDEST_DENSE} are made dense): " + _remedy(settings)
        )
    return batch if settings.transformer is None else batch.dense()


def _remedy(settings: Settings) -> str:
    """Return what to do with wide sparse rows where a model keeps the square of their number."""
    if settings.storage is not None:
        return "this one began with dense rows: give such, or start anew"
    if not isinstance(settings.rule, Automatic) or isinstance(settings.rule, Few):
        return "give a forgetting and storage=, such as forgetting=0.0001, storage=20"
    if settings.for_wide_sparse_rows() is not settings:
        return (
            "this one began with dense rows: go on with such, X.toarray(), or begin a new model "
            "with sparse ones, which the default learns by one sketch"
        )
    plain = isinstance(settings.features, str) and settings.features in ("auto", "linear")
    given = {
        "features=": not plain, "semi=True": settings.semi,
        "experts=": settings.experts is not None,
    }  # fmt: skip
    left_out = " and ".join(name for name, is_given in given.items() if is_given)
    return f"leave out {left_out}, and the default learns them by one sketch"


def _refuse_beside_sparse(settings: Settings) -> None:
    if settings.lags:
        raise ValueError(f"lags={settings.lags} needs dense rows: use lags=0 with a sparse X")
    if settings.transformer is not None:
        raise ValueError(
            f"features={settings.features!r} needs dense rows: transform X before the model, and "
            'use features="linear"'
        )
