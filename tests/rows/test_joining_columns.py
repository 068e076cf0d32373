"""Columns of dicts join at the row that first has them; columns that cannot be read."""

import itertools
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfop import DFOPClassifier, DFOPRegressor, Keyed, from_bytes, to_bytes
from dfop.rows import Batch, as_batch

CELLS = {
    "a": st.floats(-5, 5, width=16),
    "b": st.one_of(st.none(), st.floats(-5, 5, width=16)),
    "c": st.sampled_from(["red", "blue", None]),
    "d": st.sampled_from([0.0, 1.0]),
}
ROWS = st.lists(st.fixed_dictionaries({}, optional=CELLS), min_size=2, max_size=12)


def predictions(model, rows, y, cuts, **given):
    edges = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    return np.concatenate(
        [
            model.predict_then_learn(
                rows[start:stop], y[start:stop], **{k: v[start:stop] for k, v in given.items()}
            )
            for start, stop in itertools.pairwise(edges)
        ]
    )


@given(ROWS.filter(lambda rows: rows[0]), st.lists(st.integers(1, 11)), st.integers(0, 2**32 - 1))
def test_any_split_of_dicts_gives_the_same_bits(rows, cuts, seed):
    rng = np.random.default_rng(seed)
    y, weight = rng.normal(size=len(rows)), rng.integers(0, 3, len(rows)).astype(float)
    for given_weight in ({}, {"sample_weight": weight}):
        whole, parts = DFOPRegressor(0.01), DFOPRegressor(0.01)
        together = predictions(whole, rows, y, [], **given_weight)
        assert np.array_equal(together, predictions(parts, rows, y, cuts, **given_weight))
        assert whole.coded_names_.tolist() == parts.coded_names_.tolist()
        assert np.array_equal(whole.coef_, parts.coef_)


@pytest.mark.parametrize("make", [DFOPRegressor, lambda: DFOPRegressor(0.01, lags=1)])
def test_a_name_that_comes_later_changes_no_prediction_before_it(rng, make):
    rows = [{"a": v} for v in rng.normal(size=40).tolist()]
    y = np.array([2 * row["a"] for row in rows])
    later = [*rows[:30], *({**row, "z": "new"} for row in rows[30:])]
    plain, joined = make().predict_then_learn(rows, y), make().predict_then_learn(later, y)
    assert np.array_equal(plain[:30], joined[:30])


def test_classes_keys_and_late_labels_take_up_columns_as_one_row_after_another_does(rng):
    rows = [{"a": v} for v in rng.normal(size=20).tolist()]
    rows = [*rows[:9], *({**row, "z": 1.0} for row in rows[9:14]), *rows[14:]]
    labels = np.where(rng.random(20) < 0.5, "x", "y")
    whole, single = DFOPClassifier(0.01, lags=1), DFOPClassifier(0.01, lags=1)
    one_by_one = [
        single.predict_then_learn([row], [label], classes=["x", "y"])[0]
        for row, label in zip(rows, labels, strict=True)
    ]
    assert whole.predict_then_learn(rows, labels, classes=["x", "y"]).tolist() == one_by_one
    y = rng.normal(size=20)
    late, at_once = DFOPRegressor(0.01), DFOPRegressor(0.01)
    late.predict_pending(rows, range(20))
    for t in range(20):
        at_once.predict_pending(rows[t : t + 1], [t])
    late.learn_pending(range(20), y)
    at_once.learn_pending(range(20), y)
    assert np.array_equal(late.coef_, at_once.coef_)
    keys = ["k"] * 20
    keyed = Keyed(DFOPRegressor(0.01)).predict_then_learn(keys, rows, y)
    assert np.array_equal(keyed, DFOPRegressor(0.01).predict_then_learn(rows, y))


def test_a_cut_and_a_join_know_where_columns_begin():
    batch = as_batch([{"a": 1.0}, {"b": 2.0}, {"a": 3.0}, {"c": "x"}])
    assert batch.since == (0, 1, 3)
    assert batch[2:].since == (0, 0, 1)
    assert batch[:2].since == (0, 1, 3)  # the last one joins after these rows
    for cut in range(1, 4):
        assert Batch.join([batch[:cut], batch[cut:]]).since == (0, 1, 3)
    assert as_batch([{"a": 1.0, "b": None}, {"a": 1.0}]).since is None


def test_names_are_texts_before_and_after_a_file(rng):
    rows = [{0: v, (1, 2): 1.0} for v in rng.normal(size=9).tolist()]
    model = DFOPRegressor(0.01).fit(rows, rng.normal(size=9))
    assert np.array_equal(from_bytes(to_bytes(model)).predict(rows), model.predict(rows))
    assert model.feature_names_in_.tolist() == ["0", "(1, 2)"]
    with pytest.raises(ValueError, match="row 1 has names that are equal as text"):
        as_batch([{0: 1.0}, {0: 1.0, "0": 2.0}])


def test_a_category_is_one_name_as_whole_number_and_as_float():
    first = pd.DataFrame({"shop": pd.Categorical([1, 2])})
    model = DFOPRegressor(0.01).fit(first, [5.0, -5.0])
    gap = pd.DataFrame({"shop": pd.Categorical([1.0, 2.0, None])})
    assert np.array_equal(model.predict(gap)[:2], model.predict(first))
    arrow = pa.table({"shop": pa.array([1.0, 2.0]).dictionary_encode()})
    assert np.array_equal(model.predict(arrow), model.predict(first))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (pd.DataFrame(index=range(3)), "0 feature"),
        (pl.DataFrame({"a": [{"x": 1}, {"x": 2}, {"x": 3}]}), "is no number and no text"),
        (pl.DataFrame({"a": pl.Series([[1, 2]] * 3, dtype=pl.Array(pl.Int64, 2))}), "no number"),
        (pd.DataFrame([[1.0, 2.0]] * 3, columns=["a", "a"]), "several columns named 'a'"),
        (pa.table([pa.array([1.0] * 3)] * 2, names=["a", "a"]), "several columns named 'a'"),
    ],
)
def test_columns_that_cannot_be_read_are_refused_first_and_later(rows, message):
    model = DFOPRegressor(0.01)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(rows, [1.0, 2.0, 3.0])
    model.fit(pd.DataFrame({"a": [1.0, 2.0, 3.0]}), [1.0, 2.0, 3.0])
    with pytest.raises((TypeError, ValueError), match=message):
        model.partial_fit(rows, [1.0, 2.0, 3.0])


def test_cells_that_do_not_compare_or_are_masked_are_gaps():
    batch = as_batch([{"a": Decimal("sNaN"), "b": 1}, {"a": np.ma.masked, "b": 2}])
    assert np.isnan(batch.numbers[:, 0]).all()


def test_texts_that_differ_in_their_last_sign_differ():
    cells = as_batch(pl.DataFrame({"a": ["x", "x\0"]})).texts[0].cells()
    assert cells == ["x", "x\0"]
