"""Many Gaussian naive Bayes classifiers side by side, in arrays.

The incremental ones of `NaiveBayesBank`:

Expert e keeps for class c the number of its rows n, their sum s and, for each feature, the sum
M of squared deviations from their mean. A row x of class c changes them by (Welford 1962)

    n <- n + 1,   s <- s + x,   M <- M + (x - m_old) (x - m_new),   m = s / n,

and the expert's score of class c is the logarithm of prior times densities,

    log(n_c / n) - 1/2 sum_j [ log(2 pi v_cj) + (x_j - m_cj)^2 / v_cj ],   v = M / (n - 1) + floor.

All experts learn every row, so the statistics before each row of a block are running sums over
the block: `accumulate` gives all of them at once. It adds one term after the other, so the bits
do not depend on how the rows were divided into blocks.

The floor, 1e-9 of the largest variance of a feature over the stream so far, keeps a class seen
once, or a constant feature, from dividing by zero.
"""

from __future__ import annotations

import numpy as np

from dfop.baselines.base import Codes, Floats

# Numbers in the largest array made at once.
_CELLS = 200_000
_FLOOR = 1e-9
_LEAST = 1e-30  # the floor while every feature has been constant
_FARTHEST = 1e290  # a squared distance that stays finite in a sum


class BatchNaiveBayes:
    """Gaussian naive Bayes of one batch with row weights: what `GaussianNB` computes.

    The score of class c is ``constant_c - sum_j precision_cj (x_j - mean_cj)^2 / 2``.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), y : ndarray of shape (n_rows,)
        The batch.
    weight : ndarray of shape (n_rows,)
        Weights of its rows.
    n_classes : int
        Classes there are, in the batch or not.
    """

    def __init__(self, X: Floats, y: Codes, weight: Floats, n_classes: int) -> None:
        self.constant = np.full(n_classes, -np.inf)
        self.mean = np.zeros((n_classes, X.shape[1]))
        self.precision = np.ones((n_classes, X.shape[1]))
        floor = max(_FLOOR * float(X.var(axis=0).max()), _LEAST)
        for c in np.unique(y):
            rows, w = X[y == c], weight[y == c]
            self.mean[c] = np.average(rows, axis=0, weights=w)
            variance = np.average(np.square(rows - self.mean[c]), axis=0, weights=w) + floor
            self.precision[c] = 1.0 / variance
            prior = np.log(w.sum() / weight.sum())
            self.constant[c] = prior - 0.5 * np.log(2.0 * np.pi * variance).sum()


