"""Several targets that come in a data frame are known by their names, on every way in."""

import numpy as np
import pandas as pd
import polars
import pytest

from dfop import DFOPClassifier, DFOPRegressor, ModelFileError, from_bytes, to_bytes
from dfop.files.container import pack, unpack

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 2))
NUMBERS = pd.DataFrame({"up": X[:, 0], "down": -X[:, 1]})
SIDES = np.where(X[:, 0] > 0, "y", "n")
LABELS = pd.DataFrame({"up": SIDES, "down": np.array(list("abc"))[np.arange(40) % 3]})
CASES = [(DFOPRegressor, NUMBERS), (DFOPClassifier, LABELS)]


def swapped(y):
    return y[["down", "up"]]


@pytest.mark.parametrize(("face", "y"), CASES)
@pytest.mark.parametrize("settings", [{}, {"forgetting": 0.01}])
def test_targets_in_another_order_are_refused_and_change_nothing(face, y, settings):
    model = face(**settings).partial_fit(X[:20], y[:20])
    before = to_bytes(model)
    for other in (swapped(y), y.rename(columns={"up": "left"})):
        with pytest.raises(ValueError, match="has learned up, down: give them in that order"):
            model.partial_fit(X[20:], other[20:])
    model.predict_pending(X[20:], range(20))
    with pytest.raises(ValueError, match="has learned up, down"):
        model.learn_pending(range(20), swapped(y)[20:])
    model.forget_pending(range(20))
    model = from_bytes(before)
    with pytest.raises(ValueError, match="has learned up, down"):
        model.predict_then_learn(X[20:], swapped(y)[20:])
    assert to_bytes(model) == before


def test_polars_names_targets_as_pandas_does():
    model = DFOPRegressor(0.01).partial_fit(X, NUMBERS)
    model.partial_fit(X, polars.from_pandas(NUMBERS))
    with pytest.raises(ValueError, match="has learned up, down"):
        model.partial_fit(X, polars.from_pandas(swapped(NUMBERS)))


@pytest.mark.parametrize(("face", "y"), CASES)
def test_names_change_no_bit_and_bind_nobody_who_gives_none(face, y):
    named = face(0.01).partial_fit(X[:20], y[:20])
    plain = face(0.01).partial_fit(X[:20], y[:20].to_numpy())
    for model in (named, plain):
        model.partial_fit(X[20:], y[20:].to_numpy())
    plain.partial_fit(X, swapped(y)) if face is DFOPRegressor else None  # it knows no names
    assert np.array_equal(named.predict(X), face(0.01).partial_fit(X, y).predict(X))
    again = face(0.01).fit(X, y)
    again.fit(X, swapped(y))  # begins anew


@pytest.mark.parametrize("names", [["up", 7], ["up"], "up", []])
@pytest.mark.parametrize(("face", "y"), CASES)
def test_a_file_with_names_that_fit_no_target_is_refused(face, y, names):
    document, arrays = unpack(to_bytes(face(0.01).partial_fit(X, y)))
    assert document["target"]["names"] == ["up", "down"]
    document["target"]["names"] = names
    with pytest.raises(ModelFileError):
        from_bytes(pack(document, arrays))
