r"""From scores of several models on several streams to statements about the models.

Scores stand in arrays of shape (streams, models), or (streams, models, trials) where trials
are compared in pairs.
"""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dfop.rows.extras import need

from .sources import Array

Floats = NDArray[np.float64]


def robustness(means: Floats, greater_is_better: bool = True) -> Floats:
    r"""How many times better than the worst model on the same stream.

    The paper's :math:`r_a = \mathrm{acc}_a / \min_b \mathrm{acc}_b`: the worst model has 1.
    Its sum over the streams is the model's robustness. For a loss, which the paper does not
    treat, the ratio is turned round, :math:`\max_b \ell_b / \ell_a`.

    Parameters
    ----------
    means : array of shape (streams, models)
        Scores, none of them negative.
    greater_is_better : bool
        False for a loss.

    Returns
    -------
    array of shape (streams, models)
        NaN on streams with a negative score: a ratio to it says nothing.

    Examples
    --------
    >>> robustness(np.array([[0.9, 0.6], [0.5, 0.5]]))
    array([[1.5, 1. ],
           [1. , 1. ]])
    """
    worst = means.min(axis=1) if greater_is_better else means.max(axis=1)
    worst = np.broadcast_to(worst[:, None], means.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = means / worst if greater_is_better else worst / means
    ratio = np.where(means == worst, 1.0, ratio)
    ratio[(means < 0).any(axis=1)] = np.nan
    return np.asarray(ratio)


def paired_p_values(scores: Floats, reference: int) -> Floats:
    """Paired t-test of every model against one of them, stream by stream.

    Parameters
    ----------
    scores : array of shape (streams, models, trials)
        Trial by trial on the same rows.
    reference : int
        The model to compare with.

    Returns
    -------
    array of shape (streams, models)
        Two-sided p-values; 1 where two models score the same in every trial, and NaN where
        there is only one trial. A score that is not finite differs from a finite one for
        certain: 0.

    Examples
    --------
    >>> scores = np.array([[[0.9, 0.8, 0.9], [0.7, 0.6, 0.6]]])
    >>> paired_p_values(scores, reference=0)
    array([[1.   , 0.019...]])
    """
    base = scores[:, [reference], :]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of equal differences, which are dealt with below
        p = np.asarray(stats.ttest_rel(np.broadcast_to(base, scores.shape), scores, axis=2).pvalue)
    if scores.shape[2] > 1:
        broken = np.asarray(~np.isfinite(scores).all(axis=2))
        p = np.where(broken != broken[:, [reference]], 0.0, p)
        p = np.where((scores == base).all(axis=2), 1.0, p)
        p = np.where(broken & broken[:, [reference]], 1.0, p)
    return np.asarray(p)


def outcomes(
    means: Floats,
    p_values: Floats,
    reference: int,
    greater_is_better: bool = True,
    alpha: float = 0.05,
) -> NDArray[np.int_]:
    """Who wins: the sign of a difference that is significant.

    Parameters
    ----------
    means, p_values : array of shape (streams, models)
        Scores, and the p-values of their difference from the reference.
    reference : int
        The model compared with.
    greater_is_better : bool
        False for a loss.
    alpha : float
        The level of the test.

    Returns
    -------
    array of int of shape (streams, models)
        1 where the reference is better, -1 where it is worse, 0 where nobody wins.

    Examples
    --------
    >>> outcomes(np.array([[0.9, 0.8, 0.95]]), np.array([[1.0, 0.01, 0.2]]), reference=0)
    array([[0, 1, 0]])
    """
    base = np.broadcast_to(means[:, [reference]], means.shape)
    sign = (base > means).astype(int) - (base < means).astype(int)
    sign = sign if greater_is_better else -sign
    return np.asarray(np.where(p_values < alpha, sign, 0))


def win_tie_loss(outcome: Array) -> list[tuple[int, int, int]]:
    """Count the streams that the reference wins, ties and loses against each model.

    Examples
    --------
    >>> win_tie_loss(np.array([[0, 1], [0, -1], [0, 1]]))
    [(0, 3, 0), (2, 0, 1)]
    """
    return [tuple(int((column == sign).sum()) for sign in (1, 0, -1)) for column in outcome.T]  # type: ignore[misc]


def ranks(means: Floats, greater_is_better: bool = True) -> Floats:
    """Rank the models on every stream, 1 for the best; equal ones share the mean rank.

    Examples
    --------
    >>> ranks(np.array([[0.9, 0.5, 0.9]]))
    array([[1.5, 3. , 1.5]])
    """
    return np.asarray(stats.rankdata(-means if greater_is_better else means, axis=1))


def friedman(means: Floats) -> tuple[float, float]:
    """Test whether the models differ at all.

    Parameters
    ----------
    means : array of shape (streams, models)
        At least three models.

    Returns
    -------
    statistic, p_value : float
        A p-value of 1 where all models are equal everywhere.

    Examples
    --------
    >>> friedman(np.array([[0.9, 0.8, 0.7]] * 5))
    (10.0, 0.0067...)
    """
    if (means == means[:, :1]).all():
        return 0.0, 1.0
    result = stats.friedmanchisquare(*means.T)
    return float(result.statistic), float(result.pvalue)


def nemenyi(means: Floats) -> Floats:
    """Test which two models differ, after Friedman's test.

    Parameters
    ----------
    means : array of shape (streams, models)
        At least three models.

    Returns
    -------
    array of shape (models, models)
        p-values, corrected for the number of pairs.

    Examples
    --------
    >>> nemenyi(np.array([[0.9, 0.8, 0.7]] * 5)).round(3)
    array([[1.   , 0.254, 0.004],
           [0.254, 1.   , 0.254],
           [0.004, 0.254, 1.   ]])
    """
    posthocs = need("scikit_posthocs", extra="stats")
    return np.asarray(posthocs.posthoc_nemenyi_friedman(means), dtype=float)


def critical_difference(models: int, streams: int, alpha: float = 0.05) -> float:
    r"""Difference of mean ranks that is significant in Nemenyi's test.

    :math:`q_\alpha \sqrt{k (k + 1) / 6 N}` for :math:`k` models on :math:`N` streams, with
    :math:`q_\alpha` the quantile of the Studentised range over :math:`\sqrt 2` (Demšar 2006).

    Examples
    --------
    >>> critical_difference(models=7, streams=20)
    2.014
    """
    quantile = stats.studentized_range.ppf(1 - alpha, models, np.inf)
    return float(quantile / np.sqrt(2) * np.sqrt(models * (models + 1) / (6 * streams)))
