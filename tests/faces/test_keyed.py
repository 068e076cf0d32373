"""Many models in one store are, bit for bit, as many models apart."""

import copy
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dfop import (
    DFOPClassifier,
    DFOPRegressor,
    Information,
    Keyed,
    ModelFileError,
    half_life,
    load,
    save,
    to_bytes,
)
from dfop.files.container import pack, unpack


def stream(n=2000, keys=30, d=4, m=0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.exp(3 * rng.normal(size=d))
    key = rng.integers(0, keys, n) ** 2 // keys  # some come often
    y = X @ rng.normal(size=(d, max(m, 1))) + rng.normal(size=(n, max(m, 1)))
    return key, X, (y if m else y[:, 0])


def apart(design, key, X, y, time=None):
    """Learn the rows of each key with a model of its own."""
    models, out = {}, np.empty(y.shape)
    for k in np.unique(key):
        models[k.item()] = model = DFOPRegressor(**design.get_params())
        rows = key == k
        given = {} if time is None else {"time": time[rows]}
        out[rows] = model.predict_then_learn(X[rows], y[rows], **given)
    return models, out


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("d", [1, 3, 4, 10, 17])
@pytest.mark.parametrize("m", [0, 1, 3])
@pytest.mark.parametrize("text", [False, True])
def test_bits_are_those_of_models_apart(d, m, text):
    key, X, y = stream(d=d, m=m)
    key = np.array([f"käse {k}" for k in key]) if text else key - 5
    design = DFOPRegressor(0.02, prior_variance=7.0)
    keyed = Keyed(design)
    models, expected = apart(design, key, X, y)
    ahead = [
        keyed.predict_then_learn(key[t], X[t], y[t]) for t in np.array_split(np.arange(2000), 9)
    ]
    same(np.concatenate(ahead), expected)
    assert len(keyed) == len(models)
    assert set(keyed) == set(models)
    for k, model in models.items():
        same(keyed[k].coef_, model.coef_)
        same(keyed.predict([k] * 5, X[:5]), model.predict(X[:5]))
        assert keyed[k].limited_rows_ == model.limited_rows_
    same(keyed.predict([key[0]], X[:1]), models[key[0].item()].predict(X[:1]))


@pytest.mark.parametrize("datetimes", [False, True])
def test_by_the_clock_every_key_has_its_own(datetimes):
    key, X, y = stream()
    seconds = np.cumsum(np.random.default_rng(1).exponential(7.0, len(y)))
    time = np.datetime64("2024-01-01", "ns") + (seconds * 1e9).astype("m8[ns]")
    time = time if datetimes else seconds
    design = DFOPRegressor(half_life("1h"))
    keyed = Keyed(design)
    models, expected = apart(design, key, X, y, time)
    ahead = [keyed.predict_then_learn(key[t], X[t], y[t], time=time[t])
             for t in np.array_split(np.arange(2000), 7)]  # fmt: skip
    same(np.concatenate(ahead), expected)
    for k, model in models.items():
        later = time[-1:] + (np.timedelta64(1, "h") if datetimes else 3600.0)
        one = keyed[k]
        for some in (one, model):
            some.partial_fit(X[:1], y[:1], time=later)
        same(one.coef_, model.coef_)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), most=st.integers(1, 40), expire=st.integers(1, 200))
def test_the_idlest_key_goes_first_however_rows_are_cut(seed, most, expire):
    """Against a list kept by hand."""
    rng = np.random.default_rng(seed)
    n = 600
    key = rng.integers(0, 60, n)
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    design = DFOPRegressor(0.01)
    each = Keyed(design)
    each.partial_fit(key[:1], X[:1], y[:1])
    limit = most * each.bytes_per_key_
    keyed = Keyed(design, expire=expire, memory_limit=limit)
    cuts = np.sort(rng.integers(0, n, 5))
    got = [keyed.predict_then_learn(key[t], X[t], y[t])
           for t in np.split(np.arange(n), cuts) if len(t)]  # fmt: skip
    models, last, evicted, expired, expected = {}, {}, 0, 0, []
    for t in range(n):
        k = key[t].item()
        for idle in [other for other in models if t - last[other] > expire]:
            del models[idle]
            expired += 1
        if k not in models:
            if len(models) == most:
                del models[min(models, key=last.get)]
                evicted += 1
            models[k] = DFOPRegressor(**design.get_params())
        last[k] = t
        expected.append(models[k].predict_then_learn(X[t : t + 1], y[t : t + 1])[0])
    same(np.concatenate(got), expected)
    assert (keyed.evicted_, keyed.expired_) == (evicted, expired)
    assert set(keyed) == set(models)
    assert keyed.memory_bytes_ < limit + 2**21  # records are allocated by the thousand
    for k, model in models.items():
        same(keyed[k].coef_, model.coef_)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), bounded=st.booleans())
