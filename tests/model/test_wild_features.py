"""Values far outside all that was seen of a column do the default learner no lasting harm."""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor, load, save

N, AT = 3000, 1000


def world(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5))
    return rng, X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=N)


def root_mean_square(model, X, y, rows):
    return float(np.sqrt(np.mean((model.predict_then_learn(X, y) - y)[rows] ** 2)))


@pytest.mark.parametrize("value", [1e6, -9999.0, 1e100])
@pytest.mark.parametrize("seed", range(3))
def test_after_one_wild_value_errors_are_what_they_were(seed, value):
    _, X, y = world(seed)
    rows = np.arange(AT + 1, N)
    clean = root_mean_square(DFOPRegressor(), X, y, rows)
    X[AT, 0] = value
    assert root_mean_square(DFOPRegressor(), X, y, rows) < 1.1 * clean


@pytest.mark.parametrize("seed", range(3))
def test_a_number_that_stands_for_nothing_now_and_then(seed):
    """Rows beside it are predicted nearly as if it never came."""
    rng, X, y = world(seed)
    wild = rng.random(N) < 0.01
    wild[:100] = False
    rows = ~wild & (np.arange(N) >= 500)
    clean = root_mean_square(DFOPRegressor(), X, y, rows)
    X[wild, 0] = -9999.0
    assert root_mean_square(DFOPRegressor(), X, y, rows) < 1.25 * clean


def test_labels_are_told_as_before():
    _, X, y = world(7)
    labels, rows = np.where(y > 0, "up", "down"), np.arange(AT + 1, N)
    clean = np.mean((DFOPClassifier().predict_then_learn(X, labels) == labels)[rows])
    X[AT, 1] = 1e6
    found = np.mean((DFOPClassifier().predict_then_learn(X, labels) == labels)[rows])
    assert found > clean - 0.01


@pytest.mark.parametrize("ends", [(400, 1001), (5, 11, 999, 1000, 1002)])
def test_calls_and_files_may_end_anywhere(tmp_path, ends):
    rng, X, y = world(9)
    X, y = X[:1500], y[:1500]
    wild = rng.random(X.shape) < 0.01
    X[wild] *= 10.0 ** rng.uniform(1, 9, wild.sum())
    whole = DFOPRegressor()
    expected = whole.predict_then_learn(X, y)
    cut, parts = DFOPRegressor(), []
    for start, end in zip([0, *ends], [*ends, len(X)], strict=True):
        parts.append(cut.predict_then_learn(X[start:end], y[start:end]))
        save(cut, tmp_path / "model.dfop")
        cut = load(tmp_path / "model.dfop")
    np.testing.assert_array_equal(np.concatenate(parts), expected)
    np.testing.assert_array_equal(cut.predict(1e3 * X), whole.predict(1e3 * X))


def test_labels_may_come_late():
    """A wild row is seen alike when it comes and when its label does."""
    rng, X, y = world(11)
    X, y = X[:600], y[:600]
    wild = rng.random(X.shape) < 0.02
    X[wild] *= 1e6
    one, many = DFOPRegressor(), DFOPRegressor()
    for start in range(0, 600, 50):
        rows = slice(start, start + 50)
        first = one.predict_pending(X[rows], range(start, start + 50))
        one.learn_pending(range(start, start + 50), y[rows])
        second = many.predict_pending(X[rows], range(start, start + 50))
        for t in range(start, start + 50):
            many.learn_pending([t], y[t : t + 1])
        np.testing.assert_array_equal(first, second)


def test_filters_asked_for_by_name_learn_their_features_as_they_are():
    """Their weights are the minimisers of one objective, over all rows."""
    _, X, y = world(13)
    X[AT, 0] = 1e6
    tame = X.copy()
    tame[AT, 0] = X[:AT, 0].max()
    for settings in ({"forgetting": 0.01}, {"features": "linear"}, {"features": "rff"}):
        as_is, drawn = DFOPRegressor(**settings), DFOPRegressor(**settings)
        after = slice(AT + 1, AT + 50)
        assert not np.array_equal(
            as_is.predict_then_learn(X, y)[after], drawn.predict_then_learn(tame, y)[after]
        )
