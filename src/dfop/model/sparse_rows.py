"""Which sparse rows a model takes as they are, which it makes dense, and which it refuses."""

from __future__ import annotations

from dfop.forgetting import Automatic
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
        remedy = "this one began with dense rows: give such, or start anew"
        if settings.storage is None and isinstance(settings.rule, Automatic):
            remedy = (
                "the default takes a sketch without features=, semi= and experts=; or give "
                "forgetting=0.0003, storage=20"
            )
        elif settings.storage is None:
            remedy = "give a forgetting and storage=, such as forgetting=0.0001, storage=20"
        raise ValueError(
            f"X is sparse with {batch.width} columns, and a model without storage= keeps the "
            f"square of their number (at most {WIDEST_DENSE} are made dense): {remedy}"
        )
    return batch if settings.transformer is None else batch.dense()


def _refuse_beside_sparse(settings: Settings) -> None:
    if settings.lags:
        raise ValueError(f"lags={settings.lags} needs dense rows: use lags=0 with a sparse X")
    if settings.transformer is not None:
        raise ValueError(
            f"features={settings.features!r} needs dense rows: transform X before the model, and "
            'use features="linear"'
        )
