"""Looks at a model: any model can be looked at, at the same rows however they came."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import PolynomialFeatures

from dfop import DFOPClassifier, DFOPRegressor, half_life, river
from dfop.insight.looks import FIRST_LENGTH, MOST_LOOKS, Looks
from dfop.insight.plotting import panels

RNG = np.random.default_rng(11)
X = RNG.normal(size=(400, 3))
NUMBER = X @ [1.0, -2.0, 0.0] + 0.1 * RNG.normal(size=400)
CLASS = np.digitize(NUMBER, [-1.0, 1.0])
WORDS = [[*row, "abc"[k]] for row, k in zip(X.tolist(), CLASS.tolist(), strict=True)]

MODELS = {
    "automatic": (lambda: DFOPRegressor(), X, NUMBER),
    "linear": (lambda: DFOPRegressor(features="linear"), X, NUMBER),
    "curved": (lambda: DFOPRegressor(features="rff"), X, NUMBER),
    "products": (lambda: DFOPRegressor(features="poly"), X, NUMBER),
    "fixed": (lambda: DFOPRegressor(forgetting=0.01), X, NUMBER),
    "no constant": (lambda: DFOPRegressor(fit_intercept=False), X, NUMBER),
    "lags": (lambda: DFOPRegressor(lags=2), X, NUMBER),
    "transformed": (lambda: DFOPRegressor(0.01, features=PolynomialFeatures(2)), X, NUMBER),
    "two outputs": (lambda: DFOPRegressor(), X, np.column_stack([NUMBER, -NUMBER])),
    "classes": (lambda: DFOPClassifier(), X, CLASS),
    "two classes": (lambda: DFOPClassifier(), X, CLASS > 1),
    "several labels": (lambda: DFOPClassifier(), X, np.column_stack([CLASS, CLASS > 1])),
    "words": (lambda: DFOPClassifier(lags=1), WORDS, CLASS),
    "only zeros": (lambda: DFOPRegressor(), 0 * X, NUMBER),
    "huge": (lambda: DFOPRegressor(), 1e140 * X, 1e140 * NUMBER),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_be_looked_at(name):
    make, rows, y = MODELS[name]
    model, looks = make().fit(rows, y), Looks()
    looks.take(model, 400)
    assert looks.last is not None
    assert 0.0 <= looks.last.forgetting < 1.0
    shares = list(looks.last.influence.values())
    assert shares == sorted(shares, reverse=True)
    assert all(0.0 < share <= 1.0 for share in shares)
    assert sum(shares) <= 1.0 + 1e-12
    linear = name not in ("curved", "products", "only zeros")
    assert bool(shares) == linear
    json.dumps(looks.state(), allow_nan=False)


SINGLE = ("fixed", "transformed")


@pytest.mark.parametrize("name", [name for name in MODELS if name not in SINGLE])
def test_every_automatic_model_can_be_drawn(name):
    make, rows, y = MODELS[name]
    model = make().fit(rows, y)
    figure = model.plot()
    figure.draw_without_rendering()
    curved = name in ("curved", "products")
    assert len(figure.axes) == (2 if curved else 3)
    if curved:
        with pytest.raises(AttributeError, match="linear"):
            model.plot_weights()


@pytest.mark.parametrize("name", SINGLE)
def test_a_single_filter_shows_its_weights_alone(name):
    make, rows, y = MODELS[name]
    model = make().fit(rows, y)
    _, [ax] = panels(1, 1, 4, 3)
    drawn = model.plot_weights(ax).lines[-1].get_xdata()
    assert sorted(np.abs(drawn)) == sorted(np.sort(np.abs(model.coef_))[-12:])
    with pytest.raises(AttributeError, match="automatic learner"):
        model.plot()


def test_alarms_are_drawn_where_they_rang_with_what_moved():
    y = np.concatenate([X @ [1.0, 0.0, 0.0]] * 4)
    y[800:] += np.tile(X, (4, 1))[800:] @ [0.0, 5.0, 0.0]
    y += 0.1 * np.random.default_rng(0).normal(size=1600)
    model = DFOPRegressor(features="linear").fit(np.tile(X, (4, 1)), y)
    _, [ax] = panels(1, 1, 6, 3)
    model.plot_alarms(ax)
    rows = {line.get_xdata()[0] for line in ax.lines}
    assert rows == {alarm.row for alarm in model.alarms_}
    assert 800 <= min(rows) < 830
    assert "x1" in [label.get_text() for label in ax.get_yticklabels()]
    errors = model.plot().axes[0]
    assert "x1" in [text.get_text() for text in errors.texts]


@pytest.mark.parametrize("forgetting", [0.001, "auto"])
def test_a_text_matters_as_far_as_its_words_move_the_prediction(forgetting):
    """The columns do not depend on each other: each has the deviation of its share of the target.

    That is 2 and 0.5 of the numbers, and 1.5 sqrt(p (1 - p)) of a word that adds 1.5.
    """
    rng, n = np.random.default_rng(0), 4000
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    frame["city"] = rng.choice(["Oslo", "Bergen", None, "Bod\u00f8"], size=n)
    frame["noise"] = rng.choice(list("xyz"), size=n)
    oslo = (frame["city"] == "Oslo").to_numpy()
    y = 2 * frame["a"] + 0.5 * frame["b"] + 1.5 * oslo + 0.3 * rng.normal(size=n)
    model, looks = DFOPRegressor(forgetting), Looks()
    model.partial_fit(frame, y.to_numpy())
    looks.take(model, n)
    expected = {"a": 2.0, "b": 0.5, "city": 1.5 * np.sqrt(0.25 * 0.75), "noise": 0.0}
    total = sum(expected.values())
    found = looks.last.influence
    assert sorted(found) == sorted(expected)
    for name, reach in expected.items():
        assert found[name] == pytest.approx(reach / total, abs=0.02)


def test_by_the_clock_there_is_no_mu():
    model = DFOPRegressor(forgetting=half_life("3d"))
    model.partial_fit(X, NUMBER, time=np.datetime64("2024-01-01") + np.arange(400))
    looks = Looks()
    looks.take(model, 400)
    assert looks.last.forgetting is None
    assert looks.last.influence


def test_models_for_river_are_looked_at_by_name():
    model = river.DFOPRegressor()
    for row, y in zip(X.tolist(), NUMBER.tolist(), strict=True):
        model.learn_one(dict(zip("abc", row, strict=True)), y)
    looks = Looks()
    looks.take(model, 400)
    assert list(looks.last.influence)[:2] == ["b", "a"]


def test_a_model_that_shows_nothing_is_not_looked_at():
    looks = Looks()
    looks.take(object(), 256)
    looks.take(DFOPRegressor(), 256)
    assert looks.last is None
    assert looks.all() == []


def test_looks_become_sparser_and_stay_few():
    model, looks = DFOPRegressor(forgetting=0.1).fit(X, NUMBER), Looks()
    rows = 0
    for _ in range(1000):
        rows += looks.rows_to_next(rows)
        looks.take(model, rows)
        assert len(looks.kept) < MOST_LOOKS
        assert all(look.row % looks.length == 0 for look in looks.kept)
    gaps = np.diff([0, *(look.row for look in looks.kept)])
    assert set(gaps) == {looks.length}
    assert looks.length > FIRST_LENGTH


def test_looks_go_on_from_their_state():
    model, looks = DFOPRegressor().fit(X, NUMBER), Looks()
    for rows in (256, 512, 600):
        looks.take(model, rows)
    again = Looks()
    again.restore(json.loads(json.dumps(looks.state())))
    assert again.all() == looks.all()
    assert again.state() == looks.state()
