"""What the automatic learner keeps an eye on: how far off it was, how sure it may be, and alarms.

A monitor sees what was predicted of every row and its target, in the order in which the targets
came. So whatever it tells about a row was known before the row's target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import Calibration, Intervals, Watch

Array = NDArray[np.float64]
Steps = NDArray[np.int64]
Found = tuple[int, int, str, list[int]]
"""An alarm: the step at which it rang, how many rows ago the change began, kind and columns."""

STRIDE = 256
"""What moved is looked up at the first multiple of this many rows after an alarm: the new rows have
taught something by then, and it does not matter how the rows came in batches."""
MOST_ALARMS = 1000
KINDS = ("errors", "jump", "inputs")
"""Of alarms."""
_MOST_COLUMNS = 10


@dataclass(frozen=True)
class Alarm:
    """A sudden change that was found.

    Attributes
    ----------
    row : int
        The row at which the alarm rang, counted from 0. Where labels come late: the row that
        came, if the inputs changed; else the number of the label, which is that of its row as long
        as all labels come, in the order of their rows.
    began : int
        The row at which the errors began to rise, or jumped: about where the change was.
    kind : str
        ``"errors"``: they rose and stayed high. ``"jump"``: of one row to the next, and for good,
        though the model may have followed at once. ``"inputs"``: what changed are columns, whatever
        the errors do.
    columns : tuple of str
        Which columns changed, by name, if the inputs did.
    moved : dict of str to float
        By feature, how far its weight had moved at the first multiple of 256 rows after the alarm
        (until then: now), in standard errors; empty where there are no linear experts; largest
        first. See `dfop.insight.uncertainty.moved`.
    time : numpy.datetime64, float or None
        When it rang: the time of the last row that had come by then, where rows have one.

    Examples
    --------
    >>> alarm = Alarm(row=512, began=500, moved={"speed": 9.1, "load": -6.0, "heat": 0.4})
    >>> print(alarm)
    row 512: change since about row 500; moved: speed +9.1, load -6.0
    >>> print(Alarm(row=512, began=504, kind="jump"))
    row 512: jump at about row 504; moved: no single weight clearly
    >>> print(Alarm(row=511, began=480, kind="inputs", columns=("heat",)))
    row 511: inputs changed since about row 480: heat
    >>> print(Alarm(row=9, began=8, time=np.datetime64("2024-05-01T06:30", "ns")))
    row 9 (2024-05-01T06:30): change since about row 8; moved: no single weight clearly
    """

    row: int
    began: int
    kind: str = "errors"
    moved: dict[str, float] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    time: np.datetime64 | float | None = None

    def __str__(self) -> str:
        at = f"row {self.row}" if self.time is None else f"row {self.row} ({self.moment})"
        if self.kind == "inputs":
            which = ", ".join(self.columns)
            return f"{at}: inputs changed since about row {self.began}: {which}"
        clearly = [f"{name} {z:+.1f}" for name, z in self.moved.items() if abs(z) > 3]
        what = ", ".join(clearly) if clearly else "no single weight clearly"
        change = "jump at" if self.kind == "jump" else "change since"
        return f"{at}: {change} about row {self.began}; moved: {what}"

    @property
    def moment(self) -> str | float | None:
        """The time as it is shown: a date, or a number.

        Examples
        --------
        >>> Alarm(row=9, began=8, time=np.datetime64("2024-05-01T06:30", "ns")).moment
        '2024-05-01T06:30'
        """
        if isinstance(self.time, np.datetime64):
            return str(np.datetime_as_string(self.time, unit="auto"))
        return self.time


class Monitor(ABC):
    """Counts rows and rings alarms.

    Parameters
    ----------
    features : int
        Coded columns of a row.
    numbers : int
        Outputs that are numbers, whose jumps are looked for.
    """

    def __init__(self, features: int, numbers: int) -> None:
        self.rows = 0
        """Rows that were learned, or whose target is known to be missing."""
        self.came = 0
        """Rows that came, some of which may wait for their target."""
        self.time: np.datetime64 | float | None = None
        """When the last of them came, if that was told."""
        self.watch = Watch(features, numbers)
        self.knows_columns = False
        self.alarms: list[Alarm] = []
        """The last ones of which it is known what moved."""
        self.open: list[Alarm] = []
        """Those since the last multiple of `STRIDE` rows."""

    def __getstate__(self) -> dict[str, Any]:
        # What the watch was told of columns is no part of its state: a copy is told again.
        return {**vars(self), "knows_columns": False}

    def rows_to_stride(self) -> int:
        """How many rows there are until what moved is looked up."""
        return STRIDE - self.rows % STRIDE

    def know_columns(self, features: int, gaps: list[int], complete: bool) -> None:
        """Take note of coded columns: which are numbers (-2 if not), and where those are missing.

        Of a number, the coded column that is 1 where it is missing, or -1 if it never was. If it
        is not `complete`, what a column holds is yet to be seen.
        """
        self.watch.add_features(features - self.watch.features)
        self.watch.set_gaps(gaps)
        self.knows_columns = complete

    def look_at(
        self,
        X: Array,
        predicted: Array,
        coded: Array,
        order: Steps,
        names: Callable[[], list[str]],
        numbers: Steps | None = None,
        when: NDArray[Any] | None = None,
    ) -> None:
        """Look for sudden change in rows and targets that come, before `learn` counts them.

        Parameters
        ----------
        X : ndarray of shape (n, columns)
            Rows as the engine sees them.
        predicted, coded : ndarray of shape (n, outputs)
            What was predicted, and the targets as coded for the engine.
        order : ndarray of int
            Which row comes, or whose target does: ~row.
        names : callable
            Returns the names of the coded columns.
        numbers : ndarray of int, optional
            Which of the targets each row's is, counted from 0; by default that of the row.
        when : ndarray, optional
            When the rows came.
        """
        made, told = np.ascontiguousarray(predicted), np.ascontiguousarray(coded)
        found = self.watch.watch(np.ascontiguousarray(X), made, told, order)
        self._ring(found, order, names, numbers, when)
        self.came += len(X) if numbers is None else int(np.count_nonzero(order >= 0))
        if when is not None or self.time is not None:
            self.time = self._time_after(order, when)

    def count_one(self, found: list[Found] | None, names: Callable[[], list[str]]) -> None:
        """Count a row that came with its target and was seen already, and the alarms it rang."""
        if found:
            self._ring(found, _ONE, names)
        self.came += 1
        self.rows += 1
        self.time = None

    def _ring(
        self,
        found: list[Found],
        order: Steps,
        names: Callable[[], list[str]],
        numbers: Steps | None = None,
        when: NDArray[Any] | None = None,
    ) -> None:
        """Keep alarms that rang while rows and targets came, see `look_at`."""
        for step, rows, kind, columns in found:
            row = int(order[step])
            if row < 0:
                rang = self.rows + (~row if numbers is None else int(numbers[~row]))
            elif numbers is None:
                rang = self.came + row
            else:
                rang = self.came + int(np.count_nonzero(order[:step] >= 0))
            which = tuple(names()[j] for j in columns[:_MOST_COLUMNS])
            time = self._time_after(order[: step + 1], when)
            began = max(rang - rows + 1, 0)
            self.open.append(Alarm(rang, began, kind, columns=which, time=time))

    def _time_after(self, order: Steps, when: NDArray[Any] | None) -> np.datetime64 | float | None:
        """Return when the last row came, after the steps in order."""
        came = order[order >= 0][-1:]
        if not len(came):
            return self.time
        if when is None:
            return None
        time = when[came[0]]
        if isinstance(time, np.datetime64):
            return None if np.isnat(time) else time
        return float(time) if np.isfinite(time) else None

    def learn(
        self, predicted: Array, coded: Array, labels: NDArray[Any], seen: NDArray[np.bool_]
    ) -> Any:
        """See rows; return what was known about each before its target.

        Parameters
        ----------
        predicted, coded : ndarray of shape (n, outputs)
            What was predicted, and the targets as coded for the engine.
        labels : ndarray of shape (n, m)
            The targets: numbers, or numbers of classes.
        seen : ndarray of shape (n,)
            Which rows have a target that counts.
        """
        self.rows += len(predicted)
        return self._learn(predicted, coded, labels, seen)

    @property
    def said_size(self) -> int:
        """How many numbers are kept of what is said of a row until its target comes."""
        return 0

    def close(self, moved: dict[str, float]) -> None:
        """Say what moved at the alarms since the last multiple of `STRIDE` rows."""
        self.alarms += [replace(alarm, moved=moved) for alarm in self.open]
        self.alarms = self.alarms[-MOST_ALARMS:]
        self.open = []

    @abstractmethod
    def _learn(
        self, predicted: Array, coded: Array, labels: NDArray[Any], seen: NDArray[np.bool_]
    ) -> Any:
        """See rows; return what was known about each before its target."""

    @abstractmethod
    def says(self, predicted: Array) -> Any:
        """Return what is known now of rows by what was predicted of them."""

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """Return the compiled parts by name: each has a `state` and a `restore`."""


class NumberMonitor(Monitor):
    """Of numbers: half-widths of intervals."""

    def __init__(self, features: int, outputs: int) -> None:
        super().__init__(features, outputs)
        self.intervals = Intervals(outputs)

    @property
    def said_size(self) -> int:
        """How many targets were known when a row came, and the half-widths."""
        return self.intervals.said_size

    def replay(self, order: Steps, predicted: Array, coded: Array, said: Array) -> Array:
        """See rows and targets that come in that order; return the half-widths of all rows.

        Parameters
        ----------
        order : ndarray of int
            Which row comes, or whose target does: ~row.
        predicted, coded : ndarray of shape (n, outputs)
            What was predicted of the rows, and their targets.
        said : ndarray of shape (n, said_size)
            What was said of the rows that came before; what is said of others is written here.
        """
        self.rows += int(np.count_nonzero(order < 0))
        self.intervals.replay(np.ascontiguousarray(coded - predicted), order, said)
        return self._widths(said)

    def say(self, n: int) -> Array:
        """Return what is said of rows that come now."""
        said = np.empty((n, self.said_size))
        self.intervals.replay(np.zeros((n, self.intervals.outputs)), np.arange(n), said)
        return said

    def _widths(self, said: Array) -> Array:
        return said[:, 1:].reshape(len(said), self.intervals.outputs, -1)

    def _learn(
        self, predicted: Array, coded: Array, labels: NDArray[Any], seen: NDArray[np.bool_]
    ) -> Array:
        errors = np.ascontiguousarray(coded - predicted)
        if _all(seen):
            return self.intervals.track(errors)
        widths = [
            self.intervals.track(errors[t : t + 1])[0] if seen[t] else self.intervals.half_widths()
            for t in range(len(errors))
        ]
        return np.array(widths)

    def says(self, predicted: Array) -> Array:
        """Return the half-widths of each row's intervals."""
        return np.repeat(self.intervals.half_widths()[np.newaxis], len(predicted), axis=0)

    def parts(self) -> dict[str, Any]:
        """Return the compiled parts by name."""
        return {"watch": self.watch, "intervals": self.intervals}


