"""Files that are not what their name says, or cut off, are told as such."""

import gzip

import numpy as np
import pytest

from dfop.streams import DataError, read


@pytest.mark.parametrize("array", ['[{"x": 1, "y": 0}]', '[\n{"x": 1, "y": 0},\n{"x": 2}\n]\n'])
def test_an_array_is_no_file_of_json_lines(tmp_path, array):
    path = tmp_path / "a.jsonl"
    path.write_text(array)
    with pytest.raises(DataError, match="one object per line"):
        read(path, target="y")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz"])
@pytest.mark.parametrize("kept", [0.02, 0.5])
def test_a_file_that_is_cut_inside_its_first_row_is_cut_off(tmp_path, name, kept):
    cells = ",".join(map(str, np.random.default_rng(0).random(5000)))
    text = f"x,y\n{cells}" if "csv" in name else f'{{"x": [{cells}]}}\n'
    data = gzip.compress(text.encode())
    path = tmp_path / name
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(DataError, match="cut off"):
        read(path, target="y")
