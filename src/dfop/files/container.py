"""The bytes of a model file: a description in JSON and named arrays, in a safetensors file.

safetensors: the length of the header (8 bytes), the header (JSON: type, shape and place of every
array, and texts under ``__metadata__``), the arrays one after the other. Of the texts, ``dfop`` is
the description and ``checksum`` the SHA-256 of the file with zeros in its place; in formats 1 and 2
the checksum was inside the description.

The library would do, but takes more time for a small model than all else together.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[Any]]

FORMAT = 3

_TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype(np.float64),
    "F32": np.dtype(np.float32),
    "I32": np.dtype(np.int32),
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_START = b'{"__metadata__":{"checksum":"'
_ZEROS = b"0" * 64
_CHECKSUM = slice(8 + len(_START), 8 + len(_START) + 64)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


_JSON = json.JSONDecoder(parse_constant=_refuse_constant)


class ModelFileError(ValueError):
    """A model file that cannot be used: damaged, foreign, or newer than this version.

    Examples
    --------
    >>> import dfop
    >>> try:
    ...     dfop.from_bytes(b"something else")
    ... except dfop.ModelFileError as error:
    ...     print("refused")
    refused
    """


def pack(document: dict[str, Any], tensors: Tensors) -> bytes:
    """Return the bytes of a file."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    header: dict[str, Any] = {"__metadata__": {"checksum": _ZEROS.decode(), "dfop": text}}
    parts, at = [b"", b""], 0
    # the wide ones first: then each lies at a multiple of its width
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        end = at + tensor.nbytes
        kind = _NAMES[tensor.dtype]
        header[name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": (at, end)}
        parts.append(tensor.tobytes())
        at = end
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    parts[0], parts[1] = len(encoded).to_bytes(8, "little"), encoded
    content = bytearray().join(parts)
    content[_CHECKSUM] = hashlib.sha256(content).hexdigest().encode()
    return bytes(content)


def as_bytes(data: Any) -> bytes:
    """Return bytes as such; refuse what is none: of a number bytes() would make that many zeros."""
    try:
        return data if type(data) is bytes else bytes(memoryview(data))
    except TypeError:
        raise TypeError(
            f"a model is read from bytes, not from {type(data).__name__}: give what to_bytes "
            "returned; dfop.load reads a file"
        ) from None


def unpack(content: bytes) -> tuple[dict[str, Any], Tensors]:
    """Return description and arrays of a file whose checksum fits."""
    try:
        metadata, tensors = _open(content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"it is damaged or no model file at all ({error})") from None
    if "dfop" not in metadata:
        raise ModelFileError("it is a safetensors file, but no dfop model")
    document = _read_description(metadata["dfop"])
    if document["format"] < 3:
        right = document.get("checksum") == _old_checksum(document, tensors)
    else:
        right = content[8 : _CHECKSUM.start] == _START and (
            content[_CHECKSUM].decode("ascii", "replace") == _checksum(content)
        )
    if not right:
        raise ModelFileError("its checksum is wrong: the file was damaged or changed")
    return document, tensors


def _open(content: bytes) -> tuple[dict[str, Any], Tensors]:
    """Take a safetensors file apart; its arrays must fill it."""
    length = int.from_bytes(content[:8], "little")
    if not 2 <= length <= len(content) - 8:
        raise ValueError("it has no header")
    header: dict[str, Any] = _JSON.decode(content[8 : 8 + length].decode())
    metadata = header.pop("__metadata__", {})
    if type(metadata) is not dict:
        raise ValueError("texts that are none")
    places = sorted((part["data_offsets"], name) for name, part in header.items())
    tensors: Tensors = {}
    at, first = 0, 8 + length
    room = len(content) - first
    for (start, stop), name in places:
        dtype, shape = _TYPES[header[name]["dtype"]], header[name]["shape"]
        if not (type(start) is type(stop) is int and at == start <= stop <= room):
            raise ValueError(f"{name!r} has no place")
        size = dtype.itemsize
        if (first + at) % size or not _is_shape(shape):
            raise ValueError(f"{name!r} has no shape")
        if math.prod(shape) * size != stop - start:
            raise ValueError(f"{name!r} has another length")
        tensors[name] = np.ndarray(shape, dtype, content, first + at)
        at = stop
    if first + at != len(content):
        raise ValueError("bytes that belong to nothing")
    return metadata, tensors


def _is_shape(shape: Any) -> bool:
    for size in shape:  # every array has one, and all() takes thrice the time
        if type(size) is not int or size < 0:
            return False
    return type(shape) is list


def _read_description(text: Any) -> dict[str, Any]:
    try:
        document: dict[str, Any] = _JSON.decode(text)
        number = document["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelFileError("its description is damaged") from None
    if type(number) is not int or number < 1:
        raise ModelFileError(f"its format number is {number!r}")
    if number > FORMAT:
        raise ModelFileError(
            f"it has format {number}, written by dfop {document.get('written_by')!r}, and this "
            f"version knows up to {FORMAT}: upgrade dfop"
        )
    return document


def _checksum(content: bytes) -> str:
    digest = hashlib.sha256(content[: _CHECKSUM.start])
    digest.update(_ZEROS)
    digest.update(memoryview(content)[_CHECKSUM.stop :])
    return digest.hexdigest()


def _old_checksum(document: dict[str, Any], tensors: Tensors) -> str:
    described = {key: value for key, value in document.items() if key != "checksum"}
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode("utf-8", "surrogatepass"))
        digest.update(tensor.tobytes())
    return digest.hexdigest()
