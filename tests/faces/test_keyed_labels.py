"""Many classifiers in one store are, bit for bit, as many classifiers apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfop import DFOPClassifier, DFOPRegressor, Keyed, half_life


def stream(classes, n=1500, keys=25, d=3, seed=0):
    """Rows whose classes keys meet in different orders, and some never."""
    rng = np.random.default_rng(seed)
    key = rng.integers(0, keys, n) ** 2 // keys
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) + 0.1 * key
    at = np.digitize(score, np.linspace(-1, 1, classes + 1)[1:-1])
    few = key % 3 == 0  # these keys know two classes at most
    at[few] = np.minimum(at[few], 1)
    return key, X, np.array(["d", "a", "c", "b", "e"])[:classes][at]


def apart(design, key, X, y, classes, time=None):
    models, out = {}, np.empty(len(y), dtype=object)
    for k in np.unique(key):
        models[k.item()] = model = DFOPClassifier(**design.get_params())
        rows = key == k
        given = {} if time is None else {"time": time[rows]}
        out[rows] = model.predict_then_learn(X[rows], y[rows], classes=classes, **given)
    return models, out


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("classes", [1, 2, 3, 5])
@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("clock", [False, True])
def test_bits_are_those_of_classifiers_apart(classes, opened, clock):
    key, X, y = stream(classes)
    time = np.cumsum(np.random.default_rng(1).exponential(5.0, len(y))) if clock else None
    design = DFOPClassifier(half_life("1h") if clock else 0.01, max_classes=6)
    told = np.unique(y)
    models, expected = apart(design, key, X, y, "open" if opened else told, time)
    keyed = Keyed(design)
    ahead = [
        keyed.predict_then_learn(
            key[t], X[t], y[t], classes="open" if opened else told,
            **({} if time is None else {"time": time[t]}),
        )
        for t in np.array_split(np.arange(len(y)), 7)
    ]  # fmt: skip
    assert np.concatenate(ahead).tolist() == expected.tolist()
    same(keyed.classes_, told)
    for k, model in models.items():
        assert keyed.predict([k] * 9, X[:9]).tolist() == model.predict(X[:9]).tolist()
        one = keyed[k]
        same(one.classes_, model.classes_)
        same(one.coef_, model.coef_)
        same(one.intercept_, model.intercept_)
        same(one.predict_proba(X[:9]), model.predict_proba(X[:9]))
        later = {} if time is None else {"time": time[-1] + np.arange(5.0)}
        fresh = one.predict_then_learn(X[-5:], y[-5:], **later)
        assert fresh.tolist() == model.predict_then_learn(X[-5:], y[-5:], **later).tolist()


@pytest.mark.parametrize("classes", [1, 2, 3, 5])
@pytest.mark.parametrize("opened", [False, True])
def test_probabilities_are_those_of_classifiers_that_were_told_all_classes(classes, opened):
    key, X, y = stream(classes, seed=3)
    design, told = DFOPClassifier(0.01), np.unique(y)
    keyed = Keyed(design).partial_fit(key, X, y, classes="open" if opened else told)
    models, _ = apart(design, key, X, y, told)
    for k, model in models.items():
        found, expected = keyed.predict_proba([k] * 9, X[:9]), model.predict_proba(X[:9])
        if opened:  # one output and several are added up in another order
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
        else:
            same(found, expected)
    same(keyed.predict_proba([-1], X[:1]), np.full((1, classes), 1.0 / classes))


def test_a_probability_goes_with_each_label_ahead():
    key, X, y = stream(3, n=600)
    keyed, twin = Keyed(DFOPClassifier(0.01)), Keyed(DFOPClassifier(0.01))
    classes = np.unique(y)
    for t in range(300):
        row = slice(t, t + 1)
        ahead = keyed.ahead_then_learn(key[row], X[row], y[row], classes=classes)
        if t:
            shown = twin.predict_proba(key[row], X[row])[0]
            assert ahead.probability[0] == shown[np.searchsorted(classes, ahead.prediction[0])]
            assert ahead.prediction[0] == twin.predict(key[row], X[row])[0]
        twin.partial_fit(key[row], X[row], y[row], classes=classes)


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    classes=st.sampled_from([["x", "y"], ["x", "y", "z", "w"], "open"]),
)
def test_late_labels_are_those_of_classifiers_apart(seed, classes):
    rng = np.random.default_rng(seed)
    design, models = DFOPClassifier(0.05), {}
    labels = ["x", "y", "z", "w"] if isinstance(classes, str) else classes
    keyed, waiting = Keyed(design), {}
    for t in range(120):
        k, x = int(rng.integers(4)), rng.normal(size=(1, 2))
        y = np.array([labels[rng.integers(len(labels))]])
        model = models.setdefault(k, DFOPClassifier(**design.get_params()))
        if rng.random() < 0.5:
            found = keyed.predict_pending([k], x, [t], classes=classes)
            assert found.tolist() == model.predict_pending(x, [t], classes=classes).tolist()
            waiting[t] = k, y
        else:
            found = keyed.predict_then_learn([k], x, y, classes=classes)
            assert found.tolist() == model.predict_then_learn(x, y, classes=classes).tolist()
        for row in [row for row in waiting if rng.random() < 0.2]:
            k, y = waiting.pop(row)
            keyed.learn_pending([row], y)
            models[k].learn_pending([row], y)
        if rng.random() < 0.1:  # the order in which each key met its classes is saved, too
            keyed = Keyed.from_bytes(keyed.to_bytes())
    for k, model in models.items():
        assert keyed.predict([k] * 2, np.eye(2)).tolist() == model.predict(np.eye(2)).tolist()


def test_a_class_that_comes_makes_records_longer_and_the_idlest_key_goes():
    """However rows are cut: against one row a call."""
    key, X, y = stream(5, n=400, keys=12)
    one = Keyed(DFOPClassifier(0.01)).partial_fit([1], X[:1], y[:1], classes="open")
    limit = 8 * one.bytes_per_key_
    some, each = (Keyed(DFOPClassifier(0.01), memory_limit=limit) for _ in range(2))
    got = some.predict_then_learn(key, X, y, classes="open").tolist()
    rows = [slice(t, t + 1) for t in range(400)]
    assert got == [each.predict_then_learn(key[t], X[t], y[t], classes="open")[0] for t in rows]
    assert some.evicted_ == each.evicted_ > 0
    assert len(some) * some.bytes_per_key_ <= limit
    assert some.to_bytes() == each.to_bytes()


@pytest.mark.parametrize("classes", [2, 4])
def test_a_new_key_begins_with_what_all_keys_share(classes):
    rng = np.random.default_rng(4)
    n, keys, d = 6000, 400, 4
    key = np.sort(rng.integers(0, keys, n))
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, d)) + 3.0 * np.eye(classes, d)[y]
    early = np.arange(n) - np.searchsorted(key, key) < 10
    wrong = {}
    for shared in (False, True):
        keyed = Keyed(DFOPClassifier(0.001, prior_variance=1.0), shared=shared)
        parts = np.split(np.arange(n), 20)
        ahead = [
            keyed.predict_then_learn(key[t], X[t], y[t], classes=range(classes)) for t in parts
        ]
        wrong[shared] = np.mean((np.concatenate(ahead) != y)[early])
    assert wrong[True] <= 0.5 * wrong[False]
    twin = Keyed.from_bytes(keyed.to_bytes())
    same(twin.predict_proba(key, X), keyed.predict_proba(key, X))
    np.testing.assert_allclose(keyed.predict_proba(key[:9], X[:9]).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="no classifier"):
        keyed[0]


def test_bad_labels_change_nothing():
    key, X, y = stream(3, n=200)
    keyed = Keyed(DFOPClassifier(0.01)).partial_fit(key, X, y)
    before = keyed.to_bytes()
    for labels, message in (
        (["a", "new"], "unknown class 'new' at row 1"),
        ([1, 2], "another type"),
        (["a", None], "missing|None|labels"),
        ([["a", "a"]] * 2, "shape"),
    ):
        with pytest.raises(ValueError, match=message):
            keyed.partial_fit([1, 2], X[:2], labels)
    with pytest.raises(ValueError, match="differs from the classes"):
        keyed.partial_fit([1], X[:1], ["a"], classes=["a", "b"])
    assert keyed.to_bytes() == before
    with pytest.raises(ValueError, match="name the classes"):
        Keyed(DFOPClassifier(0.1)).predict_pending([1], X[:1], ["row"])
    with pytest.raises(ValueError, match="exclude"):
        Keyed(DFOPClassifier(0.1), shared=True).partial_fit(key, X, y, classes="open")
    with pytest.raises(TypeError, match="shared is a DFOPClassifier"):
        Keyed(DFOPClassifier(0.1), shared=DFOPClassifier(0.1))
    numbers = Keyed(DFOPRegressor(0.1)).partial_fit([1], [[1.0]], [1.0])
    with pytest.raises(AttributeError, match="probabilities"):
        numbers.predict_proba([1], [[1.0]])
    with pytest.raises(ValueError, match="classes="):
        numbers.partial_fit([1], [[1.0]], [1.0], classes=[1.0])
