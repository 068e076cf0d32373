"""Labels that come late: predict now, learn exactly when the label arrives.

A row whose label arrives after further discounts ``lam_(i+1) ... lam_t`` enters with exactly
their product as its gain, as if it had been learned on arrival and forgotten since: the model
is then the minimiser of the same objective. Only the rows that still wait are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .batch import read_batch
from .core import Filter
from .discounts import row_weights
from .forgetting import as_rule
from .learner import Array, Learner

Key = int | str


class LateLabels(Learner):
    """The part of the learners that waits for labels."""

    @property
    def pending_(self) -> list[Key]:
        """Keys of the rows that wait for their label, oldest first."""
        return list(getattr(self, "_pending", ()))

    def predict_pending(
        self,
        X: Any,
        keys: Iterable[Key],
        *,
        classes: Any = None,
        discount: ArrayLike | None = None,
        time: Any = None,
    ) -> NDArray[Any]:
        """Predict rows now and keep them until `learn_pending` brings their labels.

        Forgetting goes on with the arrival of rows, not of labels.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.
        keys : iterable of int or str
            A new key for each row, to name it when its label comes.
        classes : array-like, optional
            For a classifier that has not learned anything yet: all its classes.
        discount, time : array-like, optional
            As in `partial_fit`.

        Returns
        -------
        ndarray
            The predictions. Before the first label: 0, or the first class.

        Examples
        --------
        >>> from dfop import DFOPRegressor
        >>> model = DFOPRegressor(forgetting=0)
        >>> model.predict_pending([[1.0], [2.0]], keys=["monday", "tuesday"])
        array([0., 0.])
        >>> model.learn_pending(["tuesday"], [4.0]).pending_
        ['monday']
        """
        model = self if self._started() else self._blank()
        batch = read_batch(model, X, first=model is not self)
        n = len(batch.numbers)
        names = _check_keys(keys, n)
        taken = [key for key in names if key in model._pending]
        if taken:
            raise ValueError(f"a row with the key {taken[0]!r} is already waiting for its label")
        weights = row_weights(model._pace(), n, model._clock, discount=discount, time=time)
        model = self._with_classes(model, classes)
        with model._coder.lock:
            coded = model._coder.code(batch)
            model._check_transformable(coded)
            if model._filter is not None:
                model._warn_of_haste(coded.width)
            self._become(model)
            self._rebase()
            self._take(batch, coded)
            self._open_lags()
            rows = self._with_lags(coded.rows)
            if self._filter is not None and isinstance(self.features, str):
                self._filter.add_features(rows.shape[1] - self._filter.features)
            outputs = self._outputs_of(rows)
        fade = np.cumsum(np.broadcast_to(weights.log_discount, n))
        stamps = self._log_discount + fade
        for key, row, stamp in zip(names, rows, stamps, strict=True):
            self._pending[key] = row.copy(), float(stamp)
        if self._is_bank(as_rule(self.forgetting)):
            self._foretold.update(zip(names, outputs.copy(), strict=True))
        self._forget(float(fade[-1]))
        self._clock = weights.clock
        self._log_discount = float(stamps[-1])
        return self._decode(outputs)

    def learn_pending(self, keys: Iterable[Key], y: Any) -> Self:
        """Learn the labels of rows that were predicted before.

        Parameters
        ----------
        keys : iterable of int or str
            Which rows, in any order.
        y : array-like of shape (n,) or (n, m)
            Their labels.

        Returns
        -------
        self
        """
        names = _check_keys(keys, None)
        waiting = getattr(self, "_pending", {})
        unknown = [key for key in names if key not in waiting]
        if unknown:
            raise ValueError(
                f"no row with the key {unknown[0]!r} waits for its label ({len(waiting)} do): "
                "predict_pending announces rows, and each is learned once"
            )
        self._pace()  # refuses parameters that were changed on the way
        stamps = np.array([waiting[key][1] for key in names])
        model = self if hasattr(self, "_outputs") else self._twin()
        targets = model._encode(y, len(names), first=model is not self, classes=None)
        outputs = np.empty((len(names), model._outputs))
        width = model._coder.width
        model._warn_of_haste(width)
        self._become(model)
        rows = self._waiting_rows(names)
        self._open(rows[:, self._lags.width :], width)
        age = stamps - self._log_discount
        per_row = (
            (np.zeros(1), age)
            if self._is_bank(as_rule(self.forgetting))
            else (np.ones(1), np.exp(-age))
        )
        foretold = np.zeros(outputs.shape)  # as before the first label, whatever its shape
        for place, key in zip(foretold, names, strict=True):
            before = self._foretold.pop(key, place)
            place[:] = before if before.shape == place.shape else 0.0
        self._teach(rows, targets, per_row, np.ones(len(names), bool), outputs, foretold)
        if self._lags.width:
            self._lags.add(targets)
        for key in names:
            del self._pending[key]
        return self

    def forget_pending(self, keys: Iterable[Key]) -> Self:
        """Stop waiting for labels that will never come.

        Parameters
        ----------
        keys : iterable of int or str
            Which rows.

        Returns
        -------
        self
        """
        names = _check_keys(keys, None)
        waiting = getattr(self, "_pending", {})
        unknown = [key for key in names if key not in waiting]
        if unknown:
            raise ValueError(f"no row with the key {unknown[0]!r} waits for its label")
        for key in names:
            del waiting[key]
            self._foretold.pop(key, None)
        return self

    def _waiting_rows(self, keys: Iterable[Key]) -> Array:
        """Rows that wait, as wide as they would be coded now: what is new since was 0 then."""
        waiting = [self._pending[key][0] for key in keys]
        rows = np.zeros((len(waiting), self._lags.width + self._coder.width))
        for place, row in zip(rows, waiting, strict=True):
            place[: row.size] = row
        return rows

    def _with_classes(self, model: Self, classes: Any) -> Self:
        """Return the model, or a twin of it prepared for targets not seen yet."""
        if not hasattr(model, "_outputs"):
            model = model._twin()
            model._announce(classes)
        else:
            model._check_announced(classes)
        return model

    def _announce(self, classes: Any) -> None:
        """Prepare for targets not seen yet."""

    def _check_announced(self, classes: Any) -> None:
        """Refuse classes that differ from those known."""

    def _rebase(self) -> None:
        """Count discounts from now on, so that their logarithms keep their digits.

        Only differences of stamps matter, once there is a filter; one of 1000 is as good as
        infinite. A bank counts rows, which have digits enough.
        """
        if isinstance(self._filter, Filter) and self._log_discount < -1e3:
            self._pending = {
                key: (row, min(stamp - self._log_discount, 1e3))
                for key, (row, stamp) in self._pending.items()
            }
            self._log_discount = 0.0


def _check_keys(keys: Iterable[Key], n: int | None) -> list[Key]:
    if isinstance(keys, str):
        raise ValueError(f"keys must be a list of keys, not the single string {keys!r}")
    names = [key.item() if isinstance(key, np.generic) else key for key in keys]
    for key in names:
        if isinstance(key, bool) or not isinstance(key, int | str):
            raise ValueError(f"the key {key!r} must be an int or a str")
    if not names or (n is not None and len(names) != n):
        raise ValueError(f"{len(names)} keys for {n if n is not None else 'no'} rows")
    if len(set(names)) != len(names):
        raise ValueError("every row needs a key of its own, but some keys are equal")
    return names
