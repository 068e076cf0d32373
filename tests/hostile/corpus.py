"""Streams made to break forgetting least squares, each under a name that says how.

A stream is rows, targets, and where needed discounts and weights. `fair` says whether its
one-step-ahead errors may be held against those of predicting 0 always; where they may not, the
reason is given, and only that all numbers stay finite is demanded.
"""

from dataclasses import dataclass, field

import numpy as np

NOT_FAIR_NOISE = "the targets are noise: any learner that follows them is worse than 0"
NOT_FAIR_JUMPS = "a weight learned at one size is applied at another, before it can be corrected"
NOT_FAIR_TARGETS = "targets span 1e300: one row decides the error"
NOT_FAIR_LEAP = "each discount forgets nearly all, so that every row is predicted from one row"


@dataclass
class Stream:
    X: np.ndarray
    y: np.ndarray
    arguments: dict = field(default_factory=dict)
    fair: str = ""
    """Why predictions cannot be held against predicting 0; empty where they can."""


STREAMS = {}


def stream(make):
    STREAMS[make.__name__] = make
    return make


def generate(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    return STREAMS[name](rng)


def linear(rng, X, noise=0.1):
    w = rng.normal(size=X.shape[1])
    return X @ w + noise * rng.normal(size=len(X))


@stream
def silent_feature_wakes(rng):
    X = rng.normal(size=(102_000, 3))
    X[1_000:101_000, 1] = 0.0
    return Stream(X, linear(rng, X))


@stream
def feature_first_seen_late(rng):
    X = rng.normal(size=(102_000, 3))
    X[:101_000, 1] = 0.0
    return Stream(X, linear(rng, X))


@stream
def rounding_noise_wakes(rng):
    X = rng.normal(size=(4_000, 3))
    X[:2_000, 1] *= 1e-17
    return Stream(X, linear(rng, X))


@stream
def constant_column(rng):
    X = rng.normal(size=(5_000, 3))
    X[:, 1] = 7.0
    return Stream(X, linear(rng, X))


@stream
def all_columns_constant(rng):
    X = np.tile([1.0, -3.0, 1e6], (5_000, 1))
    return Stream(X, 2.0 + 0.1 * rng.normal(size=5_000))


@stream
def duplicate_columns(rng):
    X = np.repeat(rng.normal(size=(5_000, 2)), 4, axis=1)
    return Stream(X, linear(rng, X))


@stream
def collinear_columns(rng):
    X = rng.normal(size=(5_000, 6))
    X[:, 5] = X[:, :5].sum(axis=1)
    return Stream(X, linear(rng, X))


@stream
def nearly_collinear_columns(rng):
    X = rng.normal(size=(5_000, 6))
    X[:, 5] = X[:, :5].sum(axis=1) * (1.0 + 1e-13 * rng.normal(size=5_000))
    return Stream(X, linear(rng, X))


@stream
def scales_per_column(rng):
    X = rng.normal(size=(3_000, 7))
    y = linear(rng, X)
    return Stream(X * np.array([1e-150, 1e-50, 1e-5, 1.0, 1e5, 1e50, 1e149]), y)


@stream
def scales_per_row(rng):
    X = rng.normal(size=(3_000, 4)) * 10.0 ** rng.uniform(-150, 149, size=(3_000, 1))
    return Stream(X, rng.choice([-1.0, 1.0], 3_000), fair=NOT_FAIR_JUMPS)


@stream
def scales_per_entry(rng):
    X = rng.normal(size=(3_000, 4)) * 10.0 ** rng.uniform(-150, 149, size=(3_000, 4))
    return Stream(X, rng.choice([-1.0, 1.0], 3_000), fair=NOT_FAIR_JUMPS)


@stream
def scales_and_targets_per_entry(rng):
    X = rng.normal(size=(3_000, 4)) * 10.0 ** rng.uniform(-150, 149, size=(3_000, 4))
    y = rng.normal(size=3_000) * 10.0 ** rng.uniform(-150, 149, size=3_000)
    return Stream(X, y, fair=NOT_FAIR_TARGETS)


@stream
def scales_in_blocks(rng):
    """Each column keeps a size for a while and then leaps to another."""
    sizes = 10.0 ** rng.uniform(-150, 149, size=(12, 6))
    X = rng.normal(size=(3_000, 6)) * np.repeat(sizes, 250, axis=0)
    y = rng.normal(size=3_000) * 10.0 ** np.repeat(rng.uniform(-150, 149, 12), 250)
    return Stream(X, y, fair=NOT_FAIR_TARGETS)


@stream
def at_the_limit(rng):
    X = rng.choice([-1.0, 1.0, 0.5, 1.0 - 2.0**-53], size=(2_000, 3)) * 2.0**500
    return Stream(X, rng.choice([-1.0, 1.0], size=2_000) * 2.0**500, fair=NOT_FAIR_NOISE)


@stream
def around_the_smallest(rng):
    X = rng.normal(size=(2_000, 3)) * 2.0 ** rng.integers(-505, -495, size=(2_000, 3))
    return Stream(X, 2.0 + 0.1 * rng.normal(size=2_000))


@stream
def subnormal_numbers(rng):
    X = rng.choice([5e-324, -5e-324, 1e-310, 0.0], size=(2_000, 3))
    return Stream(X, 2.0 + 0.1 * rng.normal(size=2_000))


@stream
def subnormal_targets(rng):
    X = rng.normal(size=(2_000, 3))
    return Stream(X, rng.choice([5e-324, -5e-324, 1e-310], size=2_000), fair=NOT_FAIR_NOISE)


@stream
def all_zero_rows(rng):
    X = rng.normal(size=(20_000, 3))
    X[rng.random(20_000) < 0.9] = 0.0
    X[5_000:15_000] = 0.0
    return Stream(X, linear(rng, X))


@stream
def nothing_but_zeros(rng):
    return Stream(np.zeros((5_000, 3)), np.zeros(5_000))


@stream
def sparse_binary_500(rng):
    X = (rng.random((4_000, 500)) < 0.01).astype(float)
    return Stream(X, linear(rng, X) + 3.0)


@stream
def labels_flip_every_row(rng):
    X = rng.normal(size=(20_000, 3))
    return Stream(X, (-1.0) ** np.arange(20_000), fair=NOT_FAIR_NOISE)


@stream
def one_class_only(rng):
    return Stream(rng.normal(size=(20_000, 3)), np.ones(20_000))


@stream
def jump_and_back(rng):
    X = rng.normal(size=(6_000, 3))
    y = linear(rng, X)
    X[2_000, 1] *= 1e12
    X[4_000:4_010, 2] *= 1e12
    return Stream(X, y, fair=NOT_FAIR_JUMPS)


@stream
def jump_back_and_forth(rng):
    X = rng.normal(size=(6_000, 3))
    y = linear(rng, X)
    X[1::2, 1] *= 1e12
    return Stream(X, y, fair=NOT_FAIR_JUMPS)


@stream
def growing_without_end(rng):
    """Every row is a little larger than all before it."""
    X = rng.normal(size=(3_000, 3)) * 10.0 ** np.linspace(-150, 149, 3_000)[:, np.newaxis]
    return Stream(X, rng.choice([-1.0, 1.0], 3_000), fair=NOT_FAIR_NOISE)


@stream
def alternating_silent_groups(rng):
    X = rng.normal(size=(20_000, 8))
    group = (np.arange(20_000) // 500) % 2
    X[group == 0, :4] = 0.0
    X[group == 1, 4:] = 0.0
    return Stream(X, linear(rng, X))


@stream
def one_feature_at_a_time(rng):
    X = np.zeros((10_000, 10))
    X[np.arange(10_000), rng.integers(0, 10, 10_000)] = rng.normal(size=10_000)
    return Stream(X, linear(rng, X))


@stream
def discounts_down_to_1e_300(rng):
    X = rng.normal(size=(3_000, 4))
    lam = np.where(rng.random(3_000) < 0.2, 10.0 ** -rng.uniform(0, 300, 3_000), 0.99)
    return Stream(X, linear(rng, X), {"discount": lam}, fair=NOT_FAIR_LEAP)


@stream
def small_discounts_and_uneven_scales(rng):
    """What makes P = U D U' grow through U where only D is limited."""
    X = rng.normal(size=(3_000, 5)) * 10.0 ** rng.uniform(-12, 12, size=(3_000, 5))
    lam = np.where(rng.random(3_000) < 0.2, 10.0 ** -rng.uniform(0, 300, 3_000), 0.9)
    return Stream(X, rng.choice([-1.0, 1.0], 3_000), {"discount": lam}, fair=NOT_FAIR_LEAP)


@stream
def everything_at_once(rng):
    sizes = 10.0 ** rng.uniform(-150, 149, size=(12, 6))
    X = rng.normal(size=(3_000, 6)) * np.repeat(sizes, 250, axis=0)
    y = rng.normal(size=3_000) * 10.0 ** rng.uniform(-150, 149, size=3_000)
    lam = np.where(rng.random(3_000) < 0.3, 10.0 ** -rng.uniform(0, 300, 3_000), 0.9)
    return Stream(X, y, {"discount": lam}, fair=NOT_FAIR_TARGETS)


@stream
def huge_and_tiny_weights(rng):
    X = rng.normal(size=(3_000, 4))
    weight = 10.0 ** rng.uniform(-200, 25, 3_000) * (rng.random(3_000) < 0.9)
    weight[0] = 1.0
    return Stream(
        X, linear(rng, X), {"sample_weight": weight}, fair="the errors are not weighted here"
    )


@stream
def tiny_weights_at_rising_scales(rng):
    """Rows that raise the scale of their features without teaching anything."""
    X = np.abs(rng.normal(size=(600, 3))) * 2.0 ** np.linspace(-490, 490, 600)[:, np.newaxis]
    weight = np.where(np.arange(600) < 20, 1e25, 1e-55)
    y = rng.choice([-1.0, 1.0], 600) * 2.0**499
    return Stream(X, y, {"sample_weight": weight}, fair=NOT_FAIR_NOISE)


def adversary(seed):
    """A stream drawn at random from sizes, silences, collinearity and discounts without mercy."""
    rng = np.random.default_rng(seed)
    n, d = 400, int(rng.integers(2, 7))
    kind = rng.integers(4)
    if kind == 0:  # a size per column
        size = rng.uniform(-150, 150, d) + rng.uniform(-1, 1, (n, d))
    elif kind == 1:  # per entry
        size = rng.uniform(-150, 150, (n, d))
    elif kind == 2:  # in blocks
        size = rng.uniform(-150, 150, (8, d))[np.sort(rng.integers(0, 8, n))]
    else:  # of three levels
        size = rng.choice(rng.uniform(-150, 150, 3), (n, d))
    X = rng.choice([-1.0, 1.0], (n, d)) * 10.0 ** np.clip(size, -300, 150)
    X *= rng.random((n, d)) < rng.uniform(0.05, 1.5)
    if rng.random() < 0.4:
        a, b = rng.choice(d, 2, replace=False)
        X[:, a] = np.clip(X[:, b] * 10.0 ** rng.uniform(-50, 50), -1e150, 1e150)
    start, end = np.sort(rng.integers(0, n, 2))
    X[start:end, rng.integers(d)] *= rng.integers(2)
    y = rng.normal(size=n) * 10.0 ** rng.uniform(-150, 149, n if rng.random() < 0.5 else 1)
    lam = np.full(n, rng.choice([1.0, 0.999, 0.99, 0.9, 0.5]))
    if rng.random() < 0.7:
        leaps = rng.random(n) < rng.uniform(0.0, 0.3)
        lam = np.where(leaps, 10.0 ** -rng.uniform(0, 300, n), lam)
    return Stream(X, y, {"discount": lam}, fair=NOT_FAIR_TARGETS)
