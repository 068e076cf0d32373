"""Small models and streams that do one known thing."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier


class Rows:
    """A stream with the promised attributes and nothing else; it cannot tell its length."""

    task = "classification"
    changes = ()

    def __init__(self, X, y, name="rows", time=None):
        self.X, self.y, self.name = np.asarray(X), np.asarray(y), name
        self.feature_names = [f"f{i}" for i in range(self.X.shape[1])]
        self.classes = np.unique(self.y)
        self.reads = 0
        if time is not None:
            self.time = np.asarray(time)

    def batches(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        self.reads += 1
        for start in range(0, len(self.y), size):
            yield self.X[start : start + size].copy(), self.y[start : start + size].copy()

    def arrays(self):
        return self.X, self.y

    def __getitem__(self, rows):
        time = getattr(self, "time", None)
        return type(self)(
            self.X[rows], self.y[rows], self.name, None if time is None else time[rows]
        )


class Numbers(Rows):
    """The same with numbers to predict."""

    task = "regression"

    def __init__(self, X, y, name="rows", time=None):
        super().__init__(X, y, name, time)
        self.classes = None


class FastSGD(SGDClassifier):
    """scikit-learn's learner, walking by itself."""

    def predict_then_learn(self, X, y, classes=None):
        predictions = []
        for i in range(len(y)):
            try:
                predictions.append(self.predict(X[i : i + 1])[0])
            except NotFittedError:
                predictions.append(classes[0])
            self.partial_fit(X[i : i + 1], y[i : i + 1], classes=classes)
        return np.array(predictions)


class FastProba(FastSGD):
    """It gives whole blocks of probabilities as well."""

    def predict_proba_then_learn(self, X, y, classes=None):
        rows = []
        for i in range(len(y)):
            try:
                rows.append(self.predict_proba(X[i : i + 1])[0])
            except NotFittedError:
                rows.append(np.full(len(classes), 1 / len(classes)))
            self.partial_fit(X[i : i + 1], y[i : i + 1], classes=classes)
        return np.array(rows)


class LeastSquares(RegressorMixin, BaseEstimator):
    """Forgetting least squares; with ``leak`` it predicts after the update."""

    def __init__(self, mu=0.01, leak=False):
        self.mu, self.leak = mu, leak

    def _start(self, d):
        if not hasattr(self, "w_"):
            self.w_, self.P_ = np.zeros(d), 100.0 * np.eye(d)

    def predict(self, X):
        self._start(X.shape[1])
        return X @ self.w_

    def partial_fit(self, X, y):
        self._start(X.shape[1])
        for x, target in zip(X, y, strict=True):
            gain = self.P_ @ x / (1 - self.mu + x @ self.P_ @ x)
            self.w_ = self.w_ + gain * (target - x @ self.w_)
            P = (self.P_ - np.outer(gain, x @ self.P_)) / (1 - self.mu)
            self.P_ = (P + P.T) / 2
        return self

    def predict_then_learn(self, X, y):
        out = []
        for i in range(len(y)):
            if not self.leak:
                out += self.predict(X[i : i + 1]).tolist()
            self.partial_fit(X[i : i + 1], y[i : i + 1])
            if self.leak:
                out += self.predict(X[i : i + 1]).tolist()
        return np.array(out)


class Remembering(LeastSquares):
    """It keeps the rows whose labels are late."""

    def predict_pending(self, X, keys):
        self.waiting_ = getattr(self, "waiting_", {})
        self.most_ = max(getattr(self, "most_", 0), len(self.waiting_) + len(keys))
        self.waiting_ |= dict(zip(keys, X, strict=True))
        return self.predict(X)

    def learn_pending(self, keys, y):
        for key, target in zip(keys, y, strict=True):
            self.partial_fit(self.waiting_.pop(key)[None], [target])


class SignOf(ClassifierMixin, BaseEstimator):
    """The sign of least squares, for labels -1 and 1."""

    def __init__(self, mu=0.01, leak=False):
        self.mu, self.leak = mu, leak

    def predict_then_learn(self, X, y):
        if not hasattr(self, "inner_"):
            self.inner_ = LeastSquares(self.mu, self.leak)
        return np.where(self.inner_.predict_then_learn(X, y) > 0, 1, -1)


class PeeksAtBatch(ClassifierMixin, BaseEstimator):
    """It predicts the most frequent label of the batch it was given."""

    def predict_then_learn(self, X, y):
        labels, counts = np.unique(y, return_counts=True)
        return np.repeat(labels[counts.argmax()], len(y))


class SklearnSpy(ClassifierMixin, BaseEstimator):
    """It writes down what it is asked; the first feature is the number of the row."""

    def __init__(self):
        self.log = []

    def predict(self, X):
        self.log += [("predict", int(x[0])) for x in X]
        return np.zeros(len(X), dtype=int)

    def partial_fit(self, X, y, classes=None):
        self.log += [("learn", int(x[0])) for x in X]
        assert [int(x[1]) for x in X] == list(y)  # the second feature is the label
        return self


class RiverSpy:
    """The same for dicts."""

    def __init__(self):
        self.log = []

    def predict_one(self, x):
        self.log.append(("predict", int(x["f0"])))

    def learn_one(self, x, y):
        self.log.append(("learn", int(x["f0"])))
        assert int(x["f1"]) == y


