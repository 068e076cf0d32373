"""Models that look before they predict are found, honest ones are not accused."""

import numpy as np
import pytest
from river import linear_model, neighbors, tree
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor

from dfop.evaluation import check_honest, evaluate
from dfop.evaluation.models import untrained

from .fakes import (
    AddsBatchMean,
    ClassOrder,
    ClipsToRange,
    CountsClasses,
    FastProba,
    FastSGD,
    HidesWhatIsFar,
    KnowsIfConstant,
    LateLeastSquares,
    LeastSquares,
    PeeksAtBatch,
    ProbabilityLeak,
    ReadsNextLabel,
    ReadsOwnSign,
    Remembering,
    RoundsToUnit,
    SignOf,
    WidensOnlyUpwards,
)

HONEST = [
    Perceptron(),
    SGDClassifier(),
    FastSGD(),
    SignOf(mu=0.1),
    linear_model.LogisticRegression(),
    tree.HoeffdingTreeClassifier(grace_period=50),
    neighbors.KNNClassifier(n_neighbors=1),
]


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 10))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=1000) > 0, 1, -1)


@pytest.mark.parametrize("model", HONEST, ids=lambda m: type(m).__name__)
def test_honest_classifiers_pass(model, labelled):
    X, y = labelled
    check_honest(model, (X[:150], y[:150]), cuts=1)


@pytest.mark.parametrize("model", HONEST, ids=lambda m: type(m).__name__)
def test_shuffled_labels_are_at_chance(model, labelled):
    X, y = (part[:500] for part in labelled)
    shuffled = np.random.default_rng(1).permutation(y)
    assert evaluate(untrained(model, 0), (X, y)).score > 0.65
    # Four standard deviations of a fair coin over 500 rows.
    assert abs(evaluate(untrained(model, 0), (X, shuffled)).score - 0.5) < 4 * 0.5 / 500**0.5


@pytest.mark.parametrize("delay", [0, 10])
@pytest.mark.parametrize(
    "model", [SGDRegressor(), LeastSquares(), Remembering(), LateLeastSquares()]
)
def test_honest_regressors_pass(model, delay):
    X = np.random.default_rng(0).normal(size=(100, 5))
    check_honest(model, (X, X @ np.arange(5.0)), delay=delay, cuts=2)


def test_the_printed_algorithm_leaks(labelled):
    """Predicting after the update scores 68 % on random labels at d = 10, mu = .01."""
    rng = np.random.default_rng(0)
    X, coins = rng.normal(size=(20000, 10)), rng.choice([-1, 1], size=20000)
    assert evaluate(SignOf(mu=0.01, leak=True), (X, coins)).score == pytest.approx(0.68, abs=0.02)
    assert evaluate(SignOf(mu=0.01), (X, coins)).score == pytest.approx(0.5, abs=0.015)
    with pytest.raises(AssertionError, match="SignOf: "):
        check_honest(SignOf(mu=0.01, leak=True), labelled)


def test_chance_alone_finds_a_leak_that_no_cut_hits(labelled):
    with pytest.raises(AssertionError, match="of random labels right, which an honest model"):
        check_honest(SignOf(mu=0.05, leak=True), labelled, cuts=0)


def test_a_regressor_that_leaks_is_found():
    X = np.random.default_rng(0).normal(size=(1000, 10))
    with pytest.raises(AssertionError, match="LeastSquares: the prediction of row"):
        check_honest(LeastSquares(leak=True), (X, X[:, 0]))
    with pytest.raises(AssertionError, match="go with random targets"):
        check_honest(LeastSquares(mu=0.05, leak=True), (X, X[:, 0]), cuts=0)


def test_a_model_that_peeks_at_its_batch_is_found(labelled):
    X, _ = labelled
    y = np.where(np.arange(1000) % 10, 1, -1)
    with pytest.raises(AssertionError, match="depends on its own label or a later one"):
        check_honest(PeeksAtBatch(), (X, y))


@pytest.mark.parametrize(
    "leaky",
    [
        ClipsToRange,
        WidensOnlyUpwards,
        RoundsToUnit,
        AddsBatchMean,
        KnowsIfConstant,
        HidesWhatIsFar,
        ReadsNextLabel,
        ReadsOwnSign,
    ],
)
@pytest.mark.parametrize("level", [0.0, 50.0])
def test_a_label_that_leaks_a_little_is_found(leaky, level):
    """None of these does better than chance would allow; only interference shows them."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = level + X @ [1.0, -1.0, 0.5, 0.0]
    check_honest(leaky(), (X, y), cuts=0)
    with pytest.raises(AssertionError, match=r"prediction of row \d+ depends on its own label"):
        check_honest(leaky(), (X, y))


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("leaky", [ClassOrder, CountsClasses, PeeksAtBatch])
def test_classes_that_leak_are_found(leaky, classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, classes, size=300)
    with pytest.raises(AssertionError, match="depends on its own label or a later one"):
        check_honest(leaky(), (X, y))


def test_a_leak_in_the_probabilities_alone_is_found(labelled):
    X, y = (part[:80] for part in labelled)
    check_honest(FastProba(loss="log_loss"), (X, y))
    with pytest.raises(AssertionError, match=r"the probability of row \d+ depends"):
        check_honest(ProbabilityLeak(loss="log_loss"), (X, y))


def test_a_model_that_reads_a_late_label_too_early_is_found():
    class Early(LateLeastSquares):
        """It learns the labels of a call as soon as their rows are there."""

        def predict_pending(self, X, keys, labels=None):
            if labels is not None:
                late_keys, y, before = labels
                own = [key - keys[0] + 1 for key in late_keys]
                labels = late_keys, y, np.minimum(before, np.maximum(own, 0))
            return super().predict_pending(X, keys, labels)

    X = np.random.default_rng(0).normal(size=(150, 3))
    with pytest.raises(AssertionError, match="Early: the prediction of row"):
        check_honest(Early(), (X, X[:, 0]), delay=10)


def test_rows_with_text_and_gaps_can_be_checked():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue", None], size=200)
    X = np.column_stack([colour, rng.normal(size=200)]).astype(object)

    class Colours(LeastSquares):
        takes_batches = True

        def predict_then_learn(self, X, y):
            red = np.array([[float(cell == "red")] for cell in X.texts[0].cells()])
            return super().predict_then_learn(np.hstack([red, X.numbers[:, 1:]]), y)

    y = (colour == "red") + 0.1 * rng.normal(size=200)
    check_honest(Colours(), (X, y))
    with pytest.raises(AssertionError, match="Colours: the prediction of row"):
        check_honest(Colours(leak=True), (X, y))
