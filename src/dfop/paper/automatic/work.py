"""The single measurements behind the page on the automatic learner; each can run by itself."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.baselines import NoChangeClassifier, NoChangeRegressor
from dfop.classifier import DFOPClassifier
from dfop.evaluation.sources import ArrayStream, in_memory
from dfop.paper.regression import unit_range
from dfop.paper.run import Run
from dfop.paper.settings import CLASSIFICATION, REGRESSION
from dfop.paper.supply import supply
from dfop.regressor import DFOPRegressor
from dfop.streams import hyperplane_regression

Array = NDArray[np.float64]

GRID = (0.0, *np.geomspace(1e-4, 0.5, 13).round(6).tolist())
"""The fixed forgetting factors among which the best in hindsight is looked for."""
WINDOW = 200
"""Rows in which coverage is also looked at by itself."""
COVERAGE = 0.9
NEAR = 60
"""An alarm within so many rows after a change has found it."""
STILL_ROWS = 100_000
DRIFTS = ("walk", "jumps", "heavy tails", "noise comes and goes")
STILL = ("Gaussian noise", "Laplace noise", "labels, one in ten wrong")
WALKS = (
    (200_000, 5, 0.003, 0.5),
    (100_000, 5, 0.01, 2.0),
    (100_000, 10, 0.01, 0.01),
    (100_000, 3, 0.03, 1.0),
    (100_000, 8, 0.02, 1e6),
)
"""Rows, features, best mu and noise of the random walks whose drift spectrum is measured."""


def rows_of(task: str, stream: str, source: str, seed: int, quick: bool) -> ArrayStream:
    """Read or draw the rows of one stream of the paper; regression in [0, 1].

    Parameters
    ----------
    task, stream : str
        Which one.
    source : str
        What `supply` said about it; only a published file is looked for.
    seed : int
        Of the regression hyperplane, the only one that is drawn anew.
    quick : bool
        Whether to cut it short.

    Returns
    -------
    ArrayStream

    Examples
    --------
    >>> rows_of("regression", "hyperplane", "generated", 0, True).X.shape
    (2000, 10)
    """
    if (task, stream) == ("regression", "hyperplane"):
        return in_memory(hyperplane_regression(seed=seed))
    settings = CLASSIFICATION if task == "classification" else REGRESSION
    found = next(one for one in settings if one.name == stream)
    left_out = {} if source == "published file" else {stream: source}
    supplied = supply(Run(Path("unused"), quick=quick, left_out=left_out), found)
    assert supplied is not None, stream
    return supplied.rows if task == "classification" else unit_range(supplied.rows)


def scores(
    task: str,
    stream: str,
    source: str,
    seed: int,
    quick: bool,
    features: str,
    lags: int,
    mus: Sequence[float | None],
) -> dict[str, Any]:
    """Predict-then-learn over a full stream: accuracies in percent, or squared errors x 100.

    Parameters
    ----------
    task, stream, source, seed, quick
        As for `rows_of`.
    features : str
        As for the learners; "no-change" to predict the previous label.
    lags : int
        As for the learners.
    mus : sequence of float or None
        Fixed forgetting factors; None for "auto".

    Returns
    -------
    dict
        A score for each of `mus`.

    Examples
    --------
    >>> kept = scores("regression", "hyperplane", "generated", 0, True, "linear", 0, [0.0, None])
    >>> never, automatic = kept["scores"]
    >>> 0.33 < automatic < 0.6 < never  # the noise alone is 0.33
    True
    """
    rows = rows_of(task, stream, source, seed, quick)
    labelled = task == "classification"
    values = []
    for mu in mus:
        model: Any
        if features == "no-change":
            model = NoChangeClassifier() if labelled else NoChangeRegressor()
        else:
            learner = DFOPClassifier if labelled else DFOPRegressor
            model = learner("auto" if mu is None else mu, features=features, lags=lags)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # 500 features and mu = .5: known
            ahead = model.predict_then_learn(rows.X, rows.y)
        off = ahead != rows.y if labelled else (ahead - rows.y) ** 2
        values.append(100 * float(1 - np.mean(off) if labelled else np.mean(off)))
    return {"scores": values, "rows": len(rows.y), "features": rows.X.shape[1]}


def coverage(stream: str, source: str, seed: int, quick: bool) -> dict[str, Any]:
    """Share of targets inside their interval: of all rows, and of the worst 200 in a row.

    Parameters
    ----------
    stream : str
        Of the paper's regression, or one of `DRIFTS`.
    source, seed, quick
        As for `rows_of`.

    Returns
    -------
    dict

    Examples
    --------
    >>> 0.88 < coverage("jumps", "drawn", 0, True)["all"] < 0.92
    True
    """
    if stream in DRIFTS:
        X, y = _moving(stream, 5_000 if quick else 20_000, seed)
    else:
        rows = rows_of("regression", stream, source, seed, quick)
        X, y = rows.X, rows.y
    low, high = DFOPRegressor().predict_interval_then_learn(X, y, COVERAGE).T
    inside = np.concatenate([[0.0], np.cumsum((low <= y) & (y <= high))])
    worst = (inside[WINDOW:] - inside[:-WINDOW]).min() / WINDOW
    return {"all": float(inside[-1] / len(y)), "worst": float(worst)}


def calibration_error(p: Array, label_places: NDArray[np.int64], bins: int = 15) -> float:
    """Compute the expected calibration error of the predicted class's probability.

    Examples
    --------
    >>> float(calibration_error(np.array([[0.2, 0.8]] * 10), np.array([1] * 7 + [0] * 3)))
    0.1
    """
    sure, right = p.max(axis=1), p.argmax(axis=1) == label_places
    at = np.minimum((sure * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(at, sure - right)).sum() / len(p))


def calibration(stream: str, source: str, quick: bool) -> dict[str, Any]:
    """Compute how far the probabilities of a full stream are from what comes true."""
    rows = rows_of("classification", stream, source, 0, quick)
    classes, places = np.unique(rows.y, return_inverse=True)
    model = DFOPClassifier()
    p = model.predict_proba_then_learn(rows.X, rows.y, classes=classes)
    return {"ece": calibration_error(p, places)}


def found_changes(seed: int) -> dict[str, Any]:
    """Look for the three changes of a regression hyperplane, and for alarms without one.

    Examples
    --------
    >>> len(found_changes(0)["delays"])
    3
    """
    stream = hyperplane_regression(seed=seed)
    rows = in_memory(stream)
    alarms = [alarm.row for alarm in DFOPRegressor().fit(rows.X, rows.y).alarms_]
    delays = [
        next((row - change for row in alarms if 0 <= row - change <= NEAR), None)
        for change in stream.changes
    ]
    false = len(alarms) - sum(delay is not None for delay in delays)
    return {"delays": delays, "false": false}


def still(kind: str, seed: int, quick: bool) -> dict[str, Any]:
    """Count the alarms on a stream without change.

    Parameters
    ----------
    kind : str
        One of `STILL`.
    seed : int
        Of the stream.
    quick : bool
        A tenth of the rows.

    Returns
    -------
    dict

    Examples
    --------
    >>> still("Laplace noise", 0, True)
    {'alarms': 0}
    """
    rng = np.random.default_rng([seed, STILL.index(kind)])
    n = STILL_ROWS // 10 if quick else STILL_ROWS
    X = rng.normal(size=(n, 5))
    signal = X @ rng.normal(size=5)
    if kind == "labels, one in ten wrong":
        wrong = rng.random(n) < 0.1
        return {"alarms": len(DFOPClassifier().fit(X, (signal > 0) ^ wrong).alarms_)}
    noise = rng.normal(size=n) if kind == "Gaussian noise" else rng.laplace(size=n)
    return {"alarms": len(DFOPRegressor().fit(X, signal + noise).alarms_)}


def spectrum(setting: int, seed: int, quick: bool) -> dict[str, Any]:
    """Measure mu and noise of a random walk, over their true values.

    Parameters
    ----------
    setting : int
        Place in `WALKS`.
    seed : int
        Of the walk.
    quick : bool
        A tenth of the rows.

    Returns
    -------
    dict

    Examples
    --------
    >>> 0.5 < spectrum(1, 0, True)["mu"] < 2
    True
    """
    n, d, mu, s2 = WALKS[setting]
    n = n // 10 if quick else n
    rng = np.random.default_rng([seed, setting])
    X = rng.normal(size=(n, d))
    # Steps of this size make mu the best forgetting factor: sqrt(q/(d s2)), with q = d step^2.
    W = np.cumsum(mu * np.sqrt(s2) * rng.normal(size=(n, d)), axis=0)
    y = (X * W).sum(axis=1) + np.sqrt(s2) * rng.normal(size=n)
    drift = DFOPRegressor(features="linear", fit_intercept=False).fit(X, y).drift_
    return {"mu": drift.mu / mu, "noise": drift.noise / s2, "misfit": drift.misfit}


def _moving(kind: str, n: int, seed: int) -> tuple[Array, Array]:
    """Draw rows and targets whose weights walk or jump, or whose noise is odd as well."""
    d = 5
    rng = np.random.default_rng([seed, DRIFTS.index(kind)])
    X = rng.normal(size=(n, d))
    W = np.cumsum(0.01 * rng.normal(size=(n, d)), axis=0)
    noise = rng.normal(size=n)
    if kind == "jumps":
        W = np.repeat(rng.normal(size=(-(-n // 500), d)), 500, axis=0)[:n]
    elif kind == "heavy tails":
        noise = rng.laplace(size=n)
    elif kind == "noise comes and goes":
        noise *= np.exp(np.sin(2 * np.pi * np.arange(n) / 2000))
    return X, (X * W).sum(axis=1) + noise
