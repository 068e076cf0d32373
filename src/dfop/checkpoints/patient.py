"""A pipe that is waited for, while what is due in the meantime is done."""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import Any


class PatientFile:
    r"""An open pipe whose reader does something else while nothing comes.

    Parameters
    ----------
    file : binary file
        What is read; everything but `read1` is its own.
    meanwhile : callable
        Called before it is waited for bytes. It does what is due and returns for how many seconds
        nothing will be, None for ever.

    Examples
    --------
    >>> import os
    >>> reading, writing = os.pipe()
    >>> waits = iter([0.001, None])
    >>> def meanwhile():
    ...     wait = next(waits)
    ...     if wait is None:
    ...         _ = os.write(writing, b"at last")
    ...     return wait
    >>> with open(reading, "rb") as pipe:
    ...     PatientFile(pipe, meanwhile).read1(100)
    b'at last'
    >>> os.close(writing)
    """

    def __init__(self, file: Any, meanwhile: Callable[[], float | None]) -> None:
        self._file, self._meanwhile = file, meanwhile

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read1(self, size: int) -> bytes:
        """Wait for bytes, and return at most so many of those that came."""
        waited_for = [self._file.fileno()]
        while not select.select(waited_for, [], [], self._meanwhile())[0]:
            pass
        read = getattr(self._file, "read1", self._file.read)
        return bytes(read(size) or b"")
