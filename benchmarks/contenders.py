"""The contenders. Each takes a stream and returns a function that predicts and learns n rows.

A contender keeps its model from call to call, as on a stream. What it reads (arrays, dicts, a
DataFrame) is made before the clock starts. All forget with lam = 0.99, where they can forget, and
start from the same prior; none but River's own fits an intercept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import padasip
import polars as pl
import polars_ols  # noqa: F401  (adds `least_squares` to expressions)
from river import linear_model
from scipy.linalg.blas import daxpy, ddot, dsymv, dsyr
from sklearn.linear_model import SGDRegressor

import dfop.river
from dfop import DFOPRegressor
from dfop.core import Filter
from peak import load_multiply_add

MU = 0.01
LAM = 1.0 - MU
PRIOR_VARIANCE = 100.0
CAP = 1e6
# Until the factor that stands outside the matrix is multiplied in: lam^-512 is far from overflow.
ROWS_BETWEEN_RESCALINGS = 512

Run = Callable[[int], Any]


class Stream:
    """Rows of one size in every form that a contender wants."""

    def __init__(self, d: int, rows: int | None = None, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.d = d
        self.rows = rows or min(1_000_000, 5_000_000 // d)
        # Rows of length about 1, so that plain gradient descent does not diverge at large d.
        self.X = rng.standard_normal((self.rows, d)) / math.sqrt(d)
        self.y = self.X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(self.rows)
        self._targets = self.y.tolist()
        self._names = [f"x{j}" for j in range(d)]
        # Few enough to stay in a cache, as a dict that was just made would be.
        some = self.X[: max(500, 20_000 // d)].tolist()
        self._dicts = [dict(zip(self._names, row, strict=True)) for row in some]

    def arrays(self, n: int) -> Iterator[tuple[np.ndarray, float]]:
        """Rows as vectors, with their targets."""
        return zip(self.X[:n], self._targets[:n], strict=True)

    def dicts(self, n: int) -> Iterator[tuple[dict[str, float], float]]:
        """Rows as dicts, with their targets."""
        return zip(itertools.cycle(self._dicts), self._targets[:n], strict=False)

    def frame(self) -> pl.DataFrame:
        """All rows and the column y."""
        return pl.DataFrame(self.X, schema=self._names).with_columns(y=self.y)


def ours_array(stream: Stream) -> Run:
    model = DFOPRegressor(forgetting=MU, fit_intercept=False)
    return lambda n: model.predict_then_learn(stream.X[:n], stream.y[:n])


def ours_row(stream: Stream) -> Run:
    step = Filter(stream.d, 1, False, PRIOR_VARIANCE, CAP).step
    return lambda n: [step(x, y, LAM) for x, y in stream.arrays(n)]


def river_loop(model: Any, stream: Stream) -> Run:
    predict, learn = model.predict_one, model.learn_one

    def run(n: int) -> None:
        for x, y in stream.dicts(n):
            predict(x)
            learn(x, y)

    return run


def ours_river(stream: Stream) -> Run:
    return river_loop(dfop.river.DFOPRegressor(forgetting=MU), stream)


def river_linear(stream: Stream) -> Run:
    return river_loop(linear_model.LinearRegression(), stream)


def river_bayesian(stream: Stream) -> Run:
    return river_loop(linear_model.BayesianLinearRegression(smoothing=LAM), stream)


def padasip_rls(stream: Stream) -> Run:
    model = padasip.filters.FilterRLS(stream.d, mu=LAM, eps=1 / PRIOR_VARIANCE, w="zeros")

    def run(n: int) -> list[float]:
        predictions = []
        for x, y in stream.arrays(n):
            predictions.append(model.predict(x))
            model.adapt(y, x)
        return predictions

    return run


def polars_ols_rls(stream: Stream) -> Run:
    """Not a stream: every call starts anew, and a row's fitted value has seen its own target."""
    frame = stream.frame()
    fitted = pl.col("y").least_squares.rls(
        *(pl.col(name) for name in frame.columns[:-1]),
        half_life=math.log(0.5) / math.log(LAM),
        initial_state_covariance=PRIOR_VARIANCE,
        mode="predictions",
    )
    return lambda n: frame.head(n).select(fitted).to_series().to_numpy()


