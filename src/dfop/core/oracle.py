r"""The filter in plain NumPy, one row and one column at a time: slow, and easy to believe.

It has the methods of the compiled `Filter` and is what the compiled one is tested against.

State: ``P = U D U'`` in scaled units, weights ``W``. A row with discount ``lam`` and gain ``g``
(the weight it enters with) makes

.. math::

    R_t = \lambda_t R_{t-1} + g_t x_t x_t', \quad
    w_t = w_{t-1} + g_t P_t x_t (y_t - w_{t-1}'x_t)

with ``P = R^-1``, by Bierman's update of the factors (Bierman, *Factorization Methods for
Discrete Sequential Estimation*, 1977, chapter V).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SMALLEST = 2.0**-500
LARGEST_STEP = 2.0**26
LEAST_GAIN = 1e-200
PRIOR_SLACK = 1e3
VARIANCES = (1e-100, 1e100)


class OracleFilter:
    """Forgetting recursive least squares on the factors of P, written for reading."""

    def __init__(
        self, features: int, outputs: int, intercept: bool, prior_variance: float, cap: float
    ) -> None:
        d = features + intercept
        self.features, self.outputs, self.intercept = features, outputs, intercept
        self.prior_variance = prior_variance
        self.cap = min(cap, VARIANCES[1])
        self.unseen_variance = prior_variance
        self.U = np.eye(d)
        self.D = np.ones(d)
        self.limit = np.ones(d)
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
            if g < LEAST_GAIN:
                self.predict(X[t : t + 1], out[t : t + 1])
                continue
            row = self._row(X[t])
            for j in np.flatnonzero(np.abs(row) > self.scale):
                self._grow_scale(int(j), abs(row[j]))
            x = row / self.scale
            out[t] = self.W @ x
            self.forget(lam)
            b, alpha = self._update_factors(x, 1.0 / g)
            self.W += np.outer(Y[t] - out[t], b) / alpha

    def predict(self, X: Array, out: Array) -> None:
        """Write the predictions of the rows of `X` into `out`."""
        for t, values in enumerate(X):
            x = self._row(values) / self.scale
            for j in np.flatnonzero(np.abs(x) > LARGEST_STEP):
                step = _power_of_two_above(abs(x[j]))
                x[j] *= min(LARGEST_STEP / step, 1.0)
            out[t] = self.W @ x

    def forget(self, discount: float) -> None:
        """Discount all that was learned; D grows, up to its limit."""
        self.D = np.minimum(self.D / discount, self.limit)
        self.unseen_variance = min(self.unseen_variance / discount, VARIANCES[1])

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

    def _grow_scale(self, j: int, magnitude: float) -> None:
        scale = _power_of_two_above(magnitude)
        if self.scale[j] == SMALLEST:
            self.U[j, j + 1 :] = self.U[:j, j] = self.W[:, j] = 0.0
            self.D[j] = _scaled_variance(self.unseen_variance, scale)
        else:
            step = min(scale / self.scale[j], LARGEST_STEP)
            self.U[j, j + 1 :] *= step
            self.U[:j, j] /= step
            self.W[:, j] *= step
            self.D[j] *= step**2
        self.scale[j] = scale
        self.limit[j] = max(self.cap, PRIOR_SLACK * _scaled_variance(self.prior_variance, scale))


def _power_of_two_above(magnitude: float) -> float:
    fraction, exponent = math.frexp(magnitude)
    return math.ldexp(1.0, exponent - 1 if fraction == 0.5 else exponent)


def _scaled_variance(variance: float, scale: float) -> float:
    return float(np.clip(variance * scale * scale, *VARIANCES))
