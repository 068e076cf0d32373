"""The one constructor of engines."""

from __future__ import annotations

import math
from typing import Any

from dfop.core import Bank, Filter, FrequentDirections, Sketch
from dfop.forgetting import Automatic, Few, Forgetting

from .design import GIVEN, LABEL_PRIOR, NUMBER_PRIOR, design_for

Engine = Filter | Bank | Sketch | FrequentDirections
Target = tuple[str, int] | tuple[str, int, bool]
"""How a target is coded, its number of outputs, and whether it is learned in the background."""

PRIOR_VARIANCE = 100.0
"""Of the weights of a single filter, where none is given."""
SKETCH_PRIOR = 1.0
"""The same of a sketch, whose prior does not fade."""


def is_bank(rule: Forgetting, features: Any) -> bool:
    """Whether a rule and a view of the features need several experts."""
    return isinstance(rule, Automatic) or (
        isinstance(features, str) and features in ("rff", "poly")
    )


def is_bounded(rule: Forgetting, features: Any) -> bool:
    """Whether values far from all that was seen of a column, or of a number to learn, are drawn in.

    Not where filters are asked for by name, which then learn their features as they are.
    """
    every_kind = isinstance(features, str) and features == "auto"
    return every_kind and isinstance(rule, Automatic) and not isinstance(rule, Few)


def build_engine(
    width: int,
    targets: list[Target],
    rule: Forgetting,
    features: Any,
    *,
    fit_intercept: bool,
    prior_variance: float | None,
    cap: float | None,
    storage: int | None = None,
    guarantee: bool = False,
    own: int = 0,
) -> Engine:
    """Build the filter, the sketch or the bank for `width` coded columns.

    Parameters
    ----------
    width : int
        Coded columns of the first row.
    targets : list of (coding, outputs) or (coding, outputs, shadow)
        What is learned.
    rule : Forgetting
        How the past fades.
    features : str or transformer
        What experts see.
    fit_intercept, prior_variance, cap, storage, guarantee
        As in `dfop.DFOPRegressor`.
    own : int
        How many experts of the user's there are.
    """
    limit = math.inf if cap is None else float(cap)
    if not is_bank(rule, features):
        outputs = sum(target[1] for target in targets)
        if storage is not None:
            ridge = SKETCH_PRIOR if prior_variance is None else float(prior_variance)
            if guarantee:
                return FrequentDirections(width, outputs, storage, fit_intercept, ridge)
            return Sketch(width, outputs, storage, fit_intercept, ridge, limit)
        prior = PRIOR_VARIANCE if prior_variance is None else float(prior_variance)
        return Filter(width, outputs, fit_intercept, prior, limit)
    labels = targets[0][0] != "number"
    maps, experts = design_for(features, rule, width, labels=labels)
    default = LABEL_PRIOR if labels else NUMBER_PRIOR
    return Bank(
        width,
        targets,
        maps,
        experts + [GIVEN] * own,
        fit_intercept,
        default if prior_variance is None else float(prior_variance),
        prior_variance is None,
        limit,
        is_bounded(rule, features),
    )
