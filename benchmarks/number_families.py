"""Families of streams with numbers to predict; see `families`."""

import numpy as np

from recipes import numbers, part, random_tree, walk


def lagged(y, *lags):
    """Return earlier values as columns, 0 before there are any."""
    return np.column_stack([np.concatenate([np.zeros(k), y[:-k]]) for k in lags])


@numbers
def number_tree(rng, n):
    """The value of a leaf of a tree."""
    X = rng.random((n, 6))
    return X, 2 * rng.normal(size=32)[random_tree(rng, 6, 5)(X)] + 0.4 * rng.normal(size=n)


@numbers
def number_steps(rng, n):
    """A sum of steps and one slope."""
    X = rng.uniform(-1, 1, (n, 7))
    y = ((rng.uniform(-0.5, 0.5, 7) < X) * rng.uniform(-3, 3, 7)).sum(axis=1)
    return X, y + X[:, 0] + 0.6 * rng.normal(size=n)


@numbers
def two_planes(rng, n):
    """One plane or another, as the first column decides."""
    X, w = rng.normal(size=(n, 6)), rng.normal(size=(2, 6))
    return X, np.where(X[:, 0] > 0, X @ w[0] + 2, X @ w[1]) + 0.5 * rng.normal(size=n)


@numbers
def hours(rng, n):
    """Demand by hour and day of the week, as whole numbers."""
    t = np.arange(n)
    hour, day, profile = t % 24, t // 24 % 7, 3 * rng.normal(size=24)
    y = np.where(day < 5, profile[hour], 0.5 * profile[(hour + 4) % 24] - 2)
    return np.column_stack([hour, day, rng.normal(size=(n, 2))]), y + 0.5 * rng.normal(size=n)


@numbers
def waves(rng, n):
    """Sines, a product, and noise that depends on a column."""
    X = rng.uniform(-2, 2, (n, 5))
    y = 2 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, y + (0.2 + np.abs(X[:, 3])) * rng.normal(size=n)


@numbers
def multiplied(rng, n):
    """Causes that multiply."""
    X = rng.normal(size=(n, 5))
    return X, np.exp(X @ (0.5 * rng.normal(size=5))) * np.exp(0.2 * rng.normal(size=n))


@numbers
def curves_that_change(rng, n):
    """A curved function of five columns, then of five others."""
    X = rng.random((n, 10))
    Z = np.where(part(n, 2)[:, None] == 0, X[:, :5], X[:, 5:])
    y = 10 * np.sin(np.pi * Z[:, 0] * Z[:, 1]) + 20 * (Z[:, 2] - 0.5) ** 2 + 10 * Z[:, 3]
    return X, y + 5 * Z[:, 4] + rng.normal(size=n)


@numbers
def wandering_numbers(rng, n):
    """Weights that wander."""
    X = rng.normal(size=(n, 6))
    return X, (X * walk(rng, n, 6, 0.03)).sum(axis=1) + 0.5 * rng.normal(size=n)


@numbers
def jumping_numbers(rng, n):
    """Other weights every eighth of the stream."""
    X = rng.normal(size=(n, 8))
    return X, (X * rng.normal(size=(8, 8))[part(n, 8)]).sum(axis=1) + 0.5 * rng.normal(size=n)


@numbers
def trend(rng, n):
    """A level that rises all the time, and noise columns."""
    slope = rng.uniform(0.002, 0.01)
    return rng.normal(size=(n, 4)), slope * np.arange(n) + np.cumsum(0.05 * rng.normal(size=n))


@numbers
def season(rng, n):
    """Daily and weekly season over a slow walk, with values of the past as columns."""
    t = np.arange(n)
    y = 3 * np.sin(2 * np.pi * t / 24) + 2 * np.sin(2 * np.pi * t / 168 + rng.uniform(0, 6))
    y += np.cumsum(0.05 * rng.normal(size=n)) + 0.4 * rng.normal(size=n)
    return np.column_stack([lagged(y, 1, 2, 24), t % 24, t // 24 % 7]), y


@numbers
def autoregression(rng, n):
    """Each value follows from the two before it, columns help a little."""
    X, y = rng.normal(size=(n, 4)), np.zeros(n)
    for t in range(2, n):
        y[t] = 1.4 * y[t - 1] - 0.5 * y[t - 2] + 0.5 * X[t, 0] + rng.normal()
    return np.column_stack([X, lagged(y, 1, 2)]), y


@numbers
def random_walk(rng, n):
    """The last value and noise; the columns tell nothing."""
    return rng.normal(size=(n, 8)), np.cumsum(rng.normal(size=n))


@numbers
def bursts(rng, n):
    """Mostly 0, then a burst that fades."""
    y, level = np.zeros(n), 0.0
    for t in range(n):
        level = rng.exponential(4) if rng.random() < 0.03 else 0.85 * level
        y[t] = np.round(level, 1)
    X = np.column_stack([walk(rng, n, 4, 0.1), rng.normal(size=(n, 3))])
    X[:, 0] += 0.3 * y
    return X, y


@numbers
def heavy_noise(rng, n):
    """A plane under noise with far outliers."""
    X = rng.normal(size=(n, 6))
    return X, X @ rng.normal(size=6) + rng.standard_t(2, n)


@numbers
def wide_numbers(rng, n):
    """40 columns: a bend, a product and a sum of a few of them."""
    X = rng.normal(size=(n, 40))
    y = 3 * np.tanh(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3:8].sum(axis=1)
    return X, y + 0.5 * rng.normal(size=n)
