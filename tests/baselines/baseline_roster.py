"""Every baseline, with parameters small enough that a short stream crosses many boundaries."""

from dfop import baselines as b

CLASSIFIERS = [
    b.WindowNeighbour(window=15),
    b.WindowSVM(window=12),
    b.FixedSVM(batch_size=20, window=30),
    b.FixedSVM(batch_size=20, window=20, carry_support_vectors=True),
    b.AdaptiveSVM(batch_size=20, max_batches=3),
    b.DynamicWeightedMajority(period=7),
    b.DynamicWeightedMajority(period=1),
    b.OnlineBaggingClassifier(n_members=3, random_state=0),
    b.EOSELMClassifier(n_members=3, n_hidden=8, random_state=0),
    b.LearnNSEClassifier(batch_size=25),
    b.OAUEClassifier(n_members=3, window=30),
    b.RLSClassifier(),
    b.NoChangeClassifier(),
    b.MajorityClass(),
]
REGRESSORS = [
    b.OnlineBaggingRegressor(n_members=3, random_state=0),
    b.AdditiveExpert(max_experts=4),
    b.AdditiveExpert(max_experts=3, prune="oldest"),
    b.EOSELMRegressor(n_members=3, n_hidden=8, random_state=0),
    b.LearnNSERegressor(batch_size=25),
    b.OAUERegressor(n_members=3, window=30),
    b.RLSRegressor(),
    b.NoChangeRegressor(),
    b.RunningMean(),
]
