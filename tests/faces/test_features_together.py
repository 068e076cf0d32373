"""Features that meet: classes that come later, files, models by key, sketches, merging."""

import numpy as np
import pandas as pd
import pytest

from dfop import DFOPClassifier, DFOPRegressor, Information, Keyed, from_bytes, river, to_bytes

X = np.random.default_rng(0).normal(size=(40, 3))
LABELS = np.where(X[:, 0] > 0, "up", "down")
CONTAINERS = {
    "list": list,
    "series": pd.Series,
    "string": lambda y: pd.Series(y, dtype="string"),
    "objects": lambda y: np.array(y, dtype=object),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_open_classes_come_in_any_container(container):
    labels = CONTAINERS[container](LABELS.tolist())
    model = DFOPClassifier(0.01).partial_fit(X, labels, classes="open")
    expected = DFOPClassifier(0.01).partial_fit(X, LABELS, classes="open").predict(X)
    assert model.predict(X).tolist() == expected.tolist()


def test_open_classes_are_of_one_type():
    with pytest.raises(ValueError, match="labels must be of one type"):
        DFOPClassifier(0.01).partial_fit(X[:2], np.array(["up", 1], object), classes="open")
    model = DFOPClassifier(0.01).partial_fit(X[:1], ["up"], classes="open")
    with pytest.raises(ValueError, match="another type than the class 'up'"):
        model.partial_fit(X[1:3], [1, 2])


@pytest.mark.parametrize("forgetting", ["auto", 0.01])
def test_an_open_model_can_be_kept_before_its_first_label(forgetting):
    model = DFOPClassifier(forgetting)
    model.predict_pending(X, range(40), classes="open")
    again = from_bytes(to_bytes(model))
    for some in (model, again):
        some.learn_pending(range(40), LABELS)
    assert again.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    "given",
    [
        {"prior_mean": [0.0] * 4},
        {"prior_covariance": np.eye(4)},
        {"storage": 5},
        {"monitor": True},
        {"semi": True},
    ],
    ids=lambda given: next(iter(given)),
)
def test_models_by_key_refuse_what_they_do_not_have(given):
    with pytest.raises(ValueError, match=f"leave out {next(iter(given))}="):
        Keyed(DFOPRegressor(0.01, **given))


def test_a_sketch_has_no_covariance_and_cannot_be_merged():
    model = DFOPRegressor(0.01, storage=2).fit(X, X[:, 0])
    with pytest.raises(AttributeError, match="leave out storage="):
        model.covariance_  # noqa: B018
    with pytest.raises(ValueError, match="cannot be merged"):
        Information.from_learner(model)


@pytest.mark.parametrize("lags", [0, 1])
@pytest.mark.parametrize("forgetting", ["auto", 0.01])
def test_several_targets_that_are_missing_at_first_are_several_all_the_same(forgetting, lags):
    Y = X[:, :2] + 1.0
    Y[:3] = np.nan
    whole = DFOPRegressor(forgetting, lags=lags, semi=True).partial_fit(X, Y)
    parts = DFOPRegressor(forgetting, lags=lags, semi=True)
    assert parts.predict_then_learn(X[:3], Y[:3]).shape == (3, 2)
    parts.partial_fit(X[3:], Y[3:])
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


def test_merging_wants_a_list_of_classes():
    with pytest.raises(ValueError, match="give a list of classes"):
        Information.from_data(X, LABELS, 0.01, labels=True, classes="open")


@pytest.mark.parametrize("storage", [None, 3])
def test_a_class_too_many_is_said(storage):
    model = river.DFOPClassifier(0.01, storage=storage, max_classes=2)
    for label in ("a", "b"):
        model.learn_one({"x": 1.0, "y": 2.0}, label)
    with pytest.warns(UserWarning, match="more than max_classes=2 classes"):
        model.learn_one({"x": 1.0, "y": 2.0}, "c")
