"""Labels of dirty files: names that look like gaps, whole numbers written as floats."""

import json

import numpy as np
import pandas as pd
import pytest

from dfop.streams import DataError, read

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
