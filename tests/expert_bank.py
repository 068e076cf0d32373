"""A bank of experts in a few lines: filters that forget differently, and their ML-Poly mixture."""

import numpy as np

from dfop.core import Filter

MU = np.concatenate([[0.0], np.geomspace(1e-4, 0.5, 13)])


def experts(X, y, *, mus=MU, intercept=True):
    """One-step-ahead predictions, (rows, experts)."""
    X, Y = np.ascontiguousarray(X, float), np.ascontiguousarray(y, float)[:, None]
    out = np.empty((len(mus), *Y.shape))
    for mu, yhat in zip(mus, out, strict=True):
        filter_ = Filter(X.shape[1], 1, intercept, 100.0, 1e6)
        filter_.learn(X, Y, np.array([1 - mu]), np.array([1.0]), yhat)
    return np.ascontiguousarray(out[:, :, 0].T)


def mixture(X, y, *, mus=MU):
    """Predictions of the mixture (Gaillard, Stoltz, van Erven 2014), clipped to labels seen."""
    F = experts(X, y, mus=mus)
    out = np.empty(len(y))
    regret, squares, largest = np.zeros(len(mus)), np.zeros(len(mus)), 1e-300
    low, high = 0.0, 0.0
    for t, target in enumerate(y):
        f = np.clip(F[t], low, high)
        w = np.maximum(regret, 0) / (largest + squares)
        out[t] = w @ f / w.sum() if w.sum() > 0 else f.mean()
        r = 2 * (out[t] - target) * (out[t] - f)
        regret, squares, largest = regret + r, squares + r * r, max(largest, (r * r).max())
        low, high = (min(low, target), max(high, target)) if t else (target, target)
    return out


def moving_target(kind, n, d, seed):
    """Rows and targets whose weights walk, jump or whose noise changes."""
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d))
    W = np.cumsum(0.01 * rng.normal(size=(n, d)), axis=0)
    noise = rng.normal(size=n)
    if kind == "jumps":
        W = np.repeat(rng.normal(size=(-(-n // 500), d)), 500, axis=0)[:n]
    elif kind == "heavy tails":
        noise = rng.laplace(size=n)
    elif kind == "noise comes and goes":
        noise *= np.exp(np.sin(2 * np.pi * np.arange(n) / 2000))
    elif kind == "noise jumps":
        noise *= np.where((np.arange(n) // 1000) % 2, 3.0, 1.0)
    return X, (X * W).sum(axis=1) + noise
