"""A run that is killed at any call that changes the disk ends as if nothing had happened."""

import errno
import os

import pytest
from broken_disks import (
    CountingDisk,
    FullDisk,
    Killed,
    KillingDisk,
    RecordingDisk,
    after_power_loss,
)
from small_runs import LATE, go, write_late_rows, write_rows

from dfop.checkpoints import Folder


def undisturbed(tmp_path, **given):
    folder = tmp_path / "whole"
    folder.mkdir()
    write_rows(folder / "rows.csv")
    disk = CountingDisk()
    return go(folder, disk, **given), disk.calls


def fresh(tmp_path, name):
    folder = tmp_path / str(name)
    folder.mkdir()
    write_rows(folder / "rows.csv")
    return folder


@pytest.mark.parametrize("predictions", ["p.csv", "p.jsonl", "p.parquet"])
@pytest.mark.parametrize("half", [False, True], ids=["before", "in the middle"])
def test_a_run_killed_at_every_call_ends_as_one_that_was_not(tmp_path, predictions, half):
    expected, calls = undisturbed(tmp_path, predictions=predictions)
    assert len(calls) > 60
    moments = [at for at, name in enumerate(calls) if name == "write" or not half]
    for at in moments if predictions == "p.csv" else moments[::4]:
        folder = fresh(tmp_path, at)
        with pytest.raises(Killed):
            go(folder, KillingDisk(at, half), predictions=predictions)
        assert go(folder, predictions=predictions) == expected, (at, calls[at])


@pytest.mark.parametrize(
    "given",
    [
        {"forgetting": "auto"},
        {"delay": "15"},
        {"lags": 2},
        {"forgetting": "auto", "delay": "15"},
        {"key": "color", "shared": True},
        {"key": "color", "delay": "15", "expire": "20"},
    ],
    ids=str,
)
def test_so_do_the_automatic_learner_late_labels_lags_and_keys(tmp_path, given):
    expected, calls = undisturbed(tmp_path, **given)
    for at in range(5, len(calls), 17):
        folder = fresh(tmp_path, at)
        with pytest.raises(Killed):
            go(folder, KillingDisk(at), **given)
        assert go(folder, **given) == expected, (at, calls[at])


@pytest.mark.parametrize("forgetting", ["0.01", "auto"])
def test_so_do_labels_from_a_file_of_their_own(tmp_path, forgetting):
    given = {**LATE, "forgetting": forgetting}
    whole = tmp_path / "whole"
    whole.mkdir()
    write_late_rows(whole)
    disk = CountingDisk()
    expected = go(whole, disk, **given)
    for at in range(3, len(disk.calls), 9 if forgetting == "0.01" else 19):
        folder = tmp_path / str(at)
        folder.mkdir()
        write_late_rows(folder)
        with pytest.raises(Killed):
            go(folder, KillingDisk(at), **given)
        assert go(folder, **given) == expected, (at, disk.calls[at])


def test_a_run_killed_again_and_again_gets_there(tmp_path):
    expected, _ = undisturbed(tmp_path)
    folder, kills = fresh(tmp_path, "again"), 0
    for _ in range(200):
        try:
            found = go(folder, KillingDisk(25))
            break
        except Killed:
            kills += 1
    assert found == expected
    assert kills >= 3


def test_how_often_generations_are_written_changes_nothing(tmp_path):
    expected, _ = undisturbed(tmp_path)
    assert go(fresh(tmp_path, "often"), every=1) == expected
    assert go(fresh(tmp_path, "once"), every=10**6) == expected


def test_a_full_disk_stops_the_run_and_the_last_generation_is_intact(tmp_path):
    expected, calls = undisturbed(tmp_path)
    for at in range(calls.count("write")):
        folder = fresh(tmp_path, at)
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as error:
            go(folder, FullDisk(at))
        assert error.value.errno == errno.ENOSPC
        assert go(folder) == expected, at


def test_after_power_loss_the_newest_complete_generation_or_the_one_before_is_found(tmp_path):
    folder = fresh(tmp_path, "whole")
    disk = RecordingDisk(folder)
    expected = go(folder, disk, every=80)
    states, complete, found = 0, 0, []
    for end in range(len(disk.record) + 1):
        so_far = disk.record[:end]
        if so_far and so_far[-1] == ("sync_folder", "state"):
            complete = sum(call[0] == "rename" and call[2] == "state/CURRENT" for call in so_far)
        for left in after_power_loss(so_far):
            states += 1
            after = put_back(tmp_path / f"{states}", left)
            number = generation_found(after, expected[1])
            assert number >= complete, (end, so_far[-1][:3])
            found.append(number)
            if states % 10 == 0:
                write_rows(after / "rows.csv")
                assert go(after, every=80) == expected
    assert states > 150
    assert max(found) >= 3


def put_back(folder, left):
    """Make a folder of what a disk was left with."""
    (folder / "state").mkdir(parents=True)
    for name, content in left.items():
        (folder / name).write_bytes(content)
    return folder


def generation_found(folder, files):
    """Return the number of the generation found, 0 for none; its outputs must be there."""
    with Folder(folder / "state") as opened:
        generation = opened.newest()
    if generation is None:
        return 0
    for output, name in (("predictions", "p.csv"), ("quarantine", "bad.csv")):
        valid = generation.state["outputs"][output]
        assert (folder / name).read_bytes()[:valid] == files[name][:valid]
    return generation.number
