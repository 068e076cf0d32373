r"""Class labels as numbers for least squares, and back.

Classes are numbered in the order in which they are first learned, so that a model that was told its
classes beforehand and one that meets them on the way are the same model.

Up to two classes: one output, the margin, -1 for the first and +1 for the second, as in the paper.
From the third class on: one output each, 1 for rows of the class and 0 for the others. Where a
third class may come, both are learned side by side until it does; the outputs of classes not met
yet are 0, as they would have been from the start. Of equal outputs (within 1e-9) the class learned
first is predicted; before anything is learned, the first of `classes`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import choose, first_rows
from dfop.rows.labels import (
    FIXED_CLASSES,
    check_new_label,
    class_labels,
    distinct,
    found_classes,
    positions_of,
    target_labels,
)

from .labels import DOUBT, raw_probabilities
from .targets import Planned

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

OPEN = "open"
"""Given for `classes`: any label may come, as many as `max_classes`."""
_MARGINS = np.array([-1.0, 1.0, 0.0, 0.0])
"""Of the classes learned first and second, of another, and of none (-1)."""


@dataclass(frozen=True)
class LabelTarget:
    """One label per row.

    Parameters
    ----------
    classes : ndarray, optional
        All labels, sorted; where they are met on the way those so far, or None (River).
    order : tuple
        The labels in the order in which they were first learned.
    limit : int
        How many classes there may be.
    """

    classes: NDArray[Any] | None = None
    order: tuple[Any, ...] = ()
    limit: int = 1000
    grows: bool = False
    """Whether classes are met on the way."""
    one_each: bool = False
    """Whether two classes have an output each, too: so had River's models of format 2."""

    flat = True

    @property
    def known(self) -> bool:
        """Whether it is known which classes there are, or that any may come."""
        return self.grows or self.classes is not None

    @property
    def margin(self) -> bool:
        """Whether the margin between two classes makes the prediction."""
        return len(self.order) <= 2 and not self.one_each

    @property
    def always_two(self) -> bool:
        """Whether no third class can come."""
        return not self.grows and self.classes is not None and len(self.classes) <= 2

    @property
    def one_hot(self) -> int:
        """How many outputs classes have, one each: a spare one for the next where any may come."""
        if self.always_two:
            return 0
        if self.classes is not None and not self.grows:
            return len(self.classes)
        return min(len(self.order) + 1, self.limit)

    @cached_property
    def index(self) -> dict[Any, int]:
        """Return the number of each class learned so far."""
        return {label: k for k, label in enumerate(self.order)}

    def number_of(self, label: Any) -> int | None:
        """Return the number of a class learned so far; None of anything else."""
        try:
            return self.index.get(label)
        except TypeError:  # it cannot be hashed
            return None

    @cached_property
    def positions(self) -> Indices:
        """Return where in `classes` the class of each number is: those not met yet come last."""
        assert self.classes is not None
        places = {label: at for at, label in enumerate(self.classes.tolist())}
        met = [places[label] for label in self.order]
        rest = sorted(set(range(len(self.classes))) - set(met))
        return np.array(met + rest, dtype=np.int64)

    @cached_property
    def ranks(self) -> Indices:
        """Return the number of each of `classes`; -1 where it is not learned yet."""
        assert self.classes is not None
        ranks = np.full(len(self.classes), -1, dtype=np.int64)
        if self.order:
            ranks[self.positions[: len(self.order)]] = np.arange(len(self.order))
        return ranks

    def learned(self, label: Any) -> LabelTarget:
        """Return the target once a new class was learned."""
        classes = self.classes
        if self.grows and classes is not None:
            classes = np.array([label]) if not self.order else distinct(np.append(classes, label))
        order = (*self.order, label)
        return LabelTarget(classes, order, self.limit, self.grows, self.one_each)

    def __getstate__(self) -> dict[str, Any]:
        # what is derived from the fields is not part of the state
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # -- labels in ----------------------------------------------------------------------------

    def plan(self, y: Any, n: int, seen: NDArray[np.bool_], classes: Any = None) -> Planned:
        """Check the labels of n rows, of which only those `seen` are learned."""
        known = self.classes
        if known is None and classes is not None and not isinstance(classes, str):
            known = class_labels(classes)
        labels = target_labels(y, n, known=known)
        if labels.ndim != 1:
            raise ValueError(
                f"y has shape {labels.shape} but this model has learned y of (n,): give one label "
                "per row, or begin a new model"
            )
        target = self.with_classes(labels, classes) if not self.known else self
        if target is self:
            self.check_same(classes)
        if target.grows:
            return target._plan_open(labels, seen)
        at = positions_of(labels, target.classes)
        opened = first_rows(at, seen, target.ranks >= 0)
        if not opened:
            return Planned(target, target.ranks[at][:, np.newaxis])
        assert target.classes is not None
        ranks = target.ranks.copy()
        for k, (_, position) in enumerate(opened, len(target.order)):
            ranks[position] = k
        labels_of = target.classes.tolist() if target.classes.dtype != object else target.classes
        return Planned(
            target,
            ranks[at][:, np.newaxis],
            [(row, labels_of[position]) for row, position in opened],
        )

    def _plan_open(self, labels: NDArray[Any], seen: NDArray[np.bool_]) -> Planned:
        """Give numbers to labels, any of which may be new; those not `seen` open no class."""
        found = found_classes(labels[seen])
        count = len(self.index.keys() | set(found.tolist()))
        if count > self.limit:
            raise ValueError(
                f"there are {count} classes, more than max_classes={self.limit}: numbers are for "
                "DFOPRegressor; else raise max_classes"
            )
        planned = self.plan_growing(labels[seen].tolist())
        values = np.full((len(labels), 1), -1, dtype=np.int64)
        values[seen] = planned.values
        rows = np.flatnonzero(seen)
        return Planned(self, values, [(int(rows[at]), label) for at, label in planned.opened])

    def plan_growing(
        self, labels: Sequence[Hashable], labelled: NDArray[np.bool_] | None = None
    ) -> Planned:
        """Give numbers to labels, any of which may be a class not met before, or missing."""
        index = self.index
        opened: list[tuple[int, Any]] = []
        values = np.empty((len(labels), 1), dtype=np.int64)
        for row, label in enumerate(labels):
            if labelled is not None and not labelled[row]:
                values[row] = -1
                continue
            k = index.get(label) if isinstance(label, Hashable) else None
            if k is None:
                known = next(iter(index), None)
                check_new_label(label, row if len(labels) > 1 else None, known)
                if len(index) < self.limit:
                    if not opened:
                        index = dict(index)  # that of the target stays
                    k = index[label] = len(index)
                    opened.append((row, label))
                else:
                    k = -1  # one class too many: none of the known ones
            values[row] = k
        return Planned(self, values, opened)

    def with_classes(self, labels: NDArray[Any] | None, classes: Any) -> LabelTarget:
        """Return the target with the classes given, or those found in `labels`."""
        if isinstance(classes, str) and classes == OPEN:
            return replace(self, grows=True, classes=np.empty(0, dtype=object))
        if classes is not None:
            found = class_labels(classes)
        else:
            assert labels is not None
            found = found_classes(labels)
        if len(found) > self.limit:
            raise ValueError(
                f"there are {len(found)} classes, more than max_classes={self.limit}: numbers are "
                "for DFOPRegressor; else raise max_classes"
            )
        return LabelTarget(found, self.order, self.limit, self.grows, self.one_each)

    def check_same(self, classes: Any) -> None:
        """Refuse classes that differ from those known."""
        if classes is None or self.classes is None:
            return
        if self.grows:
            if not (isinstance(classes, str) and classes == OPEN):
                raise ValueError(f"classes={classes!r}: this model began with classes={OPEN!r}")
            return
        if isinstance(classes, str) or not np.array_equal(class_labels(classes), self.classes):
            raise ValueError(
                f"classes={classes!r} differs from the classes of the first call, "
                f"{self.classes.tolist()}. {FIXED_CLASSES}"
            )

    # -- numbers for the engine ---------------------------------------------------------------

    def designs(self) -> list[tuple[str, int] | tuple[str, int, bool]]:
        """Return how the engine shall learn it."""
        if self.always_two:
            return [("margin", 1)]
        if self.margin:
            return [("margin", 1), ("one_hot", self.one_hot, True)]
        return [("one_hot", self.one_hot)]

    @property
    def calibrated(self) -> int:
        """How many classes have a probability of their own."""
        known = len(self.order) if self.grows or self.classes is None else len(self.classes)
        return min(known, 2) if self.margin else known

    def coded(self, values: NDArray[Any], *, margin: bool) -> Array:
        """Return what the engine learns, beside a `margin` or without one."""
        index = values[:, 0]
        if margin:
            margins: Array = _MARGINS[np.minimum(index, 2)][:, np.newaxis]
        if self.always_two:
            return margins
        classes = (index[:, np.newaxis] == np.arange(self.one_hot)).astype(np.float64)
        return np.hstack([margins, classes]) if margin else classes

    def outputs_of(self, probabilities: Array, *, margin: bool) -> Array:
        """Return what the engine would predict of rows with these probabilities, by number.

        NaN, nothing, where they are not known.
        """
        n, known = probabilities.shape
        p = np.zeros((n, max(known, self.one_hot, 2)))
        p[:, :known] = probabilities
        classes = p[:, : self.one_hot]
        out = np.hstack([p[:, 1:2] - p[:, :1], classes]) if margin else classes
        out[np.isnan(probabilities).any(axis=1)] = np.nan
        return out

    def active(self, outputs: Array) -> Array:
        """Return the engine's outputs that make the prediction."""
        return outputs[:, :1] if self.margin else outputs

    @property
    def width(self) -> int:
        """How many outputs make the prediction."""
        return 1 if self.margin else self.one_hot

    def as_active(self, predicted: Array) -> Array:
        """Return what was predicted before, perhaps of fewer classes, as it would be now."""
        n, known = predicted.shape
        if known == self.width:
            return predicted
        now = np.zeros((n, self.width))
        if known == 1:  # a margin between the first two classes
            now[:, 0], now[:, 1] = 0.5 - 0.5 * predicted[:, 0], 0.5 + 0.5 * predicted[:, 0]
        else:
            now[:, :known] = predicted
        return now

    # -- predictions out ----------------------------------------------------------------------

    def choose(self, active: Array) -> Indices:
        """Return the numbers of the classes predicted, of those met.

        Outputs of classes that were named and not met, or are yet to come, have no say: so a
        model predicts the same whether its classes were named or not.
        """
        met = max(len(self.order), 1)
        if self.margin:
            return np.minimum(choose(np.ascontiguousarray(active), True), met - 1)
        return np.asarray(choose(np.ascontiguousarray(active[:, :met]), False))

    def decode(self, active: Array) -> NDArray[Any]:
        """Return the labels predicted."""
        if self.classes is None or (self.grows and not self.order):
            return self._decode_growing(active)
        if len(self.order) < 2:  # there is nothing to choose from
            only = self.classes == self.order[0] if self.order else slice(0, 1)
            return np.repeat(self.classes[only], len(active))
        return self.classes[self.positions[self.choose(active)]]

    def _decode_growing(self, active: Array) -> NDArray[Any]:
        labels = np.empty(len(active), dtype=object)
        if self.order:
            labels[:] = [self.order[k] for k in self.choose(active).tolist()]
        return labels

    def margins(self, active: Array) -> Array:
        """Show outputs as `decision_function` does: (n,) for two classes, else (n, classes)."""
        assert self.classes is not None
        if self.always_two or (self.grows and len(self.order) == 2 and self.margin):
            return active[:, 0] * self.sign
        return self.of_classes(self._one_each(active)[:, : len(self.classes)])

    @property
    def sign(self) -> float:
        """-1 where the second of the sorted classes was learned first."""
        return -1.0 if len(self.positions) == 2 and self.positions[0] == 1 else 1.0

    def of_classes(self, by_number: Array) -> Array:
        """Bring columns in the order of learning into that of `classes`."""
        out = np.empty_like(by_number)
        out[:, self.positions] = by_number
        return out

    def _one_each(self, active: Array) -> Array:
        """Return an output per class, also of a margin."""
        if not self.margin:
            return active
        out = np.zeros((len(active), self.one_hot))
        for k in range(len(self.order)):
            out[:, k] = 0.5 + (0.5 if k else -0.5) * active[:, 0]
        return out

    def probabilities(self, active: Array) -> Array:
        """Return what the outputs of a single filter say themselves, by number of the class."""
        if self.margin:
            return raw_probabilities(active, len(self.order) if self.grows else 2)
        known = len(self.order) if self.grows else active.shape[1]
        return raw_probabilities(active[:, :known], known)

    def shown(self, probabilities: Array) -> Array:
        """Bring probabilities by number into the columns of `classes`."""
        assert self.classes is not None
        n, k, known = len(probabilities), len(self.classes), probabilities.shape[1]
        if k == 1:
            return np.ones((n, 1))
        if known == k:
            return self.of_classes(probabilities)
        rest = DOUBT / k
        out = np.full((n, k), rest)
        out[:, :known] = probabilities * (1.0 - rest * (k - known))
        if not self.order:
            out[:] = 1.0 / k
        return self.of_classes(out)
