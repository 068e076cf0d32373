r"""The filter in plain NumPy, one row and one column at a time: slow, and easy to believe.

It has the methods of the compiled `Filter` and is what the compiled one is tested against.

State: ``P = U D U'`` in scaled units, weights ``W``. A row with discount ``lam`` and gain ``g``
(the weight it enters with) makes

.. math::

    R_t = \lambda_t R_{t-1} + g_t x_t x_t', \quad
    w_t = w_{t-1} + g_t P_t x_t (y_t - w_{t-1}'x_t)

with ``P = R^-1``: time passes first, then scales grow where the row is larger than any before,
then it is predicted and learned. The factors change by Bierman's update (Bierman, *Factorization
Methods for Discrete Sequential Estimation*, 1977, chapter V).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SMALLEST = 2.0**-500
LARGEST_STEP = 2.0**26
LEAST_GAIN = 1e-60
NO_TARGET = -1.0
PRIOR_SLACK = 1e3
VARIANCES = (1e-40, 1e40)
UNSEEN = 1e-200
REFRESH = 1e3
LARGEST_WEIGHT = 1e220
LARGEST_U = 1e60
LARGEST_ALPHA = 1e75


class OracleFilter:
    """Forgetting recursive least squares on the factors of P, written for reading."""

    def __init__(
        self, features: int, outputs: int, intercept: bool, prior_variance: float, cap: float
    ) -> None:
        d = features + intercept
        self.features, self.outputs, self.intercept = features, outputs, intercept
        self.prior_variance = prior_variance
        self.cap = min(cap, VARIANCES[1])
        self.unseen_variance = min(prior_variance, VARIANCES[1])
        self.faded = 1.0
        self.limited_rows = 0
        self.U = np.eye(d)
        self.D = np.full(d, UNSEEN)
        self.limit = np.full(d, UNSEEN)
        self.scale = np.full(d, SMALLEST)
        self.W = np.zeros((outputs, d))
        if intercept:
            self._grow_scale(0, 1.0)

    def learn(self, X: Array, Y: Array, discount: Array, gain: Array, out: Array) -> None:
        """Write into `out` each row's prediction before its target is read, then learn it."""
        n = len(X)
        for t, (lam, g) in enumerate(
            zip(np.broadcast_to(discount, n), np.broadcast_to(gain, n), strict=True)
        ):
            row = self._row(X[t])
            if g < LEAST_GAIN:
                self.predict(X[t : t + 1], out[t : t + 1])
                if g == NO_TARGET:
                    self.forget(lam)
                    self._grow_scales(row)
                continue
            self.forget(lam)  # at the scale that the weights had until now
            self._grow_scales(row)
            x = row / self.scale
            out[t] = self.W @ x
            self._limit()
            b, alpha = self._update_factors(x, 1.0 / g)
            self.W += np.outer(Y[t] - out[t], b) / alpha
            if alpha > LARGEST_ALPHA:
                self._refresh_limits()

    def predict(self, X: Array, out: Array) -> None:
        """Write the predictions of the rows of `X` into `out`."""
        for t, values in enumerate(X):
            x = self._row(values) / self.scale
            x[np.abs(x) > LARGEST_STEP] = 0.0
            out[t] = self.W @ x

    def forget(self, discount: float) -> None:
        """Discount all that was learned; D grows, up to its limit."""
        growth = 1.0 / discount
        if growth > 1.0 and self.faded * growth > REFRESH:
            self._refresh_limits()
        else:
            self.faded *= growth
        self.D = self.D * growth
        self._limit()
        self.unseen_variance = min(self.unseen_variance * growth, VARIANCES[1])

    def _limit(self) -> None:
        seen = self.scale > SMALLEST
        self.limited_rows += bool((self.limit < self.D)[seen].any())
        self.D = np.minimum(self.D, self.limit)

    def coefficients(self) -> tuple[Array, Array]:
        """Weights of the features as given, and the constant."""
        w = self.W / self.scale
        if self.intercept:
            return w[:, 1:], w[:, 0]
        return w, np.zeros(self.outputs)

    def _row(self, values: Array) -> Array:
        return np.concatenate([[1.0], values]) if self.intercept else values

    def _update_factors(self, x: Array, noise: float) -> tuple[Array, float]:
        U, D = self.U, self.D
        f = U.T @ x
        v = D * f
        b = np.zeros(len(x))
        alpha = noise
        for j in range(len(x)):
            before, alpha = alpha, alpha + f[j] * v[j]
            D[j] *= before / alpha
            column = U[:j, j].copy()
            U[:j, j] -= b[:j] * (f[j] / before)
            b[:j] += column * v[j]
            b[j] = v[j]
        return b, alpha

    def _grow_scales(self, row: Array) -> None:
        for j in np.flatnonzero(np.abs(row) > self.scale):
            self._grow_scale(int(j), abs(row[j]))

    def _grow_scale(self, j: int, magnitude: float) -> None:
        scale = _power_of_two_above(magnitude)
        factor = scale / self.scale[j]
        unseen = self.scale[j] == SMALLEST
        self.scale[j] = scale
        self.limit[j] = self._largest_variance(j)
        step = 0.0 if unseen or factor > LARGEST_STEP else factor
        self.limited_rows += step == 0.0 and not unseen
        self.U[j, j + 1 :] = np.clip(self.U[j, j + 1 :] * step, -LARGEST_U, LARGEST_U)
        self.U[:j, j] *= 1.0 / step if step else 0.0
        self.W[:, j] = np.clip(self.W[:, j] * step, -LARGEST_WEIGHT, LARGEST_WEIGHT)
        at_most = _scaled_variance(self.unseen_variance, scale)  # rows can only lower it
        self.D[j] = at_most if unseen else min(self.D[j] * factor**2, at_most)
        shares = self._shares()
        self.limit[j] = self._limits(shares)[j]
        later = slice(j + 1, None)
        self.limit[later] = np.minimum(self.limit[later], self._limits(shares[[j]])[later])

    def _largest_variance(self, j: int) -> float:
        if self.scale[j] == SMALLEST:
            return UNSEEN
        return max(
            self.cap, PRIOR_SLACK * _scaled_variance(self.prior_variance, float(self.scale[j]))
        )

    def _refresh_limits(self) -> None:
        """Let D_j grow only as far as every P_ii, to which it adds u_ij^2 D_j, may grow."""
        self.U = np.clip(self.U, -LARGEST_U, LARGEST_U)
        self.W = np.clip(self.W, -LARGEST_WEIGHT, LARGEST_WEIGHT)
        self.limit = self._limits(self._shares())
        self.faded = 1.0

    def _shares(self) -> Array:
        """Return what one unit of D_j adds to P_ii, as a share of the largest P_ii."""
        largest = [self._largest_variance(i) for i in range(len(self.D))]
        return np.asarray(np.triu(self.U) ** 2 / np.array(largest)[:, np.newaxis])

    def _limits(self, shares: Array) -> Array:
        """How far forgetting may raise D: never below what it is now."""
        largest = np.array([self._largest_variance(j) for j in range(len(self.D))])
        with np.errstate(divide="ignore"):
            allowed = 1.0 / np.max(shares, axis=0)
        return np.asarray(np.maximum(allowed, np.minimum(self.D, largest)))


def _power_of_two_above(magnitude: float) -> float:
    fraction, exponent = math.frexp(magnitude)
    return math.ldexp(1.0, exponent - 1 if fraction == 0.5 else exponent)


def _scaled_variance(variance: float, scale: float) -> float:
    return float(np.clip(variance * scale * scale, *VARIANCES))
