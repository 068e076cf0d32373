"""`storage=m`: the same contract as the exact filter, on dense rows, sparse rows and dicts."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from dfop import DFOPClassifier, DFOPRegressor, from_bytes, half_life, to_bytes
from dfop.river import DFOPClassifier as RiverClassifier
from dfop.river import DFOPRegressor as RiverRegressor
from dfop.rows import hashed

D = 3000


def text_rows(rng, n=300):
    X = sparse.random_array((n, D), density=0.01, rng=rng, format="csr")
    return X, np.asarray(X @ rng.normal(size=D))


def learner(kind, **more):
    return kind(**{"forgetting": 0.001, "storage": 4, **more})


def in_parts(model, X, y, sizes, **more):
    parts, start = [], 0
    for size in sizes:
        part = slice(start, start + size)
        parts.append(model.predict_then_learn(X[part], y[part], **more))
        start += size
    return np.concatenate(parts)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_splits_and_containers_give_the_same_bits(rng, kind):
    X, y = text_rows(rng)
    whole = learner(DFOPRegressor).predict_then_learn(X, y)
    cut = in_parts(learner(DFOPRegressor), X, y, [1, 99, 200])
    assert np.array_equal(whole, cut)
    assert np.array_equal(whole, learner(DFOPRegressor).predict_then_learn(X.asformat(kind), y))
    assert np.array_equal(whole, learner(DFOPRegressor).predict_then_learn(X.toarray(), y))


def test_dense_rows_go_on_where_sparse_ones_began(rng):
    X, y = text_rows(rng)
    model, other = (learner(DFOPRegressor).partial_fit(X[:100], y[:100]) for _ in range(2))
    there = model.predict_then_learn(X[100:], y[100:])
    assert np.array_equal(there, other.predict_then_learn(X[100:].toarray(), y[100:]))
    with pytest.raises(ValueError, match="NaN at row 0, column 7"):
        model.predict(np.where(np.arange(D) == 7, np.nan, 0.0)[np.newaxis])


@pytest.mark.parametrize("restored", [lambda m: from_bytes(to_bytes(m)),
                                      lambda m: pickle.loads(pickle.dumps(m))])  # fmt: skip
def test_goes_on_as_if_never_stopped(rng, restored):
    X, _ = text_rows(rng)
    labels = np.array(["a", "b", "c"])[rng.integers(3, size=300)]
    model = learner(DFOPClassifier).partial_fit(X[:200], labels[:200])
    other = restored(model)
    assert np.array_equal(
        model.predict_proba_then_learn(X[200:], labels[200:]),
        other.predict_proba_then_learn(X[200:], labels[200:]),
    )
    assert np.array_equal(model.coef_, other.coef_)


def test_weights_make_the_predictions(rng):
    X, y = text_rows(rng)
    model = learner(DFOPRegressor).fit(X, np.column_stack([y, -y]))
    assert model.coef_.shape == (2, D)
    assert np.allclose(X @ model.coef_.T + model.intercept_, model.predict(X), atol=1e-8)
    assert model.n_features_in_ == D


def test_several_numbers_are_learned_as_each_alone(rng):
    X, y = text_rows(rng)
    both = learner(DFOPRegressor).predict_then_learn(X, np.column_stack([y, y**2]))
    alone = learner(DFOPRegressor).predict_then_learn(X, y**2)
    assert np.allclose(both[:, 1], alone, rtol=1e-9, atol=1e-9)


def test_forgets_by_the_clock_and_by_discounts(rng):
    X, y = text_rows(rng)
    clock = learner(DFOPRegressor, forgetting=half_life("700s"))
    by_clock = clock.predict_then_learn(X, y, time=np.arange(300.0))
    discount = np.full(300, 0.5 ** (1 / 700))
    discount[0] = 1.0  # no time has passed before the first row
    given = learner(DFOPRegressor).predict_then_learn(X, y, discount=discount)
    assert np.allclose(by_clock, given, rtol=1e-6, atol=1e-9)


def test_a_row_of_weight_0_is_not_seen(rng):
    X, y = text_rows(rng)
    seen = np.arange(300) % 3 > 0
    model = learner(DFOPRegressor).fit(X, y, sample_weight=seen.astype(float))
    assert np.array_equal(model.coef_, learner(DFOPRegressor).fit(X[seen], y[seen]).coef_)


def test_late_labels_of_dense_rows_are_learned_exactly(rng):
    X, y = text_rows(rng, n=60)
    X = X.toarray()
    model = learner(DFOPRegressor)
    model.predict_pending(X, keys=range(60))
    model.learn_pending(range(60), y)
    at_once = learner(DFOPRegressor).fit(X, y)
    assert np.corrcoef(model.predict(X), at_once.predict(X))[0, 1] > 0.99


@pytest.mark.parametrize("guarantee", [False, True])
def test_sparse_rows_wait_for_their_labels_as_dense_ones_do(rng, guarantee):
    """In any calls, also through a file: the bits are those of dense rows, never made dense."""
    X, y = text_rows(rng, n=120)
    X.data[3] = 0.0  # a cell that is held and 0
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    order = rng.permutation(120)  # in which labels come
    outcomes = []
    for rows in (X, X.toarray()):
        model = learner(DFOPClassifier, guarantee=guarantee)
        model.partial_fit(rows[:20], labels[:20], classes="open")
        ahead = [model.predict_pending(rows[20:70], keys=range(20, 70))]
        model.learn_pending(range(30, 50), labels[30:50])
        model = from_bytes(to_bytes(model))
        ahead.append(model.predict_pending(rows[70:], keys=range(70, 120)))
        waiting = [int(t) for t in order if t >= 20 and not 30 <= t < 50]
        model.learn_pending(waiting, labels[waiting])
        outcomes.append((*ahead, model.decision_function(rows)))
    for by_nonzeros, dense in zip(*outcomes, strict=True):
        assert np.array_equal(by_nonzeros, dense)


def test_sparse_rows_whose_labels_come_at_once_are_learned_at_once(rng):
    X, y = text_rows(rng, n=100)
    late, at_once = learner(DFOPRegressor), learner(DFOPRegressor)
    due = (range(100), y, np.arange(1, 101))
    ahead = late.predict_pending(X, keys=range(100), labels=due)
    assert np.array_equal(ahead, at_once.predict_then_learn(X, y))
    assert np.array_equal(late.coef_, at_once.coef_)


def test_small_sparse_rows_need_no_storage(rng):
    X = sparse.random_array((2500, 40), density=0.2, rng=rng, format="csr")
    y = X @ rng.normal(size=40)
    for forgetting in (0.001, "auto"):
        dense, by_blocks = DFOPRegressor(forgetting), DFOPRegressor(forgetting)
        rows = slice(None) if forgetting != "auto" else slice(1100)
        there = dense.predict_then_learn(X[rows].toarray(), y[rows])
        assert np.array_equal(there, by_blocks.predict_then_learn(X[rows], y[rows]))
        assert np.array_equal(dense.predict(X[rows].toarray()), by_blocks.predict(X[rows]))


def test_bad_rows_are_refused_and_nothing_changes(rng):
    X, y = text_rows(rng)
    model = learner(DFOPRegressor).fit(X, y)
    before = to_bytes(model)
    bad = X.copy()
    bad.data[5] = np.nan
    huge = X.copy()
    huge.data[5] = 1e200
    row = int(np.searchsorted(X.indptr, 5, side="right")) - 1
    for rows, words in [
        (bad, f"NaN at row {row}, column {X.indices[5]}"),
        (huge, "too large"),
        (X[:, :-1], "2999 features, but DFOPRegressor is expecting 3000"),
        (X[:0], "empty"),
        (X.astype(complex), "real numbers"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.partial_fit(rows, y[: rows.shape[0]])
    with pytest.raises(ValueError, match=r"3000 columns.*storage="):
        DFOPRegressor(0.01).fit(X, y)
    with pytest.raises(ValueError, match="lags=2 needs dense rows"):
        learner(DFOPRegressor, lags=2).fit(X, y)
    with pytest.raises(ValueError, match="storage=4 needs a single filter"):
        learner(DFOPRegressor, forgetting="auto").fit(X, y)
    assert to_bytes(model) == before


def test_text_and_gaps_of_dense_rows_are_coded_as_ever():
    rows = [["red", 1.0], ["blue", None], ["red", 3.0]] * 5
    y = [1.0, 2.0, 3.0] * 5
    exact, all_directions = DFOPRegressor(0.01), DFOPRegressor(0.01, storage=20, prior_variance=100)
    assert np.allclose(
        exact.predict_then_learn(rows, y), all_directions.predict_then_learn(rows, y), atol=1e-6
    )
    assert exact.coded_names_.tolist() == all_directions.coded_names_.tolist()


# -- with a bound -------------------------------------------------------------------------------


def test_a_guarantee_is_kept_by_sparse_rows_files_and_splits(rng):
    X, y = text_rows(rng)
    whole = learner(DFOPRegressor, guarantee=True)
    together = whole.predict_then_learn(X, y)
    parts = learner(DFOPRegressor, guarantee=True)
    cut = [parts.predict_then_learn(X[:150], y[:150])]
    parts = from_bytes(to_bytes(parts))
    cut += [parts.predict_then_learn(X[150:].toarray(), y[150:])]
    assert np.array_equal(together, np.concatenate(cut))
    assert parts.storage_error_ == whole.storage_error_
    rows = np.column_stack([np.ones(300), X.toarray()])
    B = whole.__dfop_model__().engine.root()
    span = np.linalg.qr(np.vstack([rows, B]).T)[0]  # outside it R and B'B are 0
    seen, kept = rows @ span, B @ span
    R = (seen * (0.999 ** np.arange(300)[::-1])[:, np.newaxis]).T @ seen
    spectrum = np.linalg.eigvalsh(R - kept.T @ kept)
    assert spectrum[0] > -1e-9
    assert 0.0 < spectrum[-1] <= whole.storage_error_ * (1.0 + 1e-9)


def test_a_guarantee_for_classes_dicts_and_late_labels(rng):
    X, _ = text_rows(rng)
    labels = np.array(["a", "b", "c"])[rng.integers(3, size=300)]
    model = learner(DFOPClassifier, guarantee=True).fit(X, labels)
    again = from_bytes(to_bytes(model))
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
    assert model.storage_error_ > 0.0
    river = RiverClassifier(forgetting=0.001, storage=4, guarantee=True, max_features=D)
    for x, label in zip(dicts_of(X), labels.tolist(), strict=True):
        river.learn_one(x, label)
    assert river.storage_error_ == pytest.approx(model.storage_error_, rel=0.2)


def test_a_guarantee_without_storage_is_refused():
    with pytest.raises(ValueError, match="storage=20"):
        DFOPRegressor(0.001, guarantee=True).fit([[1.0]], [1.0])
    with pytest.raises(ValueError, match="True or False"):
        DFOPRegressor(0.001, storage=2, guarantee=3).fit([[1.0]], [1.0])
    plain = DFOPRegressor(0.001, storage=2).fit([[1.0]], [1.0])
    with pytest.raises(AttributeError, match="guarantee=True"):
        _ = plain.storage_error_


# -- River --------------------------------------------------------------------------------------


def dicts_of(X):
    for row in X:
        row = row.tocoo()
        yield {f"w{j}": float(v) for j, v in zip(row.coords[0], row.data, strict=True)}


def test_dicts_of_many_names(rng):
    X, y = text_rows(rng)
    model = RiverRegressor(forgetting=0.001, storage=4, max_features=D)
    array = learner(DFOPRegressor)
    names: dict[str, int] = {}
    for x, target in zip(dicts_of(X), y, strict=True):
        for name in sorted(set(x) - set(names)):
            names[name] = len(names)
        row = np.zeros((1, D))
        row[0, [names[name] for name in x]] = list(x.values())
        ahead = model.predict_one(x)
        assert ahead == array.predict_then_learn(sparse.csr_array(row), [target])[0]
        model.learn_one(dict(reversed(x.items())), target)  # its order does not matter
    assert set(model.weights) == set(names)


def test_river_models_are_saved_and_go_on(rng):
    X, _ = text_rows(rng)
    model = RiverClassifier(forgetting=0.001, storage=4, max_features=D)
    labels = ["a", "b", "c"] * 100
    rows = list(dicts_of(X))
    for x, label in zip(rows[:200], labels, strict=False):
        model.learn_one(x, label)
    other = from_bytes(to_bytes(model))
    for x, label in zip(rows[200:], labels[200:], strict=True):
        assert model.predict_proba_one(x) == other.predict_proba_one(x)
        model.learn_one(x, label)
        other.learn_one(x, label)


def test_names_beyond_the_limit_share_weights_and_bad_cells_change_nothing():
    model = RiverRegressor(forgetting=0.001, storage=4, max_features=10)
    for t in range(9):
        model.learn_one({f"w{t}": 1.0}, 1.0)
    with pytest.warns(UserWarning, match="max_features=10"):
        model.learn_one({f"v{t}": 1.0 for t in range(50)}, 1.0)
    assert len(model.weights) <= 10 + 32
    before = to_bytes(model)
    for bad in ({"new": "12"}, {"new": 1e300}, {"new": [1]}, ["w1"]):
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(bad, 1.0)
    assert to_bytes(model) == before


# -- text ---------------------------------------------------------------------------------------


def test_hashed_text_is_learned(rng):
    words = {"spam": ["cheap", "watch", "win"], "ham": ["lunch", "meeting", "report"]}
    labels = rng.choice(["spam", "ham"], size=200)
    texts = [" ".join(rng.choice([*words[k], "the", "and"], size=6)) for k in labels]
    hasher = hashed(bits=16)
    model = DFOPClassifier(forgetting=0.001, storage=5)
    ahead = model.predict_then_learn(hasher.transform(texts), labels)
    assert np.mean(ahead[50:] == labels[50:]) > 0.95
    with pytest.raises(TypeError, match="no text"):
        hasher.transform([None])
    with pytest.raises(ValueError, match="bits=40"):
        hashed(40)


@pytest.mark.parametrize("kind", [DFOPRegressor, DFOPClassifier])
@pytest.mark.parametrize("late", [False, True])
def test_the_default_is_one_sketch_where_sparse_rows_are_wide(rng, kind, late):
    X = sparse.random_array((300, 20_000), density=0.002, rng=rng, format="csr")
    y = np.asarray(X @ rng.normal(size=20_000))
    y = y if kind is DFOPRegressor else np.where(y > 0, "up", "down")
    default, said = kind(), kind(forgetting=0.0003, storage=20)
    for model in (default, said):
        if late:
            told = {} if kind is DFOPRegressor else {"classes": ["down", "up"]}
            model.predict_pending(X[:99], keys=range(99), **told)
            model.learn_pending(range(99), y[:99])
        else:
            model.partial_fit(X[:99], y[:99])
    default = from_bytes(to_bytes(default))  # a file knows it, too
    assert default.get_params()["forgetting"] == "auto"
    assert default.get_params()["storage"] is None
    for start in (99, 200):
        rows, labels = X[start : start + 100], y[start : start + 100]
        found = default.predict_then_learn(rows, labels)
        assert np.array_equal(found, said.predict_then_learn(rows, labels))
    assert np.array_equal(default.coef_, said.coef_)
    default.set_params(threads=1)
    with pytest.raises(ValueError, match="forgetting was changed"):
        default.set_params(forgetting=0.1).predict(X)


def test_a_default_on_wide_sparse_rows_says_what_it_does_not_have(rng):
    X, y = text_rows(rng, n=30)
    model = DFOPRegressor()
    with pytest.raises(AttributeError, match="monitor"):
        model.predict_interval_then_learn(X, y)
    with pytest.raises(ValueError, match="lags=2 needs dense rows"):
        DFOPRegressor(lags=2).partial_fit(X, y)
    for given in ({"semi": True}, {"features": "rff"}, {"forgetting": "few"}):
        with pytest.raises(ValueError, match=f"sparse with {D} columns"):
            DFOPRegressor(**given).partial_fit(X, y)
    assert model.ahead_then_learn(X, y).interval is None
    assert not model.takes_time
    with pytest.raises(AttributeError, match=r"no more than 1,000 columns"):
        _ = model.experts_
    with pytest.raises(AttributeError, match="a sketch does not count them"):
        _ = model.limited_rows_
    dense = DFOPRegressor().partial_fit(X[:, :50], y)
    assert dense.experts_
    assert dense.takes_time


def test_a_default_on_wide_sparse_rows_says_why_it_has_no_intervals_and_alarms(rng):
    X, y = text_rows(rng, n=30)
    begun = DFOPRegressor().partial_fit(X, y)
    again = from_bytes(to_bytes(begun))
    why = "wide sparse rows are learned by one sketch, without intervals and alarms. Give rows of"
    for asked in (
        lambda: begun.alarms_,
        lambda: begun.outliers_,
        lambda: begun.predict_interval(X),
        lambda: again.predict_interval(X),
        lambda: DFOPRegressor().predict_interval_then_learn(X, y),
    ):
        with pytest.raises(AttributeError, match=why) as error:
            asked()
        assert 'forgetting="auto"' not in str(error.value)
    with pytest.raises(AttributeError, match="a sketch has none: leave out storage="):
        _ = DFOPRegressor(0.01, storage=5).partial_fit(X, y).alarms_
    few_columns = DFOPRegressor().fit(X[:, :1000], y)  # the remedy is right
    assert few_columns.predict_interval(X[:, :1000]).shape == (30, 2)
    assert few_columns.alarms_ == []


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ({}, r"began with dense rows: go on with such, X\.toarray\(\), or begin a new model"),
        ({"semi": True}, "leave out semi=True, and the default learns them by one sketch"),
        ({"features": "rff", "semi": True}, "leave out features= and semi=True, and the default"),
        ({"forgetting": "few"}, "give a forgetting and storage="),
        ({"forgetting": 0.0}, "give a forgetting and storage="),
    ],
)
def test_wide_sparse_rows_after_dense_ones_are_refused_with_the_reason(rng, given, remedy):
    X = sparse.random_array((20, 1001), density=0.01, rng=rng, format="csr")
    y = rng.normal(size=20)
    model = DFOPRegressor(**given).partial_fit(X[:3].toarray(), y[:3])
    with pytest.raises(ValueError, match=rf"X is sparse with 1001 columns.*{remedy}"):
        model.partial_fit(X[3:], y[3:])
    model.partial_fit(X[3:].toarray(), y[3:])  # goes on with dense ones
