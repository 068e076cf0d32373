"""Labels of models by key that come late."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dfop.model.arriving import check_before, read_due
from dfop.model.estimator import Ahead
from dfop.model.keyed_late import Shown
from dfop.model.keyed_targets import Coded, KeyedNumbers, Opened, Targets
from dfop.model.keys import Keys, check_keys
from dfop.model.late import check_none, refuse_missing
from dfop.rows.batch import Batch
from dfop.rows.keys import KeyArray, read_keys
from dfop.rows.target_cells import cells_of

from .keyed_views import Key, KeyedViews

Array = NDArray[np.float64]


class KeyedPending(KeyedViews):
    """Base of `Keyed`: rows that are predicted now and learned when their label comes."""

    def predict_pending(
        self, keys: Any, X: Any, rows: Iterable[Key], *, time: Any = None, classes: Any = None
    ) -> NDArray[Any]:
        """Predict rows now and keep them until `learn_pending` brings their labels.

        Parameters
        ----------
        keys : array-like of shape (n,)
            Which model each row is for.
        X : array-like of shape (n, features)
            The rows.
        rows : iterable of int or str
            A new name for each row, to name it when its label comes.
        time : array-like of shape (n,), optional
            As in `predict_then_learn`.
        classes : array-like, optional
            Of labels, where none was learned yet: all there are, or "open".

        Returns
        -------
        ndarray
            The predictions.
        """
        with self._lock:
            predicted = self._decode(self._arrive(keys, X, rows, time, classes))
            self._models.late.warn()
            return predicted

    def ahead_pending(
        self,
        keys: Any,
        X: Any,
        rows: Iterable[Key],
        *,
        labels: tuple[Iterable[Key], Any, Any] | None = None,
        time: Any = None,
        classes: Any = None,
    ) -> Ahead:
        """Predict rows now, and how sure that is; keep them until their labels come.

        Parameters
        ----------
        keys, X, rows, time, classes
            As in `predict_pending`.
        labels : tuple of (rows, y, before), optional
            Labels that arrive between these rows: of the rows so named, each before the row of X
            that `before` counts (n: after the last), in ascending order.

        Returns
        -------
        Ahead
            `prediction`, and of labels its `probability`.

        Examples
        --------
        >>> from dfop import DFOPRegressor, Keyed
        >>> keyed = Keyed(DFOPRegressor(forgetting=0))
        >>> late = ["monday"], [2.0], [1]  # known before the second row comes
        >>> days = ["monday", "tuesday"]
        >>> keyed.ahead_pending([7, 7], [[1.0]] * 2, days, labels=late).prediction.round(1)
        array([0., 2.])
        """
        with self._lock:
            batch, names = self._read(keys, X)
            named, n = check_keys(rows, len(batch)), len(batch)
            given = read_due(((), (), ()) if labels is None else labels)
            due, y, before = check_keys(given.keys, None), cells_of(given.y), given.before
            self._check_due(due, named, before, n)
            targets = self._models.targets.announced(classes)
            opened: Opened = ()
            if len(due):
                targets, _, opened = self._plan_late(targets, due, y)
            self._models.read_times(names, time)
            self._models.check_rows(names, batch, targets, opened)
            parts, start = [], 0
            for at in [*np.unique(before).tolist(), None]:
                part = slice(start, n if at is None else at)
                if part.stop > part.start:
                    some = KeyArray(names.values[part], names.text)
                    moments = None if time is None else time[part]
                    shown = self._models.arrive(some, batch[part], named[part], moments, classes)
                    parts.append(self._ahead(shown))
                    start = part.stop
                if at is not None:
                    now = before == at
                    self._learn_late([due[t] for t in np.flatnonzero(now)], y[now])
            self._models.late.warn()
            return _joined(parts)

    def _check_due(self, due: Keys, named: Keys, before: NDArray[np.int64], n: int) -> None:
        """Refuse labels of rows that do not wait, or that come before their row."""
        check_before(before, len(due), n)
        here = {name: t for t, name in enumerate(named)}
        self._models.late.check_new(named)
        for name, at in zip(due, before.tolist(), strict=True):
            if here.get(name, -1) >= at:
                raise ValueError(f"the label of {name!r} comes before its row")
        self._models.late.check_waiting([name for name in due if name not in here])

    def _arrive(self, keys: Any, X: Any, rows: Iterable[Key], time: Any, classes: Any) -> Shown:
        batch, names = self._read(keys, X)
        named = check_keys(rows, len(batch.numbers))
        return self._models.arrive(names, batch, named, time, classes)

    def learn_pending(self, rows: Iterable[Key], y: Any) -> Self:
        """Learn the labels of rows that were predicted before, with what they count by now.

        A label whose model was given up meanwhile is not learned, and counted in `expired_rows_`.

        Parameters
        ----------
        rows : iterable of int or str
            Which rows, in any order.
        y : array-like of shape (n,) or (n, m)
            Their labels.

        Returns
        -------
        self
        """
        with self._lock:
            named = check_keys(rows, None)
            if len(named):
                self._learn_late(named, y)
            else:
                check_none(y)
        return self

    def _learn_late(self, named: Keys, y: Any) -> None:
        models = self._models
        models.known()
        models.late.check_waiting(named)
        coded = self._plan_late(models.targets, named, y)
        models.check_outputs(coded.targets)
        models.learn_late(named, coded)

    @staticmethod
    def _plan_late(targets: Targets, named: Keys, y: Any) -> Coded:
        """Check labels; say of a missing one what rows that wait can be told."""
        try:
            return targets.plan(y, len(named))
        except ValueError:
            refuse_missing(y, named, words=isinstance(targets, KeyedNumbers))
            raise

    def forget_pending(self, rows: Iterable[Key]) -> Self:
        """Stop waiting for labels that will never come.

        Parameters
        ----------
        rows : iterable of int or str
            Which rows.

        Returns
        -------
        self
        """
        with self._lock:
            models, named = self._models, check_keys(rows, None)
            if not len(named):
                return self
            store = models.known()
            models.late.check_waiting(named)
            models.late.forget(store, named)
        return self

    @property
    def pending_(self) -> list[Key]:
        """Names of the rows that wait for their label, oldest first."""
        return list(self._models.late.rows)

    # -- what calls share ---------------------------------------------------------------------

    def _read(self, keys: Any, X: Any, *, maybe_none: bool = False) -> tuple[Batch, KeyArray]:
        batch = self._models.read(X, maybe_none=maybe_none)
        names = read_keys(keys, len(batch.numbers))
        self._models.check_kind(names)
        return batch, names

    def _decode(self, shown: Shown) -> NDArray[Any]:
        return self._models.targets.decode(*shown)

    def _probabilities(self, shown: Shown) -> Array:
        targets = self._models.targets
        if isinstance(targets, KeyedNumbers):
            raise AttributeError("numbers have no probabilities: the design is a DFOPRegressor")
        return targets.probabilities(*shown)

    def _ahead(self, shown: Shown) -> Ahead:
        predicted = self._decode(shown)
        if isinstance(self._models.targets, KeyedNumbers):
            if predicted.ndim != 1:
                raise ValueError(f"y has {predicted.shape[1]} targets a row: one is told of")
            return Ahead(predicted)
        probabilities = self._probabilities(shown)
        known = np.array([label is not None for label in predicted.tolist()], bool)
        probability = np.full(len(predicted), 1.0 / max(len(self.classes_), 1))
        at = np.searchsorted(self.classes_, predicted[known].astype(self.classes_.dtype))
        probability[known] = probabilities[known][np.arange(len(at)), at]
        return Ahead(predicted, probability=probability)


def _joined(parts: list[Ahead]) -> Ahead:
    predicted, probability, _ = zip(*parts, strict=True)
    sure = None if probability[0] is None else np.concatenate(probability)
    return Ahead(np.concatenate(predicted), probability=sure)
