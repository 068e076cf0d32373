"""Who takes part, in the order in which they run: the slow ones last."""

from dfop import DFOPClassifier, DFOPRegressor
from dfop.baselines import MajorityClass, NoChangeClassifier, NoChangeRegressor, RunningMean

from . import capymoa_systems, river_systems
from .rows import LABELS, NUMBERS
from .systems import System, retrained, whole

BOTH = (LABELS, NUMBERS)
OURS = "dfop"
BANK = "dfop, linear bank"

SYSTEMS = [
    System(OURS, OURS, "dfop", BOTH, whole(DFOPClassifier, DFOPRegressor)),
    System(BANK, OURS, "dfop", BOTH, whole(DFOPClassifier, DFOPRegressor, features="linear")),
    System("no-change", "no-change", "dfop", BOTH, whole(NoChangeClassifier, NoChangeRegressor)),
    System("majority", "majority", "dfop", BOTH, whole(MajorityClass, RunningMean)),
    *capymoa_systems.SYSTEMS,
    System("LightGBM, retrained", "LightGBM", "lightgbm", BOTH, retrained),
    *river_systems.SYSTEMS,
    *river_systems.SLOW,
    *capymoa_systems.SLOW,
]

FAMILY_KINDS = (
    OURS, "no-change", "ARF10", "SRP10", "LeveragingBagging", "kNN", "naive Bayes", "LightGBM"
)  # fmt: skip
FAMILY_SYSTEMS = sorted(
    (
        system
        for system in SYSTEMS
        if system.kind in FAMILY_KINDS and system.peer not in (BANK, "CapyMOA SAMkNN")
    ),
    key=lambda system: system.kind == "LightGBM",  # last: a hundred classes take it minutes
)
"""Whom the generated families are set against."""
