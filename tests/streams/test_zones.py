"""Times of a source name their zone, all of them, or none does."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest

from dfop.streams import read
from dfop.streams.errors import BadRowsError

N, ODD = 30, 7
UTC = datetime.UTC


def moments(*, zoned, odd=True):
    """Times a minute apart; the odd one has a zone if the others have none."""
    for t in range(N):
        has = zoned != (odd and t == ODD)
        yield datetime.datetime(2024, 5, 1, 12, t, tzinfo=UTC if has else None)


def rows(times):
    return [{"t": time, "x": 1.0, "y": t + 0.5} for t, time in enumerate(times)]


def as_text(zoned, odd=True):
    return [time.isoformat() for time in moments(zoned=zoned, odd=odd)]


def sources(folder, zoned):
    """The same rows in every source that may hold both."""
    text = rows(as_text(zoned))
    (folder / "a.csv").write_text(pd.DataFrame(text).to_csv(index=False))
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in text))
    return [folder / "a.csv", folder / "a.jsonl", pd.DataFrame(text), text,
            rows(moments(zoned=zoned))]  # fmt: skip


@pytest.mark.parametrize("zoned", [False, True])
def test_a_time_of_the_other_kind_is_a_bad_row(tmp_path, zoned):
    for source in sources(tmp_path, zoned):
        with pytest.raises(BadRowsError, match=r"row 8.*column 't'.*has (a|no) zone.*all without"):
            read(source, target="y", time="t").arrays()
        stream = read(source, target="y", time="t", bad_rows="skip")
        expected = [t + 0.5 for t in range(N) if t != ODD]
        assert stream.arrays()[1].tolist() == expected
        assert stream.bad.kinds == {"bad time": 1}


@pytest.mark.parametrize("zoned", [False, True])
def test_times_of_one_kind_are_taken_and_are_in_utc(tmp_path, zoned):
    frame = pd.DataFrame(rows(as_text(zoned, odd=False)))
    frame.to_csv(tmp_path / "a.csv", index=False)
    typed = pd.DataFrame(rows(moments(zoned=zoned, odd=False)))
    expected = np.datetime64("2024-05-01T12:00", "ns") + np.arange(N) * np.timedelta64(1, "m")
    for source in (tmp_path / "a.csv", frame, typed, typed.to_dict("records")):
        np.testing.assert_array_equal(read(source, target="y", time="t").time, expected)


def test_a_later_file_of_the_other_kind_is_told(tmp_path):
    for name, zoned in (("a", False), ("b", True)):
        typed = pd.DataFrame(rows(moments(zoned=zoned, odd=False)))
        typed.to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(BadRowsError, match=r"has a zone, and most others have none"):
        read(tmp_path, target="y", time="t").arrays()
