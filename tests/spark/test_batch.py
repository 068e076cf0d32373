"""One stored stream over many machines is the stream of one machine."""

import datetime

import numpy as np
import pandas as pd
import pytest
from pyspark.errors import PythonException
from tables import NAMES, cut, stream

from dfop import DFOPClassifier, DFOPRegressor, LimitError, half_life
from dfop.spark import fit, predict_then_learn

CUTS = [0, 0, 1, 2, 700, 700, 1999]  # empty partitions and single rows
MANY = list(range(50, 2000, 50))  # more than one place merges


@pytest.mark.parametrize(
    ("edges", "centre", "mu"),
    [([], 0.0, 0.0), (CUTS, 0.0, 0.01), (CUTS, 1e4, 0.001), (MANY, 1e4, 0.0)],
)
def test_fit_is_that_of_one_machine(spark, edges, centre, mu):
    frame = stream(2000, centre=centre)
    ours = fit(cut(spark, frame, edges), NAMES, "y", "t", mu)
    theirs = DFOPRegressor(mu).fit(frame[NAMES], frame["y"])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9, rtol=1e-9)
    X = frame[NAMES]
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9, rtol=1e-9)
    assert list(ours.feature_names_in_) == NAMES


@pytest.mark.parametrize("centre", [0.0, 1e4])
def test_predictions_are_those_of_one_machine(spark, centre):
    frame = stream(2000, centre=centre)
    table = cut(spark, frame, CUTS)
    ahead = predict_then_learn(table, NAMES, "y", "t", 0.001).toPandas().sort_values("t")
    theirs = DFOPRegressor(0.001).predict_then_learn(frame[NAMES], frame["y"])
    np.testing.assert_allclose(ahead["prediction"], theirs, atol=1e-9, rtol=1e-9)
    pd.testing.assert_frame_equal(ahead[frame.columns].reset_index(drop=True), frame)


