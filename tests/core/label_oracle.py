"""The experts of class labels in plain NumPy, from their formulas.

Gaussian naive Bayes and the discriminant keep all rows and work out means, variances and scatter
anew from them; majority and prototypes go row by row. `weight` is what a row counts when it comes,
`discount` by how much everything before it has faded.
"""

import numpy as np


def standardised(X, seen):
    """Each row by the mean and spread of the rows seen before it, at most 4 spreads out."""
    z = np.zeros_like(X)
    for t in range(len(X)):
        before = X[:t][seen[:t]]
        if len(before):
            spread = before.std(axis=0)
            gap = X[t] - before.mean(axis=0)
            z[t] = np.clip(
                np.divide(gap, spread, out=np.zeros_like(gap), where=spread > 0), -4.0, 4.0
            )
    return z


def shares(scores, weights):
    """Probabilities of the classes that count, from logarithms."""
    p = np.zeros(len(scores))
    counts = weights > 0
    if counts.any():
        p[counts] = np.exp(scores[counts] - scores[counts].max())
        p /= p.sum()
    return p


class RememberedRows:
    """All rows with their classes and what they still count."""

    def __init__(self, features, classes):
        self.rows, self.labels = np.empty((0, features)), np.empty(0, int)
        self.weights, self.classes = np.empty(0), classes

    def fade(self, discount):
        self.weights = self.weights * discount

    def add(self, row, c, weight):
        self.rows, self.labels = np.vstack([self.rows, row]), np.append(self.labels, c)
        self.weights = np.append(self.weights, weight)

    def of(self, c):
        return self.rows[self.labels == c], self.weights[self.labels == c]

    def by_class(self):
        return np.bincount(self.labels, self.weights, self.classes)


def mean_and_squares(rows, weights):
    mean = np.average(rows, axis=0, weights=weights)
    return mean, np.average((rows - mean) ** 2, axis=0, weights=weights)


class OracleMajority:
    def __init__(self, features, classes):
        self.weights = np.zeros(classes)

    def predict(self, x, z):
        return self.weights / self.weights.sum() if self.weights.any() else self.weights

    def learn(self, x, z, c, discount, weight):
        self.weights = self.weights * discount
        self.weights[c] += weight


class OracleGaussianBayes:
    PRIOR, LEAST, FARTHEST = 3.0, 1e-3, 10.0

    def __init__(self, features, classes):
        self.past = RememberedRows(features, classes)
        self.mean, self.variance = np.zeros((2, classes, features))

    def predict(self, x, z):
        weights, scores = self.past.by_class(), np.zeros(len(self.mean))
        for c in np.flatnonzero(weights):
            v = self.variance[c]
            on = v > 0
            far = np.minimum((x - self.mean[c])[on] ** 2 / v[on], self.FARTHEST**2)
            scores[c] = np.log(weights[c]) - 0.5 * (far + np.log(v[on])).sum()
        return shares(scores, weights)

    def learn(self, x, z, c, discount, weight):
        before = np.ptp(self.past.rows, axis=0) > 0 if len(self.past.rows) else np.zeros(len(x))
        self.past.fade(discount)
        self.past.add(x, c, weight)
        varies = np.ptp(self.past.rows, axis=0) > 0
        anew = [c] if varies.sum() == before.sum() else np.unique(self.past.labels)
        _, overall = mean_and_squares(self.past.rows, self.past.weights)
        for k in anew:
            rows, weights = self.past.of(k)
            self.mean[k], own = mean_and_squares(rows, weights)
            n = weights.sum()
            v = (n * own + self.PRIOR * overall) / (n + self.PRIOR) + self.LEAST * overall
            self.variance[k] = np.where(varies, v, 0.0)


class OracleDiscriminant:
    PRIOR = 10.0

    def __init__(self, features, classes):
        self.past = RememberedRows(features, classes)
        self.prior = self.PRIOR
        self.mean, self.direction = np.zeros((2, classes, features))

    def predict(self, x, z):
        weights = self.past.by_class()
        with np.errstate(divide="ignore"):
            scores = np.log(weights) + ((z - self.mean / 2) * self.direction).sum(axis=1)
        return shares(scores, weights)

    def learn(self, x, z, c, discount, weight):
        self.prior *= discount
        self.past.fade(discount)
        self.past.add(z, c, weight)
        S, n = self.prior * np.eye(len(z)), self.prior
        for k in np.unique(self.past.labels):
            rows, weights = self.past.of(k)
            gaps = rows - np.average(rows, axis=0, weights=weights)
            S = S + (gaps * weights[:, None]).T @ gaps
            n += weights[1:].sum()  # the first row of a class tells no scatter
        rows, weights = self.past.of(c)
        self.mean[c] = np.average(rows, axis=0, weights=weights)
        self.direction[c] = n * np.linalg.solve(S, self.mean[c])


class OraclePrototypes:
    """Means in single precision, as theirs are: rounding must not decide otherwise."""

    MOST, FAR, FAR_IF_WRONG, LEAST_STEP, MEMORY = 128, 1.5, 0.75, 0.02, 0.998
    TIE = 1e-9

    def __init__(self, features, classes):
        self.classes, self.distances, self.rows = classes, 0.0, 0.0
        self.mean = np.zeros((self.MOST, features), np.float32)
        self.weights, self.labels = np.zeros(self.MOST), np.zeros(self.MOST, int)
        self.changed = np.zeros(features, bool)

    def squared(self, z):
        sums = np.zeros(self.MOST, np.float32)
        for j, zj in enumerate(z.astype(np.float32)):
            sums += (self.mean[:, j] - zj) * (self.mean[:, j] - zj)
        return sums

    @property
    def typical(self):
        return (self.distances + self.changed.sum()) / (self.rows + 1)

    def predict(self, x, z):
        used = self.weights > 0
        if not used.any():
            return np.zeros(self.classes)
        gaps = self.squared(z)[used].astype(float)
        gaps -= gaps.min()
        width = 2 * self.typical / self.changed.sum() if self.changed.any() else np.inf
        votes = self.weights[used] * np.where(gaps / width < 30, np.exp(-gaps / width), 0.0)
        p = np.bincount(self.labels[used], votes, self.classes)
        return p / p.sum()

    def learn(self, x, z, c, discount, weight):
        p = self.predict(x, z)
        wrong = (p >= p.max() - self.TIE).argmax() != c
        self.weights *= discount
        squared = self.squared(z)
        own = np.flatnonzero((self.weights > 0) & (self.labels == c))
        apart = True
        if len(own):
            nearest = own[squared[own].argmin()]
            distance = float(squared[nearest])
            apart = distance > (self.FAR_IF_WRONG if wrong else self.FAR) * self.typical
            self.distances = self.MEMORY * self.distances + weight * distance
            self.rows = self.MEMORY * self.rows + weight
        if apart:
            i = self.weights.argmin()
            self.weights[i], self.labels[i], self.mean[i] = weight, c, z.astype(np.float32)
        else:
            self.weights[nearest] += weight
            step = np.float32(max(weight / self.weights[nearest], self.LEAST_STEP))
            self.mean[nearest] += step * (z.astype(np.float32) - self.mean[nearest])
        self.changed |= z != 0


ORACLES = {
    "majority": OracleMajority,
    "gaussian_bayes": OracleGaussianBayes,
    "discriminant": OracleDiscriminant,
    "prototypes": OraclePrototypes,
}
