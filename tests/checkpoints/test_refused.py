"""Checkpoints that are damaged, in use, or of another run; sources that changed or have grown."""

import contextlib
import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from small_runs import go, options, write_rows

from dfop.checkpoints import CheckpointError, Folder, Generation, Run


@pytest.fixture
def done(tmp_path):
    """Return the folder of a run that is done."""
    write_rows(tmp_path / "rows.csv")
    go(tmp_path)
    return tmp_path


def generations(folder):
    return sorted((folder / "state").glob("generation-*"))


def test_two_generations_are_kept_and_current_names_the_newest(done):
    kept = generations(done)
    assert len(kept) == 2
    assert (done / "state" / "CURRENT").read_text().strip() == kept[-1].name


def test_one_flipped_byte_anywhere_is_found_out():
    content = Generation(3, {"rows": 7}, {"model": bytes(range(200))}).to_bytes()
    for at in range(len(content)):
        flipped = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        with pytest.raises(CheckpointError):
            Generation.from_bytes(flipped)


def test_of_a_damaged_generation_the_one_before_is_used_and_that_is_said(done, rng):
    expected = go(done)
    newest = generations(done)[-1]
    content = newest.read_bytes()
    for at in rng.integers(0, len(content), 20):
        newest.write_bytes(content[:at] + bytes([content[at] ^ 64]) + content[at + 1 :])
        with Folder(done / "state") as folder:
            generation = folder.newest()
            assert generation.number == int(newest.name[11:17]) - 1
            assert f"generation {generation.number + 1} is not used" in folder.notes[0]
    assert go(done) == expected


def test_where_both_are_damaged_the_run_is_refused(done):
    for path in generations(done):
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match=r"no generation .* Start anew"):
        go(done)


def test_a_folder_in_use_is_refused(tmp_path):
    with Folder(tmp_path / "state"), pytest.raises(CheckpointError, match="another run uses"):
        Folder(tmp_path / "state")
    Folder(tmp_path / "state").close()  # free again


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(CheckpointError, match="cannot be used"):
        Folder(tmp_path / "state")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lags": 2}, "--lags was 0 and is 2"),
        ({"forgetting": "0.02"}, "--forgetting was 0.01 and is 0.02"),
        ({"ignore": ("color",)}, "--ignore was not given and is color"),
        ({"predictions": "q.csv"}, "--predictions was p.csv and is q.csv"),
    ],
    ids=str,
)
def test_other_options_are_refused_and_named(done, given, words):
    with pytest.raises(CheckpointError, match=words):
        go(done, **given)


def test_a_source_that_changed_is_refused(done):
    rows = done / "rows.csv"
    content = rows.read_bytes()
    rows.write_bytes(content.replace(b"red", b"wet", 1))
    with pytest.raises(CheckpointError, match=r"rows.csv differs within the first \d+ bytes"):
        go(done)
    rows.write_bytes(content[:-100])
    with pytest.raises(CheckpointError, match=r"has \d+ bytes, and \d+ were read"):
        go(done)
    rows.unlink()
    with pytest.raises(CheckpointError, match="was read, and is not there"):
        go(done)


def test_an_output_that_is_gone_is_refused(done):
    (done / "p.csv").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"the output p.csv has changed"):
        go(done)


@pytest.mark.parametrize("predictions", ["p.csv", "p.parquet"])
def test_a_file_that_has_grown_is_gone_on_with(tmp_path, predictions):
    whole, grown = tmp_path / "whole", tmp_path / "grown"
    for folder in (whole, grown):
        folder.mkdir()
        write_rows(folder / "rows.csv")
    expected = go(whole, predictions=predictions)
    lines = (whole / "rows.csv").read_bytes().splitlines(keepends=True)
    for count in (100, 101, 180, len(lines)):
        (grown / "rows.csv").write_bytes(b"".join(lines[:count]))
        found = go(grown, predictions=predictions)
    assert found[1] == expected[1]
    assert found[0] == expected[0]


def test_a_last_line_that_goes_on_is_refused(tmp_path):
    content = write_rows(tmp_path / "rows.csv").read_bytes()
    (tmp_path / "rows.csv").write_bytes(content[:-2])  # a digit and the line end are missing
    go(tmp_path)
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(CheckpointError, match="its last line goes on now"):
        go(tmp_path)


def lines_of(path):
    return path.read_text().splitlines(keepends=True)


def test_of_a_pipe_nothing_committed_is_lost_or_doubled(tmp_path, monkeypatch):
    header, *rows = lines_of(write_rows(tmp_path / "rows.csv"))
    with contextlib.chdir(tmp_path):
        expected = through_pipe(monkeypatch, [header, *rows], "whole")
        through_pipe(monkeypatch, [header, *rows[:100]], "parts")
        # the pipe goes on where it was
        through_pipe(monkeypatch, [header, *rows[100:150]], "parts")
        # or begins with the first row again
        found = through_pipe(monkeypatch, [header, *rows], "parts", skip=150)
    assert found == expected


def through_pipe(monkeypatch, lines, name, skip=0):
    read, write = os.pipe()
    os.write(write, "".join(lines).encode())
    os.close(write)
    with open(read, "rb") as pipe:
        monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": pipe}))
        made = options(f"{name}.csv", quarantine=f"{name}-bad.csv")
        made = type(made)(**{**made.__dict__, "sources": ("-",)})
        with Run(made, checkpoint=name, every_rows=40, skip=skip) as run:
            for _ in run.steps():
                pass
            if run.resumed:
                assert f"it must go on with row {run.resumed + 1}" in run.notes[-1]
            summary = run.history.summary()
    bad = Path(f"{name}-bad.csv").read_text().splitlines()
    numbers = [line.split(",")[1] for line in bad]
    return json.dumps(summary), Path(f"{name}.csv").read_text(), numbers


def test_several_files_are_one_source(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
    header, *rows = lines_of(write_rows(whole / "rows.csv"))
    (parts / "1.csv").write_text("".join([header, *rows[:90]]))
    (parts / "2.csv").write_text("".join([header, *rows[90:]]))
    _, files = go(whole)
    with contextlib.chdir(parts):
        made = options()
        made = type(made)(**{**made.__dict__, "sources": ("1.csv", "2.csv")})
        for _ in range(2):  # the second time there is nothing left to do
            with Run(made, checkpoint="state", every_rows=40) as run:
                for _ in run.steps():
                    pass
                run.finish("m.dfop")
    assert (parts / "p.csv").read_bytes() == files["p.csv"]
    assert (parts / "m.dfop").read_bytes() == files["m.dfop"]
    numbers = [row.split(",")[1] for row in (parts / "bad.csv").read_text().splitlines()]
    assert numbers == [row.split(",")[1] for row in files["bad.csv"].decode().splitlines()]


def test_predictions_hold_every_row_once_and_what_was_predicted(tmp_path):
    from dfop import DFOPRegressor
    from dfop.streams import read

    write_rows(tmp_path / "rows.csv")
    go(tmp_path)
    lines = [line.split(",") for line in lines_of(tmp_path / "p.csv")[1:]]
    assert [int(line[0]) for line in lines] == list(range(1, 241))
    bad = [t for t, line in enumerate(lines) if line[-1].strip()]
    assert bad == [t for t in range(240) if t % 37 == 20]
    stream = read(tmp_path / "rows.csv", target="price", bad_rows="skip")
    batch, y = stream.all_rows()
    expected = DFOPRegressor(0.01).predict_then_learn(batch, y)
    found = [float(line[1]) for line in lines if not line[-1].strip()]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
