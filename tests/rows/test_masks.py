"""What a mask hides is never learned: cells of X are missing, all else is refused."""

import numpy as np
import pandas as pd
import pytest

import dfop.river
from dfop import DFOPClassifier, DFOPRegressor, Keyed, half_life
from dfop.evaluation import compare, evaluate
from dfop.streams import Stream, read
from model_state import everything, refused

N = 40
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, 2)), RNG.normal(size=N)
HIDDEN = np.arange(N) % 5 == 2
NUMBERS = np.ma.array(Y, mask=HIDDEN)
LABELS = np.ma.array(np.where(Y > 0, "up", "down"), mask=HIDDEN)
CELLS = np.ma.array(X, mask=RNG.random((N, 2)) < 0.2)
FRAME = pd.DataFrame(X, columns=["a", "b"])

TARGETS = {
    "arrays": lambda y: DFOPRegressor(0.01).partial_fit(X, y),
    "labels": lambda y: DFOPClassifier(0.01).partial_fit(X, LABELS),
    "evaluate": lambda y: evaluate(DFOPRegressor(0.01), (X, y)),
    "evaluate labels": lambda y: evaluate(DFOPClassifier(0.01), (X, LABELS)),
    "compare": lambda y: compare([DFOPRegressor(0.01)], [(X, y)]),
    "a stream": lambda y: Stream.from_arrays(X, y),
    "a stream of labels": lambda y: Stream.from_arrays(X, LABELS),
    "River": lambda y: dfop.river.DFOPRegressor(0.01).learn_many(FRAME, y),
    "River, labels": lambda y: dfop.river.DFOPClassifier(0.01).learn_many(FRAME, LABELS),
    "by key": lambda y: Keyed(DFOPRegressor(0.01)).partial_fit([1] * N, X, y),
}


@pytest.mark.parametrize("face", TARGETS)
def test_a_masked_target_is_refused_by_every_face(face):
    with pytest.raises(ValueError, match="masked at row 2: drop"):
        TARGETS[face](NUMBERS)


def test_a_stream_that_gives_masked_targets_is_refused():
    def pieces(start, stop):
        yield X, NUMBERS, None

    stream = Stream("sensor", "regression", ["a", "b"], pieces)
    with pytest.raises(ValueError, match="masked at row 2"):
        evaluate(DFOPRegressor(0.01), stream)


@pytest.mark.parametrize("name", ["sample_weight", "discount", "time"])
def test_what_is_said_of_rows_must_not_be_masked(name):
    model = DFOPRegressor(half_life("1h") if name == "time" else 0.01)
    told = {name: np.ma.array(np.ones(N), mask=HIDDEN)}
    refused(model, lambda m: m.partial_fit(X, Y, **told), f"{name} is masked at row 2", "give")
    plain = {name: np.ma.array(np.ones(N), mask=False)}
    model.partial_fit(X, Y, **plain)
    with pytest.raises(ValueError, match="time is masked at row 2"):
        Stream.from_arrays(X, Y, time=np.ma.array(np.arange(N), mask=HIDDEN))


def test_keys_must_not_be_masked():
    keys = np.ma.array(np.arange(N), mask=HIDDEN)
    refused(DFOPRegressor(0.01), lambda m: m.predict_pending(X, keys), "keys is masked at row 2")
    with pytest.raises(ValueError, match="keys is masked at row 2"):
        Keyed(DFOPRegressor(0.01)).partial_fit(keys, X, Y)


def test_masked_cells_are_missing_on_every_face():
    gaps = CELLS.filled(np.nan)
    expected = DFOPRegressor(0.01).partial_fit(gaps, Y)
    assert everything(DFOPRegressor(0.01).partial_fit(CELLS, Y)) == everything(expected)
    table = np.ma.column_stack([CELLS, Y])
    for stream in ((CELLS, Y), Stream.from_arrays(CELLS, Y), read(table, target=-1)):
        model = DFOPRegressor(0.01)
        evaluate(model, stream)
        np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_a_masked_target_is_a_bad_row_of_a_source():
    table = np.ma.column_stack([X, NUMBERS])
    stream = read(table, target=-1, bad_rows="skip")
    assert stream.arrays()[1].tolist() == Y[~HIDDEN].tolist()
    assert stream.bad.kinds == {"missing label": int(HIDDEN.sum())}


def test_a_masked_label_is_a_gap_where_gaps_may_be():
    plain, masked = (dfop.river.DFOPClassifier(0.01, semi=True) for _ in range(2))
    plain.learn_many(FRAME, [None if hidden else y for hidden, y in zip(HIDDEN, LABELS.data)])  # noqa: B905
    masked.learn_many(FRAME, LABELS)
    assert masked.predict_proba_one({"a": 1.0}) == plain.predict_proba_one({"a": 1.0})
