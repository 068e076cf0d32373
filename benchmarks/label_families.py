"""Families of streams with class labels; see `families`."""

import numpy as np

from recipes import flipped, halves, labels, part, random_tree, runs, walk

# -- trees, steps, rules, categories --------------------------------------------------------------


@labels
def tree(rng, n):
    """Classes are the leaves of a tree, 5 levels deep."""
    X = rng.random((n, 7))
    return X, flipped(rng, rng.integers(0, 3, 32)[random_tree(rng, 7, 5)(X)], 0.05)


@labels
def tree_that_changes(rng, n):
    """Another tree in every third of the stream."""
    X, leaves = rng.random((n, 6)), rng.integers(0, 2, (3, 16))
    y = np.empty(n, dtype=np.int64)
    for k in range(3):
        at = part(n, 3) == k
        y[at] = leaves[k][random_tree(rng, 6, 4)(X[at])]
    return X, flipped(rng, y, 0.05)


@labels
def tree_among_noise(rng, n):
    """A tree on 30 columns of which it uses a few."""
    X = rng.random((n, 30))
    return X, flipped(rng, rng.integers(0, 2, 32)[random_tree(rng, 30, 5)(X)], 0.05)


@labels
def tree_on_skewed(rng, n):
    """A tree on columns of very different shapes."""
    U = rng.random((n, 6))
    X = np.column_stack([-np.log(U[:, :2]), U[:, 2:4] ** 4, np.exp(5 * U[:, 4:])])
    return X, flipped(rng, rng.integers(0, 4, 32)[random_tree(rng, 6, 5)(U)], 0.05)


@labels
def steps(rng, n):
    """A sum of steps, each in one column."""
    X = rng.uniform(-1, 1, (n, 8))
    score = ((rng.uniform(-0.6, 0.6, 8) < X) * rng.normal(size=8)).sum(axis=1)
    return X, halves(score + 0.3 * rng.normal(size=n))


@labels
def rules(rng, n):
    """Approval by rules over incomes, ages and codes."""
    income, age = rng.lognormal(10, 0.7, n), rng.integers(18, 80, n)
    grade, region = rng.integers(0, 6, n), rng.integers(0, 12, n)
    yes = np.where(age < 40, (income > 2e4) & (grade >= 3), np.isin(region, [1, 4, 7, 8]))
    yes |= (age > 65) & (income > 5e4)
    return np.column_stack([income, age, grade, region, rng.normal(size=(n, 2))]), flipped(
        rng, yes, 0.06
    )


@labels
def rules_that_change(rng, n):
    """Three sets of rules after each other over the same columns."""
    X, _ = rules(rng, n)
    first = (X[:, 1] < 35) ^ np.isin(X[:, 3], [0, 5, 9])
    second = (X[:, 0] > 3e4) & (X[:, 2] < 4)
    third = np.isin(X[:, 3], [2, 3, 6, 10]) | (X[:, 1] > 60)
    return X, flipped(rng, np.choose(part(n, 3), [first, second, third]), 0.06)


@labels
def codes(rng, n):
    """Categories coded as integers, their effects add up."""
    K = rng.integers(0, 14, (n, 5))
    effects = rng.normal(size=(14, 5))
    return K, halves(effects[K, np.arange(5)].sum(axis=1) + 0.6 * rng.normal(size=n))


@labels
def codes_in_a_tree(rng, n):
    """One code decides which number counts."""
    K, U = rng.integers(0, 5, (n, 4)), rng.random((n, 4))
    y = U[np.arange(n), K[:, 0] % 4] > 0.3 + 0.4 * (K[:, 1] == 2)
    return np.column_stack([K, U]), flipped(rng, y ^ (K[:, 2] == 3), 0.04)


@labels
def one_hot_pairs(rng, n):
    """Pairs of categories, each coded as columns of 0 and 1: 28 columns."""
    K = rng.integers(0, 7, (n, 4))
    table, other = rng.normal(size=(7, 7)), rng.normal(size=7)
    score = table[K[:, 0], K[:, 1]] + other[K[:, 2]]
    X = np.concatenate([np.eye(7)[K[:, j]] for j in range(4)], axis=1)
    return X, halves(score + 0.4 * rng.normal(size=n))


@labels
def digits_of_lamps(rng, n):
    """Ten digits on seven lamps that fail, beside 10 lamps that mean nothing."""
    shape = rng.integers(0, 2, (10, 7))
    y = rng.integers(0, 10, n)
    lamps = shape[y] ^ (rng.random((n, 7)) < 0.1)
    return np.column_stack([lamps, rng.integers(0, 2, (n, 10))]), y


# -- local structure ------------------------------------------------------------------------------


@labels
def checkerboard(rng, n):
    """A board of 4 x 4 fields."""
    X = rng.uniform(0, 4, (n, 2))
    return X, flipped(rng, np.floor(X).sum(axis=1) % 2, 0.05)


@labels
def patchwork(rng, n):
    """A board of 6 x 6 fields of five classes."""
    X = rng.uniform(0, 6, (n, 2))
    return X, rng.integers(0, 5, (6, 6))[X[:, 0].astype(int), X[:, 1].astype(int)]