class LabelMonitor(Monitor):
    """Of labels, one or several per row: calibrated probabilities of their classes."""

    def __init__(self, features: int, classes: list[int]) -> None:
        super().__init__(features, 0)
        self.calibrations = [Calibration(count) for count in classes]

    def keep_curves_apart(self) -> None:
        """Let each class have a whole curve of its own, as models of before have; at the start."""
        self.calibrations = [Calibration(c.classes, shared=False) for c in self.calibrations]

    def add_classes(self, count: int) -> None:
        """Make room for classes that a label may have from now on."""
        self.calibrations[0].add_classes(count)

    def _learn(
        self, predicted: Array, coded: Array, labels: NDArray[Any], seen: NDArray[np.bool_]
    ) -> list[Array]:
        probabilities = []
        all_scores = self._split(predicted)
        # Labels numbered as they were learned tell their class; else the targets do.
        all_targets = all_scores if labels.dtype.kind == "i" else self._split(coded)
        for calibration, scores, targets in zip(
            self.calibrations, all_scores, all_targets, strict=True
        ):
            chosen = _class_of(calibration, targets, labels)
            if len(chosen) == 1:
                countable = seen if 0 <= chosen[0] < calibration.classes else ~_SEEN
            else:
                countable = seen & (chosen >= 0) & (chosen < calibration.classes)
            if _all(countable):
                probabilities.append(calibration.calibrate(scores, chosen))
                continue
            rows = [
                calibration.calibrate(scores[t : t + 1], chosen[t : t + 1])
                if countable[t]
                else calibration.probabilities(scores[t : t + 1])
                for t in range(len(scores))
            ]
            probabilities.append(np.vstack(rows))
        return probabilities

    def says(self, predicted: Array) -> list[Array]:
        """Return the probabilities of each label's classes."""
        return [
            calibration.probabilities(scores)
            for calibration, scores in zip(self.calibrations, self._split(predicted), strict=True)
        ]

    def _split(self, outputs: Array) -> list[Array]:
        if len(self.calibrations) == 1:
            count = self.calibrations[0].classes
            if count == 2 and outputs.shape[1] > 1:  # an output each: how far the second one leads
                return [np.ascontiguousarray(outputs[:, 1:2] - outputs[:, :1])]
            return [np.ascontiguousarray(outputs[:, : count if count > 2 else 1])]
        ends = np.cumsum([c.classes if c.classes > 2 else 1 for c in self.calibrations])[:-1]
        return [np.ascontiguousarray(part) for part in np.split(outputs, ends, axis=1)]

    def parts(self) -> dict[str, Any]:
        """Return the compiled parts by name."""
        calibrations = {f"calibration {i}": c for i, c in enumerate(self.calibrations)}
        return {"watch": self.watch, **calibrations}


