"""A history is what happened: its figures are those of the rows, however they were cut."""

import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop import DFOPClassifier, DFOPRegressor, evaluate
from dfop.evaluation.curves import windowed
from dfop.report import History
from dfop.report.pieces import Pieces
from dfop.report.rivals import MOST_WAITING, Rivals

CUTS = st.lists(st.integers(1, 400), min_size=1, max_size=30)


def parts_of(n, sizes):
    """Cut n rows into parts of the given sizes, again and again."""
    start, k = 0, 0
    while start < n:
        stop = min(n, start + sizes[k % len(sizes)])
        yield slice(start, stop)
        start, k = stop, k + 1


def numbers(n, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n).cumsum()
    predicted = truth + rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, size=n)
    half = rng.uniform(0.1, 2.0, size=n)
    ends = np.column_stack([predicted - half, predicted + half])
    ends[:3] = -np.inf, np.inf
    return truth, predicted, ends, np.datetime64("2024-02-01", "s") + np.arange(n) * 60


def fed(truth, predicted, ends, time, sizes):
    history = History("regression", window=150)
    for part in parts_of(len(truth), sizes):
        history.add(truth[part], predicted[part], intervals=ends[part], time=time[part])
    return history


def same_state(one, other):
    values, arrays = one.state()
    others, other_arrays = other.state()
    assert json.dumps(values) == json.dumps(others)
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        assert array.tobytes() == other_arrays[name].tobytes(), name


@settings(max_examples=25, deadline=None)
@given(sizes=CUTS)
def test_any_cut_gives_the_same_bits(sizes):
    rows = numbers(3500)
    same_state(fed(*rows, sizes), fed(*rows, [3500]))


@settings(max_examples=20, deadline=None)
@given(sizes=CUTS, stop=st.integers(1, 2999))
def test_a_history_taken_up_again_ends_as_if_it_had_never_stopped(sizes, stop):
    truth, predicted, ends, time = numbers(3000)
    through = fed(truth, predicted, ends, time, [3000])
    first = fed(truth[:stop], predicted[:stop], ends[:stop], time[:stop], sizes)
    values, arrays = first.state()
    again = History.restore(json.loads(json.dumps(values)), arrays)
    again.add(truth[stop:], predicted[stop:], intervals=ends[stop:], time=time[stop:])
    same_state(again, through)
    assert again.summary() == through.summary()


def test_figures_are_those_of_the_rows():
    truth, predicted, ends, time = numbers(5000)
    history = fed(truth, predicted, ends, time, [333])
    error = history.summary()["error"]
    squares = (truth - predicted) ** 2
    assert error["overall"] == pytest.approx(squares.mean())
    assert error["now"] == pytest.approx(squares[-150:].mean())
    assert error["absolute"] == pytest.approx(np.abs(truth - predicted).mean())
    assert error["no_change"] == pytest.approx(np.mean(np.diff(truth) ** 2))
    assert error["no_change_now"] == pytest.approx(np.mean(np.diff(truth)[-150:] ** 2))
    means = np.cumsum(truth)[:-1] / np.arange(1, len(truth))
    assert error["simple_overall"] == pytest.approx(np.mean((truth[1:] - means) ** 2))
    inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    coverage = history.summary()["coverage"]
    assert coverage["rows"] == 4997
    assert coverage["overall"] == pytest.approx(inside[3:].mean())
    assert coverage["width"] == pytest.approx(np.diff(ends[3:], axis=1).mean())
    assert history.summary()["time"] == {
        "first": "2024-02-01 00:00:00",
        "last": "2024-02-04 11:19:00",
    }


def test_least_and_most_of_a_piece_enclose_the_windowed_error():
    truth, predicted, ends, time = numbers(4000)
    history = fed(truth, predicted, ends, time, [77])
    curve = windowed((truth - predicted) ** 2, 150)
    assert history.pieces.length == 8
    by_piece = curve.reshape(-1, 8)
    np.testing.assert_array_equal(history.pieces.column("least"), by_piece.min(axis=1))
    np.testing.assert_array_equal(history.pieces.column("most"), by_piece.max(axis=1))


def by_hand(labels, known):
    """What no-change and majority say, written as their definitions."""
    no_change, majority = [], []
    for count in known:
        past = list(labels[:count])
        no_change.append(past[-1] if past else None)
        best, ahead = None, Counter()
        for label in past:  # of classes equally common the one that was so first
            ahead[label] += 1
            if best is None or ahead[label] > ahead[best]:
                best = label
        majority.append(best)
    return no_change, majority


