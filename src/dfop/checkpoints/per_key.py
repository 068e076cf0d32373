"""A model per key, as a run sees it: the key is a column of the rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, Self

from numpy.typing import NDArray

from dfop.model.estimator import Ahead
from dfop.rows.batch import Batch
from dfop.scale import Keyed


class PerKey:
    """A `Keyed` that finds the key of a row in one of its columns.

    Parameters
    ----------
    keyed : Keyed
        The models.
    column : str
        The column of the keys, a text; rows without one share the key "".

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPRegressor
    >>> from dfop.rows.batch import Text
    >>> who = Text(np.array([0, 1, -1]), ["ann", "bob"])
    >>> rows = Batch(np.array([[0.0, 1.0]] * 3), texts={0: who}, names=("who", "size"))
    >>> model = PerKey(Keyed(DFOPRegressor(0.0)), "who")
    >>> _ = model.ahead_then_learn(rows, np.ones(3))
    >>> list(model.keyed)
    ['ann', 'bob', '']
    """

    def __init__(self, keyed: Keyed, column: str) -> None:
        self.keyed, self.column = keyed, column

    @property
    def needs_time(self) -> bool:
        """Whether rows must come with their time."""
        return self.keyed.model.needs_time

    @property
    def takes_time(self) -> bool:
        """Whether rows may come with their time: models by key have no alarms to tell it of."""
        return self.needs_time

    def __sklearn_is_fitted__(self) -> bool:
        return len(self.keyed) > 0

    def ahead_then_learn(self, X: Batch, y: NDArray[Any], **given: Any) -> Ahead:
        """Predict rows and learn them, see `Keyed.ahead_then_learn`."""
        keys, rows = self.split(X)
        return self.keyed.ahead_then_learn(keys, rows, y, **given)

    def ahead_pending(self, X: Batch, keys: Iterable[Any], **given: Any) -> Ahead:
        """Predict rows whose labels come later, see `Keyed.ahead_pending`."""
        of_rows, rows = self.split(X)
        return self.keyed.ahead_pending(of_rows, rows, keys, **given)

    def learn_pending(self, keys: Iterable[Any], y: Any) -> Self:
        """Learn labels that come late."""
        self.keyed.learn_pending(keys, y)
        return self

    def split(self, batch: Batch) -> tuple[list[str], Batch]:
        """Take the keys out of rows."""
        assert batch.names is not None
        at = batch.names.index(self.column)
        return keys_of(batch, self.column), without_column(batch, at)

    def ahead(self, X: Batch) -> Ahead:
        """Predict rows with the models as they are."""
        keys, rows = self.split(X)
        return self.keyed.ahead(keys, rows)

    def kinds(self) -> dict[str, Literal["number", "text"]]:
        """Return what the columns of a file hold, see `dfop.insight.columns.column_kinds`."""
        if self.keyed.feature_names_in_ is None:
            raise ValueError("the columns of these models have no names: no file can be read")
        return {**self.keyed.column_kinds_, self.column: "text"}


def without_column(batch: Batch, at: int) -> Batch:
    """Return rows without one of their columns."""
    kept = [j for j in range(batch.shape[1]) if j != at]
    names = None if batch.names is None else tuple(batch.names[j] for j in kept)
    texts = {(j if j < at else j - 1): text for j, text in batch.texts.items() if j != at}
    return replace(batch, numbers=batch.numbers[:, kept].copy(), texts=texts, names=names)


def keys_of(batch: Batch, column: str) -> list[str]:
    """Return the keys of rows; "" of rows without one."""
    assert batch.names is not None
    at = batch.names.index(column)
    cells = batch.texts[at].cells() if at in batch.texts else [None] * len(batch)
    return ["" if cell is None else cell for cell in cells]
