"""Any model predicts the rows of a table as it does here."""

import numpy as np
import pandas as pd
import pytest
from tables import NAMES, stream

from dfop import DFOPClassifier, DFOPRegressor
from dfop.spark import transform


def test_models_of_all_kinds_predict_as_they_do_here(spark):
    frame = stream(300)
    frame["town"] = np.where(frame["a"] > 0, "Oslo", "Lima")
    frame.loc[5, "b"] = None
    frame["label"] = np.where(frame["y"] > 0, "up", "down")
    X = frame[["a", "b", "town"]]
    table = spark.createDataFrame(frame[["town", "t", "b", "a"]]).repartition(3)
    table = table.replace(float("nan"), None)
    default = DFOPClassifier().fit(X, frame["label"])  # the automatic one, with text and gaps
    found = transform(table, default).toPandas().sort_values("t")
    np.testing.assert_array_equal(found["prediction"], default.predict(X))
    several = DFOPRegressor(0.01).fit(frame[["a", "c"]], frame[["y", "a"]])
    given = spark.createDataFrame(frame[["c", "a", "t"]])
    found = transform(given, several, prediction="ahead").toPandas().sort_values("t")
    np.testing.assert_array_equal(np.vstack(found["ahead"]), several.predict(frame[["a", "c"]]))
    nameless = DFOPClassifier(0.01).fit(frame[NAMES[:1]].to_numpy(), frame["y"] > 0)
    found = transform(given, nameless, features=["a"]).toPandas().sort_values("t")
    assert found["prediction"].dtype == bool
    expected = nameless.predict(frame[["a"]].to_numpy())
    np.testing.assert_array_equal(found["prediction"], expected)


def test_a_stream_is_predicted_as_a_table_is(spark, tmp_path):
    frame = stream(200)
    frame["town"] = np.where(frame["a"] > 0, "Oslo", "Lima")
    model = DFOPRegressor().fit(frame[["a", "b", "town"]][:100], frame["y"][:100])
    for part in range(2):
        (tmp_path / "in").mkdir(exist_ok=True)
        some = frame[["town", "t", "b", "a"]][part * 100 : (part + 1) * 100]
        some.to_parquet(tmp_path / "in" / f"{part}.parquet")
    rows = spark.readStream.schema("town string, t bigint, b double, a double")
    given = rows.option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    query = (
        transform(given, model)
        .writeStream.option("checkpointLocation", str(tmp_path / "state"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).toPandas().sort_values("t")
    expected = model.predict(frame[["a", "b", "town"]])
    np.testing.assert_array_equal(found["prediction"], expected)


def test_what_cannot_be_predicted_is_refused(spark):
    table = spark.createDataFrame(pd.DataFrame({"a": [1.0], "z": [2.0]}))
    nameless = DFOPRegressor(0.01).fit([[1.0]], [1.0])
    named = DFOPRegressor(0.01).fit(pd.DataFrame({"b": [1.0]}), [1.0])
    bad = [
        (nameless, {}, "without names"),
        (nameless, {"features": ["a", "z"]}, "learned 1 columns, and features names 2"),
        (nameless, {"features": ["a"], "prediction": "z"}, "column 'z' already"),
        (named, {}, "no column 'b'"),
        (DFOPRegressor(), {"features": ["a"]}, "learned nothing"),
    ]
    for model, given, said in bad:
        with pytest.raises(ValueError, match=said):
            transform(table, model, **given)
    with pytest.raises(TypeError, match="not a DFOPRegressor"):
        transform(table, "model", features=["a"])
