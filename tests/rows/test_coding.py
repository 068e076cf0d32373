"""Text, gaps and new columns: coded as the rules say, the same in every way rows can come."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfop.river
from dfop import DFOPClassifier, DFOPRegressor, load, save
from dfop.core import MOST_TEXTS, Coder
from dfop.rows.tables import as_batch
from mixed_rows import coded_by_hand, records_of, table
from model_state import everything

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture
def few_texts(monkeypatch):
    """Hashing after three texts, so that small tables reach it."""
    monkeypatch.setattr("dfop.model.model.Coder", lambda: Coder(3))


def coded_rows(frame, weight=None, most=MOST_TEXTS):
    coder, batch = Coder(most), as_batch(frame)
    rows, _ = coder.code(batch.numbers, batch.texts, None, np.ones(1) if weight is None else weight)
    return coder.labels(frame.columns), rows


def target_of(rng, rows):
    return rows @ rng.normal(size=rows.shape[1]) + 0.1 * rng.normal(size=len(rows))


# -- the rules --------------------------------------------------------------------------------


def test_a_gap_is_the_mean_of_the_values_before_it_and_an_indicator():
    names, rows = coded_rows(pd.DataFrame({"a": [np.nan, 1.0, 3.0, np.nan, 8.0, np.nan]}))
    assert names == ["a", "a is missing"]
    np.testing.assert_array_equal(rows[:, 0], [0.0, 1.0, 3.0, 2.0, 8.0, 4.0])
    np.testing.assert_array_equal(rows[:, 1], [1.0, 0.0, 0.0, 1.0, 0.0, 1.0])


def test_text_is_coded_as_pandas_does_in_order_of_appearance():
    values = pd.Series(["red", "blue", "red", "green", "blue"])
    names, rows = coded_rows(pd.DataFrame({"c": values}))
    dummies = pd.get_dummies(pd.Categorical(values, ["red", "blue", "green"]), dtype=float)
    assert names == ["c=red", "c=blue", "c=green"]
    np.testing.assert_array_equal(rows, dummies.to_numpy())


def test_texts_beyond_the_first_hundred_share_columns():
    texts = [f"t{k}" for k in range(400)]
    names, rows = coded_rows(pd.DataFrame({"c": texts}))
    assert rows.shape == (400, 132)
    np.testing.assert_array_equal(rows.sum(axis=1), 1.0)
    np.testing.assert_array_equal(rows[:100, :100], np.eye(100))
    expected, by_hand = coded_by_hand([{"c": text} for text in texts])
    assert names == expected
    np.testing.assert_array_equal(rows, by_hand)


@settings(max_examples=40)
@given(seed=SEEDS, most=st.integers(1, 8), zeros=st.booleans())
def test_a_table_is_coded_as_by_hand(seed, most, zeros):
    rng = np.random.default_rng(seed)
    frame = table(rng, 60)
    weight = rng.integers(0, 3, 60) * rng.uniform(0.5, 1.5, 60) if zeros else np.ones(60)
    expected, by_hand = coded_by_hand(records_of(frame), weight, most_texts=most)
    names, rows = coded_rows(frame, weight, most)
    assert names == expected
    np.testing.assert_array_equal(rows, by_hand)


def test_the_largest_numbers_have_a_mean_that_can_be_learned():
    X = np.full((1000, 1), 2.0**500)
    X[::7] *= 1.0 - 2.0**-53
    X[500::10] = np.nan
    model = DFOPRegressor(0.01).partial_fit(X, np.ones(1000))
    assert np.isfinite(model.coef_).all()


# -- the learners -----------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.0, 0.02])
def test_a_regressor_of_mixed_rows_is_one_of_the_coded_rows(mu, rng):
    frame = table(rng, 400)
    names, rows = coded_by_hand(records_of(frame))
    y = target_of(rng, rows)
    mixed, plain = DFOPRegressor(mu), DFOPRegressor(mu)
    np.testing.assert_allclose(
        mixed.predict_then_learn(frame, y), plain.predict_then_learn(rows, y), atol=1e-10
    )
    np.testing.assert_allclose(mixed.coef_, plain.coef_, atol=1e-10)
    assert mixed.coded_names_.tolist() == names
    assert mixed.n_features_in_ == 5


def test_what_only_text_tells_is_learned(rng):
    color = rng.choice(["red", "blue", "green"], 1000)
    frame = pd.DataFrame({"color": color, "x": rng.normal(size=1000)})
    y = np.where(color == "red", "stop", "go")
    model = DFOPClassifier(0.01)
    ahead = model.predict_then_learn(frame, y, classes=["go", "stop"])
    assert np.mean(ahead[20:] == y[20:]) == 1.0


def containers(frame):
    text = frame.astype({"color": "string", "city": "string"})
    return {
        "strings": text,
        "categories": frame.astype({"color": "category", "city": "category"}),
        "nullable": frame.convert_dtypes(),
        "arrow": text.convert_dtypes(dtype_backend="pyarrow"),
        "polars": pl.from_pandas(text),
        "polars categories": pl.from_pandas(text).with_columns(pl.col("city").cast(pl.Categorical)),
    }


def arrays(frame):
    objects = frame.astype(object)
    return {
        "objects": objects.to_numpy(),
        "None": objects.where(frame.notna(), None).to_numpy(),
        "NA": objects.where(frame.notna(), pd.NA).to_numpy(),
        "lists": objects.to_numpy().tolist(),
        "tuples": tuple(map(tuple, objects.to_numpy().tolist())),
    }


@pytest.mark.parametrize("of", [containers, arrays])
def test_the_container_of_the_rows_changes_nothing(of, rng):
    frame = table(rng, 50)
    y = rng.normal(size=50)
    expected = DFOPRegressor(0.01).predict_then_learn(frame, y)
    for name, rows in of(frame).items():
        model = DFOPRegressor(0.01)
        assert model.predict_then_learn(rows, y).tobytes() == expected.tobytes(), name


def test_a_table_of_arrow_holds_numbers_and_gaps():
    table = pa.table({"a": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]})
    model = DFOPRegressor().partial_fit(table, [1.0, 2.0, 3.0]).partial_fit(table, [1.0, 2.0, 3.0])
    assert model.coded_names_.tolist() == ["a", "b", "a is missing"]


def test_names_where_there_are_none():
    model = DFOPRegressor().fit([["red", 1.0], ["blue", None]], [1.0, 2.0])
    assert model.coded_names_.tolist() == ["x0=red", "x1", "x0=blue", "x1 is missing"]
    with pytest.raises(AttributeError, match="once a row was seen"):
        DFOPRegressor().coded_names_  # noqa: B018


def test_codes_that_look_like_numbers_may_be_of_a_categorical_type():
    for codes in (["1", "2", "1"], [1, 2, 1]):
        frame = pd.DataFrame({"zip": pd.Categorical(codes)})
        assert DFOPRegressor().fit(frame, [1.0, 2.0, 1.0]).coded_names_.tolist() == [
            "zip=1",
            "zip=2",
        ]


def test_a_column_of_gaps_may_become_either_kind():
    empty = pd.DataFrame({"a": [np.nan, np.nan], "b": [1.0, 2.0]})
    for values, name in (["x", "y"], "a=x"), ([1.0, 2.0], "a"):
        model = DFOPRegressor().partial_fit(empty, [1.0, 2.0])
        model.partial_fit(empty.assign(a=values), [1.0, 2.0])
        assert model.coded_names_[:3].tolist() == [name, "b", "a is missing"]


def test_predicting_changes_nothing_and_what_is_unknown_has_no_part_in_it(rng):
    frame = table(rng, 100)
    model = DFOPRegressor(0.01).partial_fit(frame, rng.normal(size=100))
    before = everything(model)
    known = model.predict(frame)
    odd = frame.assign(color="never seen", more=1.0, city=None)
    odd.loc[3, "size"] = np.nan
    by_name = dict(zip(model.coded_names_, model.coef_, strict=True))
    expected = (
        odd["size"].fillna(frame["size"].mean()) * by_name["size"]
        + odd["size"].isna() * by_name["size is missing"]
        + odd["weight"] * by_name["weight"]
        + odd["flag"] * by_name["flag"]
        + by_name["city is missing"]
        + model.intercept_
    )
    np.testing.assert_allclose(model.predict(odd), expected, atol=1e-12)
    assert everything(model) == before
    assert model.predict(frame).tobytes() == known.tobytes()


# -- new columns ------------------------------------------------------------------------------


def test_a_new_column_was_zero_before(rng):
    X = rng.normal(size=(300, 3))
    X[:150, 2] = 0.0
    y = target_of(rng, X)
    frame = pd.DataFrame(X, columns=list("abc"))
    whole, grown = DFOPRegressor(0.02), DFOPRegressor(0.02)
    expected = whole.predict_then_learn(frame, y)
    ahead = [
        grown.predict_then_learn(frame[["a", "b"]][:150], y[:150]),
        grown.predict_then_learn(frame[150:], y[150:]),
    ]
    np.testing.assert_allclose(np.concatenate(ahead), expected, atol=1e-10)
    assert grown.feature_names_in_.tolist() == ["a", "b", "c"]
    assert grown.n_features_in_ == 3


def test_a_new_column_stays():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    model = DFOPRegressor().partial_fit(frame, [1.0, 2.0])
    model.partial_fit(frame.assign(b=["x", None]), [1.0, 2.0])
    with pytest.raises(ValueError, match="yet now missing:\n- b"):
        model.partial_fit(frame, [1.0, 2.0])
    np.testing.assert_array_equal(
        model.predict(frame.assign(b=None)), model.predict(frame.assign(b=np.nan))
    )


def test_a_plain_array_keeps_its_number_of_columns():
    model = DFOPRegressor().partial_fit([["red", 1.0]], [1.0])
    for rows in ([["red"]], [["red", 1.0, 2.0]]):
        with pytest.raises(ValueError, match="expecting 2 features"):
            model.partial_fit(rows, [1.0])


# -- any split, any weight --------------------------------------------------------------------


@settings(max_examples=50)
@given(
    seed=SEEDS,
    most=st.integers(1, 8),
    cuts=st.sets(st.integers(1, 59)),
    weighted=st.booleans(),
    as_list=st.booleans(),
)
def test_any_split_gives_the_same_bits(seed, most, cuts, weighted, as_list):
    rng = np.random.default_rng(seed)
    frame, y = table(rng, 60), rng.normal(size=60)
    more = {"sample_weight": rng.integers(0, 3, 60) * rng.uniform(0.5, 1.5, 60)} if weighted else {}
    rows = frame.astype(object).to_numpy().tolist() if as_list else frame
    whole, split = DFOPRegressor(0.05), DFOPRegressor(0.05)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dfop.model.model.Coder", lambda: Coder(most))
        at_once = whole.predict_then_learn(rows, y, **more)
        parts = [
            split.predict_then_learn(rows[a:b], y[a:b], **{k: v[a:b] for k, v in more.items()})
            for a, b in itertools.pairwise([0, *sorted(cuts), 60])
        ]
    assert np.concatenate(parts).tobytes() == at_once.tobytes()
    assert everything(split) == everything(whole)


@settings(max_examples=20)
@given(seed=SEEDS)
def test_predict_before_partial_fit_is_predict_then_learn(seed):
    rng = np.random.default_rng(seed)
    frame, y = table(rng, 40), rng.normal(size=40)
    asked, learned = DFOPRegressor(0.05), DFOPRegressor(0.05)
    for model in (asked, learned):
        model.partial_fit(frame[:1], y[:1])
    for t in range(1, 40):
        row = frame[t : t + 1]
        before = asked.predict(row)
        asked.partial_fit(row, y[t : t + 1])
        assert before.tobytes() == learned.predict_then_learn(row, y[t : t + 1]).tobytes()


def test_numbers_without_gaps_have_a_mean_when_the_first_gap_comes(rng):
    X = rng.normal(size=(100, 3))
    late = np.array([[np.nan, 1.0, np.nan]])
    for size in (1, 7, 100):
        model = DFOPRegressor()
        for start in range(0, 100, size):
            model.partial_fit(X[start : start + size], X[start : start + size, 0])
        rows, _ = model._model.coder.code(late, {}, None, np.ones(1))
        np.testing.assert_allclose(rows[0], [*(X.mean(0) * [1, 0, 1] + [0, 1, 0]), 1.0, 1.0])


def test_a_weight_is_a_number_of_times_and_zero_is_never(rng):
    frame, y = table(rng, 80), rng.normal(size=80)
    times = rng.integers(0, 4, 80)
    times[0] = 1
    weighted = DFOPRegressor(0.01).partial_fit(frame, y, sample_weight=times)
    repeated = np.repeat(np.arange(80), times)
    by_copies = DFOPRegressor(0.01).partial_fit(frame.iloc[repeated], y[repeated])
    assert weighted.coded_names_.tolist() == by_copies.coded_names_.tolist()
    np.testing.assert_allclose(weighted.coef_, by_copies.coef_, atol=1e-8)
    kept = np.flatnonzero(times)
    without = DFOPRegressor(0.01).partial_fit(frame.iloc[kept], y[kept], sample_weight=times[kept])
    assert everything(weighted)[1]["coder"] == everything(without)[1]["coder"]


# -- late labels ------------------------------------------------------------------------------


def test_labels_may_come_late_for_mixed_rows(rng, few_texts):
    frame = table(rng, 120)
    y = rng.normal(size=120)
    on_time, late = DFOPRegressor(0.02), DFOPRegressor(0.02)
    on_time.partial_fit(frame.assign(more=[0.0] * 60 + [1.0] * 60), y)
    for start in range(0, 60, 20):
        late.predict_pending(frame[start : start + 20], range(start, start + 20))
    late.learn_pending(range(30, 45), y[30:45])
    for start in range(60, 120, 20):
        part = frame[start : start + 20].assign(more=1.0)
        late.predict_pending(part, range(start, start + 20))
    for keys in (range(100, 120), range(30), range(45, 100)):
        late.learn_pending(keys, y[list(keys)])
    row = frame[7:40].assign(more=1.0)
    np.testing.assert_allclose(late.predict(row), on_time.predict(row), atol=1e-9)
    assert set(late.coded_names_) == set(on_time.coded_names_)


# -- River ------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(seed=SEEDS, most=st.integers(1, 8))
def test_the_river_learner_is_the_array_learner(seed, most):
    rng = np.random.default_rng(seed)
    frame, y = table(rng, 60), rng.normal(size=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dfop.model.model.Coder", lambda: Coder(most))
        array, river = DFOPRegressor(0.02), dfop.river.DFOPRegressor(0.02)
        ahead = array.predict_then_learn(frame, y)
        for record, target, expected in zip(records_of(frame), y, ahead, strict=True):
            assert river.predict_one(record) == pytest.approx(expected, rel=1e-10, abs=1e-10)
            river.learn_one(record, target)
    weights = dict(zip(array.coded_names_.tolist(), array.coef_.tolist(), strict=True))
    assert river.weights == pytest.approx(weights, abs=1e-10)


@settings(max_examples=25)
@given(seed=SEEDS, most=st.integers(1, 8), cut=st.integers(1, 59))
@pytest.mark.parametrize("kind", [dfop.river.DFOPRegressor, dfop.river.DFOPClassifier])
def test_river_batches_are_river_rows(kind, seed, most, cut):
    rng = np.random.default_rng(seed)
    frame = table(rng, 60)
    y = pd.Series(rng.integers(0, 3, 60))
    one, many = kind(0.02), kind(0.02)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dfop.model.model.Coder", lambda: Coder(most))
        for record, target in zip(records_of(frame), y.tolist(), strict=True):
            one.learn_one(record, target)
        many.learn_many(frame[:cut], y[:cut])
        many.learn_many(frame[cut:], y[cut:])
        predicted = [one.predict_one(record) for record in records_of(frame)]
        assert many.predict_many(frame).tolist() == predicted


def test_what_a_river_row_does_not_have_is_zero_and_no_gap():
    model, zeros = dfop.river.DFOPRegressor(0.0), dfop.river.DFOPRegressor(0.0)
    for t in range(30):
        model.learn_one({"a": 1.0 + t} if t % 3 else {"c": "red"}, t)
        zeros.learn_one({"a": (1.0 + t) * (t % 3 > 0), "c": 1.0 * (t % 3 == 0)}, t)
    assert set(model.weights) == {"a", "c=red"}
    assert model.weights["a"] == pytest.approx(zeros.weights["a"], abs=1e-10)
    seen = [1.0 + t for t in range(30) if t % 3]
    with_mean = model.predict_one({"a": sum(seen) / len(seen), "c": "red"})
    assert model.predict_one({"a": None, "c": "red"}) == pytest.approx(with_mean, abs=1e-12)


def test_a_river_feature_of_gaps_may_become_either_kind():
    for value, name in ("x", "a=x"), (2.0, "a"):
        model = dfop.river.DFOPRegressor(0.001)
        model.learn_one({"a": None, "b": 1.0}, 1.0)
        model.learn_one({"a": value, "b": 1.0}, 1.0)
        model.learn_one({"a": value, "b": 1.0}, 1.0)
        assert set(model.weights) == {name, "b", "a is missing"}


# -- files, threads ---------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["file", "pickle"])
def test_goes_on_to_the_last_bit(way, rng, tmp_path):
    frame, y = table(rng, 120), rng.normal(size=120)
    model = DFOPRegressor(0.02).partial_fit(frame[:40], y[:40])
    model.predict_pending(frame[40:50], range(10))
    model.partial_fit(frame[50:60].assign(more="x"), y[50:60])
    if way == "file":
        save(model, tmp_path / "m.dfop")
        other = load(tmp_path / "m.dfop")
    else:
        other = pickle.loads(pickle.dumps(model))
    for one in (model, other):
        one.learn_pending([3, 1], y[:2])
        one.partial_fit(frame[60:].assign(more=None), y[60:])
    assert everything(other) == everything(model)


@pytest.mark.parametrize("way", ["file", "pickle"])
@pytest.mark.parametrize("kind", [dfop.river.DFOPRegressor, dfop.river.DFOPClassifier])
def test_a_river_learner_goes_on_to_the_last_bit(kind, way, rng, tmp_path):
    records, y = records_of(table(rng, 120)), rng.integers(0, 3, 120).tolist()
    model = kind(0.02)
    for record, target in zip(records[:60], y[:60], strict=True):
        model.learn_one(record, target)
    if way == "file":
        save(model, tmp_path / "m.dfop")
        other = load(tmp_path / "m.dfop")
    else:
        other = pickle.loads(pickle.dumps(model))
    for record, target in zip(records[60:], y[60:], strict=True):
        assert other.predict_one(record) == model.predict_one(record)
        model.learn_one(record, target)
        other.learn_one(record, target)
    assert [other.predict_one(r) for r in records] == [model.predict_one(r) for r in records]


def test_threads_may_share_a_model_of_mixed_rows(rng):
    frames = [table(rng, 50, texts=30) for _ in range(40)]
    y = rng.normal(size=50)
    model = DFOPRegressor(0.0).partial_fit(frames[0], y)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda frame: model.partial_fit(frame, y), frames))
        list(pool.map(model.predict, frames))
    assert len(set(model.coded_names_)) == len(model.coef_) == model._model.coder.width


def test_ever_new_texts_fade_without_harm(rng):
    n = 20_000
    frame = pd.DataFrame({"id": [f"id {t}" for t in range(n)], "x": rng.normal(size=n)})
    y = frame["x"].to_numpy()
    model = DFOPRegressor(0.1)
    ahead = model.predict_then_learn(frame, y)
    assert model.coef_.size == 100 + 32 + 1
    assert np.mean((ahead - y)[-1000:] ** 2) < 0.5
