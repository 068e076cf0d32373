"""What the automatic learner is held against, beside the paper: its promises and the best peers."""

from types import MappingProxyType
from typing import NamedTuple

__all__ = ["CLASSIFICATION_BARS", "LAGGED", "PEERS_ARE", "REGRESSION_BARS", "Bar"]

PEERS_ARE = (
    "Best peer: the best in hindsight of about 25 systems on that stream, at their defaults, every "
    "row predicted before it is learned, over the full stream in file order (CapyMOA 0.15: forests "
    "of 10 to 100 trees, streaming random patches, leveraging bagging, boosting, DWM, Hoeffding "
    "trees, neighbours, regressors; River 0.26: logistic regression, passive-aggressive, ALMA, "
    "neighbours, forests, Bayesian linear regression). Nobody knows beforehand which of them to "
    "take: the best single one, leveraging bagging, is 1.7 points lower on average. These numbers "
    "were measured apart from this run."
)


class Bar(NamedTuple):
    """Accuracy in percent, or mean squared error x 100, on a full stream."""

    promised: float
    """What the learner with no argument has to reach."""
    peer: str
    peer_score: float


CLASSIFICATION_BARS = MappingProxyType(
    {
        "SEA": Bar(87.6, "ARF30", 88.35),
        "hyperplane": Bar(90.1, "River LogisticRegression", 89.57),
        "1CDT": Bar(99.8, "kNN", 99.78),
        "2CDT": Bar(96.1, "SAMkNN", 95.43),
        "1CHT": Bar(99.2, "SAMkNN", 99.30),
        "2CHT": Bar(89.5, "SGBT100", 88.36),
        "1CSurr": Bar(98.4, "River kNN", 98.18),
        "UG-2C-2D": Bar(95.9, "DWM", 95.97),
        "UG-2C-5D": Bar(93.3, "DWM", 93.62),
        "MG-2C-2D": Bar(93.1, "ARF10", 92.55),
        "G-2C-2D": Bar(99.7, "kNN", 99.87),
        "Chess": Bar(79.3, "River ARF10", 77.93),
        "Usenet-1": Bar(71.5, "ARF100", 72.40),
        "Usenet-2": Bar(77.3, "River LogisticRegression", 77.33),
        "Luxembourg": Bar(99.0, "River ARF10", 99.74),
        "Spam": Bar(96.8, "River PassiveAggressive", 97.10),
        "Weather": Bar(81.1, "ARF100", 79.53),
        "Powersupply": Bar(86.0, "River ALMA", 82.50),
        "Electricity": Bar(91.5, "River PassiveAggressive", 92.27),
    }
)

REGRESSION_BARS = MappingProxyType(
    {
        "hyperplane": Bar(0.52, "River BayesianLinearRegression(.9)", 0.613),
        "SRU-1": Bar(0.040, "SGBR", 0.096),
        "SRU-2": Bar(0.043, "SGBR", 0.118),
        "Debutanizer": Bar(0.17, "SGBR", 0.309),
    }
)

LAGGED = MappingProxyType(
    {
        ("regression", "SRU-1"): (2, 0.017),
        ("regression", "SRU-2"): (2, 0.015),
        ("regression", "Debutanizer"): (2, 0.0045),
        ("classification", "Powersupply"): (12, 99.9),
    }
)
"""Number of lags, and what is promised with them."""
