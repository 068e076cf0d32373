"""The place in the source: how far each file was read, and what was read.

Files of text are watched while they are read, so that one that has grown since can be gone on with,
and one in which something changed is refused. Parquet is no file to append to: it is hashed whole.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dfop.streams.sources import parquet_files

from .generation import CheckpointError

_CHUNK = 2**20


class WatchedFile:
    r"""An open file that knows how much of it was read, and the hash of that.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_bytes(b"x,y\n1,2\n")
    >>> file = WatchedFile(path)
    >>> file.read(4), file.offset
    (b'x,y\n', 4)
    >>> file.close()
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._hash = hashlib.sha256()
        self.offset = 0
        self.last = b""
        """The last byte that was read."""

    def fileno(self) -> int:
        """Return the descriptor: a pipe is told by it."""
        return self._file.fileno()

    def read(self, size: int) -> bytes:
        """Read at most so many bytes."""
        data = self._file.read(size) or b""
        self._hash.update(data)
        self.offset += len(data)
        self.last = data[-1:] or self.last
        return data

    def close(self) -> None:
        """Close it."""
        self._file.close()

    def digest(self) -> str:
        """Return the hash of what was read so far."""
        return self._hash.hexdigest()


class Places:
    r"""How far files were read.

    Parameters
    ----------
    paths : sequence of Path
        The files or folders of a source, in their order; what is no file or folder (a pipe) has
        no place.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_bytes(b"x,y\n1,2\n")
    >>> places = Places([path])
    >>> file = places.open(path)
    >>> file.read(100), file.close()
    (b'x,y\n1,2\n', None)
    >>> state = places.state()
    >>> state[0]["offset"], state[0]["size"]
    (8, 8)
    >>> Places([path]).check(state)  # nothing has changed
    >>> _ = path.write_bytes(b"x,y\n1,3\n")
    >>> Places([path]).check(state)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    dfop.checkpoints.generation.CheckpointError: the source has changed: .../rows.csv differs ...
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._folders = {path: parquet_files(path) for path in paths if path.is_dir()}
        self._paths = [
            file for path in paths for file in self._folders.get(path, [path]) if file.is_file()
        ]
        self._open: dict[Path, WatchedFile] = {}
        self._whole: dict[Path, tuple[int, str]] = {}

    def open(self, path: Path) -> WatchedFile:
        """Open a file from its beginning and watch it."""
        file = WatchedFile(path)
        if path in self._paths:
            self._open[path] = file
        return file

    def state(self) -> list[dict[str, Any]]:
        """Return the place in every file that was read from, for JSON."""
        return [found for path in self._paths if (found := self._place(path)) is not None]

    def _place(self, path: Path) -> dict[str, Any] | None:
        watched = self._open.get(path)
        if watched is not None:
            offset, digest, whole_lines = watched.offset, watched.digest(), watched.last == b"\n"
            size = path.stat().st_size
        elif path not in self._whole and not _is_parquet(path):  # a file of text, not begun
            return None
        else:
            if path not in self._whole:
                self._whole[path] = _whole(path)
            size, digest = self._whole[path]
            offset, whole_lines = size, False
        return {
            "path": str(path),
            "size": size,
            "offset": offset,
            "sha256": digest,
            "ends": whole_lines,
        }

    def check(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Refuse a source in which what was read has changed; files may have come behind it."""
        read = {before["path"] for before in state}
        for folder, files in self._folders.items():
            late = [str(file) in read for file in files]
            if any(later and not earlier for earlier, later in itertools.pairwise(late)):
                new = files[late.index(False)]
                raise CheckpointError(
                    f"the source has changed: {new} is new, and stands before files of {folder} "
                    "that were read. Give it a name that comes after theirs, or start anew with an "
                    "empty checkpoint folder"
                )
        for before in state:
            path = Path(before["path"])
            if path not in self._paths:
                raise CheckpointError(f"the source has changed: {path} was read, and is not there")
            problem = _difference(path, before)
            if problem:
                raise CheckpointError(
                    f"the source has changed: {path} {problem}. Go on with the file as it was, or "
                    "start anew with an empty checkpoint folder"
                )


def _difference(path: Path, before: Mapping[str, Any]) -> str | None:
    """Say what changed in a file since it was read, None for nothing."""
    offset = int(before["offset"])
    size = path.stat().st_size
    if size < offset:
        return f"has {size} bytes, and {offset} were read"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        left = offset
        while left and (data := file.read(min(_CHUNK, left))):
            digest.update(data)
            left -= len(data)
        following = file.read(1)
    if digest.hexdigest() != before["sha256"]:
        return f"differs within the first {offset} bytes, which were read"
    if size > int(before["size"]) == offset and not before["ends"] and following not in b"\r\n":
        return (
            "was read to its end, and its last line goes on now (a run takes the last line as it "
            "stands: begin when it is whole)"
        )
    return None


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _whole(path: Path) -> tuple[int, str]:
    """Return size and hash of a file."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as opened:
        while data := opened.read(_CHUNK):
            digest.update(data)
            size += len(data)
    return size, digest.hexdigest()
