r"""The drift spectrum: how noisy a stream is and how fast it moves, read off a bank of experts.

Experts that forget differently make different errors: a fast one averages little noise away, a
slow one lags behind. Let the weights make independent steps, with :math:`q` the variance that a
step adds to the prediction's error, and the noise have variance :math:`s^2`. An expert with d
weights that has seen t rows then errs, one step ahead, by

.. math::

    V_\mu(t) = s^2 (1 + d A_\mu(t)) + q \frac{B_\mu(t)}{1 - d A_\mu(t)}, \quad
    A = \frac{\sum \lambda^{2i}}{(\sum \lambda^i)^2}, \quad
    B = \sum \Big(\frac{\lambda^i - \lambda^t}{1 - \lambda^t}\Big)^2

with sums over the ages i = 0 to t-1. For large t and small d mu this is
:math:`s^2 (1 + \mu d/2) + q/(2\mu)`, least at :math:`\mu^* = \sqrt{q/(d s^2)}`. With A and B as
they are after t rows, experts count that have not settled, even the one that never forgets. The
divisor is the next order in d mu: the gain of an expert rests on few rows itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from .drift_plots import draw_over_time, draw_spectrum
from .verdict import Verdict, judge

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DriftSpectrum", "drift_spectrum"]

Array = NDArray[np.float64]

_LARGEST_D_MU = 0.5  # above it the formula for V does not hold
_SETTLING = 10  # rows per weight that are left out: the prior still counts in them
_WINDOWS = 32
_ROUNDS = 10
_PRECISION = 1e-3  # of the formula, relative to V


@dataclass(frozen=True, eq=False)
class DriftSpectrum:
    """Noise and drift of a stream, whole and over time; made by `drift_spectrum`.

    Attributes
    ----------
    noise : float
        ``s2``, the variance of the noise: what no linear model can predict.
    power : float
        ``q``, how much one row's movement of the weights adds to the variance of the error.
    fitted_mu : float
        The forgetting factor that suits both by the formula, ``sqrt(q/(d s2))``.
    misfit : float
        Distance of the experts' errors from the formula, in the standard deviations that chance
        allows. Steady drift has about 0.5, seldom above 1; frequent abrupt changes have more.
    rows : ndarray of shape (windows,)
        Rows seen at the end of each window.
    noise_over_time, power_over_time, mu_over_time, misfit_over_time : ndarray of shape (windows,)
        The same, of each window by itself.
    forgetting : ndarray of shape (experts,)
        The experts' mu.
    errors : ndarray of shape (experts,)
        Their mean squared errors over the rows that count.
    fitted : ndarray of shape (experts,)
        The same by the formula; NaN where it does not hold (``d mu >= 0.5``).
    seen : int
        How many rows the stream had.
    in_use : float or None
        The model's own `forgetting_`: the mean mu of its experts that forget, by their weight in
        the prediction. It says what the model does; `mu` what one learner with one mu should do.
        They differ where walks, curves or trees predict, or where few rows decided as yet.
    alarms : int
        How many sudden changes the model found.

    Examples
    --------
    >>> mu = np.array([0.001, 0.01, 0.1])
    >>> V = 1 + 2 * mu / (2 - mu)  # noise of variance 1, and nothing moves
    >>> print(drift_spectrum(mu, np.tile(V, (200, 1)), 10_000, weights=2))
    verdict              no drift to be seen: a model that forgets nothing is as good as any
    recommended mu       0 (nothing moves)
    noise variance       1
    drift power          0 per row
    misfit               0.0...
    """

    noise: float
    power: float
    fitted_mu: float
    misfit: float
    rows: NDArray[np.int64]
    noise_over_time: Array
    power_over_time: Array
    mu_over_time: Array
    misfit_over_time: Array
    forgetting: Array
    errors: Array
    fitted: Array
    seen: int
    in_use: float | None = None
    alarms: int = 0

    @cached_property
    def verdict(self) -> Verdict:
        """Whether to believe the formula, the mu to take, where it may be, and why, in words."""
        holds = np.isfinite(self.fitted)
        return judge(
            self.forgetting,
            self.errors,
            fitted=self.fitted_mu,
            largest=float(self.forgetting[holds].max()),
            misfit=self.misfit,
            rows=self.seen,
            alarms=self.alarms,
        )

    @property
    def mu(self) -> float:
        """The recommended forgetting factor: the formula's if believed, else the best expert's."""
        return self.verdict.mu

    @property
    def period(self) -> float:
        """``1/mu`` in rows; infinite if nothing moves."""
        return 1.0 / self.mu if self.mu > 0 else float("inf")

    def __str__(self) -> str:
        period = f"period {self.period:,.0f} rows" if self.mu > 0 else "nothing moves"
        lines = [
            ("verdict", self.verdict.words),
            ("recommended mu", f"{self.mu:.3g} ({period})"),
            ("noise variance", f"{self.noise:.3g}"),
            ("drift power", f"{self.power:.3g} per row"),
            ("misfit", f"{self.misfit:.3g}"),
        ]
        if self.in_use is not None:
            lines.append(("mu in use", f"{self.in_use:.3g} (mean of the experts, by weight)"))
        return "\n".join(f"{name:<20} {value}" for name, value in lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the experts' errors over mu, the fitted curve, the recommended mu and its range.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> spectrum = drift_spectrum([0.0, 0.01, 0.1], np.ones((200, 3)), 10, weights=2)
        >>> spectrum.plot().get_title(loc="left")
        'How fast it drifts: no drift to be seen'
        """
        return draw_spectrum(ax, self)

    def plot_over_time(self, ax: Axes | None = None) -> Axes:
        """Draw the forgetting factor that the formula gives along the stream.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> spectrum = drift_spectrum([0.0, 0.01, 0.1], np.ones((200, 3)), 10, weights=2)
        >>> spectrum.plot_over_time().get_ylabel()
        "the formula's mu, per row"
        """
        return draw_over_time(ax, self)


