"""The methods the paper compares against, one file each, with one contract.

Each is a scikit-learn estimator with ``fit``, ``partial_fit``, ``predict`` and
``predict_then_learn``, the honest one-step-ahead predictions of a stream.
"""

from dfop.baselines.adaptive_svm import AdaptiveSVM
from dfop.baselines.additive_expert import AdditiveExpert
from dfop.baselines.dynamic_weighted_majority import DynamicWeightedMajority
from dfop.baselines.eos_elm import EOSELMClassifier, EOSELMRegressor
from dfop.baselines.fixed_svm import FixedSVM
from dfop.baselines.learn_nse import LearnNSEClassifier, LearnNSERegressor
from dfop.baselines.majority_class import MajorityClass
from dfop.baselines.no_change import NoChangeClassifier, NoChangeRegressor
from dfop.baselines.oaue import OAUEClassifier, OAUERegressor
from dfop.baselines.online_bagging import OnlineBaggingClassifier, OnlineBaggingRegressor
from dfop.baselines.rls import RLSClassifier, RLSRegressor
from dfop.baselines.running_mean import RunningMean
from dfop.baselines.window_neighbour import WindowNeighbour
from dfop.baselines.window_svm import WindowSVM

__all__ = [
    "AdaptiveSVM",
    "AdditiveExpert",
    "DynamicWeightedMajority",
    "EOSELMClassifier",
    "EOSELMRegressor",
    "FixedSVM",
    "LearnNSEClassifier",
    "LearnNSERegressor",
    "MajorityClass",
    "NoChangeClassifier",
    "NoChangeRegressor",
    "OAUEClassifier",
    "OAUERegressor",
    "OnlineBaggingClassifier",
    "OnlineBaggingRegressor",
    "RLSClassifier",
    "RLSRegressor",
    "RunningMean",
    "WindowNeighbour",
    "WindowSVM",
]
