r"""Numbers for a whole stream.

Most come from scikit-learn. The kappas compare the accuracy :math:`p` with that of a simple
predictor, :math:`\kappa = (p - p_0) / (1 - p_0)`: 1 is perfect, 0 no better than it. They
differ in the predictor:

* kappa (Cohen): labels drawn at random with the frequencies of the predictions;
* kappa-M: the most frequent class, always (Bifet et al. 2015);
* kappa-temporal: the last label that had arrived (Žliobaitė et al. 2015). On streams whose
  labels come in runs a high accuracy alone says little, and this one is often negative.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn import metrics

from .sources import Array

GREATER_IS_BETTER = {
    "accuracy": True,
    "balanced accuracy": True,
    "kappa": True,
    "kappa-M": True,
    "kappa-temporal": True,
    "log loss": False,
    "Brier score": False,
    "MSE": False,
    "MAE": False,
    "R2": True,
}


def kappa_m(truth: Array, predictions: Array) -> float:
    """Kappa against the most frequent class.

    Parameters
    ----------
    truth, predictions : array
        Labels, one per row.

    Returns
    -------
    float
        NaN where only one class occurs: the most frequent class is then always right.

    Examples
    --------
    >>> kappa_m(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1]))
    1.0
    >>> kappa_m(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]))
    0.0
    """
    _, counts = np.unique(truth, return_counts=True)
    return _beyond(float(np.mean(truth == predictions)), float(counts.max() / len(truth)))


def kappa_temporal(truth: Array, predictions: Array, known: Array | None = None) -> float:
    """Kappa against the last label that had arrived.

    Parameters
    ----------
    truth, predictions : array
        Labels, one per row, in their order.
    known : array of int, optional
        How many labels had arrived when each row was predicted; by default all before it. The
        simple predictor has to wait for labels as long as the model. Rows for which it knows
        none are left out of its accuracy.

    Returns
    -------
    float
        NaN where the simple predictor is always right or never knows a label.

    Examples
    --------
    >>> truth = np.array([0, 0, 0, 1, 1])
    >>> kappa_temporal(truth, np.array([0, 0, 0, 0, 1]))  # 4/5 against 3/4
    0.2
    """
    if known is None:
        known = np.arange(len(truth))
    rows = np.flatnonzero(known > 0)
    if len(rows) == 0:
        return float("nan")
    no_change = float(np.mean(truth[known[rows] - 1] == truth[rows]))
    return _beyond(float(np.mean(truth == predictions)), no_change)


def _beyond(p: float, p0: float) -> float:
    return (p - p0) / (1 - p0) if p0 < 1 else float("nan")


def classification_metrics(
    truth: Array,
    predictions: Array,
    classes: Array,
    known: Array | None = None,
    probabilities: Array | None = None,
) -> dict[str, float]:
    """All measures of a classification.

    Parameters
    ----------
    truth, predictions : array of shape (n,)
        Labels, in their order.
    classes : array of shape (k,)
        Every label that can occur.
    known : array of int, optional
        See `kappa_temporal`.
    probabilities : array of shape (n, k), optional
        With it come the log loss and the Brier score; the latter in scikit-learn's
        convention, halved for two classes.

    Returns
    -------
    dict
        Values by name; NaN where a measure is not defined.

    Examples
    --------
    >>> m = classification_metrics(np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([0, 1]))
    >>> {name: round(value, 3) for name, value in m.items()}
    {'accuracy': 0.667, 'balanced accuracy': 0.75, 'kappa': 0.4, 'kappa-M': 0.0,
     'kappa-temporal': 0.333}
    """
    with _undefined_is_nan():
        result = {
            "accuracy": metrics.accuracy_score(truth, predictions),
            "balanced accuracy": metrics.balanced_accuracy_score(truth, predictions),
            "kappa": metrics.cohen_kappa_score(truth, predictions, labels=classes),
            "kappa-M": kappa_m(truth, predictions),
            "kappa-temporal": kappa_temporal(truth, predictions, known),
        }
        if probabilities is not None:
            p = probabilities
            result["log loss"] = metrics.log_loss(truth, p, labels=classes)
            result["Brier score"] = metrics.brier_score_loss(truth, p, labels=classes)
    return {name: float(value) for name, value in result.items()}


def regression_metrics(truth: Array, predictions: Array) -> dict[str, float]:
    """All measures of a regression.

    A prediction that is not finite is infinitely wrong: the model that made it comes last.

    Parameters
    ----------
    truth, predictions : array of shape (n,)
        Numbers, in their order.

    Returns
    -------
    dict
        Values by name.

    Examples
    --------
    >>> regression_metrics(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]))
    {'MSE': 0.333, 'MAE': 0.333, 'R2': 0.5}
    >>> regression_metrics(np.array([0.0, 1.0]), np.array([0.0, np.nan]))
    {'MSE': inf, 'MAE': inf, 'R2': -inf}
    """
    if not np.isfinite(predictions).all():
        return {"MSE": float("inf"), "MAE": float("inf"), "R2": float("-inf")}
    with _undefined_is_nan():
        return {
            "MSE": float(metrics.mean_squared_error(truth, predictions)),
            "MAE": float(metrics.mean_absolute_error(truth, predictions)),
            "R2": float(metrics.r2_score(truth, predictions)),
        }


@contextmanager
def _undefined_is_nan() -> Iterator[None]:
    # scikit-learn warns of measures that a short or one-sided stream does not define, and of
    # predicted classes that never came true; both are ordinary on a stream.
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore")
        yield
