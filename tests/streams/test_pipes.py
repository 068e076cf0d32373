"""FIFOs, process substitution, slow pipes and slow iterators."""

import os
import subprocess
import sys
import threading
import time

import pytest

from dfop.streams import DataError, read

HEADER = b"x,c,y\n"


def write_later(path, parts, pause=0.0):
    def write():
        with open(path, "wb", buffering=0) as file:
            for part in parts:
                file.write(part)
                time.sleep(pause)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    return writer


@pytest.mark.parametrize("name", ["a.csv", "a.fifo"])
def test_a_fifo_is_read_once(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    writer = write_later(path, [HEADER, b"1,red,0.5\n" * 150_000])
    stream = read(path, target="y", format=None if name == "a.csv" else "csv")
    assert not stream.reusable
    assert stream.name == name
    assert sum(len(X) for X, _ in stream.batches(999)) == 150_000
    writer.join()
    with pytest.raises(DataError, match="only once"):
        stream.frame()


def test_a_fifo_that_is_opened_and_not_read_is_closed(tmp_path):
    path = tmp_path / "a.csv"
    os.mkfifo(path)
    writer = write_later(path, [HEADER, b"1,red,0.5\n"])
    stream = read(path, target="y")
    writer.join()
    before = len(os.listdir("/proc/self/fd"))
    del stream
    assert len(os.listdir("/proc/self/fd")) == before - 1


def test_a_slow_pipe_is_judged_by_what_it_brings_and_gives_its_rows_as_they_come(
    tmp_path,
):
    path = tmp_path / "a.csv"
    os.mkfifo(path)
    go_on = threading.Event()

    def write():
        with open(path, "wb", buffering=0) as file:
            file.write(HEADER[:3])
            time.sleep(0.1)
            file.write(HEADER[3:] + b"1,red,0.5\n2,bl")
            go_on.wait(20)
            file.write(b"ue,1.5\n")

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    started = time.monotonic()
    stream = read(path, target="y")
    assert time.monotonic() - started < 10
    batches = stream.batches(1)
    assert next(batches)[0].rows() == [[1.0, "red"]]
    go_on.set()
    assert next(batches)[0].rows() == [[2.0, "blue"]]
    writer.join()


def test_a_slow_iterator_is_not_waited_for():
    go_on = threading.Event()

    def rows():
        yield {"x": 1, "y": 0.5}
        time.sleep(1.1)
        yield {"x": 2, "y": 1.5}
        assert go_on.is_set()
        yield {"x": 3, "y": 2.5}

    batches = read(rows(), target="y").batches(1)
    assert [next(batches)[1][0] for _ in range(2)] == [0.5, 1.5]
    go_on.set()
    assert next(batches)[1][0] == 2.5


PROGRAM = """
import sys
from dfop import streams
stream = streams.read(sys.argv[1], target="y", format="csv", bad_rows="skip")
print(sum(len(y) for X, y in stream.batches(100)), stream.bad.total)
"""


def test_process_substitution_is_read(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "1,0.5\n" * 5000 + "oops,1\n")
    command = f"'{sys.executable}' -c '{PROGRAM}' <(cat a.csv)"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["5000", "1"]


def test_a_pipe_whose_name_does_not_tell_its_format_is_read_as_csv():
    reading, writing = os.pipe()
    os.write(writing, b"x,y\n1,0.5\n2,1.5\n")
    os.close(writing)
    try:
        ((X, y),) = read(f"/dev/fd/{reading}", target="y").batches(10)
    finally:
        os.close(reading)
    assert X.numbers[:, 0].tolist() == [1.0, 2.0]
    assert y.tolist() == [0.5, 1.5]
