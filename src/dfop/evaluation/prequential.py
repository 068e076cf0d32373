"""Predict, then learn: the honest score of a model on a stream."""

import pickle
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from ._progress import Progress, reporter
from .adapters import Learner, Prediction, adapt, name_of, task_of
from .delay import Delay, check_delay, known_labels
from .result import Result
from .sources import Array, Source, as_stream, check_targets, length


def evaluate(
    model: Any,
    stream: Source,
    *,
    delay: Delay = 0,
    window: int = 1000,
    batch: int = 1000,
    proba: bool = False,
    progress: Progress = False,
) -> Result:
    """Read a stream once; predict every row before its label is learned.

    Parameters
    ----------
    model : object
        It is trained in place. Anything with ``predict_then_learn`` (whole batches, fast),
        with ``partial_fit`` and ``predict`` (scikit-learn) or with ``learn_one`` and
        ``predict_one`` (River), both row by row. Before it has learned a row, a model that
        cannot predict yet is taken to predict the first class, or 0.
    stream : Stream or tuple of (X, y)
        The rows in their order. The classes of a tuple are those that occur in ``y``.
    delay : int, float, timedelta or numpy.timedelta64
        How long labels take: an int counts rows; anything else is a duration by the clock of
        the stream (``stream.time``; a float in its unit, a timedelta if it holds dates).
        Labels that have not arrived when the stream ends are not learned.
    window : int
        How far the windowed and the faded curve look back, in rows.
    batch : int
        Rows read at a time. It does not change the result.
    proba : bool
        Also keep the probability of every class; adds the log loss and the Brier score.
    progress : bool or callable
        True draws a bar; a callable gets the rows done and the total (None if unknown).

    Returns
    -------
    Result

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDClassifier
    >>> from dfop.evaluation import evaluate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> y = np.where(X[:, 0] > 0, "up", "down")
    >>> y[500:] = np.where(X[500:, 0] > 0, "down", "up")  # the concept turns round
    >>> result = evaluate(SGDClassifier(random_state=0), (X, y), window=100)
    >>> result.curve()[[499, 549]].round(2)  # mean of rows 400 to 499, and of 450 to 549
    array([0.94, 0.83])
    """
    for name, value in (("window", window), ("batch", batch)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    stream = as_stream(stream, task_of(model))
    learner = adapt(model, stream, proba)
    clock = getattr(stream, "time", None)
    clock = None if clock is None else np.asarray(clock)
    check_delay(delay, clock)
    walk = _Blocks if learner.whole_blocks and not delay else _Rows
    walker = walk(learner, delay, clock)
    truth, labels, proba_parts = [], [], []
    seconds, rows = 0.0, 0
    sizes = list(_size(model, 0))
    with reporter(progress, length(stream), name_of(model)) as advance:
        for X, y in stream.batches(batch):
            X, y = np.asarray(X), np.asarray(y)
            check_targets(y, rows, stream.name)
            start = perf_counter()
            parts = list(walker.feed(X, y))
            seconds += perf_counter() - start
            truth.append(y)
            labels += [part[0] for part in parts]
            proba_parts += [part[1] for part in parts if part[1] is not None]
            rows += len(y)
            if sizes and rows >= 2 * sizes[-1][0]:
                sizes += _size(model, rows)
            advance(len(y))
    if rows == 0:
        raise ValueError(f"the stream {stream.name!r} has no rows")
    start = perf_counter()
    walker.finish()
    seconds += perf_counter() - start
    if sizes:
        sizes = [s for s in sizes if s[0] < rows] + list(_size(model, rows))
    return Result(
        model=name_of(model),
        stream=stream.name,
        task=stream.task,
        truth=np.concatenate(truth),
        predictions=np.concatenate(labels),
        probabilities=np.concatenate(proba_parts) if proba_parts else None,
        classes=learner.classes,
        known=known_labels(0, rows, delay, clock),
        changes=tuple(stream.changes),
        window=window,
        seconds=seconds,
        sizes=sizes,
    )


class _Blocks:
    """The model walks by itself."""

    def __init__(self, learner: Learner, delay: Delay, clock: Array | None) -> None:
        self.learner, self.clock, self.seen = learner, clock, 0

    def feed(self, X: Array, y: Array) -> Iterator[Prediction]:
        time = None if self.clock is None else self.clock[self.seen : self.seen + len(y)]
        self.seen += len(y)
        yield self.learner.predict_then_learn(X, y, time)

    def finish(self) -> None:
        pass


class _Rows:
    """Deliver each label when it has arrived, and not before.

    Only rows whose labels are under way are kept: memory grows with the delay, not with the
    stream. Rows between which no label arrives are predicted together.
    """

    def __init__(self, learner: Learner, delay: Delay, clock: Array | None) -> None:
        self.learner, self.delay, self.clock = learner, delay, clock
        self.seen = 0  # rows predicted so far
        self.learned = 0  # rows learned so far; the next waits at self.X[0]
        self.X = self.y = np.empty(0)

    def feed(self, X: Array, y: Array) -> Iterator[Prediction]:
        waiting = len(self.y)
        self.X = np.concatenate([self.X, X]) if waiting else X
        self.y = np.concatenate([self.y, y]) if waiting else y
        base = self.learned  # the row at self.X[0]
        known = known_labels(self.seen, self.seen + len(y), self.delay, self.clock)
        starts = np.flatnonzero(np.diff(known, prepend=-1)).tolist()
        for start, stop in zip(starts, [*starts[1:], len(y)], strict=True):
            self._learn(int(known[start]), base)
            rows = np.arange(self.seen, self.seen + stop - start)
            yield self.learner.predict_arrived(self.X[rows - base], rows, self._time(rows))
            self.seen += stop - start
        self.X, self.y = self.X[self.learned - base :], self.y[self.learned - base :]

    def finish(self) -> None:
        """Learn what arrives before a row that would come next."""
        (known,) = known_labels(self.seen, self.seen + 1, self.delay, self.clock)
        self._learn(int(known), self.learned)

    def _learn(self, known: int, base: int) -> None:
        if known > self.learned:
            rows = np.arange(self.learned, known)
            X, y = self.X[rows - base], self.y[rows - base]
            self.learner.learn_arrived(X, y, rows, self._time(rows))
            self.learned = known

    def _time(self, rows: Array) -> Array | None:
        return None if self.clock is None else self.clock[rows]


def _size(model: Any, rows: int) -> Iterator[tuple[int, int]]:
    """How large the model is now, or nothing if it cannot be pickled."""
    try:
        yield rows, len(pickle.dumps(model))
    except (pickle.PicklingError, TypeError, AttributeError):
        return
