"""Holdout: how good the model is on new rows of the present concept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dfop.insight.plotting import draw_lines
from dfop.rows.checks import check_count
from dfop.rows.extras import need

from .adapters import Learner, adapt
from .models import name_of, task_of
from .progress import Progress, reporter
from .sources import Array, Stream, Task, as_stream, labelled_batches, length, named_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class Holdout:
    """Accuracy or mean squared error on fresh rows, over time.

    Attributes
    ----------
    model, stream : str
        Their names.
    task : {"classification", "regression"}
        Whether `scores` are accuracies or mean squared errors.
    rows : array of int
        How many rows had been learned.
    scores : array
        The score on fresh rows of the concept of the row that comes next.
    changes : sequence of int
        Rows at which a new concept begins.

    Examples
    --------
    >>> Holdout("A", "S", "regression", np.array([10, 20]), np.array([2.0, 1.0]), ())
    <Holdout: A on S, 2 scores, mean MSE 1.5>
    """

    model: str
    stream: str
    task: Task
    rows: Array
    scores: Array
    changes: Sequence[int]

    @property
    def score_name(self) -> str:
        """What `scores` are."""
        return "accuracy" if self.task == "classification" else "MSE"

    def __repr__(self) -> str:
        return (
            f"<Holdout: {self.model} on {self.stream}, {len(self.rows)} scores, "
            f"mean {self.score_name} {np.mean(self.scores):.4g}>"
        )

    def to_frame(self) -> "DataFrame":
        """Give a pandas frame with one row per score.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> h = Holdout("A", "S", "regression", np.array([10, 20]), np.array([2.0, 1.0]), ())
        >>> h.to_frame()
              MSE
        rows
        10    2.0
        20    1.0
        """
        frame: DataFrame = need("pandas", extra="stats").DataFrame(
            {self.score_name: self.scores}, index=self.rows
        )
        return frame.rename_axis("rows")

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the scores over time; give the same axes again to add a model.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> h = Holdout("A", "S", "regression", np.array([10, 20]), np.array([2.0, 1.0]), ())
        >>> h.plot().get_ylabel()
        'MSE on fresh rows'
        """
        ax = draw_lines(
            ax,
            self.rows,
            [(self.model, self.scores)],
            self.changes,
            loss=self.task == "regression",
        )
        ax.set_ylabel(f"{self.score_name} on fresh rows")
        ax.set_title(self.stream, loc="left")
        return ax


def holdout(
    model: Any,
    stream: Stream,
    *,
    every: int = 500,
    size: int = 1000,
    seed: int = 0,
    progress: Progress = False,
) -> Holdout:
    """Learn a stream, stopping now and then to score the model on fresh rows.

    After ``t`` rows the model is asked about new rows of the concept that row ``t``, the next
    one, comes from (after the last row: of the concept that was last). Right after a change
    this is the new concept, of which the model has seen nothing. The fresh rows are not
    learned. It needs to know the concept, so the stream must be a generated one.

    Parameters
    ----------
    model : object
        As for `evaluate`; it is trained in place.
    stream : Stream
        One with ``fresh(t, n, rng)``.
    every : int
        Rows between two scores.
    size : int
        Fresh rows per score.
    seed : int
        Of the fresh rows: with the same seed, models are asked about the same rows.
    progress : bool or callable
        As for `evaluate`.

    Returns
    -------
    Holdout

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDRegressor
    >>> from dfop.evaluation.sources import ArrayStream
    >>> from dfop.rows import Batch
    >>> class Step(ArrayStream):  # the level is 0, and 1 from row 200 on
    ...     def fresh(self, t, n, rng):
    ...         return np.ones((n, 1)), np.full(n, float(t >= 200))
    >>> rows, y = Batch(np.ones((400, 1))), np.repeat([0.0, 1.0], 200)
    >>> stream = Step(rows, y, "regression", changes=[200])
    >>> result = holdout(SGDRegressor(random_state=0), stream, every=100)
    >>> result.rows
    array([100, 200, 300, 400])
    >>> bool(result.scores[0] == 0.0 and result.scores[1] == 1.0 > result.scores[2])
    True
    """
    stream = as_stream(stream, task_of(model))
    draw = getattr(stream, "fresh", None)
    if draw is None:
        raise TypeError(
            f"the stream {stream.name!r} has no fresh(t, n, rng): its concepts are not known; "
            "use evaluate"
        )
    for name, value in (("every", every), ("size", size)):
        check_count(name, value)
    learner = adapt(model, stream)
    rng = np.random.default_rng(seed)
    rows: list[int] = []
    scores: list[float] = []
    t = 0
    with reporter(progress, length(stream) if progress else None, name_of(model)) as advance:
        for batch, y in labelled_batches(stream, every):
            if t > 0:
                rows.append(t)
                scores.append(_score(learner, stream, *draw(t, size, rng)))
            learner.learn(batch, y)
            t += len(y)
            advance(len(y))
    if t == 0:
        raise ValueError(f"the stream {stream.name!r} has no rows")
    rows.append(t)
    scores.append(_score(learner, stream, *draw(t - 1, size, rng)))
    return Holdout(
        name_of(model),
        stream.name,
        stream.task,
        np.array(rows),
        np.array(scores),
        tuple(stream.changes),
    )


def _score(learner: Learner, stream: Stream, X: Any, y: Array) -> float:
    """Score the model on rows that it does not learn."""
    labels, _ = learner.predict(named_rows(X, stream))
    return float(np.mean(labels == y if stream.task == "classification" else (labels - y) ** 2))
