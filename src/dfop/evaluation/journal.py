"""A file of finished work that survives a kill.

One JSON object per line: first the configuration, then one line per finished cell. The file
is created whole (written aside, then renamed). A line counts once it ends in a newline and is
on the disk; a line torn by a kill is cut off when the file is opened again.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

FORMAT = 1


class Journal:
    """Finished cells of one configuration.

    Parameters
    ----------
    path : path-like
        The file; it is created if absent.
    configuration : dict
        What the cells depend on. A file of another configuration is refused.

    Attributes
    ----------
    cells : list of dict
        The cells that were there when the file was opened.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> with Journal(path, {"seed": 0}) as journal:
    ...     journal.append({"trial": 0, "accuracy": 0.9})
    >>> with Journal(path, {"seed": 0}) as journal:
    ...     journal.cells
    [{'trial': 0, 'accuracy': 0.9}]
    >>> Journal(path, {"seed": 1})
    Traceback (most recent call last):
    ValueError: ...run.jsonl holds another comparison (seed: 0 there, 1 now); give another file
    """

    def __init__(self, path: str | os.PathLike[str], configuration: dict[str, Any]) -> None:
        self.path = Path(path)
        header = {"dfop comparison": FORMAT, "configuration": configuration}
        if not self.path.exists():
            _create(self.path, _line(header))
        self._file = self.path.open("r+b")
        try:
            self._lock()
            whole = self._whole_lines()
            self._check_header(whole[0] if whole else b"", configuration)
            self.cells = [self._cell(number, line) for number, line in enumerate(whole[1:], 2)]
            # Nothing is cut off a file that is not ours: the header has been checked.
            self._file.truncate(sum(map(len, whole)))
            self._file.seek(0, os.SEEK_END)
        except BaseException:
            self._file.close()
            raise

    def append(self, cell: dict[str, Any]) -> None:
        """Write a cell; when this returns it is on the disk."""
        self._file.write(_line(cell))
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError(f"{self.path} is in use by another process") from None

    def _whole_lines(self) -> list[bytes]:
        lines = self._file.read().splitlines(keepends=True)
        return lines[:-1] if lines and not lines[-1].endswith(b"\n") else lines

    def _check_header(self, line: bytes, configuration: dict[str, Any]) -> None:
        try:
            header = json.loads(line)
            known = header["dfop comparison"]
            there = dict(header["configuration"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"{self.path} is not the record of a comparison; give another file"
            ) from None
        if known != FORMAT:
            raise ValueError(
                f"{self.path} has format {known}, this version reads {FORMAT}; give another file"
            )
        now = json.loads(json.dumps(configuration))
        differences = list(_differences(there, now))
        if differences:
            raise ValueError(
                f"{self.path} holds another comparison ({'; '.join(differences)}); "
                "give another file"
            )

    def _cell(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            cell = json.loads(line)
        except ValueError:
            cell = None
        if not isinstance(cell, dict):
            raise ValueError(f"{self.path}, line {number}: not a cell; remove the line")
        return cell


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _create(path: Path, content: bytes) -> None:
    aside = path.with_name(f"{path.name}.{os.getpid()}.new")
    with aside.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)  # the name, too, must survive
    finally:
        os.close(directory)


def _differences(there: dict[str, Any], now: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key in [*there, *(k for k in now if k not in there)]:
        a, b = there.get(key), now.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            yield from _differences(a, b, f"{prefix}{key}: ")
        elif a != b:
            there_text, now_text = ("nothing" if v is None else str(v) for v in (a, b))
            pairs = enumerate(zip(there_text, now_text, strict=False))
            same = next((i for i, (x, y) in pairs if x != y), 0)
            yield f"{prefix}{key}: {_near(there_text, same)} there, {_near(now_text, same)} now"


def _near(text: str, place: int) -> str:
    """Show a long text only where it matters."""
    start = max(0, place - 40)
    stop = place + 60
    return f"{'...' * (start > 0)}{text[start:stop]}{'...' * (stop < len(text))}"
