r"""Find out whether a model predicts before it looks.

The row-by-row loops of `evaluate` hand over a label only after the prediction. A model with
``predict_then_learn`` gets both at once, and its word has to be checked. Two checks that see
only what goes in and what comes out:

* Interference: labels from row :math:`t` on and rows after :math:`t` are replaced, in the ways
  of `dfop.evaluation.tampering`. The predictions up to row :math:`t`, and the probabilities
  where the model gives them in one pass, must not change by a single bit.
* Chance: labels are replaced by fair coins :math:`y_t`, independent of everything. Given the
  past an honest prediction is right with probability :math:`1/k`, whatever the model: the
  number of hits is binomial. In regression, with :math:`y_t = \pm 1`, the sum
  :math:`\sum \hat y_t y_t` is a martingale, and its ratio to :math:`\sqrt{\sum \hat y_t^2}`
  about standard normal. A leak drives either far to the right.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from .models import task_of, untrained
from .prequential import evaluate
from .sources import Array, ArrayStream, Source, as_stream, in_memory
from .tampering import TAIL, changed_streams, far_out, of_one_label

CERTAIN = 1e-9
"""Probability with which an honest model fails the chance check."""
EARLY = 3
"""Rows at the beginning that are always looked at: there, every label is new."""


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
        Rows at which interference is looked for, besides the first three; with 0, at none.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDClassifier
    >>> class Leaky(SGDClassifier):
    ...     def predict_then_learn(self, X, y, classes=None):  # learns, then predicts
    ...         return self.partial_fit(X, y, classes=classes).predict(X)
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 20))
    >>> check_honest(SGDClassifier(), (X, X[:, 0] > 0))
    >>> check_honest(Leaky(), (X, X[:, 0] > 0))
    Traceback (most recent call last):
    AssertionError: Leaky: the prediction of row ... depends on its own label or a later one
    """
    data = in_memory(as_stream(stream, task_of(model)))
    rng = np.random.default_rng(0)
    _check_interference(model, data, delay, _rows_to_look_at(len(data), cuts, rng))
    _check_chance(model, data, delay, rng)


def _rows_to_look_at(n: int, cuts: int, rng: np.random.Generator) -> Array:
    if cuts == 0:
        return np.empty(0, dtype=int)
    drawn = rng.choice(n, size=min(cuts, n), replace=False)
    return np.unique(np.append(np.arange(min(EARLY, n)), drawn))


def _check_interference(model: Any, data: ArrayStream, delay: int, cuts: Array) -> None:
    for proba in _questions(model, data):
        for base, cut in _bases(data, cuts):
            # Other rows than those of the changed streams, and more of them, come behind the cut.
            before = _answers(model, base[: cut + 1 + 2 * TAIL], delay, proba)[: cut + 1]
            for changed in changed_streams(base, cut, max(0, cut - delay)):
                differ = _unlike(before, _answers(model, changed, delay, proba)[: cut + 1])
                if len(differ):
                    raise AssertionError(
                        f"{type(model).__name__}: the {'probability' if proba else 'prediction'} "
                        f"of row {differ[0]} depends on its own label or a later one"
                    )


def _questions(model: Any, data: ArrayStream) -> list[bool]:
    """Whether to ask for probabilities: only what the model gives in one pass can leak."""
    both = data.task == "classification" and hasattr(model, "predict_proba_then_learn")
    return [False, True] if both else [False]


def _bases(data: ArrayStream, cuts: Array) -> Iterator[tuple[ArrayStream, int]]:
    """Give streams and the row to look at in each, the only one far out: such rows spoil models."""
    for labels, rows in ((data, cuts), (of_one_label(data), cuts[: EARLY + 1])):
        for cut in rows.tolist():
            yield far_out(labels, cut), cut


def _answers(model: Any, data: ArrayStream, delay: int, proba: bool) -> Array:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no label had come")  # some streams are cut so short
        result = evaluate(untrained(model, 0), data, delay=delay, proba=proba)
    return result.predictions if result.probabilities is None else result.probabilities


def _unlike(a: Array, b: Array) -> Array:
    """Return the rows in which two answers differ; NaN is like NaN."""
    differ = (a != b) & ~((a != a) & (b != b))
    return np.flatnonzero(differ if a.ndim == 1 else differ.any(axis=1))


def _check_chance(model: Any, data: ArrayStream, delay: int, rng: np.random.Generator) -> None:
    if data.task == "classification":
        classes = np.asarray(data.classes)
        coins = rng.choice(classes, size=len(data))
        hits = int((_answers(model, replace(data, y=coins), delay, False) == coins).sum())
        p = stats.binomtest(hits, len(data), 1 / len(classes), alternative="greater").pvalue
        found = f"{hits / len(data):.1%} of random labels right"
    else:
        coins = rng.choice([-1.0, 1.0], size=len(data))
        guess = _answers(model, replace(data, y=coins), delay, False)
        size = float(np.linalg.norm(guess))
        p = stats.norm.sf(guess @ coins / size) if size > 0 else 1.0
        found = "predictions go with random targets"
    if p < CERTAIN:
        name = type(model).__name__
        raise AssertionError(f"{name}: {found}, which an honest model does with p = {p:.1g}")
