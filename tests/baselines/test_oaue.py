"""OAUE against a loop that keeps every row and every error."""

import numpy as np
import pytest

from dfop.baselines import OAUEClassifier, OAUERegressor


class StoredNaiveBayes:
    """Naive Bayes probabilities computed anew from stored rows."""

    def __init__(self):
        self.rows, self.labels = [], []

    def learn(self, x, y):
        self.rows.append(x)
        self.labels.append(y)

    def opinion(self, x, classes, floor):
        log = np.full(classes, -np.inf)
        rows, labels = np.array(self.rows), np.array(self.labels)
        for c in set(self.labels):
            own = rows[labels == c]
            variance = (own.var(axis=0, ddof=1) if len(own) > 1 else 0.0) + floor
            log[c] = np.log(len(own) / len(rows)) - 0.5 * np.sum(
                np.log(2 * np.pi * variance) + (x - own.mean(axis=0)) ** 2 / variance
            )
        if not self.labels:
            return np.full(classes, 1.0 / classes)
        p = np.exp(log - log.max())
        return p / p.sum()


class StoredLeastSquares:
    """Ridge regression computed anew from stored rows."""

    def __init__(self):
        self.rows, self.labels = [], []

    def learn(self, x, y):
        self.rows.append([*x, 1.0])
        self.labels.append(y)

    def opinion(self, x, classes, floor):
        if not self.rows:
            return 0.0
        A = np.array(self.rows)
        weights = np.linalg.solve(A.T @ A + np.eye(A.shape[1]) / 100, A.T @ np.array(self.labels))
        return weights @ [*x, 1.0]


def literal(X, y, n_members, d, new_member, classes):
    """One row at a time; `classes` None means regression."""
    members, errors, weights = [], [], []
    candidate, predicted = new_member(), []
    for t in range(len(X)):
        spread = X[:t].var(axis=0, ddof=1).max() if t > 1 else 0.0
        floor = max(1e-9 * spread, 1e-30)
        voters = members or [candidate]
        opinions = [m.opinion(X[t], classes, floor) for m in voters]
        total = sum(w * o for w, o in zip(weights or [1.0], opinions, strict=True))
        predicted.append(total / sum(weights or [1.0]) if classes is None else np.argmax(total))
        for i, opinion in enumerate(opinions[: len(members)]):
            right = opinion - y[t] if classes is None else 1 - opinion[y[t]]
            errors[i].append(right**2)
        for member in [*members, candidate]:
            member.learn(X[t], y[t])
        recent = y[max(t + 1 - d, 0) : t + 1]
        if classes is None:
            mse_random = recent.var()
        else:
            p = np.bincount(recent, minlength=classes) / len(recent)
            mse_random = np.sum(p * (1 - p) ** 2)
        weights = [1 / (mse_random + np.mean(e[-d:]) + 1e-10) for e in errors]
        if (t + 1) % d == 0:
            if len(members) == n_members:
                weakest = int(np.argmin(weights))
                for kept in (members, errors, weights):
                    del kept[weakest]
            members.append(candidate)
            errors.append([])
            weights.append(1 / (mse_random + 1e-10))
            candidate = new_member()
    return np.array(predicted), np.array(weights)


@pytest.mark.parametrize(("n_members", "window"), [(1, 50), (3, 40), (20, 25)])
def test_classification_equals_the_algorithm_as_published(three_classes, n_members, window):
    X, y = three_classes
    codes = np.searchsorted([10, 20, 30], y)
    expected, weights = literal(X, codes, n_members, window, StoredNaiveBayes, 3)
    model = OAUEClassifier(n_members, window)
    np.testing.assert_array_equal(model.predict_then_learn(X, codes), expected)
    np.testing.assert_allclose(model.weights_[:-1], weights, rtol=1e-8)


@pytest.mark.parametrize(("n_members", "window"), [(1, 50), (3, 40)])
def test_regression_equals_its_description(turning, n_members, window):
    X, y = turning
    expected, weights = literal(X, y, n_members, window, StoredLeastSquares, None)
    model = OAUERegressor(n_members, window)
    np.testing.assert_allclose(model.predict_then_learn(X, y), expected, atol=1e-8)
    np.testing.assert_allclose(model.weights_[:-1], weights, rtol=1e-6)


def test_keeps_at_most_the_given_number_of_members(flipping):
    model = OAUEClassifier(n_members=4, window=30).fit(*flipping)
    assert len(model.weights_) == 4 + 1  # and the candidate
    assert model.weights_[-1] == 0.0


def test_recovers_from_a_change(flipping):
    X, y = flipping
    right = OAUEClassifier(window=50).predict_then_learn(X, y) == y
    assert right[:300].mean() > 0.85
    assert right[450:].mean() > 0.85
