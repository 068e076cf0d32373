"""What every baseline promises, whatever its method."""

import copy
import pickle

import numpy as np
import pytest
from baseline_roster import CLASSIFIERS, REGRESSORS
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from dfop import baselines

EVERY = CLASSIFIERS + REGRESSORS


@pytest.fixture(params=EVERY, ids=repr)
def model(request):
    return clone(request.param)


@pytest.fixture
def stream(request, model):
    return request.getfixturevalue("flipping" if is_classifier(model) else "turning")


def first_call(model, y):
    """Keyword arguments of the first call: all classes, if it is a classifier."""
    return {"classes": np.unique(y)} if is_classifier(model) else {}


def run(model, X, y, cuts):
    """Predict then learn, the rows divided at `cuts`."""
    parts, given = [], first_call(model, y)
    for rows in np.split(np.arange(len(X)), cuts):
        parts.append(model.predict_then_learn(X[rows], y[rows], **given))
    return np.concatenate(parts)


def test_the_roster_is_complete():
    assert {type(m).__name__ for m in EVERY} == set(baselines.__all__)


def test_any_division_into_batches_gives_the_same_predictions(model, stream):
    X, y = stream
    whole = run(model, X, y, [])
    rng = np.random.default_rng(0)
    for pieces in (2, 9, 60):
        cuts = np.sort(rng.choice(np.arange(1, len(X)), pieces, replace=False))
        np.testing.assert_array_equal(run(clone(model), X, y, cuts), whole)


def test_row_by_row_predict_and_partial_fit_is_predict_then_learn(model, stream):
    X, y = stream
    whole = run(clone(model), X, y, [])
    model.partial_fit(X[:1], y[:1], **first_call(model, y))
    for i in range(1, len(X)):
        assert model.predict(X[i : i + 1])[0] == whole[i], i
        model.partial_fit(X[i : i + 1], y[i : i + 1])


def test_three_classes_in_any_batches(three_classes, request):
    X, y = three_classes
    for model in CLASSIFIERS:
        whole = run(clone(model), X, y, [])
        assert set(whole) <= {10, 20, 30}
        single = run(clone(model), X, y, np.arange(1, len(X)))
        np.testing.assert_array_equal(single, whole, err_msg=repr(model))


def test_no_prediction_depends_on_its_own_label_or_a_later_one(model, stream):
    """Change every label from row t on: the predictions of rows 0..t stay as they were."""
    X, y = stream
    X, y = X[:240], y[:240]
    given = first_call(model, y)
    honest = clone(model).predict_then_learn(X, y, **given)
    rng = np.random.default_rng(1)
    for t in [0, 1, 6, 7, 20, 59, 60, *rng.integers(0, len(y), 8)]:
        other = y.copy()
        other[t:] = rng.permutation(y)[t:] if not is_classifier(model) else flip(y[t:])
        spied = clone(model).predict_then_learn(X, other, **given)
        np.testing.assert_array_equal(spied[: t + 1], honest[: t + 1])


def flip(labels):
    return np.where(labels == "cold", "warm", "cold")


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_labels_without_pattern_are_predicted_at_chance(model):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(1600, 2)), rng.integers(0, 2, 1600)
    share = np.mean(clone(model).predict_then_learn(X, y) == y)
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(1600)


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_targets_without_pattern_are_predicted_no_better_than_by_their_mean(model):
    rng = np.random.default_rng(3)
    X, y = rng.uniform(size=(1600, 3)), rng.uniform(size=1600)
    error = np.square(clone(model).predict_then_learn(X, y) - y)
    best = np.square(y - y.mean())
    standard_error = np.std(error - best) / np.sqrt(len(y))
    assert np.mean(error - best) > -4 * standard_error


def test_the_first_prediction_is_the_first_class_or_zero(model, stream):
    X, y = stream
    first = model.predict_then_learn(X[:1], y[:1], **first_call(model, y))[0]
    assert first == ("cold" if is_classifier(model) else 0.0)


def test_predict_before_any_row_is_refused(model, stream):
    with pytest.raises(NotFittedError, match="not fitted"):
        model.predict(stream[0])


def test_fit_forgets(model, stream):
    X, y = stream
    fresh = clone(model).fit(X[300:], y[300:])
    used = model.fit(X[:300], y[:300]).fit(X[300:], y[300:])
    np.testing.assert_array_equal(used.predict(X), fresh.predict(X))


