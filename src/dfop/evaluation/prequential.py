"""Predict, then learn: the honest score of a model on a stream."""

import pickle
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from dfop.insight.looks import Looks
from dfop.rows import Batch
from dfop.rows.checks import check_count

from .adapters import Learner, Prediction, adapt
from .adapters.base import join
from .delay import Arrivals, Delay, check_delay
from .models import name_of, task_of
from .progress import Progress, reporter
from .result import Result
from .sources import (
    Array,
    Source,
    Stream,
    as_stream,
    check_targets,
    has_clock,
    labelled_batches,
    length,
)


def evaluate(
    model: Any,
    stream: Source,
    *,
    delay: Delay = 0,
    label_batch: int = 1,
    window: int = 1000,
    batch: int = 4000,
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
        The rows in their order; names, text, gaps and times reach a model that takes them. The
        classes of a tuple are those that occur in ``y``.
    delay : int, float, timedelta, numpy.timedelta64 or str
        How long labels take: an int counts rows; anything else is a duration by the clock of
        the stream (the time of its rows; a float in its unit, a timedelta or a text such as
        "10h" if it holds dates).
        Labels that have not arrived when the stream ends are not learned.
    label_batch : int
        Labels come in batches of so many rows, all of them when the last one's does: 250 for
        someone who predicts 250 rows and then learns their labels.
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
    for name, value in (("window", window), ("batch", batch), ("label_batch", label_batch)):
        check_count(name, value)
    stream = as_stream(stream, task_of(model))
    learner = adapt(model, stream, proba)
    check_delay(delay, has_clock(stream))
    walk = _Walk(learner, stream, Arrivals(delay or 0, label_batch))
    with reporter(progress, length(stream) if progress else None, name_of(model)) as advance:
        for rows, y in labelled_batches(stream, batch):
            walk.feed(rows, y)
            advance(len(y))
    return walk.result(window)


class _Walk:
    """One pass of a model over a stream, and what is known of it so far."""

    def __init__(self, learner: Learner, stream: Stream, arrivals: Arrivals) -> None:
        self.learner, self.stream, self.arrivals = learner, stream, arrivals
        self.truth: list[Array] = []
        self.known: list[Array] = []
        self.predictions: list[Prediction] = []
        self.seconds = 0.0
        self.sizes = list(_size(learner.model, 0))
        self.looks = Looks()
        # On its way; a single filter is so fast that looks would cost more than it does.
        self.looked_at = getattr(learner.model, "forgetting", None) in ("auto", "few")
        self.times: list[Array] = []

    def feed(self, rows: Batch, y: Array) -> None:
        """Predict and learn the next rows."""
        first, late = self.arrivals.seen, self.arrivals.late
        check_targets(y, first, self.stream.name)
        # Without delay all labels before a row are known, and no clock is asked.
        known = self.arrivals.count(len(y), rows.time if late else None)
        for part in self._parts(first, len(y)):
            start = perf_counter()
            try:
                if late:
                    upto = known[part.start : part.stop + 1]
                    predicted = self.learner.walk_late(
                        rows[part], y[part], upto, first + part.start
                    )
                else:
                    predicted = self.learner.predict_then_learn(rows[part], y[part])
            except Exception as error:  # the model counts the rows of the call, not of the stream
                error.add_note(
                    f"in the batch that begins at row {first + part.start} of stream "
                    f"{self.stream.name!r}"
                )
                raise
            self.seconds += perf_counter() - start
            self.predictions.append(predicted)
            if self.looked_at:
                self.looks.take(self.learner.model, first + part.stop)
        self.truth.append(y)
        self.known.append(known[:-1])
        if rows.time is not None:
            self.times.append(rows.time)
        if self.sizes and self.arrivals.seen >= 2 * self.sizes[-1][0]:
            self.sizes += _size(self.learner.model, self.arrivals.seen)

    def _parts(self, first: int, n: int) -> Iterator[slice]:
        """Cut rows where a look at the model is due."""
        start = 0
        while start < n:
            due = self.looks.rows_to_next(first + start) if self.looked_at else n
            stop = min(n, start + due)
            yield slice(start, stop)
            start = stop

    def result(self, window: int) -> Result:
        """Put everything together."""
        rows, model = self.arrivals.seen, self.learner.model
        if rows == 0:
            raise ValueError(f"the stream {self.stream.name!r} has no rows")
        if self.sizes:
            self.sizes = [s for s in self.sizes if s[0] < rows] + list(_size(model, rows))
        predictions, probabilities = join(self.predictions)
        self.looks.take(model, rows)
        return Result(
            model=name_of(model),
            stream=self.stream.name,
            task=self.stream.task,
            truth=np.concatenate(self.truth),
            predictions=predictions,
            probabilities=probabilities,
            classes=self.learner.classes,
            known=np.concatenate(self.known),
            changes=tuple(self.stream.changes),
            window=window,
            seconds=self.seconds,
            sizes=self.sizes,
            times=np.concatenate(self.times) if self.times else None,
            looks=self.looks,
            alarms=tuple(getattr(model, "alarms_", ())),
        )


def _size(model: Any, rows: int) -> Iterator[tuple[int, int]]:
    """How large the model is now, or nothing if it cannot be pickled."""
    count = _Count()
    try:
        pickle.Pickler(count, protocol=5, buffer_callback=count.add).dump(model)
    except (pickle.PicklingError, TypeError, AttributeError):
        return
    yield rows, count.bytes


class _Count:
    """Where a pickle is written that nobody reads: its bytes, those of arrays not even copied."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, data: Any) -> None:
        """Count a piece of the pickle."""
        self.bytes += len(data)

    def add(self, buffer: pickle.PickleBuffer) -> None:
        """Count the memory of an array."""
        self.bytes += buffer.raw().nbytes
