"""Does Theorem 2 hold? The library's learner on simulated drift, its error against C0 to C3.

Every seed draws its own rows, start, noise and drift. The three laws of noise and drift have a
variance proxy equal to their variance, so the second moment of C3 must be exact for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dfop.regressor import DFOPRegressor

from .certificates import certify

__all__ = ["SETTINGS", "Outcome", "Setting", "run_experiment"]

Array = NDArray[np.float64]
NAMES = ("C0", "C1", "C2", "C3")


@dataclass(frozen=True)
class Setting:
    """A kind of stream: linear, with drift, in noise.

    Examples
    --------
    >>> from dfop.theory import Setting
    >>> Setting("slow drift", d=5, mu=0.01, noise=0.1, drift=1e-3).rows
    1000
    """

    name: str
    d: int
    """Features."""
    mu: float
    """Forgetting factor of the learner."""
    noise: float
    """Standard deviation of the noise."""
    drift: float
    """Standard deviation of each coordinate's drift per row."""
    law: Literal["normal", "uniform", "sign"] = "normal"
    """Law of noise and drift; "sign" is plus or minus the standard deviation."""
    prior_variance: float = 1e3
    """``P0`` of the learner (G-DFOP scale)."""
    start: float = 1.0
    """``|w(0)|``; the learner starts at 0."""
    correlation: float = 0.0
    """Features i and j have the correlation ``correlation^|i-j|``."""
    rows: int = 1000

    def draw(self, seed: int) -> tuple[Array, Array, Array]:
        """Draw rows (n, d), targets (n,) and concepts ``w(0) .. w(n)`` (n + 1, d)."""
        rng = np.random.default_rng([seed, self.d])
        lag = np.abs(np.subtract.outer(np.arange(self.d), np.arange(self.d)))
        mix = np.linalg.cholesky(np.power(self.correlation, lag))
        X = rng.normal(size=(self.rows, self.d)) @ mix.T
        start = rng.normal(size=self.d)
        start *= self.start / np.linalg.norm(start)
        steps = self.drift * self._standard(rng, (self.rows, self.d))
        w = np.concatenate([start[None], start + np.cumsum(steps, axis=0)])
        y = np.einsum("ij,ij->i", X, w[:-1]) + self.noise * self._standard(rng, (self.rows,))
        return X, y, w

    def _standard(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        if self.law == "normal":
            return rng.normal(size=shape)
        if self.law == "uniform":
            return rng.uniform(-(3.0**0.5), 3.0**0.5, size=shape)
        return rng.choice([-1.0, 1.0], size=shape)


SETTINGS = (
    Setting("slow drift", d=5, mu=0.01, noise=0.1, drift=2e-4),
    Setting(
        "fast drift, bounded", d=3, mu=0.05, noise=0.1, drift=1e-2, law="sign", rows=400
    ),
    Setting(
        "correlated, wrong start", d=8, mu=0.02, noise=0.3, drift=2e-3, law="uniform",
        prior_variance=0.1, start=3.0, correlation=0.7, rows=600,
    ),
)  # fmt: skip
"""The settings of `run_experiment`: one each for noise, drift and start as what matters."""


@dataclass(frozen=True)
class Outcome:
    """What happened at one setting: arrays of shape (seeds, rows) at the rows looked at.

    Examples
    --------
    >>> from dfop.theory import SETTINGS, run_experiment
    >>> outcome, = run_experiment(SETTINGS[1:2], seeds=20, points=3)
    >>> outcome.rows, outcome.error.shape
    (array([  1,  20, 400]), (20, 3))
    >>> outcome.table()[-1]["coverage C0"]
    1.0
    """

    setting: Setting
    delta: float
    rows: NDArray[np.int64]
    error: Array
    """``|w_hat(t) - w(t)|`` of the learner."""
    second_moment: Array
    """What C3 says ``E |w~(t)|^2`` is."""
    bounds: dict[str, Array]
    """C0 to C3."""

    @property
    def coverage(self) -> dict[str, Array]:
        """Share of the seeds whose error is below the bound, row by row; at least 1 - delta."""
        return {name: (self.error <= bound).mean(axis=0) for name, bound in self.bounds.items()}

    @property
    def ordered(self) -> bool:
        """Whether C3 <= C2 <= C1 <= C0 on every seed at every row."""
        values = [self.bounds[name] for name in reversed(NAMES)]
        return all(bool((a <= b).all()) for a, b in pairwise(values))

    @property
    def rms_ratio(self) -> Array:
        """Root mean square error in units of what C3 expects of each seed's rows; near 1."""
        return np.asarray(np.sqrt((self.error**2 / self.second_moment).mean(axis=0)))

    @property
    def overall_rms_ratio(self) -> float:
        """The same over all rows looked at, each row counting alike."""
        return float(np.sqrt(np.mean(self.rms_ratio**2)))

    def table(self) -> list[dict[str, Any]]:
        """One line per row looked at: medians over the seeds, coverage, and the ratio of RMS."""
        coverage, ratio = self.coverage, self.rms_ratio
        return [
            {
                "setting": self.setting.name,
                "row": int(row),
                "error": float(np.median(self.error[:, k])),
                **{name: float(np.median(self.bounds[name][:, k])) for name in NAMES},
                **{f"coverage {name}": float(coverage[name][k]) for name in NAMES},
                "rms ratio": float(ratio[k]),
            }
            for k, row in enumerate(self.rows)
        ]


def run_experiment(
    settings: Sequence[Setting] = SETTINGS,
    *,
    seeds: int = 400,
    delta: float = 0.05,
    points: int = 25,
) -> list[Outcome]:
    """Run the library's learner on every setting and seed, and compare with its certificates.

    Assumes nothing beyond the settings, which fulfil the assumptions of C0 to C3.

    Parameters
    ----------
    settings : sequence of Setting, optional
        Streams to try.
    seeds : int, default=400
        Independent runs of each.
    delta : float, default=0.05
        Probability with which a certificate may fail at a given row.
    points : int, default=25
        Rows to look at, evenly over each stream's logarithm of time.

    Returns
    -------
    list of Outcome

    Examples
    --------
    >>> from dfop.theory import SETTINGS, run_experiment
    >>> outcome, = run_experiment(SETTINGS[1:2], seeds=50, points=5)
    >>> outcome.ordered, bool((outcome.coverage["C3"] >= 0.95).all())
    (True, True)
    """
    return [_run_setting(setting, seeds, delta, points) for setting in settings]


def _run_setting(setting: Setting, seeds: int, delta: float, points: int) -> Outcome:
    rows = np.unique(np.geomspace(1, setting.rows, points).round().astype(np.int64))
    X = np.empty((seeds, setting.rows, setting.d))
    start = np.empty((seeds, setting.d))
    error = np.empty((seeds, len(rows)))
    for seed in range(seeds):
        X[seed], y, w = setting.draw(seed)
        start[seed] = -w[0]  # the learner starts at 0
        error[seed] = np.linalg.norm(_estimates(setting, X[seed], y, rows) - w[rows], axis=1)
    certificates = certify(
        X, mu=setting.mu, noise=setting.noise, drift=setting.drift, start_error=start,
        P0=setting.prior_variance, scale="gdfop", delta=delta, at=rows,
    )  # fmt: skip
    return Outcome(
        setting=setting,
        delta=delta,
        rows=rows,
        error=error,
        second_moment=certificates.second_moment.total,
        bounds={name: getattr(certificates, name).total for name in NAMES},
    )


def _estimates(setting: Setting, X: Array, y: Array, rows: NDArray[np.int64]) -> Array:
    """Weights of the library's learner after each of `rows`."""
    model = DFOPRegressor(
        forgetting=setting.mu, fit_intercept=False, prior_variance=setting.prior_variance, cap=None
    )
    weights, seen = [], 0
    for row in rows:
        model.partial_fit(X[seen:row], y[seen:row])
        weights.append(model.coef_.copy())
        seen = int(row)
    return np.array(weights)
