"""scikit-learn's own checks of an estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from dfop import baselines


def reasons(estimator):
    return {}


@parametrize_with_checks(
    [getattr(baselines, name)() for name in baselines.__all__], expected_failed_checks=reasons
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
