"""Several labels per row, each with classes of its own, known from the first rows on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.rows.labels import class_labels, found_classes, positions_of, target_labels
from dfop.rows.target_cells import same_targets

from .labels import LabelCode, raw_probabilities
from .targets import Planned

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SeveralLabels:
    """Label columns: margins of two classes (-1 and +1, sorted), one output per class of more."""

    columns: tuple[NDArray[Any], ...] = ()
    """The sorted classes of each."""
    limit: int = 1000
    names: tuple[str, ...] | None = None
    """Of targets that came in a data frame first."""

    flat = False
    order = ()

    @property
    def known(self) -> bool:
        """Whether the classes are known."""
        return bool(self.columns)

    def with_classes(self, labels: NDArray[Any] | None, classes: Any) -> SeveralLabels:
        """Return the target with the classes given, or those found in `labels`."""
        if isinstance(classes, str):
            raise ValueError(
                f"classes={classes!r} is for one label a row: list those of each target"
            )
        if labels is not None and classes is not None and len(classes) != labels.shape[1]:
            raise ValueError(f"classes must list the labels of each of {labels.shape[1]} targets")
        if classes is None:
            assert labels is not None
            columns = tuple(found_classes(column) for column in labels.T)
        else:
            columns = tuple(class_labels(some) for some in classes)
        if max(map(len, columns)) > self.limit:
            raise ValueError(
                f"a target has {max(map(len, columns))} classes, more than "
                f"max_classes={self.limit}: raise max_classes if they are all meant"
            )
        return SeveralLabels(columns, self.limit)

    def plan(self, y: Any, n: int, seen: NDArray[np.bool_], classes: Any = None) -> Planned:
        """Check the labels of n rows."""
        labels = target_labels(y, n)
        if labels.ndim != 2 or (self.known and labels.shape[1] != len(self.columns)):
            expected = f"(n, {len(self.columns)})" if self.known else "(n, m)"
            raise ValueError(
                f"y has shape {labels.shape} but this model has learned y of {expected}: "
                "give as many labels per row as in the first call, or begin a new model"
            )
        names = same_targets(self.names, y)
        if self.known:
            target = self
            self.check_same(classes)
        else:
            target = replace(self.with_classes(labels, classes), names=names)
        coded = [
            LabelCode(len(some)).encode(positions_of(column, some))
            for column, some in zip(labels.T, target.columns, strict=True)
        ]
        return Planned(target, np.hstack(coded))

    def check_same(self, classes: Any) -> None:
        """Refuse classes that differ from those known."""
        if classes is None:
            return
        given = not isinstance(classes, str) and len(classes) == len(self.columns)
        same = given and all(
            np.array_equal(class_labels(some), known)
            for some, known in zip(classes, self.columns, strict=True)
        )
        if not same:
            raise ValueError(
                f"classes={classes!r} differs from the classes of the first call, "
                f"{list(self.columns)}: the classes are fixed then"
            )

    def designs(self) -> list[tuple[str, int]]:
        """Return how the engine shall learn it."""
        codes = [LabelCode(len(some)) for some in self.columns]
        return [("margin" if code.margin else "one_hot", code.outputs) for code in codes]

    def coded(self, values: NDArray[Any]) -> Array:
        """Return what the engine learns."""
        return values

    def active(self, outputs: Array) -> Array:
        """Return the engine's outputs that make the prediction."""
        return outputs

    @property
    def width(self) -> int:
        """How many outputs make the prediction."""
        return sum(count for _, count in self.designs())

    def as_active(self, predicted: Array) -> Array:
        """Return what was predicted before, as it is now: the same."""
        return predicted

    def split(self, outputs: Array) -> list[Array]:
        """Return the outputs of each label column."""
        ends = np.cumsum([count for _, count in self.designs()])[:-1]
        return [np.ascontiguousarray(part) for part in np.split(outputs, ends, axis=1)]

    def decode(self, active: Array) -> NDArray[Any]:
        """Return the labels predicted."""
        return np.column_stack(
            [
                some[LabelCode(len(some)).decode(part)]
                for some, part in zip(self.columns, self.split(active), strict=True)
            ]
        )

    @property
    def all_two(self) -> bool:
        """Whether every label has two classes at most."""
        return all(len(some) <= 2 for some in self.columns)

    def margins(self, active: Array) -> Any:
        """Show outputs as `decision_function` does."""
        return active if self.all_two else [
            part[:, 0] if part.shape[1] == 1 else part for part in self.split(active)
        ]  # fmt: skip

    def probabilities(self, active: Array) -> list[Array]:
        """Return what the outputs of a single filter say themselves."""
        return [
            raw_probabilities(part, len(some))
            for some, part in zip(self.columns, self.split(active), strict=True)
        ]

    def shown(self, probabilities: list[Array]) -> Any:
        """Show the probabilities of each label as `predict_proba` does."""
        if self.all_two:
            return np.column_stack([p[:, -1] for p in probabilities])
        return probabilities