@labels
def turning_board(rng, n):
    """A board of 3 x 3 fields that turns."""
    X, angle = rng.uniform(-1.5, 1.5, (n, 2)), np.linspace(0, 1.5, n)
    u = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1]
    v = np.cos(angle) * X[:, 1] - np.sin(angle) * X[:, 0]
    return X, flipped(rng, (np.floor(u + 9.5) + np.floor(v + 9.5)) % 2, 0.03)


@labels
def rings(rng, n):
    """Three rings around each other among two columns of noise."""
    y, angle = rng.integers(0, 3, n), rng.uniform(0, 2 * np.pi, n)
    radius = 1 + y + 0.25 * rng.normal(size=n)
    return np.column_stack(
        [radius * np.cos(angle), radius * np.sin(angle), rng.normal(size=(n, 2))]
    ), y


@labels
def shells(rng, n):
    """One class around the other in 12 columns."""
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 12)) * (1 + 0.6 * y)[:, None], y


@labels
def spirals(rng, n):
    """Two spirals."""
    y, t = rng.integers(0, 2, n), rng.uniform(0.3, 1, n)
    angle = 7 * t + np.pi * y
    X = np.column_stack([t * np.cos(angle), t * np.sin(angle)])
    return X + 0.05 * rng.normal(size=(n, 2)), y


@labels
def islands(rng, n):
    """40 small clusters of 4 classes in 8 columns."""
    centres, of = rng.random((40, 8)), rng.integers(0, 4, 40)
    at = rng.integers(0, 40, n)
    return centres[at] + rng.uniform(0.04, 0.14, 40)[at][:, None] * rng.normal(size=(n, 8)), of[at]


@labels
def drifting_islands(rng, n):
    """24 clusters that move, each its way."""
    centres, of = rng.random((24, 6)), rng.integers(0, 3, 24)
    speed, at = rng.normal(size=(24, 6)), rng.integers(0, 24, n)
    where = centres[at] + 0.6 * speed[at] * np.linspace(0, 1, n)[:, None]
    return where + 0.1 * rng.normal(size=(n, 6)), of[at]


@labels
def products(rng, n):
    """The sign of a product and a square among 26 columns."""
    X = rng.normal(size=(n, 26))
    score = X[:, 0] * X[:, 1] + 0.7 * (X[:, 2] ** 2 - 1) + 0.5 * X[:, 3]
    return X, halves(score + 0.3 * rng.normal(size=n))


@labels
def parity(rng, n):
    """Whether an even number of three columns is positive."""
    X = rng.normal(size=(n, 6))
    return X, flipped(rng, (X[:, :3] > 0).sum(axis=1) % 2, 0.05)


# -- classes: normal, many, rare ------------------------------------------------------------------


@labels
def normal_classes(rng, n):
    """Six classes with means and spreads of their own."""
    y = rng.integers(0, 6, n)
    mean, spread = 0.9 * rng.normal(size=(6, 8)), rng.uniform(0.4, 1.6, (6, 8))
    return mean[y] + spread[y] * rng.normal(size=(n, 8)), y


@labels
def classes_26(rng, n):
    """26 classes in 10 columns."""
    y = rng.integers(0, 26, n)
    return 1.3 * rng.normal(size=(26, 10))[y] + rng.normal(size=(n, 10)), y


@labels
def classes_60_correlated(rng, n):
    """60 classes whose columns belong together."""
    y, mix = rng.integers(0, 60, n), rng.normal(size=(12, 12)) / 3
    return 1.2 * rng.normal(size=(60, 12))[y] + rng.normal(size=(n, 12)) @ mix, y


@labels
def classes_100(rng, n):
    """100 classes, common ones and rare ones."""
    share = 1 / np.arange(1, 101)
    y = rng.choice(100, n, p=share / share.sum())
    return 1.8 * rng.normal(size=(100, 8))[y] + rng.normal(size=(n, 8)), y


@labels
def classes_30_moving(rng, n):
    """30 classes that move."""
    y, t = rng.integers(0, 30, n), np.linspace(0, 1, n)[:, None]
    where = 2 * rng.normal(size=(30, 5))[y] + 1.5 * t * rng.normal(size=(30, 5))[y]
    return where + 0.7 * rng.normal(size=(n, 5)), y


@labels
def letters(rng, n):
    """26 classes of two shapes each on 16 whole numbers."""
    y, form = rng.integers(0, 26, n), rng.integers(0, 2, n)
    shape = rng.uniform(1, 14, (26, 2, 16))
    return np.clip(np.round(shape[y, form] + 2 * rng.normal(size=(n, 16))), 0, 15), y


@labels
def classes_come_and_go(rng, n):
    """12 classes, four of them at a time."""
    y = (rng.integers(0, 4, n) + 2 * part(n, 5)) % 12
    return 1.2 * rng.normal(size=(12, 6))[y] + rng.normal(size=(n, 6)), y


