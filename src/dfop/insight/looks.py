"""What a model was like along its stream, in constant memory: looks that become sparser.

A look reads off a model how fast it forgets and which features matter. Looks are taken at
multiples of a length that doubles whenever there are too many, so that they lie at the same rows
however the rows came in batches.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from dfop.core import Bank
from dfop.forgetting import ByRows
from dfop.model.model import Model

from .influence import influence, text_columns

__all__ = ["MOST_LOOKS", "Look", "Looks", "effective_forgetting"]

MOST_LOOKS = 128
FEW_LOOKS, FEW_UP_TO = 32, 4096
"""Of a short stream there are fewer: a look takes some time, and cuts what is learned at once."""
FIRST_LENGTH = 256


@dataclass(frozen=True)
class Look:
    """How a model was after some rows; see `Looks`.

    Attributes
    ----------
    row : int
        After how many rows.
    forgetting : float or None
        The effective mu; None where there is none, as with forgetting by the clock.
    influence : dict of str to float
        Shares of the features that matter most, the largest first; see `influence`.

    Examples
    --------
    >>> Look(32, 0.001, {"speed": 0.75, "load": 0.25}).influence["load"]
    0.25
    """

    row: int
    forgetting: float | None
    influence: dict[str, float]


class Looks:
    """Looks at a model along its stream, at most 128; in its first 131,072 rows at most 32.

    Attributes
    ----------
    kept : list of Look
        Those that were due, oldest first: at multiples of `length`, unless labels come late.
    last : Look or None
        The last one, wherever it was.
    length : int
        Rows from one kept look to the next.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPRegressor
    >>> X = np.random.default_rng(0).normal(size=(512, 2))
    >>> model, looks = DFOPRegressor(forgetting=0.01), Looks()
    >>> for start in (0, 256):
    ...     model = model.partial_fit(X[start : start + 256], X[start : start + 256, 1])
    ...     looks.take(model, start + 256)
    >>> [look.row for look in looks.kept], looks.last.forgetting
    ([256, 512], 0.01)
    >>> max(looks.last.influence, key=looks.last.influence.get)
    'x1'
    """

    def __init__(self) -> None:
        self.kept: list[Look] = []
        self.last: Look | None = None
        self.length = FIRST_LENGTH

    def rows_to_next(self, rows: int) -> int:
        """How many rows there are, after `rows`, until the next look is due."""
        return self.length - rows % self.length

    def take(self, model: Any, rows: int, *, due: bool | None = None) -> None:
        """Look at a model that has learned `rows` rows; one that shows nothing is not looked at.

        Parameters
        ----------
        model : object
            What is looked at.
        rows : int
            How many rows it has learned.
        due : bool, optional
            Whether the look is kept; by default at multiples of `length`. Where labels come late,
            `length` counts the rows that were predicted, and the caller knows when one is due.
        """
        inner: Model | None = getattr(model, "__dfop_model__", lambda: None)()
        if inner is None or inner.engine is None:
            return
        due = rows % self.length == 0 if due is None else due
        with inner.lock:
            # which texts matter takes long to find: that is done where a look is due
            known = self.kept[-1].influence if self.kept and not due else None
            shares = known if known and text_columns(inner) else influence(inner)
            self.last = Look(rows, effective_forgetting(inner), shares)
        if due and rows > (self.kept[-1].row if self.kept else 0):
            self.kept.append(self.last)
            if len(self.kept) >= (FEW_LOOKS if self.length < FEW_UP_TO else MOST_LOOKS):
                self.length *= 2
                self.kept = self.kept[1::2]

    def all(self) -> list[Look]:
        """Return the kept looks and the last one, oldest first."""
        if self.last is None or (self.kept and self.kept[-1].row >= self.last.row):
            return list(self.kept)
        return [*self.kept, self.last]

    def state(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return {
            "length": self.length,
            "kept": [list(astuple(look)) for look in self.kept],
            "last": None if self.last is None else list(astuple(self.last)),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.length = int(state["length"])
        self.kept = [Look(*look) for look in state["kept"]]
        self.last = None if state["last"] is None else Look(*state["last"])


def effective_forgetting(model: Model) -> float | None:
    """Return the mu of a model: as it was given, or that of the experts, by their weight.

    None where the model forgets by the clock: then a row has no mu of its own.
    """
    rule, bank = model.settings.rule, model.engine
    if not isinstance(bank, Bank):
        return float(rule.mu) if isinstance(rule, ByRows) else None
    forgetters = {
        k: mu
        for k, (view, mu, walk) in enumerate(bank.experts)
        if (isinstance(view, int) or view == "sketch") and walk == 0.0
    }
    weights = bank.weights()[model.counted_outputs].mean(axis=0)[list(forgetters)]
    weights, mu = np.maximum(weights, 0.0), np.array(list(forgetters.values()))
    return float(weights @ mu / weights.sum()) if weights.any() else float(mu.mean())
