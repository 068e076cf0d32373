"""`History`: what happened along a stream, kept while it is learned, in constant memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dfop.evaluation.result import Result
from dfop.evaluation.sources import Task
from dfop.insight.looks import Looks

from .classes import Classes
from .pieces import How, Pieces
from .recent import Recent
from .rivals import Rivals
from .summary import summarise

Array = NDArray[np.float64]

BINS = 10
"""Of probabilities, each a tenth wide."""
MOST_ALARMS = 1000
MOST_KINDS = 100
FORMAT = 1

_COLUMNS: dict[str, How] = {
    "error": "sum",
    "no_change": "sum",
    "simple": "sum",
    "absolute": "sum",
    "no_change_absolute": "sum",
    "simple_absolute": "sum",
    "rivals": "sum",
    "least": "least",
    "most": "most",
    "no_change_least": "least",
    "no_change_most": "most",
    "simple_least": "least",
    "simple_most": "most",
    "intervals": "sum",
    "inside": "sum",
    "width": "sum",
    "time": "last",
}
_NOW = ("error", "no_change", "simple", "inside")


class History:
    """What a report tells of a stream: fed batch by batch, the same however rows are cut.

    The memory it takes does not grow with the stream: figures are kept of at most 1000 pieces,
    looks at the model at most 128 times, the last alarms 1000 times.

    Parameters
    ----------
    task : {"classification", "regression"}
        Whether targets are classes or numbers. The error of a row is then 0 or 1, or squared.
    window : int
        How many of the last rows count as "now".
    coverage : float
        What share of the targets the intervals shall hold, where there are intervals.

    Attributes
    ----------
    pieces : Pieces
        Sums of errors and the like over consecutive rows.
    looks : Looks
        Forgetting and influence of features along the stream.
    alarms : list of dict
        The last alarms of the model, oldest first: row, began, words, moved.
    bad : dict
        How many rows were bad, by kind, and the first ones.
    seconds : float
        Time spent in the model, as far as the caller adds it. It is no part of the state: figures
        of a run that was stopped and taken up again are those of one that was not.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model, history = DFOPRegressor(), History("regression")
    >>> start = 0
    >>> while start < len(X):
    ...     stop = start + history.rows_to_look()  # looks are due at certain rows
    ...     predicted = model.predict_then_learn(X[start:stop], X[start:stop, 0])
    ...     history.add(X[start:stop, 0], predicted)
    ...     history.look(model)
    ...     start = stop
    >>> summary = history.summary()
    >>> summary["rows"], summary["error"]["now"] < summary["error"]["no_change_now"]
    (200, True)
    """

    def __init__(self, task: Task, *, window: int = 1000, coverage: float = 0.9) -> None:
        if task not in ("classification", "regression"):
            raise ValueError(f"task must be 'classification' or 'regression', got {task!r}")
        if window < 1:
            raise ValueError(f"window must be at least 1 row, got {window}")
        if not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage={coverage!r} must be between 0 and 1")
        self.task: Task = task
        self.window = int(window)
        self.coverage = float(coverage)
        self.pieces = Pieces(_COLUMNS)
        self.recent = Recent(self.window, len(_NOW), curves=3)
        self.rivals = Rivals(classes=task == "classification")
        self.classes = Classes()
        self.looks = Looks()
        self.calibration: Array = np.zeros((3, BINS))
        """By bin: rows, sum of probabilities, right ones."""
        self.times: dict[str, Any] = {"first": None, "last": None, "dates": False}
        self.alarms: list[dict[str, Any]] = []
        self.bad: dict[str, Any] = {"total": 0, "rows": 0, "kinds": {}, "examples": []}
        self.seconds = 0.0

    @property
    def rows(self) -> int:
        """How many rows were added."""
        return self.pieces.rows

    @property
    def simple(self) -> str:
        """What the second rival says: the commonest class, or the mean."""
        return "majority" if self.task == "classification" else "mean so far"

    # -- what happens -------------------------------------------------------------------------

    def rows_to_look(self) -> int:
        """How many rows there are until the model must be looked at: cut batches there."""
        return self.looks.rows_to_next(self.rows)

    def add(
        self,
        truth: ArrayLike,
        predicted: ArrayLike,
        *,
        probability: ArrayLike | None = None,
        intervals: ArrayLike | None = None,
        time: ArrayLike | None = None,
        known: ArrayLike | None = None,
    ) -> None:
        """Add rows, in the order in which their labels came.

        Parameters
        ----------
        truth, predicted : array-like of shape (n,)
            Labels, and what was predicted of them before they were seen.
        probability : array-like of shape (n,), optional
            Of the predicted class; NaN where there was none.
        intervals : array-like of shape (n, 2), optional
            Ends of the intervals of numbers; not finite where there was none.
        time : array-like of shape (n,), optional
            When the rows came: numbers (seconds) or datetime64.
        known : array-like of shape (n,), optional
            Where labels come late, of all rows: how many labels had come when the row was
            predicted. No-change then knows no more than the model did.
        """
        truth, predicted = np.asarray(truth), np.asarray(predicted)
        n = len(truth)
        if truth.shape != (n,) or predicted.shape != (n,):
            raise ValueError(
                f"one target per row is kept, got the shapes {truth.shape} and {predicted.shape}"
            )
        counted = None if known is None else np.asarray(known)
        self.rivals.check(n, counted)
        sure = _column(probability, (n,), "probability")
        ends = _column(intervals, (n, 2), "intervals")
        seconds, dates = _seconds(time, n)
        if n == 0:
            return
        rows = self._errors(truth, predicted, counted) | self._inside(truth, ends)
        if time is not None:
            rows["time"] = seconds
        now = np.column_stack([rows["error"], *(_known(rows, name) for name in _NOW[1:])])
        means = self.recent.add(now)
        rows["least"] = rows["most"] = means[:, 0]
        rows["no_change_least"] = rows["no_change_most"] = means[:, 1]
        rows["simple_least"] = rows["simple_most"] = means[:, 2]
        self.pieces.add(rows)
        self._calibrate(sure, rows["error"])
        self._keep_time(seconds, dates)

    def look(self, model: Any, *, due: bool | None = None) -> None:
        """Read off the model how it is now, and its alarms; also once at the end.

        Parameters
        ----------
        model : DFOPRegressor or DFOPClassifier
            What learns.
        due : bool, optional
            Whether the look is one of the curve; by default after `rows_to_look` rows. Where labels
            come late, after so many rows that were predicted.
        """
        self.looks.take(model, self.rows, due=due)
        alarms = getattr(model, "alarms_", None) if self.looks.last is not None else None
        if alarms is not None:
            self.alarms = [_described(alarm) for alarm in alarms[-MOST_ALARMS:]]

    def note_bad(self, bad: Any) -> None:
        """Take over how many rows were bad so far (`dfop.streams.bad_rows.BadRows`)."""
        kinds = bad.kinds.most_common(MOST_KINDS)
        examples = [
            {"row": row.row, "line": row.line, "kind": row.kind, "message": row.message[:300]}
            for row in bad.examples
        ]
        self.bad = {
            "total": bad.total,
            "rows": bad.rows,
            "kinds": dict(kinds),
            "examples": examples,
        }

    @classmethod
    def of(cls, result: Result) -> History:
        """Return the history of an evaluation, as if it had been kept while it ran."""
        history = cls(result.task, window=result.window)
        probability = None if result.probabilities is None else result.probabilities.max(axis=1)
        late = bool((result.known < np.arange(len(result))).any())
        history.add(
            result.truth,
            result.predictions,
            probability=probability,
            time=result.times,
            known=result.known if late else None,
        )
        history.looks = result.looks
        history.alarms = [_described(alarm) for alarm in result.alarms]
        history.seconds = result.seconds
        return history

    # -- figures ------------------------------------------------------------------------------

    def _errors(self, truth: Any, predicted: Any, known: Any) -> dict[str, Array]:
        if self.task == "classification":
            wrong = np.asarray(truth != predicted, dtype=np.float64)
            codes = self.classes.codes(truth)
            said = self.rivals.predict_then_learn(codes.astype(np.float64), known)
            errors = [wrong, said.no_change != codes, said.simple != codes]
        else:
            truth = truth.astype(np.float64)
            said = self.rivals.predict_then_learn(truth, known)
            with np.errstate(over="ignore", invalid="ignore"):
                errors = [truth - guess for guess in (predicted, said.no_change, said.simple)]
                errors[0] = np.where(np.isfinite(errors[0]), errors[0], np.inf)
        there = said.known.astype(np.float64)
        rows = {"rivals": there}
        for name, error in zip(("error", "no_change", "simple"), errors, strict=True):
            counted = error if name == "error" else np.where(said.known, error, 0.0)
            if self.task == "classification":
                rows[name] = np.asarray(counted, np.float64)
                continue
            with np.errstate(over="ignore", under="ignore"):
                rows[name] = np.square(counted)
            rows["absolute" if name == "error" else f"{name}_absolute"] = np.abs(counted)
        return rows

    def _inside(self, truth: Any, ends: Array | None) -> dict[str, Array]:
        if ends is None:
            return {}
        given: NDArray[np.bool_] = np.asarray(np.isfinite(ends).all(axis=1))
        low, high = np.where(given[:, None], ends, 0.0).T
        inside = given & (low <= truth) & (truth <= high)
        return {
            "intervals": given.astype(np.float64),
            "inside": inside.astype(np.float64),
            "width": high - low,
        }

    def _calibrate(self, probability: Array | None, error: Array) -> None:
        if probability is None:
            return
        given = np.asarray(~np.isnan(probability))
        p = probability[given]
        bins = np.clip((p * BINS).astype(np.int64), 0, BINS - 1)
        for row, values in enumerate((np.ones(len(p)), p, 1.0 - error[given])):
            np.add.at(self.calibration[row], bins, values)

    def _keep_time(self, seconds: Array, dates: bool) -> None:
        known = seconds[np.asarray(~np.isnan(seconds))]
        if not len(known):
            return
        if self.times["first"] is None:
            self.times.update(first=float(known[0]), dates=dates)
        self.times["last"] = float(known[-1])

    def summary(self) -> dict[str, Any]:
        """Return the headline figures: what the page shows, as values that JSON can hold.

        Figures that are not known, or not finite, are None.

        Returns
        -------
        dict

        Examples
        --------
        >>> history = History("classification")
        >>> history.add(["up", "up", "down", "up"], ["up", "up", "up", "up"])
        >>> history.summary()["error"]["overall"], history.summary()["error"]["no_change"]
        (0.25, 0.6666666666666666)
        """
        return summarise(self)

    # -- stopping and going on ----------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return everything but `seconds`: values that JSON can hold, and arrays by name."""
        pieces, arrays = self.pieces.state()
        rivals, more = self.rivals.state()
        values = {
            "format": FORMAT,
            "task": self.task,
            "window": self.window,
            "coverage": self.coverage,
            "pieces": pieces,
            "rivals": rivals,
            "classes": self.classes.names,
            "looks": self.looks.state(),
            "times": dict(self.times),
            "alarms": [dict(alarm) for alarm in self.alarms],
            "bad": {**self.bad},
        }
        return values, {
            **{f"pieces/{name}": array for name, array in arrays.items()},
            **{f"rivals/{name}": array.copy() for name, array in more.items()},
            "recent": self.recent.kept.copy(),
            "calibration": self.calibration.copy(),
        }

    @classmethod
    def restore(cls, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> History:
        """Return the history that gave a state; it goes on as if it had never stopped."""
        if values.get("format") != FORMAT:
            raise ValueError(f"a history of format {values.get('format')!r}, not {FORMAT}")
        history = cls(values["task"], window=values["window"], coverage=values["coverage"])
        history.pieces.restore(values["pieces"], _under("pieces/", arrays))
        history.rivals.restore(values["rivals"], _under("rivals/", arrays))
        history.recent.kept = arrays["recent"].copy()
        history.recent.rows = history.rows
        history.calibration = arrays["calibration"].copy()
        history.classes = Classes(values["classes"])
        history.looks.restore(values["looks"])
        history.times = dict(values["times"])
        history.alarms = [dict(alarm) for alarm in values["alarms"]]
        history.bad = dict(values["bad"])
        return history


def _under(prefix: str, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}


def _described(alarm: Any) -> dict[str, Any]:
    """Return an alarm as values that JSON can hold."""
    return {
        "row": int(alarm.row),
        "began": int(alarm.began),
        "kind": str(getattr(alarm, "kind", "errors")),
        "time": getattr(alarm, "moment", None),
        "moved": {str(name)[:200]: float(z) for name, z in list(alarm.moved.items())[:3]},
    }


def _known(rows: dict[str, Array], name: str) -> Array:
    """Return a figure, NaN where a row lacks it."""
    if name not in rows:
        return np.full(len(rows["error"]), np.nan)
    given = rows["intervals" if name == "inside" else "rivals"] > 0
    return np.where(given, rows[name], np.nan)


def _column(values: ArrayLike | None, shape: tuple[int, ...], name: str) -> Array | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; {shape} was expected")
    return array


def _seconds(time: ArrayLike | None, n: int) -> tuple[Array, bool]:
    """Return times as seconds, and whether they are dates."""
    if time is None:
        return np.full(n, np.nan), False
    moments = np.asarray(time)
    if moments.shape != (n,):
        raise ValueError(f"time has the shape {moments.shape}; {(n,)} was expected")
    if moments.dtype.kind == "M":
        since = moments - np.datetime64(0, "s")
        return np.where(np.isnat(moments), np.nan, since / np.timedelta64(1, "s")), True
    return moments.astype(np.float64), False