def test_keys_are_told_the_idlest_first_also_where_others_took_their_place(seed, bounded):
    """Against an ordered dict, by which the last heard of comes last."""
    rng = np.random.default_rng(seed)
    keyed, heard = Keyed(DFOPRegressor(0.01), expire=10**6 if bounded else None), {}
    for _ in range(12):
        keys = rng.integers(0, 40, 30)
        keyed.partial_fit(keys, np.ones((30, 1)), np.ones(30))
        for k in keys.tolist():
            heard[k] = heard.pop(k, 0) + 1
        gone = rng.integers(0, 40, 5)
        keyed.forget(gone)
        for k in gone.tolist():
            heard.pop(k, None)
        if rng.random() < 0.3:
            keyed = Keyed.from_bytes(keyed.to_bytes())
        assert list(keyed) == list(heard)
        assert len(keyed) == len(heard)


def test_keys_expire_by_the_clock():
    keyed = Keyed(DFOPRegressor(half_life("10d")), expire="30d")
    day = np.datetime64("2024-01-01") + np.arange(40).astype("m8[D]")
    keyed.partial_fit([1], [[1.0]], [2.0], time=day[:1])
    keyed.partial_fit([2] * 31, np.ones((31, 1)), np.ones(31), time=day[:31])
    assert 1 in keyed
    keyed.partial_fit([2], [[1.0]], [1.0], time=day[31:32])
    assert 1 not in keyed
    assert (len(keyed), keyed.expired_, keyed.evicted_) == (1, 1, 0)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_late_labels_are_those_of_models_apart(seed):
    rng = np.random.default_rng(seed)
    design, models = DFOPRegressor(0.05), {}
    keyed, waiting = Keyed(design), {}
    for t in range(150):
        k, x, y = int(rng.integers(4)), rng.normal(size=(1, 2)), rng.normal(size=1)
        model = models.setdefault(k, DFOPRegressor(**design.get_params()))
        if rng.random() < 0.5:
            same(keyed.predict_pending([k], x, [t]), model.predict_pending(x, [t]))
            waiting[t] = k, y
        else:
            same(keyed.predict_then_learn([k], x, y), model.predict_then_learn(x, y))
        for row in [row for row in waiting if rng.random() < 0.2]:
            k, y = waiting.pop(row)
            if rng.random() < 0.2:
                keyed.forget_pending([row])
                models[k].forget_pending([row])
            else:
                keyed.learn_pending([row], y)
                models[k].learn_pending([row], y)
        if rng.random() < 0.1:  # rows that wait are saved, too
            keyed = Keyed.from_bytes(keyed.to_bytes())
    assert keyed.pending_ == list(waiting)
    for k, model in models.items():
        same(keyed[k].predict(np.eye(2)), model.predict(np.eye(2)))


@pytest.mark.parametrize("saved", [False, True])
def test_a_label_of_a_model_that_is_gone_is_counted_and_not_learned(saved):
    keyed = Keyed(DFOPRegressor(0.0), expire=3)
    keyed.predict_pending([1], [[1.0]], ["row"])
    keyed.partial_fit([2] * 4, np.ones((4, 1)), np.ones(4))
    if saved:
        keyed = Keyed.from_bytes(keyed.to_bytes())
    keyed.partial_fit([1], [[1.0]], [5.0])  # the same key, begun anew
    before = keyed[1].coef_
    keyed.learn_pending(["row"], [100.0])
    same(keyed[1].coef_, before)
    assert keyed.expired_rows_ == 1


