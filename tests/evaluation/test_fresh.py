"""Holdout on fresh rows of the present concept."""

import numpy as np
import pytest
from river import linear_model
from sklearn.linear_model import SGDClassifier

from dfop.evaluation import holdout

from .fakes import FastSGD, LeastSquares, Numbers, Rows


class Turning(Numbers):
    """y = a x with a = 1, and a = -1 from row 500 on; without noise."""

    changes = (500,)

    def __init__(self, n=1000):
        X = np.random.default_rng(0).normal(size=(n, 1))
        super().__init__(X, X[:, 0] * np.where(np.arange(n) < 500, 1, -1), "turning")
        self.asked = []

    def fresh(self, t, n, rng):
        X = rng.normal(size=(n, 1))
        self.asked.append((t, n, X))
        return X, X[:, 0] * (1 if t < 500 else -1)


def test_the_concept_asked_about_is_that_of_the_next_row():
    stream = Turning()
    result = holdout(LeastSquares(mu=0.1), stream, every=100, size=2000)
    assert result.rows.tolist() == list(range(100, 1001, 100))
    assert [t for t, _, _ in stream.asked] == [*range(100, 1000, 100), 999]
    assert {n for _, n, _ in stream.asked} == {2000}
    # The weight is 1 until the change, so that the loss at row 500 is E (x - -x)^2 = 4.
    np.testing.assert_allclose(result.scores[:4], 0, atol=1e-4)
    assert result.scores[4] == pytest.approx(4, rel=0.1)
    np.testing.assert_allclose(result.scores[6:], 0, atol=1e-4)


def test_models_are_asked_about_the_same_rows():
    one, two, three = Turning(), Turning(), Turning()
    holdout(LeastSquares(), one, every=250)
    holdout(linear_model.LinearRegression(), two, every=250)
    holdout(LeastSquares(), three, every=250, seed=1)
    for (_, _, a), (_, _, b), (_, _, c) in zip(one.asked, two.asked, three.asked, strict=True):
        np.testing.assert_array_equal(a, b)
        assert (a != c).all()


def test_fresh_rows_are_not_learned():
    often, seldom = LeastSquares(), LeastSquares()
    holdout(often, Turning(), every=10, size=5)
    holdout(seldom, Turning(), every=1000, size=5)
    np.testing.assert_array_equal(often.w_, seldom.w_)


@pytest.mark.parametrize("model", [SGDClassifier(random_state=0), FastSGD(random_state=0)])
def test_classes_are_scored_by_accuracy(model):
    class Halves(Rows):
        def fresh(self, t, n, rng):
            X = rng.normal(size=(n, 2))
            return X, np.where(X[:, 0] > 0, "right", "left")

    X = np.random.default_rng(0).normal(size=(500, 2))
    result = holdout(model, Halves(X, np.where(X[:, 0] > 0, "right", "left")), every=100)
    assert result.score_name == "accuracy"
    assert (result.scores > 0.8).all()
    assert list(result.to_frame()) == ["accuracy"]


def test_progress_counts_the_rows():
    seen = []
    holdout(LeastSquares(), Turning(), every=400, progress=lambda done, _: seen.append(done))
    assert seen == [400, 800, 1000]


def test_clear_errors():
    with pytest.raises(TypeError, match=r"has no fresh\(t, n, rng\)"):
        holdout(LeastSquares(), Numbers([[1.0]], [1.0]))
    silent = Turning()
    silent.fresh = None
    with pytest.raises(TypeError, match=r"has no fresh\(t, n, rng\)"):
        holdout(LeastSquares(), silent)
    with pytest.raises(ValueError, match="every must be at least 1"):
        holdout(LeastSquares(), Turning(), every=0)
    with pytest.raises(ValueError, match="size must be at least 1"):
        holdout(LeastSquares(), Turning(), size=0)
    with pytest.raises(ValueError, match="has no rows"):
        holdout(LeastSquares(), Turning(0))
