"""Targets of many models by key: numbers, or labels with one code for all keys.

A store numbers classes in the order in which any key first learns them. A model of its own numbers
them in the order in which *it* learns them, and so does the model of a key: beside what it predicts
the store tells the rank of every class, -1 of one that the key has not learned yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank, Filter, choose, restore_filter
from dfop.engines.build import Target as TargetCode

from .label_targets import OPEN, LabelTarget
from .labels import DOUBT, LabelCode, probabilities_of_many, raw_probabilities
from .targets import NumberTarget

Array = NDArray[np.float64]
Ranks = NDArray[np.int32]


Opened = Sequence[tuple[int, Any]]
"""Rows that bring a class for the first time, and its label."""


class Coded(NamedTuple):
    """Targets of some rows, checked."""

    targets: Any
    """What is learned, knowing how many numbers or which classes there are."""
    values: Array
    """(n, m) numbers, or (n, 1) classes by their number in the store."""
    opened: Opened = ()


@dataclass(frozen=True)
class KeyedNumbers:
    """One or more numbers a row."""

    target: NumberTarget
    classes = None
    open = False

    @property
    def outputs(self) -> int:
        """How many outputs a filter has."""
        return self.target.outputs

    @property
    def width(self) -> int:
        """How many numbers the target of a row is."""
        return self.target.outputs

    def plan(self, y: Any, n: int, classes: Any = None) -> Coded:
        """Check the targets of n rows."""
        if classes is not None:
            raise ValueError("classes= is for labels: these models learn numbers")
        planned = self.target.plan(y, n, np.ones(n, bool))
        return Coded(KeyedNumbers(planned.target), planned.values)

    def announced(self, classes: Any) -> Self:
        """Return what is known when rows come before their targets."""
        return self

    def decode(self, outputs: Array, ranks: Ranks) -> Array:
        """Return predictions."""
        return self.target.decode(outputs)

    def of_shared(self, values: Array) -> Array:
        """Return the targets of a model that all keys share."""
        return self.target.decode(values)

    def designs(self, bank: bool) -> list[TargetCode]:
        """Return how the engine of a key, which may be a bank, learns it."""
        return [("number", 1)] * self.outputs

    def of_key(self, engine: Filter | Bank, ranks: Sequence[float]) -> tuple[Any, Filter | Bank]:
        """Return target and engine of a learner of its own."""
        return self.target, engine


@dataclass(frozen=True)
class KeyedLabels:
    """One label a row."""

    target: LabelTarget

    @property
    def classes(self) -> int:
        """How many classes the store knows."""
        target = self.target
        return len(target.order if target.grows else target.classes)  # type: ignore[arg-type]

    @property
    def open(self) -> bool:
        """Whether further classes may come."""
        return self.target.grows

    @property
    def outputs(self) -> int:
        """How many numbers are shown of a row: the margin, and one for each class."""
        return 1 if self.target.always_two else 1 + self.classes

    width = 1

    def plan(self, y: Any, n: int, classes: Any = None) -> Coded:
        """Check the labels of n rows."""
        planned = self.target.plan(y, n, np.ones(n, bool), classes)
        values = np.ascontiguousarray(planned.values, np.float64)
        return Coded(replace(self, target=planned.target), values, planned.opened)

    def announced(self, classes: Any) -> Self:
        """Return what is known when rows come before their labels."""
        if self.target.known:
            self.target.check_same(classes)
            return self
        if classes is None:
            raise ValueError(
                "no label was learned yet: name the classes, predict_pending(..., classes=[...]), "
                f"or {OPEN!r} if any may come"
            )
        return replace(self, target=self.target.with_classes(None, classes))

    def learned(self, label: Any) -> Self:
        """Return what is known once a new class was learned."""
        return replace(self, target=self.target.learned(label))

    def _numbers(self, ranks: Ranks) -> NDArray[np.int64]:
        """Return the classes of each row in the order of its key: those not met come last."""
        order = np.where(ranks >= 0, ranks, self.classes + self.target.positions)
        return np.argsort(order, axis=1)

    def decode(self, outputs: Array, ranks: Ranks) -> NDArray[Any]:
        """Return the labels predicted; None of a key that knows no class, where any may come."""
        target, n = self.target, len(outputs)
        if not self.classes:
            return np.full(n, None)
        numbers, met = self._numbers(ranks), np.count_nonzero(ranks >= 0, axis=1)
        chosen = np.asarray(choose(np.ascontiguousarray(outputs[:, :1]), True))
        many = np.flatnonzero(met > 2)
        if len(many):
            of_class = np.take_along_axis(outputs[many, 1:], numbers[many], axis=1)
            # classes that the key has not met have no say, see `LabelTarget.choose`
            of_class[np.arange(self.classes) >= met[many, np.newaxis]] = -np.inf
            chosen[many] = choose(np.ascontiguousarray(of_class), False)
        chosen = np.minimum(chosen, np.maximum(met, 1) - 1)
        assert target.classes is not None
        labels = target.classes[target.positions[numbers[np.arange(n), chosen]]]
        if target.grows and not met.all():
            labels = labels.astype(object)
            labels[met == 0] = None
        return np.asarray(labels)

    def probabilities(self, outputs: Array, ranks: Ranks) -> Array:
        """Return those of a model that was told the classes which the store knows now."""
        k, n = self.classes, len(outputs)
        if k <= 1:
            return np.ones((n, k))
        numbers, met = self._numbers(ranks), np.count_nonzero(ranks >= 0, axis=1)
        rest = DOUBT / k
        by_number = np.full((n, k), rest)
        by_number[:, :2] = raw_probabilities(outputs[:, :1], 2)
        if k > 2:
            by_number[:, :2] *= 1.0 - rest * (k - 2)
            by_number[met == 0] = 1.0 / k
            many = np.flatnonzero(met > 2)
            of_class = np.take_along_axis(outputs[many, 1:], numbers[many], axis=1)
            by_number[many] = probabilities_of_many(of_class) if len(many) else of_class
        shown = np.empty((n, k))
        np.put_along_axis(shown, self.target.positions[numbers], by_number, axis=1)
        return shown

    def designs(self, bank: bool) -> list[TargetCode]:
        """Return how the engine of a key learns it, as it begins.

        A bank learns classes in the background until the key has met three, as one apart does.
        """
        if not bank:
            return [("number", 1)] * self.outputs
        if self.target.always_two:
            return [("margin", 1)]
        return [("margin", 1), ("one_hot", self.target.one_hot, True)]

    def of_key(
        self, engine: Filter | Bank, ranks: Sequence[float]
    ) -> tuple[LabelTarget, Filter | Bank]:
        """Return target and engine of a learner of its own."""
        numbers = self._numbers(np.array([ranks], np.int32))[0]
        met = numbers[: sum(rank >= 0 for rank in ranks)]
        target = self.target
        assert target.classes is not None
        labels = target.classes[target.positions[met]]
        classes = np.sort(labels) if target.grows else target.classes
        mine = replace(target, classes=classes, order=tuple(labels.tolist()))
        if isinstance(engine, Bank):
            return mine, engine
        chosen = [0] if mine.margin else []
        if not mine.always_two:
            chosen += (1 + (met if target.grows else numbers)).tolist()
        spare = 0 if mine.always_two else mine.one_hot - len(chosen) + mine.margin
        state = engine.state()
        weights = state["weights"][chosen]
        state["weights"] = np.vstack([weights, np.zeros((spare, weights.shape[1]))])
        own = restore_filter(
            engine.features, len(weights) + spare, engine.intercept, engine.prior_variance,
            engine.cap, state,
        )  # fmt: skip
        return mine, own


@dataclass(frozen=True)
class SharedLabels:
    """One label a row, where a model that all keys share comes first: one code for all of them."""

    target: LabelTarget
    classes = None
    open = False

    @property
    def _code(self) -> LabelCode:
        return LabelCode(len(self.target.classes))  # type: ignore[arg-type]

    @property
    def outputs(self) -> int:
        """How many outputs a filter has."""
        return self._code.outputs

    @property
    def width(self) -> int:
        """How many numbers the target of a row is."""
        return self._code.outputs

    def plan(self, y: Any, n: int, classes: Any = None) -> Coded:
        """Check the labels of n rows."""
        self._refuse_open(classes)
        planned = self.target.plan(y, n, np.ones(n, bool), classes)
        target = planned.target
        for _, label in planned.opened:
            target = target.learned(label)
        coded = replace(self, target=target)
        return Coded(coded, coded._code.encode(planned.values[:, 0]))

    def announced(self, classes: Any) -> Self:
        """Return what is known when rows come before their labels."""
        self._refuse_open(classes)
        return replace(self, target=KeyedLabels(self.target).announced(classes).target)

    @staticmethod
    def _refuse_open(classes: Any) -> None:
        if isinstance(classes, str) and classes == OPEN:
            raise ValueError(
                f"classes={OPEN!r} and a shared model exclude each other: name all classes"
            )

    def decode(self, outputs: Array, ranks: Ranks) -> NDArray[Any]:
        """Return the labels predicted."""
        target = self.target
        assert target.classes is not None
        return np.asarray(target.classes[target.positions[self._code.decode(outputs)]])

    def probabilities(self, outputs: Array, ranks: Ranks) -> Array:
        """Return the probabilities of classes."""
        raw = raw_probabilities(outputs, self._code.classes)
        return self.target.of_classes(raw[:, : self._code.classes])

    def of_shared(self, values: Array) -> Array:
        """Return the targets of the model that all keys share."""
        return values

    def designs(self, bank: bool) -> list[TargetCode]:
        """Return how the engine of a key learns what is left over."""
        return [("number", 1)] * self.outputs


Targets = KeyedNumbers | KeyedLabels | SharedLabels
