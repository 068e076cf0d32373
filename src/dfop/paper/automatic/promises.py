"""What the automatic learner has to reach on full streams, with no argument and with lags."""

from types import MappingProxyType

__all__ = ["LAGGED", "PROMISED_ACCURACY", "PROMISED_ERROR"]

PROMISED_ACCURACY = MappingProxyType(
    {
        "SEA": 87.6,
        "hyperplane": 90.1,
        "1CDT": 99.8,
        "2CDT": 96.1,
        "1CHT": 99.2,
        "2CHT": 89.5,
        "1CSurr": 98.4,
        "UG-2C-2D": 95.9,
        "UG-2C-5D": 93.3,
        "MG-2C-2D": 93.1,
        "G-2C-2D": 99.7,
        "Chess": 79.3,
        "Usenet-1": 71.5,
        "Usenet-2": 77.3,
        "Luxembourg": 99.0,
        "Spam": 96.8,
        "Weather": 81.1,
        "Powersupply": 86.0,
        "Electricity": 91.5,
    }
)
"""Percent, by stream of labels."""

PROMISED_ERROR = MappingProxyType(
    {"hyperplane": 0.52, "SRU-1": 0.040, "SRU-2": 0.043, "Debutanizer": 0.17}
)
"""Mean squared error x 100, by stream of numbers."""

LAGGED = MappingProxyType(
    {
        ("regression", "SRU-1"): (2, 0.017),
        ("regression", "SRU-2"): (2, 0.015),
        ("regression", "Debutanizer"): (2, 0.0045),
        ("classification", "Powersupply"): (12, 99.9),
    }
)
"""Number of lags, and what is promised with them."""
