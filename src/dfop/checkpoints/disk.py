"""Every call that changes the disk, in one place.

Whatever a run leaves on the disk goes through a `Disk`: so the tests can stop a run at each of
these calls, and replay what a file system may have kept of them after power loss.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

# What file systems say that cannot sync a folder.
_UNABLE = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS}

_NAMES: dict[int, Path] = {}
"""Of the files that are open: what the system says of a descriptor does not name the file."""


@contextlib.contextmanager
def _named(file: int) -> Iterator[None]:
    """Let an error of the system say which file it is about."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or _NAMES.get(file)
        raise


class Disk:
    """The calls as the operating system has them.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> disk = Disk()
    >>> file = disk.open(folder / "new", os.O_WRONLY | os.O_CREAT)
    >>> disk.write(file, b"content")
    >>> disk.sync(file)
    >>> disk.close(file)
    >>> disk.rename(folder / "new", folder / "name")
    >>> disk.sync_folder(folder)
    >>> (folder / "name").read_bytes()
    b'content'
    """

    def open(self, path: Path, flags: int) -> int:
        """Open a file, or make it."""
        file = os.open(path, flags | os.O_CLOEXEC, 0o666)
        _NAMES[file] = path
        return file

    def write(self, file: int, data: bytes) -> None:
        """Write all of it, at the file's position."""
        view = memoryview(data)
        with _named(file):
            while view:
                view = view[os.write(file, view) :]

    def truncate(self, file: int, length: int) -> None:
        """Cut a file off."""
        with _named(file):
            os.ftruncate(file, length)

    def sync(self, file: int) -> None:
        """Bring a file's content to the disk."""
        with _named(file):
            os.fsync(file)

    def close(self, file: int) -> None:
        """Close a file; what was written may still be on its way."""
        _NAMES.pop(file, None)
        os.close(file)

    def rename(self, old: Path, new: Path) -> None:
        """Give a file a name, which another may have had until then."""
        os.replace(old, new)

    def unlink(self, path: Path) -> None:
        """Remove a file, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it, where they are not there."""
        path.mkdir(parents=True, exist_ok=True)

    def sync_folder(self, path: Path) -> None:
        """Bring the names in a folder to the disk."""
        file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        except OSError as error:
            if error.errno not in _UNABLE:
                raise
        finally:
            os.close(file)


DISK = Disk()
"""The disk of this machine."""


def write_whole(disk: Disk, path: Path, parts: list[bytes]) -> None:
    """Write a file that is complete under its name, or not there under it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "figures"
    >>> write_whole(DISK, path, [b"1 2 ", b"3"])
    >>> path.read_bytes()
    b'1 2 3'
    """
    part = path.with_name(f".{path.name}.part")
    file = disk.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        try:
            for data in parts:
                disk.write(file, data)
            disk.sync(file)
        finally:
            disk.close(file)
        disk.rename(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            disk.unlink(part)
        raise
    disk.sync_folder(path.parent)