def test_a_key_that_is_forgotten_begins_anew_and_waits_for_nothing():
    keyed = Keyed(DFOPRegressor(0.01)).partial_fit(["a", "b"] * 5, np.ones((10, 1)), np.ones(10))
    keyed.predict_pending(["a", "b"], np.ones((2, 1)), ["of a", "of b"])
    keyed.forget(["a", "never heard of"])
    assert (list(keyed), keyed.pending_) == (["b"], ["of b"])
    assert keyed.predict_then_learn(["a"], [[1.0]], [1.0]) == [0.0]
    with pytest.raises(ValueError, match="keys were texts before"):
        keyed.forget([1])


def test_a_new_key_begins_with_what_all_keys_share():
    """Error over the first ten rows of each key, of keys that share a truth."""
    rng = np.random.default_rng(2)
    n, keys, d = 20_000, 1000, 5
    key = np.sort(rng.integers(0, keys, n))
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 0.1 * rng.normal(size=n)
    nth = np.arange(n) - np.searchsorted(key, key)
    early = nth < 10
    errors = {}
    for shared in (False, True):
        keyed = Keyed(DFOPRegressor(0.001, prior_variance=1.0), shared=shared)
        ahead = np.concatenate(
            [keyed.predict_then_learn(key[t], X[t], y[t]) for t in np.split(np.arange(n), 50)]
        )
        errors[shared] = np.mean((ahead - y)[early] ** 2)
    assert errors[True] <= 0.5 * errors[False]
    assert abs(keyed.predict([-1], X[:1]) - y[0])[0] < 1.0  # a key never heard of


@pytest.mark.parametrize("datetimes", [False, True])
def test_late_labels_where_a_shared_model_forgets_by_the_clock(datetimes):
    """The shared model learns them when they come: not before a row that it knows."""
    seconds = 10.0 * np.arange(40)
    time = np.datetime64("2024-01-01", "ns") + (seconds * 1e9).astype("m8[ns]")
    time = time if datetimes else seconds
    key, X, y = stream(n=40, keys=3)
    rule, outcomes = half_life("1min"), []
    for cuts in ([5], [1, 2, 3, 4, 5]):  # labels in one call, and one by one
        keyed = Keyed(DFOPRegressor(rule), shared=DFOPRegressor(rule))
        keyed.partial_fit(key[:20], X[:20], y[:20], time=time[:20])
        keyed.predict_pending(key[20:25], X[20:25], range(5), time=time[20:25])
        keyed.partial_fit(key[25:39], X[25:39], y[25:39], time=time[25:39])
        for start, stop in zip([0, *cuts], cuts, strict=False):
            keyed.learn_pending(range(start, stop), y[20 + start : 20 + stop])
        outcomes.append(keyed.predict(key, X))
        by_hand = DFOPRegressor(rule).fit(X[:20], y[:20], time=time[:20])
        by_hand.partial_fit(X[25:39], y[25:39], time=time[25:39])
        by_hand.partial_fit(X[20:25], y[20:25], time=time[38:39].repeat(5))
        same(keyed.shared.coef_, by_hand.coef_)
    same(*outcomes)


