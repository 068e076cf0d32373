"""What was measured of the automatic learner, and what it is held against."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dfop.paper.printed import Cell


@dataclass(frozen=True)
class FullStream:
    """What was measured on one stream, from its first row to its last."""

    task: str
    name: str
    source: str
    rows: int
    features: int
    promised: float | None
    """What the default has to reach; None on a shortened stream, of which nothing is promised."""
    default: float
    seeds: tuple[float, float]
    """Of the default: the least and the largest of the seeds, both the score where there is one."""
    no_change: float
    automatic: dict[str, float]
    """By view ("linear", "rff"): the automatic learner that sees nothing else."""
    fixed: dict[str, tuple[float, float]]
    """By view: the best fixed mu in hindsight, and its score."""
    lags: int
    """How many, where they were tried; else 0."""
    promised_lagged: float | None
    """None without lags, and on a shortened stream."""
    lagged: float | None
    fixed_lagged: tuple[float, float] | None
    """Linear, with the same lags."""

    @property
    def allowance(self) -> float:
        """How far behind the best fixed mu is within what is promised."""
        return 0.2 if self.task == "classification" else 0.05

    def behind(self, ours: float, other: float) -> float:
        """How much worse ours is: in points, or as a share of the other's squared error."""
        return other - ours if self.task == "classification" else ours / other - 1

    @property
    def ahead(self) -> float:
        """Minus `behind`, against the best fixed mu in hindsight, linear or rff."""
        return min(-self.behind(self.default, best) for _, best in self.fixed.values())

    def at_least(self, ours: float, other: float) -> bool:
        """Whether ours is as good as the other, as far as the other's digits go."""
        digits = 2 if self.task == "classification" else 4
        return round(self.behind(ours, other), digits) <= 0

    @property
    def keeps_promise(self) -> bool:
        """Whether the default is as good as promised, or nothing is."""
        return self.promised is None or self.at_least(self.default, self.promised)

    @property
    def keeps_promise_lagged(self) -> bool:
        """The same of the default with lags."""
        if self.promised_lagged is None or self.lagged is None:
            return True
        return self.at_least(self.lagged, self.promised_lagged)

    def shown(self, value: float) -> str:
        """Write a score with the digits of its measure."""
        if self.task == "regression":
            return f"{value:.4f}"
        return f"{value:.2f}" if value < 99.99 else f"{value:.3f}"


@dataclass(frozen=True)
class Trials:
    """Accuracies, or errors, in the paper's trials, beside the best number of its row."""

    task: str
    name: str
    source: str
    ours: list[float]
    no_change: list[float]
    method: str
    printed: Cell | None
    """None on a shortened stream, of which the paper prints nothing."""

    @property
    def holds(self) -> bool:
        """Whether we are at least as good as the paper's best, minus one standard deviation."""
        mean, cell = float(np.mean(self.ours)), self.printed
        if cell is None:
            return True
        if self.task == "classification":
            return mean >= cell.mean - cell.std
        return mean <= cell.mean + cell.std


@dataclass(frozen=True)
class Sureness:
    """Intervals, probabilities, alarms, drift spectra."""

    coverage: dict[str, list[dict[str, Any]]]
    calibration: dict[str, float]
    changes: list[dict[str, Any]]
    still: dict[str, list[int]]
    spectra: dict[int, list[dict[str, Any]]]
