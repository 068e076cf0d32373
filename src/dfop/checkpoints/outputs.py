"""Files that a run appends to, each with a length up to which it is valid."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from .disk import Disk
from .generation import CheckpointError

_BUFFER = 2**20


def check_apart(outputs: Iterable[str | None], sources: Iterable[str | None]) -> None:
    """Refuse to write over what is read, into a folder that is read, or twice to one file.

    Names that are None or "-", and devices, are left alone.

    Examples
    --------
    >>> check_apart(["p.csv", None, "-"], ["rows.csv"])
    >>> check_apart(["./rows.csv"], ["rows.csv"])
    Traceback (most recent call last):
    ...
    ValueError: ./rows.csv is a source of this run: write to another file
    """
    read = {os.path.realpath(name) for name in sources if name not in (None, "-")}
    written: set[str] = set()
    for name in outputs:
        path = "" if name in (None, "-") else os.path.realpath(str(name))
        if not path or (os.path.exists(path) and not os.path.isfile(path)):
            continue
        if path in read:
            raise ValueError(f"{name} is a source of this run: write to another file")
        if path in written:
            raise ValueError(f"{name} is named for two outputs: write each to a file of its own")
        if any(str(parent) in read for parent in Path(path).parents):
            raise ValueError(f"{name} is in a folder that this run reads: write somewhere else")
        written.add(path)


class Appended:
    r"""A file that is appended to; what is beyond its valid length is cut off when a run goes on.

    Parameters
    ----------
    path : Path
        The file.
    disk : Disk
        What writes.
    length : int, optional
        Up to where it is valid; None to begin anew.

    Examples
    --------
    >>> import tempfile
    >>> from .disk import DISK
    >>> path = Path(tempfile.mkdtemp()) / "out.csv"
    >>> out = Appended(path, DISK)
    >>> out.append(b"a,b\n")
    >>> out.sync()
    4
    >>> out.append(b"1,2\n")
    >>> out.close()
    >>> Appended(path, DISK, length=4).close()
    >>> path.read_bytes()
    b'a,b\n'
    """

    def __init__(self, path: Path, disk: Disk, length: int | None = None) -> None:
        self.path, self._disk = path, disk
        self._waiting: list[bytes] = []
        self._bytes = 0
        if length is not None and (not path.is_file() or path.stat().st_size < length):
            raise CheckpointError(
                f"the output {path} has changed: {length} bytes of it were written before. Put it "
                "back, or start anew with an empty checkpoint folder"
            )
        self._named = length is not None
        """Whether the disk is known to have the file's name."""
        self._file = disk.open(path, os.O_WRONLY | os.O_CREAT)
        self.length = length or 0
        """Bytes so far, with those that wait to be written."""
        self._cut()

    def append(self, data: bytes) -> None:
        """Write some more."""
        if data:
            self._waiting.append(data)
            self._bytes += len(data)
            self.length += len(data)
            if self._bytes >= _BUFFER:
                self.flush()

    def flush(self) -> None:
        """Hand everything to the system."""
        if self._waiting:
            waiting, self._waiting, self._bytes = self._waiting, [], 0
            self._disk.write(self._file, b"".join(waiting))

    def sync(self) -> int:
        """Bring everything to the disk; return the length."""
        self.flush()
        self._disk.sync(self._file)
        if not self._named:
            self._disk.sync_folder(self.path.parent)
            self._named = True
        return self.length

    def cut(self, length: int) -> None:
        """Take back what is beyond a length."""
        if length < self.length:
            self.flush()
            self.length = length
            self._cut()

    def _cut(self) -> None:
        self._disk.truncate(self._file, self.length)
        os.lseek(self._file, self.length, os.SEEK_SET)

    def close(self) -> None:
        """Hand everything to the system and close the file."""
        if self._file >= 0:
            try:
                self.flush()
            finally:
                self._disk.close(self._file)
                self._file = -1


class Printed:
    """Standard output: what was printed cannot be taken back."""

    length = 0

    def __init__(self) -> None:
        if sys.stdout is None:
            raise ValueError("standard output is closed: name a file for the predictions")

    def append(self, data: bytes) -> None:
        """Print at once: somebody waits for it."""
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def flush(self) -> None:
        """Do nothing: it was done."""

    def sync(self) -> int:
        """Return no length."""
        return 0

    def cut(self, length: int) -> None:
        """Do nothing: what was printed stays."""

    def close(self) -> None:
        """Do nothing: others may print."""
