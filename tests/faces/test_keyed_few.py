"""A small automatic bank per key is, bit for bit, `forgetting="few"` apart."""

from contextlib import suppress

import numpy as np
import pytest

from dfop import (
    DFOPClassifier,
    DFOPRegressor,
    Keyed,
    ModelFileError,
    from_bytes,
    load,
    save,
    to_bytes,
)
from dfop.files.container import pack, unpack


def stream(n=1500, keys=12, d=4, m=0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.exp(3 * rng.normal(size=d))
    key = rng.integers(0, keys, n) ** 2 // keys  # some come often
    y = X @ rng.normal(size=(d, max(m, 1))) + rng.normal(size=(n, max(m, 1)))
    return key, X, (y if m else y[:, 0])


def in_parts(keyed, key, X, y, parts=9, **given):
    ahead = [
        keyed.predict_then_learn(key[t], X[t], y[t], **given)
        for t in np.array_split(np.arange(len(y)), parts)
    ]
    return np.concatenate(ahead)


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize(("d", "m"), [(1, 0), (4, 2), (10, 0), (17, 0)])
def test_numbers_are_those_of_models_apart(d, m):
    key, X, y = stream(d=d, m=m)
    keyed = Keyed(DFOPRegressor(forgetting="few"))
    ahead = in_parts(keyed, key, X, y)
    for k in np.unique(key):
        alone, rows = DFOPRegressor(forgetting="few"), key == k
        same(ahead[rows], alone.predict_then_learn(X[rows], y[rows]))
        same(keyed.predict([k] * 5, X[:5]), alone.predict(X[:5]))
        mine = keyed[k]  # which goes on as the other does
        same(mine.predict_then_learn(X[:40], y[:40]), alone.predict_then_learn(X[:40], y[:40]))


def test_two_classes_are_those_of_models_apart():
    key, X, y = stream()
    names = np.where(y + 0.3 * key > 0, "up", "down")
    keyed = Keyed(DFOPClassifier(forgetting="few"))
    ahead = in_parts(keyed, key, X, names, classes=["down", "up"])
    for k in np.unique(key):
        alone, rows = DFOPClassifier(forgetting="few"), key == k
        told = alone.predict_then_learn(X[rows], names[rows], classes=["down", "up"])
        same(ahead[rows], told)
        same(keyed.predict([k] * 9, X[:9]), alone.predict(X[:9]))
        same(keyed[k].predict(X[:9]), alone.predict(X[:9]))


def test_text_gaps_and_a_shared_model_go_through_it():
    key, X, y = stream(d=2)
    X[::7, 1] = np.nan
    plain = Keyed(DFOPRegressor(forgetting="few"))
    shared = Keyed(DFOPRegressor(forgetting="few"), shared=True)
    for keyed in (plain, shared):
        whole = in_parts(keyed, key, X, y, parts=1)
        again = Keyed(keyed.model, shared=keyed is shared)
        same(in_parts(again, key, X, y, parts=11), whole)


@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"], "open"])
def test_probabilities_are_what_the_outputs_of_models_apart_say_themselves(classes):
    """Beside which a model apart learns how far to believe them."""
    key, X, y = stream()
    names = np.array(["a", "b", "c"])[np.digitize(y, [0.0, 1.0][: 1 + (len(classes) != 2)])]
    keyed = Keyed(DFOPClassifier(forgetting="few"))
    in_parts(keyed, key, X, names, classes=classes)
    for k in np.unique(key):
        alone, rows = DFOPClassifier(forgetting="few"), key == k
        alone.partial_fit(X[rows], names[rows], classes=classes)
        model = alone.__dfop_model__()
        said = model.target.probabilities(model.outputs_of(np.ascontiguousarray(X[:9])))
        places = np.searchsorted(keyed.classes_, model.target.order)
        expected = model.target.shown(said)
        if len(places) == len(keyed.classes_):  # a class that it has not met, it cannot know
            same(keyed.predict_proba([k] * 9, X[:9]), expected)


@pytest.mark.parametrize("number", [True, False])
def test_files_go_on_to_the_bit(tmp_path, number):
    key, X, y = stream()
    if not number:
        y = y > 0
    kind = DFOPRegressor if number else DFOPClassifier
    keyed = Keyed(kind(forgetting="few"))
    expected = in_parts(keyed, key, X, y)
    half = len(y) // 2
    begun = Keyed(kind(forgetting="few"))
    first = begun.predict_then_learn(key[:half], X[:half], y[:half])
    save(begun, tmp_path / "few.dfop")
    later = load(tmp_path / "few.dfop").predict_then_learn(key[half:], X[half:], y[half:])
    same(np.concatenate([first, later]), expected)
    one = keyed[key[0]]
    same(from_bytes(to_bytes(one)).predict(X[:9]), one.predict(X[:9]))


def test_a_damaged_record_is_refused():
    key, X, y = stream(n=300)
    document, tensors = unpack(Keyed(DFOPRegressor(forgetting="few")).partial_fit(key, X, y)
                               .to_bytes())  # fmt: skip
    records = tensors["records"]
    for column in range(0, records.shape[1], 7):
        for value in (np.nan, np.inf, -1e301):
            broken = records.copy()
            broken[0, column] = value
            with suppress(ModelFileError):  # exponents are no numbers: any bits are some
                Keyed.from_bytes(pack(document, {**tensors, "records": broken})).predict(key, X)
    broken = records.copy()
    broken[0, 0] = np.nan
    with pytest.raises(ModelFileError, match="out of range"):
        Keyed.from_bytes(pack(document, {**tensors, "records": broken}))


def test_what_it_takes_and_the_memory_limit():
    key, X, y = stream(d=10)
    keyed = Keyed(DFOPRegressor(forgetting="few")).partial_fit(key, X, y)
    assert keyed.bytes_per_key_ < 5000
    small = Keyed(DFOPRegressor(forgetting="few"), memory_limit=3 * keyed.bytes_per_key_)
    small.partial_fit(key, X, y)
    assert (len(small), small.evicted_ > 0) == (3, True)


def test_what_is_refused():
    key, X, y = stream(n=60)
    with pytest.raises(ValueError, match="forgetting='few'"):
        Keyed(DFOPRegressor())
    keyed = Keyed(DFOPRegressor(forgetting="few")).partial_fit(key, X, y)
    with pytest.raises(AttributeError, match="single filters"):
        _ = keyed.limited_rows_
    with pytest.raises(ValueError, match="linear filters"):
        DFOPRegressor(forgetting="few", features="rff").fit(X, y)
