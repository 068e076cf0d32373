"""What the automatic learner keeps an eye on: how far off it was, how sure it may be, and alarms.

A watch sees the outputs of every row and its target, in order, after the row was predicted. So
whatever it tells about a row was known before the row's target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .core import Calibration, ErrorAlarm, Intervals, State
from .labels import LabelCode
from .uncertainty import Alarm

Array = NDArray[np.float64]

STRIDE = 256
"""What moved is looked up at the first multiple of this many rows after an alarm: the new rows have
taught something by then, and it does not matter how the rows came in batches."""
MOST_ALARMS = 1000


class Watch(ABC):
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

    def learn(self, outputs: Array, targets: Array, seen: NDArray[np.bool_]) -> Any:
        """See rows; return what was known about each before its target."""
        squares = np.minimum((targets - outputs) ** 2, 1e300).sum(axis=1)
        at = np.flatnonzero(seen)
        for row, rising in self.alarm.watch(np.ascontiguousarray(squares[seen])):
            place = self.rows + int(at[row])
            self.open.append(Alarm(row=place, began=place - rising + 1))
        self.rows += len(outputs)
        return self._learn(outputs, targets, seen)

    def close(self, moved: dict[str, float]) -> None:
        """Say what moved at the alarms since the last multiple of `STRIDE` rows."""
        self.alarms += [Alarm(alarm.row, alarm.began, moved) for alarm in self.open]
        self.alarms = self.alarms[-MOST_ALARMS:]
        self.open = []

    @abstractmethod
    def _learn(self, outputs: Array, targets: Array, seen: NDArray[np.bool_]) -> Any:
        """See rows; return what was known about each before its target."""

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """Return the parts that learn, by name."""

    def state(self) -> dict[str, State]:
        """Return what the watch has learned, without the alarms that rang."""
        return {name: part.state() for name, part in self.parts().items()}

    def restore(self, state: dict[str, State]) -> None:
        """Go on from a state."""
        for name, part in self.parts().items():
            part.restore(state[name])


class NumberWatch(Watch):
    """Of a regressor: half-widths of intervals."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.intervals = Intervals(outputs)

    def _learn(self, outputs: Array, targets: Array, seen: NDArray[np.bool_]) -> Array:
        errors = np.ascontiguousarray(targets - outputs)
        if seen.all():
            return self.intervals.track(errors)
        widths = [
            self.intervals.track(errors[t : t + 1])[0] if seen[t] else self.intervals.half_widths()
            for t in range(len(errors))
        ]
        return np.array(widths)

    def parts(self) -> dict[str, Any]:
        """Return the parts that learn, by name."""
        return {"alarm": self.alarm, "intervals": self.intervals}


class LabelWatch(Watch):
    """Of a classifier: calibrated probabilities of each target."""

    def __init__(self, codes: list[LabelCode]) -> None:
        super().__init__()
        self.codes = codes
        self.calibrations = [Calibration(len(code.classes)) for code in codes]

    def _learn(self, outputs: Array, targets: Array, seen: NDArray[np.bool_]) -> list[Array]:
        parts = zip(self.codes, self.calibrations, self._split(outputs), self._split(targets),
                    strict=True)  # fmt: skip
        told = []
        for code, calibration, scores, coded in parts:
            if code.outputs == 1:
                labels = (coded[:, 0] > 0.0).astype(np.int64)
            else:
                labels = coded.argmax(axis=1)
            labels = np.ascontiguousarray(labels)
            if seen.all():
                told.append(calibration.calibrate(scores, labels))
                continue
            told.append(
                np.vstack(
                    [
                        calibration.calibrate(scores[t : t + 1], labels[t : t + 1])
                        if seen[t]
                        else calibration.probabilities(scores[t : t + 1])
                        for t in range(len(scores))
                    ]
                )
            )
        return told

    def probabilities(self, outputs: Array) -> list[Array]:
        """Return the probabilities of each target's classes."""
        return [
            calibration.probabilities(scores)
            for calibration, scores in zip(self.calibrations, self._split(outputs), strict=True)
        ]

    def _split(self, outputs: Array) -> list[Array]:
        ends = np.cumsum([code.outputs for code in self.codes])[:-1]
        return [np.ascontiguousarray(part) for part in np.split(outputs, ends, axis=1)]

    def parts(self) -> dict[str, Any]:
        """Return the parts that learn, by name."""
        curves = {f"calibration {i}": c for i, c in enumerate(self.calibrations)}
        return {"alarm": self.alarm, **curves}


class ClassWatch(Watch):
    """Of a classifier whose classes come one by one: an output each, calibrated probabilities."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.calibration = Calibration(classes)

    def _learn(self, outputs: Array, targets: Array, seen: NDArray[np.bool_]) -> Array:
        self.calibration.add_classes(outputs.shape[1] - self.calibration.classes)
        return self.calibration.calibrate(_leads(outputs), targets.argmax(axis=1))

    def probabilities(self, outputs: Array) -> Array:
        """Return the probabilities of the classes."""
        return self.calibration.probabilities(_leads(outputs))

    def parts(self) -> dict[str, Any]:
        """Return the parts that learn, by name."""
        return {"alarm": self.alarm, "calibration": self.calibration}


def _leads(outputs: Array) -> Array:
    """Scores as a calibration takes them: for two classes, how far the second one leads."""
    if outputs.shape[1] > 2:
        return np.ascontiguousarray(outputs)
    return np.ascontiguousarray(outputs[:, -1:] - outputs[:, :1])
