"""A run that goes on with files that came since: a nightly job."""

import contextlib
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from small_runs import options, write_rows

from dfop.checkpoints import CheckpointError, Run

SCHEMA = pa.schema([("size", "float64"), ("color", "string"), ("price", "float64")])


def learn(folder, *sources, **given):
    """Run to the end; return the figures and everything that was written."""
    with contextlib.chdir(folder):
        made = options(**given)
        made = type(made)(**{**made.__dict__, "sources": sources})
        with Run(made, checkpoint="state", every_rows=40) as run:
            resumed = run.resumed
            for _ in run.steps():
                pass
            run.finish("m.dfop")
            figures = json.dumps(run.history.summary(), sort_keys=True)
        written = [(folder / name).read_bytes() for name in ("p.csv", "m.dfop")]
    return resumed, (figures, *written)


def days(folder, form="csv"):
    """Write three days as files of their own; return their names."""
    header, *rows = write_rows(folder / "all.csv", bad=form == "csv").read_text().splitlines(True)
    parts = [rows[:90], rows[90:91], rows[91:]]
    names = [f"day{i}.{form}" for i in (1, 2, 10)]
    for name, part in zip(names, parts, strict=True):
        (folder / name).write_text("".join([header, *part]))
        if form == "parquet":
            table = pyarrow.csv.read_csv(folder / name)
            pq.write_table(table.cast(SCHEMA), folder / name)
    return names


@pytest.fixture
def folders(tmp_path):
    found = tmp_path / "at once", tmp_path / "nightly"
    for folder in found:
        folder.mkdir()
    return found


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_night_a_file_more_is_as_all_at_once(folders, form):
    at_once, nightly = folders
    names = days(at_once, form)
    assert days(nightly, form) == names
    _, expected = learn(at_once, *names)
    assert learn(nightly, names[0])[0] == 0
    assert learn(nightly, *names[:2])[0] == 90
    resumed, found = learn(nightly, *names)
    assert resumed == 91
    assert found == expected


def test_a_folder_to_which_files_are_added_is_gone_on_with(folders):
    at_once, nightly = folders
    for folder in folders:
        (folder / "days").mkdir()
        days(folder / "days", "parquet")
        (folder / "days" / "all.csv").unlink()
    _, expected = learn(at_once, "days")
    new = nightly / "days" / "day10.parquet"  # comes after day2
    content = new.read_bytes()
    new.unlink()
    learn(nightly, "days")
    new.write_bytes(content)
    resumed, found = learn(nightly, "days")
    assert resumed == 91
    assert found == expected
    (nightly / "days" / "day3.parquet").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"day3.parquet is new, and stands before files"):
        learn(nightly, "days")


def test_files_that_were_learned_must_be_named_first_and_unchanged(tmp_path):
    first, second, third = days(tmp_path)
    learn(tmp_path, first, second)
    for sources in ((third,), (first, third), (second, first), (first,)):
        with pytest.raises(CheckpointError, match=r"SOURCE was .* name it behind those"):
            learn(tmp_path, *sources)
    changed = (tmp_path / first).read_bytes().replace(b"red", b"wet", 1)
    (tmp_path / first).write_bytes(changed)
    with pytest.raises(CheckpointError, match=r"day1\.csv differs within the first"):
        learn(tmp_path, first, second, third)


def test_parquet_with_labels_of_their_own_is_watched_too(tmp_path):
    hours = [f"2024-05-{1 + t // 24:02d}T{t % 24:02d}:00" for t in range(120)]
    rows = {"id": [str(t) for t in range(100)], "at": hours[:100], "x": [t % 7 for t in range(100)]}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    late = [f"{t},{hours[t + 1]},{t % 7 + 0.5}\n" for t in range(100)]
    (tmp_path / "late.csv").write_text("id,at,price\n" + "".join(late))
    given = {"labels": "late.csv", "id": "id", "time": "at"}
    learn(tmp_path, "rows.parquet", **given)
    pq.write_table(pa.table({**rows, "x": [1] * 100}), tmp_path / "rows.parquet")
    with pytest.raises(CheckpointError, match=r"rows.parquet (differs|has \d+ bytes)"):
        learn(tmp_path, "rows.parquet", **given)
