"""Files of every format ever written load and go on as the version that wrote them would have."""

import copy
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made import SMALL
from old_models import MODELS, expected, path_of, plain

from dfop import DFOPClassifier, DFOPRegressor, from_bytes, load, save, to_bytes
from dfop.core import Calibration
from dfop.files.container import pack, unpack
from mixed_rows import coded_by_hand
from model_state import everything

FORMATS = Path(__file__).parents[1] / "formats"
EXPECTED = expected()
GROWING = {name for name in MODELS if name.startswith("river-auto")}
"""A bank's output for a class that comes later starts when the file is loaded, not with the class:
the probabilities are then a little different from those of old."""


def same(told, before, tolerance):
    if isinstance(before, list):
        assert len(told) == len(before)
        for one, other in zip(told, before, strict=True):
            same(one, other, tolerance)
    elif isinstance(before, dict):
        assert told.keys() == before.keys()
        same([told[key] for key in before], list(before.values()), tolerance)
    elif isinstance(before, float):
        assert told == pytest.approx(before, abs=tolerance, rel=tolerance)
    else:
        assert told == before


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_format_2_goes_on_as_it_did_then(name):
    _, kind, _, _, go_on = MODELS[name]
    told = plain(go_on(load(path_of(name)), kind))
    if name in GROWING:
        same(told[:20], EXPECTED[name][:20], 0.03 if name == "river-auto-one" else 1e-12)
        same(told, EXPECTED[name], 0.03)
    else:
        same(told, EXPECTED[name], 1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_an_old_model_can_be_saved_anew(name, tmp_path):
    _, kind, _, _, go_on = MODELS[name]
    old = load(path_of(name))
    save(old, tmp_path / "model.dfop")
    new = load(tmp_path / "model.dfop")
    assert everything(new) == everything(old)
    assert plain(go_on(new, kind)) == plain(go_on(old, kind))
    assert everything(from_bytes(to_bytes(new))) == everything(old)


# -- against the closed form ------------------------------------------------------------------


def stream(n=300, d=4):
    t = np.arange(n)[:, np.newaxis]
    X = np.sin((t + 1.0) * np.sqrt(np.arange(2.0, d + 2.0)))
    return X, X @ np.arange(1.0, d + 1.0) + np.cos(3.0 * t[:, 0])


def closed_form(X, y, mu, prior_variance=100.0):
    """Discounted ridge regression with intercept, straight from its normal equations."""
    Z = np.c_[np.ones(len(X)), X]
    decay = (1.0 - mu) ** np.arange(len(X) - 1, -1, -1)[:, np.newaxis]
    R = (Z * decay).T @ Z + (1.0 - mu) ** len(X) / prior_variance * np.eye(Z.shape[1])
    return np.linalg.solve(R, (Z * decay).T @ y)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_filters_of_every_format_solve_their_equations(number):
    """Each file was saved after 200 rows of `stream()` with mu = 0.05."""
    X, y = stream()
    regressor = load(FORMATS / f"format-{number}-regressor.dfop")
    regressor.partial_fit(X[200:], y[200:])
    w = closed_form(X, y, 0.05)
    np.testing.assert_allclose(np.r_[regressor.intercept_, regressor.coef_], w, atol=1e-10)

    classifier = load(FORMATS / f"format-{number}-classifier.dfop")
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert classifier.feature_names_in_.tolist() == list("abcd")
    table, labels = pd.DataFrame(X, columns=list("abcd")), np.where(y > 0, "yes", "no")
    classifier.partial_fit(table[200:], labels[200:])
    w = closed_form(X, np.where(y > 0, 1.0, -1.0), 0.05)
    np.testing.assert_allclose(np.r_[classifier.intercept_, classifier.coef_[0]], w, atol=1e-10)

    twin = load(FORMATS / f"format-{number}-river.dfop")
    for row, target in zip(X[200:], y[200:], strict=True):
        twin.learn_one(dict(zip("abcd", map(float, row), strict=True)), float(target))
    w = closed_form(X, y, 0.05)
    np.testing.assert_allclose([twin.intercept, *twin.weights.values()], w, atol=1e-10)


def mixed_stream(n=300):
    """Rows of text, numbers and gaps, without random numbers."""
    X, y = stream(n)
    return [
        {
            "size": None if k % 11 == 5 else float(X[k, 0]),
            "color": None if k % 13 == 7 else f"c{k * k % 5}",
            "weight": float(X[k, 1]),
        }
        for k in range(n)
    ], y


def test_files_of_mixed_rows_stay_readable():
    """Saved after 200 rows of `mixed_stream()` with mu = 0.05."""
    records, y = mixed_stream()
    names, rows = coded_by_hand(records)
    w = closed_form(rows, y, 0.05)
    model = load(FORMATS / "format-1-mixed.dfop")
    model.partial_fit(pd.DataFrame(records[200:]), y[200:])
    assert model.coded_names_.tolist() == names
    # gaps hold the mean of all values, of which there are more now
    sizes = [record["size"] for record in records if record["size"] is not None]
    rows[[record["size"] is None for record in records], 0] = np.mean(sizes)
    predicted = model.predict(pd.DataFrame(records))
    np.testing.assert_allclose(predicted, np.c_[np.ones(300), rows] @ w, atol=1e-8)
    twin = load(FORMATS / "format-1-mixed-river.dfop")
    for record, target in zip(records[200:], y[200:], strict=True):
        twin.learn_one(record, float(target))
    assert list(twin.weights) == names
    np.testing.assert_allclose([twin.predict_one(r) for r in records], predicted, atol=1e-10)


def test_a_file_from_before_text_and_gaps_holds_numbers():
    model = load(FORMATS / "format-1-regressor.dfop")
    assert np.isfinite(model.predict([[1.0, None, 2.0, 3.0]])).all()
    with pytest.raises(ValueError, match="'red' at row 0, column 1, a column that held numbers"):
        model.partial_fit([[1.0, "red", 2.0, 3.0]], [1.0])
    twin = load(FORMATS / "format-1-river.dfop")
    twin.learn_one({"a": None, "new": "red"}, 1.0)
    assert {"a", "a is missing", "new=red"} <= set(twin.weights)


@pytest.mark.parametrize(("what", "error"), [("automatic", 0.01), ("curves", 0.5)])
def test_banks_of_format_2_know_the_law_of_their_stream(what, error):
    """Saved after 200 rows of a stream whose law is known."""
    X, _ = stream()
    y = X @ [1.0, 2.0, 3.0, 4.0]
    model = load(FORMATS / f"format-2-{what}.dfop")
    ahead = model.predict_then_learn(X[200:], y[200:])
    assert np.median(np.abs(ahead - y[200:])) < error
    assert model.pending_ == ["waiting"]


def test_a_bank_of_river_of_format_2_knows_its_classes():
    X, _ = stream()
    right = 0
    twin = load(FORMATS / "format-2-automatic-river.dfop")
    for row, target in zip(
        X[200:].tolist(), (X[200:] @ [1.0, 2.0, 3.0, 4.0]).tolist(), strict=True
    ):
        x, label = dict(zip("abcd", row, strict=True)), "up" if target > 0 else "down"
        right += twin.predict_one(x) == label
        twin.learn_one(x, label)
    assert right >= 95


# -- format 3 ---------------------------------------------------------------------------------


def without_what_experts_made(model):
    """The first files of format 3 did not know what experts had made of rows that wait."""
    document, tensors = unpack(to_bytes(model))
    return from_bytes(pack(document, {k: v for k, v in tensors.items() if "made" not in k}))


@pytest.mark.parametrize("case", SMALL, ids=repr)
@pytest.mark.filterwarnings("ignore:more than max_", "ignore:.*rows were given up")
def test_files_of_format_3_stay_readable(case, monkeypatch):
    """`made.py` wrote them, when each class had a whole curve of calibration of its own."""
    monkeypatch.setattr("dfop.model.monitor.Calibration", partial(Calibration, curves="apart"))
    old = load(case.path)
    with monkeypatch.context() as before:
        if case.kind == "five":  # fractions were labels then
            case = copy.copy(case)
            case.y = case.y - 0.5
            before.setattr("dfop.rows.labels._check_floats", lambda *given: None)
            before.setattr("dfop.rows.labels._FRACTION", None)
        fresh = without_what_experts_made(case.made())
    assert type(old) is type(fresh)
    same(case.go_on(old), case.go_on(fresh), 1e-6)


def test_a_file_of_before_probabilities_were_corrected_goes_on_from_its_curves():
    X, _ = stream()
    labels = X @ [1.0, 2.0, 3.0, 4.0] > 0
    model = DFOPClassifier(0.05, monitor=True).fit(X[:200], labels[:200])
    document, tensors = unpack(to_bytes(model))
    before = {name: some for name, some in tensors.items() if "/reliability/" not in name}
    assert len(before) == len(tensors) - 2
    old = from_bytes(pack(document, before))
    rest = old.predict_proba_then_learn(X[200:], labels[200:])
    assert rest[0] == pytest.approx(model.predict_proba(X[200:201])[0], abs=0.05)
    assert np.mean(rest.argmax(axis=1) == labels[200:]) > 0.9
    _, learned = unpack(to_bytes(old))
    assert learned["monitor/calibration 0/reliability/weights"].any()


def test_a_file_of_before_leads_were_standardised_goes_on_with_its_curves():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 3))
    labels = X @ [1.0, 2.0, 3.0] + rng.normal(size=600) > 4.0
    model = DFOPClassifier(0.0, monitor=True)
    model.partial_fit(X[:1], labels[:1], classes=[False, True])
    model._model.monitor.keep_curves("of leads")
    model.partial_fit(X[1:300], labels[1:300])
    old = from_bytes(to_bytes(model))
    assert old._model.monitor.calibrations[0].curves == "of leads"
    told = old.predict_proba_then_learn(X[300:], labels[300:])
    np.testing.assert_array_equal(told, model.predict_proba_then_learn(X[300:], labels[300:]))
    assert (
        from_bytes(to_bytes(DFOPClassifier(0.0, monitor=True).fit(X, labels)))
        ._model.monitor.calibrations[0]
        .curves
        == "standard"
    )


def test_a_file_of_before_errors_could_be_wild_goes_on_from_its_widths():
    X, y = stream()
    model = DFOPRegressor(0.05, monitor=True).fit(X[:200], y[:200])
    document, tensors = unpack(to_bytes(model))
    since = {f"monitor/intervals/{name}" for name in ("wild", "least", "usual", "small", "left")}
    before = {name: some for name, some in tensors.items() if name not in since}
    assert len(before) == len(tensors) - 5
    old = from_bytes(pack(document, before))
    np.testing.assert_array_equal(
        old.predict_interval_then_learn(X[200:], y[200:]),
        model.predict_interval_then_learn(X[200:], y[200:]),
    )


# -- old names --------------------------------------------------------------------------------


def test_modules_are_found_under_their_old_names():
    import dfop.persistence
    from dfop.automatic import Expert
    from dfop.drift import drift_spectrum
    from dfop.uncertainty import Alarm, half_widths_at, moved

    assert dfop.persistence.load is dfop.load
    assert dfop.uncertainty.Alarm is Alarm
    assert dfop.drift.drift_spectrum is drift_spectrum
    assert dfop.automatic.Expert is Expert
    assert callable(half_widths_at)
    assert callable(moved)
