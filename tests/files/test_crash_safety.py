"""A file is there whole or not at all, whatever happens while it is written."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest
from made import stream

from dfop import DFOPRegressor, from_bytes, load, save, to_bytes
from dfop.files import replacing
from dfop.files.replacing import replace_file
from model_state import everything


@pytest.fixture(scope="module")
def model():
    X, y = stream()
    return DFOPRegressor(0.05).fit(X, y)


@pytest.fixture
def path(model, tmp_path):
    save(model, tmp_path / "model.dfop")
    return tmp_path / "model.dfop"


def names(directory):
    return sorted(entry.name for entry in Path(directory).iterdir())


# The module knows the standard library only: alone it is imported in no time.
ALONE = f"""
import importlib.util, os, resource, signal, sys, time
spec = importlib.util.spec_from_file_location("replacing", {replacing.__file__!r})
replacing = importlib.util.module_from_spec(spec)
spec.loader.exec_module(replacing)
"""


# -- failures ---------------------------------------------------------------------------------


def full_disk(path):
    """Write more than the disk, or what stands for it, can hold."""
    code = (
        ALONE
        + """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    replacing.replace_file(sys.argv[1], b"x" * 10000)
except OSError as error:
    sys.exit(error.errno)
"""
    )
    return subprocess.run([sys.executable, "-c", code, path], check=False).returncode


def test_a_full_disk_leaves_the_old_file_and_nothing_else(path):
    before = path.read_bytes()
    assert full_disk(path) == errno.EFBIG
    assert path.read_bytes() == before
    assert names(path.parent) == ["model.dfop"]


def test_a_full_disk_leaves_nothing_where_there_was_nothing(tmp_path):
    assert full_disk(tmp_path / "new") == errno.EFBIG
    assert names(tmp_path) == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system that is soon full, where one may be made."""
    where = tmp_path / "disk"
    where.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", where], check=False)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield where
    subprocess.run(["umount", where], check=True)


def test_a_disk_that_is_really_full_leaves_the_old_file(model, small_disk):
    path = small_disk / "model.dfop"
    save(model, path)
    before = path.read_bytes()
    with pytest.raises(OSError, match="No space left") as caught:
        replace_file(path, os.urandom(100_000))
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    assert names(small_disk) == ["model.dfop"]


@pytest.mark.parametrize("step", ["os.fsync", "os.replace", "os.fchmod", "fcntl.flock"])
@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
def test_a_failure_at_any_step_leaves_the_old_file_and_no_litter(
    path, model, step, kind, monkeypatch
):
    before = path.read_bytes()

    def fail(*_):
        raise kind("now")

    with monkeypatch.context() as patched:
        patched.setattr(step, fail)
        with pytest.raises(kind, match="now"):
            save(model, path)
    assert path.read_bytes() == before
    assert names(path.parent) == ["model.dfop"]


