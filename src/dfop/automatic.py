"""The automatic learner's bank: which experts it has, and what they are worth.

An expert is a recursive least squares that forgets a share ``mu`` with every row, or whose weights
may walk: with every row, the variance ``q`` is added to each of the factors ``D`` of its
covariance. Forgetting suits changes of everything at once; walking suits levels and weights that
drift apart slowly, and one that walks far follows the last label. Linear experts see the features,
curved ones random Fourier features of them at two widths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .core import Bank
from .forgetting import Automatic, ByRows, Forgetting

__all__ = ["Expert", "experts_of", "make_bank", "maps_for"]

FORGETTING = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
WALKS = (1e-4, 1e-2, 1.0, 100.0)
CURVED_FORGETTING = (0.0, 3e-3, 3e-2)
CURVED_WALKS = (1e-5, 1e-3)
"""Of curved experts beside linear ones, which have the full range; alone they have it, too."""

WIDTHS = (0.6, 2.4)
"""Of the Fourier features, in standard deviations of a feature, times the root of their number."""
CURVES = 100
"""Fourier features of each width."""
WIDEST = 20
"""With more features than this, curves that so few random features can draw teach nothing."""

LABEL_PRIOR, NUMBER_PRIOR = 30.0, 3000.0
"""Prior variance of a prediction, in units of the noise: of one weight of d, with its feature
scaled to at most 1, 1/d of it. Labels are noisy; numbers may be known far better than their
range."""

Map = tuple[str, float, int]
_LINEAR: Map = ("linear", 0.0, 0)
_PRODUCTS: Map = ("products", 0.0, 0)
_FOURIER: tuple[Map, ...] = tuple(("fourier", width, CURVES) for width in WIDTHS)


@dataclass(frozen=True)
class Expert:
    """One expert of the automatic learner, and what it is worth now.

    Attributes
    ----------
    features : str
        What it sees: "linear", "rff" or "poly".
    width : float or None
        Of its random Fourier features.
    forgetting : float
        Its mu.
    walk : float
        How far its weights may walk with every row, as a variance; 0 if it only forgets.
    weight : float
        What it counts in the prediction now (mean over outputs). All weights add up to 1; one
        may be negative, where its error helps to correct that of others.
    error : float
        Its mean squared one-step error over the whole stream; of several outputs, their sum.
    recent_error : float
        The same over about the last 500 rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = DFOPRegressor(features="linear").fit(X, X[:, 0])
    >>> best = min(model.experts_, key=lambda expert: expert.error)
    >>> best.features, best.error < 0.1
    ('linear', True)
    """

    features: str
    width: float | None
    forgetting: float
    walk: float
    weight: float
    error: float
    recent_error: float


def maps_for(features: Any, rule: Forgetting, count: int) -> tuple[Map, ...]:
    """Return what the experts see, for the argument `features` and `count` coded columns."""
    if features == "rff":
        return _FOURIER
    if features == "poly":
        return (_PRODUCTS,)
    if features == "auto" and isinstance(rule, Automatic) and count <= WIDEST:
        return (_LINEAR, *_FOURIER)
    return (_LINEAR,)


def make_bank(
    count: int,
    targets: list[tuple[str, int]],
    maps: tuple[Map, ...],
    rule: Forgetting,
    *,
    intercept: bool,
    prior_variance: float | None,
    cap: float | None,
) -> Bank:
    """Build the bank for `count` features."""
    prior = NUMBER_PRIOR if targets[0][0] == "number" else LABEL_PRIOR
    kinds = {kind for kind, _, _ in maps}
    experts: list[tuple[int, float, float]] = []
    for place, (kind, _, _) in enumerate(maps):
        if isinstance(rule, ByRows):
            experts.append((place, rule.mu, 0.0))
            continue
        few = kind != "linear" and len(kinds) > 1
        experts += [(place, mu, 0.0) for mu in (CURVED_FORGETTING if few else FORGETTING)]
        experts += [(place, 0.0, q) for q in (CURVED_WALKS if few else WALKS)]
    return Bank(
        count,
        targets,
        list(maps),
        experts,
        intercept,
        prior if prior_variance is None else float(prior_variance),
        prior_variance is None,
        math.inf if cap is None else float(cap),
    )


_SHOWN = {"linear": "linear", "fourier": "rff", "products": "poly"}


def experts_of(bank: Bank) -> list[Expert]:
    """Describe the experts of a bank."""
    weights = bank.weights().mean(axis=0)
    errors = bank.errors()
    maps = bank.maps
    return [
        Expert(
            features=_SHOWN[maps[place][0]],
            width=maps[place][1] if maps[place][0] == "fourier" else None,
            forgetting=mu,
            walk=walk,
            weight=float(weights[k]),
            error=float(errors["mean"][k]),
            recent_error=float(errors["recent"][k]),
        )
        for k, (place, mu, walk) in enumerate(bank.experts)
    ]


def linear_forgetters(bank: Bank) -> list[int]:
    """Which experts are linear and forget."""
    maps = bank.maps
    return [
        k
        for k, (place, _, walk) in enumerate(bank.experts)
        if maps[place][0] == "linear" and walk == 0.0
    ]


def nearest_forgetter(bank: Bank, mu: float) -> int:
    """Which linear expert forgets about `mu`."""
    experts = bank.experts
    return min(linear_forgetters(bank), key=lambda k: abs(np.log((experts[k][1] + 1e-9) / mu)))


def describe_features(features: Any, bank: Bank) -> str:
    """Say in words what the experts of a bank see."""
    kinds = {kind for kind, _, _ in bank.maps}
    if kinds == {"fourier"}:
        return f"{CURVES} random Fourier features of each of {len(WIDTHS)} widths"
    if kinds == {"products"}:
        return "the features and their products"
    if kinds == {"linear", "fourier"}:
        return f"the features, and {CURVES} random Fourier features of each of {len(WIDTHS)} widths"
    if features == "auto":
        return (
            f"the features alone: {bank.features} are more than {WIDEST}, too many for curves "
            f'(features="rff" insists)'
        )
    return "the features" if isinstance(features, str) else f"what {features!r} makes of them"
