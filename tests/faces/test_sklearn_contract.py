"""scikit-learn's own checks, at several settings."""

import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import estimator_checks_generator

from dfop import DFOPClassifier, DFOPRegressor, Retrained, half_life, period

SETTINGS = [
    {},
    {"forgetting": 0.0},
    {"forgetting": 0.1, "fit_intercept": False},
    {"forgetting": half_life(50), "prior_variance": 1.0},
    {"forgetting": period(200), "cap": None},
    {"forgetting": 0.01, "storage": 2},
    {"forgetting": "few"},
    {"features": "linear", "experts": "trees"},
]
TREES = {DFOPRegressor: DecisionTreeRegressor, DFOPClassifier: DecisionTreeClassifier}


def made(kind, setting):
    if "experts" in setting:
        setting = {**setting, "experts": [Retrained(TREES[kind](random_state=0), every=20)]}
    return kind(**setting)


def expected_of(estimator):
    """What the order of rows decides cannot be the same after a shuffle, unless mu = 0."""
    if estimator.forgetting == 0.0:
        return {}
    why = (
        "the check shuffles the rows, and a learner that forgets gives a different weight to each "
        "place in the order"
    )
    one = {"check_supervised_y_2d": "own experts learn one target, in y of shape (n,)"}
    return (one if estimator.experts else {}) | {
        f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")
    }


def checks():
    for kind in (DFOPRegressor, DFOPClassifier):
        for number, setting in enumerate(SETTINGS):
            estimator = made(kind, setting)
            expected = expected_of(estimator)
            for _, check in estimator_checks_generator(clone(estimator), legacy=True, mark=None):
                name = check.func.__name__
                marks = (
                    [pytest.mark.xfail(reason=expected[name], strict=True)]
                    if name in expected
                    else []
                )
                label = f"{kind.__name__}-{number}-{name}"
                yield pytest.param(estimator, check, marks=marks, id=label)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_check(estimator, check):
    check(clone(estimator))


def test_works_in_a_pipeline_and_in_cross_validation(rng):
    X = rng.normal(size=(300, 3)) * [1.0, 100.0, 0.01]
    y = X @ [1.0, 0.01, 100.0]
    scores = cross_val_score(make_pipeline(StandardScaler(), DFOPRegressor(0.0)), X, y)
    assert scores.min() > 0.999