def opinions(members: list[BatchNaiveBayes], X: Floats) -> Codes:
    """Class codes that each member (row) gives to each row of X (column)."""
    constant = np.stack([m.constant for m in members])
    mean = np.stack([m.mean for m in members])
    precision = np.stack([m.precision for m in members])
    codes = np.empty((len(members), len(X)), dtype=np.intp)
    step = max(_CELLS // mean.size, 1)
    for begin in range(0, len(X), step):
        part = X[begin : begin + step, None, None, :]
        with np.errstate(over="ignore"):
            squares = np.minimum(np.square(part - mean) * precision, _FARTHEST)
        distance = squares.sum(axis=-1)
        codes[:, begin : begin + step] = (constant - 0.5 * distance).argmax(axis=-1).T
    return codes


class NaiveBayesBank:
    """Experts that all learn the same rows, each from its own start.

    Parameters
    ----------
    n_classes, n_features : int
        Shape of the problem.

    Attributes
    ----------
    count : ndarray of shape (n_experts, n_classes)
        Rows of each class.
    total, spread : ndarray of shape (n_experts, n_classes, n_features)
        Their sums and sums of squared deviations.
    """

    def __init__(self, n_classes: int, n_features: int) -> None:
        self.count = np.zeros((0, n_classes))
        self.total = np.zeros((0, n_classes, n_features))
        self.spread = np.zeros((0, n_classes, n_features))
        # The same three numbers over all rows of the stream, for the floor.
        self._seen = np.zeros(1)
        self._stream_total = np.zeros(n_features)
        self._stream_spread = np.zeros(n_features)

    def __len__(self) -> int:
        return len(self.count)

    def add_empty(self) -> None:
        """Add an expert that has learned nothing."""
        self.count, self.total, self.spread = (
            np.concatenate([a, np.zeros((1, *a.shape[1:]))])
            for a in (self.count, self.total, self.spread)
        )

    def keep(self, which: Codes) -> None:
        """Drop every expert but those at the indices `which`."""
        self.count, self.total, self.spread = (
            a[which] for a in (self.count, self.total, self.spread)
        )

    def learn_last(self, x: Floats, code: int) -> None:
        """Teach the newest expert, still empty, its first row; the stream has seen it already."""
        self.count[-1, code] = 1.0
        self.total[-1, code] = x

    def scores(self, X: Floats) -> Floats:
        """Score each row by each expert for each class: (n_rows, n_experts, n_classes)."""
        step = max(_CELLS // max(self.total.size, 1), 1)
        parts = [
            _scores(X[begin : begin + step], self.count, self.total, self.spread, self._floor_now())
            for begin in range(0, len(X), step)
        ]
        return np.concatenate(parts)

    def scores_then_learn(self, X: Floats, y: Codes) -> Floats:
        """Score each row with what is known before it, then teach it to every expert."""
        step = max(_CELLS // max(self.total.size, 1), 1)
        parts = [
            self._scores_then_learn(X[begin : begin + step], y[begin : begin + step])
            for begin in range(0, len(X), step)
        ]
        return np.concatenate(parts)

    def _scores_then_learn(self, X: Floats, y: Codes) -> Floats:
        everything = np.ones((len(X), 1))
        seen, stream_total, stream_spread = _running(
            self._seen, self._stream_total, self._stream_spread, X, everything
        )
        is_class = (y[:, None] == np.arange(self.count.shape[1])).astype(np.float64)
        count, total, spread = _running(
            self.count, self.total, self.spread, X[:, None, None, :], is_class[:, None, :]
        )
        variance = stream_spread[:-1] / np.maximum(seen[:-1] - 1.0, 1.0)
        floor = np.maximum(_FLOOR * variance.max(axis=1), _LEAST)
        scores = _scores(X, count[:-1], total[:-1], spread[:-1], floor[:, None, None, None])
        self._seen, self._stream_total, self._stream_spread = (
            seen[-1],
            stream_total[-1],
            stream_spread[-1],
        )
        self.count, self.total, self.spread = count[-1], total[-1], spread[-1]
        return scores

    def _floor_now(self) -> float:
        variance = self._stream_spread / np.maximum(self._seen - 1.0, 1.0)
        return max(_FLOOR * float(variance.max()), _LEAST)


def _running(
    count: Floats, total: Floats, spread: Floats, X: Floats, member: Floats
) -> tuple[Floats, Floats, Floats]:
    """Count, sum and spread before the first row, after it, ... after the last.

    `member` is 1 where a row belongs to a class, else 0; it broadcasts against `count`, and X
    against `total`, behind a leading axis of rows.
    """
    n = _accumulate(count, member)
    chosen = member[..., None] if total.ndim > 1 else member
    s = _accumulate(total, chosen * X)
    divisor = np.maximum(n, 1.0)
    mean = s / (divisor[..., None] if total.ndim > 1 else divisor)
    return n, s, _accumulate(spread, chosen * ((X - mean[:-1]) * (X - mean[1:])))


def _accumulate(start: Floats, steps: Floats) -> Floats:
    out = np.empty((len(steps) + 1, *start.shape))
    out[0] = start
    out[1:] = steps
    return np.add.accumulate(out, axis=0, out=out)


def _scores(
    X: Floats, count: Floats, total: Floats, spread: Floats, floor: Floats | float
) -> Floats:
    n = count[..., None]
    deviation = X[:, None, None, :] - total / np.maximum(n, 1.0)
    variance = spread / np.maximum(n - 1.0, 1.0) + floor
    with np.errstate(over="ignore"):
        distance = np.minimum(np.square(deviation) / variance, _FARTHEST)
    terms = np.log((2.0 * np.pi) * variance) + distance
    with np.errstate(divide="ignore", invalid="ignore"):
        # A class without rows scores -inf; an expert without rows ranks all classes alike.
        prior = np.log(count / count.sum(axis=-1, keepdims=True))
    prior = np.where(np.isnan(prior), 0.0, prior)
    scores: Floats = prior - 0.5 * terms.sum(axis=-1)
    return scores
