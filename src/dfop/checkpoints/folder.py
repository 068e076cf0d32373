"""The folder of a run: its generations, the newest of which is found whatever happened.

Order of writing: the outputs are brought to the disk (by the run); the generation is written and
synced, and the folder with it; CURRENT, which names it, is replaced by a rename, and the folder
synced; then all generations but the last two are deleted. So at every moment there is a complete
generation on the disk, and outputs at least as long as it says.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from .disk import DISK, Disk, write_whole
from .generation import CheckpointError, Generation

_NAME = re.compile(r"generation-(\d{1,12})\.dfop-run")


class Folder:
    """A folder that one run at a time may use; it holds its last two generations.

    Parameters
    ----------
    path : path
        It is made if it is not there.
    disk : Disk
        What writes.

    Attributes
    ----------
    notes : list of str
        What should be said aloud: which generations were damaged.

    Raises
    ------
    CheckpointError
        If another run uses the folder, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp()
    >>> with Folder(path) as folder:
    ...     folder.newest() is None, folder.save({"rows": 1000}, {"model": b"..."})
    (True, 1)
    >>> with Folder(path) as folder:
    ...     folder.newest().state
    {'rows': 1000}
    """

    def __init__(self, path: Any, disk: Disk = DISK) -> None:
        self.path, self.disk = Path(path), disk
        self.notes: list[str] = []
        try:
            if not self.path.is_dir():
                disk.make_folder(self.path)
                disk.sync_folder(self.path.parent)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            reason = error.strerror or str(error)
            raise CheckpointError(
                f"the checkpoint folder {self.path} cannot be used: {reason}. Name a folder that "
                "you may write to"
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise CheckpointError(
                f"another run uses the checkpoint folder {self.path}. Wait for it, or name another"
            ) from None
        except OSError:
            # a file system without locks: nothing can be said about other runs
            self.notes.append(f"{self.path} is on a file system without locks: start one run only")
        self._last = max((number for number, _ in _files(self.path)), default=0)
        self._valid = 0

    def newest(self) -> Generation | None:
        """Return the newest complete generation; None where there never was one."""
        generation, notes = newest_generation(self.path)
        self.notes += notes
        if generation is not None:
            self._valid = generation.number
        return generation

    def save(self, state: Mapping[str, Any], blobs: Mapping[str, bytes]) -> int:
        """Write the next generation; the outputs must be on the disk already.

        Where it cannot be written, the one before stays as it is.
        """
        disk, number = self.disk, self._last + 1
        path = self._path(number)
        content = Generation(number, state, blobs).to_bytes()
        file = disk.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            try:
                disk.write(file, content)
                disk.sync(file)
            finally:
                disk.close(file)
            disk.sync_folder(self.path)
        except OSError:
            with contextlib.suppress(OSError):
                disk.unlink(path)
            raise
        write_whole(disk, self.path / "CURRENT", [f"{path.name}\n".encode()])
        kept = (number, self._valid)
        for other, old in _files(self.path):
            if other not in kept:
                disk.unlink(old)
        self._last = self._valid = number
        return number

    def close(self) -> None:
        """Let other runs use the folder."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, number: int) -> Path:
        return self.path / f"generation-{number:06d}.dfop-run"


def newest_generation(folder: Path) -> tuple[Generation | None, list[str]]:
    """Return the newest complete generation in a folder, and what is to be said of others.

    Examples
    --------
    >>> import tempfile
    >>> newest_generation(Path(tempfile.mkdtemp()))
    (None, [])
    """
    files, current = _files(folder), _current(folder)
    notes = []
    if current and current not in (number for number, _ in files):
        notes.append(f"generation {current} is missing")
    for number, path in files:
        try:
            generation = Generation.from_bytes(path.read_bytes())
            if generation.number != number:
                raise CheckpointError("it has the name of another")
        except (CheckpointError, OSError) as error:
            notes.append(f"generation {number} is not used: {error}")
            continue
        return generation, notes
    if current:  # without it, the first generation was never complete
        raise CheckpointError(
            f"no generation in {folder} can be used: {'; '.join(notes)}. Start anew with an "
            "empty checkpoint folder"
        )
    return None, notes


def _files(folder: Path) -> list[tuple[int, Path]]:
    """Return the numbers and paths of all generations, newest first."""
    found = [
        (int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))
    ]
    return sorted(found, reverse=True)


def _current(folder: Path) -> int:
    """Return the generation that CURRENT names, 0 where it names none."""
    try:
        name = (folder / "CURRENT").read_text("utf-8", "replace")
    except OSError:
        return 0
    match = _NAME.fullmatch(name.strip())
    return int(match[1]) if match else 0
