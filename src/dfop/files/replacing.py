"""A file that appears whole or not at all.

The content goes to a hidden file beside the target, is brought to the disk, and takes the target's
name in one step; then the directory is brought to the disk, too. The writer holds a lock on the
hidden file while it lives, so that the next one knows which were left by writers that were killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import stat
import time
import uuid
from typing import Any

_LONGEST = 64
"""Bytes of the target's name in that of the hidden file: names may have 255, on some disks 143."""
_AGE = 3600.0
"""Seconds after which a hidden file that cannot be locked counts as left over."""
# What file systems say that cannot sync a directory, or lock a file.
_UNABLE = {errno.EINVAL, errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS}


def replace_file(path: Any, content: bytes) -> None:
    """Write a file that appears whole or not at all; links are followed, permissions kept."""
    given = os.fsdecode(path)
    target = os.path.realpath(given)
    directory, name = os.path.split(target)
    for folder in (os.path.dirname(given), directory):  # a link may lead elsewhere
        _check_folder(folder)
    before = _existing(target)
    _remove_leftovers(directory, name)
    part, file = _create(directory, name, before)
    try:
        with os.fdopen(file, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
            os.replace(part, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = target  # a full disk does not say which file
        raise
    _sync_directory(directory)


def _check_folder(folder: str) -> None:
    """Refuse a folder that is not there; the system would name the hidden file."""
    try:
        os.stat(os.path.join(folder, "."))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise type(error)(error.errno, "there is no such folder, make it first", folder) from None


def _existing(target: str) -> os.stat_result | None:
    """Return what is known of a file that will be replaced."""
    try:
        before = os.lstat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(before.st_mode):
        raise OSError(errno.ELOOP, "a link that leads to itself", target)
    if stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(errno.EISDIR, "a file cannot take a directory's place", target)
    if not stat.S_ISREG(before.st_mode):
        raise OSError(errno.EINVAL, "a file cannot take the place of what is none", target)
    return before


def _stem(name: str) -> str:
    """Return how the hidden files of a name begin."""
    encoded = os.fsencode(name)
    if len(encoded) <= _LONGEST:
        return f".{name}."
    start = encoded[: _LONGEST // 2].decode("ascii", "replace").replace("\ufffd", "_")
    return f".{start}~{hashlib.sha256(encoded).hexdigest()[:16]}."


def _create(directory: str, name: str, before: os.stat_result | None) -> tuple[str, int]:
    """Make a hidden file, locked, with the permissions that the target shall have."""
    while True:
        part = os.path.join(directory, f"{_stem(name)}{uuid.uuid4().hex}.part")
        mode = 0o666 if before is None else 0o600  # the first less what the umask takes away
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            _lock(file, fcntl.LOCK_EX)
            if os.fstat(file).st_nlink:
                if before is not None:
                    _keep_permissions(file, before)
                return part, file
        except BaseException:
            os.close(file)
            os.unlink(part)
            raise
        os.close(file)  # another writer took it for left over before it was locked


def _keep_permissions(file: int, before: os.stat_result) -> None:
    now = os.fstat(file)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(PermissionError):  # only some may give files away
            os.fchown(file, before.st_uid, before.st_gid)
    os.fchmod(file, stat.S_IMODE(before.st_mode))


def _lock(file: int, how: int) -> bool | None:
    """Lock a file; False if another holds the lock, None where files cannot be locked."""
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNABLE:
            raise
        return None
    return True


def _remove_leftovers(directory: str, name: str) -> None:
    """Remove the hidden files of this name whose writers are dead."""
    # before format 3 they were not hidden, and not locked
    pattern = re.compile(f"({re.escape(_stem(name))}|{re.escape(name)}\\.)[0-9a-f]{{32}}\\.part")
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            match = pattern.fullmatch(entry.name)
            if match is not None:
                _remove_if_left(entry.path, locked=match[1] == _stem(name))


def _remove_if_left(path: str, *, locked: bool) -> None:
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            old = time.time() - os.fstat(file).st_mtime > _AGE
            free = _lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB) if locked else None
            if free or (free is None and old):
                os.unlink(path)
        finally:
            os.close(file)


def _sync_directory(directory: str) -> None:
    try:
        file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # one may write into directories that one may not read
        return
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in _UNABLE:
            raise
    finally:
        os.close(file)