@settings(max_examples=50, deadline=None)
@given(
    labels=st.lists(st.sampled_from("abcd"), min_size=1, max_size=60),
    delay=st.integers(0, 20),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
def test_rivals_know_only_labels_that_had_come(labels, delay, sizes):
    n = len(labels)
    known = np.maximum(np.arange(n) - delay, 0)
    wrong = np.array(labels) != "a"
    history = History("classification")
    for part in parts_of(n, sizes):
        guess = np.full(len(labels[part]), "a")
        history.add(np.array(labels[part]), guess, known=known[part] if delay else None)
    no_change, majority = by_hand(labels, known)
    rows = [t for t in range(n) if no_change[t] is not None]
    error = history.summary()["error"]
    assert error["overall"] == wrong.mean()
    if rows:
        assert error["no_change"] == np.mean([no_change[t] != labels[t] for t in rows])
        assert error["simple_overall"] == np.mean([majority[t] != labels[t] for t in rows])
    else:
        assert error["no_change"] is None


def test_rivals_remember_a_bounded_number_of_labels():
    rivals = Rivals(classes=False)
    n = MOST_WAITING + 50
    rivals.predict_then_learn(np.arange(float(n)), np.zeros(n, np.int64))
    assert len(rivals.after) == MOST_WAITING + 1
    said = rivals.predict_then_learn(np.array([1.0, 2.0]), np.array([49, 52]))
    assert said.known.tolist() == [False, True]
    assert said.no_change[1] == 51.0


def test_labels_known_before_they_came_are_refused_and_change_nothing():
    history = History("classification")
    history.add(["a", "b"], ["a", "a"], known=[0, 1])
    before = history.state()[0]
    with pytest.raises(ValueError, match="row 3 cannot have known 4"):
        history.add(["a", "b"], ["a", "a"], known=[2, 4])
    with pytest.raises(ValueError, match="of all rows"):
        history.add(["a"], ["a"])
    with pytest.raises(ValueError, match="shape"):
        history.add(["a"], ["a", "b"], known=[1])
    assert history.state()[0] == before


def test_pieces_never_number_more_than_a_thousand():
    history = History("regression")
    for _ in range(60):
        history.add(np.zeros(1013), np.ones(1013))
        assert len(history.pieces) <= 1000
    assert history.pieces.length == 64
    assert history.summary()["error"]["overall"] == 1.0
    assert history.pieces.rows_of_pieces().sum() == 60 * 1013


def test_the_state_does_not_grow_with_the_stream():
    def size(history):
        values, arrays = history.state()
        return len(json.dumps(values)) + sum(array.nbytes for array in arrays.values())

    rng = np.random.default_rng(1)
    history = History("classification")
    sizes = []
    for _ in range(40):
        history.add(
            rng.integers(0, 3, 5000), rng.integers(0, 3, 5000), probability=rng.random(5000)
        )
        sizes.append(size(history))
    columns, figures_of_now, bins, classes = 13, 4, 30, 1003
    numbers_kept = columns * 1000 + figures_of_now * 2 * history.window + bins + classes
    assert max(sizes) < 8 * numbers_kept + 2000  # and the few words of JSON


def test_pieces_join_neighbours_when_full():
    pieces = Pieces({"x": "sum", "low": "least", "high": "most", "at": "last"}, most=4)
    values = np.arange(1.0, 20.0)
    for value in values:
        one = np.array([value])
        pieces.add({"x": one, "low": one, "high": one, "at": one})
    assert pieces.length == 8
    assert pieces.column("x").tolist() == [36.0, 100.0, 54.0]
    assert pieces.column("low").tolist() == [1.0, 9.0, 17.0]
    assert pieces.column("high").tolist() == [8.0, 16.0, 19.0]
    assert pieces.column("at").tolist() == [8.0, 16.0, 19.0]


def test_calibration_compares_probabilities_with_what_came_true():
    rng = np.random.default_rng(3)
    p = rng.uniform(0.5, 1.0, size=20_000)
    right = rng.random(20_000) < p
    history = History("classification")
    history.add(np.where(right, "yes", "no"), np.full(20_000, "yes"), probability=p)
    calibration = history.summary()["calibration"]
    assert calibration["error"] < 0.02  # five bins of 4000 rows: a standard error of .007 each
    assert calibration["right"] == pytest.approx(right.mean())
    bold = History("classification")
    bold.add(np.where(right, "yes", "no"), np.full(20_000, "yes"), probability=np.ones(20_000))
    assert bold.summary()["calibration"]["error"] == pytest.approx(1 - right.mean())


def test_predictions_that_are_not_finite_are_infinitely_wrong_and_json_can_hold_it():
    history = History("regression", window=2)
    history.add([1.0, 2.0, 3.0, 4.0], [1.0, np.nan, 3.0, 4.0])
    error = json.loads(json.dumps(history.summary(), allow_nan=False))["error"]
    assert error["overall"] is None
    assert error["now"] == 0.0


@pytest.mark.parametrize("face", [DFOPRegressor, DFOPClassifier])
@pytest.mark.parametrize("batch", [7, 1000])
def test_an_evaluation_has_the_same_looks_for_any_batch(face, batch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(700, 3))
    y = X @ [1.0, 2.0, 0.0] + 0.1 * rng.normal(size=700)
    y = y if face is DFOPRegressor else np.where(y > 0, "up", "down")
    whole = History.of(evaluate(face(), (X, y), batch=700))
    same_state(History.of(evaluate(face(), (X, y), batch=batch)), whole)
    looks = whole.looks.all()
    assert [look.row for look in looks] == [*range(32, 700, 32), 700]
    assert next(iter(looks[-1].influence)) == "x1"
    assert looks[-1].influence["x1"] > 1.5 * looks[-1].influence["x0"]


def test_influence_does_not_depend_on_units():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(3000, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=3000)
    for units in ([1, 1, 1], [1e3, 0.1, 10]):
        result = evaluate(DFOPRegressor(forgetting=0.001), (X * units, y))
        shares = result.looks.last.influence
        # Independent columns of variance 1: |w| itself, as shares.
        assert shares == pytest.approx({"x2": 3 / 6, "x1": 2 / 6, "x0": 1 / 6}, abs=0.02)


def test_bad_rows_and_alarms_are_bounded():
    row = SimpleNamespace(row=3, line=4, kind="not a number", message="x" * 10_000)
    bad = SimpleNamespace(kinds=Counter({"not a number": 7}), total=7, rows=100, examples=[row] * 5)
    history = History("regression")
    history.note_bad(bad)
    assert history.summary()["bad_rows"] == {"total": 7, "kinds": {"not a number": 7}}
    assert len(history.bad["examples"][0]["message"]) == 300


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"task": "guessing"}, "classification"),
        ({"task": "regression", "window": 0}, "at least 1"),
        ({"task": "regression", "coverage": 1.0}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        History(**given)