def test_rows_whose_labels_cannot_be_learned_change_nothing():
    key, X, y = stream(n=20)
    keyed = Keyed(DFOPRegressor(half_life("1h")))
    keyed.partial_fit(key, X, y, time=np.arange(20.0))
    keyed.predict_pending(key[:1], X[:1], ["a"], time=[20.0])
    before = keyed.to_bytes()
    for labels, time, said in (
        ((["a", "c"], [1.0, np.nan], [1, 2]), [20.0, 21.0, 22.0], "label of row 'c' is missing"),
        ((["a"], [1.0], [1]), [20.0, 22.0, 1.0], "backwards at row 2"),
        ((["a"], [1.0], [1]), None, "pass time="),
    ):
        with pytest.raises(ValueError, match=said):
            keyed.ahead_pending([7, 7, 7], X[:3], ["c", "d", "e"], labels=labels, time=time)
        assert keyed.to_bytes() == before
    with pytest.raises(ValueError, match="forget_pending"):
        keyed.learn_pending(["a"], [np.nan])
    assert keyed.to_bytes() == before


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))]
)
def test_copies_learn_for_themselves(twin):
    key, X, y = stream(n=200)
    new = twin(Keyed(DFOPRegressor(0.01), memory_limit=10_000, shared=True))
    keyed = Keyed(DFOPRegressor(0.01), memory_limit=10_000, shared=True)
    for some in (new, keyed):
        some.partial_fit(key[:100], X[:100], y[:100])
    before, other = keyed.to_bytes(), twin(keyed)
    assert new.to_bytes() == before == other.to_bytes()
    other.partial_fit(key[100:], X[100:], y[100:])
    assert keyed.to_bytes() == before != other.to_bytes()


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_bytes_hold_all_of_it(text, shared):
    key, X, y = stream(n=800)
    key = key.astype(str) if text else key * 10**17
    limit = {"expire": 700, "memory_limit": 20_000, "shared": shared}
    keyed = Keyed(DFOPRegressor(0.01), **limit).partial_fit(key[:400], X[:400], y[:400])
    twin = Keyed.from_bytes(keyed.to_bytes())
    same(list(twin), list(keyed))
    same(twin.predict_then_learn(key, X, y), keyed.predict_then_learn(key, X, y))
    assert (twin.evicted_, twin.expired_) == (keyed.evicted_, keyed.expired_)
    assert twin.to_bytes() == keyed.to_bytes()


def test_files_hold_all_of_it(tmp_path):
    key, X, y = stream(n=300)
    keyed = Keyed(DFOPRegressor(0.01)).partial_fit(key, X, y)
    save(keyed, tmp_path / "keyed.dfop")
    twin = load(tmp_path / "keyed.dfop")
    assert isinstance(twin, Keyed)
    assert to_bytes(twin) == to_bytes(keyed) == keyed.to_bytes()
    same(twin.predict(key, X), keyed.predict(key, X))
    content = bytearray((tmp_path / "keyed.dfop").read_bytes())
    content[-9] ^= 1
    (tmp_path / "keyed.dfop").write_bytes(content)
    with pytest.raises(ModelFileError, match="checksum"):
        load(tmp_path / "keyed.dfop")
    with pytest.raises(ValueError, match="no row was learned"):
        save(Keyed(DFOPRegressor(0.01)), tmp_path / "none.dfop")


def test_bytes_of_the_first_version_are_read():
    """It knew neither labels nor rows that wait."""
    key, X, y = stream(n=300)
    keyed = Keyed(DFOPRegressor(0.01)).partial_fit(key, X, y)
    document, tensors = unpack(keyed.to_bytes())
    for name in ("learner", "tickets", "waiting", "expired_rows"):
        del document[name]
    del document["coder"]
    old = {name: values for name, values in tensors.items()
           if name != "late" and not name.startswith(("waiting", "coder"))}  # fmt: skip
    twin = Keyed.from_bytes(pack(document, old))
    same(twin.predict_then_learn(key, X, y), keyed.predict_then_learn(key, X, y))


def test_bytes_by_the_clock():
    key, X, y = stream(n=600)
    time = np.datetime64("2024-01-01", "us") + np.arange(600).astype("m8[m]")
    keyed = Keyed(DFOPRegressor(half_life("1h")), expire="2h")
    keyed.partial_fit(key[:300], X[:300], y[:300], time=time[:300])
    twin = Keyed.from_bytes(keyed.to_bytes())
    rest = slice(300, 600)
    same(*(some.predict_then_learn(key[rest], X[rest], y[rest], time=time[rest])
           for some in (twin, keyed)))  # fmt: skip


def test_bytes_that_are_none_are_refused():
    key, X, y = stream(n=50)
    good = Keyed(DFOPRegressor(0.01)).partial_fit(key, X, y).to_bytes()
    other = to_bytes(DFOPRegressor(0.01).fit(X, y))
    for bad in (b"", good[:-3], good[:300] + b"7" + good[301:], other):
        with pytest.raises(ModelFileError, match="models by key"):
            Keyed.from_bytes(bad)


