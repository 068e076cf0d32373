"""What a piece of evidence consists of."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.evaluation import Comparison


class Line(NamedTuple):
    """One number of the evidence: a line of ``evidence.csv``."""

    topic: str
    stream: str
    source: str
    method: str
    measure: str
    runs: int
    mean: float
    std: float | None


class Section(NamedTuple):
    """A paragraph with a table, and the numbers behind it.

    Attributes
    ----------
    title, text : str
        What is asked, and how it was found out.
    header : sequence of str
        Of the table.
    rows : sequence of sequence of str
        Of the table.
    lines : sequence of Line
        Every number, for the CSV file.
    each : sequence of sequence
        Stream, method, start and accuracy of single trials, where they matter.
    """

    title: str
    text: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[Line]
    each: Sequence[Sequence[Any]] = ()


def deviation(values: NDArray[np.float64]) -> float | None:
    """Give the standard deviation of several values (with n - 1); of one there is none.

    Examples
    --------
    >>> deviation(np.array([1.0, 3.0])), deviation(np.array([1.0]))
    (1.41421, None)
    """
    return float(values.std(ddof=1)) if len(values) > 1 else None


def lines_of(comparison: Comparison, topic: str, source: str, measure: str) -> list[Line]:
    """Give a line per model of a comparison on one stream, as percentages or times 100.

    Examples
    --------
    >>> scores = {"accuracy": np.array([[[0.9, 0.8]]])}
    >>> comparison = Comparison(["A"], ["S"], "A", "accuracy", scores)
    >>> (line,) = lines_of(comparison, "topic", "generated", "accuracy, %")
    >>> line.stream, line.method, line.runs, line.mean
    ('S', 'A', 2, 85.0)
    """
    return [
        Line(
            topic, comparison.streams[0], source, method, measure, comparison.trials,
            float(values.mean()), deviation(values),
        )
        for method, values in zip(comparison.models, 100 * comparison.scores[0], strict=True)
    ]  # fmt: skip