def drift_spectrum(
    forgetting: ArrayLike, errors: ArrayLike, piece_length: int, *, weights: int
) -> DriftSpectrum:
    """Fit noise and drift to the errors of experts that forget differently.

    All experts must have the same features and have learned every row since the first.

    Parameters
    ----------
    forgetting : array-like of shape (experts,)
        Each expert's mu; 0 for one that never forgets.
    errors : array-like of shape (pieces, experts)
        Mean squared one-step errors of consecutive pieces of the stream, oldest first, the first
        from the first row (`dfop.core.ErrorRecord.history`). Of several outputs, their sum.
    piece_length : int
        Rows in a piece.
    weights : int
        ``d``, number of weights of an expert, the constant included.

    Returns
    -------
    DriftSpectrum

    Raises
    ------
    ValueError
        If fewer than two experts have ``d mu < 0.5``, or the stream is shorter than 20 rows per
        weight.

    Notes
    -----
    The fit is a non-negative least squares, each expert weighted by what chance allows: products
    of noise and error, ``4 s2 (V - s2)/n``; a drift that n rows show about ``n mu`` times,
    ``2 (q B)^2/(d n mu)``; and what the formula leaves out, ``((V - s2) d mu/5)^2``. Plain weights
    1/V let the slow experts decide, whose errors hang on the one path that the weights took.

    Examples
    --------
    Experts that have settled, on a stream with s2 = 2 and q = 0.0004:

    >>> mu = np.array([0.001, 0.003, 0.01, 0.03, 0.1])
    >>> V = 2.0 * (1 + mu / (2 - mu)) + 0.0004 / (mu * (2 - mu))
    >>> spectrum = drift_spectrum(mu, np.tile(V, (500, 1)), 10_000, weights=1)
    >>> print(f"{spectrum.noise:.2f} {spectrum.power:.5f} {spectrum.mu:.4f}")
    2.00 0.00040 0.0141
    """
    mu = np.asarray(forgetting, dtype=np.float64)
    history = np.asarray(errors, dtype=np.float64)
    if history.ndim != 2 or mu.shape != history.shape[1:]:
        raise ValueError(
            f"errors has shape {history.shape}, but there are {mu.size} experts: it needs a row "
            "per piece of the stream and a column per expert"
        )
    used = weights * mu < _LARGEST_D_MU
    if used.sum() < 2:
        raise ValueError(
            f"{used.sum()} of {mu.size} experts have d mu < {_LARGEST_D_MU} (d = {weights}): "
            "the fit needs two or more; add slower ones"
        )
    seen = piece_length * np.arange(len(history), dtype=np.float64) + (piece_length - 1) / 2
    first = int(np.searchsorted(seen, _SETTLING * weights))
    n = piece_length * len(history)
    if len(history) - first < 2 or n < 2 * _SETTLING * weights:
        raise ValueError(
            f"{n} rows are too few to tell drift from noise with {weights} weights: "
            f"at least {2 * _SETTLING * weights} are needed"
        )
    A, B = _shape(mu, seen[first:], weights)
    history = history[first:]
    parts = np.array_split(np.arange(len(history)), min(_WINDOWS, len(history)))
    each = np.array(
        [_fit(mu, history[p], A[p], B[p], piece_length, weights, used)[:3] for p in parts]
    )
    s2, q, misfit, fitted = _fit(mu, history, A, B, piece_length, weights, used)
    return DriftSpectrum(
        noise=s2,
        power=q,
        fitted_mu=_best_mu(s2, q, weights),
        misfit=misfit,
        rows=np.array([piece_length * (first + p[-1] + 1) for p in parts], dtype=np.int64),
        noise_over_time=each[:, 0],
        power_over_time=each[:, 1],
        mu_over_time=np.array([_best_mu(a, b, weights) for a, b in each[:, :2]]),
        misfit_over_time=each[:, 2],
        forgetting=mu,
        errors=history.mean(axis=0),
        fitted=fitted,
        seen=n,
    )


