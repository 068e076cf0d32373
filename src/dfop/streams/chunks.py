"""Bytes of a file, compressed or not, or of a pipe, as they come."""

from __future__ import annotations

import bz2
import contextlib
import io
import os
import select
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from dfop.rows.extras import need
from dfop.streams.errors import DataError

CHUNK = 2**20
PACKED = (".gz", ".bz2", ".zst")
"""Endings of compressed files."""
_PATIENCE = 1.0
"""Seconds without a byte after which a pipe is judged by what it has brought."""


class Chunks:
    """Pieces of the uncompressed content, in order.

    Parameters
    ----------
    file : binary file
        What is read.
    source : str
        What errors call it.
    packing : str
        ".gz", ".bz2", ".zst", or "" where it is not compressed.
    owned : bool
        Whether the file is to be closed at the end.
    """

    def __init__(self, file: Any, source: str, packing: str = "", *, owned: bool = True) -> None:
        self.source = source
        self._owned = owned
        self._file = file
        self._held: list[bytes] = []
        self._unpack = None
        self._broken: DataError | None = None
        if packing == ".zst":
            pa = need("pyarrow", extra="data", purpose="reading zstd")
            self._file = _Zstd(pa.CompressedInputStream(pa.PythonFile(file), "zstd"), file)
        elif packing:
            self._unpack = _Unpacker(packing)
        self._descriptor = _waiting_descriptor(self._file)

    def __iter__(self) -> Iterator[bytes]:
        """Give what is left, then raise if the file is cut off."""
        try:
            while chunk := self.read():
                yield chunk
        finally:
            self.close()

    def read(self) -> bytes:
        """Return the next bytes, b"" at the end."""
        if self._held:
            return self._held.pop(0)
        return self._next()

    def peek(
        self, enough: Callable[[bytes], bool], *, first: Callable[[bytes], bool]
    ) -> tuple[bytes, bool]:
        """Return bytes from the beginning until they are `enough`, and whether they are all.

        They will be read again. A pipe is waited for until they pass `first`, and then for a
        second.
        """
        found = b""
        started = time.monotonic()
        try:
            while not enough(found):
                if first(found) and not self._ready(started + _PATIENCE):
                    break
                chunk = self._next()
                if not chunk:
                    return found, True
                self._held.append(chunk)
                found += chunk
        except DataError:
            if not found:
                raise
            # it comes again when the rows before it have been read
        return found, False

    def refuse_cut(self) -> None:
        """Raise if the file was found broken, where nothing before the break is of use."""
        if self._broken is not None:
            problem, remedy = self._broken.problem, "Get the file again"
            raise DataError(problem, source=self.source, remedy=remedy)

    def close(self) -> None:
        """Close the file, if it is ours."""
        if self._owned:
            with contextlib.suppress(OSError):
                self._file.close()

    def __del__(self) -> None:
        # a pipe that was opened and never read
        with contextlib.suppress(Exception):
            self.close()

    def _ready(self, until: float) -> bool:
        if self._descriptor is None:
            return True
        left = max(until - time.monotonic(), 0.0)
        return bool(select.select([self._descriptor], [], [], left)[0])

    def _next(self) -> bytes:
        if self._broken is not None:
            raise self._broken
        try:
            if self._unpack is None:
                return self._raw()
            return self._unpack.next(self._raw)
        except (EOFError, OSError, zlib.error) as error:
            if not isinstance(error, EOFError | zlib.error) and error.errno is not None:
                raise
            self._broken = DataError(
                f"the compressed file is broken or cut off ({error})",
                source=self.source,
                remedy="Get the file again; the rows before this were given",
            )
            raise self._broken from None

    def _raw(self) -> bytes:
        """Read what is there, at least one byte unless the file ends."""
        if self._descriptor is None:
            return bytes(self._file.read(CHUNK))
        found = self._some()
        # what a pipe has brought meanwhile comes along
        while found and len(found) < CHUNK and self._ready(0.0):
            more = self._some()
            if not more:
                break
            found += more
        return found

    def _some(self) -> bytes:
        read = getattr(self._file, "read1", self._file.read)
        return bytes(read(CHUNK) or b"")


class _Unpacker:
    """gzip or bzip2, of one or several members; what was unpacked before a break is given."""

    def __init__(self, packing: str) -> None:
        self._make: Callable[[], Any] = (
            (lambda: zlib.decompressobj(wbits=31)) if packing == ".gz" else bz2.BZ2Decompressor
        )
        self._one: Any = None
        self._left = b""

    def next(self, raw: Callable[[], bytes]) -> bytes:
        while True:
            data = self._left or raw()
            self._left = b""
            if not data:
                if self._one is not None:
                    raise EOFError("the end is missing")
                return b""
            if self._one is None:
                if not data.strip(b"\0"):
                    continue  # padding after the last member
                self._one = self._make()
            found = bytes(self._one.decompress(data))
            if self._one.eof:
                self._left, self._one = self._one.unused_data, None
            if found:
                return found


class _Zstd:
    """Arrow's reader in small bites, since what it has unpacked before a break is lost."""

    def __init__(self, stream: Any, file: Any) -> None:
        self._stream, self._file = stream, file
        self._broken: OSError | None = None

    def read(self, size: int) -> bytes:
        bites = []
        while size > 0 and self._broken is None:
            try:
                bite = self._stream.read(4096)
            except OSError as error:
                self._broken = OSError(str(error))
                break
            if not bite:
                break
            bites.append(bite)
            size -= len(bite)
        if not bites and self._broken is not None:
            raise self._broken
        return b"".join(bites)

    def close(self) -> None:
        self._stream.close()
        self._file.close()


def _waiting_descriptor(file: Any) -> int | None:
    """Return the descriptor of a pipe or the like, None for what never waits."""
    try:
        descriptor = int(file.fileno())
        if not os.lseek(descriptor, 0, os.SEEK_CUR) >= 0:
            return None
    except (AttributeError, io.UnsupportedOperation, ValueError):
        return None
    except OSError:  # it cannot be sought: a pipe, a socket, a terminal
        return descriptor
    return None
