"""The record of finished cells."""

import json

import pytest

from dfop.evaluation.journal import Journal

CONFIGURATION = {"seed": 0, "models": {"A": "A(x=1)"}}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.jsonl"
    with Journal(path, CONFIGURATION) as journal:
        journal.append({"trial": 0, "score": 0.1 + 0.2})
        journal.append({"trial": 1, "score": float("inf")})
    return path


def test_what_was_written_is_read_to_the_bit(path):
    with Journal(path, CONFIGURATION) as journal:
        assert journal.cells == [
            {"trial": 0, "score": 0.1 + 0.2},
            {"trial": 1, "score": float("inf")},
        ]


def test_every_torn_end_is_cut_off(path):
    whole = path.read_bytes()
    first_line = whole.index(b"\n") + 1
    for length in range(first_line, len(whole)):
        path.write_bytes(whole[:length])
        with Journal(path, CONFIGURATION) as journal:
            assert len(journal.cells) == whole[:length].count(b"\n") - 1
            journal.append({"trial": 7})
        with Journal(path, CONFIGURATION) as journal:
            assert journal.cells[-1] == {"trial": 7}


def test_another_configuration_is_refused_and_named(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="seed: 0 there, 1 now"):
        Journal(path, CONFIGURATION | {"seed": 1})
    with pytest.raises(ValueError, match=r"models: A: A\(x=1\) there, A\(x=2\) now"):
        Journal(path, CONFIGURATION | {"models": {"A": "A(x=2)"}})
    with pytest.raises(ValueError, match="models: B: nothing there, B now"):
        Journal(path, {"seed": 0, "models": {"A": "A(x=1)", "B": "B"}})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"", b"my thesis", b"my thesis\n", b"{}\n", b"[1]\n", b'{"dfop comparison": 1}\n']
)
def test_a_file_of_something_else_is_left_alone(tmp_path, content):
    path = tmp_path / "thesis.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not the record of a comparison"):
        Journal(path, CONFIGURATION)
    assert path.read_bytes() == content


def test_a_later_format_is_refused(path):
    header = json.loads(path.read_text().splitlines()[0])
    path.write_text(json.dumps(header | {"dfop comparison": 2}) + "\n")
    with pytest.raises(ValueError, match="has format 2, this version reads 1"):
        Journal(path, CONFIGURATION)


def test_a_broken_line_inside_is_named(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{oops\n" + lines[2])
    with pytest.raises(ValueError, match="line 2: not a cell"):
        Journal(path, CONFIGURATION)


def test_a_record_in_use_is_refused(path):
    with (
        Journal(path, CONFIGURATION),
        pytest.raises(RuntimeError, match="is in use by another process"),
    ):
        Journal(path, CONFIGURATION)


def test_the_folder_must_exist(tmp_path):
    with pytest.raises(FileNotFoundError):
        Journal(tmp_path / "nowhere" / "run.jsonl", CONFIGURATION)