def test_the_file_and_its_directory_are_brought_to_the_disk(path, model, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace

    def synced(file):
        done.append("directory" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        fsync(file)

    def replaced(*both):
        done.append("name")
        replace(*both)

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr("os.replace", replaced)
    save(model, path)
    assert done == ["file", "name", "directory"]


# -- killed writers ---------------------------------------------------------------------------

WRITER = (
    ALONE
    + """
content = bytes([int(sys.argv[2])]) * 2_000_000
print("ready", flush=True)
while True:
    replacing.replace_file(sys.argv[1], content)
"""
)
STUCK = (
    ALONE
    + """
def sleep(file):
    print("ready", flush=True)
    time.sleep(60)
os.fsync = sleep
replacing.replace_file(sys.argv[1], b"x" * 1000)
"""
)


def start(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path, rng):
    path = tmp_path / "file"
    replace_file(path, b"\1" * 2_000_000)
    for turn in range(4):
        writer = start(WRITER, path, turn + 2)
        time.sleep(float(rng.uniform(0.0, 0.05)))
        kill(writer)
        content = path.read_bytes()
        assert len(content) == 2_000_000
        assert len(set(content)) == 1
    replace_file(path, b"end")
    assert names(tmp_path) == ["file"]


def test_leftovers_of_killed_writers_are_removed_and_those_of_living_ones_stay(path, model):
    dead, alive = start(STUCK, path), start(STUCK, path)
    kill(dead)
    other = start(STUCK, path.with_name("other"))
    kill(other)
    assert len(names(path.parent)) == 4
    save(model, path)
    left = [name for name in names(path.parent) if name.endswith(".part")]
    assert len(left) == 2  # the living one's, and the other file's
    assert sum(name.startswith(".other.") for name in left) == 1
    kill(alive)
    save(model, path)
    save(model, path.with_name("other"))
    assert names(path.parent) == ["model.dfop", "other"]


def test_leftovers_of_versions_before_are_removed_after_an_hour(path, model):
    old, new = (path.with_name(f"model.dfop.{uuid.uuid4().hex}.part") for _ in range(2))
    for leftover in (old, new):
        leftover.write_bytes(b"half")
    os.utime(old, (time.time() - 4000,) * 2)
    save(model, path)
    assert names(path.parent) == ["model.dfop", new.name]


def test_files_with_other_names_are_never_touched(path, model):
    others = [".model.dfop.part", "model.dfop.part", f".model.dfopx.{uuid.uuid4().hex}.part",
              f".model.dfop.{uuid.uuid4().hex}", ".model.dfop.xyz.part"]  # fmt: skip
    for name in others:
        path.with_name(name).write_bytes(b"mine")
        os.utime(path.with_name(name), (0, 0))
    save(model, path)
    assert names(path.parent) == sorted(["model.dfop", *others])


def test_several_threads_may_write_one_file(path, model):
    errors = []

    def write():
        try:
            for _ in range(20):
                save(model, path)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        assert everything(load(path)) == everything(model)
    for thread in threads:
        thread.join()
    assert errors == []
    assert names(path.parent) == ["model.dfop"]


def test_a_model_can_be_saved_while_another_thread_teaches_it():
    X, y = stream()
    model = DFOPRegressor(features="linear", lags=1).fit(X, y)
    stop = threading.Event()

    def teach():
        while not stop.is_set():
            model.partial_fit(X, y)

    thread = threading.Thread(target=teach)
    thread.start()
    try:
        for _ in range(30):
            other = from_bytes(to_bytes(model))
            assert other._model.learned % len(X) == 0  # a whole call of partial_fit, or none
    finally:
        stop.set()
        thread.join()


# -- links, permissions, names ----------------------------------------------------------------


def test_a_link_stays_a_link_to_the_new_file(path, model, tmp_path):
    (tmp_path / "links").mkdir()
    first, second = tmp_path / "links" / "first", tmp_path / "links" / "second"
    first.symlink_to("../model.dfop")
    second.symlink_to("first")
    path.write_bytes(b"old")
    save(model, second)
    assert first.is_symlink()
    assert second.is_symlink()
    assert path.read_bytes() == to_bytes(model)
    assert names(tmp_path / "links") == ["first", "second"]


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(model, tmp_path):
    (tmp_path / "link").symlink_to("target")
    save(model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert everything(load(tmp_path / "target")) == everything(model)


def test_a_link_to_itself_is_refused(model, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="leads to itself"):
        save(model, tmp_path / "loop")
    assert names(tmp_path) == ["loop"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o444])
def test_permissions_of_the_old_file_are_kept(path, model, mode):
    path.chmod(mode)
    save(model, path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_of_the_old_file_stays(path, model):
    os.chown(path, 1234, 4321)
    path.chmod(0o640)
    save(model, path)
    now = path.stat()
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (1234, 4321, 0o640)


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_has_the_usual_permissions(model, tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        save(model, tmp_path / "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode


@pytest.mark.parametrize(
    "name",
    [
        b"\xff\xfe model",
        b"x" * 255,
        "\u2603".encode() * 85,
        b"\xff" * 255,
        b"*?[a-z]+(.dfop",
        b"two\nlines",
        b"-",
        b".hidden",
    ],
)
def test_any_name_will_do(model, tmp_path, name):
    path = os.fsencode(tmp_path) + b"/" + name
    for _ in range(2):
        save(model, path)
    assert os.listdir(os.fsencode(tmp_path)) == [name]
    assert everything(load(path)) == everything(model)
    assert everything(load(os.fsdecode(path))) == everything(model)


def test_a_name_alone_is_one_in_the_working_directory(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(model, "model.dfop")
    assert names(tmp_path) == ["model.dfop"]


def test_directories_and_pipes_are_not_replaced(model, tmp_path):
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        save(model, tmp_path / "directory")
    with pytest.raises(OSError, match="cannot take the place"):
        save(model, tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with pytest.raises(FileNotFoundError):
        save(model, tmp_path / "nowhere" / "model.dfop")