def numpy_plain(stream: Stream) -> Run:
    """Write the recursion as one does with BLAS: one triangle, in place, nothing allocated."""
    d = stream.d
    P = np.asfortranarray(PRIOR_VARIANCE * np.eye(d))
    w, g = np.zeros(d), np.zeros(d)

    def run(n: int) -> list[float]:
        predictions = []
        scale = 1.0 / LAM  # P / lam is scale * P: saves a pass over the matrix
        for x, y in stream.arrays(n):
            yhat = w.dot(x)
            predictions.append(yhat)
            dsymv(1.0, P, x, y=g, lower=1, overwrite_y=1)
            gain = scale / (1.0 + scale * x.dot(g))
            daxpy(g, w, a=gain * (y - yhat))
            dsyr(-gain, g, lower=1, a=P, overwrite_a=1)
            scale /= LAM
            if scale > 100.0:
                P[:] *= scale * LAM
                scale = 1.0 / LAM
        P[:] *= scale * LAM
        return predictions

    return run


def numpy_tight(stream: Stream) -> Run:
    """Make as little as possible happen between the BLAS calls of a row; the fastest loop found.

    The weights are one more row of the symmetric matrix, so that one ``dsymv`` gives both Px and
    the prediction w'x, and one ``dsyr`` updates both P and w. All arguments are positional
    (keywords double the cost of a call), and a memoryview gives plain floats.
    """
    d, size = stream.d, stream.d + 1
    M = np.zeros((size, size), order="F")
    P = M[:d, :d]
    np.fill_diagonal(P, PRIOR_VARIANCE)
    Z = np.zeros((stream.rows, size))
    Z[:, :d] = stream.X
    h = np.zeros(size)  # Px, and the error with its sign turned
    last = memoryview(h)
    targets = stream.y.tolist()

    def run(n: int) -> list[float]:
        predictions: list[float] = []
        append = predictions.append
        for start in range(0, n, ROWS_BETWEEN_RESCALINGS):
            stop = min(n, start + ROWS_BETWEEN_RESCALINGS)
            scale = 1.0
            for z, y in zip(Z[start:stop], targets[start:stop], strict=True):
                scale /= LAM
                dsymv(1.0, M, z, 0.0, h, 0, 1, 0, 1, 1, 1)
                yhat = last[d]
                append(yhat)
                last[d] = yhat - y
                dsyr(-scale / (1.0 + scale * ddot(z, h)), h, 1, 1, 0, size, M, 1)
            P[:] *= scale
        return predictions

    return run


def sklearn_sgd(stream: Stream) -> Run:
    model = SGDRegressor(alpha=0.0, learning_rate="constant", eta0=0.01)
    model.partial_fit(stream.X[:1], stream.y[:1])

    def run(n: int) -> list[float]:
        predictions = []
        for i in range(n):
            x = stream.X[i : i + 1]
            predictions.append(model.predict(x)[0])
            model.partial_fit(x, stream.y[i : i + 1])
        return predictions

    return run


def fma_peak(stream: Stream) -> Run | None:
    """Not a learner: as many flops as the rows would need, 3 d^2 each, and nothing else."""
    spend = load_multiply_add()
    return spend and (lambda n: spend(3.0 * n * stream.d**2))


ARRAY, ROW, RIVER = "dfop, arrays", "dfop, row by row", "dfop, River dicts"
TIGHT, PLAIN = "NumPy/BLAS loop, tight", "NumPy/BLAS loop, plain"
POLARS, PADASIP = "polars-ols rls", "padasip FilterRLS"
RIVER_LINEAR, RIVER_BAYES = "River LinearRegression", "River BayesianLinearRegression"
SGD, PEAK = "scikit-learn SGD per row", "FMA peak"

CONTENDERS: dict[str, Callable[[Stream], Run | None]] = {
    ARRAY: ours_array,
    ROW: ours_row,
    RIVER: ours_river,
    TIGHT: numpy_tight,
    PLAIN: numpy_plain,
    POLARS: polars_ols_rls,
    PADASIP: padasip_rls,
    RIVER_LINEAR: river_linear,
    RIVER_BAYES: river_bayesian,
    SGD: sklearn_sgd,
    PEAK: fma_peak,
}


def check_same_model() -> None:
    """Fail unless all that claim forgetting least squares predict alike: no race of unequals."""
    stream = Stream(10, rows=2000)
    expected = ours_array(stream)(2000)
    for name in (ROW, TIGHT, PLAIN, PADASIP):
        predictions = CONTENDERS[name](stream)(2000)
        np.testing.assert_allclose(predictions, expected, rtol=0, atol=1e-8, err_msg=name)
    model = DFOPRegressor(forgetting=MU, fit_intercept=False).fit(stream.X, stream.y)
    fitted = polars_ols_rls(stream)(2000)[-1]
    np.testing.assert_allclose(fitted, stream.X[-1] @ model.coef_, atol=1e-8, err_msg=POLARS)