class PendingSpy:
    """The same for a model that remembers rows."""

    def __init__(self):
        self.log = []
        self.labels = {}

    def predict_then_learn(self, X, y):
        raise AssertionError("not with a delay")

    def predict_pending(self, X, keys):
        self.log += [("predict", key) for key in keys]
        assert [int(x[0]) for x in X] == list(keys)
        self.labels |= {key: int(x[1]) for key, x in zip(keys, X, strict=True)}
        return np.zeros(len(X), dtype=int)

    def learn_pending(self, keys, y):
        self.log += [("learn", key) for key in keys]
        assert [self.labels.pop(key) for key in keys] == list(y)


class Hoarder(RegressorMixin, BaseEstimator):
    """It keeps every row for ever."""

    def partial_fit(self, X, y):
        self.rows_ = [*getattr(self, "rows_", []), X.tobytes()]
        return self

    def predict(self, X):
        return np.zeros(len(X))


class LateLeastSquares(LeastSquares):
    """It takes the labels that arrive between rows in the call that brings the rows."""

    def predict_pending(self, X, keys, labels=None):
        late_keys, y, before = labels or ([], [], [])
        self.calls_ = [*getattr(self, "calls_", []), (keys[0], len(keys))]
        self.rows_ = getattr(self, "rows_", {})
        out = []
        for t in range(len(keys) + 1):
            for j in np.flatnonzero(np.asarray(before) == t):
                self.partial_fit(self.rows_.pop(late_keys[j]), y[j : j + 1])
            if t < len(keys):
                self.rows_[keys[t]] = X[t : t + 1]
                out += self.predict(X[t : t + 1]).tolist()
        return np.array(out)

    def learn_pending(self, keys, y):
        raise AssertionError("labels come with the rows")


class Listener(RegressorMixin, BaseEstimator):
    """It takes Batches and keeps what it was given."""

    takes_batches = True

    def __init__(self):
        self.heard = []

    def predict_then_learn(self, X, y, time=None):
        self.heard.append((X, y, time))
        return np.zeros(len(y))

    def partial_fit(self, X, y, time=None):
        self.heard.append((X, y, time))
        return self

    def predict(self, X):
        self.heard.append((X, None, None))
        return np.zeros(len(X))


class WeighsRed(RegressorMixin, BaseEstimator):
    """A scikit-learn model that takes frames with text."""

    def predict(self, X):
        return (X["colour"] == "red").to_numpy(float)

    def partial_fit(self, X, y):
        self.kinds_ = list(X.dtypes)
        return self


# -- models that look before they predict ------------------------------------------------------


class _Leaky(RegressorMixin, BaseEstimator):
    """Honest least squares, whose predictions are then changed by what is not known yet."""

    def predict_then_learn(self, X, y):
        if not hasattr(self, "inner_"):
            self.inner_, self.labels_ = LeastSquares(), np.empty(0)
        honest = self.inner_.predict_then_learn(X, y)
        before = len(self.labels_)
        self.labels_ = np.append(self.labels_, y)
        return np.array([self.leak(p, before + t, y) for t, p in enumerate(honest)])


class ClipsToRange(_Leaky):
    """It clips to the range of the labels, the row's own included."""

    def leak(self, p, t, y):
        seen = self.labels_[: t + 1]
        return np.clip(p, seen.min(), seen.max())


class WidensOnlyUpwards(_Leaky):
    """It clips at the largest label, the row's own included."""

    def leak(self, p, t, y):
        return min(p, self.labels_[: t + 1].max())


class RoundsToUnit(_Leaky):
    """It rounds to a fraction of the power of two that spans the labels, its own included."""

    def leak(self, p, t, y):
        unit = 2.0 ** np.ceil(np.log2(np.abs(self.labels_[: t + 1]).max() or 1.0)) / 2**20
        return np.round(p / unit) * unit


class AddsBatchMean(_Leaky):
    """It knows a millionth of the mean of its batch."""

    def leak(self, p, t, y):
        return p + 1e-6 * np.mean(y)


class KnowsIfConstant(_Leaky):
    """It gives the only label it has met, until there is another: its own is enough."""

    def leak(self, p, t, y):
        seen = self.labels_[: t + 1]
        return seen[0] if t and np.ptp(seen) == 0 else p


class HidesWhatIsFar(_Leaky):
    """It says 0 where it is beyond thrice the largest label, the row's own included."""

    def leak(self, p, t, y):
        return 0.0 if abs(p) > 3 * np.abs(self.labels_[: t + 1]).max() else p


class ReadsNextLabel(_Leaky):
    """It follows the label of the next row, a little."""

    def leak(self, p, t, y):
        return p + 1e-6 * self.labels_[min(t + 1, len(self.labels_) - 1)]


class ReadsOwnSign(_Leaky):
    """It knows whether its label is above 0."""

    def leak(self, p, t, y):
        return p + 1e-6 * np.sign(self.labels_[t])


class ClassOrder(ClassifierMixin, BaseEstimator):
    """Majority of the past; of equal ones, the class that comes first in the batch."""

    def predict_then_learn(self, X, y):
        order = list(dict.fromkeys(y))
        counts = dict.fromkeys(order, 0)
        out = []
        for label in y:
            out.append(max(order, key=counts.__getitem__))
            counts[label] += 1
        return np.array(out)


class CountsClasses(ClassifierMixin, BaseEstimator):
    """It predicts the second class as soon as there are two, the row's own label included."""

    def predict_then_learn(self, X, y):
        return np.array([np.unique(y[: t + 1])[:2][-1] for t in range(len(y))])


class ProbabilityLeak(FastProba):
    """Its labels are honest; its probabilities know the frequencies of the batch."""

    def predict_proba_then_learn(self, X, y, classes=None):
        p = super().predict_proba_then_learn(X, y, classes)
        q = np.array([np.mean(y == label) for label in classes])
        return 0.999 * p + 0.001 * q
