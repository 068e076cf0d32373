"""Models in files: a numbered format that holds numbers and text, and cannot run code.

A file is a safetensors file. Its tensors (all float64) are the state of the filter or of the bank,
the running means of columns and the rows that wait for a label; its metadata has one entry,
``dfop``, a JSON object:

    format       2
    kind         which learner
    written_by   the version of dfop that wrote the file
    parameters   the constructor's arguments
    state        what is not a tensor: names, classes, clock, keys of waiting rows, experts, alarms,
                 how columns are coded (absent from before rows could hold text: all are numbers)
    checksum     SHA-256 over all of the above and the tensors

The number goes up when an old reader could not read a new file, and so says to upgrade. Readers of
all older formats stay, and so does a file of each in the tests.

Format 1 had single filters only: no ``features`` and ``lags`` among the parameters, no bank and no
watch.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from .plain import describe, rebuild
from .plain_values import Tensors

__all__ = ["ModelFileError", "load", "save"]

FORMAT = 2


class ModelFileError(ValueError):
    """A model file that cannot be used: damaged, foreign, or newer than this version.

    Examples
    --------
    >>> import dfop, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.dfop"
    >>> _ = path.write_bytes(b"something else")
    >>> try:
    ...     dfop.load(path)
    ... except dfop.ModelFileError as error:
    ...     print("refused")
    refused
    """


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that `load` reads; it then goes on as if never stopped.

    The file appears whole or not at all: an old file of that name stays until then.

    Parameters
    ----------
    model : DFOPRegressor, DFOPClassifier, or their River twins
        A model that has seen at least one row.
    path : str or path
        Where to.

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
    kind, parameters, state, tensors = describe(model)
    document = {
        "format": FORMAT,
        "kind": kind,
        "written_by": version("dfop"),
        "parameters": parameters,
        "state": state,
    }
    document["checksum"] = _checksum(document, tensors)
    content = to_safetensors(tensors, {"dfop": json.dumps(document, allow_nan=False)})
    target = Path(path)
    part = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
    try:
        with open(part, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote. Loading never runs code from the file.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    DFOPRegressor, DFOPClassifier, or their River twins
        The model, in the state in which it was saved, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a dfop model, or of a newer format than this version knows.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(f"no model file at {os.fspath(path)!r}")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except (SafetensorError, OSError, TypeError, AttributeError, MemoryError) as error:
        raise _refusal(path, f"it is damaged or no model file at all ({error})") from None
    if "dfop" not in metadata:
        raise _refusal(path, "it is a safetensors file, but no dfop model")
    try:
        document = json.loads(metadata["dfop"])
        number = document["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _refusal(path, "its description is damaged") from None
    if type(number) is not int or number < 1:
        raise _refusal(path, f"its format number is {number!r}")
    if number > FORMAT:
        raise _refusal(
            path,
            f"it has format {number}, written by dfop {document.get('written_by')!r}, and this "
            f"version knows up to {FORMAT}: upgrade dfop",
        )
    try:
        if document.get("checksum") != _checksum(document, tensors):
            raise _refusal(path, "its checksum is wrong: the file was damaged or changed")
        return rebuild(document, tensors)
    except ModelFileError:
        raise
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise _refusal(path, f"its content makes no sense ({error})") from None


def _refusal(path: str | os.PathLike[str], reason: str) -> ModelFileError:
    return ModelFileError(f"cannot load {os.fspath(path)!r}: {reason}")


def _checksum(document: dict[str, Any], tensors: Tensors) -> str:
    digest = hashlib.sha256()
    described = {key: value for key, value in document.items() if key != "checksum"}
    digest.update(json.dumps(described, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()