_ONE = np.array([0, ~0])
_SEEN = np.array([True])


def _all(seen: NDArray[np.bool_]) -> bool:
    """Whether all are; of a single row, without NumPy's way to ask."""
    return bool(seen[0] if len(seen) == 1 else seen.all())


def at_once(seen: NDArray[np.bool_], times: Array | None = None) -> Steps:
    """Return the order of rows each of which has its target right behind it, if it has one.

    Rows that count 0 `times` (one number may stand for all) do not come at all.

    Examples
    --------
    >>> at_once(np.array([True, False, True]))
    array([ 0, -1,  1,  2, -3])
    >>> at_once(np.array([True, False, True]), np.array([1.0, 0.0, 2.0]))
    array([ 0, -1,  2, -3])
    """
    if len(seen) == 1 and seen[0]:
        return _ONE
    rows = np.arange(len(seen))
    both = np.column_stack([rows, ~rows]).ravel()
    if seen.all():
        return both
    comes = np.ones_like(seen) if times is None else np.broadcast_to(times > 0.0, len(seen))
    return both[np.column_stack([comes, seen]).ravel()]


def _class_of(calibration: Calibration, targets: Array, labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of each row's class."""
    if labels.dtype.kind == "i":  # one label per row, numbered as it was learned
        return np.ascontiguousarray(labels[:, 0])
    if calibration.classes <= 2:
        return np.ascontiguousarray((targets[:, 0] > 0.0).astype(np.int64))
    return np.ascontiguousarray(targets.argmax(axis=1))
