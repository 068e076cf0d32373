"""The outcome of a comparison, and what can be said about it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dfop.rows.extras import need

from . import statistics, table
from .measures import GREATER_IS_BETTER
from .sources import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Scores of models on streams, trial by trial.

    Arrays have the axes (streams, models), and trials as a third where there are trials.

    Attributes
    ----------
    models, streams : sequence of str
        Their names, in the order of the arrays.
    reference : str
        The model that the others are tested against.
    metric : str
        The measure that everything here is about; `by` changes it.
    values : dict of str to array of shape (streams, models, trials)
        All measures, and "seconds per row" and "bytes".

    Examples
    --------
    >>> c = Comparison(
    ...     models=["A", "B"],
    ...     streams=["S"],
    ...     reference="A",
    ...     metric="accuracy",
    ...     values={"accuracy": np.array([[[0.9, 0.8, 0.9], [0.7, 0.6, 0.6]]])},
    ... )
    >>> c
    <Comparison: 2 models on 1 stream, 3 trials, by accuracy>
    >>> c.win_tie_loss
    {'B': (1, 0, 0)}
    >>> print(c)
    accuracy in %, mean±std of 3 trials
    <BLANKLINE>
    stream                 A             B
    ------------  ------------  ------------
    S             86.67±5.77*   63.33±5.77 ●
    ------------  ------------  ------------
    win/tie/loss                     1/0/0
    robustness          1.37          1.00
    mean rank           1.00          2.00
    <BLANKLINE>
    * best.
    ● A is significantly better, ○ worse (paired t-test, 95 %); win/tie/loss counts for A.
    """

    models: Sequence[str]
    streams: Sequence[str]
    reference: str
    metric: str
    values: dict[str, Array]

    @classmethod
    def from_cells(
        cls,
        cells: Sequence[dict[str, Any]],
        *,
        models: Sequence[str],
        streams: Sequence[str],
        trials: int,
        reference: str,
    ) -> "Comparison":
        """Put the cells of a comparison in order.

        Parameters
        ----------
        cells : sequence of dict
            One per stream, model and trial.
        models, streams : sequence of str
            Their names, in the order wanted.
        trials : int
            How many trials there are.
        reference : str
            The model that the others are tested against.

        Returns
        -------
        Comparison
            By accuracy, or by the mean squared error.

        Examples
        --------
        >>> cell = {"stream": "S", "model": "A", "trial": 0, "metrics": {"MSE": 2.0},
        ...         "seconds per row": 1e-6, "bytes": 100}
        >>> c = Comparison.from_cells(
        ...     [cell], models=["A"], streams=["S"], trials=1, reference="A"
        ... )
        >>> c.mean
        array([[2.]])
        """
        names = list(cells[0]["metrics"])
        if any(list(cell["metrics"]) != names for cell in cells):
            raise ValueError("classification and regression streams cannot be compared together")
        extra = ("seconds per row", "bytes")
        values = {name: np.empty((len(streams), len(models), trials)) for name in (*names, *extra)}
        for cell in cells:
            at = streams.index(cell["stream"]), models.index(cell["model"]), cell["trial"]
            for name in names:
                values[name][at] = cell["metrics"][name]
            for name in extra:
                values[name][at] = cell[name]
        return cls(models, streams, reference, names[0], values)

    def by(self, metric: str) -> "Comparison":
        """Look at the same trials through another measure.

        Parameters
        ----------
        metric : str
            One of the names in `values`.

        Returns
        -------
        Comparison

        Examples
        --------
        >>> values = {"MSE": np.ones((1, 1, 2)), "MAE": np.zeros((1, 1, 2))}
        >>> Comparison(["A"], ["S"], "A", "MSE", values).by("MAE").mean
        array([[0.]])
        """
        if metric not in self.values:
            raise ValueError(f"no metric {metric!r}; there are {list(self.values)}")
        return replace(self, metric=metric)

    @property
    def scores(self) -> Array:
        """The measure, trial by trial."""
        return self.values[self.metric]

    @property
    def trials(self) -> int:
        """Number of trials."""
        return int(self.scores.shape[2])

    @property
    def greater_is_better(self) -> bool:
        """Whether the measure is not a loss, a time or a size."""
        return GREATER_IS_BETTER.get(self.metric, False)

    @property
    def mean(self) -> Array:
        """Mean over the trials."""
        return np.asarray(self.scores.mean(axis=2))

    @property
    def std(self) -> Array:
        """Standard deviation over the trials (with n - 1); NaN for one trial."""
        if self.trials == 1:
            return np.full(self.scores.shape[:2], np.nan)
        with np.errstate(invalid="ignore"):  # of infinite losses
            return np.asarray(self.scores.std(axis=2, ddof=1))

    @cached_property
    def p_values(self) -> Array:
        """Paired t-tests against the reference."""
        return statistics.paired_p_values(self.scores, self._reference)

    @cached_property
    def outcomes(self) -> Array:
        """1 where the reference is significantly better (95 %), -1 where worse, else 0."""
        return statistics.outcomes(
            self.mean, self.p_values, self._reference, self.greater_is_better
        )

    @property
    def win_tie_loss(self) -> dict[str, tuple[int, int, int]]:
        """Streams that the reference wins, ties and loses, by rival."""
        counts = zip(self.models, statistics.win_tie_loss(self.outcomes), strict=True)
        return {model: count for model, count in counts if model != self.reference}

    @property
    def robustness(self) -> dict[str, float]:
        """Sum over the streams of how many times better than the worst; NaN if undefined."""
        sums = statistics.robustness(self.mean, self.greater_is_better).sum(axis=0)
        return dict(zip(self.models, sums.tolist(), strict=True))

    @property
    def mean_ranks(self) -> dict[str, float]:
        """Mean rank over the streams, 1 being the best."""
        means = statistics.ranks(self.mean, self.greater_is_better).mean(axis=0)
        return dict(zip(self.models, means.tolist(), strict=True))

    @property
    def friedman(self) -> tuple[float, float]:
        """Statistic and p-value of Friedman's test that all models are equal."""
        self._need_many()
        return statistics.friedman(self.mean)

    @property
    def nemenyi(self) -> Array:
        """p-values of Nemenyi's test for every two models."""
        self._need_many()
        return statistics.nemenyi(self.mean)

    @property
    def critical_difference(self) -> float:
        """Difference of mean ranks that Nemenyi's test finds significant (95 %)."""
        return statistics.critical_difference(len(self.models), len(self.streams))

    def render(self, form: table.Form = "text") -> str:
        """Write the table.

        Parameters
        ----------
        form : {"text", "markdown", "latex", "csv"}
            The first three show a stream per line and a model per column, the best mean in
            bold (text: starred), with a mark where the reference is significantly better (●)
            or worse (○), then win/tie/loss, robustness and mean ranks. CSV has one line per
            stream and model.

        Returns
        -------
        str

        Examples
        --------
        >>> c = Comparison(["A"], ["S"], "A", "MSE", {"MSE": np.ones((1, 1, 2))})
        >>> print(c.render("csv"))
        stream,model,metric,trials,mean,std,p_value,reference_is
        S,A,MSE,2,1.0,0.0,,
        """
        return table.render(self, form)

    def to_frame(self) -> "DataFrame":
        """Give a pandas frame with one row per stream, model and trial.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> c = Comparison(["A"], ["S"], "A", "MSE", {"MSE": np.ones((1, 1, 2))})
        >>> c.to_frame()
                             MSE
        stream model trial
        S      A     0      1.0
                     1      1.0
        """
        pandas = need("pandas", extra="stats")
        index = pandas.MultiIndex.from_product(
            [self.streams, self.models, range(self.trials)], names=["stream", "model", "trial"]
        )
        frame: DataFrame = pandas.DataFrame(
            {name: values.reshape(-1) for name, values in self.values.items()}, index=index
        )
        return frame

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw mean ranks; a bar joins models that Nemenyi's test cannot tell apart.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> scores = np.tile(np.array([3.0, 2.0, 1.0])[:, None], (4, 1, 1))
        >>> c = Comparison(["A", "B", "C"], list("STUV"), "A", "MSE", {"MSE": scores})
        >>> c.plot().get_title(loc="left")
        'Mean ranks by MSE on 4 streams'
        """
        from .figures import draw_ranks

        ax = draw_ranks(ax, self.mean_ranks, self.nemenyi, self.critical_difference)
        ax.set_title(f"Mean ranks by {self.metric} on {len(self.streams)} streams", loc="left")
        return ax

    def _need_many(self) -> None:
        if len(self.models) < 3 or len(self.streams) < 2:
            raise ValueError(
                "the tests of Friedman and Nemenyi need at least three models and two streams; "
                f"there are {len(self.models)} and {len(self.streams)}"
            )

    @property
    def _reference(self) -> int:
        return list(self.models).index(self.reference)

    def __str__(self) -> str:
        return self.render("text")

    def __repr__(self) -> str:
        def count(n: int, noun: str) -> str:
            return f"{n} {noun}{'' if n == 1 else 's'}"

        return (
            f"<Comparison: {count(len(self.models), 'model')} on "
            f"{count(len(self.streams), 'stream')}, {count(self.trials, 'trial')}, "
            f"by {self.metric}>"
        )
