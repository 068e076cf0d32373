"""Many models by key as bytes, and back, all checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dfop.model.settings import Settings
from dfop.model.targets import NumberTarget
from dfop.regressor import DFOPRegressor

from .container import FORMAT, ModelFileError, Tensors, pack, unpack
from .faces import describe_parameters, read_parameters
from .saving import NONSENSE, from_bytes, to_bytes
from .targets import describe_target, read_target
from .values import Reading, known, listed, number, texts, truth, whole

T = TypeVar("T")

_KIND = "Keyed"
_PARTS = {
    "format", "kind", "model", "shared", "columns", "names", "target", "expire", "memory_limit",
    "text", "texts", "now", "rows", "evicted", "expired",
}  # fmt: skip


def pack_keyed(parts: dict[str, Any]) -> bytes:
    """Return the bytes of the named parts of a `Keyed`."""
    state, shared = parts["state"], parts["shared"]
    tensors: Tensors = {name: state[name] for name in ("seconds", "touched", "records")}
    tensors["numbers"], tensors["ticks"] = _halves(state["numbers"]), _halves(state["ticks"])
    if shared is not None:
        content = to_bytes(shared)
        padded = content + bytes(-len(content) % 4)
        tensors["shared"] = np.frombuffer(padded, np.int32)
    document = {
        "format": FORMAT,
        "kind": _KIND,
        "model": describe_parameters(parts["model"]),
        "shared": None if shared is None else len(content),
        "columns": parts["columns"],
        "names": None if parts["names"] is None else list(parts["names"]),
        "target": describe_target(parts["target"]),
        "expire": parts["expire"],
        "memory_limit": parts["memory_limit"],
        "text": parts["text"],
        "texts": state["texts"],
        "now": list(state["now"]),
        **{name: int(state[name]) for name in ("rows", "evicted", "expired")},
    }
    return pack(document, tensors)


def unpack_keyed(data: bytes, make: Callable[[dict[str, Any]], T]) -> T:
    """Make a `Keyed` of the parts that `make` takes; refuse what makes no sense."""
    try:
        document, tensors = unpack(bytes(data))
        return make(_parts(document, tensors))
    except ModelFileError as error:
        raise ModelFileError(f"cannot read these models by key: {error}") from None
    except NONSENSE as error:
        raise ModelFileError(
            f"cannot read these models by key: their content makes no sense ({error})"
        ) from None


def _parts(document: dict[str, Any], tensors: Tensors) -> dict[str, Any]:
    known(document, _PARTS, "models by key")
    if document["kind"] != _KIND:
        raise ValueError(f"it is a {document['kind']!r}")
    parameters = read_parameters("DFOPRegressor", document["model"])
    target = read_target("DFOPRegressor", document["target"], Settings.of(**parameters))
    assert isinstance(target, NumberTarget)
    reading = Reading(tensors)
    shared = None
    if document["shared"] is not None:
        content = reading.take("shared", (-1,), np.int32).tobytes()
        shared = from_bytes(content[: whole(document["shared"], len(content))])
        if type(shared) is not DFOPRegressor:
            raise ValueError("a shared model of another kind")
    names = document["names"]
    columns = whole(document["columns"], 10**6)
    if names is not None and len(names := tuple(texts(names, "names"))) != columns:
        raise ValueError("names that do not fit the columns")
    seconds, ticks = listed(document["now"], "a moment")
    limit, expire = document["memory_limit"], document["expire"]
    state = {
        "numbers": _whole(reading.take("numbers", (-1, 2), np.int32)),
        "texts": texts(document["texts"], "keys"),
        "ticks": _whole(reading.take("ticks", (-1, 2), np.int32)),
        "records": reading.take("records", (-1, -1)),
        "now": (number(seconds, np.inf), whole(ticks, 2**63 - 1, -(2**63))),
        **{name: reading.take(name, (-1,)) for name in ("seconds", "touched")},
        **{name: float(whole(document[name])) for name in ("rows", "evicted", "expired")},
    }
    reading.check_all_read()
    if not all(np.isfinite(state[name]).all() for name in ("seconds", "touched")):  # type: ignore[call-overload]
        raise ValueError("moments that are none")
    return {
        "model": DFOPRegressor(**parameters),
        "shared": shared,
        "columns": columns,
        "names": names,
        "target": target,
        "expire": expire if type(expire) in (int, float, type(None)) else number(expire),
        "memory_limit": None if limit is None else whole(limit, least=1),
        "text": truth(document["text"]),
        "state": state,
    }


def _halves(values: list[int]) -> NDArray[np.int32]:
    """Return whole numbers of 64 bits in two halves, as files have them."""
    return np.array(values, np.int64).view(np.int32).reshape(-1, 2)


def _whole(halves: NDArray[np.int32]) -> list[int]:
    return np.ascontiguousarray(halves).view(np.int64).ravel().tolist()