def test_a_clock_with_a_summer_time_and_ties(spark):
    """By instants, not by what a clock on the wall showed: 2:30 came twice that night."""
    frame = stream(600)
    start = pd.Timestamp("2026-10-24 20:00", tz="Europe/Berlin")
    frame["when"] = start + pd.to_timedelta(frame["t"] // 2 * 2, unit="min")
    frame["when"] = frame["when"].dt.tz_convert("UTC")
    table = cut(spark, frame, [100, 333, 500])
    with pytest.raises(ValueError, match=r"two rows have the order .* further column in order_by"):
        fit(table, NAMES, "y", "when", half_life("3h"))
    ours = fit(table, NAMES, "y", ["when", "t"], half_life("3h"))
    moments = frame["when"].dt.tz_localize(None).to_numpy()
    theirs = DFOPRegressor(half_life("3h")).fit(frame[NAMES], frame["y"], time=moments)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    ahead = predict_then_learn(table, NAMES, "y", ["when", "t"], half_life("3h"))
    ahead = ahead.toPandas().sort_values("t")["prediction"]
    expected = DFOPRegressor(half_life("3h")).predict_then_learn(
        frame[NAMES], frame["y"], time=moments
    )
    np.testing.assert_allclose(ahead, expected, atol=1e-9)


def test_classes_and_several_targets(spark):
    frame = stream(900)
    frame["label"] = np.select([frame["y"] > 1, frame["y"] < -1], ["up", "down"], "flat")
    frame.loc[:5, "label"] = "flat"  # the first partition knows one class alone
    frame["z"] = frame["a"] - frame["c"]
    table = cut(spark, frame, [3, 400])
    X, classes = frame[NAMES], ["down", "flat", "up"]
    theirs = DFOPClassifier(0.01)
    expected = theirs.predict_then_learn(X, frame["label"], classes=classes)
    ours = fit(table, NAMES, "label", "t", 0.01, labels=True)
    assert list(ours.classes_) == classes
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    ahead = predict_then_learn(table, NAMES, "label", "t", 0.01, labels=True)
    assert (ahead.toPandas().sort_values("t")["prediction"].to_numpy() == expected).all()
    both = predict_then_learn(table, NAMES, ["y", "z"], "t", 0.01).toPandas().sort_values("t")
    expected = DFOPRegressor(0.01).predict_then_learn(X, frame[["y", "z"]])
    np.testing.assert_allclose(np.vstack(both["prediction"]), expected, atol=1e-9)


def test_where_a_limit_acts_it_refuses_or_goes_through_one_task(spark):
    frame = stream(2000)
    frame.loc[500:, "b"] = 0.0
    table = cut(spark, frame, [300, 900, 1500])
    for ask in (fit, predict_then_learn):
        with pytest.raises(LimitError, match="column 'b'"):
            ask(table, NAMES, "y", "t", 0.05)
    theirs = DFOPRegressor(0.05)
    expected = theirs.predict_then_learn(frame[NAMES], frame["y"])
    ours = fit(table, NAMES, "y", "t", 0.05, on_cap="sequential")
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    ahead = predict_then_learn(table, NAMES, "y", "t", 0.05, on_cap="sequential").toPandas()
    np.testing.assert_array_equal(ahead.sort_values("t")["prediction"], expected)


def test_files_in_any_order_and_packed_into_one_partition(spark, tmp_path):
    frame = stream(1000)
    for at, i in enumerate([600, 0, 300]):  # by name, not by time
        frame.iloc[i : i + 300 + 100 * (i == 600)].to_parquet(tmp_path / f"{at}.parquet")
    table = spark.read.parquet(str(tmp_path)).coalesce(1)
    ours = fit(table, NAMES, "y", "t", 0.01)
    theirs = DFOPRegressor(0.01).fit(frame[NAMES], frame["y"])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    ahead = predict_then_learn(table, NAMES, "y", "t", 0.01).toPandas().sort_values("t")
    expected = DFOPRegressor(0.01).predict_then_learn(frame[NAMES], frame["y"])
    np.testing.assert_allclose(ahead["prediction"], expected, atol=1e-9)


def spoiled(**cells):
    frame = stream(40)
    for name, (row, value) in cells.items():
        frame[name] = frame[name].astype(object if isinstance(value, str) else float)
        frame.loc[row, name] = value
    return frame


BAD_ROWS = {
    "a null order": (spoiled(t=(7, np.nan)), "'t' is missing in 1 of"),
    "the same order twice": (spoiled(t=(7, 6.0)), r"two rows have the order t=6.0: name a further"),
    "twice in different partitions": (spoiled(t=(20, 19.0)), "two rows have the order t=19.0"),
    "partitions that overlap": (
        spoiled(t=(30, 3.5)),
        r"rows at t=3.5 lie between .*orderBy\('t'\)",
    ),
    "a feature that is missing": (
        spoiled(b=(25, np.nan)),
        "in the rows from t=20 on: .*'b'",
    ),
    "an infinite target": (spoiled(y=(25, np.inf)), "in the rows from t=20 on: .*inf"),
}


@pytest.mark.parametrize(("frame", "said"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_rows_that_cannot_be_learned_are_refused_in_a_sentence(spark, frame, said):
    with pytest.raises(ValueError, match=said):
        fit(cut(spark, frame, [20]), NAMES, "y", "t", 0.01)


def test_rows_in_no_order_are_found_out_soon(spark):
    frame = stream(5000).sample(frac=1.0, random_state=1)
    with pytest.raises(ValueError, match=r"rows are not in order: .*orderBy\('t'\)"):
        fit(cut(spark, frame, []), NAMES, "y", "t", 0.01)


def test_settings_that_make_no_sense_are_refused_before_a_row_is_read(spark):
    table = cut(spark, stream(10), [])
    when = spark.createDataFrame([(1.0, 2.0, datetime.date(2026, 1, 1), "x")], ["a", "y", "d", "s"])
    good = {"features": NAMES, "target": "y", "order_by": "t", "forgetting": 0.01}
    bad = [
        ({"features": ["a", "nope"]}, "no column 'nope'; the columns are"),
        ({"features": []}, "must name at least one column"),
        ({"features": ["a", "a"]}, "twice"),
        ({"features": ["a", "y"]}, "both a feature and the target"),
        ({"forgetting": "auto"}, "cannot be merged"),
        ({"on_cap": "ignore"}, '"raise" or "sequential"'),
        ({"labels": True, "target": ["y", "c"], "features": ["a"]}, "one target"),
    ]
    for given, said in bad:
        with pytest.raises(ValueError, match=said):
            fit(table, **{**good, **given})
    with pytest.raises(ValueError, match="'s' is text"):
        fit(when, ["a"], "y", "s", half_life("3d"))
    with pytest.raises(ValueError, match=r"'c\.old' has a dot .* rename it"):
        fit(table.withColumnRenamed("c", "c.old"), **{**good, "features": ["a"]})
    with pytest.raises(ValueError, match="no rows"):
        fit(table.limit(0), **good)
    with pytest.raises(TypeError, match="DataFrame of Spark"):
        fit(stream(10), **good)
    with pytest.raises(ValueError, match="column 'y' already"):
        predict_then_learn(table, **good, prediction="y")


def test_a_table_that_changes_between_the_passes_is_found_out(spark, tmp_path):
    marker = tmp_path / "second"

    def fewer(frames):
        for frame in frames:
            yield frame.iloc[:-1] if marker.exists() else frame

    rows = cut(spark, stream(200), [100])
    ahead = predict_then_learn(rows.mapInPandas(fewer, rows.schema), NAMES, "y", "t", 0.01)
    marker.touch()
    with pytest.raises(
        PythonException, match="gave other rows, or other partitions, in the second"
    ):
        ahead.collect()
