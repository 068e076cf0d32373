"""What a run does while its pipe pauses: it commits, and it can be stopped."""

import contextlib
import os
import signal
import threading
import time

import pytest
from small_runs import options, write_rows

from dfop.checkpoints import Run, StoppedError
from dfop.checkpoints.folder import newest_generation
from dfop.cli.problems import stopping


@pytest.fixture
def pipe(monkeypatch):
    """A pipe as standard input; returns the end to write to."""
    reading, writing = os.pipe()
    with open(reading, "rb") as file, open(writing, "wb", buffering=0) as end:
        monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": file}))
        yield end


def piped(**given):
    made = options(**given)
    return type(made)(**{**made.__dict__, "sources": ("-",)})


def wait_for(condition):
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.05)
    return False


def committed(folder):
    if not (folder / "state").is_dir():
        return 0
    generation, _ = newest_generation(folder / "state")
    return 0 if generation is None else generation.state["bad"]["rows"]


def test_what_came_before_a_pause_is_committed_without_a_further_row(tmp_path, pipe):
    header, *rows = write_rows(tmp_path / "rows.csv").read_text().splitlines(keepends=True)
    seen = []

    def write():
        pipe.write("".join([header, *rows[:100]]).encode())
        seen.append(wait_for(lambda: committed(tmp_path) == 100))
        time.sleep(0.5)  # older ones are removed
        numbers = sorted((tmp_path / "state").glob("generation-*"))
        time.sleep(0.3)  # nothing new: nothing more is written
        seen.append(sorted((tmp_path / "state").glob("generation-*")) == numbers)
        pipe.write("".join(rows[100:]).encode())
        pipe.close()

    writer = threading.Thread(target=write)
    writer.start()
    with (
        contextlib.chdir(tmp_path),
        Run(piped(), checkpoint="state", every_seconds=0.05) as run,
    ):
        for _ in run.steps():
            pass
    writer.join()
    assert seen == [True, True]
    assert committed(tmp_path) == len(rows)


def test_bad_rows_before_a_stop_in_a_pause_are_marked_once(tmp_path, pipe):
    header, *rows = write_rows(tmp_path / "rows.csv", bad=False).read_text().splitlines(True)
    pipe.write("".join([header, *rows[:50]]).encode())
    with contextlib.chdir(tmp_path):
        run = Run(piped(), checkpoint="state", every_seconds=3600)

    def write():
        wait_for(lambda: run.history.rows == 50)
        for count in range(1, 4):  # each is read by itself: no good row comes between them
            pipe.write(b"oops,red,1\n")
            wait_for(lambda: run.bad.rows == 50 + count)  # noqa: B023
        os.kill(os.getpid(), signal.SIGTERM)

    writer = threading.Thread(target=write)
    with contextlib.chdir(tmp_path), run, stopping(run.stop):
        writer.start()
        with pytest.raises(StoppedError):
            for _ in run.steps():
                pass
    writer.join()
    assert committed(tmp_path) == 50  # the bad ones must be sent again, with what follows
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 51
    assert len((tmp_path / "bad.csv").read_text().splitlines()) == 1
