"""The design of the automatic learner's bank: which experts it has.

Most experts are filters, recursive least squares that forget a share ``mu`` with every row, or
whose weights may walk: with every row, the variance ``q`` is added to each of the factors ``D`` of
their covariance. Forgetting suits changes of everything at once; walking suits levels and weights
that drift apart slowly, and one that walks far follows the last label. Linear filters see the
features, curved ones random waves of them. Beside the filters stand experts of other kinds, named
in `KINDS`.

The pool was chosen on generated streams; see docs/automatic.md.
"""

from __future__ import annotations

import math
from typing import Any

from dfop.core import ExpertDesign
from dfop.forgetting import Automatic, ByRows, Few, Forgetting

FORGETTING = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
WALKS = (1e-4, 1e-2, 1.0, 100.0)
"""Of linear filters for numbers, and of filters that have no other kinds beside them."""
LABEL_FORGETTING = (0.0, 3e-4, 3e-3, 3e-2)
LABEL_WALKS = (1e-4, 1e-2, 1.0)
"""Of linear filters for labels, which are too noisy to tell more of them apart."""
WIDE = 100
WIDE_FORGETTING, WIDE_WALKS = (0.0, 3e-4, 3e-3), (1e-2,)
"""Of linear filters for more columns than `WIDE`: a row costs the square of their number, and so
many weights cannot be followed fast."""
FEW_FORGETTING, FEW_WALKS = (0.0, 3e-2), (1e-2, 1.0)
"""Of the few linear filters of a model per key: the four that were worth most (`make few`)."""
SKETCHED = 1000
"""Columns above which sketches stand for the linear filters, which cost the square of them."""
SPARSE_FORGETTING, SPARSE_DIRECTIONS = 3e-4, 20
"""Of the one sketch that sparse rows of more columns have (`make sketch`)."""
CURVED_FORGETTING = (3e-3, 3e-4)
SPARSE_NUMBER_WALKS = (1e-3,)

CURVES = 100
"""Waves of a map."""
WIDTHS = (0.6, 2.4)
"""Of the waves where curves stand alone, in standard deviations of a feature, times the root of
their number."""
LABEL_WIDTH, NUMBER_WIDTH = 0.18, 2.4
"""Of dense waves. Labels: times the root of the number of columns once more, as classes differ in
some columns rather than in all."""
SPARSE_LABEL_WIDTH, SPARSE_NUMBER_WIDTH = 0.6, 1.0
"""Of waves that see two features each."""

LABEL_PRIOR, NUMBER_PRIOR = 30.0, 3000.0
"""Prior variance of a prediction, in units of the noise: of one weight of d, with its feature
scaled to at most 1, 1/d of it. Labels are noisy; numbers may be known far better than their
range."""

FOREST_BASE = 3e-4
"""The mu of the linear filter whose errors the residual forest learns."""
WIDEST_DISCRIMINANTS = ((0.0, 100), (1e-3, 40))
"""The mu of a linear discriminant, and for how many columns at most: it costs their square."""
BAYES_FORGETTING = (0.0, 1e-2)
PROTOTYPE_FORGETTING = 1e-3
RANK_FORGETTING = (0.0, 1e-3)
LABEL_INTERACTIONS, NUMBER_INTERACTIONS = 3e-4, 1e-3
"""The mu of the filter on products of columns."""

KINDS = {
    "quick_forest": "trees that split early",
    "careful_forest": "trees that split late",
    "residual_forest": "trees on what a line leaves over",
    "gaussian_bayes": "Gaussian naive Bayes",
    "histogram_bayes": "naive Bayes on histograms",
    "discriminant": "linear discriminants",
    "prototypes": "prototypes of the classes",
    "majority": "the most frequent class",
    "no_change": "the last label again",
    "sketch": "sketches of linear filters",
    "additive": "a sum of one curve per column",
    "interactions": "a sum of products of columns",
}
"""Experts that are no filters, in words."""

GIVEN: ExpertDesign = ("given", 0.0, 0.0)
"""An expert of the user's, whose answers come with the rows (`engines/own.py`)."""

Map = tuple[str, float, int]
Design = tuple[list[Map], list[ExpertDesign]]
_LINEAR: Map = ("linear", 0.0, 0)
_RANKS: Map = ("ranks", 0.0, 0)
_PRODUCTS: Map = ("products", 0.0, 0)
_FOURIER: tuple[Map, ...] = tuple(("fourier", width, CURVES) for width in WIDTHS)


