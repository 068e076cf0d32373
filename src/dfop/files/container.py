"""The bytes of a model file: a description in JSON and named arrays, in a safetensors file.

safetensors: the length of the header (8 bytes), the header (JSON: dtype, shape and place of every
array, and texts under ``__metadata__``), the arrays one after the other. Of the texts, ``dfop`` is
the description, and ``checksum`` the SHA-256 over it and the arrays; in formats 1 and 2 the
checksum was inside the description.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize

Tensors = dict[str, NDArray[Any]]

FORMAT = 3

_NAMES = {np.dtype(np.float64): "F64", np.dtype(np.int32): "I32"}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
_LEAST = 10  # a length, and "{}"


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
    """Return the bytes of a file.

    They are what `safetensors.numpy.save` would write, in a third of its time.
    """
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    digest = _digest(text)
    header: dict[str, Any] = {"__metadata__": {"dfop": text}}
    parts, at = [b"", b""], 0
    for name, tensor in sorted(tensors.items()):
        data, end = tensor.tobytes(), at + tensor.nbytes
        _add(digest, name, tensor, data)
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": tensor.shape,
            "data_offsets": (at, end),
        }
        parts.append(data)
        at = end
    header["__metadata__"]["checksum"] = digest.hexdigest()
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    parts[0], parts[1] = len(encoded).to_bytes(8, "little"), encoded
    return b"".join(parts)


def unpack(content: bytes) -> tuple[dict[str, Any], Tensors]:
    """Return description and arrays of a file whose checksum fits."""
    metadata, tensors = _open(content)
    if "dfop" not in metadata:
        raise ModelFileError("it is a safetensors file, but no dfop model")
    document = _read_description(metadata["dfop"])
    if document["format"] < 3:
        expected, found = _old_checksum(document, tensors), document.get("checksum")
    else:
        expected, found = _checksum(metadata["dfop"], tensors), metadata.get("checksum")
    if found != expected:
        raise ModelFileError("its checksum is wrong: the file was damaged or changed")
    return document, tensors


def _open(content: bytes) -> tuple[dict[str, str], Tensors]:
    """Take a safetensors file apart."""
    tensors: Tensors = {}
    try:
        parts = deserialize(content)  # checks that the header fits the bytes
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        metadata = header.get("__metadata__", {})
        for name, part in parts:
            dtype = _DTYPES.get(part["dtype"])
            if dtype is None:
                raise ModelFileError(f"it holds {part['dtype']} numbers, which no dfop model has")
            tensors[name] = np.frombuffer(part["data"], dtype).reshape(part["shape"])
    except (SafetensorError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"it is damaged or no model file at all ({error})") from None
    return metadata, tensors


def _read_description(text: str) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(text, parse_constant=_refuse_constant)
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


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _digest(text: str) -> Any:
    return hashlib.sha256(text.encode())


def _add(digest: Any, name: str, tensor: NDArray[Any], data: bytes) -> None:
    digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode("utf-8", "surrogatepass"))
    digest.update(data)


def _checksum(text: str, tensors: Tensors) -> str:
    digest = _digest(text)
    for name, tensor in sorted(tensors.items()):
        _add(digest, name, tensor, tensor.tobytes())
    return str(digest.hexdigest())


def _old_checksum(document: dict[str, Any], tensors: Tensors) -> str:
    described = {key: value for key, value in document.items() if key != "checksum"}
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        _add(digest, name, tensor, tensor.tobytes())
    return digest.hexdigest()
