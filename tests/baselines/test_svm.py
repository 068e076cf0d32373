"""The three SVM baselines against loops that use scikit-learn's SVC."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from dfop.baselines import AdaptiveSVM, FixedSVM, WindowSVM
from dfop.baselines.svm import Machine


def svc(X, y, **parameters):
    """SVC, or the only class there is."""
    if len(set(y)) == 1:
        return lambda Z: np.full(len(Z), y[0])
    return SVC(C=1.0, **parameters).fit(X, y).predict


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("classes", [[0, 1], [1, 2], [0, 1, 2], [0, 2], [3]])
def test_machine_equals_svc(kernel, classes):
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, y = rng.normal(size=(40, 3)), rng.choice(classes, 40)
        fresh = rng.normal(size=(100, 3))
        machine = Machine(X, y, kernel=kernel, gamma=0.5, C=1.0)
        expected = svc(X, y, kernel=kernel, gamma=0.5)(fresh)
        np.testing.assert_array_equal(machine.predict(fresh), expected)


def test_window_svm_equals_a_refit_for_every_row(three_classes):
    X, y = three_classes
    expected = [10]
    for i in range(1, len(X)):
        past = slice(max(i - 50, 0), i)
        expected.append(svc(X[past], y[past], gamma=1 / 3)(X[i : i + 1])[0])
    np.testing.assert_array_equal(WindowSVM().predict_then_learn(X, y), expected)


def test_fixed_svm_equals_training_on_the_last_window_after_every_batch(flipping):
    X, y = flipping
    predicted = FixedSVM(batch_size=60, window=150).predict_then_learn(X, y)
    for end in range(60, len(X), 60):
        past = slice(max(end - 150, 0), end)
        expected = svc(X[past], y[past], kernel="linear")(X[end : end + 60])
        np.testing.assert_array_equal(predicted[end : end + 60], expected)


def test_fixed_svm_carries_support_vectors_of_rows_that_left_the_window(flipping):
    X, y = flipping
    predicted = FixedSVM(batch_size=50, window=80, carry_support_vectors=True).predict_then_learn(
        X, y
    )
    support = set()
    for end in range(50, len(X), 50):
        rows = sorted(support | set(range(max(end - 80, 0), end)))
        model = SVC(kernel="linear", C=1.0).fit(X[rows], y[rows])
        support = {rows[i] for i in model.support_}
        np.testing.assert_array_equal(
            predicted[end : end + 50], model.predict(X[end : end + 50]), err_msg=str(end)
        )


def test_the_paper_uses_a_window_of_500_on_sea_because_it_helps(published):
    X, y = published("sea")
    X, y = X[:20_000], y[:20_000]
    short, long = (
        np.mean(FixedSVM(window=window).predict_then_learn(X, y) == y) for window in (100, 500)
    )
    assert long > short + 0.01


def literal_adaptive(X, y, batch, most, rho):
    """Klinkenberg's choice of the window, written with SVC for labels -1 and +1."""
    predicted, windows = [], []
    for end in range(batch, len(X), batch):
        best = None
        for h in range(min(end // batch, most)):
            rows = np.arange(end - (h + 1) * batch, end)
            model = SVC(kernel="linear", C=1.0).fit(X[rows], y[rows])
            alpha = np.zeros(len(rows))
            alpha[model.support_] = np.abs(model.dual_coef_[0])
            xi = np.maximum(0, 1 - y[rows] * model.decision_function(X[rows]))
            R2 = max(x @ x for x in X[rows])
            errors = sum((rho * alpha * R2 + xi >= 1)[-batch:])
            if best is None or errors <= best[0]:
                best = errors, h + 1, model
        windows.append(best[1])
        predicted.append(best[2].predict(X[end : end + batch]))
    return np.concatenate(predicted), windows


@pytest.mark.parametrize("rho", [1.0, 2.0])
def test_adaptive_svm_equals_klinkenbergs_rule(flipping, rho):
    X, words = flipping
    X = X / 10  # small enough that the estimate is not every support vector
    y = np.where(words == "warm", 1, -1)
    expected, windows = literal_adaptive(X, y, 50, 4, rho)
    model = AdaptiveSVM(batch_size=50, max_batches=4, rho=rho)
    predicted, chosen = [], []
    for begin in range(0, len(X), 50):
        rows = slice(begin, begin + 50)
        predicted.append(model.predict_then_learn(X[rows], y[rows]))
        chosen.append(model.window_)
    np.testing.assert_array_equal(np.concatenate(predicted[1:]), expected)
    assert chosen[: len(windows)] == windows
    assert len(set(windows)) > 1


def test_every_true_leave_one_out_error_is_marked():
    """Joachims' theorem, for rho = 2: what the estimate does not mark is right if left out."""
    rng = np.random.default_rng(5)
    for classes in (2, 3):
        y = rng.integers(0, classes, 40)
        X = rng.normal(size=(40, 2)) + 1.5 * y[:, None]
        X = X / np.abs(X).max()
        machine = Machine(X, y, kernel="linear", gamma=0.0, C=1.0)
        marked = set(machine.leave_one_out_errors(X, rho=2.0))
        wrong = set()
        for i in range(40):
            rest = np.delete(np.arange(40), i)
            if SVC(kernel="linear").fit(X[rest], y[rest]).predict(X[i : i + 1])[0] != y[i]:
                wrong.add(i)
        assert wrong <= marked
        assert len(marked) < 40


def test_adaptive_svm_shortens_its_window_when_the_concept_changes(flipping):
    X, y = flipping
    model = AdaptiveSVM(batch_size=50, max_batches=5)
    model.partial_fit(X[:350], y[:350])  # the classes changed places at row 300
    assert model.window_ == 1


def test_a_solver_that_stops_early_says_so():
    rng = np.random.default_rng(6)
    X, y = 1e3 * rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    with pytest.warns(ConvergenceWarning, match="Scale the features"):
        FixedSVM(max_iter=10).fit(X, y)
