r"""Find out whether a model predicts before it looks.

The row-by-row loops of `evaluate` hand over a label only after the prediction. A model with
``predict_then_learn`` gets both at once, and its word has to be checked. Two checks that see
only what goes in and what comes out:

* Interference: labels from row :math:`t` on and rows after :math:`t` are replaced. The
  predictions up to row :math:`t` must not change.
* Chance: labels are replaced by fair coins :math:`y_t`, independent of everything. Given the
  past an honest prediction is right with probability :math:`1/k`, whatever the model: the
  number of hits is binomial. In regression, with :math:`y_t = \pm 1`, the sum
  :math:`\sum \hat y_t y_t` is a martingale, and its ratio to :math:`\sqrt{\sum \hat y_t^2}`
  about standard normal. A leak drives either far to the right.
"""

from typing import Any

import numpy as np
from scipy import stats

from .adapters import task_of, untrained
from .prequential import evaluate
from .sources import Array, ArrayStream, Source, as_stream, in_memory

CERTAIN = 1e-9
"""Probability with which an honest model fails the chance check."""


def check_honest(model: Any, stream: Source, *, delay: int = 0, cuts: int = 5) -> None:
    """Raise an AssertionError if a model sees a label before its prediction.

    Parameters
    ----------
    model : object
        As for `compare`: copies of it are trained.
    stream : Stream or tuple of (X, y)
        Some hundred rows or more; with few, a small leak can hide.
    delay : int
        Rows that labels are late.
    cuts : int
        Rows at which interference is looked for.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator, ClassifierMixin
    >>> from sklearn.linear_model import SGDClassifier
    >>> class Leaky(SGDClassifier):
    ...     def predict_then_learn(self, X, y, classes=None):  # learns, then predicts
    ...         return self.partial_fit(X, y, classes=classes).predict(X)
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 20))
    >>> check_honest(SGDClassifier(), (X, X[:, 0] > 0))
    >>> check_honest(Leaky(), (X, X[:, 0] > 0))
    Traceback (most recent call last):
    AssertionError: Leaky: the prediction of row ... depends on what comes later
    """
    data = in_memory(as_stream(stream, task_of(model)))
    rng = np.random.default_rng(0)
    name = type(model).__name__

    def predictions(X: Array, y: Array) -> Array:
        changed = ArrayStream(X, y, data.task, data.feature_names, data.classes, time=data.time)
        return evaluate(untrained(model, 0), changed, delay=delay).predictions

    before = predictions(data.X, data.y)
    for cut in rng.choice(len(data), size=min(cuts, len(data)), replace=False):
        X, y = data.X.copy(), _other_labels(data, max(0, cut - delay))
        X[cut + 1 :] = X[cut + 1 :][::-1]
        after = predictions(X, y)
        same = before[: cut + 1] == after[: cut + 1]
        if not same.all():
            raise AssertionError(
                f"{name}: the prediction of row {np.argmin(same)} depends on what comes later"
            )
    if data.task == "classification":
        assert data.classes is not None
        coins = rng.choice(np.asarray(data.classes), size=len(data))
        hits = int((predictions(data.X, coins) == coins).sum())
        chance = 1 / len(data.classes)
        p = stats.binomtest(hits, len(data), chance, alternative="greater").pvalue
        found = f"{hits / len(data):.1%} of random labels right"
    else:
        coins = rng.choice([-1.0, 1.0], size=len(data))
        guess = predictions(data.X, coins)
        size = float(np.linalg.norm(guess))
        p = stats.norm.sf(guess @ coins / size) if size > 0 else 1.0
        found = "predictions go with random targets"
    if p < CERTAIN:
        raise AssertionError(f"{name}: {found}, which an honest model does with p = {p:.1g}")


def _other_labels(data: ArrayStream, start: int) -> Array:
    """Labels that are all different from row ``start`` on."""
    y = data.y.copy()
    if data.classes is not None:
        classes = np.asarray(data.classes)
        code = np.searchsorted(classes, y[start:])
        y[start:] = classes[(code + 1) % len(classes)]
    else:
        y[start:] = y[start:] + 1 + np.abs(y[start:])
    return y
