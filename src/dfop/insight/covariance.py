"""The covariance of the weights of a single filter, in the units of the columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dfop.core import SMALLEST, Filter
from dfop.model.model import Model

Array = NDArray[np.float64]


def covariance_of(model: Model | None) -> Array:
    """Return P = R^-1 of a model's filter, in the order of its weights, the constant last."""
    if model is None or model.engine is None:
        raise AttributeError("covariance_ is known once a row was learned")
    engine = model.engine
    if model.settings.storage is not None:
        raise AttributeError(
            f"storage={model.settings.storage} keeps a sketch, which has no whole covariance: "
            "leave out storage="
        )
    if not isinstance(engine, Filter):
        raise AttributeError(
            "covariance_ is of a single filter, and this model has several experts: give a "
            "forgetting, such as forgetting=0.001"
        )
    P = covariance_in(engine.state())
    return np.roll(P, -1, axis=(0, 1)) if engine.intercept else P


def covariance_in(state: Mapping[str, Array], prefix: str = "") -> Array:
    """Return P of a filter whose state is given, with names that begin so; the constant first."""
    root = root_in(state, prefix)
    with np.errstate(over="ignore"):
        P = np.nan_to_num(root @ root.T)
    unseen = state[f"{prefix}scale"] == SMALLEST
    P[unseen, unseen] = state[f"{prefix}unseen_variance"]
    return np.asarray(P)


def root_in(state: Mapping[str, Array], prefix: str = "") -> Array:
    """Return a root of P, P = root root^T; 0 of features never seen, which have only the prior."""
    D, scale = state[f"{prefix}D"], state[f"{prefix}scale"]
    root = np.eye(len(D))
    column, row = np.tril_indices(len(D), -1)  # u_ij, i < j, column by column
    root[row, column] = state[f"{prefix}upper"]
    root *= np.sqrt(D) / scale[:, np.newaxis]
    root[scale == SMALLEST] = 0.0
    return root