@labels
def rare_class(rng, n):
    """One row in twenty is of the class that matters."""
    X = rng.normal(size=(n, 8))
    score = X[:, 0] + X[:, 1] ** 2 + 0.6 * rng.normal(size=n)
    return X, score > np.quantile(score, 0.95)


# -- sticky labels, heavy tails, noise ------------------------------------------------------------


@labels
def sticky(rng, n):
    """Labels that stay for 30 rows; the columns tell little."""
    y = runs(rng, n, 0.97, 3)
    return rng.normal(size=(n, 5)) + 0.4 * np.eye(3, 5)[y], y


@labels
def sticky_with_columns(rng, n):
    """Labels that stay for 7 rows; the columns tell as much."""
    y = runs(rng, n, 0.85, 2)
    X = rng.normal(size=(n, 5)) * (1 + 0.7 * y)[:, None]
    X[:, 0] += 1.2 * y
    return X, y


@labels
def alternating(rng, n):
    """The other class comes next, most of the time."""
    y = runs(rng, n, 0.15, 2)
    return rng.normal(size=(n, 4)) + 0.5 * np.eye(2, 4)[y], y


@labels
def heavy_tails(rng, n):
    """Columns with far outliers; only their moderate values count."""
    X = rng.standard_t(1.8, (n, 10))
    return X, halves(np.clip(X, -2, 2) @ rng.normal(size=10) + 0.5 * rng.normal(size=n))


@labels
def sparse_heavy_wide(rng, n):
    """50 columns, mostly 0, else without a bound."""
    X = np.abs(rng.standard_t(1.5, (n, 50))) * (rng.random((n, 50)) < 0.25)
    score = np.minimum(X, 2) @ rng.normal(size=50)
    return X, halves(score + 0.4 * score.std() * rng.normal(size=n))


@labels
def noise(rng, n):
    """Nothing can be learned but which class comes more often."""
    return rng.normal(size=(n, 8)), rng.random(n) < 0.55


# -- wide -----------------------------------------------------------------------------------------


@labels
def wide_linear(rng, n):
    """60 columns of which 8 count."""
    X = rng.normal(size=(n, 60))
    return X, rng.random(n) < 1 / (1 + np.exp(-X[:, :8] @ rng.normal(size=8)))


@labels
def wide_curved(rng, n):
    """8 regions of five causes, seen through 40 bent columns."""
    causes = rng.normal(size=(n, 5))
    X = np.tanh(causes @ rng.normal(size=(5, 40))) + 0.3 * rng.normal(size=(n, 40))
    centres = 1.3 * rng.normal(size=(8, 5))
    return X, ((causes[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)


@labels
def wide_clusters(rng, n):
    """10 classes of four clusters each in 48 correlated columns."""
    at, mix = rng.integers(0, 40, n), rng.normal(size=(48, 48)) / 7
    return 0.35 * rng.normal(size=(40, 48))[at] + 0.5 * rng.normal(size=(n, 48)) @ mix, at % 10


@labels
def wide_pictures(rng, n):
    """10 classes of small pictures, 8 x 8 points, that shift."""
    at, shift = rng.integers(0, 30, n), rng.integers(-1, 2, n)
    picture = (rng.random((30, 8, 8)) < 0.35)[at].astype(float)
    columns = (np.arange(8) - shift[:, None]) % 8
    moved = np.take_along_axis(picture, columns[:, None, :], axis=2).reshape(n, 64)
    return np.round(
        16 * (moved * rng.uniform(0.6, 1, (n, 1)) + 0.25 * rng.normal(size=(n, 64)))
    ), at % 10


# -- drift ----------------------------------------------------------------------------------------


@labels
def turning_plane(rng, n):
    """A plane that turns all the time."""
    X, angle = rng.normal(size=(n, 10)), np.linspace(0, 4, n)[:, None]
    w = np.cos(angle) * rng.normal(size=10) + np.sin(angle) * rng.normal(size=10)
    return X, flipped(rng, (X * w).sum(axis=1) > 0, 0.08)


@labels
def wandering_weights(rng, n):
    """Weights that wander, each for itself."""
    X = rng.normal(size=(n, 8))
    return X, (X * walk(rng, n, 8, 0.02)).sum(axis=1) + 0.3 * rng.normal(size=n) > 0


@labels
def jumping_plane(rng, n):
    """Another plane every tenth of the stream."""
    X = rng.normal(size=(n, 6))
    return X, flipped(rng, (X * rng.normal(size=(10, 6))[part(n, 10)]).sum(axis=1) > 0, 0.05)


@labels
def recurring(rng, n):
    """Two curved concepts that take turns."""
    X, second = rng.uniform(-1, 1, (n, 3)), part(n, 8) % 2
    wave, disc = np.sin(4 * X[:, 0]) > X[:, 1], X[:, 0] ** 2 + X[:, 2] ** 2 < 0.6
    return X, np.where(second, disc, wave)


@labels
def wandering_columns(rng, n):
    """A board under columns whose level wanders."""
    X = rng.normal(size=(n, 4)) + np.linspace(0, 5, n)[:, None] * rng.normal(size=4)
    return X, np.floor(X[:, :2]).sum(axis=1) % 2
