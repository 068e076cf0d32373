"""Scores of methods on streams, trial by trial, ours and the printed ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dfop.evaluation import Comparison, statistics

from . import printed
from .printed import Cell
from .settings import SEVEN

Floats = NDArray[np.float64]

MARKS = {"better": " ●", "worse": " ○", "": ""}
"""How a table says what DFOP is, compared with the method of the field."""


def beside(cell: Cell | None, ours: float) -> list[str]:
    """Put printed mean, its spread and our difference from it into fields of a CSV file.

    Examples
    --------
    >>> beside(Cell(87.99, 0.05, ""), 88.1)
    ['87.99', '0.05', '0.11000']
    >>> beside(None, 88.1)
    ['', '', '']
    """
    if cell is None:
        return ["", "", ""]
    return [f"{cell.mean:g}", f"{cell.std:g}", f"{ours - cell.mean:.5f}"]


@dataclass
class Scores:
    """Scores by stream and method, one per trial; trial k saw the same rows in all methods.

    Attributes
    ----------
    reference : str
        The method the others are tested against.
    greater_is_better : bool
        False for a loss.
    trials : dict of (stream, method) to array
        Filled by `add`.

    Examples
    --------
    >>> scores = Scores("A")
    >>> scores.trials["S", "A"] = np.array([90.0, 80.0, 90.0])
    >>> scores.trials["S", "B"] = np.array([70.0, 60.0, 60.0])
    >>> scores.mean(["S"], ["A", "B"]).round(2)
    array([[86.67, 63.33]])
    >>> scores.outcome("S", "B")
    (0.0198, 'better')
    >>> scores.outcome("S", "A")
    (1.0, '')
    """

    reference: str
    greater_is_better: bool = True
    trials: dict[tuple[str, str], Floats] = field(default_factory=dict)

    def add(self, comparison: Comparison) -> None:
        """Take over the trials of a comparison, as percentages or times 100."""
        for s, stream in enumerate(comparison.streams):
            for m, model in enumerate(comparison.models):
                self.trials[stream, model] = 100 * comparison.scores[s, m]

    def mean(self, streams: Sequence[str], methods: Sequence[str]) -> Floats:
        """Means over the trials, of shape (streams, methods)."""
        return np.array([[self.trials[s, m].mean() for m in methods] for s in streams])

    def spread(self, stream: str, method: str) -> float:
        """Give the standard deviation over the trials (with n - 1)."""
        return float(self.trials[stream, method].std(ddof=1))

    def outcome(self, stream: str, method: str) -> tuple[float, str]:
        """Test a method against the reference.

        Returns
        -------
        p_value : float
            Of the paired t-test.
        reference_is : {"better", "worse", ""}
            Where p < .05, what the reference is.
        """
        both = np.array([[self.trials[stream, name] for name in (self.reference, method)]])
        p = statistics.paired_p_values(both, 0)
        sign = statistics.outcomes(both.mean(axis=2), p, 0, self.greater_is_better)
        return float(p[0, 1]), ("", "better", "worse")[int(sign[0, 1])]

    def counts(self, streams: Sequence[str], method: str) -> tuple[int, int, int]:
        """Count the streams on which the reference wins, ties and loses."""
        marks = [self.outcome(stream, method)[1] for stream in streams]
        return marks.count("better"), marks.count(""), marks.count("worse")

    def robustness(self, streams: Sequence[str], methods: Sequence[str]) -> Floats:
        """Ratio to the worst method, of shape (streams, methods)."""
        return statistics.robustness(self.mean(streams, methods), self.greater_is_better)

    def ranks(self, streams: Sequence[str], methods: Sequence[str]) -> Floats:
        """Mean rank of each method, 1 being the best."""
        means = self.mean(streams, methods)
        return np.asarray(statistics.ranks(means, self.greater_is_better).mean(axis=0))


def printed_ratios(streams: Sequence[str]) -> Floats:
    """Compute the robustness that the printed table gives, of shape (streams, methods).

    Examples
    --------
    >>> from .settings import CLASSIFICATION
    >>> everything = [stream.name for stream in CLASSIFICATION]
    >>> dict(zip(SEVEN, printed_ratios(everything).sum(axis=0).round(2).tolist(), strict=True))
    {'SVM-win': 23.74, '1NN-win': 23.99, 'SVM-fix': 24.15, 'SVM-ada': 23.9, 'DWM': 24.37,
     'RLS': 21.23, 'DFOP': 24.96}
    """
    known = printed.scores("classification")
    return statistics.robustness(np.array([[known[s, m].mean for m in SEVEN] for s in streams]))
