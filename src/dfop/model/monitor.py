"""What the automatic learner keeps an eye on: how far off it was, how sure it may be, and alarms.

A monitor sees what was predicted of every row and its target, in the order in which the targets
came. So whatever it tells about a row was known before the row's target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import Calibration, ErrorAlarm, Intervals

Array = NDArray[np.float64]

STRIDE = 256
"""What moved is looked up at the first multiple of this many rows after an alarm: the new rows have
taught something by then, and it does not matter how the rows came in batches."""
MOST_ALARMS = 1000


@dataclass(frozen=True)
class Alarm:
    """A sudden change that was found.

    Attributes
    ----------
    row : int
        The row at which the alarm rang, counted from 0.
    began : int
        The row at which the errors began to rise: about where the change was.
    moved : dict of str to float
        By feature, how far its weight had moved at the first multiple of 256 rows after the alarm
        (until then: now), in standard errors; empty where there are no linear experts; largest
        first. See `dfop.insight.alarms.moved`.

    Examples
    --------
    >>> alarm = Alarm(row=512, began=500, moved={"speed": 9.1, "load": -6.0, "heat": 0.4})
    >>> print(alarm)
    row 512: change since about row 500; moved: speed +9.1, load -6.0
    """

    row: int
    began: int
    moved: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        clearly = [f"{name} {z:+.1f}" for name, z in self.moved.items() if abs(z) > 3]
        what = ", ".join(clearly) if clearly else "no single weight clearly"
        return f"row {self.row}: change since about row {self.began}; moved: {what}"


class Monitor(ABC):
    """Counts rows and rings alarms."""

    def __init__(self) -> None:
        self.rows = 0
        self.alarm = ErrorAlarm()
        self.alarms: list[Alarm] = []
        """The last ones of which it is known what moved."""
        self.open: list[Alarm] = []
        """Those since the last multiple of `STRIDE` rows."""

    def rows_to_stride(self) -> int:
        """How many rows there are until what moved is looked up."""
        return STRIDE - self.rows % STRIDE

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
        squares = _squared_errors(predicted, coded)
        at = np.flatnonzero(seen) if len(seen) > 1 else np.zeros(int(seen[0]), np.int64)
        for row, rising in self.alarm.watch(squares[at]):
            rang = self.rows + int(at[row])
            self.open.append(Alarm(row=rang, began=rang - rising + 1))
        self.rows += len(predicted)
        return self._learn(predicted, coded, labels, seen)

    def close(self, moved: dict[str, float]) -> None:
        """Say what moved at the alarms since the last multiple of `STRIDE` rows."""
        self.alarms += [Alarm(alarm.row, alarm.began, moved) for alarm in self.open]
        self.alarms = self.alarms[-MOST_ALARMS:]
        self.open = []

    @abstractmethod
    def _learn(
        self, predicted: Array, coded: Array, labels: NDArray[Any], seen: NDArray[np.bool_]
    ) -> Any:
        """See rows; return what was known about each before its target."""

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """Return the compiled parts by name: each has a `state` and a `restore`."""


class NumberMonitor(Monitor):
    """Of numbers: half-widths of intervals."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.intervals = Intervals(outputs)

    def _learn(
        self, predicted: Array, coded: Array, labels: NDArray[Any], seen: NDArray[np.bool_]
    ) -> Array:
        errors = np.ascontiguousarray(coded - predicted)
        if seen.all():
            return self.intervals.track(errors)
        widths = [
            self.intervals.track(errors[t : t + 1])[0] if seen[t] else self.intervals.half_widths()
            for t in range(len(errors))
        ]
        return np.array(widths)

    def parts(self) -> dict[str, Any]:
        """Return the compiled parts by name."""
        return {"alarm": self.alarm, "intervals": self.intervals}


class LabelMonitor(Monitor):
    """Of labels, one or several per row: calibrated probabilities of their classes."""

    def __init__(self, classes: list[int]) -> None:
        super().__init__()
        self.calibrations = [Calibration(count) for count in classes]

    def add_classes(self, count: int) -> None:
        """Make room for classes that a label may have from now on."""
        self.calibrations[0].add_classes(count)

    def _learn(
        self, predicted: Array, coded: Array, labels: NDArray[Any], seen: NDArray[np.bool_]
    ) -> list[Array]:
        probabilities = []
        columns = zip(self.calibrations, self._split(predicted), self._split(coded), strict=True)
        for calibration, scores, targets in columns:
            chosen = _class_of(calibration, targets, labels)
            if len(chosen) == 1:
                countable = np.array([seen[0] and 0 <= chosen[0] < calibration.classes])
            else:
                countable = seen & (chosen >= 0) & (chosen < calibration.classes)
            if countable.all():
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

    def probabilities(self, active: Array) -> list[Array]:
        """Return the probabilities of each label's classes."""
        return [
            calibration.probabilities(scores)
            for calibration, scores in zip(self.calibrations, self._split(active), strict=True)
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
        return {"alarm": self.alarm, **calibrations}


def _squared_errors(predicted: Array, coded: Array) -> Array:
    """Return the sum of squared errors of each row.

    They are added one by one, so that further outputs that are 0 change no bit of the sum.
    """
    if len(predicted) == 1:  # a row at a time must not pay for arrays
        total = 0.0
        for error in (coded[0] - predicted[0]).tolist():
            total += min(error * error, 1e300)
        return np.array([min(total, 1e300)])
    each = np.minimum((coded - predicted) ** 2, 1e300)
    return np.minimum(np.add.accumulate(each, axis=1)[:, -1], 1e300)


def _class_of(calibration: Calibration, targets: Array, labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of each row's class."""
    if labels.dtype.kind == "i":  # one label per row, numbered as it was learned
        return np.ascontiguousarray(labels[:, 0])
    if calibration.classes <= 2:
        return np.ascontiguousarray((targets[:, 0] > 0.0).astype(np.int64))
    return np.ascontiguousarray(targets.argmax(axis=1))
