"""Which features matter in the linear part of a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank, Filter
from dfop.model.model import Model
from dfop.model.movement import linear_forgetters

from .covariance import root_in

Array = NDArray[np.float64]

MOST_NAMES = 12
LONGEST_NAME = 200


def influence(model: Model) -> dict[str, float]:
    r"""Return which features matter in the linear part of a model, as shares of the whole.

    The influence of a feature is how far its weight moves the prediction as the feature varies,
    given the others: :math:`|w_j| / \sqrt{P_{jj}}`, up to a factor that all features share, since
    :math:`1 / P_{jj}` is proportional to the variance of column j that the other columns leave.
    A column of text has a weight for each word, which only together say how far it moves the
    prediction: :math:`\sqrt{w_G^T P_{GG}^{-1} w_G}`, the same for one column. Several outputs are
    added up; units of measurement cancel out. The automatic learner shows the linear expert that
    forgets and has erred least of late.

    Examples
    --------
    >>> from dfop import DFOPRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = DFOPRegressor(forgetting=0.01).fit(X, 3 * X[:, 0] + X[:, 1])
    >>> shares = influence(model.__dfop_model__())
    >>> round(shares["x0"] / shares["x1"])
    3
    """
    engine = model.engine
    assert engine is not None
    chosen: tuple[int, ...] = ()
    if isinstance(engine, Bank):
        linear = linear_forgetters(engine)
        if not linear:
            return {}
        chosen = (linear[int(np.argmin(engine.errors()["recent"][linear]))],)
    coef = engine.coefficients(*chosen)[0][model.counted_outputs]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        variances = engine.variances(*chosen)[int(engine.intercept) :]
        reach = np.abs(coef).sum(axis=0) / np.sqrt(variances)
    names, reach = _texts_as_one(model, chosen, coef, reach)
    reach[~np.isfinite(reach)] = 0.0
    total = float(reach.sum())
    if not 0.0 < total < np.inf:
        return {}
    order = np.argsort(-reach, kind="stable")[:MOST_NAMES]
    return {names[j][:LONGEST_NAME]: float(reach[j] / total) for j in order if reach[j] > 0.0}


def text_columns(model: Model) -> dict[str, list[int]]:
    """Return the places of the weights of every column of text: of its words, and of gaps in it.

    Examples
    --------
    >>> from dfop import DFOPRegressor
    >>> rows = [{"size": 1.0, "color": "red"}, {"size": 2.0, "color": "blue"}]
    >>> model = DFOPRegressor(forgetting=0.01).partial_fit(rows, [1.0, 2.0])
    >>> text_columns(model.__dfop_model__())
    {'color': [1, 2]}
    """
    if model.sparse or model.transform is not None or "text" not in model.coder.kinds():
        return {}
    given = list(model.ids) if model.by_name else model.names
    described = model.coder.describe()
    names = [str(name) for name in given or range(len(described))]
    features = model.engine.features if model.engine is not None else 0
    found = {}
    for name, column in zip(names, described, strict=True):
        places = [place for _, place in (*column["texts"], *column["buckets"])]
        places += [] if column["gap"] is None else [column["gap"]]
        if column["kind"] == "text" and places:
            found[name] = sorted(place for place in places if place < features)
    return found


def _texts_as_one(
    model: Model, chosen: tuple[int, ...], coef: Array, reach: Array
) -> tuple[list[str], Array]:
    """Return names and influences with one of each for every column of text."""
    engine, names = model.engine, model.weight_names()
    texts = text_columns(model)
    if not texts or not isinstance(engine, Bank | Filter):
        return names, reach
    root = root_in(engine.state(), f"expert {chosen[0]}/" if chosen else "")
    root = root[int(engine.intercept) :]
    reach = reach.copy()
    for name, places in texts.items():
        if places:
            reach[places] = 0.0
            reach[places[0]] = np.sqrt(_explained(root[places], coef[:, places])).sum()
            names[places[0]] = name
    return names, reach


def _explained(root: Array, w: Array) -> Array:
    """Return w P^-1 w^T for each row of w, P = root root^T, by elimination.

    There are at most some hundred words. BLAS would wait for other threads here, and its bits
    depend on how many there are.
    """
    with np.errstate(all="ignore"):
        P, left = np.einsum("ik,jk->ij", root, root), w.T.copy()
        total = np.zeros(len(w))
        for i, pivot in enumerate(np.diag(P).copy()):
            # what the words before leave of this one; nothing of one that was never seen
            if not P[i, i] > 1e-14 * pivot:
                continue
            share = P[i + 1 :, i] / P[i, i]
            total += left[i] ** 2 / P[i, i]
            left[i + 1 :] -= share[:, np.newaxis] * left[i]
            P[i + 1 :, i + 1 :] -= share[:, np.newaxis] * P[i, i + 1 :]
    return total