def test_a_learner_taken_out_goes_on_apart():
    key, X, y = stream(n=500)
    keyed = Keyed(DFOPRegressor(0.01)).partial_fit(key, pd.DataFrame(X, columns=list("abcd")), y)
    one = keyed[0]
    before = keyed[0].coef_
    one.partial_fit(pd.DataFrame(X, columns=list("abcd")), y)
    same(keyed[0].coef_, before)
    assert one.feature_names_in_.tolist() == list("abcd")


BAD = [
    (lambda k, X, y: (["a", 1], X[:2], y[:2]), "all texts or all whole"),
    (lambda k, X, y: ([1.5, 2.0], X[:2], y[:2]), "without a key|no key"),
    (lambda k, X, y: ([None, 1], X[:2], y[:2]), "without a key|no key"),
    (lambda k, X, y: (np.array([1.0, np.nan]), X[:2], y[:2]), "NaN at row 1.*without a key"),
    (lambda k, X, y: (pd.array([1, None], dtype="Int64"), X[:2], y[:2]), "row 1"),
    (lambda k, X, y: (np.array([1.0, 2.0]), X[:2], y[:2]), "astype"),
    (lambda k, X, y: ([2**63, 1], X[:2], y[:2]), "as text"),
    (lambda k, X, y: (["a", "b"], X[:2], y[:2]), "whole numbers before"),
    (lambda k, X, y: ([1, 2, 3], X[:2], y[:2]), "one per row"),
    (lambda k, X, y: ([1, 2], X[:2, :3], y[:2]), "features"),
    (lambda k, X, y: ([1, 2], np.ones((2, 5)), y[:2]), "features"),
    (lambda k, X, y: ([1, 2], [["a", 1, 2, 3], ["b", 1, 2, 3]], y[:2]), "before.*text"),
    (lambda k, X, y: ([1, 2], X[:2] * np.inf, y[:2]), "infinit"),
    (lambda k, X, y: ([1, 2], X[:2], [1.0, np.nan]), "NaN"),
    (lambda k, X, y: ([1, 2], X[:2], X[:2]), "shape"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_bad_input_changes_nothing(bad, message):
    key, X, y = stream(n=200)
    keyed = Keyed(DFOPRegressor(0.01)).partial_fit(key, X, y)
    before = keyed.to_bytes()
    with pytest.raises(ValueError, match=message):
        keyed.partial_fit(*bad(key, X, y))
    assert keyed.to_bytes() == before
    if "before" not in message and "features" not in message and "shape" not in message:
        with pytest.raises(ValueError, match=message):
            Keyed(DFOPRegressor(0.01)).partial_fit(*bad(key, X, y))


@pytest.mark.parametrize("labels", [False, True])
def test_a_first_call_that_the_shared_model_refuses_leaves_nothing_behind(labels):
    """A model by the clock that is shared needs the times in order over all keys."""
    design = (DFOPClassifier if labels else DFOPRegressor)(half_life("1h"))
    y = ["a", "b"] if labels else [1.0, 2.0]
    keyed, fresh = Keyed(design, shared=True), Keyed(design, shared=True)
    with pytest.raises(ValueError, match="time runs backwards"):
        keyed.partial_fit([1, 2], [[1.0], [2.0]], y, time=[10.0, 5.0])
    assert len(keyed) == 0
    with pytest.raises(ValueError, match="no row was learned"):
        keyed.to_bytes()
    rows = [[1.0, 0.0], [2.0, 1.0]]  # others than those refused, and keys of the other kind
    for one in (keyed, fresh):
        one.partial_fit(["x", "y"], rows, y, time=[10.0, 15.0])
    assert keyed.to_bytes() == fresh.to_bytes()


def test_a_prior_mean_that_does_not_fit_the_shared_model_leaves_nothing_behind():
    shared = DFOPRegressor(0.01, prior_mean=[0.0, 1.0, 2.0])
    keyed = Keyed(DFOPRegressor(0.01), shared=shared)
    with pytest.raises(ValueError, match="prior_mean"):
        keyed.partial_fit([1, 2], [[1.0], [2.0]], [1.0, 2.0])
    keyed.partial_fit([1, 2], [[1.0, 0.0], [2.0, 1.0]], [1.0, 2.0])
    assert keyed.n_features_in_ == 2


@pytest.mark.parametrize("shared", [False, True])
def test_a_key_with_half_a_character_changes_nothing(shared):
    half = chr(0xD800)  # what a broken decoder leaves of a character outside the first plane
    _, X, y = stream(n=20)
    keyed = Keyed(DFOPRegressor(0.01), shared=shared).partial_fit(["a"] * 20, X, y)
    before = keyed.to_bytes()
    for keys in (
        ["a"] * 19 + [half],
        np.array(["a"] * 19 + [half]),
        ["ab\U0001f600"] * 19 + [half],
    ):
        for call in (keyed.partial_fit, keyed.predict_then_learn):
            with pytest.raises(ValueError, match=r"row 19.*half a character"):
                call(keys, X, -100 * y)
        with pytest.raises(ValueError, match=r"row 19.*half a character"):
            keyed.predict(keys, X)
        with pytest.raises(ValueError, match=r"row 19.*half a character"):
            keyed.predict_pending(keys, X, range(20))
    assert keyed.to_bytes() == before
    assert half not in keyed


@pytest.mark.parametrize("names", [("a", "other"), ("a", "b", "more"), ("a",)])
def test_columns_of_other_names_change_nothing(names):
    keyed = Keyed(DFOPRegressor(0.01))
    keyed.partial_fit([1, 2], pd.DataFrame(np.ones((2, 2)), columns=["a", "b"]), np.ones(2))
    before = keyed.to_bytes()
    with pytest.raises(ValueError, match="columns"):
        keyed.partial_fit(
            [1], pd.DataFrame(np.ones((1, len(names))), columns=list(names)), np.ones(1)
        )
    assert keyed.to_bytes() == before


def test_time_that_runs_backwards_within_a_key_changes_nothing():
    keyed = Keyed(DFOPRegressor(half_life("1h")))
    keyed.partial_fit([1, 2, 1], np.ones((3, 1)), np.ones(3), time=[5.0, 1.0, 5.0])
    before = keyed.to_bytes()
    for key, time in (([1], [4.0]), ([3, 2, 3], [9.0, 9.0, 8.0])):
        with pytest.raises(ValueError, match=f"row {len(key) - 1}, key {key[-1]}"):
            keyed.partial_fit(key, np.ones((len(key), 1)), np.ones(len(key)), time=time)
    with pytest.raises(ValueError, match="datetimes"):
        keyed.partial_fit([1], [[1.0]], [1.0], time=np.array(["2024"], "M8[s]"))
    with pytest.raises(ValueError, match="pass time="):
        keyed.partial_fit([1], [[1.0]], [1.0])
    assert keyed.to_bytes() == before


def test_sparse_rows_are_refused_with_a_remedy_that_fits_their_columns():
    key, X, y = stream(n=20)
    wide = sparse.csr_array((20, 2**18))
    for fit in (
        lambda rows: Keyed(DFOPRegressor(0.01)).partial_fit(key, rows, y),
        lambda rows: Information.from_data(rows, y, 0.01),
    ):
        with pytest.raises(TypeError, match=r"4 columns.*X\.toarray\(\)"):
            fit(sparse.csr_array(X))
        with pytest.raises(TypeError, match=r"262144 columns.*storage=20") as refused:
            fit(wide)
        assert "toarray" not in str(refused.value)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ([0], "2 keys but before has the shape"),
        (0, "2 keys but before has the shape"),
        ([1, 0], "must ascend from 0 to 1"),
        ([0, 2], "must ascend from 0 to 1"),
        ([0.5, 1.0], "not whole numbers of rows"),
    ],
)
def test_labels_between_rows_that_cannot_be_are_refused_as_by_a_lone_learner(before, said):
    keyed, alone = Keyed(DFOPRegressor(0.01)), DFOPRegressor(0.01)
    keyed.predict_pending([1, 1], [[1.0], [2.0]], ["a", "b"])
    alone.predict_pending([[1.0], [2.0]], ["a", "b"])
    labels = ["a", "b"], [1.0, 2.0], before
    for call in (
        lambda: keyed.ahead_pending([1], [[1.0]], ["c"], labels=labels),
        lambda: alone.ahead_pending([[1.0]], ["c"], labels=labels),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    assert keyed.pending_ == alone.pending_ == ["a", "b"]


def test_what_is_no_list_of_keys_is_not_forgotten():
    keyed = Keyed(DFOPRegressor(0.01)).partial_fit([1, 2], [[1.0], [2.0]], [1.0, 2.0])
    for bad in (1, "a", np.array(1), [[1]], {"a"}):
        with pytest.raises(ValueError, match="keys"):
            keyed.forget(bad)
    for bad in ({1, 2}, frozenset([1, 2]), {1: "a", 2: "b"}, {1: "a", 2: "b"}.keys()):
        for call in (keyed.forget, lambda keys: keyed.predict(keys, [[1.0], [2.0]])):
            with pytest.raises(ValueError, match="no rows in order: give a list with one key per"):
                call(bad)
    assert list(keyed.forget(iter([1]))) == [2]


def test_keys_in_arrow_are_those_in_a_list():
    key, X, y = stream(n=50)
    for keys in (key, key.astype(str)):
        lists, arrow = (Keyed(DFOPRegressor(0.01)) for _ in range(2))
        lists.partial_fit(keys.tolist(), X, y)
        arrow.partial_fit(pa.array(keys.tolist()), X, y)
        assert arrow.to_bytes() == lists.to_bytes()


def test_designs_that_cannot_be_kept_by_key_are_refused():
    with pytest.raises(ValueError, match="memory_limit=True must be a number of bytes"):
        Keyed(DFOPRegressor(0.1), memory_limit=True)
    with pytest.raises(ValueError, match="half a megabyte"):
        Keyed(DFOPRegressor())
    with pytest.raises(ValueError, match="lags"):
        Keyed(DFOPRegressor(0.1, lags=2))
    with pytest.raises(TypeError, match="DFOPRegressor"):
        Keyed(object())
    with pytest.raises(ValueError, match="new one"):
        Keyed(DFOPRegressor(0.1).fit([[1.0]], [1.0]))
    with pytest.raises(ValueError, match="by the clock"):
        Keyed(DFOPRegressor(0.1), expire="30d")
    for bad in (0, -1, True, [1]):
        with pytest.raises(ValueError, match="expire"):
            Keyed(DFOPRegressor(0.1), expire=bad)
    with pytest.raises(ValueError, match="too little"):
        Keyed(DFOPRegressor(0.1), memory_limit=10).partial_fit([1], [[1.0]], [1.0])
    with pytest.raises(ValueError, match="no row was learned"):
        Keyed(DFOPRegressor(0.1)).predict([1], [[1.0]])
    with pytest.raises(KeyError, match="the key 7"):
        Keyed(DFOPRegressor(0.1)).partial_fit([1], [[1.0]], [1.0])[7]


def test_what_is_printed_tells_the_design_keys_and_memory():
    keyed = Keyed(DFOPRegressor(forgetting=0.01), expire=100, memory_limit=10**6)
    design = "Keyed(DFOPRegressor(forgetting=0.01), expire=100, memory_limit=1000000)"
    assert repr(keyed) == f"{design}: no keys yet"
    keyed.partial_fit(np.arange(1200) % 30, np.ones((1200, 1)), np.ones(1200))
    assert repr(keyed) == f"{design}: 30 keys, {keyed.memory_bytes_:,} bytes"
    keyed.forget(range(29))
    assert ": 1 key, " in repr(keyed)
    given = "DFOPRegressor(forgetting=0.5)"
    assert f"shared={given})" in repr(Keyed(keyed.model, shared=DFOPRegressor(forgetting=0.5)))
    assert "shared=True)" in repr(Keyed(keyed.model, shared=True))
