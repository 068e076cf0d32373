"""What came out of one pass over a stream."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dfop.insight.looks import Looks
from dfop.insight.plotting import draw_lines, mark_alarms, named_lines
from dfop.rows.extras import need

from . import curves
from .measures import classification_metrics, regression_metrics
from .sources import Array, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

Curve = Literal["accumulated", "windowed", "faded"]


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Predictions of every row, each made before its label was seen, and what follows.

    Attributes
    ----------
    model, stream : str
        Their names.
    task : {"classification", "regression"}
        Whether labels are classes or numbers.
    truth, predictions : array of shape (n,)
        Labels and predictions in the order of the stream.
    probabilities : array of shape (n, k) or None
        Probability of each of `classes`, if asked for.
    classes : array of shape (k,)
        Every label that can occur; empty for regression.
    known : array of shape (n,)
        How many labels had been learned when the row was predicted: at most its own number.
    changes : sequence of int
        Rows at which a new concept begins, as far as the stream tells.
    window : int
        How far the windowed and the faded curve look back, in rows.
    seconds : float
        Time spent in the model.
    sizes : sequence of (rows, bytes)
        Size of the pickled model before the first row, after the first batch, after each
        doubling of the rows, and at the end. Empty if it cannot be pickled.
    times : array of shape (n,) or None
        When the rows came, where the stream tells.
    looks : Looks
        How a model of this library forgot, and which features mattered, along the stream.
    alarms : sequence of Alarm
        Sudden changes that the model found.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDClassifier
    >>> from dfop.evaluation import evaluate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> result = evaluate(SGDClassifier(random_state=0), (X, X[:, 0] > 0), window=100)
    >>> result
    <Result: SGDClassifier on data, 400 rows: accuracy 0.9..., ...>
    >>> float(result.curve("windowed")[-1])
    0.98
    """

    model: str
    stream: str
    task: Task
    truth: Array
    predictions: Array
    probabilities: Array | None
    classes: Array
    known: Array
    changes: Sequence[int]
    window: int
    seconds: float
    sizes: Sequence[tuple[int, int]]
    times: Array | None = None
    looks: Looks = field(default_factory=Looks)
    alarms: Sequence[Any] = ()

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def metrics(self) -> dict[str, float]:
        """All measures of the task by name, the leading one (accuracy, MSE) first."""
        if self.task == "regression":
            return regression_metrics(self.truth, self.predictions)
        return classification_metrics(
            self.truth, self.predictions, self.classes, self.known, self.probabilities
        )

    @property
    def score(self) -> float:
        """Accuracy, or the mean squared error."""
        return next(iter(self.metrics.values()))

    @property
    def score_name(self) -> str:
        """What `score` and the curves show."""
        return "accuracy" if self.task == "classification" else "MSE"

    @property
    def seconds_per_row(self) -> float:
        """Time the model took to predict and learn a row, on average."""
        return self.seconds / len(self)

    @property
    def bytes(self) -> float:
        """Size of the pickled model at the end; NaN if it cannot be pickled."""
        return self.sizes[-1][1] if self.sizes else float("nan")

    @property
    def bytes_per_row(self) -> float:
        """Growth of the model per row, over the later half of the rows: 0 for constant memory.

        NaN for a stream of less than two batches: what a model takes up with its first rows says
        nothing of the later ones.
        """
        end, last = self.sizes[-1] if self.sizes else (0, 0)
        before = [size for size in self.sizes if 0 < size[0] <= end / 2]
        if not before:
            return float("nan")
        start, first = before[-1]
        return (last - first) / (end - start)

    def _loss(self, predictions: Array) -> Array:
        if self.task == "classification":
            return np.asarray(self.truth == predictions, dtype=float)
        return np.where(np.isfinite(predictions), (self.truth - predictions) ** 2, np.inf)

    def _no_change(self) -> Array:
        """Return the windowed curve of the last known label; NaN before the first one."""
        knows = self.known > 0
        loss = self._loss(self.truth[np.maximum(self.known - 1, 0)])
        share = curves.windowed(knows.astype(float), self.window)
        with np.errstate(invalid="ignore"):
            return np.asarray(curves.windowed(np.where(knows, loss, 0.0), self.window) / share)

    def curve(self, kind: Curve = "windowed") -> Array:
        """Accuracy or mean squared error over time, one value per row.

        Parameters
        ----------
        kind : {"accumulated", "windowed", "faded"}
            The average: of all rows so far, of the last `window`, or with fading weights that
            look back equally far. See `dfop.evaluation.curves`.

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> from sklearn.linear_model import SGDRegressor
        >>> from dfop.evaluation import evaluate
        >>> X, y = [[0.0]] * 4, [1.0, 1.0, 2.0, 2.0]
        >>> model = SGDRegressor(eta0=1.0, learning_rate="constant")  # follows the last value
        >>> evaluate(model, (X, y), window=2).curve("accumulated")
        array([1.        , 0.5       , 0.66666667, 0.5       ])
        """
        loss = self._loss(self.predictions)
        if kind == "accumulated":
            return curves.accumulated(loss)
        if kind == "windowed":
            return curves.windowed(loss, self.window)
        if kind == "faded":
            return curves.faded(loss, self.window)
        raise ValueError(f"kind must be 'accumulated', 'windowed' or 'faded', got {kind!r}")

    def to_frame(self) -> "DataFrame":
        """Give a pandas frame with one row per row of the stream.

        Returns
        -------
        pandas.DataFrame
            Truth, prediction, the three curves, and the probabilities where there are any.

        Examples
        --------
        >>> from sklearn.linear_model import SGDRegressor
        >>> from dfop.evaluation import evaluate
        >>> list(evaluate(SGDRegressor(), ([[0.0]], [1.0])).to_frame())
        ['truth', 'prediction', 'accumulated', 'windowed', 'faded']
        """
        columns: dict[str, Any] = {"truth": self.truth, "prediction": self.predictions}
        kinds: tuple[Curve, ...] = ("accumulated", "windowed", "faded")
        columns |= {kind: self.curve(kind) for kind in kinds}
        if self.probabilities is not None:
            for label, p in zip(self.classes, self.probabilities.T, strict=True):
                columns[f"p({label})"] = p
        frame: DataFrame = need("pandas", extra="stats").DataFrame(columns)
        return frame.rename_axis("row")

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw how good the model was, against no-change; alarms, and where concepts change.

        Curves are of the last rows and of all rows so far. Dashed lines are alarms, with what moved
        most. The axis spans what the curves do after the first rows, whose means may be anywhere;
        an error that spans decades is drawn on a logarithmic scale.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure. Give the axes of another result to draw
            this one beside it.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from sklearn.linear_model import SGDRegressor
        >>> from dfop.evaluation import evaluate
        >>> result = evaluate(SGDRegressor(), ([[0.0], [1.0]], [1.0, 2.5]))
        >>> result.plot().get_ylabel()
        'MSE'
        """
        others = ax is not None and len(named_lines(ax)) > 0
        whose = f"{self.model}, " if others else ""
        lines = [(f"{whose}all rows so far", self.curve("accumulated"))]
        if self.window < len(self):
            lines.insert(0, (f"{whose}last {self.window:,} rows", self.curve("windowed")))
            if not others:
                lines.append((f"no-change, last {self.window:,}", self._no_change()))
        ax = draw_lines(
            ax,
            np.arange(1, len(self) + 1),
            lines,
            self.changes,
            settled=min(self.window, len(self) // 10),
            loss=self.task == "regression",
        )
        ax.set_ylabel(self.score_name)
        if not others:
            mark_alarms(ax, [(a.row, next(iter(a.moved), "")) for a in self.alarms])
            told = f"{self.score_name} {self.score:.3g}"
            ax.set_title(f"{self.model} on {self.stream}: {told}", loc="left")
        return ax

    def report(self, path: Any, model: Any = None) -> None:
        """Write one page that shows what happened: an HTML file that opens offline and prints.

        Parameters
        ----------
        path : path
            Where to write it; a file that is there is replaced.
        model : object, optional
            The model that was evaluated, for its parameters, its size and its drift spectrum.

        See Also
        --------
        dfop.report.write_page : The same from a history kept while learning.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.linear_model import SGDRegressor
        >>> from dfop.evaluation import evaluate
        >>> path = Path(tempfile.mkdtemp()) / "report.html"
        >>> evaluate(SGDRegressor(), ([[0.0], [1.0]], [1.0, 2.5])).report(path)
        >>> "SGDRegressor on data" in path.read_text("utf-8")
        True
        """
        # The page lies above this room, and is loaded where one is asked for.
        from dfop.report import History, write_page

        about = {"stream": self.stream, **({} if model is not None else {"model": self.model})}
        title = f"{self.model} on {self.stream}"
        write_page(path, History.of(self), model, title=title, about=about)

    def summary(self) -> str:
        """Give all numbers as text, one per line.

        Returns
        -------
        str

        Examples
        --------
        >>> from sklearn.linear_model import SGDRegressor
        >>> from dfop.evaluation import evaluate
        >>> print(evaluate(SGDRegressor(), ([[0.0], [1.0]], [1.0, 2.5])).summary())
        SGDRegressor on data, 2 rows
          MSE               3.6...
          MAE               1.7...
          R2                -5.4...
          time              ... a row
          memory            ... kB
        """
        lines = [f"{self.model} on {self.stream}, {len(self):,} rows"]
        lines += [f"  {name:<17} {value:.4g}" for name, value in self.metrics.items()]
        lines.append(f"  {'time':<17} {duration(self.seconds_per_row)} a row")
        if self.sizes:
            grows = "" if np.isnan(self.bytes_per_row) else ", not growing"
            if self.bytes_per_row > 0:
                grows = f", growing by {self.bytes_per_row:.3g} bytes a row"
            lines.append(f"  {'memory':<17} {self.bytes / 1000:,.0f} kB{grows}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"<Result: {self.model} on {self.stream}, {len(self):,} rows: "
            f"{self.score_name} {self.score:.4g}, {duration(self.seconds_per_row)} a row>"
        )


def duration(seconds: float) -> str:
    """Write a short time in a unit that suits it.

    Examples
    --------
    >>> duration(3.21e-6), duration(0.5)
    ('3.2 µs', '500 ms')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.{0 if seconds >= 10 * size else 1}f} {unit}"
    return f"{seconds / 1e-9:.0f} ns"
