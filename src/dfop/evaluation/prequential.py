"""Predict, then learn: the honest score of a model on a stream."""

import pickle
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from ._progress import Progress, reporter
from .adapters import Learner, Prediction, adapt, name_of, task_of
from .delay import Delay, check_clock, check_delay, known_labels
from .result import Result
from .sources import (
    Array,
    Source,
    as_stream,
    check_targets,
    has_clock,
    length,
    timed_batches,
)


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
    check_delay(delay, has_clock(stream))
    walk = _Blocks if learner.whole_blocks and not delay else _Rows
    walker = walk(learner, delay)
    truth, known = [], []
    parts: list[Prediction] = []
    seconds, rows = 0.0, 0
    sizes = list(_size(model, 0))
    with reporter(progress, length(stream) if progress else None, name_of(model)) as advance:
        for X, y, time in timed_batches(stream, batch):
            check_targets(y, rows, stream.name)
            start = perf_counter()
            try:
                parts += walker.feed(X, y, time)
            except Exception as error:  # the model counts the rows of the batch, not of the stream
                error.add_note(f"in the batch that begins at row {rows} of stream {stream.name!r}")
                raise
            seconds += perf_counter() - start
            truth.append(y)
            known.append(walker.known)
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
    probabilities = [p for _, p in parts if p is not None]
    return Result(
        model=name_of(model),
        stream=stream.name,
        task=stream.task,
        truth=np.concatenate(truth),
        predictions=np.concatenate([labels for labels, _ in parts]),
        probabilities=np.concatenate(probabilities) if probabilities else None,
        classes=learner.classes,
        known=np.concatenate(known),
        changes=tuple(stream.changes),
        window=window,
        seconds=seconds,
        sizes=sizes,
    )


class _Blocks:
    """The model walks by itself: without delay it knows all labels before a row."""

    def __init__(self, learner: Learner, delay: Delay) -> None:
        self.learner = learner
        self.seen = 0
        self.known = np.empty(0, dtype=int)

    def feed(self, X: Array, y: Array, time: Array | None) -> Iterator[Prediction]:
        self.known = np.arange(self.seen, self.seen + len(y))
        self.seen += len(y)
        yield self.learner.predict_then_learn(X, y, time)

    def finish(self) -> None:
        pass


class _Rows:
    """Deliver each label when it has arrived, and not before.

    Only rows whose labels are under way are kept: memory grows with the delay, not with the
    stream. Rows between which no label arrives are predicted together.
    """

    def __init__(self, learner: Learner, delay: Delay) -> None:
        self.learner, self.delay = learner, delay
        self.seen = 0  # rows predicted so far
        self.base = 0  # the first row that waits for its label; those before are learned
        self.waiting: tuple[Array, Array, Array | None] | None = None
        self.known = np.empty(0, dtype=int)

    def feed(self, X: Array, y: Array, time: Array | None) -> Iterator[Prediction]:
        X, y, time = self._join(X, y, time)
        base, learned, end = self.base, self.base, self.base + len(y)
        if time is not None:
            check_clock(time, self.delay, base)
        self.known = known_labels(self.seen, end, self.delay, base, time)
        # One step per group of rows that are predicted from the same labels.
        starts = np.flatnonzero(np.diff(self.known, prepend=-1))
        stops = np.append(starts[1:], len(self.known)) + self.seen
        for arrived, stop in zip(self.known[starts].tolist(), stops.tolist(), strict=True):
            self._learn(X, y, time, learned, arrived)
            learned = arrived
            rows = np.arange(self.seen, stop)
            part = slice(self.seen - base, stop - base)
            now = None if time is None else time[part]
            if self.delay:
                yield self.learner.predict_arrived(X[part], rows, now)
            else:
                yield self.learner.predict(X[part])
            self.seen = stop
        rest = slice(learned - base, None)
        self.waiting = X[rest], y[rest], None if time is None else time[rest]
        self.base = learned

    def finish(self) -> None:
        """Learn what has arrived before a row that would come next, at the same moment."""
        if self.waiting is None:
            return
        X, y, time = self.waiting
        later = None if time is None else np.append(time, time[-1:])
        known = known_labels(self.seen, self.seen + 1, self.delay, self.base, later)
        self._learn(X, y, time, self.base, int(known[0]))

    def _learn(self, X: Array, y: Array, time: Array | None, start: int, stop: int) -> None:
        if stop == start:
            return
        part = slice(start - self.base, stop - self.base)
        now = None if time is None else time[part]
        if self.delay:
            self.learner.learn_arrived(X[part], y[part], np.arange(start, stop), now)
        else:
            self.learner.learn(X[part], y[part], now)

    def _join(self, X: Array, y: Array, time: Array | None) -> tuple[Array, Array, Array | None]:
        if self.waiting is None or len(self.waiting[1]) == 0:
            return X, y, time
        X0, y0, time0 = self.waiting
        both = None if time is None or time0 is None else np.concatenate([time0, time])
        return np.concatenate([X0, X]), np.concatenate([y0, y]), both


def _size(model: Any, rows: int) -> Iterator[tuple[int, int]]:
    """How large the model is now, or nothing if it cannot be pickled."""
    try:
        yield rows, len(pickle.dumps(model))
    except (pickle.PicklingError, TypeError, AttributeError):
        return