def test_a_copy_and_a_pickle_continue_alike(model, stream):
    X, y = stream
    model.partial_fit(X[:310], y[:310])
    twins = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    expected = model.predict_then_learn(X[310:], y[310:])
    for twin in twins:
        np.testing.assert_array_equal(twin.predict_then_learn(X[310:], y[310:]), expected)


GROWING = (baselines.LearnNSEClassifier, baselines.LearnNSERegressor)


def test_memory_does_not_grow_with_the_stream(model, stream):
    """Save for Learn++.NSE and carried support vectors, which keep what the originals keep."""
    if isinstance(model, GROWING) or getattr(model, "carry_support_vectors", False):
        pytest.skip("grows, and says so")
    if isinstance(model, baselines.DynamicWeightedMajority):
        pytest.skip("as many experts as the stream calls for")
    X, y = stream
    model.partial_fit(X, y)
    before = len(pickle.dumps(model))
    for _ in range(5):
        model.partial_fit(X, y)
    assert len(pickle.dumps(model)) < 1.05 * before


@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_the_largest_and_smallest_numbers_are_predicted_and_learned(model, stream, scale):
    """With every warning an error: nothing overflows, nothing is NaN."""
    X, y = stream
    X = scale * X / np.abs(X).max()
    y = y if is_classifier(model) else scale * y
    predicted = model.predict_then_learn(X, y)
    assert set(predicted) <= set(y) if is_classifier(model) else np.isfinite(predicted).all()


def refusals(X, y, classifier, gaps):
    hole = X.copy()
    hole[3, 1] = np.nan
    if not gaps:
        yield "NaN at row 3, column 1", hole, y
    endless = X.copy()
    endless[5, 0] = -np.inf
    yield "infinity at row 5, column 0", endless, y
    yield f"expecting {X.shape[1]} features", X[:, :1], y
    yield "minimum of 1", X[:0], y[:0]
    yield "inconsistent numbers of samples", X, y[:-1]
    if classifier:
        wrong = y.astype(object)
        wrong[4] = "hot"
        yield "unknown class 'hot' at row 4", X, wrong
    else:
        wrong = y.copy()
        wrong[4] = np.nan
        yield "y contains NaN at row 4", X, wrong


def test_bad_input_is_named_and_changes_nothing(model, stream):
    X, y = stream
    expected = clone(model).partial_fit(X[:200], y[:200]).predict_then_learn(X[200:], y[200:])
    model.partial_fit(X[:200], y[:200])
    gaps = get_tags(model).input_tags.allow_nan
    for message, bad_X, bad_y in refusals(X[:10], y[:10], is_classifier(model), gaps):
        for method in (model.partial_fit, model.predict_then_learn):
            with pytest.raises(ValueError, match=message):
                method(bad_X, bad_y)
    np.testing.assert_array_equal(model.predict_then_learn(X[200:], y[200:]), expected)


def test_a_refused_first_batch_leaves_an_unfitted_model(model, stream):
    X, y = stream
    bad = X.copy()
    bad[0, 0] = np.inf
    for method in (model.fit, model.partial_fit, model.predict_then_learn):
        with pytest.raises(ValueError, match="infinity at row 0, column 0"):
            method(bad, y)
    assert model.__getstate__() == clone(model).__getstate__()


def test_classes_may_not_change():
    model = baselines.MajorityClass().partial_fit([[0.0]], [1], classes=[1, 2])
    with pytest.raises(ValueError, match="differs from the first"):
        model.partial_fit([[0.0]], [1], classes=[1, 2, 3])


@pytest.mark.parametrize(
    ("model", "bad"),
    [
        (baselines.WindowNeighbour(), {"window": 0}),
        (baselines.WindowSVM(), {"C": 0.0}),
        (baselines.FixedSVM(), {"batch_size": 0}),
        (baselines.AdaptiveSVM(), {"max_batches": 0}),
        (baselines.DynamicWeightedMajority(), {"beta": 1.0}),
        (baselines.DynamicWeightedMajority(), {"period": 0}),
        (baselines.OnlineBaggingClassifier(), {"n_members": 0}),
        (baselines.EOSELMClassifier(), {"n_hidden": 0}),
        (baselines.LearnNSEClassifier(), {"slope": -1.0}),
        (baselines.OAUEClassifier(), {"window": 0}),
        (baselines.AdditiveExpert(), {"prune": "youngest"}),
        (baselines.AdditiveExpert(), {"gamma": 0.0}),
    ],
    ids=repr,
)
def test_parameters_out_of_range_are_named(model, bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        clone(model).set_params(**bad).fit([[0.0], [1.0]], [0, 1])
