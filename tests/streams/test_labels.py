"""Labels of dirty files: names that look like gaps, whole numbers written as floats."""

import json

import numpy as np
import pandas as pd
import pytest

from dfop.streams import DataError, read
from dfop.streams.sources import open_source
from dfop.streams.tally import TOO_MANY_LABELS, tally

ROWS = [{"x": float(i), "y": ("none", "DoS", "None ")[i % 3]} for i in range(30)]


def sources(tmp_path, rows, kinds=("csv", "jsonl", "parquet", "arff", "frame", "rows")):
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = "".join(f"{row['x']},{row['y']}\n" for row in rows)
    header = "@attribute x real\n@attribute y string\n@data\n"
    (tmp_path / "a.arff").write_text(header + lines)
    for kind in kinds:
        yield {"frame": frame, "rows": rows}.get(kind, tmp_path / f"a.{kind}")


def labels(source, **options):
    return np.concatenate([y for _, y in read(source, target="y", **options).batches()]).tolist()


def test_none_is_the_name_of_a_class(tmp_path):
    for source in sources(tmp_path, ROWS):
        assert labels(source) == [row["y"].strip() for row in ROWS], source


def test_none_may_be_the_only_class_of_the_first_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,none\n" * 11_000 + "2,DoS\n")
    assert labels(path)[-2:] == ["none", "DoS"]


def test_a_gap_word_is_a_label_only_where_it_is_named(tmp_path):
    rows = [{"x": float(i), "y": ("NA", "EU")[i % 2]} for i in range(30)]
    for source in sources(tmp_path, rows):
        assert labels(source, classes=("NA", "EU")) == [row["y"] for row in rows], source
        with pytest.raises(DataError, match=r"row 1.*label is missing"):
            labels(source)


def test_none_among_numbers_is_a_missing_label(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,0\n1,1\n1,None\n" * 10)
    assert labels(path, bad_rows="skip") == [0, 1] * 10


def test_whole_floats_are_whole_numbers(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("x,y\n1,1.0\n2,0.0\n3,1\n")
    for classes in (None, (0, 1)):
        assert labels(path, task="classification", classes=classes) == [1, 0, 1]
    rows = [{"x": float(i), "y": float(i % 2)} for i in range(30)]
    for source in sources(tmp_path, rows):
        found = labels(source, task="classification")
        assert found == [i % 2 for i in range(30)], source
        assert type(found[0]) is int


COUNTED = ("present", "numbers", "whole", "distinct_whole", "whole_floats", "magnitude")


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
def test_numbers_of_a_column_are_counted_as_one_by_one(tmp_path, rng, share):
    """Where most have fractions, not each of them is looked at."""
    values = np.where(rng.random(9000) < share, rng.integers(0, 99, 9000), rng.normal(size=9000))
    cells = [f"{v:.0f}" if v == int(v) and i % 2 else str(v) for i, v in enumerate(values)]
    path = tmp_path / "a.csv"
    path.write_text("y\n" + "".join(cell + "\n" for cell in cells))
    found = open_source(path, "csv").tally("y", fully=True)
    wanted = tally(cells, typed=False)
    assert [getattr(found, name) for name in COUNTED] == [getattr(wanted, name) for name in COUNTED]
    many = TOO_MANY_LABELS
    assert found.distinct == wanted.distinct or many < found.distinct < wanted.distinct