def design_for(features: Any, rule: Forgetting, columns: int, *, labels: bool) -> Design:
    """Return what experts see, and the experts.

    Parameters
    ----------
    features : str or transformer
        As in `dfop.DFOPRegressor`.
    rule : Forgetting
        How the past fades.
    columns : int
        Coded columns of the first row.
    labels : bool
        Whether labels are predicted, not numbers.
    """
    if isinstance(rule, Few):
        return [_LINEAR], _filters(0, FEW_FORGETTING, FEW_WALKS)
    if isinstance(features, str) and features == "auto" and isinstance(rule, Automatic):
        return _pool_for_labels(columns) if labels else _pool_for_numbers(columns)
    maps = {"rff": list(_FOURIER), "poly": [_PRODUCTS]}.get(str(features), [_LINEAR])
    experts: list[ExpertDesign] = []
    for view in range(len(maps)):
        experts += [(view, rule.mu, 0.0)] if isinstance(rule, ByRows) else _filters(view)
    return maps, experts


def _filters(
    view: int, forgetting: tuple[float, ...] = FORGETTING, walks: tuple[float, ...] = WALKS
) -> list[ExpertDesign]:
    return [*((view, mu, 0.0) for mu in forgetting), *((view, 0.0, q) for q in walks)]


def _maps(columns: int, dense: float, sparse: float) -> list[Map]:
    maps = [_LINEAR, ("fourier", dense, CURVES), ("sparse", sparse, CURVES)]
    return maps if columns > SKETCHED else [*maps, _RANKS]


def _straight(
    columns: int, forgetting: tuple[float, ...], walks: tuple[float, ...]
) -> list[ExpertDesign]:
    """Return the filters on the features and on their ranks, or the sketches for many columns."""
    if columns > SKETCHED:
        return [("sketch", mu, 0.0) for mu in WIDE_FORGETTING]
    if columns > WIDE:
        return _filters(0, WIDE_FORGETTING, WIDE_WALKS) + _filters(3, RANK_FORGETTING[:1], ())
    return _filters(0, forgetting, walks) + _filters(3, RANK_FORGETTING, ())


def _pool_for_labels(columns: int) -> Design:
    width = LABEL_WIDTH * math.sqrt(max(columns, 1))
    maps = _maps(columns, width, SPARSE_LABEL_WIDTH)
    experts = _straight(columns, LABEL_FORGETTING, LABEL_WALKS)
    experts += [("no_change", 0.0, 0.0), ("majority", 0.0, 0.0)]
    experts += [("gaussian_bayes", mu, 0.0) for mu in BAYES_FORGETTING]
    experts.append(("histogram_bayes", 0.0, 0.0))
    experts += [("discriminant", mu, 0.0) for mu, most in WIDEST_DISCRIMINANTS if columns <= most]
    experts.append(("prototypes", PROTOTYPE_FORGETTING, 0.0))
    experts += _filters(1, CURVED_FORGETTING, ())
    experts += _filters(2, CURVED_FORGETTING, ())
    return maps, experts + _sums(columns, LABEL_INTERACTIONS) + _forests()


def _pool_for_numbers(columns: int) -> Design:
    maps = _maps(columns, NUMBER_WIDTH, SPARSE_NUMBER_WIDTH)
    experts = _straight(columns, FORGETTING, WALKS)
    experts.append(("no_change", 0.0, 0.0))
    experts += _filters(1, CURVED_FORGETTING, ())
    experts += _filters(2, CURVED_FORGETTING, SPARSE_NUMBER_WALKS)
    return maps, experts + _sums(columns, NUMBER_INTERACTIONS) + _forests()


def _sums(columns: int, mu: float) -> list[ExpertDesign]:
    """Return the sums of curves and of products, for columns that are not too many for them."""
    if columns > WIDE:
        return []
    return [("additive", 0.0, 0.0), ("interactions", mu, 0.0)]


def _forests() -> list[ExpertDesign]:
    return [
        ("quick_forest", 0.0, 0.0),
        ("careful_forest", 0.0, 0.0),
        ("residual_forest", FOREST_BASE, 0.0),
    ]
