"""scikit-learn's own checks of an estimator: every baseline passes every one of them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from dfop import baselines


# An infinite label is refused, but not before NumPy has warned about it in scikit-learn itself.
@parametrize_with_checks([getattr(baselines, name)() for name in baselines.__all__])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