def _best_mu(s2: float, q: float, weights: int) -> float:
    """Return sqrt(q/(d s2)), at most 1."""
    return min(1.0, float(np.sqrt(q / (weights * s2)))) if s2 > 0 else float(q > 0)


def _shape(mu: Array, t: Array, d: int) -> tuple[Array, Array]:
    """Return A and B / (1 - d A) of the module's docstring, (times, experts)."""
    t = np.maximum(t, 1.0)[:, None]
    # Below this, mu t is too small for the differences in the closed forms, and lam^t as good as 1.
    young = mu * t < 1e-3
    lam = 1 - np.where(young, 0.5, mu)
    last = lam**t
    A = (1 - lam) / (1 + lam) * (1 + last) / (1 - last)
    total, squares = (1 - last) / (1 - lam), (1 - last**2) / (1 - lam**2)
    B = (squares - 2 * last * total + t * last**2) / (1 - last) ** 2
    A, B = np.where(young, 1 / t, A), np.where(young, (t + 1) * (2 * t + 1) / (6 * t), B)
    return A, B / np.maximum(1 - d * A, 0.5)  # less only for experts that are not used


def _fit(
    mu: Array, history: Array, A: Array, B: Array, length: int, d: int, used: NDArray[np.bool_]
) -> tuple[float, float, float, Array]:
    """Return s2, q, misfit, and the formula's V of each expert."""
    fitted = np.full(len(mu), np.nan)
    unit = float(np.median(history[:, used].mean(axis=0)))
    if unit == 0.0:
        return 0.0, 0.0, 0.0, np.where(used, 0.0, fitted)
    n = length * len(history)
    V = (history / unit).mean(axis=0)[used]
    mu, A, B = mu[used], A.mean(axis=0)[used], B.mean(axis=0)[used]
    columns = np.column_stack([1 + d * A, B])
    # Where V is least, noise and drift take equal parts in what is above s2.
    k = int(V.argmin())
    s2 = V[k] / (1 + 2 * d * A[k])
    q = s2 * d * A[k] / max(B[k], 1.0)
    for _ in range(_ROUNDS):
        noise, drift = s2 * d * A, q * B
        variance = (
            4 * s2 * (noise + drift) / n
            + 2 * drift**2 / (d * np.maximum(n * mu, 1.0))
            + ((noise + drift) * mu * d / 5) ** 2
            + (_PRECISION * V) ** 2
        )
        weighted = columns / np.sqrt(np.maximum(variance, 1e-30))[:, None]
        size = weighted.max(axis=0)
        coefficients, distance = nnls(weighted / size, V / np.sqrt(np.maximum(variance, 1e-30)))
        s2, q = coefficients / size
    fitted[used] = unit * (columns @ [s2, q])
    return unit * float(s2), unit * float(q), float(distance / np.sqrt(len(V))), fitted
