"""What users call: `save` and `load`, `to_bytes` and `from_bytes`."""

from __future__ import annotations

import os
from typing import Any

from . import format3, old
from .container import ModelFileError, as_bytes, pack, unpack
from .replacing import replace_file

_ABOVE = ("Keyed", "Information")
"""Kinds of files that a room above writes and reads itself."""

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

NONSENSE = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    RecursionError,
    OverflowError,
    MemoryError,
)
"""What code that checks a value may raise at one that makes no sense."""


def save(model: Any, path: Path) -> None:
    """Write a model to a file that `load` reads; it then goes on as if never stopped.

    The file appears whole or not at all: an old file of that name stays until then, also when the
    disk is full or the process is killed. A link stays a link to the new file, and an old file's
    permissions are kept.

    Parameters
    ----------
    model : DFOPRegressor, DFOPClassifier, their River twins, Keyed or Information
        A model that has seen at least one row.
    path : str, bytes or path
        Where to.

    Raises
    ------
    TypeError
        If something of the model cannot be held by a file, such as code.
    ModelFileError
        If `load` would refuse the file: nothing is written then.

    Examples
    --------
    >>> import tempfile, os
    >>> from dfop import DFOPRegressor, load, save
    >>> model = DFOPRegressor(forgetting=0.01).fit([[1.0], [2.0]], [2.0, 4.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.dfop")
    >>> save(model, path)
    >>> bool(load(path).predict([[3.0]]) == model.predict([[3.0]]))
    True
    """
    content = to_bytes(model)
    try:
        from_bytes(content)
    except ModelFileError as error:
        raise ModelFileError(f"nothing was saved, since it could not be loaded: {error}") from None
    replace_file(path, content)


def load(path: Path) -> Any:
    """Read a model that `save` wrote. Loading never runs code from the file.

    Parameters
    ----------
    path : str, bytes or path
        The file.

    Returns
    -------
    DFOPRegressor, DFOPClassifier, their River twins, Keyed or Information
        The model, in the state in which it was saved, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a dfop model, or of a newer format than this version knows.

    Examples
    --------
    >>> import dfop
    >>> dfop.load("no such file.dfop")
    Traceback (most recent call last):
    ...
    FileNotFoundError: no model file at 'no such file.dfop'
    """
    name = os.fsdecode(path)
    if not os.path.isfile(name):
        raise FileNotFoundError(f"no model file at {name!r}")
    with open(name, "rb") as file:
        content = file.read()
    return _read(content, repr(name))


def to_bytes(model: Any) -> bytes:
    """Return a model as bytes that `from_bytes` reads: what `save` writes to a file.

    Parameters
    ----------
    model : DFOPRegressor, DFOPClassifier, their River twins, Keyed or Information
        A model that has seen at least one row.

    Returns
    -------
    bytes

    Examples
    --------
    >>> from dfop import DFOPRegressor, from_bytes, to_bytes
    >>> model = DFOPRegressor(forgetting=0.01).fit([[1.0], [2.0]], [2.0, 4.0])
    >>> bool(from_bytes(to_bytes(model)).predict([[3.0]]) == model.predict([[3.0]]))
    True
    """
    kind = type(model).__name__
    if kind in _ABOVE and type(model) is _from_above(kind):
        content: bytes = model.to_bytes()
        return content
    return pack(*format3.describe(model))


def from_bytes(data: bytes) -> Any:
    """Read a model that `to_bytes` or `save` wrote. Reading never runs code from the bytes.

    Parameters
    ----------
    data : bytes
        All of them.

    Returns
    -------
    DFOPRegressor, DFOPClassifier, their River twins, Keyed or Information
        The model, in the state in which it was written, to the last bit.

    Raises
    ------
    ModelFileError
        As in `load`.
    TypeError
        If it is something else than bytes.

    Examples
    --------
    >>> import dfop
    >>> model = dfop.DFOPRegressor(forgetting=0.01).fit([[1.0], [2.0]], [2.0, 4.0])
    >>> dfop.from_bytes(dfop.to_bytes(model)).predict([[3.0]]) == model.predict([[3.0]])
    array([ True])
    """
    return _read(as_bytes(data), "the model from bytes")


def _from_above(kind: str) -> Any:
    """Return one of the classes that write and read their files themselves."""
    from dfop import scale  # it stands on this room, and is loaded where one of its files is met

    return getattr(scale, kind)


def _read(content: bytes, name: str) -> Any:
    try:
        document, tensors = unpack(content)
    except ModelFileError as error:
        raise ModelFileError(f"cannot load {name}: {error}") from None
    kind = document.get("kind")
    if isinstance(kind, str) and kind in _ABOVE:
        return _from_above(kind).from_bytes(content)
    try:
        if document["format"] == 3:
            return format3.rebuild(document, tensors)
        return old.rebuild(document, tensors)
    except NONSENSE as error:
        raise ModelFileError(f"cannot load {name}: its content makes no sense ({error})") from None
