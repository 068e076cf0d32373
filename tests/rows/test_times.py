"""The times of rows: numbers, or datetimes, all with a zone or all without."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dfop import DFOPRegressor, Information, Keyed, from_bytes, half_life, to_bytes
from model_state import everything, refused

N = 6
X, Y = np.random.default_rng(0).normal(size=(N, 2)), np.arange(N) / 2
NAIVE = pd.date_range("2024-05-01", periods=N, freq="1min")
ZONED = NAIVE.tz_localize("Asia/Karachi")
LATER = pd.Timedelta("9D")

MODELS = {
    "by the clock": lambda: DFOPRegressor(half_life("1h")),
    "automatic": lambda: DFOPRegressor(),
    "monitored": lambda: DFOPRegressor(0.01, monitor=True),
}
CONTAINERS = {
    "Index": lambda times: times,
    "Series": pd.Series,
    "Series of Arrow": lambda times: pd.Series(times, dtype=pd.ArrowDtype(pa.array(times).type)),
    "Timestamps": list,
    "datetimes": lambda times: times.to_pydatetime().tolist(),
    "polars": lambda times: pl.Series(times.to_pydatetime().tolist()),
    "Arrow": pa.array,
}  # fmt: skip


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_zoned_and_naive_times_do_not_mix_in_a_call(make):
    times = [*NAIVE[:3], ZONED[3], *NAIVE[4:]]
    message = "datetime with a zone at row 3 and a datetime without a zone at row 0: give all"
    refused(make(), lambda m: m.partial_fit(X, Y, time=times), message)
    refused(make(), lambda m: m.predict_pending(X, range(N), time=times), message)


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize(
    ("first", "then"), [(NAIVE, ZONED), (ZONED, NAIVE)], ids=["naive", "zoned"]
)
def test_zoned_and_naive_times_do_not_mix_between_calls(container, first, then):
    model = DFOPRegressor(half_life("1h")).partial_fit(X, Y, time=container(first))
    refused(model, lambda m: m.partial_fit(X, Y, time=container(then + LATER)), "zone", "give all")
    model.partial_fit(X, Y, time=container(first + LATER))


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_model_knows_of_the_zone_whatever_times_are_for_and_in_its_file(make):
    model = make().partial_fit(X, Y, time=ZONED)
    for kept in (model, from_bytes(to_bytes(model))):
        refused(kept, lambda m: m.partial_fit(X, Y, time=NAIVE + LATER), "with a zone before")


def test_times_of_numpy_count_as_utc_and_go_with_either():
    plain = DFOPRegressor(half_life("1h")).partial_fit(X, Y, time=ZONED)
    model = DFOPRegressor(half_life("1h")).partial_fit(
        X[:3], Y[:3], time=ZONED[:3].tz_convert(None).to_numpy()
    )
    model.partial_fit(X[3:], Y[3:], time=ZONED[3:])
    assert everything(model) == everything(plain)


def test_models_by_key_and_partitions_do_not_mix_them_either():
    keyed = Keyed(DFOPRegressor(half_life("1h"))).partial_fit([1] * N, X, Y, time=ZONED)
    for kept in (keyed, Keyed.from_bytes(keyed.to_bytes())):
        before = kept.to_bytes()
        with pytest.raises(ValueError, match="with a zone before and without one now"):
            kept.partial_fit([1] * N, X, Y, time=NAIVE + LATER)
        assert kept.to_bytes() == before
    rule = half_life("1h")
    one = Information.from_data(X, Y, rule, time=ZONED)
    with pytest.raises(ValueError, match="with a zone in one part and without one in the other"):
        one.then(Information.from_data(X, Y, rule, time=NAIVE + LATER))


NO_TIMES = {
    "text": (["2024-05-01"] * N, "'2024-05-01' at row 0", "to_datetime"),
    "a date": ([*NAIVE[:2], datetime.date(2024, 5, 1), *NAIVE[3:]], "at row 2", "to_datetime"),
    "None": ([1.0, None, 3.0, 4.0, 5.0, 6.0], "None at row 1", "give"),
    "NaT": ([*NAIVE[:2], pd.NaT, *NAIVE[3:]], "(NaT) at row 2", "drop the row"),
    "infinity": ([1.0, 2.0, np.inf, 4.0, 5.0, 6.0], "row 2", "drop the row"),
    "years ago": (np.full(N, np.datetime64("1500-01-01")), "row 0", "numbers"),
    "numbers beside datetimes": ([0.0, *NAIVE[1:]], "number at row 0", "row 1"),
    "a long text": (["x" * 10**6] * N, "row 0", "to_datetime"),
}


@pytest.mark.parametrize("name", NO_TIMES)
def test_what_is_no_time_is_refused_with_what_to_do(name):
    times, *fragments = NO_TIMES[name]
    model = DFOPRegressor(half_life("1h"))
    refused(model, lambda m: m.partial_fit(X, Y, time=times), *fragments)
    with pytest.raises(ValueError, match="time") as caught:
        model.partial_fit(X, Y, time=times)
    assert len(str(caught.value)) < 300
