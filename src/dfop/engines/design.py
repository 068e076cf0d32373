"""The design of the automatic learner's bank: which experts it has.

An expert is a recursive least squares that forgets a share ``mu`` with every row, or whose weights
may walk: with every row, the variance ``q`` is added to each of the factors ``D`` of its
covariance. Forgetting suits changes of everything at once; walking suits levels and weights that
drift apart slowly, and one that walks far follows the last label. Linear experts see the features,
curved ones random Fourier features of them at two widths.
"""

from __future__ import annotations

from typing import Any

from dfop.core import ExpertDesign
from dfop.forgetting import Automatic, ByRows, Forgetting

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


def maps_for(features: Any, rule: Forgetting, count: int) -> tuple[Map, ...]:
    """Return what the experts see, for the argument `features` and `count` coded columns."""
    if features == "rff":
        return _FOURIER
    if features == "poly":
        return (_PRODUCTS,)
    if features == "auto" and isinstance(rule, Automatic) and count <= WIDEST:
        return (_LINEAR, *_FOURIER)
    return (_LINEAR,)


def experts_for(maps: tuple[Map, ...], rule: Forgetting) -> list[ExpertDesign]:
    """Return the experts, as (map, mu, walk)."""
    kinds = {kind for kind, _, _ in maps}
    experts: list[ExpertDesign] = []
    for index, (kind, _, _) in enumerate(maps):
        if isinstance(rule, ByRows):
            experts.append((index, rule.mu, 0.0))
            continue
        few = kind != "linear" and len(kinds) > 1
        experts += [(index, mu, 0.0) for mu in (CURVED_FORGETTING if few else FORGETTING)]
        experts += [(index, 0.0, q) for q in (CURVED_WALKS if few else WALKS)]
    return experts
